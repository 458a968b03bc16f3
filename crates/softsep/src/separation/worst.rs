//! The worst scenario of a list among those solved so far.

use crate::model::Problem;
use crate::recourse::{Answer, Cut, Recourse, RecourseBasis, RecourseError};

/// Costs that differ by less than this share are equal: two computations of one cost differ by rounding.
const TIE_TOL: f64 = 1e-12;

/// The row with the largest cost, the first of equals, with its cut and basis.
pub(super) struct WorstRow {
    pub(super) row: Option<usize>,
    /// Its cost, from above ([`Answer::cost`]), since claims are upper bounds.
    pub(super) value: f64,
    pub(super) cut: Option<Cut>,
    pub(super) start: RecourseBasis,
    answer: Answer,
}

impl WorstRow {
    /// No row solved yet.
    pub(super) fn new(problem: &Problem) -> Self {
        Self {
            row: None,
            value: f64::NEG_INFINITY,
            cut: None,
            start: RecourseBasis::default(),
            answer: Answer::new(problem),
        }
    }

    /// Returns the cost up to which other scenarios are no worse than this one, rounding included.
    pub(super) fn tie_level(&self) -> f64 {
        if self.value.is_finite() { self.value + TIE_TOL * self.value.abs() } else { self.value }
    }

    /// Solves the recourse at a row's scenario, and keeps the row if it is worse.
    pub(super) fn solve(
        &mut self,
        row: usize,
        xi: &[f64],
        engine: &mut dyn Recourse,
    ) -> Result<&Answer, RecourseError> {
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
