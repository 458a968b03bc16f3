//! The rows of a list: a state is a row, ν is uniform on them.

use rand::RngExt;

use super::{Aim, Space, State, States, Tilt};
use crate::format::Points;
use crate::run::Random;
use crate::uncertainty::Count;

/// How much of the concentration falls to a dimension: with it, a slope of one standard deviation over the list has weight 5·√dim, as a von
/// Mises–Fisher law with κ = 5·dim has on a sphere.
const PER_DIMENSION: f64 = 5.0;

/// The rows of a list, or extreme points that were enumerated.
pub(crate) struct Rows<'a> {
    points: std::borrow::Cow<'a, Points>,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(points: std::borrow::Cow<'a, Points>) -> Self {
        Self { points }
    }
}

fn row(state: &State) -> usize {
    match state {
        State::Row(row) => *row,
        State::Point(_) => 0,
    }
}

impl States for Rows<'_> {
    fn space(&self) -> Space {
        Space::Finite(Count::Exactly(self.points.len() as u128))
    }

    fn blank(&self) -> State {
        State::Row(0)
    }

    fn draw(&self, random: &mut Random, state: &mut State) {
        *state = State::Row(random.random_range(0..self.points.len()));
    }

    fn realize(&self, state: &State, xi: &mut [f64]) {
        xi.copy_from_slice(self.points.row(row(state)));
    }

    fn locate(&self, xi: &[f64], state: &mut State) -> bool {
        let found = self.points.iter().position(|point| point == xi);
        if let Some(found) = found {
            *state = State::Row(found);
        }
        found.is_some()
    }

    fn enumerate(&self, limit: usize) -> Option<Vec<State>> {
        (self.points.len() <= limit).then(|| (0..self.points.len()).map(State::Row).collect())
    }

    fn tilt(&self) -> Option<&dyn Tilt> {
        Some(self)
    }
}

impl Tilt for Rows<'_> {
    fn concentration(&self) -> f64 {
        PER_DIMENSION * self.points.dim() as f64
    }

    /// The weight of a row is κ/√dim times how many standard deviations it lies along the slope.
    fn aim(&self, slope: &[f64], concentration: f64, aim: &mut Aim) {
        if aim.slope == slope && aim.concentration == concentration && aim.table.len() == self.points.len() {
            return;
        }
        aim.slope.clear();
        aim.slope.extend_from_slice(slope);
        aim.concentration = concentration;
        let count = self.points.len() as f64;
        aim.weights.clear();
        aim.weights.extend(self.points.iter().map(|point| point.iter().zip(slope).map(|(a, b)| a * b).sum::<f64>()));
        let mean = aim.weights.iter().sum::<f64>() / count;
        let deviation = (aim.weights.iter().map(|along| (along - mean).powi(2)).sum::<f64>() / count).sqrt();
        let size = aim.weights.iter().fold(0.0_f64, |size, along| size.max(along.abs()));
        // A list that does not vary along the slope has nothing to tilt; what is left of it is rounding.
        let unit = if deviation > 1e-12 * size { concentration / (deviation * (self.points.dim() as f64).sqrt()) } else { 0.0 };
        let mut most = f64::NEG_INFINITY;
        for weight in &mut aim.weights {
            *weight = (*weight - mean) * unit;
            most = most.max(*weight);
        }
        aim.table.clear();
        let mut sum = 0.0;
        for weight in &aim.weights {
            sum += (weight - most).exp();
            aim.table.push(sum);
        }
        aim.log_mean = most + (sum / count).ln();
    }

    fn draw(&self, aim: &Aim, random: &mut Random, state: &mut State) {
        let sum = aim.table.last().copied().unwrap_or(0.0);
        let at = random.random::<f64>() * sum;
        *state = State::Row(aim.table.partition_point(|&below| below <= at).min(self.points.len() - 1));
    }

    fn log_density(&self, aim: &Aim, state: &State) -> f64 {
        aim.weights[row(state)] - aim.log_mean
    }
}
