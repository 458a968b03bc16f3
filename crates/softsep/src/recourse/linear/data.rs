//! Constant data of the linear recourse: all but the right-hand sides, which depend on x and ξ.

use crate::model::{Problem, Sparse};

/// Largest reduced cost that counts as rounding on a column without a bound, as a share of the terms that it is a sum
/// of.
const RESIDUAL_SHARE: f64 = 1e-13;

/// Rounding error of a multiplier that a simplex method computes, as a share of the largest one.
pub(super) const MULTIPLIER_ROUNDING: f64 = 1e-13;

/// The program `min cᵀy` over `lower ≤ y ≤ upper` and `row_lower − s ≤ Gy ≤ row_upper − s`, with the shift `s = Ex +
/// Uξ`.
#[derive(Debug, Clone)]
pub(super) struct RecourseData {
    /// G by columns, and by rows.
    pub(super) g_columns: Sparse,
    pub(super) g_rows: Sparse,
    pub(super) e: Sparse,
    pub(super) u: Sparse,
    /// B, one row per recourse variable. The rows are empty where costs are fixed.
    pub(super) cost_xi: Sparse,
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    pub(super) row_lower: Vec<f64>,
    pub(super) row_upper: Vec<f64>,
    /// The columns with a finite bound other than 0.
    pub(super) nonzero_bound_cols: Vec<usize>,
}

impl RecourseData {
    pub(super) fn new(problem: &Problem) -> Self {
        let recourse = &problem.recourse;
        Self {
            g_columns: recourse.g.transpose(),
            g_rows: recourse.g.clone(),
            e: recourse.e.clone(),
            u: recourse.u.clone(),
            cost_xi: recourse.cost_xi.clone(),
            lower: recourse.lower.clone(),
            upper: recourse.upper.clone(),
            row_lower: recourse.row_lower.clone(),
            row_upper: recourse.row_upper.clone(),
            nonzero_bound_cols: nonzero_bound_cols(&recourse.lower, &recourse.upper),
        }
    }

    pub(super) fn cols(&self) -> usize {
        self.lower.len()
    }

    pub(super) fn rows(&self) -> usize {
        self.row_lower.len()
    }

    /// Returns the bounds of a variable at `shift`. The variables are y first, then the row activities Gy.
    pub(super) fn bounds(&self, variable: usize, shift: &[f64]) -> (f64, f64) {
        match variable.checked_sub(self.cols()) {
            None => (self.lower[variable], self.upper[variable]),
            Some(row) => (self.row_lower[row] - shift[row], self.row_upper[row] - shift[row]),
        }
    }

    /// Returns the entry of `Gᵀπ` for one column.
    pub(super) fn col_dot(&self, col: usize, dual: &[f64]) -> f64 {
        self.g_columns.dot(col, dual)
    }

    /// Sets the multipliers of infinite bounds to zero. They are rounding errors, and their product with the shift
    /// would make the minorant invalid.
    pub(super) fn drop_infinite_bound_multipliers(&self, dual: &mut [f64]) {
        for (i, pi) in dual.iter_mut().enumerate() {
            let bound = if *pi > 0.0 { self.row_lower[i] } else { self.row_upper[i] };
            if !bound.is_finite() {
                *pi = 0.0;
            }
        }
    }

    /// Returns whether the dual objective of `dual` is a lower bound: on columns without the bound that its sign asks
    /// for, a reduced cost is at most [`RESIDUAL_SHARE`] of its own terms, or due to the rounding of multipliers. The
    /// multipliers of infinite bounds must be zero.
    ///
    /// The dual tolerance of HiGHS is absolute. A multiplier of −2e-9 of a row without an upper bound is within it; set
    /// to zero, it left all of the cost of a free column as its reduced cost, and a cut above Q by that times y = 6e6.
    pub(super) fn proves_bound(&self, cost: &[f64], dual: &[f64]) -> bool {
        let rounding = MULTIPLIER_ROUNDING * dual.iter().fold(0.0_f64, |most, pi| most.max(pi.abs()));
        (0..self.cols()).all(|j| {
            let (lower, upper) = (self.lower[j], self.upper[j]);
            if lower.is_finite() && upper.is_finite() {
                return true;
            }
            let reduced = cost[j] - self.col_dot(j, dual);
            let has_bound = if reduced > 0.0 { lower.is_finite() } else { upper.is_finite() };
            // Most reduced costs pass by the first comparison. NaN must not pass.
            has_bound
                || reduced.abs() <= RESIDUAL_SHARE * cost[j].abs()
                || reduced.abs() <= self.residual_tolerance(j, cost[j], dual, rounding)
        })
    }

    /// Largest reduced cost of a column that counts as zero, if multipliers are known up to `rounding`.
    pub(super) fn residual_tolerance(&self, col: usize, cost: f64, dual: &[f64], rounding: f64) -> f64 {
        let tolerance = |(row, value): (usize, f64)| value.abs() * (RESIDUAL_SHARE * dual[row].abs() + rounding);
        RESIDUAL_SHARE * cost.abs() + self.g_columns.row(col).map(tolerance).sum::<f64>()
    }

    /// Writes `slope_x = −Eᵀπ` and `slope_xi = −Uᵀπ`.
    pub(super) fn cut_slopes(&self, dual: &[f64], slope_x: &mut [f64], slope_xi: &mut [f64]) {
        slope_x.fill(0.0);
        slope_xi.fill(0.0);
        self.e.transpose_mul_add(-1.0, dual, slope_x);
        self.u.transpose_mul_add(-1.0, dual, slope_xi);
    }

    /// Returns the dual objective at shift 0, `Σ πᵢ·boundᵢ + Σ dⱼ·boundⱼ` with the reduced costs `d = cost − Gᵀπ`.
    ///
    /// A positive multiplier takes the lower bound of its row or column, a negative one the upper bound. A multiplier
    /// of an infinite bound must be zero up to the tolerance of the solver and is skipped. Without `cost` and with a
    /// ray π the value is the gain of a Farkas certificate.
    pub(super) fn dual_objective(&self, cost: Option<&[f64]>, dual: &[f64]) -> f64 {
        let at_bound = |multiplier: f64, lower: f64, upper: f64| {
            let bound = if multiplier > 0.0 { lower } else { upper };
            if bound.is_finite() { multiplier * bound } else { 0.0 }
        };
        let rows: f64 = (0..self.rows()).map(|i| at_bound(dual[i], self.row_lower[i], self.row_upper[i])).sum();
        let cols: f64 = self
            .nonzero_bound_cols
            .iter()
            .map(|&j| at_bound(cost.map_or(0.0, |cost| cost[j]) - self.col_dot(j, dual), self.lower[j], self.upper[j]))
            .sum();
        rows + cols
    }
}

/// Returns the columns with a finite bound other than 0: those that are not 0 where they are nonbasic.
pub(super) fn nonzero_bound_cols(lower: &[f64], upper: &[f64]) -> Vec<usize> {
    let moves = |bound: f64| bound.is_finite() && bound != 0.0;
    (0..lower.len()).filter(|&col| moves(lower[col]) || moves(upper[col])).collect()
}
