//! The corners of a box: every entry is independently at its lower or upper end.

use rand::RngExt;

use super::{CachedTilt, Neighbours, Space, State, States, Tilt, copy_state, make_unit, point, point_mut};
use crate::run::Random;
use crate::uncertainty::{allow, counted};

/// κ per entry. For normally distributed slopes, tilted corners are on average nine tenths of the way from the center
/// to the furthest corner along the slope, as on a sphere with its default κ.
const CONCENTRATION_PER_ENTRY: f64 = 2.0;

/// `ξ = center + half∘z` with z in {−1, 1} for every free entry.
pub(crate) struct BoxCorners {
    /// ξ with every free entry at its lower end.
    base: Vec<f64>,
    /// The free entries, each with its upper end.
    moves: Vec<(usize, f64)>,
}

impl BoxCorners {
    /// `base` has the lower ends of the free entries and the values of the others; `moves` has the free entries with
    /// their upper ends.
    pub(crate) fn new(base: Vec<f64>, moves: Vec<(usize, f64)>) -> Self {
        Self { base, moves }
    }
}

impl States for BoxCorners {
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

    /// The corners in lexicographic order.
    fn enumerate(&self, limit: usize) -> Option<Vec<State>> {
        let Space::Finite(count) = self.space() else { return None };
        let corners = allow(count, limit).ok()?;
        let last = self.moves.len().saturating_sub(1);
        let end = |corner: usize, position: usize| if corner >> (last - position) & 1 == 1 { 1.0 } else { -1.0 };
        let corner = |corner| State::Point((0..self.moves.len()).map(|position| end(corner, position)).collect());
        Some((0..corners).map(corner).collect())
    }

    fn tilt(&self) -> Option<&dyn Tilt> {
        Some(self)
    }

    fn neighbours(&self) -> Option<&dyn Neighbours> {
        Some(self)
    }
}

/// One entry moves to its other end.
impl Neighbours for BoxCorners {
    fn draw_neighbour(&self, from: &State, random: &mut Random, to: &mut State) {
        copy_state(from, to);
        let z = point_mut(to, self.moves.len());
        if !z.is_empty() {
            let entry = random.random_range(0..z.len());
            z[entry] = -z[entry];
        }
    }

    fn probability(&self, from: &State, to: &State) -> f64 {
        let apart = point(from).iter().zip(point(to)).filter(|(from, to)| from != to).count();
        match (apart, self.moves.len()) {
            (0, 0) => 1.0,
            (1, entries) => 1.0 / entries as f64,
            _ => 0.0,
        }
    }
}

/// The exponent is κ·⟨g, z⟩/√n, where g is the slope in z scaled to length one. All corners are at distance √n from
/// their mean, so that the exponent is within ±κ.
impl Tilt for BoxCorners {
    fn concentration(&self) -> f64 {
        CONCENTRATION_PER_ENTRY * self.moves.len() as f64
    }

    fn prepare(&self, slope: &[f64], concentration: f64, tilt: &mut CachedTilt) {
        if tilt.is_for(slope, concentration) && tilt.weights.len() == self.moves.len() {
            return;
        }
        tilt.set_key(slope, concentration);
        tilt.weights.clear();
        tilt.weights.extend(self.moves.iter().map(|&(entry, upper)| (upper - self.base[entry]) * slope[entry]));
        if make_unit(&mut tilt.weights) {
            let unit = concentration / (self.moves.len() as f64).sqrt();
            tilt.weights.iter_mut().for_each(|weight| *weight *= unit);
        } else {
            tilt.weights.fill(0.0);
        }
        // ln cosh, with the larger power factored out.
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
