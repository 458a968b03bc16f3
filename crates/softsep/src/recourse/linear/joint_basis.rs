//! Optimal basis of the recourse from an optimal basis of the master problem with one scenario copy.
//!
//! A basis that is optimal for x and y together has first-stage variables among its basic ones. With x fixed at its
//! value they can leave the basis, each exchanged for the variable of the dual ratio test: y does not change, since a
//! fixed variable leaves at step length zero, and reduced costs keep their signs. Once all have left, the rest is an
//! optimal basis of the recourse at that x.

use softsep_lp::{Basis, BasisStatus};

use super::basis_factors::BasisFactors;
use super::data::{RecourseData, nonzero_bound_cols};
use super::dual_simplex::DualSimplex;
use crate::model::{Problem, Sparse};

impl RecourseData {
    /// The program over y and x, in this order, with x fixed: the rows of the recourse, then those of the first stage.
    fn with_decisions(problem: &Problem) -> Self {
        let (first, recourse) = (&problem.first, &problem.recourse);
        let (y, x) = (recourse.dim(), first.dim());
        let mut g_rows = Sparse::new(y + x);
        for i in 0..recourse.rows() {
            g_rows.push_row(recourse.g.row(i).chain(recourse.e.row(i).map(|(j, value)| (y + j, value))));
        }
        for i in 0..first.rows.rows() {
            g_rows.push_row(first.rows.row(i).map(|(j, value)| (y + j, value)));
        }
        let with = |of_y: &[f64], of_x: &[f64]| -> Vec<f64> { of_y.iter().chain(of_x).copied().collect() };
        // The value at which x is fixed does not matter to a basis.
        let fixed = vec![0.0; x];
        let (lower, upper) = (with(&recourse.lower, &fixed), with(&recourse.upper, &fixed));
        Self {
            g_columns: g_rows.transpose(),
            g_rows,
            e: Sparse::new(0),
            u: Sparse::new(0),
            cost_xi: Sparse::new(0),
            nonzero_bound_cols: nonzero_bound_cols(&lower, &upper),
            lower,
            upper,
            row_lower: with(&recourse.row_lower, &first.row_lower),
            row_upper: with(&recourse.row_upper, &first.row_upper),
        }
    }
}

/// Derives an optimal basis of a linear recourse with fixed costs from an optimal basis `joint` of y and x.
///
/// The columns of `joint` are y, then x; its rows are those of the recourse, then those of the first stage. Returns
/// `None` if `joint` is singular or not dual feasible, or if the exchange takes too many pivots or unreliable ones.
pub(crate) fn recourse_basis(problem: &Problem, joint: &Basis) -> Option<Basis> {
    let (y, rows) = (problem.recourse.dim(), problem.recourse.rows());
    let data = RecourseData::with_decisions(problem);
    let cost: Vec<f64> = problem.recourse.cost.iter().chain(&problem.first.cost).copied().collect();
    let mut factors = BasisFactors::new(&data, joint)?;
    let mut dual = vec![0.0; data.rows()];
    if !factors.compute_dual(&data, joint, &cost, &mut dual) {
        return None;
    }
    let mut simplex = DualSimplex::default();
    simplex.drive_out_fixed(&data, &mut factors, joint, &cost, &dual, y..data.cols())?;
    // No first-stage variable is basic. If all rows of the first stage are, the rest is a basis of the recourse.
    let is_split = (rows..data.rows()).all(|row| simplex.basis.row(row) == BasisStatus::Basic);
    is_split.then(|| Basis::new((0..y).map(|col| simplex.basis.col(col)), (0..rows).map(|row| simplex.basis.row(row))))
}
