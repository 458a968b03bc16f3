//! What all linear programs of a tree share: columns, rows of X, integers, and the squares that a quadratic cost is a
//! sum of.

use std::sync::Arc;

use softsep_lp::{Algorithm, Lp, Model, Toggle};

use super::tighten::tighten;
use crate::definition::VariableKind;
use crate::error::Error;
use crate::model::{Problem, square_root};
use crate::run::Clock;

/// The columns are x, η, then one θ_k for each square.
#[derive(Debug)]
pub(super) struct Frame<'p> {
    pub(super) problem: &'p Problem,
    pub(super) clock: Clock,
    pub(super) integers: Vec<usize>,
    /// Bounds of all columns at the root. Those of integers are whole.
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    /// Rows L_k with `½ xᵀDx = Σ ½ (L_k x)²`. One tangent to each square is worth far more than one to the sum: each is
    /// a function of one number.
    pub(super) squares: Vec<Vec<(usize, f64)>>,
}

impl<'p> Frame<'p> {
    pub(super) fn new(problem: &'p Problem, clock: &Clock) -> Result<Self, Error> {
        let first = &problem.first;
        let squares = match first.quadratic.is_zero() {
            true => Vec::new(),
            false => square_root(&first.quadratic)
                .ok_or_else(|| Error::Master("the first stage's quadratic cost could not be factored".into()))?,
        };
        let integers: Vec<usize> = (0..first.dim()).filter(|&j| first.kind[j] != VariableKind::Continuous).collect();
        let (mut lower, mut upper) = (first.lower.clone(), first.upper.clone());
        for &j in &integers {
            (lower[j], upper[j]) = (whole_above(lower[j]), whole_below(upper[j]));
        }
        tighten(first, &integers, &mut lower, &mut upper);
        lower.push(f64::NEG_INFINITY);
        upper.push(f64::INFINITY);
        // A square is not negative: that bounds its θ before the first tangent.
        lower.resize(first.dim() + 1 + squares.len(), 0.0);
        upper.resize(first.dim() + 1 + squares.len(), f64::INFINITY);
        Ok(Self { problem, clock: clock.clone(), integers, lower, upper, squares })
    }

    pub(super) fn dim(&self) -> usize {
        self.problem.first.dim()
    }

    /// The column of η.
    pub(super) fn eta(&self) -> usize {
        self.dim()
    }

    /// The column of a square.
    pub(super) fn theta(&self, square: usize) -> usize {
        self.dim() + 1 + square
    }

    pub(super) fn cols(&self) -> usize {
        self.lower.len()
    }

    /// The relaxation without cuts.
    pub(super) fn program(&self) -> Result<Lp, Error> {
        let first = &self.problem.first;
        let mut model = Model::new();
        for j in 0..self.cols() {
            let cost = first.cost.get(j).copied().unwrap_or(1.0);
            model.add_col(cost, self.lower[j], self.upper[j]);
        }
        let mut terms: Vec<(usize, f64)> = Vec::new();
        for row in 0..first.rows.rows() {
            terms.clear();
            terms.extend(first.rows.row(row));
            model.add_row(first.row_lower[row], first.row_upper[row], &terms);
        }
        model.set_offset(first.constant);
        let mut lp = Lp::new(&model)?;
        lp.set_presolve(Toggle::Off)?;
        lp.set_algorithm(Algorithm::DualSimplex)?;
        lp.set_devex(true)?;
        lp.set_interrupt(Arc::clone(self.clock.interrupt()))?;
        Ok(lp)
    }
}

/// Bounds of integers this close to a whole number are that number.
const ALMOST: f64 = 1e-9;

fn whole_above(bound: f64) -> f64 {
    (bound - ALMOST).ceil()
}

fn whole_below(bound: f64) -> f64 {
    (bound + ALMOST).floor()
}
