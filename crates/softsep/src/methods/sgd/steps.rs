//! The steps of x: toward a level, or by α₀/√n.

use std::ops::ControlFlow;

use super::descent::{Descent, GapProgress, iteration_limit};
use super::stop_rule::StopRule;
use crate::error::Error;
use crate::recourse::CutKind;
use crate::run::{Run, Stop};
use crate::separation::soft::AutoOr;

/// The position of the level between the lower bound (0) and the incumbent's value (1).
const LEVEL_SHARE: f64 = 0.5;

/// The smallest number of new cuts with which the master is solved again. It costs as much as many recourse solves, and
/// the level need not be optimal.
const MIN_NEW_CUTS: u64 = 8;

/// The numbers of iterations without a new cut, and without a smaller gap, after which x moves half-way to the master's
/// decision: steps toward the level are slow where cuts are nearly parallel.
const MAX_STALE: u32 = 3;
const MAX_WITHOUT_PROGRESS: u32 = 20;

/// The relative decrease of the gap that counts as progress.
const MIN_GAP_DECREASE: f64 = 0.05;

/// The average is evaluated every ten iterations at first, and later whenever their number has grown by a tenth.
pub(super) const CHECKPOINT: u64 = 10;

/// The smallest distance in the automatic scale of steps, relative to the size of the first x.
const FIRST_DISTANCE: f64 = 1e-3;

