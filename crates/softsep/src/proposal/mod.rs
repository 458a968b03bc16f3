//! Proposals: the laws of a chain's candidates, each with its exact log-ratio.
//!
//! A proposal queries the states for a capability (a tilt, local coordinates), never for a concrete set.
//! CONTRIBUTING.md describes how to add a proposal; every proposal passes [`crate::testing::check_proposal`].

pub(crate) mod geodesic;
pub(crate) mod hamiltonian;
pub(crate) mod hit_and_run;
pub(crate) mod kernel_mixture;
mod kind;
pub(crate) mod langevin;
pub(crate) mod langevin_sphere;
pub(crate) mod neighbour;
pub(crate) mod proposal_mixture;
pub(crate) mod random_step;
pub(crate) mod tangent;
pub(crate) mod tilted;
pub(crate) mod tilted_chord;
pub(crate) mod uniform;
pub(crate) mod weighted;
mod widths;

pub(crate) use geodesic::Geodesic;
pub(crate) use hamiltonian::Hamiltonian;
pub use hamiltonian::Trajectory;
pub(crate) use hit_and_run::HitAndRun;
pub(crate) use kernel_mixture::KernelMixture;
pub use kind::{CustomProposal, ProposalFactory, ProposalKind, ProposalOptions};
pub(crate) use langevin::Langevin;
pub(crate) use langevin_sphere::LangevinOnSphere;
pub(crate) use neighbour::Neighbour;
pub(crate) use random_step::RandomStep;
pub(crate) use tangent::Tangent;
pub(crate) use tilted::Tilted;
pub(crate) use tilted_chord::TiltedChord;
pub(crate) use uniform::Uniform;
pub(crate) use weighted::Weighted;

use crate::model::Problem;
use crate::numeric::{dot, norm};
use crate::recourse::Answer;
use crate::run::Random;
use crate::uncertainty::{CachedTilt, LocalCoordinates, State, States};

/// A state with its scenario, its recourse solution and the data that proposals derive from them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ChainState {
    /// The state.
    pub state: State,
    /// The scenario ξ of the state.
    pub xi: Vec<f64>,
    /// The recourse solution at ξ and the incumbent.
    pub answer: Answer,
    /// The tilt along the slope of the answer; filled by proposals that use a tilt.
    pub tilt: CachedTilt,
    /// Drift data of local moves: one number per local coordinate, and one more.
    pub drift: Vec<f64>,
    /// The component of a [`KernelMixture`] that proposed this state; written and read by the mixture.
    pub component: Component,
    /// The adaptive factor of κ, equal for all states of one chain.
    pub concentration_factor: f64,
    /// The chord on which this state was proposed, as its least t, its greatest t and the chosen t; written and read by
    /// [`TiltedChord`] and [`RandomStep`].
    pub chord: [f64; 3],
    /// The trajectory at whose end this state was proposed; written and read by [`Hamiltonian`].
    pub trajectory: Trajectory,
}

/// A component of a mixture of two proposals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Component {
    /// The first proposal.
    #[default]
    First,
    /// The second proposal.
    Second,
}

impl ChainState {
    /// Creates a blank state with buffers of the right sizes.
    pub fn new(problem: &Problem, states: &dyn States) -> Self {
        let coordinates = states.local_coordinates().map_or(0, LocalCoordinates::dim);
        Self {
            state: states.blank(),
            xi: vec![0.0; problem.set.dim()],
            answer: Answer::new(problem),
            tilt: CachedTilt::default(),
            drift: vec![0.0; coordinates + 1],
            component: Component::default(),
            concentration_factor: 1.0,
            chord: [0.0; 3],
            trajectory: Trajectory::new(coordinates),
        }
    }

    /// Copies state, ξ and answer of another chain state without allocating. Data derived by proposals are not copied.
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

    /// The coordinates of the state; empty for a row.
    fn point(&self) -> &[f64] {
        point(&self.state)
    }
}

/// The coordinates of a state; empty for a row.
fn point(state: &State) -> &[f64] {
    match state {
        State::Point(point) => point,
        State::Row(_) => &[],
    }
}

/// The coordinates of a state as a mutable slice; empty for a row.
fn point_mut(state: &mut State) -> &mut [f64] {
    match state {
        State::Point(point) => point,
        State::Row(_) => &mut [],
    }
}

/// Returns ln ν(to) − ln ν(from) with respect to the uniform measure: the correction of a symmetric move for a ν that
/// is not uniform.
fn log_reference_ratio(states: &dyn States, from: &ChainState, to: &ChainState) -> f64 {
    states
        .local_coordinates()
        .map_or(0.0, |coordinates| coordinates.log_reference(to.point()) - coordinates.log_reference(from.point()))
}

