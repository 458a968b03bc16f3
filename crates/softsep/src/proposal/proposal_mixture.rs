//! A mixture of two proposal densities, accepted by the density of the mixture.

use rand::RngExt;

use super::{ChainState, Proposal, ProposalError, check_shared_buffers};
use crate::run::Random;
use crate::uncertainty::{State, States};

/// `q = (1 − share)·first + share·second`. The acceptance ratio uses the mixture's density in both directions, so that
/// a component that reaches all states bounds the ratio for any other component.
pub struct ProposalMixture {
    first: Box<dyn Proposal>,
    second: Box<dyn Proposal>,
    share: f64,
}

impl ProposalMixture {
    /// Combines two proposals. Errs if one of them has no density in closed form on these states
    /// ([`super::KernelMixture`] mixes such proposals), if both need the same buffer of a chain state, or if `share` is
    /// not in [0, 1].
    pub fn new(
        states: &dyn States,
        first: Box<dyn Proposal>,
        second: Box<dyn Proposal>,
        share: f64,
    ) -> Result<Self, ProposalError> {
        for (name, proposal) in [("first", &first), ("second", &second)] {
            if !proposal.has_density(states) {
                return Err(ProposalError(format!(
                    "the {name} proposal of a mixture has no density in closed form here; a kernel mixture needs none"
                )));
            }
        }
        check_shared_buffers(first.as_ref(), second.as_ref())?;
        if !(0.0..=1.0).contains(&share) {
            return Err(ProposalError(format!("a share of {share} is not between 0 and 1")));
        }
        Ok(Self { first, second, share })
    }
}

/// Returns `ln((1 − share)·e^first + share·e^second)`.
pub(super) fn log_mixed(share: f64, first: f64, second: f64) -> f64 {
    let (first, second) = ((1.0 - share).ln() + first, share.ln() + second);
    let larger = first.max(second);
    // If one term is infinite, the difference of both may be NaN.
    if larger.is_infinite() { larger } else { larger + (-(first - second).abs()).exp().ln_1p() }
}

impl Proposal for ProposalMixture {
    fn prepare(&self, states: &dyn States, state: &mut ChainState, temperature: f64) {
        self.first.prepare(states, state, temperature);
        self.second.prepare(states, state, temperature);
    }

    fn propose(&self, states: &dyn States, from: &ChainState, random: &mut Random, to: &mut ChainState) {
        let chosen = if random.random::<f64>() < self.share { &self.second } else { &self.first };
        chosen.propose(states, from, random, to);
    }

    fn log_ratio(&self, states: &dyn States, from: &ChainState, to: &ChainState) -> f64 {
        let density = |from, to| self.log_density(states, from, to).unwrap_or(f64::NEG_INFINITY);
        let (back, forth) = (density(to, &from.state), density(from, &to.state));
        // Both densities are infinite if the candidate is the current state.
        if back == forth { 0.0 } else { back - forth }
    }

    fn has_density(&self, _states: &dyn States) -> bool {
        true
    }

    fn log_density(&self, states: &dyn States, from: &ChainState, to: &State) -> Option<f64> {
        Some(log_mixed(
            self.share,
            self.first.log_density(states, from, to)?,
            self.second.log_density(states, from, to)?,
        ))
    }

    fn uses_tilt(&self) -> bool {
        self.first.uses_tilt() || self.second.uses_tilt()
    }

    fn uses_drift(&self) -> bool {
        self.first.uses_drift() || self.second.uses_drift()
    }
}
