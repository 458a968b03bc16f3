//! The features of ξ that the coefficients of a policy multiply. Features are of size one for any units of ξ.
//!
//! Over an ellipsoid `ξ = center + Au`, a policy that depends on all of ξ is written in u. The cone of each row then
//! contains only the coefficients of that row. In ξ, a dense A would couple every coefficient to every entry: at 30
//! entries, the program in u is solved several times faster.

use faer::Mat;
use faer::linalg::solvers::DenseSolveCore;

use super::dependence::Dependence;
use super::robust::{Expression, PolicyRegion};
use crate::model::Problem;
use crate::uncertainty::{Ball, Shape};

/// Largest entry of `|A·A⁻¹ − I|` for which the axes are used.
const INVERSE_TOL: f64 = 1e-9;

/// The coordinates in which expressions are written, and the features of a policy.
#[derive(Clone)]
pub(super) enum PolicyCoordinates {
    /// ξ itself: the center and half-width of each entry's range.
    Entries(Vec<(f64, f64)>),
    /// u, the coordinates along the axes of an ellipsoid.
    Axes(EllipsoidAxes),
}

/// `ξ = center + Au` and its inverse.
#[derive(Clone)]
pub(super) struct EllipsoidAxes {
    center: Vec<f64>,
    /// A by columns.
    columns: Vec<Vec<f64>>,
    /// A⁻¹ by rows.
    inverse: Vec<Vec<f64>>,
}

/// The feature `slope·coordinate − offset`, which ranges over [−1, 1].
#[derive(Debug, Clone, Copy)]
pub(super) struct Feature {
    pub(super) coordinate: usize,
    pub(super) slope: f64,
    pub(super) offset: f64,
}

impl PolicyCoordinates {
    pub(super) fn new(problem: &Problem, region: PolicyRegion, dependence: &Dependence) -> Self {
        if let PolicyRegion::Shape(Shape { polytope: None, ball: Some(ball) }) = region
            && dependence.is_all_or_none()
            && let Some(axes) = EllipsoidAxes::new(ball)
        {
            return Self::Axes(axes);
        }
        Self::Entries(units(problem, region))
    }

    pub(super) fn dim(&self) -> usize {
        match self {
            Self::Entries(units) => units.len(),
            Self::Axes(axes) => axes.columns.len(),
        }
    }

    /// The shape in these coordinates, if it differs from the shape in ξ.
    pub(super) fn shape(&self) -> Option<Shape> {
        let Self::Axes(axes) = self else { return None };
        let dim = axes.columns.len();
        let unit = |axis: usize| (0..dim).map(|entry| if entry == axis { 1.0 } else { 0.0 }).collect();
        Some(Shape {
            polytope: None,
            ball: Some(Ball { center: vec![0.0; dim], columns: (0..dim).map(unit).collect() }),
        })
    }

    /// Adds `value·ξ[entry]` to an expression.
    pub(super) fn add_entry(&self, expression: &mut Expression, entry: usize, value: f64) {
        match self {
            Self::Entries(_) => expression.add_slope(entry, value),
            Self::Axes(axes) => {
                expression.constant += value * axes.center[entry];
                for (axis, column) in axes.columns.iter().enumerate() {
                    expression.add_slope(axis, value * column[entry]);
                }
            }
        }
    }

    /// The features of a policy, one per coordinate.
    pub(super) fn features(&self) -> Vec<Feature> {
        let of_axis = |axis: usize| Feature { coordinate: axis, slope: 1.0, offset: 0.0 };
        let of_entry = |(entry, (middle, reach)): (usize, &(f64, f64))| Feature {
            coordinate: entry,
            slope: 1.0 / reach,
            offset: middle / reach,
        };
        match self {
            Self::Axes(axes) => (0..axes.columns.len()).map(of_axis).collect(),
            Self::Entries(units) => units.iter().enumerate().map(of_entry).collect(),
        }
    }

