//! The Moreau envelope of the recourse cost: a smooth function of x that is never above Q and nearly as large.

use super::{Problem, Sparse};

impl Problem {
    /// The problem over the same decisions and the same set whose recourse cost is
    ///
    /// ```text
    /// Q_τ(x, ξ) = min over v of { Q(v, ξ) + |v − x|² / 2τ }
    /// ```
    ///
    /// with v anywhere, in X or not (Section 3.1 of the paper). Its recourse variables are y and, after them, the move
    /// `d = v − x`. The slope in x is the envelope's gradient `−d / τ`, and there is only one. A cut for Q_τ is one for
    /// Q, since `Q_τ ≤ Q`; and `Q − Q_τ ≤ τ/2·|s|²` for every subgradient s of Q at x, so that the error is at most
    /// `τ/2·L²` where Q has the Lipschitz modulus L in all of space. Where there is no recourse at x but at some v, the
    /// envelope is finite and Q is not: it is then a lower bound and no more.
    ///
    /// τ must be positive.
    pub fn moreau(&self, tau: f64) -> Problem {
        let mut problem = Problem { engine: None, ..self.clone() };
        let (first, moves) = (self.first.dim(), self.recourse.dim());
        let to = &mut problem.recourse;
        to.g = Sparse::new(moves + first);
        for row in 0..self.recourse.rows() {
            let moved = self.recourse.e.row(row).map(|(j, value)| (moves + j, value));
            to.g.push_row(self.recourse.g.row(row).chain(moved));
        }
        for j in 0..first {
            to.cost.push(0.0);
            to.cost_xi.push_row([]);
            to.quadratic.push(moves + j, moves + j, tau.recip());
            to.lower.push(f64::NEG_INFINITY);
            to.upper.push(f64::INFINITY);
            problem.names.recourse.push(format!("the move of {}", self.names.first[j]));
        }
        problem
    }
}
