//! A finite list of scenarios.

use std::borrow::Cow;

use super::ellipsoid::Ellipsoid;
use super::states::{ListRows, ListSurface};
use super::{Count, Part, SetDefinition, SetError, Shape, StateSpec, States, TooMany, Uncertainty, allow, check, dot};
use crate::definition::{Complaints, ScenarioList};

/// Faults named one by one; the others are counted.
const NAMED: usize = 20;

/// A row is on the boundary of the ellipsoid that it was drawn from if its u is as long as one up to this: files have
/// few digits.
const BOUNDARY_TOL: f64 = 1e-4;

/// Finitely many ξ, listed one by one. Not convex: only the rows are members.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scenarios {
    points: ScenarioList,
    /// The CSV file they came from, as the problem names it.
    file: Option<String>,
    /// The row nearest to the mean.
    typical: usize,
    drawn_from: Option<DrawnFrom>,
}

/// The ellipsoid from whose boundary a list was drawn.
#[derive(Debug, Clone, PartialEq)]
struct DrawnFrom {
    ellipsoid: Ellipsoid,
    /// ln ‖A⁻ᵀu‖ of each row `center + A u`: the logarithm of the surface factor, up to the constant |det A|.
    log_factors: Vec<f64>,
}

impl DrawnFrom {
    /// `None` after complaints: the definition is no ellipsoid, or some row is not on its boundary.
    fn build(
        set: &SetDefinition,
        points: &ScenarioList,
        parameters: &[String],
        place: &str,
        complaints: &mut Complaints,
    ) -> Option<Self> {
        if !matches!(set, SetDefinition::Ellipsoid { .. }) {
            complaints.add(place, "must be of the kind ellipsoid");
            return None;
        }
        let ellipsoid = Ellipsoid::build(set, parameters, place, complaints)?;
        let (center, axes) = ellipsoid.axes();
        let mut log_factors = Vec::with_capacity(points.len());
        for (row, point) in points.iter().enumerate() {
            let (mut square, mut factor, mut flat) = (0.0, 0.0, 0.0);
            for (point, center) in point.iter().zip(center) {
                flat += (point - center).powi(2);
            }
            for (half, axis) in axes {
                let along: f64 =
                    point.iter().zip(center).zip(axis).map(|((point, center), axis)| (point - center) * axis).sum();
                square += (along / half).powi(2);
                factor += (along / (half * half)).powi(2);
                flat -= along * along;
            }
            let longest = axes.first().map_or(0.0, |axis| axis.0);
            if !((square.sqrt() - 1.0).abs() <= BOUNDARY_TOL && flat <= (BOUNDARY_TOL * longest).powi(2)) {
                complaints.add(place, format!("scenario {} is not on the boundary of this ellipsoid", row + 1));
                return None;
            }
            log_factors.push(0.5 * factor.ln());
        }
        Some(Self { ellipsoid, log_factors })
    }
}

impl Scenarios {
    pub(super) fn build(
        set: &SetDefinition,
        parameters: &[String],
        place: &str,
        complaints: &mut Complaints,
    ) -> Option<Self> {
        let SetDefinition::Scenarios { points, file, drawn_from } = set else { return None };
        if points.is_empty() {
            complaints.add(place, "the list of scenarios is empty; at least one is needed");
            return None;
        }
        if points.dim() != parameters.len() {
            let entries = check::plural(points.dim(), "entry", "entries");
            complaints.add(place, format!("a scenario has {entries} where {}", check::declared(parameters)));
            return None;
        }
        let (mut usable, mut faults) = (true, 0);
        for (row, point) in points.iter().enumerate() {
            for (name, &value) in parameters.iter().zip(point) {
                usable &= !value.is_nan();
                let Some(why) = check::unfit(value) else { continue };
                faults += 1;
                match file {
                    _ if faults > NAMED => {}
                    None => complaints.add(format!("{place}.points[{row}]"), format!("\"{name}\" {why}")),
                    Some(file) => {
                        complaints
                            .add(format!("{place}.file \"{file}\""), format!("scenario {}, \"{name}\" {why}", row + 1));
                    }
                }
            }
        }
        if faults > NAMED {
            complaints.add(place, format!("and {} more numbers like these", faults - NAMED));
        }
        if !usable || faults > 0 {
            return None;
        }
        let drawn_from = match drawn_from {
            Some(set) => Some(DrawnFrom::build(set, points, parameters, &format!("{place}.drawn_from"), complaints)?),
            None => None,
        };
        Some(Self { points: points.clone(), file: file.clone(), typical: nearest_to_mean(points), drawn_from })
    }
}

/// The first of the rows that are nearest to the mean of all.
fn nearest_to_mean(points: &ScenarioList) -> usize {
    let share = 1.0 / points.len() as f64;
    let mut mean = vec![0.0; points.dim()];
    for point in points.iter() {
        for (mean, value) in mean.iter_mut().zip(point) {
            *mean += share * value;
        }
    }
    let mut nearest = (0, f64::INFINITY);
    for (row, point) in points.iter().enumerate() {
        let distance = point.iter().zip(&mean).map(|(value, mean)| (value - mean).powi(2)).sum();
        if distance < nearest.1 {
            nearest = (row, distance);
        }
    }
    nearest.0
}

impl Uncertainty for Scenarios {
    fn kind(&self) -> &'static str {
        "scenarios"
    }

    fn dim(&self) -> usize {
        self.points.dim()
    }

    fn contains(&self, xi: &[f64], tolerance: f64) -> bool {
        self.points.iter().any(|point| point.iter().zip(xi).all(|(value, xi)| (value - xi).abs() <= tolerance))
    }

    /// Scans the list; of several maximisers the first one wins.
    fn support(&self, direction: &[f64], xi: &mut [f64]) -> Result<f64, SetError> {
        let mut best = (0, f64::NEG_INFINITY);
        for (row, point) in self.points.iter().enumerate() {
            let value = dot(direction, point);
            if value > best.1 {
                best = (row, value);
            }
        }
        xi.copy_from_slice(self.points.row(best.0));
        Ok(best.1)
    }

    fn nominal(&self, xi: &mut [f64]) {
        xi.copy_from_slice(self.points.row(self.typical));
    }

    fn extremes(&self) -> Count {
        Count::Exactly(self.points.len() as u128)
    }

    fn is_finite_list(&self) -> bool {
        true
    }

    /// The rows in the order of the list.
    fn enumerate(&self, limit: usize) -> Result<Cow<'_, ScenarioList>, TooMany> {
        allow(self.extremes(), limit)?;
        Ok(Cow::Borrowed(&self.points))
    }

    fn shape(&self, _part: &Part) -> Option<Shape> {
        None
    }

    fn states(&self, _spec: &StateSpec) -> Result<Box<dyn States + '_>, SetError> {
        let rows = ListRows::new(Cow::Borrowed(&self.points));
        Ok(Box::new(match &self.drawn_from {
            Some(DrawnFrom { ellipsoid, log_factors }) => {
                let (center, axes) = ellipsoid.axes();
                rows.on_surface(ListSurface { center, axes, log_factors })
            }
            None => rows,
        }))
    }

    fn describe(&self) -> Option<SetDefinition> {
        let drawn_from = self.drawn_from.as_ref().and_then(|drawn| drawn.ellipsoid.describe()).map(Box::new);
        Some(SetDefinition::Scenarios { points: self.points.clone(), file: self.file.clone(), drawn_from })
    }
}
