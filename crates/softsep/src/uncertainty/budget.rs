//! A budget of uncertainty: few parameters deviate at a time (Bertsimas and Sim).

use std::borrow::Cow;

use super::patterns::{PatternKind, Patterns};
use super::states::{Body, BodyShape, BudgetPoints, MapColumn};
use super::{
    Count, Part, Polytope, SetDefinition, SetError, Shape, Sides, StateSpec, States, TooMany, Trend, Uncertainty,
    allow, check, chord, dot,
};
use crate::definition::{Complaints, ScenarioList};

/// A budget this close to an integer is that integer: `30 × 0.1` means 3, and a fraction of 4e-16 would multiply the
/// extreme points.
const INTEGRAL_TOL: f64 = 1e-9;

/// `ξ = center + scale∘z` with `0 ≤ z ≤ 1, Σz ≤ Γ` (one side) or `−1 ≤ z ≤ 1, Σ|z| ≤ Γ` (two sides).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Budget {
    /// Γ as it was given.
    budget: f64,
    sides: Sides,
    center: Vec<f64>,
    scale: Vec<f64>,
    /// The entries that can move: nonzero scale.
    free: Vec<usize>,
    /// The number of free entries that can deviate in full.
    full: usize,
    /// The deviation of one more entry, in [0, 1); zero if all free entries deviate in full.
    part: f64,
}

impl Budget {
    pub(super) fn build(
        set: &SetDefinition,
        parameters: &[String],
        place: &str,
        complaints: &mut Complaints,
    ) -> Option<Self> {
        let SetDefinition::Budget { budget, sides, center, scale } = set else { return None };
        let mut usable = check::finite(center, "center", parameters, place, complaints);
        usable &= check::finite(scale, "scale", parameters, place, complaints);
        if !(budget.is_finite() && *budget >= 0.0) {
            usable = false;
            if !budget.is_nan() {
                complaints.add(place, format!("\"budget\" is {budget}; it must be finite and not negative"));
            }
        } else if let Some(why) = check::unfit(*budget) {
            usable = false;
            complaints.add(place, format!("\"budget\" {why}"));
        }
        if !usable {
            return None;
        }
        let free: Vec<usize> = (0..parameters.len()).filter(|&index| scale[index] != 0.0).collect();
        let slack = INTEGRAL_TOL * budget.max(1.0);
        let floor = (budget + slack).floor();
        let part = if budget - floor > slack { budget - floor } else { 0.0 };
        let (full, part) = if floor >= free.len() as f64 { (free.len(), 0.0) } else { (floor as usize, part) };
        Some(Self { budget: *budget, sides: *sides, center: center.clone(), scale: scale.clone(), free, full, part })
    }

    /// The gain in `directionᵀξ` per unit of budget at an entry. One-sided entries with a loss stay at zero; entries
    /// that cannot move come last.
    fn gain(&self, direction: &[f64], index: usize) -> f64 {
        let gain = direction[index] * self.scale[index];
        match self.sides {
            Sides::One => gain.max(0.0),
            Sides::Two if self.scale[index] == 0.0 => -1.0,
            Sides::Two => gain.abs(),
        }
    }

    /// Its extreme points, as patterns over the free entries.
    fn patterns(&self) -> Patterns {
        let kind = match self.sides {
            Sides::One => PatternKind::AtMost,
            Sides::Two => PatternKind::EitherSide,
        };
        Patterns::new(kind, self.free.len(), self.full, self.part)
    }

    /// The sign that Q never falls with as z moves away from zero, for a free entry; zero if none is known.
    fn better_side(&self, spec: &StateSpec, index: usize) -> f64 {
        match spec.trend(index) {
            Trend::Rising => self.scale[index].signum(),
            Trend::Falling => -self.scale[index].signum(),
            Trend::Unknown => 0.0,
        }
    }
}

