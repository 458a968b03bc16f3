//! From a basis of the master to one of the recourse.
//!
//! A basis that is optimal for x and y together has decisions among its basic variables. With x fixed where it is they
//! may leave, each for the variable that the dual ratio test names: y does not move, since a fixed variable leaves it
//! at no distance, and reduced costs keep their signs. What is left when all have gone is an optimal basis of the
//! recourse at that x.

use softsep_lp::{Basis, BasisStatus};

use super::frame::Frame;
use super::kernel::Kernel;
use super::pivot::Walk;
use crate::model::{Problem, Sparse};

impl Frame {
    /// The program over y, then x, with x fixed: the recourse's rows at some ξ, then those of the first stage.
    fn with_decisions(problem: &Problem) -> Self {
        let (first, recourse) = (&problem.first, &problem.recourse);
        let (y, x) = (recourse.dim(), first.dim());
        let mut by_rows = Sparse::new(y + x);
        for i in 0..recourse.rows() {
            by_rows.push_row(recourse.g.row(i).chain(recourse.e.row(i).map(|(j, value)| (y + j, value))));
        }
        for i in 0..first.rows.rows() {
            by_rows.push_row(first.rows.row(i).map(|(j, value)| (y + j, value)));
        }
        let with = |of_y: &[f64], of_x: &[f64]| of_y.iter().chain(of_x).copied().collect();
        // Where x is fixed does not matter to a basis.
        let fixed = vec![0.0; x];
        Self {
            columns: by_rows.transpose(),
            by_rows,
            e: Sparse::new(0),
            u: Sparse::new(0),
            cost_xi: Sparse::new(0),
            lower: with(&recourse.lower, &fixed),
            upper: with(&recourse.upper, &fixed),
            row_lower: with(&recourse.row_lower, &first.row_lower),
            row_upper: with(&recourse.row_upper, &first.row_upper),
        }
    }
}

/// The basis of a linear recourse with fixed costs that an optimal one of y and x leads to. Its columns are y, then x;
/// its rows those of the recourse, then of the first stage. `None` where that takes more pivots than it saves, or where
/// they get lost.
pub(crate) fn recourse_basis(problem: &Problem, joint: &Basis) -> Option<Basis> {
    let (y, rows) = (problem.recourse.dim(), problem.recourse.rows());
    let frame = Frame::with_decisions(problem);
    let cost: Vec<f64> = problem.recourse.cost.iter().chain(&problem.first.cost).copied().collect();
    let mut kernel = Kernel::new(&frame, joint)?;
    let mut dual = vec![0.0; frame.rows()];
    if !kernel.price(&frame, joint, &cost, &mut dual) {
        return None;
    }
    let mut walk = Walk::default();
    walk.expel(&frame, &mut kernel, joint, &cost, &dual, y..frame.cols())?;
    // No decision is basic, so all rows of the first stage are, and the others have a basis of their own.
    let is_split = (rows..frame.rows()).all(|row| walk.basis.row(row) == BasisStatus::Basic);
    is_split.then(|| Basis::new((0..y).map(|col| walk.basis.col(col)), (0..rows).map(|row| walk.basis.row(row))))
}
