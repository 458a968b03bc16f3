//! The adaptive proposal: ν tilted by the recourse's own slope −Uᵀπ*, toward scenarios that cost more (Section 5.1 and
//! EC.2 of the paper).

use rand::RngExt;

use super::mixture::log_mixed;
use super::{ChainState, Proposal};
use crate::run::Random;
use crate::uncertainty::{State, States, Tilt};

/// `q(to|from) = (1 − share)·exp(κ⟨slope(from), to⟩ − ln Z) + share`, with respect to ν. A share above zero keeps q
/// away from zero everywhere.
#[derive(Debug, Clone, Copy)]
pub struct Tilted {
    /// κ.
    pub concentration: f64,
    /// How much of ν is mixed in.
    pub share: f64,
}

impl Tilted {
    /// The tilt of these states, with their own concentration; `None` if they have no tilt.
    pub fn of(states: &dyn States, share: f64) -> Option<Self> {
        states.tilt().map(|tilt| Self { concentration: tilt.concentration(), share })
    }

    fn log_mixed(&self, tilt: &dyn Tilt, from: &ChainState, to: &State) -> f64 {
        let tilted = tilt.log_density(&from.tilt, to);
        if self.share == 0.0 { tilted } else { log_mixed(self.share, tilted, 0.0) }
    }
}

impl Proposal for Tilted {
    fn ready(&self, states: &dyn States, place: &mut ChainState, _temperature: f64) {
        if let Some(tilt) = states.tilt() {
            tilt.prepare(&place.answer.slope_xi, self.concentration * place.sharpness, &mut place.tilt);
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

    fn tilts(&self) -> bool {
        true
    }
}
