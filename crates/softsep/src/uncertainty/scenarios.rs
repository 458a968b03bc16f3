//! A finite list of scenarios.

use std::borrow::Cow;

use super::states::ListRows;
use super::{Count, Part, SetDefinition, SetError, Shape, StateSpec, States, TooMany, Uncertainty, allow, check, dot};
use crate::definition::{Complaints, ScenarioList};

/// Faults named one by one; the others are counted.
const NAMED: usize = 20;

/// Finitely many ξ, listed one by one. Not convex: only the rows are members.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scenarios {
    points: ScenarioList,
    /// The CSV file they came from, as the problem names it.
    file: Option<String>,
    /// The row nearest to the mean.
    typical: usize,
}

impl Scenarios {
    pub(super) fn build(
        set: &SetDefinition,
        parameters: &[String],
        place: &str,
        complaints: &mut Complaints,
    ) -> Option<Self> {
        let SetDefinition::Scenarios { points, file } = set else { return None };
        if points.is_empty() {
            complaints.add(place, "the list of scenarios is empty; at least one is needed");
            return None;
        }
        if points.dim() != parameters.len() {
            let entries = check::counted(points.dim(), "entry", "entries");
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
        usable &= faults == 0;
        usable.then(|| Self { points: points.clone(), file: file.clone(), typical: nearest_to_mean(points) })
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
        Ok(Box::new(ListRows::new(Cow::Borrowed(&self.points))))
    }

    fn describe(&self) -> Option<SetDefinition> {
        Some(SetDefinition::Scenarios { points: self.points.clone(), file: self.file.clone() })
    }
}
