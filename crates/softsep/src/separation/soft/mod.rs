//! Soft separation, the paper's idea: a chain over the scenarios, at low temperature, in place of an exact search.
//!
//! A call of normal effort first ascends from scenarios of the cut pool with large cuts at x, then makes a transition
//! of the chains (Definition 1), or of the chain of x's integer assignment (Algorithm 2), and last ascends from a
//! random end of the set; it ends as soon as the query is met. The chains move by themselves and are not set to where
//! ascents end: they are there to find other scenarios. Every answer of the recourse on the way is inserted into the
//! pool. A call of thorough effort is a tempered search (`tempered.rs`). The answer claims nothing about the maximum.

mod climber;
mod kernel;
mod keyed;
mod local_maxima;
mod oracle;
mod progress;
mod settings;
mod tempered;
#[cfg(test)]
mod tests;
mod verify;
mod weights;

use std::borrow::Cow;
use std::sync::Arc;

use rand::RngExt;

pub use crate::chain::Acceptance;
pub(crate) use kernel::{chain_space, chain_states, draw_states};
pub(crate) use keyed::KeyedCall;
pub(crate) use oracle::AdaptiveOracle;
pub use settings::{AutoOr, CatchUp, Schedule, Score, Search, SoftSettings, Temperature};
pub(crate) use settings::{as_word, from_word, positive_count};
pub(crate) use verify::ViolationSearch;
pub use weights::Weights;

use self::kernel::KernelParts;
use self::keyed::KeyedChains;
pub use self::tempered::{SearchQuery, TemperedSearch};
use super::{Ascent, Claim, Effort, Found, Query, Separation};
use crate::chain::Chains;
use crate::cuts::CutPool;
use crate::error::Error;
use crate::model::Problem;
use crate::proposal::ChainState;
use crate::recourse::{Answer, DualChoice, Recourse, RecourseBasis, engine_with};
use crate::run::{ChainDiagnostics, Clock, Purpose, Random, SearchDiagnostics, stream};
use crate::uncertainty::States;

/// Scenarios of the pool that an ascent starts from.
const POOL_STARTS: usize = 2;

/// One call in so many steps the chains even where ascents have met the query, so that the chains follow x.
const CHAIN_PERIOD: u64 = 8;

/// The share of the gap asked for that a step of an ascent must gain.
const GAIN: f64 = 0.01;

/// The same for fractional points, relative to the cost reached.
const LOCAL_GAIN: f64 = 1e-6;

/// The least gap that ascents are made for.
const LEAST_GAP: f64 = 1e-7;

/// The worst scenario of a call, with the recourse's answer there.
struct WorstAnswer {
    xi: Vec<f64>,
    answer: Answer,
}

impl WorstAnswer {
    fn reset(&mut self) {
        (self.answer.value, self.answer.cost) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    }

    /// Keeps an answer that is worse than all before.
    fn offer(&mut self, xi: &[f64], answer: &Answer) {
        if answer.value > self.answer.value {
            self.set(xi, answer);
        }
    }

    fn set(&mut self, xi: &[f64], answer: &Answer) {
        self.xi.copy_from_slice(xi);
        self.answer.clone_from(answer);
    }
}

/// The soft separation of a run.
pub(crate) struct SoftSeparation<'p> {
    problem: &'p Problem,
    settings: SoftSettings,
    kernel: KernelParts<'p>,
    gap: f64,
    seed: u64,
    /// For ascents and single questions.
    engine: Box<dyn Recourse>,
    answer: Answer,
    chains: Chains,
    keyed: Option<KeyedChains>,
    worst: WorstAnswer,
    /// The directions of random ends of the set, in calls of normal effort.
    directions: Random,
    /// The search of thorough effort, made when it is first asked for.
    search: Option<Box<TemperedSearch<'p>>>,
    calls: u64,
    temperature: f64,
    /// Recourse solves on elastic recourse.
    other_solves: u64,
    /// Whether a decision with recourse at the nominal scenario has recourse at all scenarios, once computed.
    absorbs_scenarios: Option<bool>,
}

