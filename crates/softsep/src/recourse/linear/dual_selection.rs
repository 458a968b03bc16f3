//! Selection among optimal duals by Lemma 1: the one with the smallest ‖Eᵀπ‖₁, hence the shortest subgradient in x.

use softsep_lp::{Lp, LpError, Model, Status, Toggle};

use super::data::RecourseData;
use crate::model::Sparse;
use crate::numeric::tolerances::LP_FEASIBILITY_TOL;

/// The program `min Σt` over `−t ≤ Eᵀπ ≤ t` and the optimal face of the dual. It stays in HiGHS; only bounds change
/// between solves.
///
/// The paper defines the face by the equation `πᵀ(h − Ex − Uξ) = Q`. Here it is defined by complementary slackness with
/// an optimal y, which is the same set and needs no tolerance on an objective value: π is zero on rows with slack, and
/// `Gᵀπ` equals the cost of every y strictly between its bounds.
pub(super) struct DualSelection {
    lp: Lp,
    /// Bounds of π and t, then of the rows `Gᵀπ` (one per column of G) and of the two rows per entry of x.
    col_lower: Vec<f64>,
    col_upper: Vec<f64>,
    row_lower: Vec<f64>,
    row_upper: Vec<f64>,
    values: Vec<f64>,
}

impl DualSelection {
    pub(super) fn new(data: &RecourseData) -> Result<Self, LpError> {
        let (rows, dim) = (data.rows(), data.e.cols());
        let mut model = Model::new();
        for _ in 0..rows {
            model.add_col(0.0, f64::NEG_INFINITY, f64::INFINITY);
        }
        for _ in 0..dim {
            model.add_col(1.0, 0.0, f64::INFINITY);
        }
        for j in 0..data.cols() {
            let terms: Vec<_> = data.g_columns.row(j).collect();
            model.add_row(f64::NEG_INFINITY, f64::INFINITY, &terms);
        }
        let by_x: Sparse = data.e.transpose();
        for k in 0..dim {
            let mut terms: Vec<_> = by_x.row(k).collect();
            terms.push((rows + k, 1.0));
            model.add_row(0.0, f64::INFINITY, &terms);
            terms.pop();
            terms.push((rows + k, -1.0));
            model.add_row(f64::NEG_INFINITY, 0.0, &terms);
        }
        let mut lp = Lp::new(&model)?;
        lp.set_presolve(Toggle::Off)?;
        let mut row_lower = vec![0.0; data.cols() + 2 * dim];
        let mut row_upper = row_lower.clone();
        for k in 0..dim {
            row_upper[data.cols() + 2 * k] = f64::INFINITY;
            row_lower[data.cols() + 2 * k + 1] = f64::NEG_INFINITY;
        }
        let mut col_upper = vec![f64::INFINITY; rows + dim];
        col_upper[..rows].fill(0.0);
        Ok(Self {
            lp,
            col_lower: vec![0.0; rows + dim],
            col_upper,
            row_lower,
            row_upper,
            values: vec![0.0; rows + dim],
        })
    }

    /// Replaces `dual` by the selected one among the duals that are optimal together with `y`. Returns false and keeps
    /// `dual` if the program has no optimum.
    pub(super) fn select(
        &mut self,
        data: &RecourseData,
        cost: &[f64],
        shift: &[f64],
        y: &[f64],
        dual: &mut [f64],
    ) -> Result<bool, LpError> {
        // The selection must not depend on earlier solves.
        self.lp.clear_solver()?;
        let mut activity = vec![0.0; data.rows()];
        data.g_columns.transpose_mul_add(1.0, y, &mut activity);
        let near = |value: f64, bound: f64| {
            bound.is_finite() && (value - bound).abs() <= 10.0 * LP_FEASIBILITY_TOL * bound.abs().max(1.0)
        };
        for i in 0..data.rows() {
            let activity = activity[i] + shift[i];
            self.col_upper[i] = if near(activity, data.row_lower[i]) { f64::INFINITY } else { 0.0 };
            self.col_lower[i] = if near(activity, data.row_upper[i]) { f64::NEG_INFINITY } else { 0.0 };
        }
        for j in 0..data.cols() {
            // The reduced cost cost − Gᵀπ is ≥ 0 at a lower bound of y, ≤ 0 at an upper one and zero in between.
            self.row_upper[j] = if near(y[j], data.upper[j]) { f64::INFINITY } else { cost[j] };
            self.row_lower[j] = if near(y[j], data.lower[j]) { f64::NEG_INFINITY } else { cost[j] };
        }
        self.lp.set_col_bounds(&self.col_lower, &self.col_upper)?;
        self.lp.set_row_bounds(&self.row_lower, &self.row_upper)?;
        if self.lp.solve()? != Status::Optimal {
            return Ok(false);
        }
        self.lp.primal(&mut self.values)?;
        dual.copy_from_slice(&self.values[..data.rows()]);
        Ok(true)
    }
}
