//! The worst scenario solved so far.

use crate::model::Problem;
use crate::recourse::{Answer, Cut, Recourse, RecourseBasis, RecourseError};

/// How far two ways to the same cost may differ, relative to it.
const ROUNDING: f64 = 1e-12;

/// A row of the list, and all that a separation says about it: the first of equals.
pub(super) struct Worst {
    pub(super) row: Option<usize>,
    /// What it costs, from above: what is claimed from here is an upper bound.
    pub(super) value: f64,
    pub(super) cut: Option<Cut>,
    pub(super) start: RecourseBasis,
    answer: Answer,
}

impl Worst {
    /// None yet.
    pub(super) fn new(problem: &Problem) -> Self {
        Self {
            row: None,
            value: f64::NEG_INFINITY,
            cut: None,
            start: RecourseBasis::default(),
            answer: Answer::new(problem),
        }
    }

    /// What bounds may say of other scenarios and leave this one the worst: equals differ by rounding.
    pub(super) fn level(&self) -> f64 {
        if self.value.is_finite() { self.value + ROUNDING * self.value.abs() } else { self.value }
    }

    /// Solves a scenario, and remembers it if it is worse.
    pub(super) fn meet(&mut self, row: usize, xi: &[f64], engine: &mut dyn Recourse) -> Result<&Answer, RecourseError> {
        engine.solve(xi, &mut self.answer)?;
        if self.row.is_none() || self.answer.cost > self.value {
            self.row = Some(row);
            self.value = self.answer.cost;
            self.cut = self.answer.cut();
            self.start = engine.warm_start();
        }
        Ok(&self.answer)
    }
}
