//! Parallel tempering: replicas of a chain on a ladder of temperatures, which exchange their temperatures.
//!
//! Each replica makes transitions at its temperature, which leave p_x at that temperature invariant. Between sweeps,
//! neighbouring rungs exchange their replicas by the Metropolis rule, which leaves the product of all laws invariant.
//! High temperatures cross from one local maximum to another, low ones climb within it. An exchange moves temperatures
//! rather than states, so that each recourse engine stays with a state that its bases fit.

use rand::RngExt;
use rayon::prelude::*;

use super::ladder::Ladder;
use super::{Chain, ChainSummary, TransitionKernel};
use crate::model::Problem;
use crate::proposal::ChainState;
use crate::recourse::{Recourse, RecourseBasis, RecourseError};
use crate::run::{Clock, Purpose, Random, stream};
use crate::uncertainty::States;

/// The label of the random stream of swaps, which no chain has.
const SWAPS: u32 = u32::MAX;

/// Replicas with labels 0, 1, …, each with its own random stream and its own recourse engine, so that results are the
/// same on any number of threads.
pub struct Replicas {
    members: Vec<Replica>,
    ladder: Ladder,
    /// The replica on each rung.
    on_rung: Vec<usize>,
    swaps: Random,
    /// The number of sweeps, whose parity decides which pairs of rungs are tried.
    sweeps: u64,
}

struct Replica {
    chain: Chain,
    engine: Box<dyn Recourse>,
    rung: usize,
    best: ChainState,
    has_best: bool,
    /// Whether the replica has been on the hottest rung since it was last on the coldest one.
    from_hot: bool,
    round_trips: u64,
}

impl Replicas {
    /// One replica for each rung of the ladder, each started at its own draw from ν.
    pub fn new(
        problem: &Problem,
        states: &dyn States,
        ladder: Ladder,
        seed: u64,
        mut engine: impl FnMut() -> Result<Box<dyn Recourse>, RecourseError>,
    ) -> Result<Self, RecourseError> {
        let rungs = ladder.temperatures().len();
        let member = |rung: usize| {
            let mut chain = Chain::new(problem, states, seed, rung as u32);
            chain.adapt_concentration();
            Ok::<_, RecourseError>(Replica {
                chain,
                engine: engine()?,
                rung,
                best: ChainState::new(problem, states),
                has_best: false,
                from_hot: rung == 0,
                round_trips: 0,
            })
        };
        Ok(Self {
            members: (0..rungs).map(member).collect::<Result<_, _>>()?,
            ladder,
            on_rung: (0..rungs).collect(),
            swaps: stream(seed, Purpose::Chain, SWAPS),
            sweeps: 0,
        })
    }

    /// The number of replicas.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is no replica.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The ladder of temperatures.
    pub fn ladder(&self) -> &Ladder {
        &self.ladder
    }

    /// Sets the incumbent of all engines.
    pub fn set_incumbent(&mut self, x: &[f64]) {
        for member in &mut self.members {
            member.engine.at(x);
            member.chain.incumbent_moved();
            member.has_best = false;
        }
    }

    /// Starts anew on another ladder with as many rungs: replica k is on rung k, and all adapt again.
    pub fn restart(&mut self, states: &dyn States, ladder: Ladder) {
        self.ladder = ladder;
        self.sweeps = 0;
        for (rung, member) in self.members.iter_mut().enumerate() {
            member.chain.adapt_concentration();
            member.chain.restart(states);
            (member.rung, member.has_best, member.from_hot, member.round_trips) = (rung, false, rung == 0, 0);
            self.on_rung[rung] = rung;
        }
    }

    /// Offers the basis of another engine to every engine as a candidate for warm starts.
    pub fn hint(&mut self, basis: &RecourseBasis) {
        self.members.iter_mut().for_each(|member| member.engine.hint(basis));
    }

    /// Makes the given number of transitions of each replica at its temperature, then tries to swap every other pair
    /// of neighbouring rungs. The temperature of `kernel` is not used. If some replicas fail, returns the error of the
    /// one with the smallest label.
    pub fn sweep(&mut self, kernel: &TransitionKernel, transitions: u64, clock: &Clock) -> Result<(), RecourseError> {
        let Self { members, ladder, .. } = self;
        let temperature = |member: &Replica| ladder.temperatures()[member.rung];
        for_each(members, |member| member.step(&kernel.at(temperature(member)), transitions, clock))?;
        self.swap();
        Ok(())
    }

    /// Makes the given number of transitions of each replica at the temperature of `kernel`, without swaps: a sweep of
    /// an annealing.
    pub fn step_all(
        &mut self,
        kernel: &TransitionKernel,
        transitions: u64,
        clock: &Clock,
    ) -> Result<(), RecourseError> {
        for_each(&mut self.members, |member| member.step(kernel, transitions, clock))
    }

