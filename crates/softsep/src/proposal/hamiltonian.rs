//! Hamiltonian moves in a convex body (Neal, 2011), with trajectories that are reflected at its boundary.

use rand::RngExt;

use super::widths::coordinate_widths;
use super::{ChainState, Proposal, ProposalError, dot, log_reference_ratio, norm, point_mut};
use crate::run::{Random, normals};
use crate::uncertainty::{LocalCoordinates, States};

/// Leaps of a trajectory, each of which takes a recourse solve.
const LEAPS: u32 = 5;

/// The longest step in time, in widths of the body where the force is less than one.
const LONGEST_STEP: f64 = 0.4;

/// The steps at a state are within this many halvings of its longest one.
const HALVINGS: f64 = 2.0;

/// The probability of a step by the law that is the same at all states, and its halvings. Without it no trajectory
/// would join states whose forces differ much.
const FREE_SHARE: f64 = 0.1;
const FREE_HALVINGS: f64 = 24.0;

/// Reflections in one leap after which a trajectory is given up. The way back has as many.
const MOST_REFLECTIONS: u32 = 64;

/// A trajectory of [`Hamiltonian`].
#[derive(Debug, Clone, Default)]
pub struct Trajectory {
    momentum: Vec<f64>,
    velocity: Vec<f64>,
    normal: Vec<f64>,
    /// Binary logarithm of the step in time, relative to the longest of all.
    log_step: f64,
    leaps: u32,
    /// The kinetic energy at the start and at the end.
    kinetic: [f64; 2],
}

impl Trajectory {
    /// Buffers for `dim` coordinates.
    pub(super) fn new(dim: usize) -> Self {
        let zeros = vec![0.0; dim];
        Self { momentum: zeros.clone(), velocity: zeros.clone(), normal: zeros, ..Self::default() }
    }

    /// Makes this the way back of another trajectory, which is complete: the ratio of it is known, and
    /// [`Hamiltonian::begin`] sets out on it.
    #[cfg(feature = "testing")]
    pub(crate) fn reverse(&mut self, other: &Self) {
        (self.log_step, self.kinetic) = (other.log_step, [other.kinetic[1], other.kinetic[0]]);
        self.momentum.iter_mut().zip(&other.momentum).for_each(|(momentum, other)| *momentum = -other);
    }

    fn kinetic_energy(&self) -> f64 {
        0.5 * dot(&self.momentum, &self.momentum)
    }
}

/// Leapfrog steps of the dynamics with the energy `|p|²/2 − score/w` in coordinates divided by the body's widths, from
/// a standard normal momentum p. A kick adds step·force to p, a leap moves along p and is reflected where it meets the
/// boundary. Kicks and reflected leaps keep volumes, and the same trajectory with −p leads back, so that the ratio is
/// that of the laws of both momenta: e^(|p|²/2 − |p'|²/2).
///
/// Where the score is linear, leaps within the body keep the energy, and all is accepted. The force is the slope over
/// w, and a step must be short beside one over it. The step is drawn anew for each trajectory, at most
/// `LONGEST_STEP·step/max(1, |force|)` for the force at its start, from a law with a density; the ratio includes that
/// density at both ends (Bou-Rabee, Carpenter and Marsden, 2024).
#[derive(Debug, Clone)]
pub struct Hamiltonian {
    longest: f64,
    widths: Vec<f64>,
}

impl Hamiltonian {
    /// Creates the proposal for the states of a convex body. Errs for other spaces, and for bodies without width in
    /// some coordinate.
    pub fn of(states: &dyn States, step: f64) -> Result<Self, ProposalError> {
        Ok(Self { longest: LONGEST_STEP * step, widths: coordinate_widths(states, "Hamiltonian")? })
    }

