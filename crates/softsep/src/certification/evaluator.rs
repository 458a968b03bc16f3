//! The cost of a decision at single scenarios.

use crate::cuts::CutPool;
use crate::error::Error;
use crate::model::Problem;
use crate::numeric::tolerances::{FEASIBILITY_TOL, cost_tol};
use crate::recourse::{Answer, Recourse, RecourseBasis, RecourseOutcome, engine};
use crate::run::{Clock, Run};

/// A recourse engine for single questions, with the rules by which cuts revise what is known of decisions.
pub(crate) struct Evaluator<'p> {
    problem: &'p Problem,
    engine: Box<dyn Recourse>,
    answer: Answer,
    counted: u64,
}

impl<'p> Evaluator<'p> {
    pub(crate) fn new(problem: &'p Problem, clock: &Clock) -> Result<Self, Error> {
        Ok(Self { problem, engine: engine(problem, clock)?, answer: Answer::new(problem), counted: 0 })
    }

    /// Lets the next solve start from a basis.
    pub(crate) fn start_from(&mut self, basis: &RecourseBasis) -> Result<(), Error> {
        Ok(self.engine.start_from(basis)?)
    }

    /// f(x) + Q(x, ξ); the cut that proves it is inserted into the pool.
    pub(crate) fn cost(&mut self, x: &[f64], xi: &[f64], pool: &mut CutPool, run: &mut Run) -> Result<f64, Error> {
        let cost = self.cost_alone(x, xi, run)?;
        pool.insert_answer(&self.answer, xi);
        Ok(cost)
    }

    /// f(x) + Q(x, ξ), without a cut.
    pub(crate) fn cost_alone(&mut self, x: &[f64], xi: &[f64], run: &mut Run) -> Result<f64, Error> {
        self.engine.at(x);
        let solved = self.engine.solve(xi, &mut self.answer);
        let solves = self.engine.work().solves;
        run.count_solves(solves - std::mem::replace(&mut self.counted, solves));
        solved?;
        Ok(self.problem.first.value(x) + self.answer.value)
    }

    /// The slope of Q in ξ at the last question.
    pub(crate) fn slope_xi(&self) -> &[f64] {
        &self.answer.slope_xi
    }

    /// Whether x is in X, up to solvers' tolerances, and no scenario of the pool lacks recourse there.
    pub(crate) fn admits(&self, x: &[f64], pool: &CutPool) -> bool {
        let violation = self.problem.first.violation(x);
        violation.is_none_or(|violation| violation.amount <= FEASIBILITY_TOL) && pool.admits(x)
    }

    /// The cost of x at the scenario of the pool's largest cut there, and that scenario; `None` where the cut is not
    /// above `known`.
    pub(crate) fn worse_than(
        &mut self,
        x: &[f64],
        known: f64,
        pool: &mut CutPool,
        run: &mut Run,
    ) -> Result<Option<(f64, Vec<f64>)>, Error> {
        match pool.largest_at(x) {
            Some((cut, value)) if self.problem.first.value(x) + value > known + cost_tol(known) => {
                let xi = pool.scenario(cut).to_vec();
                Ok(Some((self.cost(x, &xi, pool, run)?, xi)))
            }
            _ => Ok(None),
        }
    }

    /// Raises the incumbent's cost to what the cuts of the pool prove, or withdraws an incumbent that they exclude.
    pub(crate) fn revise_incumbent(&mut self, pool: &mut CutPool, run: &mut Run) -> Result<(), Error> {
        let Some(incumbent) = run.incumbent().cloned() else { return Ok(()) };
        if !pool.admits(&incumbent.x) {
            run.withdraw_incumbent();
        } else if let Some((value, worst)) = self.worse_than(&incumbent.x, incumbent.value, pool, run)? {
            run.raise_incumbent(value, &worst);
        }
        Ok(())
    }
}

/// f(x) + Q(x, ξ) from an engine of its own, clock or no clock; −∞ where the recourse is unbounded.
pub(crate) fn cost_at(problem: &Problem, x: &[f64], xi: &[f64], run: &mut Run) -> Result<f64, Error> {
    let mut engine = engine(problem, &Clock::unlimited())?;
    let mut answer = Answer::new(problem);
    engine.at(x);
    engine.solve(xi, &mut answer)?;
    run.count_solves(engine.work().solves);
    let cost = if answer.outcome == RecourseOutcome::Solved { answer.cost } else { answer.value };
    Ok(problem.first.value(x) + cost)
}
