//! The extreme points of a cross-polytope: one entry deviates, up or down.

use rand::RngExt;

use super::choice::most_per_deviation;
use super::{CachedTilt, Space, State, States, Tilt, make_unit, row};
use crate::run::Random;
use crate::uncertainty::Count;

/// `ξ = center ± step·e` for one of the entries that move: the row 2·entry is its −, the one after it its +. Without
/// such entries, the center.
pub(crate) struct Cross<'a> {
    center: &'a [f64],
    /// The entries that move, each with what z = 1 adds to it.
    moves: Vec<(usize, f64)>,
}

impl<'a> Cross<'a> {
    pub(crate) fn new(center: &'a [f64], moves: Vec<(usize, f64)>) -> Self {
        Self { center, moves }
    }

    fn len(&self) -> usize {
        (2 * self.moves.len()).max(1)
    }
}

/// The z of a row's entry.
fn side(row: usize) -> f64 {
    if row.is_multiple_of(2) { -1.0 } else { 1.0 }
}

impl States for Cross<'_> {
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

    /// The entry that deviates most, the first on ties.
    fn locate(&self, xi: &[f64], state: &mut State) -> bool {
        let mut furthest = (0, 0.0);
        for (place, &(entry, step)) in self.moves.iter().enumerate() {
            let z = (xi[entry] - self.center[entry]) / step;
            if z.abs() > furthest.1 {
                furthest = (2 * place + usize::from(z > 0.0), z.abs());
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
}

/// The exponent is κ·⟨g, z⟩ with g the slope in z, brought to length one; all points are at distance one from their
/// mean, so it is within ±κ.
impl Tilt for Cross<'_> {
    /// Along any g the points have a standard deviation of 1/√n.
    fn concentration(&self) -> f64 {
        (self.moves.len() as f64).sqrt() * most_per_deviation(self.len())
    }

    fn prepare(&self, slope: &[f64], concentration: f64, tilt: &mut CachedTilt) {
        if tilt.is_for(slope, concentration) && tilt.table.len() == self.len() {
            return;
        }
        tilt.remember(slope, concentration);
        tilt.weights.clear();
        tilt.weights.extend(self.moves.iter().map(|&(entry, step)| step * slope[entry]));
        let unit = if make_unit(&mut tilt.weights) { concentration } else { 0.0 };
        // Each entry's weight becomes those of its two rows, from the last to the first so that none is overwritten
        // before its turn.
        tilt.weights.resize(self.len(), 0.0);
        for place in (0..self.moves.len()).rev() {
            let weight = if unit > 0.0 { unit * tilt.weights[place] } else { 0.0 };
            (tilt.weights[2 * place], tilt.weights[2 * place + 1]) = (-weight, weight);
        }
        tilt.sum_up();
    }

    fn draw(&self, tilt: &CachedTilt, random: &mut Random, state: &mut State) {
        *state = State::Row(tilt.choose(random));
    }

    fn log_density(&self, tilt: &CachedTilt, state: &State) -> f64 {
        tilt.log_choice(row(state))
    }
}
