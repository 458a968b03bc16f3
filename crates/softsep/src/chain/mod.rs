//! The chain of soft separation (Definition 1 of the paper): it walks the states of a set toward scenarios that hurt
//! the incumbent, one step or a few at a time, while the incumbent moves.
//!
//! For a fixed x the chain's law is p_x, whatever the proposal, as long as q(·|state) is a function of the state.
//! Proposals that follow the recourse's slope need one dual per state for that: where the recourse is degenerate at a
//! state and the engine may answer with one dual or another, depending on what it was asked before, the law is p_x only
//! up to what such ties matter. An engine with [`crate::recourse::DualChoice::LeastSlope`] has fewer of them; on a
//! sphere or in a body ties have probability zero.

mod acceptance;
mod adaptation;
mod diagnostics;
mod pool;
mod tilt_cache;

pub use acceptance::Acceptance;
pub use diagnostics::{Diagnostics, Summary};
pub use pool::Chains;

use rand::RngExt;

use adaptation::Adaptation;

use crate::model::Problem;
use crate::proposal::{ChainState, Proposal};
use crate::recourse::{Recourse, RecourseError};
use crate::run::{Purpose, Random, stream};
use crate::uncertainty::States;
use tilt_cache::TiltCache;

/// The transition kernel P_x but for x, which the recourse engine holds. Its invariant law is p_x ∝ exp(score/w) with
/// respect to ν.
///
/// The score is what the engine answers: Q itself, or its Moreau envelope where the engine is that of
/// `Problem::moreau`.
#[derive(Clone, Copy)]
pub struct Kernel<'a> {
    /// The states.
    pub states: &'a dyn States,
    /// Where candidates come from.
    pub proposal: &'a dyn Proposal,
    /// When they are taken.
    pub acceptance: Acceptance,
    /// w.
    pub temperature: f64,
}

/// One chain, with its own random stream, its state and what is known there.
pub struct Chain {
    random: Random,
    here: ChainState,
    there: ChainState,
    /// Whether `here` was answered at the incumbent, and the temperature that it was readied for.
    is_current: bool,
    /// How its candidates come nearer, if they do.
    adaptation: Option<Adaptation>,
    temperature: f64,
    tilt_cache: TiltCache,
    diagnostics: Diagnostics,
}

impl Chain {
    /// A chain that starts at a draw from ν. Chains with the same seed and different labels are independent.
    pub fn new(problem: &Problem, states: &dyn States, seed: u64, label: u32) -> Self {
        let mut random = stream(seed, Purpose::Chain, label);
        let mut here = ChainState::new(problem, states);
        states.draw(&mut random, &mut here.state);
        states.realize(&here.state, &mut here.xi);
        Self {
            random,
            there: here.clone(),
            here,
            is_current: false,
            temperature: f64::NAN,
            tilt_cache: TiltCache::default(),
            adaptation: None,
            diagnostics: Diagnostics::default(),
        }
    }

    /// Lets candidates come nearer while few are taken, and go further while many are. How near depends on the past
    /// alone, so that every step still leaves p_x as it is.
    pub fn adapt_sharpness(&mut self) {
        self.adaptation = Some(Adaptation::default());
    }

    /// Moves the chain to a given member of the set; false if no state stands for it.
    pub fn start_at(&mut self, states: &dyn States, xi: &[f64]) -> bool {
        let found = states.locate(xi, &mut self.here.state);
        if found {
            states.realize(&self.here.state, &mut self.here.xi);
            self.is_current = false;
        }
        found
    }

    /// Starts again from a draw of ν, as sharp as at first.
    pub fn restart(&mut self, states: &dyn States) {
        states.draw(&mut self.random, &mut self.here.state);
        states.realize(&self.here.state, &mut self.here.xi);
        self.is_current = false;
        if self.adaptation.is_some() {
            self.adapt_sharpness();
            (self.here.sharpness, self.there.sharpness) = (1.0, 1.0);
        }
    }

    /// Tells the chain that the incumbent has moved: what it knows of its state is out of date.
    pub fn incumbent_moved(&mut self) {
        self.is_current = false;
    }

    /// Asks the recourse at the chain's own state, if that was not done since the incumbent moved.
    pub fn look(&mut self, kernel: &Kernel, recourse: &mut dyn Recourse) -> Result<&ChainState, RecourseError> {
        if !self.is_current {
            recourse.solve(&self.here.xi, &mut self.here.answer)?;
            self.is_current = true;
            self.temperature = f64::NAN;
            self.diagnostics.saw(self.here.answer.value);
        }
        if self.temperature != kernel.temperature {
            ready(kernel, &mut self.tilt_cache, &mut self.here);
            self.temperature = kernel.temperature;
        }
        Ok(&self.here)
    }

    /// One transition under P_x; whether the state moved. At most two recourse solves after the incumbent moved, one
    /// otherwise; nothing is allocated but for slopes that are new.
    pub fn step(&mut self, kernel: &Kernel, recourse: &mut dyn Recourse) -> Result<bool, RecourseError> {
        self.look(kernel, recourse)?;
        kernel.proposal.propose(kernel.states, &self.here, &mut self.random, &mut self.there);
        // A candidate that is the state itself is neither asked again nor called a move.
        if self.there.state == self.here.state {
            self.there.copy_from(&self.here);
            self.diagnostics.stepped(false, self.here.answer.value, self.here.answer.value);
            self.note(Adaptation::stayed);
            return Ok(false);
        }
        kernel.states.realize(&self.there.state, &mut self.there.xi);
        recourse.solve(&self.there.xi, &mut self.there.answer)?;
        ready(kernel, &mut self.tilt_cache, &mut self.there);
        let (from, to) = (self.here.answer.value, self.there.answer.value);
        // Two infinite values compare as equal: neither is a better scenario.
        let rise = if from == to { 0.0 } else { (to - from) / kernel.temperature };
        let log_ratio = rise + kernel.proposal.log_ratio(kernel.states, &self.here, &self.there);
        let moved = self.random.random::<f64>() < kernel.acceptance.probability(log_ratio);
        if moved {
            std::mem::swap(&mut self.here, &mut self.there);
        }
        self.diagnostics.stepped(moved, to, self.here.answer.value);
        self.note(if moved { Adaptation::accepted } else { Adaptation::rejected });
        Ok(moved)
    }

    /// Takes up what became of a candidate; the state is readied again if candidates come nearer or further now.
    fn note(&mut self, note: fn(&mut Adaptation) -> Option<f64>) {
        if let Some(sharpness) = self.adaptation.as_mut().and_then(note) {
            self.here.sharpness = sharpness;
            self.there.sharpness = sharpness;
            self.temperature = f64::NAN;
        }
    }

    /// Where the chain stands.
    pub fn place(&self) -> &ChainState {
        &self.here
    }

    /// The last candidate that was not taken, or the state that the chain left.
    pub fn other(&self) -> &ChainState {
        &self.there
    }

    /// How the chain is doing.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }
}

/// Readies a place whose answer is new.
fn ready(kernel: &Kernel, tilt_cache: &mut TiltCache, place: &mut ChainState) {
    if kernel.proposal.tilts() {
        tilt_cache.exchange(&place.answer.slope_xi, &mut place.tilt);
    }
    kernel.proposal.ready(kernel.states, place, kernel.temperature);
}
