//! The uniform proposal: an independent draw from ν in every step (Example 5 of the paper).

use super::{ChainState, Proposal};
use crate::run::Random;
use crate::uncertainty::{State, States};

/// `q(·|from) = ν`, for states that can draw from ν exactly.
#[derive(Debug, Clone, Copy, Default)]
pub struct Uniform;

impl Proposal for Uniform {
    fn propose(&self, states: &dyn States, _from: &ChainState, random: &mut Random, to: &mut ChainState) {
        states.draw(random, &mut to.state);
    }

    fn log_ratio(&self, _states: &dyn States, _from: &ChainState, _to: &ChainState) -> f64 {
        0.0
    }

    fn has_density(&self, states: &dyn States) -> bool {
        states.draws_exactly()
    }

    fn log_density(&self, _states: &dyn States, _from: &ChainState, _to: &State) -> Option<f64> {
        Some(0.0)
    }
}
