//! Cuts that the tree has read from the callback's pool, as sparse rows without duplicates. A node relaxation holds
//! some of them; none is dropped.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::numeric::tolerances::CUT_TOL;
use crate::recourse::{Cut, CutKind};

/// A cut as a row: `η − slopeᵀx ≥ intercept`, without η for a feasibility cut.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CutRow {
    pub(super) kind: CutKind,
    pub(super) intercept: f64,
    pub(super) slope: Vec<(usize, f64)>,
}

impl CutRow {
    fn new(cut: Cut) -> Self {
        // A feasibility cut is scaled to a largest coefficient of about 1, which absolute tolerances assume. Scaling by
        // a power of two is exact.
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

    /// Returns the violation relative to the size of the cut, or 0 if it is at most [`CUT_TOL`].
    pub(super) fn violation(&self, x: &[f64], eta: f64) -> f64 {
        let value = self.intercept + self.slope.iter().map(|&(j, slope)| slope * x[j]).sum::<f64>();
        let (above, size) = match self.kind {
            CutKind::Optimality if eta == f64::NEG_INFINITY => return f64::INFINITY,
            CutKind::Optimality => (value - eta, value.abs().max(1.0)),
            CutKind::Feasibility => (value, self.intercept.abs().max(1.0)),
        };
        let relative = above / size;
        if relative > CUT_TOL { relative } else { 0.0 }
    }

    fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.kind == CutKind::Optimality, self.intercept.to_bits()).hash(&mut hasher);
        for (j, slope) in &self.slope {
            (j, slope.to_bits()).hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// All cuts, in order of arrival.
#[derive(Debug, Default)]
pub(super) struct CutRows {
    cuts: Vec<CutRow>,
    /// Indices by fingerprint, for the detection of duplicates.
    by_fingerprint: HashMap<u64, Vec<usize>>,
    /// True if there is an optimality cut.
    bounds_eta: bool,
}

impl CutRows {
    /// Adds a cut, unless it is a duplicate or not finite.
    pub(super) fn add(&mut self, cut: Cut) {
        let row = CutRow::new(cut);
        if !row.intercept.is_finite() || row.slope.iter().any(|(_, slope)| !slope.is_finite()) {
            return;
        }
        let equal_fingerprints = self.by_fingerprint.entry(row.fingerprint()).or_default();
        if equal_fingerprints.iter().any(|&index| self.cuts[index] == row) {
            return;
        }
        equal_fingerprints.push(self.cuts.len());
        self.bounds_eta |= row.kind == CutKind::Optimality;
        self.cuts.push(row);
    }

    pub(super) fn cuts(&self) -> &[CutRow] {
        &self.cuts
    }

    pub(super) fn bounds_eta(&self) -> bool {
        self.bounds_eta
    }

    /// Returns whether some cut from index `from` on is violated.
    pub(super) fn violates(&self, from: usize, x: &[f64], eta: f64) -> bool {
        self.cuts[from..].iter().any(|cut| cut.violation(x, eta) > 0.0)
    }
}
