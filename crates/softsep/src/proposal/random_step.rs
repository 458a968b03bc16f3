//! Random steps on a sphere or in a body, of a length that the chain adapts.

use rand::RngExt;

use super::{ChainState, Proposal, ProposalError, dot, log_reference_ratio, norm, point_mut};
use crate::run::{Random, normals};
use crate::uncertainty::{Space, States};

/// The root mean square of a step's length where the chain has not adapted it: a radian on the sphere, half of the
/// body's width along a coordinate.
const LENGTH: f64 = 1.0;

/// A step in a uniform direction. On a sphere its length is that of a normal vector in the tangent space, measured
/// along the great circle; the density of v given u depends on their angle only, so that the step is symmetric. In a
/// body it is uniform on the part of the chord within the length; the ratio is that of the two parts.
///
/// The length is divided by the root of the chain's concentration factor, which grows while most candidates are
/// rejected.
#[derive(Debug, Clone, Copy)]
pub struct RandomStep(());

impl RandomStep {
    /// Creates the proposal for a sphere of at least two dimensions or a body. Errs for other spaces.
    pub fn of(states: &dyn States) -> Result<Self, ProposalError> {
        match (states.space(), states.local_coordinates()) {
            (Space::Sphere(dim), Some(_)) if dim >= 2 => Ok(Self(())),
            (Space::Body(_), Some(_)) => Ok(Self(())),
            (space, _) => Err(ProposalError(format!(
                "random steps are made on spheres and in bodies, and these states are {space}"
            ))),
        }
    }
}

/// The length of steps from a state.
fn length(state: &ChainState) -> f64 {
    LENGTH / state.concentration_factor.sqrt()
}

/// The part of a chord within `length` of zero.
fn within(least: f64, most: f64, length: f64) -> (f64, f64) {
    (least.max(-length), most.min(length))
}

impl Proposal for RandomStep {
    fn propose(&self, states: &dyn States, from: &ChainState, random: &mut Random, to: &mut ChainState) {
        let Some(coordinates) = states.local_coordinates() else { return };
        let (length, point) = (length(from), from.point());
        let step = point_mut(&mut to.state);
        normals(random, step);
        if let Space::Sphere(dim) = states.space() {
            let along = dot(point, step);
            step.iter_mut().zip(point).for_each(|(step, point)| *step -= along * point);
            let size = norm(step);
            let (sine, cosine) = (length * size / ((dim - 1) as f64).sqrt()).sin_cos();
            let turn = if size > 0.0 { sine / size } else { 0.0 };
            step.iter_mut().zip(point).for_each(|(step, point)| *step = cosine * point + turn * *step);
            // Without normalisation, rounding errors would accumulate over many steps.
            let size = norm(step);
            step.iter_mut().for_each(|step| *step /= size);
            return;
        }
        let size = norm(step);
        if size > 0.0 {
            step.iter_mut().for_each(|step| *step /= size);
        }
        let (least, most) = coordinates.chord(point, step);
        let (low, high) = within(least, most, length);
        let t = low + (high - low) * random.random::<f64>();
        to.chord = [least, most, t];
        let step = point_mut(&mut to.state);
        step.iter_mut().zip(point).for_each(|(step, point)| *step = point + t * *step);
    }

    fn log_ratio(&self, states: &dyn States, from: &ChainState, to: &ChainState) -> f64 {
        let reference = log_reference_ratio(states, from, to);
        if matches!(states.space(), Space::Sphere(_)) {
            return reference;
        }
        let ([least, most, t], length) = (to.chord, length(from));
        let ((low, high), (back_low, back_high)) = (within(least, most, length), within(least - t, most - t, length));
        ((high - low) / (back_high - back_low)).ln() + reference
    }
}
