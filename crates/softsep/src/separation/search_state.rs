//! The answer of an exact search under construction: the worst scenario found, and the bound proved so far.

use super::{Claim, Found, Query, ascend};
use crate::error::Error;
use crate::model::Problem;
use crate::recourse::{Answer, Recourse, RecourseError, RecourseOutcome, engine};
use crate::run::Clock;

/// The recourse engine at the decision, and the answer so far.
pub(super) struct SearchState<'a> {
    pub(super) problem: &'a Problem,
    pub(super) x: &'a [f64],
    pub(super) engine: &'a mut dyn Recourse,
    pub(super) answer: Answer,
    pub(super) found: Found,
    pub(super) clock: &'a Clock,
}

/// Answers a query by ascents, and by `bound` where no ascent meets it. The claim that `bound` has made when the clock
/// stops it is valid.
pub(super) fn ascend_and_bound(
    problem: &Problem,
    query: &Query,
    bound: impl FnOnce(&mut SearchState) -> Result<(), Error>,
) -> Result<Found, Error> {
    let (x, clock) = (query.x, query.clock);
    let mut engine = engine(problem, clock)?;
    let found = ascend(problem, engine.as_mut(), x)?;
    if found.value == f64::INFINITY || query.is_met_by(found.value) {
        return Ok(found);
    }
    let answer = Answer::new(problem);
    let mut state = SearchState { problem, x, engine: engine.as_mut(), answer, found, clock };
    match bound(&mut state) {
        Ok(()) | Err(Error::Interrupted(_)) => {}
        Err(error) => return Err(error),
    }
    let mut found = state.found;
    (found.solves, found.exact) = (engine.work().solves, 1);
    Ok(found)
}

impl SearchState<'_> {
    /// Solves the recourse at a scenario, keeps the scenario if it is worse, and returns its cost.
    ///
    /// Where the clock has stopped, the solve gets a moment more, so that the result of a stopped tree is used.
    pub(super) fn take(&mut self, xi: Vec<f64>) -> Result<f64, Error> {
        self.solve(&xi)?;
        if self.answer.value > self.found.value {
            self.found.value = self.answer.value;
            self.found.cut = self.answer.cut();
            self.found.xi = xi;
            match self.found.claim {
                Claim::Surely(bound) => self.claim(bound),
                Claim::Nothing if self.answer.outcome == RecourseOutcome::Infeasible => self.claim(f64::INFINITY),
                Claim::Nothing => {}
            }
        }
        Ok(self.answer.cost)
    }

    /// Whether there is recourse at ξ, which need not be a member of the set.
    pub(super) fn has_recourse(&mut self, xi: &[f64]) -> Result<bool, Error> {
        self.solve(xi)?;
        Ok(self.answer.outcome != RecourseOutcome::Infeasible)
    }

    fn solve(&mut self, xi: &[f64]) -> Result<(), Error> {
        match self.engine.solve(xi, &mut self.answer) {
            Err(RecourseError::Interrupted(_)) => {
                let mut engine = engine(self.problem, &self.clock.grace())?;
                engine.at(self.x);
                Ok(engine.solve(xi, &mut self.answer)?)
            }
            solved => Ok(solved?),
        }
    }

    /// As [`Self::take`], at the maximiser of these slopes: Q there is at least the objective value of their dual.
    pub(super) fn take_support(&mut self, slopes: &[f64]) -> Result<f64, Error> {
        let mut xi = vec![0.0; slopes.len()];
        self.problem.set.support(slopes, &mut xi)?;
        self.take(xi)
    }

    /// Claims that the maximum is at most `bound`, or the cost of the worst scenario if that is larger.
    pub(super) fn claim(&mut self, bound: f64) {
        self.found.claim = Claim::Surely(bound.max(self.found.value));
    }
}