impl<'p> SoftSeparation<'p> {
    /// Soft separation on `states` (see [`chain_states`]) for a run with this relative gap and seed.
    ///
    /// Errs where the settings do not fit the states, or an engine cannot be built.
    pub(crate) fn new(
        problem: &'p Problem,
        states: Arc<dyn States + 'p>,
        settings: SoftSettings,
        gap: f64,
        seed: u64,
        clock: &Clock,
    ) -> Result<Self, Error> {
        let kernel = KernelParts::new(problem, states, &settings)?;
        // The answer is that of the problem itself, so that a smoothed score needs no choice among duals.
        let (scored, dual) = match settings.score {
            Score::Exact => (Cow::Borrowed(problem), settings.dual),
            Score::Moreau(tau) => (Cow::Owned(problem.moreau(tau)), DualChoice::Any),
        };
        let states = kernel.states.as_ref();
        let mut chains =
            Chains::with_engines(problem, states, seed, settings.chains, || engine_with(&scored, dual, clock))?;
        let adapts = settings.kappa == AutoOr::Auto;
        if adapts {
            chains.iter_mut().for_each(|chain| chain.adapt_concentration());
        }
        let keyed = settings.per_assignment.map(|catch_up| KeyedChains::new(&scored, catch_up, adapts, seed, clock));
        Ok(Self {
            problem,
            kernel,
            gap,
            seed,
            engine: engine_with(problem, settings.dual, clock)?,
            answer: Answer::new(problem),
            chains,
            keyed: keyed.transpose()?,
            worst: WorstAnswer { xi: vec![0.0; problem.set.dim()], answer: Answer::new(problem) },
            directions: stream(seed, Purpose::Start, 1),
            search: None,
            calls: 0,
            temperature: f64::NAN,
            other_solves: 0,
            absorbs_scenarios: None,
            settings,
        })
    }

    fn solves(&self) -> u64 {
        let keyed = self.keyed.as_ref().map_or(0, KeyedChains::solves);
        let search = self.search.as_ref().map_or(0, |search| search.solves());
        self.engine.work().solves + self.chains.solves() + keyed + search + self.other_solves
    }

    /// Whether chains sample by another function than the recourse cost.
    fn is_smoothed(&self) -> bool {
        self.settings.score != Score::Exact
    }

    /// Solves the recourse at (x, ξ), and inserts its cut.
    fn evaluate(&mut self, x: &[f64], xi: &[f64], pool: &mut CutPool) -> Result<(), Error> {
        self.engine.at(x);
        self.engine.solve(xi, &mut self.answer)?;
        pool.insert_answer(&self.answer, xi);
        self.worst.offer(xi, &self.answer);
        Ok(())
    }

    /// Ascends at x from a scenario as long as a step gains more than this share; returns the end and its cost.
    fn ascend(&mut self, x: &[f64], start: &[f64], gain: f64, pool: &mut CutPool) -> Result<(Vec<f64>, f64), Error> {
        let Self { problem, engine, worst, .. } = self;
        let mut ascent = Ascent::new(problem, engine.as_mut(), x);
        ascent.climb_while(start, gain, &mut |xi, answer| {
            pool.insert_answer(answer, xi);
            worst.offer(xi, answer);
        })?;
        Ok((ascent.worst().to_vec(), ascent.value()))
    }

    /// Ascends from scenarios of the pool, or from the nominal one where the pool has none, until the query is met.
    fn ascend_from_pool(&mut self, query: &Query, gain: f64, pool: &mut CutPool) -> Result<(), Error> {
        let mut starts = pool.worst_scenarios(query.x, POOL_STARTS);
        if starts.is_empty() {
            let mut nominal = vec![0.0; self.problem.set.dim()];
            self.problem.set.nominal(&mut nominal);
            starts.push(nominal);
        }
        for start in starts {
            self.ascend(query.x, &start, gain, pool)?;
            if query.is_met_by(self.worst.answer.value) {
                break;
            }
        }
        Ok(())
    }

    /// Ascends from the end of the set in a random direction.
    fn ascend_from_end(&mut self, query: &Query, gain: f64, pool: &mut CutPool) -> Result<(), Error> {
        let mut start = vec![0.0; self.problem.set.dim()];
        let direction: Vec<f64> = start.iter().map(|_| self.directions.random_range(-1.0..1.0)).collect();
        self.problem.set.support(&direction, &mut start)?;
        self.ascend(query.x, &start, gain, pool).map(|_| ())
    }