impl Descent<'_> {
    /// Computes the subgradient at x from the cut of the last separation. Returns false if that was no optimality cut.
    fn update_gradient(&mut self) -> bool {
        let cut = self.found.as_ref().and_then(|found| found.cut.as_ref());
        let Some(cut) = cut.filter(|cut| cut.kind == CutKind::Optimality) else { return false };
        for (j, entry) in self.gradient.iter_mut().enumerate() {
            *entry = self.problem.first.cost[j] + cut.slope[j];
        }
        self.problem.first.quadratic.mul_add(1.0, &self.x, &mut self.gradient);
        if self.metric.see(&self.gradient) {
            self.projection.set_metric(self.metric.diagonal());
        }
        true
    }

    /// Steps toward the level by all cuts, and returns the distance moved.
    pub(super) fn step_to_level(&mut self, run: &mut Run) -> Result<ControlFlow<Stop, f64>, Error> {
        self.assess(run)?;
        self.update_gradient();
        let level = match (run.bounds().lower(), run.incumbent()) {
            (Some(lower), Some(best)) => lower + LEVEL_SHARE * (best.value - lower),
            _ => f64::INFINITY,
        };
        let from = self.x.clone();
        if !self.approach.approach(self.pool, &mut self.x, level, self.metric.diagonal()) {
            // The level may be below the minimum of all cuts.
            let new = self.pool.count_new(self.at_master);
            if (new >= MIN_NEW_CUTS || self.stale > 0 && new > 0)
                && let ControlFlow::Break(stop) = self.bound(run)?
            {
                return Ok(ControlFlow::Break(stop));
            }
            self.go_half_way(run);
        }
        if let ControlFlow::Break(stop) = self.project(run)? {
            return Ok(ControlFlow::Break(stop));
        }
        Ok(ControlFlow::Continue(self.metric.distance(&from, &self.x)))
    }

    /// Moves x half-way from the incumbent to the master's decision after iterations without progress.
    fn go_half_way(&mut self, run: &Run) {
        let (Some(best), Some(master), Some(lower)) = (run.incumbent(), self.lowest.as_ref(), run.bounds().lower())
        else {
            return;
        };
        let gap = best.value - lower;
        self.progress.since += 1;
        if gap < (1.0 - MIN_GAP_DECREASE) * self.progress.gap {
            self.progress = GapProgress { gap, since: 0 };
        } else if self.progress.since >= MAX_WITHOUT_PROGRESS || self.stale >= MAX_STALE {
            self.progress.since = 0;
            self.x.iter_mut().zip(best.x.iter().zip(master)).for_each(|(x, (best, master))| *x = 0.5 * (best + master));
        }
    }

    /// Projects x onto X with the feasibility cuts. If the projection fails, the master is solved: it proves that the
    /// set is empty, or gives a decision to continue with where the set is too thin for the projection or tolerances
    /// differ.
    pub(super) fn project(&mut self, run: &mut Run) -> Result<ControlFlow<Stop, ()>, Error> {
        self.add_feasibility_cuts();
        let Err(error) = self.projection.project(&mut self.x) else { return Ok(ControlFlow::Continue(())) };
        if error.is_interrupt() {
            return Err(error);
        }
        Ok(match self.bound(run)? {
            ControlFlow::Continue(x) => {
                self.x = x;
                ControlFlow::Continue(())
            }
            ControlFlow::Break(stop) => ControlFlow::Break(stop),
        })
    }

    /// Makes the step of Algorithm 1, α₀/√n against the subgradient in the metric H, projects x, and updates the
    /// average. `value` is f(x) + Q(x, ξ) before the step. Returns the step size.
    pub(super) fn step_by_root(&mut self, value: f64, run: &mut Run) -> Result<ControlFlow<Stop, f64>, Error> {
        let iteration = run.iterations() + 1;
        let mut step = 0.0;
        if self.update_gradient() {
            let metric = self.metric.diagonal();
            let travelled = &mut self.travelled;
            travelled.squares += self.gradient.iter().zip(metric).map(|(g, h)| g * g / h).sum::<f64>();
            step = match self.settings.step {
                AutoOr::Given(scale) => scale / (iteration as f64).sqrt(),
                // The distance travelled over the root of the sum of squared slopes: α₀/√n for slopes of equal size,
                // with an α₀ of the size of the problem.
                AutoOr::Auto => {
                    let size = travelled.origin.iter().zip(metric).map(|(x, h)| h * x * x).sum::<f64>().sqrt();
                    let so_far = self.metric.distance(&self.x, &travelled.origin).max(FIRST_DISTANCE * (1.0 + size));
                    travelled.furthest = travelled.furthest.max(so_far);
                    if travelled.squares > 0.0 { travelled.furthest / travelled.squares.sqrt() } else { 0.0 }
                }
            };
            for (j, x) in self.x.iter_mut().enumerate() {
                *x -= step * self.gradient[j] / metric[j];
            }
        }
        if let ControlFlow::Break(stop) = self.project(run)? {
            return Ok(ControlFlow::Break(stop));
        }
        self.average.add(&self.x, step);
        let is_last = iteration >= iteration_limit(run);
        if iteration >= self.checkpoint || is_last {
            self.checkpoint = iteration + CHECKPOINT.max(iteration / CHECKPOINT);
            self.assess_average(run)?;
            if let ControlFlow::Break(stop) = self.update_bounds(value, is_last, run)? {
                return Ok(ControlFlow::Break(stop));
            }
        }
        Ok(ControlFlow::Continue(step))
    }

    /// Updates the lower bound, by the master over all cuts or by that of the early termination, and ends the run where
    /// the rule says so. A run that makes all iterations needs no bound before its last one.
    fn update_bounds(&mut self, value: f64, is_last: bool, run: &mut Run) -> Result<ControlFlow<Stop>, Error> {
        if self.settings.stop == StopRule::Bounds
            && let ControlFlow::Break(stop) = self.stop_by_bounds(value, run)?
        {
            return Ok(ControlFlow::Break(stop));
        }
        if self.settings.stop == StopRule::Gap || is_last {
            return Ok(match self.bound(run)? {
                ControlFlow::Continue(_) => ControlFlow::Continue(()),
                ControlFlow::Break(stop) => ControlFlow::Break(stop),
            });
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Evaluates the average, which becomes the incumbent.
    fn assess_average(&mut self, run: &mut Run) -> Result<(), Error> {
        let x = self.average.mean().to_vec();
        if let Some(mut worst) = self.found.as_ref().map(|found| found.xi.clone()) {
            let mut value = self.evaluator.cost(&x, &worst, self.pool, run)?;
            if let Some(worse) = self.evaluator.worse_than(&x, value, self.pool, run)? {
                (value, worst) = worse;
            }
            if self.evaluator.admits(&x, self.pool) {
                run.replace_incumbent(&x, value, &worst);
            }
        }
        Ok(())
    }
}
