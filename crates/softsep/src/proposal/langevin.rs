//! Langevin moves in a convex body: a step of Euler's method for the diffusion with law p_x, made exact by its ratio
//! (Roberts and Tweedie, 1996).

use std::f64::consts::TAU;

use super::{ChainState, Proposal, Refused, point, point_mut, reference_ratio};
use crate::run::{Purpose, Random, normals, stream};
use crate::uncertainty::{Space, State, States};

/// Draws from ν that the body's widths are estimated from. Any positive widths give an exact chain; good ones a quick
/// one.
const DRAWS: usize = 256;

/// In coordinates divided by the body's widths, `u' = u + (σ²/2)·force + σ·normal` with `σ = step·min(1/√dim,
/// 1/|force|)`.
///
/// The force is the slope of score/w. Where it is steep the law changes by a factor e over a length 1/|force|, and
/// steps longer than that are wasted; with steps so short the drift is at most step/2 times the noise and needs no
/// further bound. σ moves with the state, and the ratio knows that. Without a slope this is a plain random walk.
#[derive(Debug, Clone)]
pub struct Langevin {
    step: f64,
    widths: Vec<f64>,
    /// The logarithm of what the normal density is divided by, but for σ.
    log_unit: f64,
}

impl Langevin {
    /// For the states of a convex body.
    pub fn of(states: &dyn States, step: f64) -> Result<Self, Refused> {
        let (Space::Body(dim), Some(_)) = (states.space(), states.walk()) else {
            return Err(Refused(format!(
                "Langevin moves need coordinates to move in, and these states are {}",
                states.space()
            )));
        };
        let mut random = stream(0, Purpose::Estimate, 0);
        let mut state = states.blank();
        let (mut mean, mut square) = (vec![0.0; dim], vec![0.0; dim]);
        for draw in 1..=DRAWS {
            states.draw(&mut random, &mut state);
            for (index, &value) in point(&state).iter().enumerate() {
                let before = value - mean[index];
                mean[index] += before / draw as f64;
                square[index] += before * (value - mean[index]);
            }
        }
        let widths: Vec<f64> = square.iter().map(|square| (square / DRAWS as f64).sqrt()).collect();
        if let Some(flat) = widths.iter().position(|width| !(*width > 0.0 && width.is_finite())) {
            return Err(Refused(format!(
                "Langevin moves need a body with some width, and this one has none in coordinate {flat}"
            )));
        }
        let log_unit = widths.iter().map(|width| (width * TAU.sqrt()).ln()).sum();
        Ok(Self { step, widths, log_unit })
    }

    /// The force and σ that were kept at a place.
    fn kept<'a>(&self, place: &'a ChainState) -> (&'a [f64], f64) {
        let (force, noise) = place.drift.split_at(self.widths.len());
        (force, noise[0])
    }

    /// The logarithm of the normal density by volume.
    fn log_volume_density(&self, from: &ChainState, to: &State) -> f64 {
        let (force, noise) = self.kept(from);
        let mut square = 0.0;
        for (index, (to, at)) in point(to).iter().zip(from.point()).enumerate() {
            let width = self.widths[index];
            square += ((to - at) / (width * noise) - 0.5 * noise * width * force[index]).powi(2);
        }
        -0.5 * square - self.widths.len() as f64 * noise.ln() - self.log_unit
    }
}

impl Proposal for Langevin {
    fn ready(&self, states: &dyn States, place: &mut ChainState, temperature: f64) {
        let Some(walk) = states.walk() else { return };
        let (force, noise) = place.drift.split_at_mut(self.widths.len());
        walk.pull(&place.answer.slope_xi, force);
        let mut square = 0.0_f64;
        for (force, width) in force.iter_mut().zip(&self.widths) {
            *force /= temperature;
            square += (*force * width).powi(2);
        }
        noise[0] = self.step / square.max(self.widths.len() as f64).sqrt();
    }

    fn propose(&self, states: &dyn States, from: &ChainState, random: &mut Random, to: &mut ChainState) {
        let Some(walk) = states.walk() else { return };
        let (force, noise) = self.kept(from);
        let to = point_mut(&mut to.state);
        normals(random, to);
        for (index, to) in to.iter_mut().enumerate() {
            *to = noise * self.widths[index] * (*to + 0.5 * noise * self.widths[index] * force[index]);
        }
        let is_inside = walk.chord(from.point(), to).1 >= 1.0;
        for (to, from) in to.iter_mut().zip(from.point()) {
            *to = if is_inside { from + *to } else { *from };
        }
    }

    fn log_ratio(&self, states: &dyn States, from: &ChainState, to: &ChainState) -> f64 {
        let by_volume = self.log_volume_density(to, &from.state) - self.log_volume_density(from, &to.state);
        by_volume + reference_ratio(states, from, to)
    }

    fn has_density(&self, states: &dyn States) -> bool {
        states.walk().is_some_and(|walk| walk.log_mass().is_some())
    }

    fn log_density(&self, states: &dyn States, from: &ChainState, to: &State) -> Option<f64> {
        let walk = states.walk()?;
        Some(self.log_volume_density(from, to) - walk.log_reference(point(to)) + walk.log_mass()?)
    }

    fn drifts(&self) -> bool {
        true
    }
}
