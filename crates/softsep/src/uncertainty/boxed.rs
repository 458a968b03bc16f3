//! A box: every parameter has its own range.

use std::borrow::Cow;

use super::states::{Body, BodyShape, BoxCorners, MapColumn};
use super::{
    Count, Part, Polytope, SetDefinition, SetError, Shape, StateSpec, States, TooMany, Trend, Uncertainty, allow,
    check, chord, counted, dot,
};
use crate::definition::{Complaints, ScenarioList};

/// `lower ≤ ξ ≤ upper`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Boxed {
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// The entries that can move: `lower < upper`.
    free: Vec<usize>,
}

impl Boxed {
    pub(super) fn build(
        set: &SetDefinition,
        parameters: &[String],
        place: &str,
        complaints: &mut Complaints,
    ) -> Option<Self> {
        let SetDefinition::Box { lower, upper } = set else { return None };
        let mut usable = check::finite(lower, "lower", parameters, place, complaints);
        usable &= check::finite(upper, "upper", parameters, place, complaints);
        usable &= check::ordered(lower, upper, parameters, place, complaints);
        usable.then(|| Self {
            lower: lower.clone(),
            upper: upper.clone(),
            free: (0..parameters.len()).filter(|&index| lower[index] < upper[index]).collect(),
        })
    }
}

impl Uncertainty for Boxed {
    fn kind(&self) -> &'static str {
        "box"
    }

    fn dim(&self) -> usize {
        self.lower.len()
    }

    fn contains(&self, xi: &[f64], tolerance: f64) -> bool {
        let bounds = self.lower.iter().zip(&self.upper);
        xi.iter().zip(bounds).all(|(xi, (lower, upper))| (lower - tolerance..=upper + tolerance).contains(xi))
    }

    /// Where the direction is zero the lower bound is taken, so that the maximiser is a corner.
    fn support(&self, direction: &[f64], xi: &mut [f64]) -> Result<f64, SetError> {
        for (index, xi) in xi.iter_mut().enumerate() {
            *xi = if direction[index] > 0.0 { self.upper[index] } else { self.lower[index] };
        }
        Ok(dot(direction, xi))
    }

    fn nominal(&self, xi: &mut [f64]) {
        for (index, xi) in xi.iter_mut().enumerate() {
            *xi = self.lower[index].midpoint(self.upper[index]);
        }
    }

    fn extremes(&self) -> Count {
        counted(u32::try_from(self.free.len()).ok().and_then(|free| 2_u128.checked_pow(free)))
    }

    /// The corners in lexicographic order.
    fn enumerate(&self, limit: usize) -> Result<Cow<'_, ScenarioList>, TooMany> {
        let corners = allow(self.extremes(), limit)?;
        let mut points = ScenarioList::new(self.dim());
        let mut xi = self.lower.clone();
        for corner in 0..corners {
            for (bit, &index) in self.free.iter().rev().enumerate() {
                xi[index] = if corner >> bit & 1 == 1 { self.upper[index] } else { self.lower[index] };
            }
            points.push(&xi);
        }
        Ok(Cow::Owned(points))
    }

    fn shape(&self, part: &Part) -> Option<Shape> {
        let lower: Vec<f64> = self.lower.iter().zip(&part.lower).map(|(own, part)| own.max(*part)).collect();
        let upper: Vec<f64> = self.upper.iter().zip(&part.upper).map(|(own, part)| own.min(*part)).collect();
        Some(Shape { polytope: Some(Polytope::between(&lower, &upper)), ball: None })
    }

    fn levels(&self, entry: usize) -> Option<Vec<f64>> {
        let (lower, upper) = (self.lower[entry], self.upper[entry]);
        Some(if lower < upper { vec![lower, upper] } else { vec![lower] })
    }

    fn heeds_trends(&self) -> bool {
        true
    }

    fn chord(&self, xi: &[f64], direction: &[f64]) -> (f64, f64) {
        chord::between(
            (0..xi.len()).map(|index| (xi[index] - self.lower[index], self.upper[index] - xi[index], direction[index])),
        )
    }

    /// The corners, where Q is convex, else all of the box. Entries in which Q is monotone stay at their better end.
    fn states(&self, spec: &StateSpec) -> Result<Box<dyn States + '_>, SetError> {
        let mut corner = self.lower.clone();
        let mut moves = Vec::new();
        for &index in &self.free {
            match spec.trend(index) {
                Trend::Rising => corner[index] = self.upper[index],
                Trend::Falling => {}
                Trend::Unknown => moves.push(index),
            }
        }
        if spec.convex || moves.is_empty() {
            let ends = moves.iter().map(|&index| (index, self.upper[index])).collect();
            return Ok(Box::new(BoxCorners::new(corner, ends)));
        }
        let half = |index: usize| 0.5 * self.upper[index] - 0.5 * self.lower[index];
        moves.iter().for_each(|&index| corner[index] = self.lower[index].midpoint(self.upper[index]));
        let columns = moves.iter().map(|&index| MapColumn::of_entry(index, half(index))).collect();
        Ok(Box::new(Body::new(corner.into(), columns, BodyShape::Cube)))
    }

    fn describe(&self) -> Option<SetDefinition> {
        Some(SetDefinition::Box { lower: self.lower.clone(), upper: self.upper.clone() })
    }
}
