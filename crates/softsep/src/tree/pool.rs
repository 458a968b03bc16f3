//! The pool: every cut that the judge has handed over, each once. Linear programs hold some of them; none is ever
//! forgotten.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::recourse::{Cut, CutKind};

/// By how much a cut must be violated to count, relative to what it bounds where that is above 1: HiGHS's tolerance.
const VIOLATED: f64 = 1e-7;

/// A cut as a row `η − slopeᵀx ≥ intercept`, or without η.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Held {
    pub(super) kind: CutKind,
    pub(super) intercept: f64,
    pub(super) slope: Vec<(usize, f64)>,
}

impl Held {
    fn new(cut: Cut) -> Self {
        // A feasibility cut may be multiplied by anything: to a largest coefficient of about 1, for which absolute
        // tolerances are meant. A power of two changes no digit.
        let largest = cut.slope.iter().fold(0.0_f64, |largest, entry| largest.max(entry.abs()));
        let scale = match cut.kind {
            CutKind::Feasibility if largest > 0.0 && largest.is_finite() => {
                2.0_f64.powi(-largest.log2().round() as i32)
            }
            _ => 1.0,
        };
        let slope = cut
            .slope
            .iter()
            .enumerate()
            .filter(|(_, entry)| **entry != 0.0)
            .map(|(j, entry)| (j, scale * entry))
            .collect();
        Self { kind: cut.kind, intercept: scale * cut.intercept, slope }
    }

    /// By how much it is violated, relative to its size; positive only beyond the tolerance.
    pub(super) fn violation(&self, x: &[f64], eta: f64) -> f64 {
        let value = self.intercept + self.slope.iter().map(|&(j, slope)| slope * x[j]).sum::<f64>();
        let (above, size) = match self.kind {
            CutKind::Optimality if eta == f64::NEG_INFINITY => return f64::INFINITY,
            CutKind::Optimality => (value - eta, value.abs().max(1.0)),
            CutKind::Feasibility => (value, self.intercept.abs().max(1.0)),
        };
        let relative = above / size;
        if relative > VIOLATED { relative } else { 0.0 }
    }

    fn mark(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.kind == CutKind::Optimality, self.intercept.to_bits()).hash(&mut hasher);
        for (j, slope) in &self.slope {
            (j, slope.to_bits()).hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// All cuts, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Pool {
    cuts: Vec<Held>,
    /// Places by mark, to tell what is there already.
    known: HashMap<u64, Vec<usize>>,
    /// Whether η is bounded by some cut.
    bounds_eta: bool,
}

impl Pool {
    /// Takes a cut in, if it is new and finite.
    pub(super) fn add(&mut self, cut: Cut) {
        let held = Held::new(cut);
        if !held.intercept.is_finite() || held.slope.iter().any(|(_, slope)| !slope.is_finite()) {
            return;
        }
        let same = self.known.entry(held.mark()).or_default();
        if same.iter().any(|&place| self.cuts[place] == held) {
            return;
        }
        same.push(self.cuts.len());
        self.bounds_eta |= held.kind == CutKind::Optimality;
        self.cuts.push(held);
    }

    pub(super) fn cuts(&self) -> &[Held] {
        &self.cuts
    }

    pub(super) fn bounds_eta(&self) -> bool {
        self.bounds_eta
    }

    /// Whether a cut from place `from` on is violated.
    pub(super) fn violates(&self, from: usize, x: &[f64], eta: f64) -> bool {
        self.cuts[from..].iter().any(|cut| cut.violation(x, eta) > 0.0)
    }
}