    /// Steps the chains at x, inserts the cuts of the states that they evaluated, and returns the worst current state.
    /// Of equal ones it is that of the chain with the least label.
    fn step_chains(&mut self, query: &Query, pool: &mut CutPool) -> Result<Option<ChainState>, Error> {
        let Self { problem, settings, kernel, chains, keyed, engine, .. } = self;
        let kernel = kernel.at(settings, self.temperature);
        let mut visited: Vec<&ChainState> = Vec::new();
        // The basis of a smoothed recourse has other columns.
        let basis = || (settings.score == Score::Exact).then(|| engine.warm_start());
        let worst = match keyed {
            Some(keyed) => {
                keyed.step(problem, &kernel, query.x, basis().as_ref(), query.clock, &mut |_| ())?;
                let last = keyed.last();
                visited.extend(last.into_iter().flat_map(|(current, other)| [current, other]));
                last.map(|(current, _)| current)
            }
            None => {
                if settings.search == Search::Combined
                    && let Some(basis) = basis()
                {
                    chains.hint(&basis);
                }
                chains.set_incumbent(query.x);
                chains.step(&kernel, settings.transitions, query.clock)?;
                visited.extend(chains.visited());
                chains.worst()
            }
        };
        for state in visited {
            pool.insert_answer(&state.answer, &state.xi);
        }
        Ok(worst.cloned())
    }

    /// A call of normal effort with ascents and chains.
    fn search_combined(&mut self, query: &Query, pool: &mut CutPool) -> Result<(), Error> {
        let gain = GAIN * self.gap.max(LEAST_GAP);
        let before = pool.end();
        let is_met =
            |value: f64, pool: &CutPool| query.is_met_by(value) || query.new_cut_suffices && pool.count_new(before) > 0;
        self.ascend_from_pool(query, gain, pool)?;
        if !is_met(self.worst.answer.value, pool) || self.calls.is_multiple_of(CHAIN_PERIOD) {
            let state = self.step_chains(query, pool)?;
            if let Some(state) = state {
                match self.is_smoothed() {
                    true => self.evaluate(query.x, &state.xi, pool)?,
                    false => self.worst.offer(&state.xi, &state.answer),
                }
                if !is_met(self.worst.answer.value, pool) {
                    self.ascend(query.x, &state.xi, gain, pool)?;
                }
            }
        }
        if !is_met(self.worst.answer.value, pool) {
            self.ascend_from_end(query, gain, pool)?;
        }
        Ok(())
    }

    /// A call of normal effort with chains alone: the answer is the worst current state.
    fn search_by_chains(&mut self, query: &Query, pool: &mut CutPool) -> Result<(), Error> {
        match self.step_chains(query, pool)? {
            Some(state) if self.is_smoothed() => self.evaluate(query.x, &state.xi, pool),
            Some(state) => {
                self.worst.set(&state.xi, &state.answer);
                Ok(())
            }
            None => Ok(()),
        }
    }
}

impl Separation for SoftSeparation<'_> {
    fn separate(&mut self, query: &Query, pool: &mut CutPool) -> Result<Found, Error> {
        let before = self.solves();
        self.temperature = self.kernel.temperature(&self.settings, self.calls, self.gap, query.size);
        self.calls += 1;
        self.worst.reset();
        match (query.effort, self.settings.search) {
            (Effort::Local, _) => self.ascend_from_pool(query, LOCAL_GAIN, pool)?,
            // Before a proof ascents are made whatever the iterations of the method use: they may save it.
            (Effort::Normal, Search::Chains) if !query.before_proof => self.search_by_chains(query, pool)?,
            (Effort::Normal, _) => self.search_combined(query, pool)?,
            (Effort::Thorough, _) => self.verify(query, pool)?,
        }
        let value = self.worst.answer.value;
        Ok(Found {
            xi: self.worst.xi.clone(),
            value,
            cut: self.worst.answer.cut(),
            // Nothing is worse than a scenario without recourse.
            claim: if value == f64::INFINITY { Claim::Surely(value) } else { Claim::Nothing },
            solves: self.solves() - before,
            nodes: 0,
            exact: 0,
        })
    }

    fn is_exact(&self) -> bool {
        false
    }

    /// Sets the first chain to the scenario; does nothing where no state represents it.
    fn start_at(&mut self, xi: &[f64]) {
        if let Some(chain) = self.chains.iter_mut().next() {
            chain.start_at(self.kernel.states.as_ref(), xi);
        }
    }

    fn start_from(&mut self, basis: &RecourseBasis) -> Result<(), Error> {
        self.engine.start_from(basis)?;
        if !self.is_smoothed() {
            self.chains.start_from(basis)?;
        }
        Ok(())
    }

    fn last_search(&self) -> Option<&SearchDiagnostics> {
        self.search.as_ref().and_then(|search| search.diagnostics())
    }

    fn diagnostics(&self) -> Option<ChainDiagnostics> {
        let summary = self.chains.summary();
        Some(ChainDiagnostics {
            acceptance: summary.acceptance().unwrap_or(0.0),
            effective: summary.effective_draws,
            still: summary.steps_since_move,
            temperature: self.temperature,
            unselected: self.engine.work().unselected + self.chains.unselected(),
        })
    }
}
