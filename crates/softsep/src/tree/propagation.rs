//! Bound propagation for integers: bounds that follow from the rows of X and the bounds of the other columns, rounded.
//! Most integers without bounds get bounds this way.

use crate::model::FirstStage;

/// Passes over the rows.
const MAX_PASSES: usize = 10;

/// Bounds above this are not used, since they carry the rounding error of the row.
const MAX_DERIVED_BOUND: f64 = 1e7;

/// Tolerance of rounding a bound to an integer, relative to its size: rows hold within tolerances only.
const ROUNDING_TOL: f64 = 1e-6;

/// Smallest or largest activity of a row: the sum of its finite terms and the number of infinite ones.
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

    fn without_term(&self, part: f64) -> Option<f64> {
        match (self.infinite, part.is_finite()) {
            (0, true) => Some(self.sum - part),
            (1, false) => Some(self.sum),
            _ => None,
        }
    }
}

/// Tightens the bounds of integers. They may cross if X is empty.
pub(super) fn propagate_bounds(first: &FirstStage, integers: &[usize], lower: &mut [f64], upper: &mut [f64]) {
    let mut is_integer = vec![false; first.dim()];
    integers.iter().for_each(|&j| is_integer[j] = true);
    for _ in 0..MAX_PASSES {
        let mut changed = false;
        for row in 0..first.rows.rows() {
            let (mut min_activity, mut max_activity) = (Activity::default(), Activity::default());
            let term_range = |j: usize, entry: f64, lower: &[f64], upper: &[f64]| {
                if entry > 0.0 { (entry * lower[j], entry * upper[j]) } else { (entry * upper[j], entry * lower[j]) }
            };
            for (j, entry) in first.rows.row(row) {
                let (low, high) = term_range(j, entry, lower, upper);
                min_activity.add(low);
                max_activity.add(high);
            }
            for (j, entry) in first.rows.row(row).filter(|&(j, _)| is_integer[j]) {
                let (low, high) = term_range(j, entry, lower, upper);
                // entry·x_j ≤ row_upper − smallest activity of the others, ≥ row_lower − largest activity of the
                // others.
                let below = min_activity.without_term(low).map(|others| (first.row_upper[row] - others) / entry);
                let above = max_activity.without_term(high).map(|others| (first.row_lower[row] - others) / entry);
                let (below, above) = if entry > 0.0 { (below, above) } else { (above, below) };
                if let Some(bound) = below.filter(|bound| bound.abs() < MAX_DERIVED_BOUND) {
                    let bound = (bound + ROUNDING_TOL * bound.abs().max(1.0)).floor();
                    changed |= bound < upper[j];
                    upper[j] = upper[j].min(bound);
                }
                if let Some(bound) = above.filter(|bound| bound.abs() < MAX_DERIVED_BOUND) {
                    let bound = (bound - ROUNDING_TOL * bound.abs().max(1.0)).ceil();
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