impl Uncertainty for Budget {
    fn kind(&self) -> &'static str {
        "budget"
    }

    fn dim(&self) -> usize {
        self.center.len()
    }

    /// An entry's deviation is first reduced by `tolerance`: dividing by a small scale would magnify rounding
    /// otherwise.
    fn contains(&self, xi: &[f64], tolerance: f64) -> bool {
        let mut spent = 0.0;
        for (index, xi) in xi.iter().enumerate() {
            let deviation = xi - self.center[index];
            let excess = deviation.abs() - tolerance;
            if excess.is_nan() {
                return false;
            } else if excess > 0.0 {
                let z = excess / self.scale[index].abs();
                let wrong_side = self.sides == Sides::One && deviation.signum() != self.scale[index].signum();
                if z > 1.0 + tolerance || wrong_side {
                    return false;
                }
                spent += z;
            }
        }
        spent <= self.budget + tolerance
    }

    /// Spends the budget where it earns most, on the first of equal entries. The only memory used is `xi` itself.
    fn support(&self, direction: &[f64], xi: &mut [f64]) -> Result<f64, SetError> {
        let all = self.full == self.free.len();
        let pivot = if all {
            f64::NEG_INFINITY
        } else {
            for (index, xi) in xi.iter_mut().enumerate() {
                *xi = self.gain(direction, index);
            }
            *xi.select_nth_unstable_by(self.full, |a, b| b.total_cmp(a)).1
        };
        // Entries above the pivot deviate in full; those equal to it share the rest of the budget, in their order.
        let above = self.free.iter().filter(|&&index| self.gain(direction, index) > pivot).count();
        let mut left = if all { 0 } else { self.full - above };
        let mut part = self.part;
        xi.copy_from_slice(&self.center);
        for &index in &self.free {
            let gain = self.gain(direction, index);
            let size = if gain > pivot {
                1.0
            } else if gain < pivot {
                0.0
            } else if left > 0 {
                left -= 1;
                1.0
            } else {
                std::mem::take(&mut part)
            };
            let sign = match self.sides {
                Sides::One if gain > 0.0 => 1.0,
                Sides::One => 0.0,
                Sides::Two if direction[index] * self.scale[index] < 0.0 => -1.0,
                Sides::Two => 1.0,
            };
            xi[index] += self.scale[index] * size * sign;
        }
        Ok(dot(direction, xi))
    }

    fn nominal(&self, xi: &mut [f64]) {
        xi.copy_from_slice(&self.center);
    }

    fn extremes(&self) -> Count {
        self.patterns().count()
    }

    /// In lexicographic order of z.
    fn enumerate(&self, limit: usize) -> Result<Cow<'_, ScenarioList>, TooMany> {
        allow(self.extremes(), limit)?;
        let mut points = ScenarioList::new(self.dim());
        let mut xi = self.center.clone();
        self.patterns().visit(|z| {
            for (&index, z) in self.free.iter().zip(z) {
                xi[index] = self.center[index] + self.scale[index] * z;
            }
            points.push(&xi);
        });
        Ok(Cow::Owned(points))
    }

    fn shape(&self, part: &Part) -> Option<Shape> {
        let budget = self.full as f64 + self.part;
        let one_sided = self.sides == Sides::One;
        Some(Shape {
            polytope: Some(Polytope::deviations(&self.center, &self.scale, budget, one_sided, part)),
            ball: None,
        })
    }

    fn levels(&self, entry: usize) -> Option<Vec<f64>> {
        let (center, scale) = (self.center[entry], self.scale[entry]);
        let mut levels: Vec<f64> = match scale == 0.0 {
            true => vec![center],
            false => self.patterns().levels().iter().map(|z| center + scale * z).collect(),
        };
        levels.sort_by(f64::total_cmp);
        Some(levels)
    }

    fn chord(&self, xi: &[f64], direction: &[f64]) -> (f64, f64) {
        // Along an entry that cannot move there is no way at all.
        if (0..xi.len()).any(|index| self.scale[index] == 0.0 && direction[index] != 0.0) {
            return (0.0, 0.0);
        }
        let entry = |&index: &usize| {
            ((xi[index] - self.center[index]) / self.scale[index], direction[index] / self.scale[index])
        };
        chord::deviations(self.free.iter().map(entry), self.full as f64 + self.part, self.sides == Sides::One)
    }

    fn heeds_trends(&self) -> bool {
        true
    }

    /// The extreme points where Q is convex, else the whole set. At extreme points of a one-sided set, an entry whose
    /// deviation never raises Q stays at its center; if all others are known to raise Q, all of the budget is spent.
    fn states(&self, spec: &StateSpec) -> Result<Box<dyn States + '_>, SetError> {
        let budget = self.full as f64 + self.part;
        if !spec.convex && budget > 0.0 {
            // No entry deviates by more than the budget.
            let unit = budget.min(1.0);
            let columns = self.free.iter().map(|&index| MapColumn::of_entry(index, unit * self.scale[index])).collect();
            let form = BodyShape::Deviations { budget: budget / unit, one_sided: self.sides == Sides::One };
            return Ok(Box::new(Body::new((&self.center).into(), columns, form)));
        }
        let better = |index: usize| self.better_side(spec, index);
        let one_sided = self.sides == Sides::One;
        let moving = || self.free.iter().copied().filter(|&index| !(one_sided && better(index) < 0.0));
        let all_known = moving().all(|index| better(index) != 0.0);
        let (kind, moves): (PatternKind, Vec<(usize, f64)>) = match all_known {
            true => (PatternKind::Spent, moving().map(|index| (index, better(index) * self.scale[index])).collect()),
            false => (self.patterns().kind, moving().map(|index| (index, self.scale[index])).collect()),
        };
        let patterns = Patterns::new(kind, moves.len(), self.full, self.part);
        Ok(Box::new(BudgetPoints::new(&self.center, moves, patterns)))
    }

    fn describe(&self) -> Option<SetDefinition> {
        Some(SetDefinition::Budget {
            budget: self.budget,
            sides: self.sides,
            center: self.center.clone(),
            scale: self.scale.clone(),
        })
    }
}
