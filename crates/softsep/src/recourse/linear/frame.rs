//! The fixed part of the linear recourse: everything but the right-hand sides that x and ξ move.

use crate::model::{Problem, Sparse};

/// `min cᵀy` over `lower ≤ y ≤ upper` and `row_lower − s ≤ Gy ≤ row_upper − s` with the shift `s = Ex + Uξ`.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    /// G by columns and by rows.
    pub(super) columns: Sparse,
    pub(super) by_rows: Sparse,
    pub(super) e: Sparse,
    pub(super) u: Sparse,
    /// B, one row per recourse variable; empty rows where costs are fixed.
    pub(super) cost_xi: Sparse,
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    pub(super) row_lower: Vec<f64>,
    pub(super) row_upper: Vec<f64>,
}

/// HiGHS's own feasibility tolerance: a basis is held to the same standard whoever tests it.
pub(super) const FEASIBLE: f64 = 1e-7;

impl Frame {
    pub(super) fn new(problem: &Problem) -> Self {
        let recourse = &problem.recourse;
        Self {
            columns: recourse.g.transpose(),
            by_rows: recourse.g.clone(),
            e: recourse.e.clone(),
            u: recourse.u.clone(),
            cost_xi: recourse.cost_xi.clone(),
            lower: recourse.lower.clone(),
            upper: recourse.upper.clone(),
            row_lower: recourse.row_lower.clone(),
            row_upper: recourse.row_upper.clone(),
        }
    }

    pub(super) fn cols(&self) -> usize {
        self.lower.len()
    }

    pub(super) fn rows(&self) -> usize {
        self.row_lower.len()
    }

    /// The bounds of a variable at `shift`: of y, or after all of these of a row's activity Gy.
    pub(super) fn bounds(&self, variable: usize, shift: &[f64]) -> (f64, f64) {
        match variable.checked_sub(self.cols()) {
            None => (self.lower[variable], self.upper[variable]),
            Some(row) => (self.row_lower[row] - shift[row], self.row_upper[row] - shift[row]),
        }
    }

    /// `Gᵀπ` for one column.
    pub(super) fn price(&self, col: usize, dual: &[f64]) -> f64 {
        self.columns.dot(col, dual)
    }

    /// Drops multipliers of infinite bounds: they are rounding errors, and would make the minorant invalid by their
    /// product with the shift.
    pub(super) fn clean(&self, dual: &mut [f64]) {
        for (i, pi) in dual.iter_mut().enumerate() {
            let bound = if *pi > 0.0 { self.row_lower[i] } else { self.row_upper[i] };
            if !bound.is_finite() {
                *pi = 0.0;
            }
        }
    }

    /// `slope_x = −Eᵀπ`, `slope_xi = −Uᵀπ`.
    pub(super) fn slopes(&self, dual: &[f64], slope_x: &mut [f64], slope_xi: &mut [f64]) {
        slope_x.fill(0.0);
        slope_xi.fill(0.0);
        self.e.transpose_mul_add(-1.0, dual, slope_x);
        self.u.transpose_mul_add(-1.0, dual, slope_xi);
    }

    /// The dual objective at shift 0, `Σ πᵢ·boundᵢ + Σ dⱼ·boundⱼ` with the reduced costs `d = cost − Gᵀπ`: a row or
    /// column with a positive multiplier stands at its lower bound, with a negative one at its upper. A multiplier
    /// whose bound is infinite must vanish; what is left of it is the solver's tolerance. With `cost` zero and π a ray
    /// this is the gain of a Farkas certificate.
    pub(super) fn dual_objective(&self, cost: Option<&[f64]>, dual: &[f64]) -> f64 {
        let at_bound = |multiplier: f64, lower: f64, upper: f64| {
            let bound = if multiplier > 0.0 { lower } else { upper };
            if bound.is_finite() { multiplier * bound } else { 0.0 }
        };
        let rows: f64 = (0..self.rows()).map(|i| at_bound(dual[i], self.row_lower[i], self.row_upper[i])).sum();
        let cols: f64 = (0..self.cols())
            .map(|j| {
                if self.lower[j] == 0.0 && (self.upper[j] == 0.0 || self.upper[j] == f64::INFINITY) {
                    return 0.0;
                }
                at_bound(cost.map_or(0.0, |cost| cost[j]) - self.price(j, dual), self.lower[j], self.upper[j])
            })
            .sum();
        rows + cols
    }
}
