//! Moves in the tangent space of a sphere, projected back onto it (Zappa, Holmes-Cerfon and Goodman, 2018).

use std::f64::consts::TAU;

use super::{ChainState, Proposal, ProposalError, dot, log_reference_ratio, norm, point, point_mut};
use crate::run::{Random, normals};
use crate::uncertainty::{Space, State, States};

/// The longest drift: a projection exists for tangent vectors shorter than one.
const LONGEST_DRIFT: f64 = 0.5;

/// `v = drift + σ·normal` in the tangent space at u, then `u' = √(1 − |v|²)·u + v`: the point of the sphere on the line
/// through u + v along the normal at u. Where |v| ≥ 1 there is none, and the candidate is u itself.
///
/// With c = ⟨u, u'⟩ the way back has the tangent vector `u − c·u'`, as long as v = u' − c·u. The area of the sphere at
/// u' is 1/c times that of the tangent space at u, the same both ways, so that the ratio of the densities is that of
/// the normal densities of the two tangent vectors.
///
/// The drift is σ²/2 times the tangent part of the gradient of score/w, cut to half a radius. With `σ² = step²·min(1/(2
/// dim), 3/(∛dim·|slope|/w))`, noise alone moves by 0.7 of a radius, and by less than the width of p_x around its mode
/// where that is narrower (see [`super::LangevinOnSphere`]).
#[derive(Debug, Clone, Copy)]
pub struct Tangent {
    step: f64,
    dim: usize,
    /// The logarithm of the sphere's area.
    log_area: f64,
}

impl Tangent {
    /// Creates the proposal for the states of a sphere in at least two dimensions. Errs for other spaces.
    pub fn of(states: &dyn States, step: f64) -> Result<Self, ProposalError> {
        match (states.space(), states.local_coordinates()) {
            (Space::Sphere(dim), Some(_)) if dim >= 2 => {
                // The area A of the sphere: A(1) = 2, A(2) = 2π, A(k) = A(k − 2)·2π/(k − 2).
                let first = if dim % 2 == 0 { TAU } else { 2.0 };
                let log_area = (3..=dim)
                    .filter(|k| (dim - k) % 2 == 0)
                    .fold(f64::ln(first), |log_area, k| log_area + (TAU / (k - 2) as f64).ln());
                Ok(Self { step, dim, log_area })
            }
            (space, _) => Err(ProposalError(format!(
                "tangent moves are made on spheres of two or more dimensions, and these states are {space}"
            ))),
        }
    }

    /// The drift and σ stored in a chain state.
    fn stored_drift<'a>(&self, state: &'a ChainState) -> (&'a [f64], f64) {
        let (drift, noise) = state.drift.split_at(self.dim);
        (drift, noise[0])
    }

    /// The logarithm of the normal density of the tangent vector that leads to a state of the same half of the sphere.
    fn log_tangent_density(&self, from: &ChainState, to: &State) -> f64 {
        let (drift, noise) = self.stored_drift(from);
        let cosine = cosine(from.point(), point(to));
        let mut square = 0.0;
        for ((to, at), drift) in point(to).iter().zip(from.point()).zip(drift) {
            square += ((to - cosine * at - drift) / noise).powi(2);
        }
        -0.5 * square - (self.dim - 1) as f64 * (noise * TAU.sqrt()).ln()
    }
}

/// The cosine of the angle between two points of the sphere, exact near one.
fn cosine(a: &[f64], b: &[f64]) -> f64 {
    1.0 - 0.5 * a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>()
}

impl Proposal for Tangent {
    fn prepare(&self, states: &dyn States, state: &mut ChainState, temperature: f64) {
        let (Some(coordinates), State::Point(at)) = (states.local_coordinates(), &state.state) else { return };
        let (drift, noise) = state.drift.split_at_mut(self.dim);
        coordinates.pull_back(&state.answer.slope_xi, drift);
        let (dim, steep) = (self.dim as f64, norm(drift) / temperature);
        let variance = self.step.powi(2) * (0.5 / dim).min(3.0 / (dim.cbrt() * steep));
        let along = dot(drift, at);
        drift.iter_mut().zip(at).for_each(|(drift, at)| *drift -= along * at);
        let length = 0.5 * variance * norm(drift) / temperature;
        let scale = 0.5 * variance / temperature * (LONGEST_DRIFT / length).min(1.0);
        drift.iter_mut().for_each(|drift| *drift *= scale);
        noise[0] = variance.sqrt();
    }

    fn propose(&self, _states: &dyn States, from: &ChainState, random: &mut Random, to: &mut ChainState) {
        let (drift, noise) = self.stored_drift(from);
        let (from, to) = (from.point(), point_mut(&mut to.state));
        normals(random, to);
        let along = dot(from, to);
        let mut square = 0.0;
        for ((to, from), drift) in to.iter_mut().zip(from).zip(drift) {
            *to = drift + noise * (*to - along * from);
            square += *to * *to;
        }
        if square >= 1.0 {
            to.copy_from_slice(from);
            return;
        }
        let height = (1.0 - square).sqrt();
        to.iter_mut().zip(from).for_each(|(to, from)| *to += height * from);
        // Without normalisation, rounding errors would accumulate over many steps.
        let length = norm(to);
        to.iter_mut().for_each(|to| *to /= length);
    }

    fn log_ratio(&self, states: &dyn States, from: &ChainState, to: &ChainState) -> f64 {
        let by_area = self.log_tangent_density(to, &from.state) - self.log_tangent_density(from, &to.state);
        by_area + log_reference_ratio(states, from, to)
    }

    fn has_density(&self, states: &dyn States) -> bool {
        states.local_coordinates().is_some_and(|coordinates| coordinates.log_mass().is_some())
    }

    fn log_density(&self, states: &dyn States, from: &ChainState, to: &State) -> Option<f64> {
        let coordinates = states.local_coordinates()?;
        let cosine = cosine(from.point(), point(to));
        if cosine <= 0.0 {
            return Some(f64::NEG_INFINITY);
        }
        let by_area = self.log_tangent_density(from, to) + cosine.ln() + self.log_area;
        Some(by_area - coordinates.log_reference(point(to)) + coordinates.log_mass()?)
    }

    fn uses_drift(&self) -> bool {
        true
    }
}
