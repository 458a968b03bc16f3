//! Common interface to the models of HiGHS and Clarabel, so that a program is written by one function for both.

use std::ops::Range;

use softsep_lp::Model;

use super::{ConicProgram, RecourseError};
use crate::definition::{ConeKind, VariableKind};

/// A program under construction.
pub(crate) trait ProgramBuilder {
    /// Adds a column and returns its index.
    fn col(&mut self, cost: f64, lower: f64, upper: f64, kind: VariableKind) -> usize;

    /// Adds `lower ≤ Σ terms ≤ upper` and returns its index.
    fn row(&mut self, lower: f64, upper: f64, terms: &[(usize, f64)]) -> usize;

    /// Adds `½·value·v_i²` (i = j) or `value·v_i·v_j` to the cost.
    fn quadratic(&mut self, i: usize, j: usize, value: f64);

    /// Adds a cone over rows `Σ terms − offset` and returns their indices. Fails if the solver does not support it.
    fn cone(&mut self, kind: ConeKind, rows: &[(Vec<(usize, f64)>, f64)]) -> Result<Range<usize>, RecourseError>;
}

impl ProgramBuilder for Model {
    fn col(&mut self, cost: f64, lower: f64, upper: f64, kind: VariableKind) -> usize {
        match kind {
            VariableKind::Continuous => self.add_col(cost, lower, upper),
            VariableKind::Integer | VariableKind::Binary => self.add_integer(cost, lower, upper),
        }
    }

    fn row(&mut self, lower: f64, upper: f64, terms: &[(usize, f64)]) -> usize {
        self.add_row(lower, upper, terms)
    }

    fn quadratic(&mut self, i: usize, j: usize, value: f64) {
        self.add_quadratic(i, j, value);
    }

    fn cone(&mut self, kind: ConeKind, _rows: &[(Vec<(usize, f64)>, f64)]) -> Result<Range<usize>, RecourseError> {
        Err(RecourseError::Unsupported(format!("HiGHS takes no cones, and was given a {kind:?}")))
    }
}

/// The elastic program: every row may be violated at unit cost, and there are no other costs. Its dual is a Farkas
/// certificate.
#[derive(Debug, Default)]
pub(crate) struct ElasticModel {
    model: Model,
    rows: Vec<ElasticRow>,
}

/// Bounds and terms.
type ElasticRow = (f64, f64, Vec<(usize, f64)>);

impl ElasticModel {
    /// Returns the program; its columns before those of the violations are the ones that were added.
    pub(crate) fn finish(mut self) -> Model {
        for (lower, upper, mut terms) in self.rows {
            if lower.is_finite() {
                terms.push((self.model.add_col(1.0, 0.0, f64::INFINITY), 1.0));
            }
            if upper.is_finite() {
                terms.push((self.model.add_col(1.0, 0.0, f64::INFINITY), -1.0));
            }
            self.model.add_row(lower, upper, &terms);
        }
        self.model
    }
}

impl ProgramBuilder for ElasticModel {
    fn col(&mut self, _cost: f64, lower: f64, upper: f64, _kind: VariableKind) -> usize {
        self.model.add_col(0.0, lower, upper)
    }

    fn row(&mut self, lower: f64, upper: f64, terms: &[(usize, f64)]) -> usize {
        self.rows.push((lower, upper, terms.to_vec()));
        self.rows.len() - 1
    }

    fn quadratic(&mut self, _i: usize, _j: usize, _value: f64) {}

    fn cone(&mut self, kind: ConeKind, rows: &[(Vec<(usize, f64)>, f64)]) -> Result<Range<usize>, RecourseError> {
        self.model.cone(kind, rows)
    }
}

impl ProgramBuilder for ConicProgram {
    fn col(&mut self, cost: f64, lower: f64, upper: f64, _kind: VariableKind) -> usize {
        self.add_col(cost, lower, upper)
    }

    fn row(&mut self, lower: f64, upper: f64, terms: &[(usize, f64)]) -> usize {
        self.add_row(lower, upper, terms.iter().copied())
    }

    fn quadratic(&mut self, i: usize, j: usize, value: f64) {
        self.add_quadratic(i, j, value);
    }

    fn cone(&mut self, kind: ConeKind, rows: &[(Vec<(usize, f64)>, f64)]) -> Result<Range<usize>, RecourseError> {
        self.add_cone(kind, rows.iter().map(|(terms, offset)| (terms.iter().copied(), *offset)))
    }
}

/// Returns the terms with each column once, in ascending order.
pub(crate) fn merged(mut terms: Vec<(usize, f64)>) -> Vec<(usize, f64)> {
    terms.sort_by_key(|term| term.0);
    terms.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    terms
}