    /// The force and the binary logarithm of its size, at least zero, as a chain state stores them.
    fn stored_force<'a>(&self, state: &'a ChainState) -> (&'a [f64], f64) {
        let (force, size) = state.drift.split_at(self.widths.len());
        (force, size[0])
    }

    /// The density of a step's logarithm at a state with this logarithm of the force.
    fn step_density(log_force: f64, log_step: f64) -> f64 {
        let within = |most: f64, halvings: f64| log_step <= most && log_step >= most - halvings;
        let own = if within(-log_force, HALVINGS) { (1.0 - FREE_SHARE) / HALVINGS } else { 0.0 };
        let free = if within(0.0, FREE_HALVINGS) { FREE_SHARE / FREE_HALVINGS } else { 0.0 };
        own + free
    }

    fn draw_step(log_force: f64, random: &mut Random) -> f64 {
        let (is_free, share) = (random.random::<f64>() < FREE_SHARE, random.random::<f64>());
        if is_free { -FREE_HALVINGS * share } else { -log_force - HALVINGS * share }
    }

    /// Sets out from a state with the momentum and the step of `to`.
    pub(crate) fn begin(&self, states: &dyn States, from: &ChainState, to: &mut ChainState) {
        let Some(coordinates) = states.local_coordinates() else { return };
        let trajectory = &mut to.trajectory;
        (trajectory.kinetic[0], trajectory.leaps) = (trajectory.kinetic_energy(), 1);
        self.kick(self.stored_force(from).0, 0.5, trajectory);
        let to = point_mut(&mut to.state);
        to.copy_from_slice(from.point());
        if !self.leap(coordinates, to, trajectory) {
            to.copy_from_slice(from.point());
        }
    }

    /// Adds this share of a step times the force to the momentum.
    fn kick(&self, force: &[f64], share: f64, trajectory: &mut Trajectory) {
        let time = share * self.longest * trajectory.log_step.exp2();
        trajectory.momentum.iter_mut().zip(force).for_each(|(momentum, force)| *momentum += time * force);
    }

    /// Moves a point along the momentum by one step, reflecting the momentum at the boundary. False where the body has
    /// no normals, or after too many reflections.
    fn leap(&self, coordinates: &dyn LocalCoordinates, at: &mut [f64], trajectory: &mut Trajectory) -> bool {
        let Trajectory { momentum, velocity, normal, log_step, .. } = trajectory;
        let mut left = self.longest * log_step.exp2();
        for _ in 0..MOST_REFLECTIONS {
            for ((velocity, momentum), width) in velocity.iter_mut().zip(momentum.iter()).zip(&self.widths) {
                *velocity = momentum * width;
            }
            let time = coordinates.chord(at, velocity).1.min(left);
            at.iter_mut().zip(velocity.iter()).for_each(|(at, velocity)| *at += time * velocity);
            left -= time;
            if left <= 0.0 {
                return true;
            }
            if !coordinates.outward_normal(at, velocity, normal) {
                return false;
            }
            normal.iter_mut().zip(&self.widths).for_each(|(normal, width)| *normal *= width);
            let twice = 2.0 * dot(momentum, normal) / dot(normal, normal);
            momentum.iter_mut().zip(normal.iter()).for_each(|(momentum, normal)| *momentum -= twice * normal);
        }
        false
    }
}

impl Proposal for Hamiltonian {
    fn prepare(&self, states: &dyn States, state: &mut ChainState, temperature: f64) {
        let Some(coordinates) = states.local_coordinates() else { return };
        let (force, size) = state.drift.split_at_mut(self.widths.len());
        coordinates.pull_back(&state.answer.slope_xi, force);
        force.iter_mut().zip(&self.widths).for_each(|(force, width)| *force *= width / temperature);
        size[0] = norm(force).max(1.0).log2();
    }

    fn propose(&self, states: &dyn States, from: &ChainState, random: &mut Random, to: &mut ChainState) {
        normals(random, &mut to.trajectory.momentum);
        to.trajectory.log_step = Self::draw_step(self.stored_force(from).1, random);
        self.begin(states, from, to);
    }

    fn advance(&self, states: &dyn States, from: &ChainState, to: &mut ChainState) -> bool {
        let Some(coordinates) = states.local_coordinates() else { return false };
        let (force, _) = to.drift.split_at(self.widths.len());
        if to.trajectory.leaps == LEAPS {
            self.kick(force, 0.5, &mut to.trajectory);
            to.trajectory.kinetic[1] = to.trajectory.kinetic_energy();
            return false;
        }
        self.kick(force, 1.0, &mut to.trajectory);
        to.trajectory.leaps += 1;
        let at = point_mut(&mut to.state);
        let is_whole = self.leap(coordinates, at, &mut to.trajectory);
        if !is_whole {
            at.copy_from_slice(from.point());
        }
        is_whole
    }

    fn log_ratio(&self, states: &dyn States, from: &ChainState, to: &ChainState) -> f64 {
        let ([start, end], log_step) = (to.trajectory.kinetic, to.trajectory.log_step);
        let density = |state| Self::step_density(self.stored_force(state).1, log_step);
        start - end + (density(to) / density(from)).ln() + log_reference_ratio(states, from, to)
    }

    fn uses_drift(&self) -> bool {
        true
    }
}
