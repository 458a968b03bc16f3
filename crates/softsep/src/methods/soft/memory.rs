//! The cuts that a method has seen.
//!
//! Every answer of the recourse is a minorant of the objective in x, whatever the chain does afterwards. Remembered,
//! they say at any other x, for the price of a few dot products, which of the scenarios seen may hurt there.

use crate::model::Problem;
use crate::numeric::dot;
use crate::recourse::{Answer, CutKind, Outcome};

/// Cuts that are kept; the one that was tight longest ago goes first.
const KEPT: usize = 4096;

/// A feasibility cut that is missed by more, relative to its size, tells that there is no recourse.
const NO_RECOURSE: f64 = 1e-7;

/// Cuts in one flat array.
pub(in crate::methods) struct Memory<'p> {
    problem: &'p Problem,
    kinds: Vec<CutKind>,
    intercepts: Vec<f64>,
    slopes: Vec<f64>,
    scenarios: Vec<f64>,
    /// When each was last the worst one.
    used: Vec<u64>,
    now: u64,
}

impl<'p> Memory<'p> {
    pub(in crate::methods) fn new(problem: &'p Problem) -> Self {
        Self {
            problem,
            kinds: Vec::new(),
            intercepts: Vec::new(),
            slopes: Vec::new(),
            scenarios: Vec::new(),
            used: Vec::new(),
            now: 0,
        }
    }

    /// How many cuts there are.
    pub(in crate::methods) fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether some cut bounds the cost of the recourse.
    pub(in crate::methods) fn has_costs(&self) -> bool {
        self.kinds.contains(&CutKind::Optimality)
    }

    /// What a cut says.
    pub(in crate::methods) fn kind(&self, cut: usize) -> CutKind {
        self.kinds[cut]
    }

    /// A cut at x = 0; relative to its size, cuts are compared with zero.
    pub(in crate::methods) fn intercept(&self, cut: usize) -> f64 {
        self.intercepts[cut]
    }

    /// How a cut moves with x.
    pub(in crate::methods) fn slope(&self, cut: usize) -> &[f64] {
        let dim = self.problem.first.dim();
        &self.slopes[cut * dim..(cut + 1) * dim]
    }

    /// The scenario that proved a cut.
    pub(in crate::methods) fn scenario(&self, cut: usize) -> &[f64] {
        let dim = self.problem.set.dim();
        &self.scenarios[cut * dim..(cut + 1) * dim]
    }

    /// A cut at x.
    pub(in crate::methods) fn at(&self, cut: usize, x: &[f64]) -> f64 {
        self.intercepts[cut] + dot(self.slope(cut), x)
    }

    /// Keeps the cut of an answer; false if it is there already, or if the answer has none.
    pub(in crate::methods) fn keep(&mut self, answer: &Answer, xi: &[f64]) -> bool {
        match answer.outcome {
            Outcome::Solved => self.insert(CutKind::Optimality, answer.intercept, &answer.slope_x, xi),
            Outcome::Infeasible => self.insert(CutKind::Feasibility, answer.intercept, &answer.slope_x, xi),
            Outcome::Unbounded => false,
        }
    }

    /// Keeps a cut that a scenario proved; false if it is there already.
    pub(in crate::methods) fn insert(&mut self, kind: CutKind, intercept: f64, slope: &[f64], xi: &[f64]) -> bool {
        let is_known = |known: usize| {
            self.intercepts[known] == intercept && self.kinds[known] == kind && self.slope(known) == slope
        };
        if (0..self.kinds.len()).any(is_known) {
            return false;
        }
        self.now += 1;
        if self.kinds.len() < KEPT {
            self.kinds.push(kind);
            self.intercepts.push(intercept);
            self.slopes.extend_from_slice(slope);
            self.scenarios.extend_from_slice(xi);
            self.used.push(self.now);
            return true;
        }
        let oldest = (0..KEPT).min_by_key(|&known| self.used[known]).unwrap_or(0);
        let (dim, dim_xi) = (slope.len(), xi.len());
        self.kinds[oldest] = kind;
        self.intercepts[oldest] = intercept;
        self.slopes[oldest * dim..(oldest + 1) * dim].copy_from_slice(slope);
        self.scenarios[oldest * dim_xi..(oldest + 1) * dim_xi].copy_from_slice(xi);
        self.used[oldest] = self.now;
        true
    }

    /// The cut that says most about the cost of the recourse at x, and what it says.
    pub(in crate::methods) fn worst(&self, x: &[f64]) -> Option<(usize, f64)> {
        let costs = (0..self.kinds.len()).filter(|&cut| self.kinds[cut] == CutKind::Optimality);
        costs.fold(None, |worst, cut| {
            let value = self.at(cut, x);
            if worst.is_none_or(|(_, most)| value > most) { Some((cut, value)) } else { worst }
        })
    }

    /// The scenarios that hurt x most by what is remembered, the worst first, at most `count`.
    pub(in crate::methods) fn worst_scenarios(&self, x: &[f64], count: usize) -> Vec<Vec<f64>> {
        let costs = (0..self.len()).filter(|&cut| self.kinds[cut] == CutKind::Optimality);
        let mut ranked: Vec<(usize, f64)> = costs.map(|cut| (cut, self.at(cut, x))).collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut scenarios: Vec<Vec<f64>> = Vec::with_capacity(count);
        for (cut, _) in ranked {
            if scenarios.len() == count {
                break;
            }
            let xi = self.scenario(cut);
            if scenarios.iter().all(|known| known != xi) {
                scenarios.push(xi.to_vec());
            }
        }
        scenarios
    }

    /// Notes that a cut mattered just now.
    pub(in crate::methods) fn touch(&mut self, cut: usize) {
        self.now += 1;
        self.used[cut] = self.now;
    }

    /// Whether some scenario seen has no recourse at x.
    pub(in crate::methods) fn forbids(&self, x: &[f64]) -> bool {
        let is_missed = |cut: usize| self.at(cut, x) > NO_RECOURSE * self.intercepts[cut].abs().max(1.0);
        (0..self.kinds.len()).any(|cut| self.kinds[cut] == CutKind::Feasibility && is_missed(cut))
    }
}
