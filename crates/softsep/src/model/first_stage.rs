//! The first stage: the cost f and the feasible set X.

use super::{Sparse, Symmetric};
use crate::definition::VariableKind;

/// `f(x) = constant + cᵀx + ½ xᵀDx` over `X = {x : bounds, rows, integrality}`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FirstStage {
    /// c.
    pub cost: Vec<f64>,
    /// The constant of f.
    pub constant: f64,
    /// D.
    pub quadratic: Symmetric,
    /// Lower bounds of x.
    pub lower: Vec<f64>,
    /// Upper bounds of x.
    pub upper: Vec<f64>,
    /// Integrality of x.
    pub kind: Vec<VariableKind>,
    /// The rows over x.
    pub rows: Sparse,
    /// Their lower bounds.
    pub row_lower: Vec<f64>,
    /// Their upper bounds.
    pub row_upper: Vec<f64>,
    /// The factor that each row was multiplied by, a power of two.
    pub row_scale: Vec<f64>,
}

impl FirstStage {
    /// Number of variables.
    pub fn dim(&self) -> usize {
        self.cost.len()
    }

    /// Whether some variable is integer or binary.
    pub fn has_integers(&self) -> bool {
        self.kind.iter().any(|&kind| kind != VariableKind::Continuous)
    }

    /// The integer entries of x, rounded: the integer assignment of a decision.
    pub fn assignment(&self, x: &[f64]) -> Vec<i64> {
        let entries = x.iter().zip(&self.kind);
        entries.filter(|(_, kind)| **kind != VariableKind::Continuous).map(|(x, _)| x.round() as i64).collect()
    }

    /// An integer variable without an integer between its bounds, if there is one: X is then empty.
    pub(crate) fn without_value(&self) -> Option<usize> {
        let is_integer = |&j: &usize| self.kind[j] != VariableKind::Continuous;
        (0..self.dim()).filter(is_integer).find(|&j| self.lower[j].ceil() > self.upper[j].floor())
    }

    /// `f(x)`.
    pub fn value(&self, x: &[f64]) -> f64 {
        let linear: f64 = self.cost.iter().zip(x).map(|(c, x)| c * x).sum();
        self.constant + linear + self.quadratic.half_square(x)
    }

    /// The constraint of X that x violates most, relative to the size of the violated bound; `None` if x is in X.
    pub fn violation(&self, x: &[f64]) -> Option<Violation> {
        let mut worst: Option<Violation> = None;
        let mut compare = |place: Broken, activity: f64, lower: f64, upper: f64| {
            let (amount, bound) = if activity < lower {
                (lower - activity, lower)
            } else if activity > upper {
                (activity - upper, upper)
            } else {
                return;
            };
            let amount = amount / bound.abs().max(1.0);
            if worst.as_ref().is_none_or(|worst| amount > worst.amount) {
                worst = Some(Violation { amount, place, activity, lower, upper });
            }
        };
        for (j, &value) in x.iter().enumerate() {
            compare(Broken::Bound(j), value, self.lower[j], self.upper[j]);
            if self.kind[j] != VariableKind::Continuous {
                compare(Broken::Integrality(j), value, value.round(), value.round());
            }
        }
        for row in 0..self.rows.rows() {
            let scale = self.row_scale[row];
            compare(
                Broken::Row(row),
                self.rows.dot(row, x) / scale,
                self.row_lower[row] / scale,
                self.row_upper[row] / scale,
            );
        }
        worst
    }
}

/// The constraint of X that a point violates most.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Violation {
    /// The violation, relative to the bound's size (at least 1).
    pub amount: f64,
    /// The constraint.
    pub place: Broken,
    /// The value that violates it.
    pub activity: f64,
    /// The least value allowed.
    pub lower: f64,
    /// The largest value allowed.
    pub upper: f64,
}

/// A constraint of X, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    /// The bounds of a variable.
    Bound(usize),
    /// A variable that must be integral.
    Integrality(usize),
    /// A row.
    Row(usize),
}