/// A proposal that these states do not support, or an invalid option of a proposal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ProposalError(pub String);

/// Checks that two proposals can use the same chain state, which stores one tilt and one drift.
fn check_shared_buffers(first: &dyn Proposal, second: &dyn Proposal) -> Result<(), ProposalError> {
    match (first.uses_tilt() && second.uses_tilt(), first.uses_drift() && second.uses_drift()) {
        (false, false) => Ok(()),
        (true, _) => Err(ProposalError("a chain state stores one tilt, and both proposals need one".into())),
        (_, true) => Err(ProposalError("a chain state stores one drift, and both proposals need one".into())),
    }
}

/// The law q(·|from) of candidates.
///
/// Candidates are always states of the space: a move that would leave the space proposes the current state instead,
/// which is an early rejection.
///
/// A proposal of another crate goes into [`ProposalKind::custom`] by a [`ProposalFactory`], and from there into
/// [`SoftSettings::proposal`](crate::separation::SoftSettings::proposal) of any method whose separation may be soft:
///
/// ```
/// use softsep::BundleSettings;
/// use softsep::proposal::{
///     ChainState, Proposal, ProposalError, ProposalFactory, ProposalKind, ProposalOptions,
/// };
/// use softsep::run::Random;
/// use softsep::uncertainty::{State, States};
///
/// /// Independent draws from the reference measure.
/// struct Independent;
///
/// impl Proposal for Independent {
///     fn propose(&self, states: &dyn States, _: &ChainState, random: &mut Random, to: &mut ChainState) {
///         states.draw(random, &mut to.state);
///     }
///
///     fn log_ratio(&self, _: &dyn States, _: &ChainState, _: &ChainState) -> f64 {
///         0.0
///     }
/// }
///
/// struct IndependentFactory;
///
/// impl ProposalFactory for IndependentFactory {
///     fn build(&self, states: &dyn States, _: &ProposalOptions<'_>) -> Result<Box<dyn Proposal>, ProposalError> {
///         match states.draws_exactly() {
///             true => Ok(Box::new(Independent)),
///             false => Err(ProposalError(format!("these states ({}) cannot be drawn at once", states.space()))),
///         }
///     }
/// }
///
/// let mut bundle = BundleSettings::default();
/// bundle.soft.proposal = ProposalKind::custom(IndependentFactory);
/// ```
///
/// Chains of calls of normal effort move by it. A thorough search, which verifies incumbents, has proposals of its own.
/// [`testing::check_proposal`](crate::testing::check_proposal) checks the contract.
pub trait Proposal: Send + Sync {
    /// Prepares a state as the origin of a proposal at a temperature. Called after its answer or the temperature
    /// changed.
    fn prepare(&self, _states: &dyn States, _state: &mut ChainState, _temperature: f64) {}

    /// Draws a candidate into `to.state`.
    fn propose(&self, states: &dyn States, from: &ChainState, random: &mut Random, to: &mut ChainState);

    /// Continues a candidate whose trajectory needs the recourse on the way: moves `to`, which is prepared, and returns
    /// true; returns false where the candidate is complete. A trajectory that is given up ends at `from`.
    fn advance(&self, _states: &dyn States, _from: &ChainState, _to: &mut ChainState) -> bool {
        false
    }

    /// Returns `ln q(from|to) − ln q(to|from)`, with densities with respect to ν, or for a random trajectory the same
    /// ratio of the densities of its ways. Both states are prepared, and `to` was proposed from `from`. Returns −∞ if
    /// the reverse move is impossible.
    fn log_ratio(&self, states: &dyn States, from: &ChainState, to: &ChainState) -> f64;

    /// Whether the law has a density in closed form on these states.
    fn has_density(&self, _states: &dyn States) -> bool {
        false
    }

    /// Returns `ln q(to|from)` with respect to ν, or `None` if there is no density in closed form. If the law has an
    /// atom at `from`, the value is defined for other `to` only.
    fn log_density(&self, _states: &dyn States, _from: &ChainState, _to: &State) -> Option<f64> {
        None
    }

    /// Whether the proposal fills [`ChainState::tilt`]. The chain then caches tilts for recurring slopes.
    fn uses_tilt(&self) -> bool {
        false
    }

    /// Whether the proposal fills [`ChainState::drift`].
    fn uses_drift(&self) -> bool {
        false
    }

    /// Whether the proposal is a [`KernelMixture`], which writes [`ChainState::component`].
    fn is_kernel_mixture(&self) -> bool {
        false
    }
}
