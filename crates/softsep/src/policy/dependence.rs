//! Which recourse variables of a policy depend on which entries of ξ.

use crate::model::Problem;

/// For each recourse variable the entries of ξ that it follows, in ascending order; none for a variable that is decided once for all ξ.
///
/// Dependence on a few directions of ξ instead, such as slopes of worst scenarios, was tried: on location–transportation with 50 customers and budgets
/// four to eight of them took a bound of 26 % above the worst case to 25 %.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dependence {
    follows: Vec<Vec<usize>>,
    /// The entries that move anything.
    entries: Vec<usize>,
}

impl Dependence {
    /// No variable follows anything.
    pub(crate) fn fixed(problem: &Problem) -> Self {
        let mut moves = vec![false; problem.set.dim()];
        for row in 0..problem.recourse.rows() {
            problem.recourse.u.row(row).for_each(|(entry, _)| moves[entry] = true);
        }
        let entries = (0..moves.len()).filter(|&entry| moves[entry]).collect();
        Self { follows: vec![Vec::new(); problem.recourse.dim()], entries }
    }

    /// Every variable follows every entry that moves anything.
    pub(crate) fn full(problem: &Problem) -> Self {
        Self::of(problem, |_| true)
    }

    /// The variables that `adapts` names follow every entry that moves anything, the others none.
    pub(crate) fn of(problem: &Problem, adapts: impl Fn(usize) -> bool) -> Self {
        let mut dependence = Self::fixed(problem);
        for (_, follows) in dependence.follows.iter_mut().enumerate().filter(|(j, _)| adapts(*j)) {
            follows.clone_from(&dependence.entries);
        }
        dependence
    }

    /// The variables that `adapts` names follow the entries in their own rows, and with every further hop those in the rows of variables that share a
    /// row with them.
    pub(crate) fn local(problem: &Problem, adapts: impl Fn(usize) -> bool, hops: usize) -> Self {
        let recourse = &problem.recourse;
        let of_row = |row: usize| recourse.u.row(row).map(|(entry, _)| entry).collect::<Vec<_>>();
        let mut near: Vec<Vec<usize>> = (0..recourse.rows()).map(of_row).collect();
        let columns = recourse.g.transpose();
        let union = |lists: &[Vec<usize>], of: &mut dyn Iterator<Item = usize>| {
            let mut all: Vec<usize> = of.flat_map(|list| lists[list].iter().copied()).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let mut follows: Vec<Vec<usize>> = Vec::new();
        for hop in 0..hops.max(1) {
            if hop > 0 {
                near = (0..recourse.rows()).map(|row| union(&follows, &mut recourse.g.row(row).map(|(j, _)| j))).collect();
            }
            follows = (0..recourse.dim()).map(|j| union(&near, &mut columns.row(j).map(|(row, _)| row))).collect();
        }
        for (j, follows) in follows.iter_mut().enumerate() {
            if !adapts(j) {
                follows.clear();
            }
        }
        Self { follows, ..Self::fixed(problem) }
    }

    /// What variable `j` follows.
    pub(super) fn of_variable(&self, j: usize) -> &[usize] {
        &self.follows[j]
    }

    /// Lets a variable follow one thing more.
    pub(super) fn add(&mut self, j: usize, followed: usize) {
        if let Err(place) = self.follows[j].binary_search(&followed) {
            self.follows[j].insert(place, followed);
        }
    }

    /// Lets a variable that follows nothing follow all entries that move anything.
    pub(crate) fn include(&mut self, j: usize) {
        if self.follows[j].is_empty() {
            self.add_all(j);
        }
    }

    /// Lets a variable follow all entries that move anything.
    pub(super) fn add_all(&mut self, j: usize) {
        self.follows[j].clone_from(&self.entries);
    }

    /// The entries that move anything.
    pub(super) fn entries(&self) -> &[usize] {
        &self.entries
    }

    /// Whether every variable follows all entries that move anything, or none.
    pub(super) fn is_whole(&self) -> bool {
        self.follows.iter().all(|follows| follows.is_empty() || *follows == self.entries)
    }

    /// How many coefficients a policy has.
    pub(crate) fn coefficients(&self) -> usize {
        self.follows.iter().map(Vec::len).sum()
    }
}
