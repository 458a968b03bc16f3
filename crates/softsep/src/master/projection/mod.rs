//! Projection onto X in the metric of a diagonal matrix H: `argmin over v ∈ X of ½ (v − x)ᵀH(v − x)`, X without
//! integrality.
//!
//! A point that violates bounds only is clamped. With one violated row in addition, a line search finds the row's
//! multiplier. All other cases go to a dual active-set method. All three are exact up to rounding, and the active-set
//! method starts from the last active set, which an interior-point method cannot. The interior-point method proves that
//! X is empty, and takes over if the active-set method fails.

mod active_set;
mod knapsack;
mod metric;
mod polyhedron;
mod qr;
#[cfg(test)]
mod tests;

use self::active_set::ActiveSet;
pub(crate) use self::metric::Metric;
use self::polyhedron::{ConstraintSide, FirstStagePolyhedron};
use crate::error::Error;
use crate::model::Problem;
use crate::numeric::tolerances::FEASIBILITY_TOL;
use crate::recourse::{ConicProgram, ConicStatus};
use crate::run::Clock;

/// Projects points onto X. The metric may change and feasibility cuts may be added between projections.
#[derive(Debug)]
pub(crate) struct Projection {
    polyhedron: FirstStagePolyhedron,
    /// Diagonal of H.
    metric: Vec<f64>,
    /// Diagonal of H⁻¹.
    inverse_metric: Vec<f64>,
    /// The current point.
    v: Vec<f64>,
    active: ActiveSet,
    /// True if X with the added rows was proved to be empty. Further rows cannot change that.
    empty: bool,
    clock: Clock,
}

impl Projection {
    /// Projection onto the feasible set of the first stage, in the Euclidean metric until another one is set.
    pub(crate) fn new(problem: &Problem, clock: &Clock) -> Self {
        let dim = problem.first.dim();
        Self {
            polyhedron: FirstStagePolyhedron::new(&problem.first),
            metric: vec![1.0; dim],
            inverse_metric: vec![1.0; dim],
            v: vec![0.0; dim],
            active: ActiveSet::new(dim),
            empty: false,
            clock: clock.clone(),
        }
    }

    /// Sets the metric `½ Σ h_j (v_j − x_j)²`. Only the ratios of h matter. Its entries must be positive and finite.
    pub(crate) fn set_metric(&mut self, h: &[f64]) {
        debug_assert!(h.iter().all(|&h| h > 0.0 && h.is_finite()));
        self.metric.copy_from_slice(h);
        self.inverse_metric.iter_mut().zip(h).for_each(|(inverse_metric, h)| *inverse_metric = h.recip());
        self.active.reset_metric();
    }

    /// Adds the row `intercept + slopeᵀx ≤ 0` and returns its index.
    pub(crate) fn add_row(&mut self, intercept: f64, slope: &[f64]) -> usize {
        self.polyhedron.add_row(slope, -intercept)
    }

    /// Changes the intercept of an added row.
    pub(crate) fn set_intercept(&mut self, row: usize, intercept: f64) {
        self.polyhedron.set_row_upper(row, -intercept);
        self.empty = false;
    }

    /// Replaces x by its projection, which satisfies every bound exactly and every row to 1e-10 of the size of its side
    /// (1e-6 if Clarabel computed it). After an error x is unchanged.
    pub(crate) fn project(&mut self, x: &mut [f64]) -> Result<(), Error> {
        if self.empty {
            return Err(empty_set_error());
        }
        if x.iter().any(|x| !x.is_finite()) {
            return Err(Error::Master("a decision to project is not finite".into()));
        }
        let Self { polyhedron, inverse_metric, v, active, .. } = self;
        // The nearest point within the bounds. If it is in X, it is the projection, since the bounds contain X.
        for (j, v) in v.iter_mut().enumerate() {
            *v = polyhedron.clamp(j, x[j]);
        }
        if let Some(side) = polyhedron.most_violated(v, inverse_metric) {
            let row_projected = match side {
                ConstraintSide::Row(row, sign) => knapsack::project(polyhedron, row, sign, x, inverse_metric, v),
                ConstraintSide::Bound(..) => false,
            };
            // The nearest point of a set that contains X. If it is in X, it is the projection.
            let is_feasible = row_projected && polyhedron.most_violated(v, inverse_metric).is_none();
            if !is_feasible && active.project(polyhedron, x, inverse_metric, v).is_err() {
                self.project_by_clarabel(x)?;
            }
        }
        x.copy_from_slice(&self.v);
        Ok(())
    }

    /// Projects by the interior-point method, which proves its answers. The variables are `√H·(v − x)`, so that all
    /// entries have similar sizes.
    fn project_by_clarabel(&mut self, x: &[f64]) -> Result<(), Error> {
        let Self { polyhedron, metric, v, clock, .. } = self;
        let largest = metric.iter().copied().fold(0.0, f64::max);
        let unit: Vec<f64> = metric.iter().map(|h| (largest / h).sqrt()).collect();
        let mut program = ConicProgram::new(0.0);
        for j in 0..x.len() {
            let (lower, upper) = polyhedron.bounds(j);
            program.add_col(0.0, (lower - x[j]) / unit[j], (upper - x[j]) / unit[j]);
            program.add_quadratic(j, j, 1.0);
        }
        for row in 0..polyhedron.rows() {
            let (lower, upper) = polyhedron.sides(row);
            let here = polyhedron.activity(row, x);
            let size = polyhedron.terms(row).map(|(j, value)| (value * unit[j]).abs()).fold(0.0, f64::max);
            let scale = if size > 0.0 { size.recip() } else { 1.0 };
            let terms = polyhedron.terms(row).map(|(j, value)| (j, scale * value * unit[j]));
            program.add_row(scale * (lower - here), scale * (upper - here), terms);
        }
        let solution = program.solve(clock)?;
        match solution.status {
            ConicStatus::Solved => {
                for (j, v) in v.iter_mut().enumerate() {
                    *v = polyhedron.clamp(j, x[j] + unit[j] * solution.primal[j]);
                }
                let violation = polyhedron.max_row_violation(v);
                (violation <= FEASIBILITY_TOL).then_some(()).ok_or_else(|| {
                    Error::Master(format!(
                        "a decision could not be projected: the nearest point found misses a row by {violation:e}"
                    ))
                })
            }
            ConicStatus::Infeasible => {
                self.empty = true;
                Err(empty_set_error())
            }
            ConicStatus::Stopped(stop) => Err(stop.into()),
            ConicStatus::Unbounded => Err(Error::Master("Clarabel found a distance to be unbounded".into())),
            ConicStatus::Inexact(why) | ConicStatus::Failed(why) => {
                Err(Error::Master(format!("Clarabel could not project a decision: {why}")))
            }
        }
    }
}

fn empty_set_error() -> Error {
    Error::Master("there is no decision to project onto: no x satisfies the first stage's rows and the cuts".into())
}
