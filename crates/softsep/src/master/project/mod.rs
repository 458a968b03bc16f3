//! The projection onto X in the metric of a diagonal matrix H: `argmin over v ∈ X of ½ (v − x)ᵀH(v − x)`, X without
//! integrality.
//!
//! A point that breaks bounds only is clamped; one broken row beside the bounds has a multiplier that a search on the
//! line finds; everything else goes to a dual active-set method. All three are exact up to rounding and start from what
//! is known, which an interior-point method does not. That one is asked for the proof that X is empty, and should the
//! active set ever get lost.

mod active;
mod frame;
mod knapsack;
mod metric;
mod region;
#[cfg(test)]
mod tests;

use self::active::ActiveSet;
pub(crate) use self::metric::Metric;
use self::region::{Place, Region};
use crate::error::Error;
use crate::model::Problem;
use crate::numeric::tolerances::FEASIBILITY_TOL;
use crate::recourse::{ConicProgram, ConicStatus};
use crate::run::Clock;

/// Projects points onto X, again and again, while the metric changes and feasibility cuts come.
#[derive(Debug)]
pub(crate) struct Projection {
    region: Region,
    /// H, entry by entry.
    metric: Vec<f64>,
    /// 1 / H.
    ease: Vec<f64>,
    /// The point under way.
    v: Vec<f64>,
    active: ActiveSet,
    /// X, with the rows added, was proved to be empty; what is added later cannot change it.
    empty: bool,
    clock: Clock,
}

impl Projection {
    /// Onto the first stage's feasible set, in the Euclidean metric until another one is set.
    pub(crate) fn new(problem: &Problem, clock: &Clock) -> Self {
        let dim = problem.first.dim();
        Self {
            region: Region::new(&problem.first),
            metric: vec![1.0; dim],
            ease: vec![1.0; dim],
            v: vec![0.0; dim],
            active: ActiveSet::new(dim),
            empty: false,
            clock: clock.clone(),
        }
    }

    /// Measures from now on in `½ Σ h_j (v_j − x_j)²`. Only the ratios of h matter; it must be positive and finite.
    pub(crate) fn set_metric(&mut self, h: &[f64]) {
        debug_assert!(h.iter().all(|&h| h > 0.0 && h.is_finite()));
        self.metric.copy_from_slice(h);
        self.ease.iter_mut().zip(h).for_each(|(ease, h)| *ease = h.recip());
        self.active.measure_anew();
    }

    /// Keeps from now on to `intercept + slopeᵀx ≤ 0`; the number of that row.
    pub(crate) fn add_row(&mut self, intercept: f64, slope: &[f64]) -> usize {
        self.region.add(slope, -intercept)
    }

    /// Moves a row that was added to another intercept.
    pub(crate) fn move_row(&mut self, row: usize, intercept: f64) {
        self.region.move_upper(row, -intercept);
        self.empty = false;
    }

    /// Moves x to its projection, which satisfies every bound exactly and every row to 1e-10 of its side's size (1e-6
    /// where Clarabel had to help). An error leaves x as it was.
    pub(crate) fn project(&mut self, x: &mut [f64]) -> Result<(), Error> {
        if self.empty {
            return Err(nowhere());
        }
        if x.iter().any(|x| !x.is_finite()) {
            return Err(Error::Master("a decision to project is not finite".into()));
        }
        let Self { region, ease, v, active, .. } = self;
        // The nearest point of the bounds, which hold X: if it is in X, none of X is nearer.
        for (j, v) in v.iter_mut().enumerate() {
            *v = region.clamp(j, x[j]);
        }
        if let Some(place) = region.worst(v, ease) {
            let one_row = match place {
                Place::Row(row, sign) => knapsack::project(region, row, sign, x, ease, v),
                Place::Bound(..) => false,
            };
            // Again: the nearest point of a larger set.
            let settled = one_row && region.worst(v, ease).is_none();
            if !settled && active.project(region, x, ease, v).is_err() {
                self.ask_clarabel(x)?;
            }
        }
        x.copy_from_slice(&self.v);
        Ok(())
    }

    /// The same question to the interior-point method, which proves its answers: in `√H·(v − x)`, so that all entries
    /// are of one size.
    fn ask_clarabel(&mut self, x: &[f64]) -> Result<(), Error> {
        let Self { region, metric, v, clock, .. } = self;
        let largest = metric.iter().copied().fold(0.0, f64::max);
        let unit: Vec<f64> = metric.iter().map(|h| (largest / h).sqrt()).collect();
        let mut program = ConicProgram::new(0.0);
        for j in 0..x.len() {
            let (lower, upper) = region.bounds(j);
            program.add_col(0.0, (lower - x[j]) / unit[j], (upper - x[j]) / unit[j]);
            program.add_quadratic(j, j, 1.0);
        }
        for row in 0..region.rows() {
            let (lower, upper) = region.sides(row);
            let here = region.activity(row, x);
            let size = region.terms(row).map(|(j, value)| (value * unit[j]).abs()).fold(0.0, f64::max);
            let scale = if size > 0.0 { size.recip() } else { 1.0 };
            let terms = region.terms(row).map(|(j, value)| (j, scale * value * unit[j]));
            program.add_row(scale * (lower - here), scale * (upper - here), terms);
        }
        let solution = program.solve(clock)?;
        match solution.status {
            ConicStatus::Solved => {
                for (j, v) in v.iter_mut().enumerate() {
                    *v = region.clamp(j, x[j] + unit[j] * solution.primal[j]);
                }
                let off = region.largest_miss(v);
                (off <= FEASIBILITY_TOL).then_some(()).ok_or_else(|| {
                    Error::Master(format!(
                        "a decision could not be projected: the nearest point found misses a row by {off:e}"
                    ))
                })
            }
            ConicStatus::Infeasible => {
                self.empty = true;
                Err(nowhere())
            }
            ConicStatus::Stopped(stop) => Err(stop.into()),
            ConicStatus::Unbounded => Err(Error::Master("Clarabel found a distance to be unbounded".into())),
            ConicStatus::Failed(why) => Err(Error::Master(format!("Clarabel could not project a decision: {why}"))),
        }
    }
}

fn nowhere() -> Error {
    Error::Master("there is no decision to project onto: no x satisfies the first stage's rows and the cuts".into())
}
