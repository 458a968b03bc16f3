//! A budget of uncertainty: few parameters deviate at a time (Bertsimas and Sim).

use std::borrow::Cow;

use super::{Count, Part, Polytope, SetError, Shape, TooMany, Uncertainty, allow, check, counted, dot};
use crate::format::{Complaints, Points, SetFile, Sides};

/// A budget so near to a whole number is that number: `30 × 0.1` means 3, and a fraction of 4e-16 would multiply the extreme points.
const WHOLE: f64 = 1e-9;

/// `ξ = center + scale∘z` with `0 ≤ z ≤ 1, Σz ≤ Γ` (one side) or `−1 ≤ z ≤ 1, Σ|z| ≤ Γ` (two sides).
#[derive(Debug, Clone, PartialEq)]
pub struct Budget {
    /// Γ as it was given.
    budget: f64,
    sides: Sides,
    center: Vec<f64>,
    scale: Vec<f64>,
    /// The entries that can move: nonzero scale.
    free: Vec<usize>,
    /// How many free entries can deviate in full.
    full: usize,
    /// How far one more can deviate, in [0, 1); zero if all free entries deviate in full.
    part: f64,
}

impl Budget {
    pub(super) fn build(set: &SetFile, parameters: &[String], place: &str, complaints: &mut Complaints) -> Option<Self> {
        let SetFile::Budget { budget, sides, center, scale } = set else { return None };
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
        let slack = WHOLE * budget.max(1.0);
        let whole = (budget + slack).floor();
        let part = if budget - whole > slack { budget - whole } else { 0.0 };
        let (full, part) = if whole >= free.len() as f64 { (free.len(), 0.0) } else { (whole as usize, part) };
        Some(Self { budget: *budget, sides: *sides, center: center.clone(), scale: scale.clone(), free, full, part })
    }

    /// What a unit of budget earns at an entry. One-sided entries that would lose stay at zero; entries that cannot move come last.
    fn gain(&self, direction: &[f64], index: usize) -> f64 {
        let gain = direction[index] * self.scale[index];
        match self.sides {
            Sides::One => gain.max(0.0),
            Sides::Two if self.scale[index] == 0.0 => -1.0,
            Sides::Two => gain.abs(),
        }
    }

    /// The values that an entry of z takes at extreme points.
    fn levels_of_z(&self) -> Vec<f64> {
        match (self.sides, self.part > 0.0) {
            (Sides::One, false) => vec![0.0, 1.0],
            (Sides::One, true) => vec![0.0, self.part, 1.0],
            (Sides::Two, false) => vec![-1.0, 0.0, 1.0],
            (Sides::Two, true) => vec![-1.0, -self.part, 0.0, self.part, 1.0],
        }
    }

    /// Calls `visit` with the z of every extreme point (free entries only), in lexicographic order.
    ///
    /// On one side these are the 0/1 vectors with at most ⌊Γ⌋ ones and, for a fractional Γ, the vectors with ⌊Γ⌋ ones and one entry
    /// equal to the fraction. On two sides the budget is spent in full: ⌊Γ⌋ entries at ±1 and, for a fractional Γ, one at ± the
    /// fraction.
    fn visit_extremes(&self, mut visit: impl FnMut(&[f64])) {
        let levels = self.levels_of_z();
        let last = self.free.len();
        let mut z = vec![0.0; last];
        // The level that each entry tries next, and how many entries before it deviate in full and in part.
        let mut next = vec![0; last + 1];
        let mut before = vec![(0, 0); last + 1];
        let mut position = 0;
        loop {
            if position == last {
                visit(&z);
            }
            while position == last || next[position] == levels.len() {
                if position == 0 {
                    return;
                }
                position -= 1;
            }
            let level = levels[next[position]];
            next[position] += 1;
            let (full, parts) = before[position];
            let (full, parts) = match level.abs() {
                0.0 => (full, parts),
                1.0 => (full + 1, parts),
                _ => (full, parts + 1),
            };
            if self.can_be_completed(full, parts, last - position - 1) {
                z[position] = level;
                position += 1;
                next[position] = 0;
                before[position] = (full, parts);
            }
        }
    }

    /// Whether `left` more entries can complete an extreme point that has `full` entries deviating in full and `parts` in part.
    fn can_be_completed(&self, full: usize, parts: usize, left: usize) -> bool {
        if full > self.full || parts > 1 {
            return false;
        }
        let wanted = match self.sides {
            Sides::One if parts == 0 => 0,
            Sides::One => self.full - full,
            Sides::Two => self.full - full + usize::from(self.part > 0.0) - parts,
        };
        wanted <= left
    }
}

/// `n` over `k`, if it fits.
fn choose(n: usize, k: usize) -> Option<u128> {
    let k = k.min(n - k);
    // Each partial product is itself a binomial coefficient, so the division leaves no remainder.
    (0..k as u128).try_fold(1_u128, |product, i| Some(product.checked_mul(n as u128 - i)? / (i + 1)))
}

impl Uncertainty for Budget {
    fn kind(&self) -> &'static str {
        "budget"
    }

    fn dim(&self) -> usize {
        self.center.len()
    }

    /// An entry's deviation is first reduced by `tolerance`: dividing by a small scale would magnify rounding otherwise.
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
        // Entries above the pivot deviate in full; those equal to it share what is left, in their order.
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
        let free = self.free.len();
        let fractional = self.part > 0.0;
        counted(match self.sides {
            Sides::One if self.full == free => u32::try_from(free).ok().and_then(|free| 2_u128.checked_pow(free)),
            Sides::One => (0..=self.full).try_fold(0_u128, |sum, ones| sum.checked_add(choose(free, ones)?)).and_then(|whole| {
                match fractional {
                    true => whole.checked_add(choose(free, self.full)?.checked_mul((free - self.full) as u128)?),
                    false => Some(whole),
                }
            }),
            Sides::Two => choose(free, self.full)
                .and_then(|which| which.checked_mul(2_u128.checked_pow(u32::try_from(self.full).ok()?)?))
                .and_then(|whole| if fractional { whole.checked_mul(2 * (free - self.full) as u128) } else { Some(whole) }),
        })
    }

    /// In lexicographic order of z.
    fn enumerate(&self, limit: usize) -> Result<Cow<'_, Points>, TooMany> {
        allow(self.extremes(), limit)?;
        let mut points = Points::new(self.dim());
        let mut xi = self.center.clone();
        self.visit_extremes(|z| {
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
        Some(Shape { polytope: Some(Polytope::deviations(&self.center, &self.scale, budget, one_sided, part)), ball: None })
    }

    fn levels(&self, entry: usize) -> Option<Vec<f64>> {
        let (center, scale) = (self.center[entry], self.scale[entry]);
        let mut levels: Vec<f64> = match scale == 0.0 {
            true => vec![center],
            false => self.levels_of_z().iter().map(|z| center + scale * z).collect(),
        };
        levels.sort_by(f64::total_cmp);
        Some(levels)
    }

    fn describe(&self) -> SetFile {
        SetFile::Budget { budget: self.budget, sides: self.sides, center: self.center.clone(), scale: self.scale.clone() }
    }
}
