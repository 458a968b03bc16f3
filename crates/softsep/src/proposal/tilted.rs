//! The adaptive proposal: ν tilted along the slope −Uᵀπ* of the recourse, toward scenarios with higher cost (Section
//! 5.1 and EC.2 of the paper).

use rand::RngExt;

use super::proposal_mixture::log_mixed;
use super::{ChainState, Proposal};
use crate::run::Random;
use crate::uncertainty::{State, States, Tilt};

/// `q(to|from) = (1 − share)·exp(κ⟨slope(from), to⟩ − ln Z) + share`, with respect to ν. A positive share bounds q away
/// from zero.
#[derive(Debug, Clone, Copy)]
pub struct Tilted {
    /// The concentration κ.
    pub concentration: f64,
    /// The weight of ν in the mixture.
    pub share: f64,
}

impl Tilted {
    /// Creates the tilted proposal with the default concentration of these states; `None` if they have no tilt.
    pub fn of(states: &dyn States, share: f64) -> Option<Self> {
        states.tilt().map(|tilt| Self { concentration: tilt.concentration(), share })
    }

    fn log_mixed(&self, tilt: &dyn Tilt, from: &ChainState, to: &State) -> f64 {
        let tilted = tilt.log_density(&from.tilt, to);
        if self.share == 0.0 { tilted } else { log_mixed(self.share, tilted, 0.0) }
    }
}

impl Proposal for Tilted {
    fn prepare(&self, states: &dyn States, state: &mut ChainState, _temperature: f64) {
        if let Some(tilt) = states.tilt() {
            tilt.prepare(&state.answer.slope_xi, self.concentration * state.concentration_factor, &mut state.tilt);
        }
    }

    fn propose(&self, states: &dyn States, from: &ChainState, random: &mut Random, to: &mut ChainState) {
        match states.tilt() {
            Some(tilt) if self.share == 0.0 || random.random::<f64>() >= self.share => {
                tilt.draw(&from.tilt, random, &mut to.state)
            }
            _ => states.draw(random, &mut to.state),
        }
    }

    fn log_ratio(&self, states: &dyn States, from: &ChainState, to: &ChainState) -> f64 {
        states.tilt().map_or(0.0, |tilt| self.log_mixed(tilt, to, &from.state) - self.log_mixed(tilt, from, &to.state))
    }

    fn has_density(&self, states: &dyn States) -> bool {
        states.tilt().is_some()
    }

    fn log_density(&self, states: &dyn States, from: &ChainState, to: &State) -> Option<f64> {
        states.tilt().map(|tilt| self.log_mixed(tilt, from, to))
    }

    fn uses_tilt(&self) -> bool {
        true
    }
}
