//! Lemma 1's selection among optimal duals: the one with the least ‖Eᵀπ‖₁, hence the shortest subgradient in x.

use softsep_lp::{Lp, LpError, Model, Status, Toggle};

use super::frame::{FEASIBLE, Frame};
use crate::model::Sparse;

/// The program `min Σt` over `−t ≤ Eᵀπ ≤ t` and the optimal face of the dual, kept: from solve to solve only bounds
/// change.
///
/// The paper writes the face by the equation `πᵀ(h − Ex − Uξ) = Q`. We write it by complementary slackness with an
/// optimal y, which is the same set and needs no tolerance on an objective value: π vanishes on slack rows, and `Gᵀπ`
/// meets the cost of every y between its bounds.
pub(super) struct Face {
    lp: Lp,
    /// Bounds of π and t, then of the rows `Gᵀπ` (one per column of G) and the two rows per entry of x.
    col_lower: Vec<f64>,
    col_upper: Vec<f64>,
    row_lower: Vec<f64>,
    row_upper: Vec<f64>,
    values: Vec<f64>,
}

impl Face {
    pub(super) fn new(frame: &Frame) -> Result<Self, LpError> {
        let (rows, dim) = (frame.rows(), frame.e.cols());
        let mut model = Model::new();
        for _ in 0..rows {
            model.add_col(0.0, f64::NEG_INFINITY, f64::INFINITY);
        }
        for _ in 0..dim {
            model.add_col(1.0, 0.0, f64::INFINITY);
        }
        for j in 0..frame.cols() {
            let terms: Vec<_> = frame.columns.row(j).collect();
            model.add_row(f64::NEG_INFINITY, f64::INFINITY, &terms);
        }
        let by_x: Sparse = frame.e.transpose();
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
        let mut row_lower = vec![0.0; frame.cols() + 2 * dim];
        let mut row_upper = row_lower.clone();
        for k in 0..dim {
            row_upper[frame.cols() + 2 * k] = f64::INFINITY;
            row_lower[frame.cols() + 2 * k + 1] = f64::NEG_INFINITY;
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

    /// Replaces `dual` by the selected one among those that are optimal together with `y`. Keeps it if the program has
    /// no answer.
    pub(super) fn select(
        &mut self,
        frame: &Frame,
        cost: &[f64],
        shift: &[f64],
        y: &[f64],
        dual: &mut [f64],
    ) -> Result<bool, LpError> {
        // The selection must not depend on what was asked before.
        self.lp.forget()?;
        let mut activity = vec![0.0; frame.rows()];
        frame.columns.transpose_mul_add(1.0, y, &mut activity);
        let near = |value: f64, bound: f64| {
            bound.is_finite() && (value - bound).abs() <= 10.0 * FEASIBLE * bound.abs().max(1.0)
        };
        for i in 0..frame.rows() {
            let activity = activity[i] + shift[i];
            self.col_upper[i] = if near(activity, frame.row_lower[i]) { f64::INFINITY } else { 0.0 };
            self.col_lower[i] = if near(activity, frame.row_upper[i]) { f64::NEG_INFINITY } else { 0.0 };
        }
        for j in 0..frame.cols() {
            // At its lower bound y needs a reduced cost cost − Gᵀπ ≥ 0, at its upper one ≤ 0, in between none.
            self.row_upper[j] = if near(y[j], frame.upper[j]) { f64::INFINITY } else { cost[j] };
            self.row_lower[j] = if near(y[j], frame.lower[j]) { f64::NEG_INFINITY } else { cost[j] };
        }
        self.lp.set_col_bounds(&self.col_lower, &self.col_upper)?;
        self.lp.set_row_bounds(&self.row_lower, &self.row_upper)?;
        if self.lp.solve()? != Status::Optimal {
            return Ok(false);
        }
        self.lp.primal(&mut self.values)?;
        dual.copy_from_slice(&self.values[..frame.rows()]);
        Ok(true)
    }
}
