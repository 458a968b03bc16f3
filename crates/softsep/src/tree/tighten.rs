//! Bounds of integers from the rows of X: what the other columns of a row leave, rounded. It makes most integers
//! bounded that have no bounds of their own.

use crate::model::FirstStage;

/// Passes over the rows at most.
const PASSES: usize = 10;

/// A bound further away than this is none: rounding in the row would show.
const FAR: f64 = 1e7;

/// How far above a whole number a bound must be, relative to its size, to be rounded down to it and not up: rows hold
/// within tolerances only.
const ROOM: f64 = 1e-6;

/// The sum of the least (or most) that the terms of a row can be, but for one: finite parts, and how many are not.
#[derive(Clone, Copy, Default)]
struct Activity {
    sum: f64,
    infinite: usize,
}

impl Activity {
    fn add(&mut self, part: f64) {
        if part.is_finite() {
            self.sum += part;
        } else {
            self.infinite += 1;
        }
    }

    fn without(&self, part: f64) -> Option<f64> {
        match (self.infinite, part.is_finite()) {
            (0, true) => Some(self.sum - part),
            (1, false) => Some(self.sum),
            _ => None,
        }
    }
}

/// Tightens the bounds of integers, which may cross where X is empty.
pub(super) fn tighten(first: &FirstStage, integers: &[usize], lower: &mut [f64], upper: &mut [f64]) {
    let mut is_integer = vec![false; first.dim()];
    integers.iter().for_each(|&j| is_integer[j] = true);
    for _ in 0..PASSES {
        let mut changed = false;
        for row in 0..first.rows.rows() {
            let (mut least, mut most) = (Activity::default(), Activity::default());
            let ends = |j: usize, entry: f64, lower: &[f64], upper: &[f64]| {
                if entry > 0.0 { (entry * lower[j], entry * upper[j]) } else { (entry * upper[j], entry * lower[j]) }
            };
            for (j, entry) in first.rows.row(row) {
                let (low, high) = ends(j, entry, lower, upper);
                least.add(low);
                most.add(high);
            }
            for (j, entry) in first.rows.row(row).filter(|&(j, _)| is_integer[j]) {
                let (low, high) = ends(j, entry, lower, upper);
                // entry·x_j ≤ row_upper − the least of the others, and ≥ row_lower − the most of the others.
                let below = least.without(low).map(|others| (first.row_upper[row] - others) / entry);
                let above = most.without(high).map(|others| (first.row_lower[row] - others) / entry);
                let (below, above) = if entry > 0.0 { (below, above) } else { (above, below) };
                if let Some(bound) = below.filter(|bound| bound.abs() < FAR) {
                    let bound = (bound + ROOM * bound.abs().max(1.0)).floor();
                    changed |= bound < upper[j];
                    upper[j] = upper[j].min(bound);
                }
                if let Some(bound) = above.filter(|bound| bound.abs() < FAR) {
                    let bound = (bound - ROOM * bound.abs().max(1.0)).ceil();
                    changed |= bound > lower[j];
                    lower[j] = lower[j].max(bound);
                }
            }
        }
        if !changed || integers.iter().any(|&j| lower[j] > upper[j]) {
            return;
        }
    }
}