    /// Tries swaps between rungs 0 and 1, 2 and 3, … in one sweep, and between 1 and 2, 3 and 4, … in the next.
    fn swap(&mut self) {
        for rung in 0..self.on_rung.len() - 1 {
            let (here, next) = (self.on_rung[rung], self.on_rung[rung + 1]);
            let score = |replica: usize| self.members[replica].chain.current().answer.value;
            let probability = self.ladder.log_ratio(rung, score(here), score(next)).exp().min(1.0);
            let is_tried = rung as u64 % 2 == self.sweeps % 2;
            // The others are counted by their probability: no draw is needed for it.
            if !probability.is_nan() {
                self.ladder.record(rung, probability);
            }
            if is_tried && self.swaps.random::<f64>() < probability {
                self.exchange(rung);
            }
        }
        self.sweeps += 1;
    }

    /// Exchanges the replicas on a rung and the next one, with the adapted lengths of steps, which belong to the rung.
    fn exchange(&mut self, rung: usize) {
        self.on_rung.swap(rung, rung + 1);
        let (hot, cold) = (self.on_rung[rung], self.on_rung[rung + 1]);
        let (low, high) = (hot.min(cold), hot.max(cold));
        let (before, after) = self.members.split_at_mut(high);
        before[low].chain.exchange_adaptation(&mut after[0].chain);
        let last = self.on_rung.len() - 1;
        self.members[hot].arrive(rung, last);
        self.members[cold].arrive(rung + 1, last);
    }

    /// Moves the rungs so that swap rates become even, by the trials so far. Replicas stay on their rungs.
    pub fn even_out(&mut self) {
        self.ladder.even_out();
    }

    /// Fixes the lengths of steps as they are now.
    pub fn fix_adaptation(&mut self) {
        self.members.iter_mut().for_each(|member| member.chain.fix_concentration());
    }

    /// The label of the replica on a rung.
    pub fn on_rung(&self, rung: usize) -> usize {
        self.on_rung[rung]
    }

    /// The current state on each rung, the hottest first.
    pub fn states(&self) -> impl Iterator<Item = &ChainState> {
        self.on_rung.iter().map(|&replica| self.members[replica].chain.current())
    }

    /// The best state that each replica has evaluated since the incumbent changed or [`Self::forget_best`].
    pub fn best_of_each(&self) -> impl Iterator<Item = Option<&ChainState>> {
        self.members.iter().map(|member| member.has_best.then_some(&member.best))
    }

    /// Forgets the best states.
    pub fn forget_best(&mut self) {
        self.members.iter_mut().for_each(|member| member.has_best = false);
    }

    /// The number of times that a replica has come from the hottest rung to the coldest one, over all replicas.
    pub fn round_trips(&self) -> u64 {
        self.members.iter().map(|member| member.round_trips).sum()
    }

    /// The diagnostics of all replicas together.
    pub fn summary(&self) -> ChainSummary {
        let chains = self.members.iter().map(|member| &member.chain);
        chains.fold(ChainSummary::default(), |summary, chain| summary.with(chain.diagnostics()))
    }

    /// Total number of recourse solves.
    pub fn solves(&self) -> u64 {
        self.members.iter().map(|member| member.engine.work().solves).sum()
    }
}

/// Calls `run` with every replica, on several threads where there are some.
fn for_each(
    members: &mut [Replica],
    run: impl Fn(&mut Replica) -> Result<(), RecourseError> + Send + Sync,
) -> Result<(), RecourseError> {
    // Waking other threads takes longer than a few steps.
    if rayon::current_num_threads() == 1 {
        return members.iter_mut().try_for_each(run);
    }
    let results: Vec<_> = members.par_iter_mut().map(run).collect();
    results.into_iter().collect()
}

impl Replica {
    fn step(&mut self, kernel: &TransitionKernel, transitions: u64, clock: &Clock) -> Result<(), RecourseError> {
        self.chain.evaluate(kernel, self.engine.as_mut())?;
        super::pool::record_best(self.chain.current(), &mut self.best, &mut self.has_best);
        for _ in 0..transitions {
            // An engine that answers from its cache, and a candidate equal to the current state, do not check the
            // clock.
            clock.check()?;
            let moved = self.chain.step(kernel, self.engine.as_mut())?;
            let candidate = if moved { self.chain.current() } else { self.chain.previous_or_rejected() };
            super::pool::record_best(candidate, &mut self.best, &mut self.has_best);
        }
        Ok(())
    }

    fn arrive(&mut self, rung: usize, last: usize) {
        self.rung = rung;
        if rung == 0 {
            self.from_hot = true;
        } else if rung == last && self.from_hot {
            self.from_hot = false;
            self.round_trips += 1;
        }
    }
}
