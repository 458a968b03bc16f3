//! The program as a trial within an exact separation of another kind, before the long part of its search.
//!
//! A trial is one tree without products and has a number of nodes in proportion to the work that it may save. Where
//! it fails, the separation goes on as it would have without it, and leaves out 1, 3, 7, … trials: where the program
//! is no use, what it takes in all is a small share of the searches that it did not save.

use softsep_lp::MipSolver;

use super::{Bilinear, Extent, Goal};
use crate::error::Error;
use crate::model::Problem;
use crate::recourse::{Answer, engine};
use crate::separation::search_state::SearchState;
use crate::separation::{Claim, Found, Query, Target};

/// The work of a search that a trial may save, or of a part of it. The unit is a recourse solve that a known basis
/// answers: its time grows with the size of the recourse as those of pivots and of nodes do.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in crate::separation) struct Work(pub(in crate::separation) u64);

impl Work {
    /// That of so many recourse solves with so many pivots.
    pub(in crate::separation) fn of(solves: u64, pivots: u64) -> Self {
        Self(solves + PIVOT * pivots)
    }
}

/// The work of a pivot and of a node of the tree.
const PIVOT: u64 = 5;
const NODE: u64 = 1000;

/// One in so much of the work that a trial may save is its own.
const SHARE: u64 = 4;

/// Trials with fewer nodes are not worth their root.
const FEWEST_NODES: u64 = 50;

/// The distance of the bound from the worst scenario's cost, relative to it, where a query takes any bound: a search of
/// another kind would come as close.
const CLOSE: f64 = 1e-4;

/// Trials in a row that may fail before waits no longer double.
const MAX_FAILURES: u32 = 6;

/// The program as a trial.
pub(in crate::separation) struct Trial<'p> {
    bilinear: Bilinear<'p>,
    /// Trials that failed since the last one that answered its query.
    failures: u32,
    /// Calls to leave out before the next trial.
    wait: u64,
}

/// The end of a trial.
pub(in crate::separation) struct Tried {
    /// The worst scenario found, and the bound, which holds.
    pub(in crate::separation) found: Found,
    /// Whether the query is answered.
    pub(in crate::separation) is_settled: bool,
}

impl<'p> Trial<'p> {
    /// A trial for a problem; `None` where the program does not apply.
    pub(in crate::separation) fn new(problem: &'p Problem, solver: &MipSolver) -> Option<Self> {
        let bilinear = Bilinear::new(problem).ok()?.with_solver(solver);
        Some(Self { bilinear, failures: 0, wait: 0 })
    }

    /// Tries to answer a query before a search with about this work, from the worst scenario known. Returns `None`
    /// where no trial is due. Errs where the clock stops it without a bound.
    pub(in crate::separation) fn search(
        &mut self,
        query: &Query,
        worst: &[f64],
        work: Work,
    ) -> Result<Option<Tried>, Error> {
        let nodes = work.0 / (SHARE * NODE);
        if nodes < FEWEST_NODES {
            return Ok(None);
        }
        if self.wait > 0 {
            self.wait -= 1;
            return Ok(None);
        }
        let (problem, x, clock) = (self.bilinear.problem, query.x, query.clock);
        let mut engine = engine(problem, clock)?;
        engine.at(x);
        let mut answer = Answer::new(problem);
        engine.solve(worst, &mut answer)?;
        let found = Found { exact: 1, ..Found::new(worst, &answer) };
        let target = match query.target() {
            Target { tolerance: f64::INFINITY, above } => Target { tolerance: CLOSE * found.value.abs(), above },
            target => target,
        };
        let mut state = SearchState { problem, x, engine: engine.as_mut(), answer, found, clock };
        // What fails here is left to the search that follows.
        if let Err(Error::Interrupted(stop)) = self.bilinear.bound(x, &target, Extent::Trial(nodes), clock, &mut state)
            && state.found.claim == Claim::Nothing
        {
            return Err(stop.into());
        }
        let is_settled = match state.found.claim {
            Claim::Surely(bound) => Goal::of(&target, &state).is_met(bound, &state),
            Claim::Nothing => query.is_met_by(state.found.value),
        };
        let found = Found { solves: state.engine.work().solves, ..state.found };
        if is_settled {
            self.failures = 0;
        } else {
            self.failures = (self.failures + 1).min(MAX_FAILURES);
            self.wait = (1 << self.failures) - 1;
        }
        Ok(Some(Tried { found, is_settled }))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::run::Clock;
    use crate::testing::{Recipe, random_problem};

    /// Enough work for some nodes, and for none.
    const LONG: Work = Work(2 * FEWEST_NODES * SHARE * NODE);
    const SHORT: Work = Work(FEWEST_NODES * SHARE * NODE - 1);

    fn nominal(problem: &Problem) -> Vec<f64> {
        let mut xi = vec![0.0; problem.set.dim()];
        problem.set.nominal(&mut xi);
        xi
    }

    #[test]
    fn a_trial_answers_what_a_full_search_answers_and_none_is_made_before_a_short_search() {
        let mut settled = 0;
        for seed in 0..8 {
            let recipe = Recipe { set: ["budget", "box"][seed as usize % 2], ..Recipe::default() };
            let problem = Problem::new(&random_problem(&recipe, seed)).unwrap();
            let (x, clock) = (problem.first.lower.clone(), Clock::unlimited());
            let mut trial = Trial::new(&problem, &MipSolver::Highs).unwrap();
            let query = Query::maximum(&x, &clock).with_bound(f64::INFINITY);
            assert!(trial.search(&query, &nominal(&problem), SHORT).unwrap().is_none());
            let Tried { found, is_settled } = trial.search(&query, &nominal(&problem), LONG).unwrap().unwrap();
            let truth = super::super::ascend_and_bound(&problem, &Query::maximum(&x, &clock), |state| {
                let mut bilinear = Bilinear::new(&problem).unwrap();
                bilinear.bound(&x, &Target::MAXIMUM, Extent::Full, &clock, state)
            });
            let truth = truth.unwrap().value;
            assert!(found.value <= truth + 1e-6 * truth.abs().max(1.0), "seed {seed}: {found:?}, {truth}");
            if let Claim::Surely(bound) = found.claim {
                assert!(bound >= truth - 1e-6 * truth.abs().max(1.0), "seed {seed}: {found:?}, {truth}");
            }
            settled += u64::from(is_settled);
        }
        assert!(settled > 4, "{settled} of 8 trials are settled");
    }

    #[test]
    fn calls_after_a_failure_are_left_out_and_an_answer_ends_that() {
        let problem = Problem::new(&random_problem(&Recipe { set: "budget", ..Recipe::default() }, 1)).unwrap();
        let (x, clock) = (problem.first.lower.clone(), Clock::unlimited());
        let mut trial = Trial::new(&problem, &MipSolver::Highs).unwrap();
        // Any scenario is enough.
        let query = Query { above: Some(f64::NEG_INFINITY), ..Query::maximum(&x, &clock) };
        assert!(trial.search(&query, &nominal(&problem), LONG).unwrap().is_some_and(|tried| tried.is_settled));
        (trial.failures, trial.wait) = (2, 3);
        let made: Vec<bool> =
            (0..4).map(|_| trial.search(&query, &nominal(&problem), LONG).unwrap().is_some()).collect();
        assert_eq!((made, trial.failures), (vec![false, false, false, true], 0));
    }
}
