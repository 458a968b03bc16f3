//! Thorough effort: the search by which an incumbent is verified.

use std::sync::Arc;

use rand::RngExt;

use super::SoftSeparation;
use super::tempered::{SearchQuery, TemperedSearch};
use crate::cuts::CutPool;
use crate::error::Error;
use crate::model::Problem;
use crate::numeric::tolerances::FEASIBILITY_TOL;
use crate::recourse::engine;
use crate::run::{Clock, Purpose, stream};
use crate::separation::Query;
use crate::uncertainty::StateSpec;

/// Scenarios of the pool that an ascent starts from.
const POOL_STARTS: usize = 8;

impl<'p> SoftSeparation<'p> {
    /// Ascends from known scenarios, makes a tempered search, and looks for scenarios without recourse, until the query
    /// is met.
    pub(super) fn verify(&mut self, query: &Query, pool: &mut CutPool) -> Result<(), Error> {
        let query = &match self.settings.thorough_solves {
            Some(most) => query.with_budget(query.budget.map_or(most, |budget| budget.min(most))),
            None => *query,
        };
        let mut search = match self.search.take() {
            Some(search) => search,
            None => Box::new(self.new_search(query.clock)?),
        };
        let starts = pool.worst_scenarios(query.x, POOL_STARTS);
        let Self { engine, worst, .. } = self;
        let searched = search.run(&search_query(query), &starts, engine.as_mut(), &mut |xi, answer| {
            pool.insert_answer(answer, xi);
            worst.offer(xi, answer);
        });
        self.search = Some(search);
        searched?;
        if query.is_met_by(self.worst.answer.value) || self.worst.answer.value == f64::INFINITY {
            return Ok(());
        }
        self.search_infeasible_scenario(query, pool)
    }

    fn new_search(&self, clock: &Clock) -> Result<TemperedSearch<'p>, Error> {
        let states = self.kernel.search_states(self.problem)?;
        TemperedSearch::new(self.problem, states, self.settings.schedule, search_seed(self.seed), clock)
    }

    /// Looks for a scenario without recourse by a tempered search on the elastic recourse: the cost may be flat on the
    /// way to one, where the least violation of the rows is not.
    fn search_infeasible_scenario(&mut self, query: &Query, pool: &mut CutPool) -> Result<(), Error> {
        let elastic = self.problem.elastic();
        let found = worst_violation(&elastic, self, query)?;
        // The recourse itself decides whether a row is violated by more than tolerances.
        match found {
            Some(xi) => self.evaluate(query.x, &xi, pool),
            None => Ok(()),
        }
    }
}

/// The scenario at which the rows are violated most, if they are at some scenario met.
fn worst_violation(
    elastic: &Problem,
    separation: &mut SoftSeparation,
    query: &Query,
) -> Result<Option<Vec<f64>>, Error> {
    let states = Arc::from(elastic.set.states(&StateSpec {
        convex: !elastic.recourse.costs_move(),
        edges: true,
        reference: separation.settings.reference,
        ..StateSpec::default()
    })?);
    let seed = search_seed(separation.seed.wrapping_add(separation.calls));
    let mut search = TemperedSearch::new(elastic, states, separation.settings.schedule, seed, query.clock)?;
    let mut engine = engine(elastic, query.clock)?;
    let mut worst = (None, 0.0);
    // Most problems have recourse everywhere, and the search for the worst cost has looked at many scenarios.
    let budget = query.budget.map_or(search.least_effort(), |budget| budget.min(search.least_effort()));
    let violated = SearchQuery { above: Some(FEASIBILITY_TOL), budget: Some(budget), ..search_query(query) };
    let starts = [separation.worst.xi.clone()];
    let searched = search.run(&violated, &starts, engine.as_mut(), &mut |xi, answer| {
        if answer.value > worst.1 {
            worst = (Some(xi.to_vec()), answer.value);
        }
    });
    separation.other_solves += search.solves() + engine.work().solves;
    searched?;
    Ok(worst.0)
}

/// The part of a query that a search answers.
fn search_query<'a>(query: &Query<'a>) -> SearchQuery<'a> {
    SearchQuery { x: query.x, above: query.above, budget: query.budget, clock: query.clock }
}

/// A seed that no other chain of the run has.
fn search_seed(seed: u64) -> u64 {
    stream(seed, Purpose::Start, 5).random()
}
