//! Which recourse variables of a policy depend on which entries of ξ.

use crate::model::Problem;

/// For each recourse variable the entries of ξ that it follows, in ascending order; none for a variable that is decided once for all ξ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dependence(Vec<Vec<usize>>);

impl Dependence {
    /// Every variable follows every entry that moves anything.
    pub(crate) fn full(problem: &Problem) -> Self {
        Self::of(problem, |_| true)
    }

    /// The variables that `adapts` names follow every entry that moves anything, the others none.
    pub(crate) fn of(problem: &Problem, adapts: impl Fn(usize) -> bool) -> Self {
        let mut moves = vec![false; problem.set.dim()];
        for row in 0..problem.recourse.rows() {
            problem.recourse.u.row(row).for_each(|(entry, _)| moves[entry] = true);
        }
        let entries: Vec<usize> = (0..moves.len()).filter(|&entry| moves[entry]).collect();
        Self((0..problem.recourse.dim()).map(|j| if adapts(j) { entries.clone() } else { Vec::new() }).collect())
    }

    /// The entries that variable `j` follows.
    pub(super) fn of_variable(&self, j: usize) -> &[usize] {
        &self.0[j]
    }

    /// How many coefficients a policy has.
    pub(crate) fn coefficients(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }
}
