//! Several chains side by side.

use rayon::prelude::*;

use super::{Chain, Kernel, Summary};
use crate::model::Problem;
use crate::proposal::ChainState;
use crate::recourse::{self, Recourse, RecourseBasis, RecourseError};
use crate::run::Clock;
use crate::uncertainty::States;

/// Chains with labels 0, 1, …, each with a recourse engine of its own. An engine's warm start may decide which of
/// several optimal duals it reports, so that a shared one would let the order of work show; with its own, a chain does
/// the same on any number of threads.
pub struct Chains {
    members: Vec<Member>,
}

struct Member {
    chain: Chain,
    engine: Box<dyn Recourse>,
    /// The place with the largest score asked for since the incumbent moved, if anything was.
    best: ChainState,
    has_best: bool,
}

impl Chains {
    /// So many chains, each from a draw of its own.
    pub fn new(
        problem: &Problem,
        states: &dyn States,
        seed: u64,
        count: u32,
        clock: &Clock,
    ) -> Result<Self, RecourseError> {
        Self::with_engines(problem, states, seed, count, || recourse::engine(problem, clock))
    }

    /// The same with engines of one's own.
    pub fn with_engines(
        problem: &Problem,
        states: &dyn States,
        seed: u64,
        count: u32,
        mut engine: impl FnMut() -> Result<Box<dyn Recourse>, RecourseError>,
    ) -> Result<Self, RecourseError> {
        let member = |label| {
            Ok::<_, RecourseError>(Member {
                chain: Chain::new(problem, states, seed, label),
                engine: engine()?,
                best: ChainState::new(problem, states),
                has_best: false,
            })
        };
        Ok(Self { members: (0..count).map(member).collect::<Result<_, _>>()? })
    }

    /// Moves the incumbent.
    pub fn at(&mut self, x: &[f64]) {
        for member in &mut self.members {
            member.engine.at(x);
            member.chain.incumbent_moved();
            member.has_best = false;
        }
    }

    /// Lets every engine begin its next solve where another one ended, which saves it a first solve from nothing.
    pub fn start_from(&mut self, warm: &RecourseBasis) -> Result<(), RecourseError> {
        self.members.iter_mut().try_for_each(|member| member.engine.start_from(warm))
    }

    /// Lets every engine know where another one ended.
    pub fn hint(&mut self, ended: &RecourseBasis) {
        self.members.iter_mut().for_each(|member| member.engine.hint(ended));
    }

    /// So many transitions of each chain at the incumbent, or as many as the clock allows. If some fail, the error is
    /// that of the one with the least label; what the chains have found stays found.
    pub fn step(&mut self, kernel: &Kernel, transitions: u64, clock: &Clock) -> Result<(), RecourseError> {
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

    /// The chains to be changed, in the order of their labels: to start them elsewhere, for example.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Chain> {
        self.members.iter_mut().map(|member| &mut member.chain)
    }

    /// The place with the largest score that any of the chains asked for since the incumbent moved; of equal ones, that
    /// of the least label.
    pub fn best(&self) -> Option<&ChainState> {
        let found = self.members.iter().filter(|member| member.has_best).map(|member| &member.best);
        found.reduce(|best, place| if place.answer.value > best.answer.value { place } else { best })
    }

    /// The state of every chain and its last candidate, and the best state met since the incumbent moved.
    pub fn visited(&self) -> impl Iterator<Item = &ChainState> {
        self.iter().flat_map(|chain| [chain.place(), chain.other()]).chain(self.best())
    }

    /// The worst current state: of equal ones that of the chain with the least label.
    pub fn worst(&self) -> Option<&ChainState> {
        let states = self.iter().map(|chain| chain.place());
        states.reduce(|worst, state| if state.answer.value > worst.answer.value { state } else { worst })
    }

    /// How all of them are doing together.
    pub fn summary(&self) -> Summary {
        self.iter().fold(Summary::default(), |summary, chain| summary.with(chain.diagnostics()))
    }

    /// Recourse solves so far.
    pub fn solves(&self) -> u64 {
        self.members.iter().map(|member| member.engine.work().solves).sum()
    }
}

impl Member {
    fn step(&mut self, kernel: &Kernel, transitions: u64, clock: &Clock) -> Result<(), RecourseError> {
        self.chain.look(kernel, self.engine.as_mut())?;
        keep(self.chain.place(), &mut self.best, &mut self.has_best);
        for _ in 0..transitions {
            // An engine that answers from memory, and a candidate that is the state itself, look at no clock.
            clock.check()?;
            let moved = self.chain.step(kernel, self.engine.as_mut())?;
            let candidate = if moved { self.chain.place() } else { self.chain.other() };
            keep(candidate, &mut self.best, &mut self.has_best);
        }
        Ok(())
    }
}

fn keep(place: &ChainState, best: &mut ChainState, has_best: &mut bool) {
    if !*has_best || place.answer.value > best.answer.value {
        best.copy_from(place);
        *has_best = true;
    }
}
