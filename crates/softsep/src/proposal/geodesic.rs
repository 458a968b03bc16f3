//! A random walk along great circles of a sphere (Byrne and Girolami, 2013).

use std::f64::consts::PI;

use rand::RngExt;

use super::{ChainState, Proposal, ProposalError, dot, log_reference_ratio, norm, point, point_mut};
use crate::run::{Random, normals};
use crate::uncertainty::{Space, State, States};

/// Moves along a uniform direction of the tangent space by an angle from a Cauchy law truncated at π. Most angles are
/// small and a few cross the sphere, so that one scale serves every temperature. The density of v given u depends only
/// on the angle between u and v, so that the proposal is symmetric under the uniform law.
#[derive(Debug, Clone, Copy)]
pub struct Geodesic {
    /// The scale of the angle.
    scale: f64,
    /// ln ∫ sin^(dim − 2) over [0, π]: the logarithm of the sphere's area divided by that of its equator.
    log_area: f64,
    dim: usize,
}

impl Geodesic {
    /// Creates the proposal for the states of a sphere; the scale of the angle is `step`/√dim. Errs for other spaces.
    pub fn of(states: &dyn States, step: f64) -> Result<Self, ProposalError> {
        match (states.space(), states.local_coordinates()) {
            (Space::Sphere(1), _) => Err(ProposalError(
                "a sphere in one dimension is two points, with no great circle through them; uniform and adaptive work"
                    .into(),
            )),
            (Space::Sphere(dim), Some(_)) => {
                // The integral I of sin^k: I(0) = π, I(1) = 2, I(k) = I(k − 2)·(k − 1)/k.
                let mut log_area = if dim % 2 == 0 { PI.ln() } else { 2.0_f64.ln() };
                for k in (2..=dim - 2).filter(|k| (dim - k) % 2 == 0) {
                    log_area += ((k - 1) as f64 / k as f64).ln();
                }
                Ok(Self { scale: step / (dim as f64).sqrt(), log_area, dim })
            }
            (space, _) => {
                Err(ProposalError(format!("geodesic moves are made on spheres, and these states are {space}")))
            }
        }
    }
}

impl Proposal for Geodesic {
    fn propose(&self, _states: &dyn States, from: &ChainState, random: &mut Random, to: &mut ChainState) {
        let (from, to) = (from.point(), point_mut(&mut to.state));
        let mut length = 0.0;
        // The normal vector is parallel to u with probability zero.
        while length == 0.0 {
            normals(random, to);
            let along = dot(from, to);
            to.iter_mut().zip(from).for_each(|(to, from)| *to -= along * from);
            length = norm(to);
        }
        let angle = self.scale * (random.random::<f64>() * (PI / self.scale).atan()).tan();
        let (sine, cosine) = angle.sin_cos();
        to.iter_mut().zip(from).for_each(|(to, from)| *to = cosine * from + sine / length * *to);
        // Without normalisation, rounding errors would accumulate over many steps.
        let length = norm(to);
        to.iter_mut().for_each(|to| *to /= length);
    }

    fn log_ratio(&self, states: &dyn States, from: &ChainState, to: &ChainState) -> f64 {
        log_reference_ratio(states, from, to)
    }

    fn has_density(&self, states: &dyn States) -> bool {
        states.local_coordinates().is_some_and(|coordinates| coordinates.log_mass().is_some())
    }

    fn log_density(&self, states: &dyn States, from: &ChainState, to: &State) -> Option<f64> {
        let coordinates = states.local_coordinates()?;
        let (from, to) = (from.point(), point(to));
        let (mut apart, mut together) = (0.0, 0.0);
        for (from, to) in from.iter().zip(to) {
            apart += (from - to).powi(2);
            together += (from + to).powi(2);
        }
        // An arc cosine would lose half of the digits at small angles.
        let angle = 2.0 * apart.sqrt().atan2(together.sqrt());
        let cauchy = -(self.scale * (PI / self.scale).atan() * (1.0 + (angle / self.scale).powi(2))).ln();
        let thickness = if self.dim > 2 { (self.dim - 2) as f64 * angle.sin().ln() } else { 0.0 };
        Some(cauchy + self.log_area - thickness - coordinates.log_reference(to) + coordinates.log_mass()?)
    }
}
