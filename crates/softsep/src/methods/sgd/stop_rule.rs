//! When a descent by α₀/√n ends, and the early termination of the paper by F̲_n and F̄_n.

use std::fmt;
use std::ops::ControlFlow;
use std::str::FromStr;

use super::descent::Descent;
use crate::cuts::CutPool;
use crate::error::Error;
use crate::master::{CutMaster, CutMasterOutcome};
use crate::model::Problem;
use crate::run::{Clock, Run, Stop};
use crate::separation::soft::AutoOr;

/// The share of the gap that Δ̃ is where it is not given.
const MARGIN_SHARE: f64 = 0.5;

/// When a descent ends, apart from its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum StopRule {
    /// Where the verified estimate of its decision is within the gap of the lower bound.
    #[default]
    Gap,
    /// Never: all iterations are made.
    Iterations,
    /// Where F̄_n is within the gap of F̲_n. F̄_n is an estimate plus Δ̃, and no bound.
    Bounds,
}

impl fmt::Display for StopRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gap => "gap",
            Self::Iterations => "iterations",
            Self::Bounds => "bounds",
        })
    }
}

impl FromStr for StopRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "gap" => Ok(Self::Gap),
            "iterations" => Ok(Self::Iterations),
            "bounds" => Ok(Self::Bounds),
            _ => Err(format!("\"{text}\" is no rule to stop by; gap, iterations and bounds are")),
        }
    }
}

/// `F̲_n = min over x of f(x) + max over m ≤ n of Q(x, ξ_{I_m})`, with a scenario copy for each scenario visited.
pub(super) struct VisitedScenarios<'p> {
    master: CutMaster<'p>,
    /// No cuts: the master holds whole functions Q(·, ξ).
    no_cuts: CutPool,
    last: Option<Vec<f64>>,
}

impl<'p> VisitedScenarios<'p> {
    pub(super) fn new(problem: &'p Problem, clock: &Clock) -> Result<Self, Error> {
        Ok(Self { master: CutMaster::over_copies(problem, clock)?, no_cuts: CutPool::new(problem), last: None })
    }

    /// Adds the state of the chain after a transition at x.
    pub(super) fn visit(&mut self, xi: &[f64], x: &[f64]) -> Result<(), Error> {
        if self.last.as_deref() != Some(xi) {
            self.last = Some(xi.to_vec());
            self.master.add_copy(xi, x)?;
        }
        Ok(())
    }
}

impl Descent<'_> {
    /// Computes F̲_n, which becomes a lower bound of the run, and ends the run where F̄_n, made of `value` =
    /// f(x_{n−1}) + Q(x_{n−1}, ξ_{I_n}), is within the gap of it.
    pub(super) fn stop_by_bounds(&mut self, value: f64, run: &mut Run) -> Result<ControlFlow<Stop>, Error> {
        let Some(visited) = &mut self.visited else { return Ok(ControlFlow::Continue(())) };
        match visited.master.solve(&mut visited.no_cuts, &self.x, run)? {
            // A master that is unbounded over the scenarios visited so far bounds nothing yet.
            CutMasterOutcome::Decision(_) | CutMasterOutcome::Unbounded => {}
            CutMasterOutcome::Ended(stop) => return Ok(ControlFlow::Break(stop)),
        }
        // F̲_n never falls with n.
        let lower = visited.master.lower();
        let gap = run.limits().gap;
        let margin = match self.settings.soft.margin {
            AutoOr::Given(margin) => margin,
            AutoOr::Auto => MARGIN_SHARE * gap * value.abs(),
        };
        let upper = value + margin;
        let is_met = upper.is_finite() && upper - lower <= gap * upper.abs();
        if !is_met {
            return Ok(ControlFlow::Continue(()));
        }
        run.say(&format!(
            "early termination: F̲ = {lower} and F̄ = {upper} with Δ̃ = {margin}; F̄ is above the optimum only with \
             the probability of Theorems 2 and 3, and is not reported as a bound"
        ));
        Ok(ControlFlow::Break(Stop::Stalled))
    }
}
