//! Proposals: where a chain may go next, each with its exact log-ratio.
//!
//! A proposal asks the states for a capability (a tilt, a walk), never for a concrete set. Adding one: see CONTRIBUTING.md; every proposal passes
//! [`crate::testing::check_proposal`].

mod tilted;
mod uniform;

pub use tilted::Tilted;
pub use uniform::Uniform;

use crate::recourse::Answer;
use crate::run::Random;
use crate::uncertainty::{Aim, State, States};

/// A state with all that is known there.
#[derive(Debug, Clone)]
pub struct Place {
    /// The state.
    pub state: State,
    /// Its ξ.
    pub xi: Vec<f64>,
    /// What the recourse says there.
    pub answer: Answer,
    /// The tilt that belongs to its slope; filled by proposals that use one.
    pub aim: Aim,
    /// How much nearer than by default candidates are sought: κ is multiplied by it. Every place of one chain has the same.
    pub sharpness: f64,
}

/// A transition law q(·|from) of candidates.
pub trait Proposal: Send + Sync {
    /// Readies a place to be proposed from, after its answer changed.
    fn ready(&self, _states: &dyn States, _place: &mut Place) {}

    /// Draws a candidate.
    fn propose(&self, states: &dyn States, from: &Place, random: &mut Random, to: &mut State);

    /// `ln q(from|to) − ln q(to|from)`, densities with respect to ν; both places are ready. −∞ where the way back is impossible.
    fn log_ratio(&self, states: &dyn States, from: &Place, to: &Place) -> f64;

    /// `ln q(to|from)` with respect to ν, where there is such a density in closed form.
    fn log_density(&self, _states: &dyn States, _from: &Place, _to: &State) -> Option<f64> {
        None
    }
}
