//! Langevin moves on a sphere. The noise has a von Mises–Fisher law, which has a density in closed form; a wrapped
//! normal step has none.

use std::sync::OnceLock;

use super::{ChainState, Proposal, ProposalError, dot, log_reference_ratio, norm, point, point_mut};
use crate::run::Random;
use crate::uncertainty::{Space, State, States, von_mises_fisher};

/// Number of concentration levels; each is twice the previous one.
const CONCENTRATION_LEVELS: usize = 60;

/// `u' ~ vMF(mean, κ)` with the mean `u + force/(2κ)` normalised to the sphere. The force is the component of the
/// gradient of score/w that is tangent at u. The concentration `κ = max(dim, |slope|/w)·∛dim/(3·step²)` is rounded up
/// to its least value times a power of two.
///
/// The step length along each axis is 1/√κ. Where the score is linear, p_x is itself a von Mises–Fisher law with
/// concentration |slope|/w, and its width along an axis is the inverse square root of that concentration (of the
/// dimension, if that is larger). A Langevin step should be shorter than this width by the sixth root of dim (Roberts
/// and Rosenthal, 1998). The drift is then at most 3/2·step². Rounding leaves few distinct concentrations; their
/// normalising constants are computed on first use.
#[derive(Debug, Clone)]
pub struct LangevinOnSphere {
    /// The least κ.
    least: f64,
    dim: usize,
    /// `ln M(κ) − κ` for each level in use.
    log_means: Vec<OnceLock<f64>>,
}

impl LangevinOnSphere {
    /// Creates the proposal for the states of a sphere in at least two dimensions. Errs for other spaces.
    pub fn of(states: &dyn States, step: f64) -> Result<Self, ProposalError> {
        match (states.space(), states.local_coordinates()) {
            (Space::Sphere(dim), Some(_)) if dim >= 2 => {
                let least = dim as f64 * (dim as f64).cbrt() / (3.0 * step * step);
                Ok(Self { least, dim, log_means: vec![OnceLock::new(); CONCENTRATION_LEVELS] })
            }
            (space, _) => {
                Err(ProposalError(format!("Langevin moves need coordinates to move in, and these states are {space}")))
            }
        }
    }

    /// The mean, κ and `ln M(κ) − κ` stored in a chain state.
    fn stored_drift<'a>(&self, state: &'a ChainState) -> (&'a [f64], f64, f64) {
        let (mean, level) = state.drift.split_at(self.dim);
        let level = level[0] as usize;
        let concentration = self.least * 2.0_f64.powi(level as i32);
        (
            mean,
            concentration,
            *self.log_means[level].get_or_init(|| von_mises_fisher::log_mean_minus_kappa(concentration, self.dim)),
        )
    }

    /// The logarithm of the density with respect to the uniform law on the sphere.
    fn log_uniform_density(&self, from: &ChainState, to: &State) -> f64 {
        let (mean, concentration, log_mean) = self.stored_drift(from);
        // κ·⟨mean, u⟩ = κ − κ·|u − mean|²/2.
        let apart: f64 = point(to).iter().zip(mean).map(|(to, mean)| (to - mean).powi(2)).sum();
        -0.5 * concentration * apart - log_mean
    }
}

impl Proposal for LangevinOnSphere {
    fn prepare(&self, states: &dyn States, state: &mut ChainState, temperature: f64) {
        let (Some(coordinates), State::Point(at)) = (states.local_coordinates(), &state.state) else { return };
        let (mean, level) = state.drift.split_at_mut(self.dim);
        coordinates.pull_back(&state.answer.slope_xi, mean);
        let strength = norm(mean) / (temperature * self.dim as f64);
        // If rounding makes an integral power too small, κ changes, and the invariant law does not.
        level[0] = strength.max(1.0).log2().ceil().min((CONCENTRATION_LEVELS - 1) as f64);
        let concentration = self.least * 2.0_f64.powi(level[0] as i32);
        let (along, scale) = (dot(mean, at), 0.5 / (concentration * temperature));
        mean.iter_mut().zip(at).for_each(|(mean, at)| *mean = at + scale * (*mean - along * at));
        let length = norm(mean);
        mean.iter_mut().for_each(|mean| *mean /= length);
    }

    fn propose(&self, _states: &dyn States, from: &ChainState, random: &mut Random, to: &mut ChainState) {
        let (mean, concentration, _) = self.stored_drift(from);
        von_mises_fisher::draw(mean, concentration, random, point_mut(&mut to.state));
    }

    fn log_ratio(&self, states: &dyn States, from: &ChainState, to: &ChainState) -> f64 {
        let by_area = self.log_uniform_density(to, &from.state) - self.log_uniform_density(from, &to.state);
        by_area + log_reference_ratio(states, from, to)
    }

    fn has_density(&self, states: &dyn States) -> bool {
        states.local_coordinates().is_some_and(|coordinates| coordinates.log_mass().is_some())
    }

    fn log_density(&self, states: &dyn States, from: &ChainState, to: &State) -> Option<f64> {
        let coordinates = states.local_coordinates()?;
        Some(self.log_uniform_density(from, to) - coordinates.log_reference(point(to)) + coordinates.log_mass()?)
    }

    fn uses_drift(&self) -> bool {
        true
    }
}
