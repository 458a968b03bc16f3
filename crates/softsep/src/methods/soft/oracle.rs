//! The oracle: chains that look for scenarios at the incumbent, and what they found.

use std::borrow::Cow;

use super::hunt::Explorer;
use super::settings::{ChainSettings, Choice, Score};
use super::walk::Walk;
use crate::chain::Chains;
use crate::error::Error;
use crate::model::Problem;
use crate::proposal::ChainState;
use crate::recourse::{RecourseBasis, engine};
use crate::run::{ChainRecord, Run};
use crate::uncertainty::States;

/// Chains with their kernel.
pub(in crate::methods) struct Oracle<'a> {
    walk: Walk<'a>,
    chains: Chains,
}

impl<'a> Oracle<'a> {
    pub(in crate::methods) fn new(
        problem: &Problem,
        states: &'a dyn States,
        settings: ChainSettings,
        run: &Run,
    ) -> Result<Self, Error> {
        let walk = Walk::new(problem, states, settings)?;
        let settings = walk.settings();
        let scored = match settings.score {
            Score::Exact => Cow::Borrowed(problem),
            Score::Moreau(tau) => Cow::Owned(problem.moreau(tau)),
        };
        let (seed, clock) = (run.limits().seed, run.clock());
        let mut chains = Chains::with_engines(problem, states, seed, settings.chains, || engine(&scored, clock))?;
        if settings.kappa == Choice::Auto {
            chains.iter_mut().for_each(|chain| chain.adapt_concentration());
        }
        Ok(Self { walk, chains })
    }

    /// So many transitions of each chain at x.
    pub(in crate::methods) fn call(&mut self, x: &[f64], transitions: u64, run: &Run) -> Result<(), Error> {
        self.chains.set_incumbent(x);
        Ok(self.chains.step(&self.walk.kernel(run), transitions, run.clock())?)
    }

    /// Lets the chains' engines begin where another one ended.
    pub(in crate::methods) fn start_from(&mut self, warm: &RecourseBasis) -> Result<(), Error> {
        // A smoothed recourse has another basis.
        if self.is_smoothed() { Ok(()) } else { Ok(self.chains.start_from(warm)?) }
    }

    /// Where the chains stand, and what else they looked at last.
    pub(in crate::methods) fn places(&self) -> impl Iterator<Item = &ChainState> {
        self.chains.iter().flat_map(|chain| [chain.current(), chain.previous_or_rejected()]).chain(self.chains.best())
    }

    /// The chain that stands at the worst scenario; of equal ones, that of the least label.
    pub(in crate::methods) fn worst(&self) -> Option<&ChainState> {
        let places = self.chains.iter().map(|chain| chain.current());
        places.reduce(|worst, place| if place.answer.value > worst.answer.value { place } else { worst })
    }

    /// Sets the first chain to a scenario; where no state stands for it, nothing happens.
    pub(in crate::methods) fn start_at(&mut self, xi: &[f64]) {
        if let Some(chain) = self.chains.iter_mut().next() {
            chain.start_at(self.walk.states, xi);
        }
    }

    /// Starts all chains again, each from a draw of its own.
    pub(in crate::methods) fn restart(&mut self) {
        self.chains.iter_mut().for_each(|chain| chain.restart(self.walk.states));
    }

    /// Whether chains score scenarios by something else than what the recourse costs.
    pub(in crate::methods) fn is_smoothed(&self) -> bool {
        self.walk.settings().score != Score::Exact
    }

    /// Recourse solves so far.
    pub(in crate::methods) fn solves(&self) -> u64 {
        self.chains.solves()
    }

    /// How the chains are doing, where x cost `value` and made a step of this length.
    pub(in crate::methods) fn record(&self, value: f64, step: f64, run: &Run) -> ChainRecord {
        let summary = self.chains.summary();
        ChainRecord {
            value,
            acceptance: summary.acceptance().unwrap_or(0.0),
            effective: summary.effective_draws,
            still: summary.steps_since_move,
            temperature: self.walk.temperature(run),
            step,
        }
    }
}

/// In a hunt, each chain makes one transition.
impl Explorer for Oracle<'_> {
    fn explore(&mut self, x: &[f64], ended: &RecourseBasis, run: &Run) -> Result<(), Error> {
        if !self.is_smoothed() {
            self.chains.hint(ended);
        }
        self.call(x, 1, run)
    }

    fn places(&self) -> Vec<&ChainState> {
        Oracle::places(self).collect()
    }

    fn worst(&self) -> Option<&ChainState> {
        Oracle::worst(self)
    }
}
