//! The extreme points of a cross-polytope: exactly one entry deviates, up or down.

use rand::RngExt;

use super::categorical::max_weight_per_deviation;
use super::{CachedTilt, Neighbours, Space, State, States, Tilt, make_unit, row};
use crate::run::Random;
use crate::uncertainty::Count;

/// `ξ = center ± step·e` for one of the free entries. Row 2·i lowers the i-th free entry, row 2·i + 1 raises it.
/// Without free entries, the center is the only state.
pub(crate) struct CrossPolytope<'a> {
    center: &'a [f64],
    /// The free entries, each with its deviation at z = 1.
    moves: Vec<(usize, f64)>,
}

impl<'a> CrossPolytope<'a> {
    pub(crate) fn new(center: &'a [f64], moves: Vec<(usize, f64)>) -> Self {
        Self { center, moves }
    }

    fn len(&self) -> usize {
        (2 * self.moves.len()).max(1)
    }
}

/// The sign of the deviation in a row.
fn side(row: usize) -> f64 {
    if row.is_multiple_of(2) { -1.0 } else { 1.0 }
}

impl States for CrossPolytope<'_> {
    fn space(&self) -> Space {
        Space::Finite(Count::Exactly(self.len() as u128))
    }

    fn blank(&self) -> State {
        State::Row(0)
    }

    fn draw(&self, random: &mut Random, state: &mut State) {
        *state = State::Row(random.random_range(0..self.len()));
    }

    fn realize(&self, state: &State, xi: &mut [f64]) {
        xi.copy_from_slice(self.center);
        let row = row(state);
        if let Some(&(entry, step)) = self.moves.get(row / 2) {
            xi[entry] += side(row) * step;
        }
    }

    /// Finds the entry with the largest deviation, the first on ties.
    fn locate(&self, xi: &[f64], state: &mut State) -> bool {
        let mut furthest = (0, 0.0);
        for (position, &(entry, step)) in self.moves.iter().enumerate() {
            let z = (xi[entry] - self.center[entry]) / step;
            if z.abs() > furthest.1 {
                furthest = (2 * position + usize::from(z > 0.0), z.abs());
            }
        }
        *state = State::Row(furthest.0);
        xi.iter().all(|xi| xi.is_finite())
    }

    fn enumerate(&self, limit: usize) -> Option<Vec<State>> {
        (self.len() <= limit).then(|| (0..self.len()).map(State::Row).collect())
    }

    fn tilt(&self) -> Option<&dyn Tilt> {
        Some(self)
    }

    fn neighbours(&self) -> Option<&dyn Neighbours> {
        Some(self)
    }
}

/// Every other extreme point is a neighbour: a move changes at most two entries of ξ.
impl Neighbours for CrossPolytope<'_> {
    fn draw_neighbour(&self, from: &State, random: &mut Random, to: &mut State) {
        let others = self.len() - 1;
        let step = if others > 0 { random.random_range(1..=others) } else { 0 };
        *to = State::Row((row(from) + step) % self.len());
    }

    fn probability(&self, from: &State, to: &State) -> f64 {
        match (row(from) == row(to), self.len() - 1) {
            (true, 0) => 1.0,
            (true, _) => 0.0,
            (false, others) => 1.0 / others as f64,
        }
    }
}

/// The exponent is κ·⟨g, z⟩, where g is the slope in z scaled to length one. All points are at distance one from their
/// mean, so that the exponent is within ±κ.
impl Tilt for CrossPolytope<'_> {
    /// Along any g, the points have a standard deviation of 1/√n.
    fn concentration(&self) -> f64 {
        (self.moves.len() as f64).sqrt() * max_weight_per_deviation(self.len())
    }

    fn prepare(&self, slope: &[f64], concentration: f64, tilt: &mut CachedTilt) {
        if tilt.is_for(slope, concentration) && tilt.table.len() == self.len() {
            return;
        }
        tilt.set_key(slope, concentration);
        tilt.weights.clear();
        tilt.weights.extend(self.moves.iter().map(|&(entry, step)| step * slope[entry]));
        let unit = if make_unit(&mut tilt.weights) { concentration } else { 0.0 };
        // Each entry's weight is expanded to its two rows, from the last entry to the first so that no weight is
        // overwritten before it is read.
        tilt.weights.resize(self.len(), 0.0);
        for position in (0..self.moves.len()).rev() {
            let weight = if unit > 0.0 { unit * tilt.weights[position] } else { 0.0 };
            (tilt.weights[2 * position], tilt.weights[2 * position + 1]) = (-weight, weight);
        }
        tilt.tabulate();
    }

    fn draw(&self, tilt: &CachedTilt, random: &mut Random, state: &mut State) {
        *state = State::Row(tilt.draw_row(random));
    }

    fn log_density(&self, tilt: &CachedTilt, state: &State) -> f64 {
        tilt.log_row_density(row(state))
    }
}