    /// The features that a variable depends on.
    pub(super) fn features_of(&self, dependence: &Dependence, j: usize) -> Vec<usize> {
        match self {
            Self::Entries(_) => dependence.of_variable(j).to_vec(),
            Self::Axes(_) if dependence.of_variable(j).is_empty() => Vec::new(),
            Self::Axes(axes) => (0..axes.columns.len()).collect(),
        }
    }

    /// Converts `constant + Σ coefficient·feature` to a function of ξ.
    pub(super) fn in_entries(&self, mut constant: f64, terms: &[(&Feature, f64)]) -> (f64, Vec<(usize, f64)>) {
        let mut slopes = vec![0.0; self.dim()];
        for (feature, coefficient) in terms {
            constant -= coefficient * feature.offset;
            slopes[feature.coordinate] += coefficient * feature.slope;
        }
        if let Self::Axes(axes) = self {
            let mut of_entries = vec![0.0; axes.center.len()];
            for (slope, row) in slopes.iter().zip(&axes.inverse) {
                of_entries.iter_mut().zip(row).for_each(|(of_entry, inverse)| *of_entry += slope * inverse);
            }
            constant -= of_entries.iter().zip(&axes.center).map(|(slope, center)| slope * center).sum::<f64>();
            slopes = of_entries;
        }
        (constant, slopes.into_iter().enumerate().filter(|(_, slope)| *slope != 0.0).collect())
    }
}

impl EllipsoidAxes {
    /// Returns `None` if the ball is flat, or nearly so.
    fn new(ball: &Ball) -> Option<Self> {
        let dim = ball.center.len();
        if ball.columns.len() != dim || dim == 0 {
            return None;
        }
        let matrix = Mat::from_fn(dim, dim, |row, column| ball.columns[column][row]);
        let inverse = matrix.partial_piv_lu().inverse();
        let product = &matrix * &inverse;
        let off = |row: usize, column: usize| (product[(row, column)] - if row == column { 1.0 } else { 0.0 }).abs();
        let is_inverse = (0..dim).all(|row| (0..dim).all(|column| off(row, column) <= INVERSE_TOL));
        is_inverse.then(|| Self {
            center: ball.center.clone(),
            columns: ball.columns.clone(),
            inverse: (0..dim).map(|row| (0..dim).map(|column| inverse[(row, column)]).collect()).collect(),
        })
    }
}

/// The center and half-width of the range of each entry of ξ; the half-width of a constant entry is 1.
fn units(problem: &Problem, region: PolicyRegion) -> Vec<(f64, f64)> {
    let mut ends = vec![(f64::INFINITY, f64::NEG_INFINITY); problem.set.dim()];
    let mut take = |entry: usize, value: f64| ends[entry] = (ends[entry].0.min(value), ends[entry].1.max(value));
    match region {
        PolicyRegion::Shape(Shape { polytope: Some(polytope), .. }) => {
            polytope.base.iter().enumerate().for_each(|(entry, &base)| take(entry, base));
            polytope.columns.iter().for_each(|&(entry, step)| take(entry, polytope.base[entry] + step));
        }
        PolicyRegion::Shape(Shape { ball: Some(ball), .. }) => {
            for (entry, center) in ball.center.iter().enumerate() {
                let reach = ball.half_width(entry);
                take(entry, center - reach);
                take(entry, center + reach);
            }
        }
        PolicyRegion::Shape(_) => {}
        // The entire list, independent of the points in the current program: a basis is valid for one choice of units
        // only.
        PolicyRegion::Points(..) => {
            let list = problem.set.enumerate(usize::MAX).ok();
            list.iter()
                .flat_map(|list| list.iter())
                .for_each(|xi| xi.iter().enumerate().for_each(|(e, &value)| take(e, value)));
        }
    }
    let unit = |(low, high): (f64, f64)| match high - low {
        width if width > 0.0 && width.is_finite() => (low.midpoint(high), 0.5 * width),
        _ => (if low.is_finite() { low } else { 0.0 }, 1.0),
    };
    ends.into_iter().map(unit).collect()
}
