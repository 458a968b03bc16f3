//! Thorough effort: the search by which an incumbent is verified.

use rand::RngExt;

use super::SoftSeparation;
use crate::cuts::CutPool;
use crate::error::Error;
use crate::recourse::engine;
use crate::separation::{Ascent, Query};

/// Restarts of the chains: the state of one may be a local maximum. Where costs depend on ξ there are many of these.
const RESTARTS: u32 = 4;
const RESTARTS_INSIDE: u32 = 16;

/// Scenarios of the pool that an ascent starts from.
const POOL_STARTS: usize = 8;

/// Draws from the reference measure that an ascent starts from. On budget sets with many local maxima estimates were
/// too low in two of five runs without them.
const DRAWS: usize = 32;

/// Random ends of the set that an ascent starts from after each restart.
const ENDS: usize = 3;

/// The share that a step of these ascents must gain.
const GAIN: f64 = 1e-12;

/// Random ends of the set that an ascent on the elastic recourse starts from.
const ELASTIC_ENDS: usize = 8;

impl SoftSeparation<'_> {
    /// Ascends from known scenarios and from draws, restarts the chains, and looks for scenarios without recourse,
    /// until the query is met.
    pub(super) fn verify(&mut self, query: &Query, pool: &mut CutPool) -> Result<(), Error> {
        for start in pool.worst_scenarios(query.x, POOL_STARTS) {
            self.ascend(query.x, &start, GAIN, pool)?;
        }
        self.ascend_from_draws(query, pool)?;
        let is_inside = self.problem.recourse.costs_move() && !self.problem.set.is_finite_list();
        for _ in 0..if is_inside { RESTARTS_INSIDE } else { RESTARTS } {
            if query.is_met_by(self.worst.answer.value) {
                return Ok(());
            }
            self.restart_chains(query, pool)?;
        }
        if query.is_met_by(self.worst.answer.value) {
            return Ok(());
        }
        self.search_infeasible_scenario(query, pool)
    }

    /// Ascends from draws of the reference measure: where there are many local maxima, the ends of the set in random
    /// directions lead to few of them.
    fn ascend_from_draws(&mut self, query: &Query, pool: &mut CutPool) -> Result<(), Error> {
        let states = std::sync::Arc::clone(&self.kernel.states);
        let (mut state, mut xi) = (states.blank(), vec![0.0; self.problem.set.dim()]);
        for _ in 0..DRAWS {
            states.draw(&mut self.verification, &mut state);
            states.realize(&state, &mut xi);
            self.ascend(query.x, &xi, GAIN, pool)?;
        }
        Ok(())
    }

    /// Restarts the chains from new draws, makes some transitions, and ascends from the worst state and from random
    /// ends of the set: a chain in a body that has come close to a face moves along it by ever smaller steps, and
    /// hardly comes to a corner.
    fn restart_chains(&mut self, query: &Query, pool: &mut CutPool) -> Result<(), Error> {
        let transitions = 10 + self.problem.set.dim() as u64 / 2;
        let Self { settings, kernel, chains, .. } = self;
        chains.iter_mut().for_each(|chain| chain.restart(kernel.states.as_ref()));
        chains.set_incumbent(query.x);
        chains.step(&kernel.at(settings, self.temperature), transitions, query.clock)?;
        for state in chains.visited() {
            pool.insert_answer(&state.answer, &state.xi);
        }
        let Some(state) = self.chains.worst().cloned() else { return Ok(()) };
        match self.is_smoothed() {
            // A smoothed score is below the cost itself, and finite where there is no recourse.
            true => self.evaluate(query.x, &state.xi, pool)?,
            false => self.worst.offer(&state.xi, &state.answer),
        }
        let mut worst = self.ascend(query.x, &state.xi, GAIN, pool)?;
        let (mut start, mut direction) = (state.xi, vec![0.0; self.problem.set.dim()]);
        for _ in 0..ENDS {
            if worst.1 == f64::INFINITY {
                break;
            }
            direction.iter_mut().for_each(|entry| *entry = self.verification.random_range(-1.0..1.0));
            self.problem.set.support(&direction, &mut start)?;
            let other = self.ascend(query.x, &start, GAIN, pool)?;
            if other.1 > worst.1 {
                worst = other;
            }
        }
        if let Some(chain) = self.chains.iter_mut().next() {
            chain.start_at(self.kernel.states.as_ref(), &worst.0);
        }
        Ok(())
    }

    /// Looks for a scenario without recourse by ascents on the elastic recourse: the cost may say nothing on the way to
    /// one, the least violation of the rows does.
    fn search_infeasible_scenario(&mut self, query: &Query, pool: &mut CutPool) -> Result<(), Error> {
        let elastic = self.problem.elastic();
        let mut engine = engine(&elastic, query.clock)?;
        let mut ascent = Ascent::new(&elastic, engine.as_mut(), query.x);
        ascent.climb(&self.worst.xi)?;
        ascent.climb_at_random(ELASTIC_ENDS, self.seed.wrapping_add(self.calls))?;
        let found = ascent.found()?;
        self.other_solves += found.solves;
        // The recourse itself decides whether a row is violated by more than tolerances.
        if found.value > 0.0 {
            self.evaluate(query.x, &found.xi, pool)?;
        }
        Ok(())
    }
}
