//! Proposals: where a chain may go next, each with its exact log-ratio.
//!
//! A proposal asks the states for a capability (a tilt, a walk), never for a concrete set. Adding one: see
//! CONTRIBUTING.md; every proposal passes [`crate::testing::check_proposal`].

mod alternate;
mod choice;
mod geodesic;
mod hit_and_run;
mod langevin;
mod langevin_sphere;
mod mixture;
mod tilted;
mod tilted_chord;
mod uniform;
mod weighted;

pub use alternate::Alternate;
pub use choice::{Choice, Options};
pub use geodesic::Geodesic;
pub use hit_and_run::HitAndRun;
pub use langevin::Langevin;
pub use langevin_sphere::LangevinOnSphere;
pub use mixture::Mixture;
pub use tilted::Tilted;
pub use tilted_chord::TiltedChord;
pub use uniform::Uniform;
pub use weighted::Weighted;

use crate::model::Problem;
use crate::numeric::dot;
use crate::recourse::Answer;
use crate::run::Random;
use crate::uncertainty::{CachedTilt, State, States, Walk};

/// A state with all that is known there.
#[derive(Debug, Clone)]
pub struct ChainState {
    /// The state.
    pub state: State,
    /// Its ξ.
    pub xi: Vec<f64>,
    /// What the recourse says there.
    pub answer: Answer,
    /// The tilt that belongs to its slope; filled by proposals that use one.
    pub tilt: CachedTilt,
    /// What a local move needs to know of its slope: as many numbers as the walk has coordinates, and one more.
    pub drift: Vec<f64>,
    /// Which of several proposals led here; written and read by [`Alternate`].
    pub way: Way,
    /// How much nearer than by default candidates are sought: κ is multiplied by it. Every place of one chain has the
    /// same.
    pub sharpness: f64,
    /// The chord that led here, from its least t to its greatest, and the t that was chosen; written and read by
    /// [`TiltedChord`].
    pub chord: [f64; 3],
}

/// One of two ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Way {
    /// The first proposal's.
    #[default]
    First,
    /// The second one's.
    Second,
}

impl ChainState {
    /// A blank state, with buffers of the right sizes.
    pub fn new(problem: &Problem, states: &dyn States) -> Self {
        Self {
            state: states.blank(),
            xi: vec![0.0; problem.set.dim()],
            answer: Answer::new(problem),
            tilt: CachedTilt::default(),
            drift: vec![0.0; states.walk().map_or(0, Walk::dim) + 1],
            way: Way::default(),
            sharpness: 1.0,
            chord: [0.0; 3],
        }
    }

    /// Takes over another place's state, ξ and answer without allocating; not what proposals made of them.
    pub(crate) fn copy_from(&mut self, other: &ChainState) {
        match (&mut self.state, &other.state) {
            (State::Point(own), State::Point(point)) => own.copy_from_slice(point),
            (own, state) => own.clone_from(state),
        }
        self.xi.copy_from_slice(&other.xi);
        let (own, answer) = (&mut self.answer, &other.answer);
        own.slope_x.copy_from_slice(&answer.slope_x);
        own.slope_xi.copy_from_slice(&answer.slope_xi);
        (own.outcome, own.value, own.cost, own.intercept) =
            (answer.outcome, answer.value, answer.cost, answer.intercept);
    }

    /// The coordinates, where the state has some.
    fn point(&self) -> &[f64] {
        point(&self.state)
    }
}

/// The coordinates of a state; a row has none.
fn point(state: &State) -> &[f64] {
    match state {
        State::Point(point) => point,
        State::Row(_) => &[],
    }
}

/// The coordinates of a state, to be written over.
fn point_mut(state: &mut State) -> &mut [f64] {
    match state {
        State::Point(point) => point,
        State::Row(_) => &mut [],
    }
}

/// How much more of ν there is at one state than at another, as a logarithm: what a symmetric move owes to a ν that is
/// not uniform.
fn reference_ratio(states: &dyn States, from: &ChainState, to: &ChainState) -> f64 {
    states.walk().map_or(0.0, |walk| walk.log_reference(to.point()) - walk.log_reference(from.point()))
}

/// A proposal that these states cannot carry, or that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

/// A place holds one tilt and one drift.
fn can_share_a_place(first: &dyn Proposal, second: &dyn Proposal) -> Result<(), Refused> {
    match (first.tilts() && second.tilts(), first.drifts() && second.drifts()) {
        (false, false) => Ok(()),
        (true, _) => Err(Refused("a place has room for one tilt, and both proposals want one".into())),
        (_, true) => Err(Refused("a place has room for one drift, and both proposals want one".into())),
    }
}

/// A transition law q(·|from) of candidates.
///
/// Candidates are always states of the space: a move that would leave it stays where it is instead, which is a
/// rejection made early.
pub trait Proposal: Send + Sync {
    /// Readies a place to be proposed from at a temperature, after its answer or the temperature changed.
    fn ready(&self, _states: &dyn States, _place: &mut ChainState, _temperature: f64) {}

    /// Draws a candidate into `to.state`.
    fn propose(&self, states: &dyn States, from: &ChainState, random: &mut Random, to: &mut ChainState);

    /// `ln q(from|to) − ln q(to|from)`, densities with respect to ν; both places are ready, and `to` was proposed from
    /// `from`. −∞ where the way back is impossible.
    fn log_ratio(&self, states: &dyn States, from: &ChainState, to: &ChainState) -> f64;

    /// Whether there is a density in closed form.
    fn has_density(&self, _states: &dyn States) -> bool {
        false
    }

    /// `ln q(to|from)` with respect to ν, where there is such a density in closed form; for `to` other than `from`, if
    /// the law has an atom there.
    fn log_density(&self, _states: &dyn States, _from: &ChainState, _to: &State) -> Option<f64> {
        None
    }

    /// Whether it fills [`ChainState::tilt`]: the chain then keeps tilts for slopes that come again.
    fn tilts(&self) -> bool {
        false
    }

    /// Whether it fills [`ChainState::drift`].
    fn drifts(&self) -> bool {
        false
    }

    /// Whether it writes [`ChainState::way`].
    fn alternates(&self) -> bool {
        false
    }
}
