//! Constraints that are tightened so that a policy from a solver can be repaired.
//!
//! A constraint with two sides may be used up by the policy on both: its variation over the region is then the whole
//! width, and a solver's tolerance more. No constant repairs such slopes. The program is solved again with these
//! constraints tightened by more than they were missed by.

use crate::model::Problem;

/// The number of times that constraints are tightened for one policy.
pub(crate) const MAX_TIGHTENINGS: usize = 3;

/// The multiple of a miss by which a constraint is tightened on each side.
const MISS_FACTOR: f64 = 2.0;

/// The largest share of a constraint's width by which each side is tightened.
const MAX_SHARE: f64 = 0.25;

/// A constraint that a policy misses, by its position among the cost, the rows and the variables, and by how much.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Miss {
    pub(crate) constraint: usize,
    pub(crate) amount: f64,
}

/// By how much each constraint is tightened: the cost, the rows, the variables.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct ConstraintMargins {
    margins: Vec<f64>,
}

impl ConstraintMargins {
    /// Tightens the constraints that were missed. Returns false if none of them can be tightened, as equations cannot.
    pub(crate) fn grow(&mut self, problem: &Problem, misses: &[Miss]) -> bool {
        let recourse = &problem.recourse;
        self.margins.resize(1 + recourse.rows() + recourse.dim(), 0.0);
        let mut has_grown = false;
        for miss in misses {
            let (lower, upper) = match miss.constraint.checked_sub(1) {
                None => continue,
                Some(row) if row < recourse.rows() => (recourse.row_lower[row], recourse.row_upper[row]),
                Some(other) => (recourse.lower[other - recourse.rows()], recourse.upper[other - recourse.rows()]),
            };
            let margin = &mut self.margins[miss.constraint];
            let grown = (*margin + MISS_FACTOR * miss.amount).min(MAX_SHARE * (upper - lower));
            has_grown |= grown > *margin;
            *margin = margin.max(grown);
        }
        has_grown
    }

    /// Returns the tightened sides of a constraint; infinite ones stay.
    pub(super) fn sides(&self, constraint: usize, (lower, upper): (f64, f64)) -> (f64, f64) {
        let margin = self.margins.get(constraint).copied().unwrap_or(0.0);
        (lower + margin, upper - margin)
    }
}
