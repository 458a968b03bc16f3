//! Langevin moves on a sphere: the noise is a von Mises–Fisher law, which has a density in closed form where a normal
//! step that is wrapped round the sphere has none.

use std::sync::OnceLock;

use super::{ChainState, Proposal, Refused, dot, point, point_mut, reference_ratio};
use crate::run::Random;
use crate::uncertainty::{Space, State, States, von_mises_fisher};

/// Concentrations double from one to the next, so often.
const LEVELS: usize = 60;

/// `u' ~ vMF(mean, κ)` with the mean `u + force/(2κ)` brought back to the sphere, the force being the part of score/w's
/// slope that is tangent at u, and `κ = max(dim, |slope|/w)·∛dim/(3·step²)` rounded up to its least value times a power
/// of two.
///
/// 1/√κ is the length of a step along each axis. Where the score is linear p_x is itself a von Mises–Fisher law with
/// concentration |slope|/w, whose width along an axis is the root of the inverse of that (of the dimension, if that is
/// larger); a Langevin move in so many dimensions should be shorter than that by the sixth root of dim (Roberts and
/// Rosenthal, 1998). The drift is then at most 3/2·step². Rounding leaves few concentrations, whose normalising
/// constants are computed when they are first needed.
#[derive(Debug, Clone)]
pub struct LangevinOnSphere {
    /// The least κ.
    least: f64,
    dim: usize,
    /// `ln M(κ) − κ` for each level that was needed.
    log_means: Vec<OnceLock<f64>>,
}

impl LangevinOnSphere {
    /// For the states of a sphere in at least two dimensions.
    pub fn of(states: &dyn States, step: f64) -> Result<Self, Refused> {
        match (states.space(), states.walk()) {
            (Space::Sphere(dim), Some(_)) if dim >= 2 => {
                let least = dim as f64 * (dim as f64).cbrt() / (3.0 * step * step);
                Ok(Self { least, dim, log_means: vec![OnceLock::new(); LEVELS] })
            }
            (space, _) => {
                Err(Refused(format!("Langevin moves need coordinates to move in, and these states are {space}")))
            }
        }
    }

    /// The mean, κ and `ln M(κ) − κ` that were kept at a place.
    fn kept<'a>(&self, place: &'a ChainState) -> (&'a [f64], f64, f64) {
        let (mean, level) = place.drift.split_at(self.dim);
        let level = level[0] as usize;
        let concentration = self.least * 2.0_f64.powi(level as i32);
        (
            mean,
            concentration,
            *self.log_means[level].get_or_init(|| von_mises_fisher::log_mean_below(concentration, self.dim)),
        )
    }

    /// With respect to the uniform law on the sphere.
    fn log_uniform_density(&self, from: &ChainState, to: &State) -> f64 {
        let (mean, concentration, log_mean) = self.kept(from);
        // κ·⟨mean, u⟩ = κ − κ·|u − mean|²/2.
        let apart: f64 = point(to).iter().zip(mean).map(|(to, mean)| (to - mean).powi(2)).sum();
        -0.5 * concentration * apart - log_mean
    }
}

impl Proposal for LangevinOnSphere {
    fn ready(&self, states: &dyn States, place: &mut ChainState, temperature: f64) {
        let (Some(walk), State::Point(at)) = (states.walk(), &place.state) else { return };
        let (mean, level) = place.drift.split_at_mut(self.dim);
        walk.pull(&place.answer.slope_xi, mean);
        let strength = dot(mean, mean).sqrt() / (temperature * self.dim as f64);
        // A power that is a whole number too small by rounding changes κ, not the law.
        level[0] = strength.max(1.0).log2().ceil().min((LEVELS - 1) as f64);
        let concentration = self.least * 2.0_f64.powi(level[0] as i32);
        let (along, scale) = (dot(mean, at), 0.5 / (concentration * temperature));
        mean.iter_mut().zip(at).for_each(|(mean, at)| *mean = at + scale * (*mean - along * at));
        let length = dot(mean, mean).sqrt();
        mean.iter_mut().for_each(|mean| *mean /= length);
    }

    fn propose(&self, _states: &dyn States, from: &ChainState, random: &mut Random, to: &mut ChainState) {
        let (mean, concentration, _) = self.kept(from);
        von_mises_fisher::draw(mean, concentration, random, point_mut(&mut to.state));
    }

    fn log_ratio(&self, states: &dyn States, from: &ChainState, to: &ChainState) -> f64 {
        let by_area = self.log_uniform_density(to, &from.state) - self.log_uniform_density(from, &to.state);
        by_area + reference_ratio(states, from, to)
    }

    fn has_density(&self, states: &dyn States) -> bool {
        states.walk().is_some_and(|walk| walk.log_mass().is_some())
    }

    fn log_density(&self, states: &dyn States, from: &ChainState, to: &State) -> Option<f64> {
        let walk = states.walk()?;
        Some(self.log_uniform_density(from, to) - walk.log_reference(point(to)) + walk.log_mass()?)
    }

    fn drifts(&self) -> bool {
        true
    }
}
