//! A mixture of two transition kernels, for proposals without comparable densities.

use rand::RngExt;

use super::{ChainState, Component, Proposal, ProposalError, check_shared_buffers};
use crate::run::Random;
use crate::uncertainty::States;

/// Each step uses the second proposal with probability `share` and the first one otherwise, and accepts by the ratio of
/// the proposal used. Both kernels leave p_x invariant and the selection does not depend on the state, so that the
/// mixture leaves p_x invariant too.
pub struct KernelMixture {
    first: Box<dyn Proposal>,
    second: Box<dyn Proposal>,
    share: f64,
}

impl KernelMixture {
    /// Combines two proposals. Errs if one of them is itself a kernel mixture, if both need the same buffer of a chain
    /// state, or if `share` is not in [0, 1].
    pub fn new(first: Box<dyn Proposal>, second: Box<dyn Proposal>, share: f64) -> Result<Self, ProposalError> {
        if first.is_kernel_mixture() || second.is_kernel_mixture() {
            return Err(ProposalError("a kernel mixture cannot be a component of another one".into()));
        }
        check_shared_buffers(first.as_ref(), second.as_ref())?;
        if !(0.0..=1.0).contains(&share) {
            return Err(ProposalError(format!("a share of {share} is not between 0 and 1")));
        }
        Ok(Self { first, second, share })
    }

    fn component(&self, component: Component) -> &dyn Proposal {
        match component {
            Component::First => self.first.as_ref(),
            Component::Second => self.second.as_ref(),
        }
    }
}

impl Proposal for KernelMixture {
    fn prepare(&self, states: &dyn States, state: &mut ChainState, temperature: f64) {
        self.first.prepare(states, state, temperature);
        self.second.prepare(states, state, temperature);
    }

    fn propose(&self, states: &dyn States, from: &ChainState, random: &mut Random, to: &mut ChainState) {
        to.component = if random.random::<f64>() < self.share { Component::Second } else { Component::First };
        self.component(to.component).propose(states, from, random, to);
    }

    fn advance(&self, states: &dyn States, from: &ChainState, to: &mut ChainState) -> bool {
        self.component(to.component).advance(states, from, to)
    }

    fn log_ratio(&self, states: &dyn States, from: &ChainState, to: &ChainState) -> f64 {
        self.component(to.component).log_ratio(states, from, to)
    }

    fn uses_tilt(&self) -> bool {
        self.first.uses_tilt() || self.second.uses_tilt()
    }

    fn uses_drift(&self) -> bool {
        self.first.uses_drift() || self.second.uses_drift()
    }

    fn is_kernel_mixture(&self) -> bool {
        true
    }
}
