//! An ellipsoid, possibly flat.

use std::borrow::Cow;

use faer::Mat;

use super::states::{Body, BodyShape, ListRows, MapColumn, Sphere};
use super::{
    Ball, Count, Part, Polytope, SetDefinition, SetError, Shape, StateSpec, States, TooMany, Uncertainty, allow, check,
    chord, dot,
};
use crate::definition::{Complaints, ScenarioList};

/// Semi-axes shorter than this share of the longest one are rounding: a double has 16 digits, a product of A loses a
/// few.
const FLAT: f64 = 1e-12;

/// `ξ = center + A u`, `‖u‖₂ ≤ 1`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ellipsoid {
    center: Vec<f64>,
    /// A by columns: `support` goes through them one by one and needs no memory of its own.
    columns: Vec<Vec<f64>>,
    /// An orthonormal basis of the whole space with the half-width of the ellipsoid along each: A's left singular
    /// vectors and values.
    axes: Vec<(f64, Vec<f64>)>,
    /// The number of axes that are not flat.
    rank: usize,
}

impl Ellipsoid {
    pub(super) fn build(
        set: &SetDefinition,
        parameters: &[String],
        place: &str,
        complaints: &mut Complaints,
    ) -> Option<Self> {
        let SetDefinition::Ellipsoid { center, matrix } = set else { return None };
        let mut usable = check::finite(center, "center", parameters, place, complaints);
        if matrix.len() != parameters.len() {
            usable = false;
            let rows = check::plural(matrix.len(), "row", "rows");
            complaints.add(place, format!("\"matrix\" has {rows} where {}", check::declared(parameters)));
        }
        let width = matrix.first().map_or(0, Vec::len);
        for (index, row) in matrix.iter().enumerate() {
            if row.len() != width {
                usable = false;
                let entries = check::plural(row.len(), "entry", "entries");
                complaints.add(place, format!("row {index} of \"matrix\" has {entries} where row 0 has {width}"));
            }
            usable &= !row.iter().any(|value| value.is_nan());
            if let Some((column, why)) =
                row.iter().enumerate().find_map(|(column, &value)| Some((column, check::unfit(value)?)))
            {
                usable = false;
                complaints.add(place, format!("entry {column} in row {index} of \"matrix\" {why}"));
            }
        }
        if !usable {
            return None;
        }
        let dim = center.len();
        let Some(axes) = semi_axes(matrix, dim, width) else {
            complaints
                .add(place, "the singular values of \"matrix\" could not be computed; scale its entries nearer to 1");
            return None;
        };
        let longest = axes.first().map_or(0.0, |axis| axis.0);
        Some(Self {
            center: center.clone(),
            columns: (0..width).map(|column| matrix.iter().map(|row| row[column]).collect()).collect(),
            rank: axes.iter().filter(|axis| axis.0 > FLAT * longest).count(),
            axes,
        })
    }

    /// The center, and the axes along which the ellipsoid is not flat with its half-width along each.
    pub(super) fn axes(&self) -> (&[f64], &[(f64, Vec<f64>)]) {
        (&self.center, &self.axes[..self.rank])
    }

    /// The ends of the longest axis, in lexicographic order.
    fn ends(&self) -> [Vec<f64>; 2] {
        let (half, axis) = &self.axes[0];
        let end =
            |step: f64| self.center.iter().zip(axis).map(|(center, axis)| center + step * axis).collect::<Vec<_>>();
        let (first, second) = (end(-half), end(*half));
        if first <= second { [first, second] } else { [second, first] }
    }
}

/// Left singular vectors with their singular values, from the largest to the smallest, completed to a basis.
fn semi_axes(matrix: &[Vec<f64>], dim: usize, width: usize) -> Option<Vec<(f64, Vec<f64>)>> {
    let svd = Mat::from_fn(dim, width, |row, column| matrix[row][column]).svd().ok()?;
    let (vectors, values) = (svd.U(), svd.S().column_vector());
    let half = |index: usize| if index < width.min(dim) { values[index] } else { 0.0 };
    let axes: Vec<_> =
        (0..dim).map(|index| (half(index), (0..dim).map(|row| vectors[(row, index)]).collect())).collect();
    axes.iter()
        .all(|(half, axis): &(f64, Vec<f64>)| half.is_finite() && axis.iter().all(|value| value.is_finite()))
        .then_some(axes)
}

