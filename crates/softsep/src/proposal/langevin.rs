//! The Metropolis-adjusted Langevin algorithm in a convex body: one Euler step of the diffusion with invariant law p_x,
//! corrected by its acceptance ratio (Roberts and Tweedie, 1996).

use std::f64::consts::TAU;

use super::widths::coordinate_widths;
use super::{ChainState, Proposal, ProposalError, log_reference_ratio, point, point_mut};
use crate::run::{Random, normals};
use crate::uncertainty::{State, States};

/// In coordinates divided by the body's widths, `u' = u + (σ²/2)·force + σ·normal` with `σ = step·min(1/√dim,
/// 1/|force|)`.
///
/// The force is the gradient of score/w. Where it is steep, the density changes by a factor e over a length 1/|force|,
/// and longer steps are mostly rejected. With steps this short, the drift is at most step/2 times the noise and needs
/// no further bound. σ depends on the state, and the acceptance ratio accounts for that. With a zero gradient this is a
/// random walk.
#[derive(Debug, Clone)]
pub struct Langevin {
    step: f64,
    widths: Vec<f64>,
    /// The logarithm of the normal density's normalising constant, without the factor σ^dim.
    log_unit: f64,
}

impl Langevin {
    /// Creates the proposal for the states of a convex body. Errs for other spaces, and for bodies without width in
    /// some coordinate.
    pub fn of(states: &dyn States, step: f64) -> Result<Self, ProposalError> {
        let widths = coordinate_widths(states, "Langevin")?;
        let log_unit = widths.iter().map(|width| (width * TAU.sqrt()).ln()).sum();
        Ok(Self { step, widths, log_unit })
    }

    /// The force and σ stored in a chain state.
    fn stored_drift<'a>(&self, state: &'a ChainState) -> (&'a [f64], f64) {
        let (force, noise) = state.drift.split_at(self.widths.len());
        (force, noise[0])
    }

    /// The logarithm of the normal density with respect to volume.
    fn log_volume_density(&self, from: &ChainState, to: &State) -> f64 {
        let (force, noise) = self.stored_drift(from);
        let mut square = 0.0;
        for (index, (to, at)) in point(to).iter().zip(from.point()).enumerate() {
            let width = self.widths[index];
            square += ((to - at) / (width * noise) - 0.5 * noise * width * force[index]).powi(2);
        }
        -0.5 * square - self.widths.len() as f64 * noise.ln() - self.log_unit
    }
}

impl Proposal for Langevin {
    fn prepare(&self, states: &dyn States, state: &mut ChainState, temperature: f64) {
        let Some(coordinates) = states.local_coordinates() else { return };
        let (force, noise) = state.drift.split_at_mut(self.widths.len());
        coordinates.pull_back(&state.answer.slope_xi, force);
        let mut square = 0.0_f64;
        for (force, width) in force.iter_mut().zip(&self.widths) {
            *force /= temperature;
            square += (*force * width).powi(2);
        }
        noise[0] = self.step / square.max(self.widths.len() as f64).sqrt();
    }

    fn propose(&self, states: &dyn States, from: &ChainState, random: &mut Random, to: &mut ChainState) {
        let Some(coordinates) = states.local_coordinates() else { return };
        let (force, noise) = self.stored_drift(from);
        let to = point_mut(&mut to.state);
        normals(random, to);
        for (index, to) in to.iter_mut().enumerate() {
            *to = noise * self.widths[index] * (*to + 0.5 * noise * self.widths[index] * force[index]);
        }
        let is_inside = coordinates.chord(from.point(), to).1 >= 1.0;
        for (to, from) in to.iter_mut().zip(from.point()) {
            *to = if is_inside { from + *to } else { *from };
        }
    }

    fn log_ratio(&self, states: &dyn States, from: &ChainState, to: &ChainState) -> f64 {
        let by_volume = self.log_volume_density(to, &from.state) - self.log_volume_density(from, &to.state);
        by_volume + log_reference_ratio(states, from, to)
    }

    fn has_density(&self, states: &dyn States) -> bool {
        states.local_coordinates().is_some_and(|coordinates| coordinates.log_mass().is_some())
    }

    fn log_density(&self, states: &dyn States, from: &ChainState, to: &State) -> Option<f64> {
        let coordinates = states.local_coordinates()?;
        Some(self.log_volume_density(from, to) - coordinates.log_reference(point(to)) + coordinates.log_mass()?)
    }

    fn uses_drift(&self) -> bool {
        true
    }
}
