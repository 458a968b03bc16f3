//! Thorough effort: the search by which an incumbent is verified.

use std::sync::Arc;

use rand::RngExt;

use super::SoftSeparation;
use super::settings::Schedule;
use super::tempered::{SearchQuery, TemperedSearch};
use crate::cuts::CutPool;
use crate::error::Error;
use crate::model::Problem;
use crate::numeric::tolerances::FEASIBILITY_TOL;
use crate::recourse::{Recourse, absorbs_scenarios, engine};
use crate::run::{Clock, Purpose, stream};
use crate::separation::Query;
use crate::uncertainty::{ReferenceMeasure, StateSpec};

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
        let is_over = query.before_proof || query.is_met_by(self.worst.answer.value);
        if is_over || self.worst.answer.value == f64::INFINITY {
            return Ok(());
        }
        self.search_infeasible_scenario(query, pool)
    }

    fn new_search(&self, clock: &Clock) -> Result<TemperedSearch<'p>, Error> {
        let states = self.kernel.search_states(self.problem)?;
        TemperedSearch::new(self.problem, states, self.settings.schedule, search_seed(self.seed), clock)
    }

    /// Looks for a scenario without recourse by a tempered search on the elastic recourse: the cost may be flat on the
    /// way to one, where the least violation of the rows is not. Where the recourse absorbs every change of ξ, the
    /// nominal scenario represents all.
    fn search_infeasible_scenario(&mut self, query: &Query, pool: &mut CutPool) -> Result<(), Error> {
        let absorbs_scenarios = match self.absorbs_scenarios {
            Some(absorbs) => absorbs,
            None => *self.absorbs_scenarios.insert(absorbs_scenarios(self.problem)?),
        };
        if absorbs_scenarios {
            let mut nominal = vec![0.0; self.problem.set.dim()];
            self.problem.set.nominal(&mut nominal);
            return self.evaluate(query.x, &nominal, pool);
        }
        let elastic = self.problem.elastic();
        let seed = self.seed.wrapping_add(self.calls);
        let (reference, schedule) = (self.settings.reference, self.settings.schedule);
        let mut search = ViolationSearch::new(&elastic, reference, schedule, seed, query.clock)?;
        let found = search.run(query.x, std::slice::from_ref(&self.worst.xi), query.budget, query.clock);
        self.other_solves += search.solves();
        // The recourse itself decides whether a row is violated by more than tolerances.
        match found? {
            Some(xi) => self.evaluate(query.x, &xi, pool),
            None => Ok(()),
        }
    }
}

/// A tempered search for the scenario at which rows are violated most.
pub(crate) struct ViolationSearch<'p> {
    search: TemperedSearch<'p>,
    engine: Box<dyn Recourse>,
}

impl<'p> ViolationSearch<'p> {
    /// Searches on an elastic problem.
    pub(crate) fn new(
        elastic: &'p Problem,
        reference: ReferenceMeasure,
        schedule: Schedule,
        seed: u64,
        clock: &Clock,
    ) -> Result<Self, Error> {
        let spec = StateSpec { convex: true, edges: true, reference, ..StateSpec::default() };
        let states = Arc::from(elastic.set.states(&spec)?);
        let search = TemperedSearch::new(elastic, states, schedule, search_seed(seed), clock)?;
        Ok(Self { search, engine: engine(elastic, clock)? })
    }

    /// The recourse solves so far.
    pub(crate) fn solves(&self) -> u64 {
        self.search.solves() + self.engine.work().solves
    }

    /// The scenario with the largest violation met at `x`, if rows are violated at some; with at most about `budget`
    /// recourse solves.
    pub(crate) fn run(
        &mut self,
        x: &[f64],
        starts: &[Vec<f64>],
        budget: Option<u64>,
        clock: &Clock,
    ) -> Result<Option<Vec<f64>>, Error> {
        // Most problems have recourse everywhere, and the search for the worst cost has looked at many scenarios.
        let least = self.search.least_effort();
        let budget = Some(budget.map_or(least, |budget| budget.min(least)));
        let violated = SearchQuery { x, above: Some(FEASIBILITY_TOL), budget, clock };
        let mut worst = (None, 0.0);
        self.search.run(&violated, starts, self.engine.as_mut(), &mut |xi, answer| {
            if answer.value > worst.1 {
                worst = (Some(xi.to_vec()), answer.value);
            }
        })?;
        Ok(worst.0)
    }
}

/// The part of a query that a search answers.
fn search_query<'a>(query: &Query<'a>) -> SearchQuery<'a> {
    SearchQuery { x: query.x, above: query.above, budget: query.budget, clock: query.clock }
}

/// A seed that no other chain of the run has.
fn search_seed(seed: u64) -> u64 {
    stream(seed, Purpose::Start, 5).random()
}
