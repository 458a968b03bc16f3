//! The rows of a list as states; ν is uniform on the rows.

use std::sync::OnceLock;

use rand::RngExt;

use super::categorical::max_weight_per_deviation;
use super::row_tree::RowTree;
use super::{CachedTilt, Neighbours, Space, State, States, Tilt, row};
use crate::definition::ScenarioList;
use crate::run::Random;
use crate::uncertainty::Count;

/// κ per dimension, unless the list is too short for it: a slope of one standard deviation over the list then has
/// weight 5·√dim, as for a von Mises–Fisher law with κ = 5·dim on a sphere.
const CONCENTRATION_PER_DIMENSION: f64 = 5.0;

/// A list whose standard deviation along the slope is smaller, relative to its largest product with the slope, does not
/// vary along it.
const FLAT_LIST_TOL: f64 = 1e-12;

/// The rows of a list, or enumerated extreme points; at least one.
pub(crate) struct ListRows<'a> {
    points: std::borrow::Cow<'a, ScenarioList>,
    /// Made for the first local move.
    tree: OnceLock<RowTree>,
    surface: Option<ListSurface<'a>>,
}

/// The boundary of an ellipsoid `center + A u` from which the rows were drawn, uniformly by area.
pub(crate) struct ListSurface<'a> {
    pub(crate) center: &'a [f64],
    /// The axes along which the ellipsoid is not flat, with its half-width along each.
    pub(crate) axes: &'a [(f64, Vec<f64>)],
    /// ln ‖A⁻ᵀu‖ of each row.
    pub(crate) log_factors: &'a [f64],
}

impl<'a> ListRows<'a> {
    pub(crate) fn new(points: std::borrow::Cow<'a, ScenarioList>) -> Self {
        Self { points, tree: OnceLock::new(), surface: None }
    }

    /// The same rows with the boundary that they were drawn from.
    pub(crate) fn on_surface(self, surface: ListSurface<'a>) -> Self {
        Self { surface: Some(surface), ..self }
    }

    fn tree(&self) -> &RowTree {
        self.tree.get_or_init(|| RowTree::new(&self.points))
    }
}

impl States for ListRows<'_> {
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
        xi.copy_from_slice(self.points.row(row(state).min(self.points.len() - 1)));
    }

    /// Finds the nearest row, the first on ties: a vertex from a linear program differs from the enumerated one by
    /// rounding.
    fn locate(&self, xi: &[f64], state: &mut State) -> bool {
        let mut nearest = (None, f64::INFINITY);
        for (row, point) in self.points.iter().enumerate() {
            let distance = point.iter().zip(xi).map(|(a, b)| (a - b).powi(2)).sum();
            if distance < nearest.1 {
                nearest = (Some(row), distance);
            }
        }
        *state = State::Row(nearest.0.unwrap_or(0));
        nearest.0.is_some()
    }

    fn enumerate(&self, limit: usize) -> Option<Vec<State>> {
        (self.points.len() <= limit).then(|| (0..self.points.len()).map(State::Row).collect())
    }

    fn tilt(&self) -> Option<&dyn Tilt> {
        Some(self)
    }

    fn neighbours(&self) -> Option<&dyn Neighbours> {
        Some(self)
    }
}

/// A row nearby, by a tree over the rows.
impl Neighbours for ListRows<'_> {
    fn draw_neighbour(&self, from: &State, random: &mut Random, to: &mut State) {
        *to = State::Row(self.tree().draw(row(from).min(self.points.len() - 1), random));
    }

    fn probability(&self, from: &State, to: &State) -> f64 {
        self.tree().probability(row(from), row(to))
    }
}

impl ListSurface<'_> {
    /// Turns ⟨slope, ξ⟩ of each row into its log-weight. With ξ = center + A u, κ⟨μ, u⟩ = κ⟨slope, ξ − center⟩ over
    /// ‖Aᵀslope‖. A slope along which the ellipsoid is flat gives equal weights.
    fn weigh(&self, slope: &[f64], concentration: f64, along: &mut [f64]) {
        let square: f64 = self.axes.iter().map(|(half, axis)| (half * super::dot(axis, slope)).powi(2)).sum();
        let (length, middle) = (square.sqrt(), super::dot(self.center, slope));
        let size = along.iter().fold(middle.abs(), |size, along| size.max(along.abs()));
        if !(length > FLAT_LIST_TOL * size) {
            along.fill(0.0);
            return;
        }
        for (along, log_factor) in along.iter_mut().zip(self.log_factors) {
            *along = concentration * (*along - middle) / length - log_factor;
        }
    }
}

impl Tilt for ListRows<'_> {
    fn concentration(&self) -> f64 {
        let root = (self.points.dim() as f64).sqrt();
        root * (CONCENTRATION_PER_DIMENSION * root).min(max_weight_per_deviation(self.points.len()))
    }

    /// The weight of a row is κ/√dim times its position along the slope in standard deviations. For rows drawn from the
    /// boundary of an ellipsoid it is that of the paper, κ⟨μ, u⟩ − ln ‖A⁻ᵀu‖ with `μ = Aᵀslope/‖Aᵀslope‖`: the von
    /// Mises–Fisher density over that of the rows, both in u.
    fn prepare(&self, slope: &[f64], concentration: f64, tilt: &mut CachedTilt) {
        if tilt.is_for(slope, concentration) && tilt.table.len() == self.points.len() {
            return;
        }
        tilt.set_key(slope, concentration);
        let count = self.points.len() as f64;
        tilt.weights.clear();
        tilt.weights.extend(self.points.iter().map(|point| super::dot(point, slope)));
        if let Some(surface) = &self.surface {
            surface.weigh(slope, concentration, &mut tilt.weights);
            tilt.tabulate();
            return;
        }
        let mean = tilt.weights.iter().sum::<f64>() / count;
        let deviation = (tilt.weights.iter().map(|along| (along - mean).powi(2)).sum::<f64>() / count).sqrt();
        let size = tilt.weights.iter().fold(0.0_f64, |size, along| size.max(along.abs()));
        // If the list does not vary along the slope, the deviation is a rounding error and the weights are zero.
        let unit = if deviation > FLAT_LIST_TOL * size {
            concentration / (deviation * (self.points.dim() as f64).sqrt())
        } else {
            0.0
        };
        tilt.weights.iter_mut().for_each(|weight| *weight = (*weight - mean) * unit);
        tilt.tabulate();
    }

    fn draw(&self, tilt: &CachedTilt, random: &mut Random, state: &mut State) {
        *state = State::Row(tilt.draw_row(random));
    }

    fn log_density(&self, tilt: &CachedTilt, state: &State) -> f64 {
        tilt.log_row_density(row(state))
    }
}
