//! Several chains that run in parallel.

use rayon::prelude::*;

use super::{Chain, ChainSummary, TransitionKernel};
use crate::model::Problem;
use crate::proposal::ChainState;
use crate::recourse::{self, Recourse, RecourseBasis, RecourseError};
use crate::run::Clock;
use crate::uncertainty::States;

/// Chains with labels 0, 1, …, each with its own recourse engine. The warm start of an engine may decide which of
/// several optimal duals it returns, so that with a shared engine results would depend on the order of work. With its
/// own engine, a chain gives the same results on any number of threads.
pub struct Chains {
    members: Vec<PooledChain>,
}

struct PooledChain {
    chain: Chain,
    engine: Box<dyn Recourse>,
    /// The state with the largest score evaluated since the incumbent changed; valid if `has_best`.
    best: ChainState,
    has_best: bool,
}

impl Chains {
    /// Creates `count` chains, each started at its own draw from ν, with the default recourse engine.
    pub fn new(
        problem: &Problem,
        states: &dyn States,
        seed: u64,
        count: u32,
        clock: &Clock,
    ) -> Result<Self, RecourseError> {
        Self::with_engines(problem, states, seed, count, || recourse::engine(problem, clock))
    }

    /// Creates `count` chains with engines from the given function.
    pub(crate) fn with_engines(
        problem: &Problem,
        states: &dyn States,
        seed: u64,
        count: u32,
        mut engine: impl FnMut() -> Result<Box<dyn Recourse>, RecourseError>,
    ) -> Result<Self, RecourseError> {
        let member = |label| {
            Ok::<_, RecourseError>(PooledChain {
                chain: Chain::new(problem, states, seed, label),
                engine: engine()?,
                best: ChainState::new(problem, states),
                has_best: false,
            })
        };
        Ok(Self { members: (0..count).map(member).collect::<Result<_, _>>()? })
    }

    /// Sets the incumbent of all engines.
    pub fn set_incumbent(&mut self, x: &[f64]) {
        for member in &mut self.members {
            member.engine.at(x);
            member.chain.incumbent_moved();
            member.has_best = false;
        }
    }

    /// Starts the next solve of every engine from the basis of another engine, which saves a first solve from scratch.
    pub fn start_from(&mut self, warm: &RecourseBasis) -> Result<(), RecourseError> {
        self.members.iter_mut().try_for_each(|member| member.engine.start_from(warm))
    }

    /// Offers the basis of another engine to every engine as a candidate for warm starts.
    pub fn hint(&mut self, ended: &RecourseBasis) {
        self.members.iter_mut().for_each(|member| member.engine.hint(ended));
    }

    /// Makes the given number of transitions of each chain at the incumbent, or fewer if the clock runs out. If some
    /// chains fail, returns the error of the chain with the smallest label; states found before stay available.
    pub fn step(&mut self, kernel: &TransitionKernel, transitions: u64, clock: &Clock) -> Result<(), RecourseError> {
        // Waking other threads takes longer than a step.
        if let [only] = &mut self.members[..] {
            return only.step(kernel, transitions, clock);
        }
        let results: Vec<_> =
            self.members.par_iter_mut().map(|member| member.step(kernel, transitions, clock)).collect();
        results.into_iter().collect()
    }

    /// The chains, in the order of their labels.
    pub fn iter(&self) -> impl Iterator<Item = &Chain> {
        self.members.iter().map(|member| &member.chain)
    }

    /// The chains as mutable references, in the order of their labels: for example, to change where they start.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Chain> {
        self.members.iter_mut().map(|member| &mut member.chain)
    }

    /// The state with the largest score that any chain evaluated since the incumbent changed; on ties, the one of the
    /// smallest label.
    pub fn best(&self) -> Option<&ChainState> {
        let found = self.members.iter().filter(|member| member.has_best).map(|member| &member.best);
        found.reduce(|best, state| if state.answer.value > best.answer.value { state } else { best })
    }

    /// The state of every chain and its last candidate, and the best state met since the incumbent moved.
    pub fn visited(&self) -> impl Iterator<Item = &ChainState> {
        self.iter().flat_map(|chain| [chain.current(), chain.previous_or_rejected()]).chain(self.best())
    }

    /// The worst current state: of equal ones that of the chain with the least label.
    pub fn worst(&self) -> Option<&ChainState> {
        let states = self.iter().map(|chain| chain.current());
        states.reduce(|worst, state| if state.answer.value > worst.answer.value { state } else { worst })
    }

    /// The diagnostics of all chains together.
    pub fn summary(&self) -> ChainSummary {
        self.iter().fold(ChainSummary::default(), |summary, chain| summary.with(chain.diagnostics()))
    }

    /// Total number of recourse solves.
    pub fn solves(&self) -> u64 {
        self.members.iter().map(|member| member.engine.work().solves).sum()
    }

    /// Total number of recourse solves whose dual could not be selected.
    pub fn unselected(&self) -> u64 {
        self.members.iter().map(|member| member.engine.work().unselected).sum()
    }
}

impl PooledChain {
    fn step(&mut self, kernel: &TransitionKernel, transitions: u64, clock: &Clock) -> Result<(), RecourseError> {
        self.chain.evaluate(kernel, self.engine.as_mut())?;
        record_best(self.chain.current(), &mut self.best, &mut self.has_best);
        for _ in 0..transitions {
            // An engine that answers from its cache, and a candidate equal to the current state, do not check the
            // clock.
            clock.check()?;
            let moved = self.chain.step(kernel, self.engine.as_mut())?;
            let candidate = if moved { self.chain.current() } else { self.chain.previous_or_rejected() };
            record_best(candidate, &mut self.best, &mut self.has_best);
        }
        Ok(())
    }
}

/// Keeps a state that is better than the best one so far.
pub(super) fn record_best(state: &ChainState, best: &mut ChainState, has_best: &mut bool) {
    if !*has_best || state.answer.value > best.answer.value {
        best.copy_from(state);
        *has_best = true;
    }
}
