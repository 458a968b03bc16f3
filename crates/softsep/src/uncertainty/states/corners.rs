//! The corners of a box: every entry is at one of its ends, independently.

use rand::RngExt;

use super::{CachedTilt, Space, State, States, Tilt, make_unit, point, point_mut};
use crate::run::Random;
use crate::uncertainty::{allow, counted};

/// κ per entry: with slopes as a normal law has them, tilted corners are on average nine tenths of the way from the
/// center to the furthest corner along the slope, as they are on a sphere with its default.
const PER_ENTRY: f64 = 2.0;

/// `ξ = center + half∘z`, z in {−1, 1} for every entry that moves.
pub(crate) struct Corners {
    /// ξ with every entry that moves at its lower end.
    base: Vec<f64>,
    /// The entries that move, each with its upper end.
    moves: Vec<(usize, f64)>,
}

impl Corners {
    /// `base` is lower, or already at the better end; `moves` has the upper ends of entries that can be at either.
    pub(crate) fn new(base: Vec<f64>, moves: Vec<(usize, f64)>) -> Self {
        Self { base, moves }
    }
}

impl States for Corners {
    fn space(&self) -> Space {
        Space::Finite(counted(u32::try_from(self.moves.len()).ok().and_then(|entries| 2_u128.checked_pow(entries))))
    }

    fn blank(&self) -> State {
        State::Point(vec![-1.0; self.moves.len()])
    }

    fn draw(&self, random: &mut Random, state: &mut State) {
        let z = point_mut(state, self.moves.len());
        z.iter_mut().for_each(|z| *z = if random.random() { 1.0 } else { -1.0 });
    }

    fn realize(&self, state: &State, xi: &mut [f64]) {
        xi.copy_from_slice(&self.base);
        for (&(entry, upper), z) in self.moves.iter().zip(point(state)) {
            if *z > 0.0 {
                xi[entry] = upper;
            }
        }
    }

    fn locate(&self, xi: &[f64], state: &mut State) -> bool {
        for (z, &(entry, upper)) in point_mut(state, self.moves.len()).iter_mut().zip(&self.moves) {
            *z = if upper - xi[entry] < xi[entry] - self.base[entry] { 1.0 } else { -1.0 };
        }
        xi.iter().all(|xi| xi.is_finite())
    }

    /// In lexicographic order.
    fn enumerate(&self, limit: usize) -> Option<Vec<State>> {
        let Space::Finite(count) = self.space() else { return None };
        let corners = allow(count, limit).ok()?;
        let last = self.moves.len().saturating_sub(1);
        let end = |corner: usize, place: usize| if corner >> (last - place) & 1 == 1 { 1.0 } else { -1.0 };
        let corner = |corner| State::Point((0..self.moves.len()).map(|place| end(corner, place)).collect());
        Some((0..corners).map(corner).collect())
    }

    fn tilt(&self) -> Option<&dyn Tilt> {
        Some(self)
    }
}

/// The exponent is κ·⟨g, z⟩/√n with g the slope in z, brought to length one: all corners are at distance √n from their
/// mean, so it is within ±κ.
impl Tilt for Corners {
    fn concentration(&self) -> f64 {
        PER_ENTRY * self.moves.len() as f64
    }

    fn prepare(&self, slope: &[f64], concentration: f64, tilt: &mut CachedTilt) {
        if tilt.is_for(slope, concentration) && tilt.weights.len() == self.moves.len() {
            return;
        }
        tilt.remember(slope, concentration);
        tilt.weights.clear();
        tilt.weights.extend(self.moves.iter().map(|&(entry, upper)| (upper - self.base[entry]) * slope[entry]));
        if make_unit(&mut tilt.weights) {
            let unit = concentration / (self.moves.len() as f64).sqrt();
            tilt.weights.iter_mut().for_each(|weight| *weight *= unit);
        } else {
            tilt.weights.fill(0.0);
        }
        // ln cosh, by the larger of the two powers.
        let log_cosh = |weight: f64| weight.abs() + (-2.0 * weight.abs()).exp().ln_1p() - std::f64::consts::LN_2;
        tilt.log_mean = tilt.weights.iter().map(|&weight| log_cosh(weight)).sum();
    }

    fn draw(&self, tilt: &CachedTilt, random: &mut Random, state: &mut State) {
        if tilt.weights.len() != self.moves.len() {
            return States::draw(self, random, state);
        }
        for (z, weight) in point_mut(state, self.moves.len()).iter_mut().zip(&tilt.weights) {
            *z = if random.random::<f64>() * (1.0 + (-2.0 * weight).exp()) < 1.0 { 1.0 } else { -1.0 };
        }
    }

    fn log_density(&self, tilt: &CachedTilt, state: &State) -> f64 {
        super::dot(&tilt.weights, point(state)) - tilt.log_mean
    }
}
