//! A cross-polytope: all deviations together are at most one, measured in units of each parameter's scale.

use std::borrow::Cow;

use super::states::{Body, BodyShape, CrossPolytope, MapColumn};
use super::{
    Count, Part, Polytope, SetDefinition, SetError, Shape, StateSpec, States, TooMany, Uncertainty, allow, check,
    chord, dot,
};
use crate::definition::{Complaints, ScenarioList};

/// `ξ = center + scale∘u`, `‖u‖₁ ≤ 1`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct L1 {
    center: Vec<f64>,
    scale: Vec<f64>,
    /// The entries that can move: nonzero scale.
    free: Vec<usize>,
}

impl L1 {
    pub(super) fn build(
        set: &SetDefinition,
        parameters: &[String],
        place: &str,
        complaints: &mut Complaints,
    ) -> Option<Self> {
        let SetDefinition::L1 { center, scale } = set else { return None };
        let mut usable = check::finite(center, "center", parameters, place, complaints);
        usable &= check::finite(scale, "scale", parameters, place, complaints);
        usable.then(|| Self {
            center: center.clone(),
            scale: scale.clone(),
            free: (0..parameters.len()).filter(|&index| scale[index] != 0.0).collect(),
        })
    }
}

impl Uncertainty for L1 {
    fn kind(&self) -> &'static str {
        "l1"
    }

    fn dim(&self) -> usize {
        self.center.len()
    }

    /// An entry's deviation is first reduced by `tolerance`: dividing by a small scale would magnify rounding
    /// otherwise.
    fn contains(&self, xi: &[f64], tolerance: f64) -> bool {
        let mut norm = 0.0;
        for (index, xi) in xi.iter().enumerate() {
            let deviation = (xi - self.center[index]).abs() - tolerance;
            if deviation.is_nan() {
                return false;
            } else if deviation > 0.0 {
                norm += deviation / self.scale[index].abs();
            }
        }
        norm <= 1.0 + tolerance
    }

    /// The whole deviation goes to the entry where it counts most, the first one on ties.
    fn support(&self, direction: &[f64], xi: &mut [f64]) -> Result<f64, SetError> {
        xi.copy_from_slice(&self.center);
        let gain = |index: usize| direction[index] * self.scale[index];
        if let Some(&first) = self.free.first() {
            let best = self
                .free
                .iter()
                .fold(first, |best, &index| if gain(index).abs() > gain(best).abs() { index } else { best });
            xi[best] += if gain(best) < 0.0 { -self.scale[best] } else { self.scale[best] };
        }
        Ok(dot(direction, xi))
    }

    fn nominal(&self, xi: &mut [f64]) {
        xi.copy_from_slice(&self.center);
    }

    fn extremes(&self) -> Count {
        Count::Exactly((2 * self.free.len() as u128).max(1))
    }

    /// Entry by entry, first `center − scale`, then `center + scale`.
    fn enumerate(&self, limit: usize) -> Result<Cow<'_, ScenarioList>, TooMany> {
        allow(self.extremes(), limit)?;
        let mut points = ScenarioList::new(self.dim());
        let mut xi = self.center.clone();
        for &index in &self.free {
            for deviation in [-self.scale[index], self.scale[index]] {
                xi[index] = self.center[index] + deviation;
                points.push(&xi);
            }
            xi[index] = self.center[index];
        }
        if points.is_empty() {
            points.push(&xi);
        }
        Ok(Cow::Owned(points))
    }

    fn shape(&self, part: &Part) -> Option<Shape> {
        Some(Shape { polytope: Some(Polytope::deviations(&self.center, &self.scale, 1.0, false, part)), ball: None })
    }

    fn levels(&self, entry: usize) -> Option<Vec<f64>> {
        let (center, scale) = (self.center[entry], self.scale[entry].abs());
        Some(match (scale == 0.0, self.free.len()) {
            (true, _) => vec![center],
            (false, 1) => vec![center - scale, center + scale],
            (false, _) => vec![center - scale, center, center + scale],
        })
    }

    fn chord(&self, xi: &[f64], direction: &[f64]) -> (f64, f64) {
        // Along an entry that cannot move there is no way at all.
        if (0..xi.len()).any(|index| self.scale[index] == 0.0 && direction[index] != 0.0) {
            return (0.0, 0.0);
        }
        let entry = |&index: &usize| {
            ((xi[index] - self.center[index]) / self.scale[index], direction[index] / self.scale[index])
        };
        chord::deviations(self.free.iter().map(entry), 1.0, false)
    }

    /// The extreme points, where Q is convex, else all of it.
    fn states(&self, spec: &StateSpec) -> Result<Box<dyn States + '_>, SetError> {
        if !spec.convex && !self.free.is_empty() {
            let columns = self.free.iter().map(|&index| MapColumn::of_entry(index, self.scale[index])).collect();
            let form = BodyShape::Deviations { budget: 1.0, one_sided: false };
            return Ok(Box::new(Body::new((&self.center).into(), columns, form)));
        }
        Ok(Box::new(CrossPolytope::new(
            &self.center,
            self.free.iter().map(|&index| (index, self.scale[index])).collect(),
        )))
    }

    fn describe(&self) -> Option<SetDefinition> {
        Some(SetDefinition::L1 { center: self.center.clone(), scale: self.scale.clone() })
    }
}
