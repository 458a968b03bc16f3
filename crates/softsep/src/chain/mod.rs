//! The Markov chain of soft separation (Definition 1 of the paper). It moves on the states of an uncertainty set toward
//! scenarios with a high recourse cost at the incumbent, one or a few transitions at a time, while the incumbent
//! changes.
//!
//! For a fixed x the invariant law of the chain is p_x for every proposal whose law q(·|state) is a function of the
//! state. Proposals that follow the slope of the recourse need one dual solution per state for that. Where the recourse
//! is degenerate at a state, the engine may return different optimal duals depending on earlier solves, and the
//! invariant law is p_x only up to the effect of such ties. An engine with [`crate::recourse::DualChoice::LeastNorm`]
//! has fewer ties; on a sphere or in a body, ties have probability zero.

mod acceptance;
mod adaptation;
mod diagnostics;
mod ladder;
mod pool;
mod replicas;
mod tilt_cache;

pub use acceptance::Acceptance;
pub(crate) use diagnostics::{ChainSummary, Diagnostics};
pub use ladder::Ladder;
pub use pool::Chains;
pub use replicas::Replicas;

use rand::RngExt;

use adaptation::Adaptation;

use crate::model::Problem;
use crate::proposal::{ChainState, Proposal};
use crate::recourse::{Recourse, RecourseError};
use crate::run::{Purpose, Random, stream};
use crate::uncertainty::States;
use tilt_cache::TiltCache;

/// The transition kernel P_x without x, which the recourse engine holds. Its invariant law is p_x ∝ exp(score/w) with
/// respect to ν.
///
/// The score is the optimal value that the engine returns: Q itself, or its Moreau envelope if the engine solves
/// `Problem::moreau`.
#[derive(Clone, Copy)]
pub struct TransitionKernel<'a> {
    /// The state space.
    pub states: &'a dyn States,
    /// The law of candidates.
    pub proposal: &'a dyn Proposal,
    /// The acceptance rule.
    pub acceptance: Acceptance,
    /// The temperature w.
    pub temperature: f64,
}

impl TransitionKernel<'_> {
    /// The same kernel at another temperature.
    pub(crate) fn at(&self, temperature: f64) -> Self {
        Self { temperature, ..*self }
    }
}

/// One chain with its own random stream, its current state and its last candidate.
pub struct Chain {
    random: Random,
    current: ChainState,
    candidate: ChainState,
    /// Whether `current.answer` belongs to the incumbent.
    is_evaluated: bool,
    /// The adaptation of the concentration, if it is enabled.
    adaptation: Option<Adaptation>,
    temperature: f64,
    tilt_cache: TiltCache,
    diagnostics: Diagnostics,
}

impl Chain {
    /// Creates a chain that starts at a draw from ν. Chains with the same seed and different labels are independent.
    pub fn new(problem: &Problem, states: &dyn States, seed: u64, label: u32) -> Self {
        let mut random = stream(seed, Purpose::Chain, label);
        let mut current = ChainState::new(problem, states);
        states.draw(&mut random, &mut current.state);
        states.realize(&current.state, &mut current.xi);
        Self {
            random,
            candidate: current.clone(),
            current,
            is_evaluated: false,
            temperature: f64::NAN,
            tilt_cache: TiltCache::default(),
            adaptation: None,
            diagnostics: Diagnostics::default(),
        }
    }

    /// Enables adaptation of the concentration: κ grows while most candidates are rejected, and shrinks while most are
    /// accepted. The factor depends on the past only, so that every transition still leaves p_x invariant.
    pub fn adapt_concentration(&mut self) {
        self.adaptation = Some(Adaptation::default());
    }

    /// Fixes the concentration as it is now.
    pub(crate) fn fix_concentration(&mut self) {
        self.adaptation = None;
    }

    /// Exchanges the adapted concentrations of two chains.
    pub(crate) fn exchange_adaptation(&mut self, other: &mut Chain) {
        std::mem::swap(&mut self.adaptation, &mut other.adaptation);
        let (own, theirs) = (self.current.concentration_factor, other.current.concentration_factor);
        self.set_concentration_factor(theirs);
        other.set_concentration_factor(own);
    }

    /// Sets the factor of κ. The current state must be prepared again.
    fn set_concentration_factor(&mut self, concentration_factor: f64) {
        self.current.concentration_factor = concentration_factor;
        self.candidate.concentration_factor = concentration_factor;
        self.temperature = f64::NAN;
    }

    /// Moves the chain to the state of `xi`, a member of the set. Returns false if no state represents it.
    pub(crate) fn start_at(&mut self, states: &dyn States, xi: &[f64]) -> bool {
        let found = states.locate(xi, &mut self.current.state);
        if found {
            states.realize(&self.current.state, &mut self.current.xi);
            self.is_evaluated = false;
        }
        found
    }