impl Uncertainty for Ellipsoid {
    fn kind(&self) -> &'static str {
        "ellipsoid"
    }

    fn dim(&self) -> usize {
        self.center.len()
    }

    /// The deviation along each axis is first reduced by `tolerance`: a flat axis has no inequality that could be
    /// relaxed otherwise.
    fn contains(&self, xi: &[f64], tolerance: f64) -> bool {
        let mut squares = 0.0;
        for (half, axis) in &self.axes {
            let along: f64 =
                axis.iter().zip(xi).zip(&self.center).map(|((axis, xi), center)| axis * (xi - center)).sum();
            let excess = along.abs() - tolerance;
            if excess.is_nan() {
                return false;
            } else if excess > 0.0 {
                squares += (excess / half).powi(2);
            }
        }
        squares.sqrt() <= 1.0 + tolerance
    }

    /// `center + A Aᵀd / ‖Aᵀd‖`; if `Aᵀd = 0`, all of the set is optimal and the center is given (of a segment, an
    /// end).
    fn support(&self, direction: &[f64], xi: &mut [f64]) -> Result<f64, SetError> {
        // Dividing by the largest entry keeps the squares from underflow.
        let largest = direction.iter().fold(0.0_f64, |largest, entry| largest.max(entry.abs()));
        xi.fill(0.0);
        let mut squares = 0.0;
        if largest > 0.0 {
            for column in &self.columns {
                let slope = dot(column, direction) / largest;
                squares += slope * slope;
                for (xi, entry) in xi.iter_mut().zip(column) {
                    *xi += slope * entry;
                }
            }
        }
        let norm = squares.sqrt();
        if norm == 0.0 && self.rank == 1 {
            xi.copy_from_slice(&self.ends()[0]);
        } else {
            for (xi, center) in xi.iter_mut().zip(&self.center) {
                *xi = if norm > 0.0 { center + *xi / norm } else { *center };
            }
        }
        Ok(dot(direction, &self.center) + largest * norm)
    }

    fn nominal(&self, xi: &mut [f64]) {
        xi.copy_from_slice(&self.center);
    }

    fn extremes(&self) -> Count {
        match self.rank {
            0 => Count::Exactly(1),
            1 => Count::Exactly(2),
            _ => Count::Infinite,
        }
    }

    /// The center if that is all, or the two ends of a segment.
    fn enumerate(&self, limit: usize) -> Result<Cow<'_, ScenarioList>, TooMany> {
        allow(self.extremes(), limit)?;
        let mut points = ScenarioList::new(self.dim());
        if self.rank == 0 {
            points.push(&self.center);
        } else {
            self.ends().iter().for_each(|end| points.push(end));
        }
        Ok(Cow::Owned(points))
    }

    /// A part that leaves every entry its whole range adds no rows.
    fn shape(&self, part: &Part) -> Option<Shape> {
        let ends = |index: usize| {
            let reach = self.columns.iter().map(|column| column[index].powi(2)).sum::<f64>().sqrt();
            (self.center[index] - reach, self.center[index] + reach)
        };
        let is_whole = (0..self.dim()).all(|index| {
            let (least, most) = ends(index);
            let slack = FLAT * (least.abs() + most.abs());
            part.lower[index] <= least + slack && most - slack <= part.upper[index]
        });
        let ends = |index: usize| (ends(index).0.max(part.lower[index]), ends(index).1.min(part.upper[index]));
        let polytope = (!is_whole).then(|| {
            let (lower, upper): (Vec<f64>, Vec<f64>) = (0..self.dim()).map(ends).unzip();
            Polytope::between(&lower, &upper)
        });
        Some(Shape { polytope, ball: Some(Ball { center: self.center.clone(), columns: self.columns.clone() }) })
    }

    fn chord(&self, xi: &[f64], direction: &[f64]) -> (f64, f64) {
        let (mut square, mut along, mut step) = (0.0, 0.0, 0.0);
        for (number, (half, axis)) in self.axes.iter().enumerate() {
            let towards = dot(axis, direction);
            if number < self.rank {
                let at =
                    axis.iter().zip(xi).zip(&self.center).map(|((axis, xi), center)| axis * (xi - center)).sum::<f64>()
                        / half;
                square += at * at;
                along += at * towards / half;
                step += (towards / half).powi(2);
            } else if towards.abs() > FLAT * direction.iter().map(|entry| entry.abs()).sum::<f64>() {
                // Out of the flat.
                return (0.0, 0.0);
            }
        }
        chord::in_ball(square, along, step)
    }

    /// Where Q is convex, the boundary, else all of it. A segment has two extreme points, a point is one.
    fn states(&self, spec: &StateSpec) -> Result<Box<dyn States + '_>, SetError> {
        let axes = &self.axes[..self.rank];
        if !spec.convex && !axes.is_empty() {
            let columns = axes.iter().map(|(half, axis)| MapColumn::along(axis, *half)).collect();
            return Ok(Box::new(Body::new((&self.center).into(), columns, BodyShape::Ball)));
        }
        match self.enumerate(2) {
            Ok(points) => Ok(Box::new(ListRows::new(points))),
            Err(_) => Ok(Box::new(Sphere::new(&self.center, axes, spec.reference))),
        }
    }

    fn describe(&self) -> Option<SetDefinition> {
        let matrix = (0..self.dim()).map(|row| self.columns.iter().map(|column| column[row]).collect()).collect();
        Some(SetDefinition::Ellipsoid { center: self.center.clone(), matrix })
    }
}
