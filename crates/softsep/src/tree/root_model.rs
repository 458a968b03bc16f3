//! Model of the root: columns, rows of X, scenario copies, integers, and the squares whose sum is the quadratic cost.

use std::sync::Arc;

use softsep_lp::{Algorithm, Lp, Model, Toggle};

use super::propagation::propagate_bounds;
use crate::definition::VariableKind;
use crate::error::Error;
use crate::master::ScenarioCopies;
use crate::model::{Problem, square_root};
use crate::run::Clock;

/// The model that all node relaxations start from. Its columns are x, η, then one θ_k for each square, or the y of each
/// scenario copy. There are no copies where there are squares.
#[derive(Debug)]
pub(super) struct RootModel<'p> {
    pub(super) problem: &'p Problem,
    pub(super) clock: Clock,
    pub(super) integers: Vec<usize>,
    /// Bounds of all columns at the root. Those of integers are integral.
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    /// Rows L_k with `½ xᵀDx = Σ ½ (L_k x)²`. One tangent to each square is far tighter than one to their sum, since
    /// each square is a function of one number.
    pub(super) squares: Vec<Vec<(usize, f64)>>,
    /// The scenarios of the copies.
    pub(super) copies: Vec<Vec<f64>>,
    /// Columns and rows without cuts and tangents.
    pub(super) model: Model,
    pub(super) static_rows: usize,
}

impl<'p> RootModel<'p> {
    /// Builds the model with copies for these scenarios. Recourse with cones or a quadratic cost, and a quadratic cost
    /// of x, get none.
    pub(super) fn new(problem: &'p Problem, copies: &[Vec<f64>], clock: &Clock) -> Result<Self, Error> {
        let first = &problem.first;
        let squares = match first.quadratic.is_zero() {
            true => Vec::new(),
            false => square_root(&first.quadratic)
                .ok_or_else(|| Error::Master("the first stage's quadratic cost could not be factored".into()))?,
        };
        let integers: Vec<usize> = (0..first.dim()).filter(|&j| first.kind[j] != VariableKind::Continuous).collect();
        let (mut lower, mut upper) = (first.lower.clone(), first.upper.clone());
        for &j in &integers {
            (lower[j], upper[j]) = (ceil_bound(lower[j]), floor_bound(upper[j]));
        }
        propagate_bounds(first, &integers, &mut lower, &mut upper);
        lower.push(f64::NEG_INFINITY);
        upper.push(f64::INFINITY);
        // A square is nonnegative, which bounds its θ before the first tangent.
        lower.resize(first.dim() + 1 + squares.len(), 0.0);
        upper.resize(first.dim() + 1 + squares.len(), f64::INFINITY);
        let is_linear = problem.recourse.is_linear() && squares.is_empty();
        let copies = if is_linear { copies.to_vec() } else { Vec::new() };
        for _ in &copies {
            lower.extend_from_slice(&problem.recourse.lower);
            upper.extend_from_slice(&problem.recourse.upper);
        }
        let mut model = Model::new();
        let static_rows = match copies.is_empty() {
            true => write_first_stage(problem, &lower, &upper, &mut model),
            false => {
                let scenarios = copies.iter().map(Vec::as_slice).collect();
                ScenarioCopies::new(problem, scenarios, clock)?.write_relaxation(&mut model)?
            }
        };
        model.set_offset(first.constant);
        Ok(Self { problem, clock: clock.clone(), integers, lower, upper, squares, copies, model, static_rows })
    }

    pub(super) fn dim(&self) -> usize {
        self.problem.first.dim()
    }

    /// Returns the column of η.
    pub(super) fn eta(&self) -> usize {
        self.dim()
    }

    /// Returns the column of the θ of a square.
    pub(super) fn theta(&self, square: usize) -> usize {
        self.dim() + 1 + square
    }

    pub(super) fn cols(&self) -> usize {
        self.lower.len()
    }

    /// Builds the relaxation without cuts in HiGHS.
    pub(super) fn program(&self) -> Result<Lp, Error> {
        let mut lp = Lp::new(&self.model)?;
        lp.set_presolve(Toggle::Off)?;
        lp.set_algorithm(Algorithm::DualSimplex)?;
        lp.set_devex(true)?;
        lp.set_interrupt(Arc::clone(self.clock.interrupt()))?;
        Ok(lp)
    }
}

/// Writes the columns x, η and θ_k with these bounds, and the rows of X. Returns the number of rows.
fn write_first_stage(problem: &Problem, lower: &[f64], upper: &[f64], model: &mut Model) -> usize {
    let first = &problem.first;
    for j in 0..lower.len() {
        let cost = first.cost.get(j).copied().unwrap_or(1.0);
        model.add_col(cost, lower[j], upper[j]);
    }
    let mut terms: Vec<(usize, f64)> = Vec::new();
    for row in 0..first.rows.rows() {
        terms.clear();
        terms.extend(first.rows.row(row));
        model.add_row(first.row_lower[row], first.row_upper[row], &terms);
    }
    first.rows.rows()
}

/// Bounds of integers within this distance of an integer are rounded to it.
const INTEGRAL_BOUND_TOL: f64 = 1e-9;

fn ceil_bound(bound: f64) -> f64 {
    (bound - INTEGRAL_BOUND_TOL).ceil()
}

fn floor_bound(bound: f64) -> f64 {
    (bound + INTEGRAL_BOUND_TOL).floor()
}