    /// Restarts the chain from a draw of ν, with the initial concentration.
    pub(crate) fn restart(&mut self, states: &dyn States) {
        states.draw(&mut self.random, &mut self.current.state);
        states.realize(&self.current.state, &mut self.current.xi);
        self.is_evaluated = false;
        if self.adaptation.is_some() {
            self.adapt_concentration();
            (self.current.concentration_factor, self.candidate.concentration_factor) = (1.0, 1.0);
        }
    }

    /// Marks the answer at the current state as outdated, because the incumbent has changed.
    pub fn incumbent_moved(&mut self) {
        self.is_evaluated = false;
    }

    /// Solves the recourse at the current state, unless that was done since the incumbent changed, and prepares the
    /// proposal.
    pub fn evaluate(
        &mut self,
        kernel: &TransitionKernel,
        recourse: &mut dyn Recourse,
    ) -> Result<&ChainState, RecourseError> {
        if !self.is_evaluated {
            recourse.solve(&self.current.xi, &mut self.current.answer)?;
            self.is_evaluated = true;
            self.temperature = f64::NAN;
            self.diagnostics.record_score(self.current.answer.value);
        }
        if self.temperature != kernel.temperature {
            prepare(kernel, &mut self.tilt_cache, &mut self.current);
            self.temperature = kernel.temperature;
        }
        Ok(&self.current)
    }

    /// Makes one transition under P_x. Returns whether the state changed.
    ///
    /// Needs at most two recourse solves after a change of the incumbent, and at most one otherwise; a proposal with
    /// trajectories needs one for each leap in place of one. Allocates only for new slopes.
    pub fn step(&mut self, kernel: &TransitionKernel, recourse: &mut dyn Recourse) -> Result<bool, RecourseError> {
        self.evaluate(kernel, recourse)?;
        if !self.draw_candidate(kernel, recourse)? {
            self.candidate.copy_from(&self.current);
            self.diagnostics.record_step(false, self.current.answer.value, self.current.answer.value);
            self.update_adaptation(Adaptation::stayed);
            return Ok(false);
        }
        let (from, to) = (self.current.answer.value, self.candidate.answer.value);
        // Two infinite values compare as equal: neither is a worse scenario.
        let rise = if from == to { 0.0 } else { (to - from) / kernel.temperature };
        let log_ratio = rise + kernel.proposal.log_ratio(kernel.states, &self.current, &self.candidate);
        let moved = self.random.random::<f64>() < kernel.acceptance.probability(log_ratio);
        if moved {
            std::mem::swap(&mut self.current, &mut self.candidate);
        }
        self.diagnostics.record_step(moved, to, self.current.answer.value);
        self.update_adaptation(if moved { Adaptation::accepted } else { Adaptation::rejected });
        Ok(moved)
    }

    /// Draws a candidate, solves the recourse there and prepares it. Returns false where the candidate is the current
    /// state: that needs no recourse solve, and does not count as a move.
    fn draw_candidate(
        &mut self,
        kernel: &TransitionKernel,
        recourse: &mut dyn Recourse,
    ) -> Result<bool, RecourseError> {
        kernel.proposal.propose(kernel.states, &self.current, &mut self.random, &mut self.candidate);
        while self.candidate.state != self.current.state {
            kernel.states.realize(&self.candidate.state, &mut self.candidate.xi);
            recourse.solve(&self.candidate.xi, &mut self.candidate.answer)?;
            prepare(kernel, &mut self.tilt_cache, &mut self.candidate);
            if !kernel.proposal.advance(kernel.states, &self.current, &mut self.candidate) {
                return Ok(self.candidate.state != self.current.state);
            }
        }
        Ok(false)
    }

    /// Records the outcome of a candidate. If the concentration changes, the current state must be prepared again.
    fn update_adaptation(&mut self, update: fn(&mut Adaptation) -> Option<f64>) {
        if let Some(concentration_factor) = self.adaptation.as_mut().and_then(update) {
            self.set_concentration_factor(concentration_factor);
        }
    }

    /// The current state.
    pub fn current(&self) -> &ChainState {
        &self.current
    }

    /// The last rejected candidate, or the previous state if the last candidate was accepted.
    pub fn previous_or_rejected(&self) -> &ChainState {
        &self.candidate
    }

    /// The diagnostics of this chain.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }
}

/// Prepares a state with a new answer as the origin of a proposal.
fn prepare(kernel: &TransitionKernel, tilt_cache: &mut TiltCache, state: &mut ChainState) {
    if kernel.proposal.uses_tilt() {
        tilt_cache.exchange(&state.answer.slope_xi, &mut state.tilt);
    }
    kernel.proposal.prepare(kernel.states, state, kernel.temperature);
}
