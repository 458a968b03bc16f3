//! A symmetric random walk on finitely many states.

use super::{ChainState, Proposal, ProposalError};
use crate::run::Random;
use crate::uncertainty::{Count, Space, State, States};

/// Moves to a neighbour of the current state ([`crate::uncertainty::Neighbours`]). The walk is symmetric and ν is
/// uniform, so that the ratio is one.
#[derive(Debug, Clone, Copy)]
pub struct Neighbour(());

impl Neighbour {
    /// Creates the proposal. Errs for states without neighbours.
    pub fn of(states: &dyn States) -> Result<Self, ProposalError> {
        match states.neighbours() {
            Some(_) => Ok(Self(())),
            None => Err(ProposalError(format!("these states ({}) have no neighbours", states.space()))),
        }
    }
}

impl Proposal for Neighbour {
    fn propose(&self, states: &dyn States, from: &ChainState, random: &mut Random, to: &mut ChainState) {
        if let Some(neighbours) = states.neighbours() {
            neighbours.draw_neighbour(&from.state, random, &mut to.state);
        }
    }

    fn log_ratio(&self, _states: &dyn States, _from: &ChainState, _to: &ChainState) -> f64 {
        0.0
    }

    fn has_density(&self, states: &dyn States) -> bool {
        matches!(states.space(), Space::Finite(Count::Exactly(_)))
    }

    fn log_density(&self, states: &dyn States, from: &ChainState, to: &State) -> Option<f64> {
        let Space::Finite(Count::Exactly(count)) = states.space() else { return None };
        Some((states.neighbours()?.probability(&from.state, to) * count as f64).ln())
    }
}
