//! Convexity of the quadratic part of a cost: its matrix must be positive semidefinite.

use std::collections::BTreeMap;

use faer::sparse::{SparseColMat, Triplet};
use faer::{Mat, Side};

use super::Symmetric;

/// Parts up to this size are decided by their eigenvalues, larger ones by a sparse Cholesky factorization.
const DENSE: usize = 200;

/// A part of the matrix that is not positive semidefinite.
#[derive(Debug, PartialEq)]
pub(super) struct Indefinite {
    /// Its variables.
    pub(super) variables: Vec<usize>,
    /// Its smallest eigenvalue, where that is cheap to know.
    pub(super) eigenvalue: Option<f64>,
}

/// The first of the independent parts of `matrix` that is not positive semidefinite. Parts are taken one by one, since
/// their sizes, not that of the whole, decide the cost.
pub(super) fn find_indefinite(matrix: &Symmetric, dim: usize) -> Option<Indefinite> {
    let mut parts: BTreeMap<usize, Vec<(usize, usize, f64)>> = BTreeMap::new();
    let mut roots = UnionFind((0..dim).collect());
    for (i, j, _) in matrix.iter() {
        roots.join(i, j);
    }
    for (i, j, value) in matrix.iter() {
        parts.entry(roots.find(i)).or_default().push((i, j, value));
    }
    parts.values().find_map(|entries| indefinite_part(entries))
}

fn indefinite_part(entries: &[(usize, usize, f64)]) -> Option<Indefinite> {
    let mut variables: Vec<usize> = entries.iter().flat_map(|&(i, j, _)| [i, j]).collect();
    variables.sort_unstable();
    variables.dedup();
    let n = variables.len();
    let local = |variable: usize| variables.partition_point(|&other| other < variable);
    // Scaled to entries of at most 1, so that nothing overflows and one tolerance fits all.
    let largest = entries.iter().fold(0.0_f64, |largest, entry| largest.max(entry.2.abs()));
    let scaled = entries.iter().map(|&(i, j, value)| (local(i), local(j), value / largest));
    // A matrix written with ten digits is off by up to 5e-11 of its largest entries, and its eigenvalues by up to n
    // times that; the tolerance is a hundred times as large, so that F'F in decimals passes and a wrong sign does not.
    let tolerance = 5e-9 * n as f64;
    if n <= DENSE {
        let mut dense = Mat::<f64>::zeros(n, n);
        for (i, j, value) in scaled {
            (dense[(i, j)], dense[(j, i)]) = (value, value);
        }
        let smallest = match dense.self_adjoint_eigenvalues(Side::Lower) {
            Ok(eigenvalues) => eigenvalues.into_iter().fold(f64::INFINITY, f64::min),
            // The iteration did not converge, which proves nothing about the matrix; the solvers have checks of their
            // own.
            Err(_) => return None,
        };
        return (smallest < -tolerance).then_some(Indefinite { variables, eigenvalue: Some(smallest * largest) });
    }
    let diagonal = (0..n).map(|i| Triplet::new(i, i, tolerance));
    let shifted: Vec<_> = scaled.map(|(i, j, value)| Triplet::new(i, j, value)).chain(diagonal).collect();
    let factorizes = SparseColMat::<usize, f64>::try_new_from_triplets(n, n, &shifted)
        .is_ok_and(|shifted| shifted.sp_cholesky(Side::Lower).is_ok());
    (!factorizes).then_some(Indefinite { variables, eigenvalue: None })
}

/// Which variables are tied to which, as trees of pointers to a common root.
struct UnionFind(Vec<usize>);

impl UnionFind {
    fn find(&mut self, mut i: usize) -> usize {
        while self.0[i] != i {
            // Halves the path, which keeps all later walks short.
            self.0[i] = self.0[self.0[i]];
            i = self.0[i];
        }
        i
    }

    fn join(&mut self, i: usize, j: usize) {
        let (i, j) = (self.find(i), self.find(j));
        self.0[i.max(j)] = i.min(j);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symmetric(entries: &[(usize, usize, f64)]) -> Symmetric {
        let mut matrix = Symmetric::default();
        entries.iter().for_each(|&(i, j, value)| matrix.push(i, j, value));
        matrix
    }

    #[test]
    fn semidefinite_matrices_pass_and_indefinite_ones_are_found_with_their_eigenvalue() {
        assert_eq!(find_indefinite(&symmetric(&[]), 3), None);
        assert_eq!(find_indefinite(&symmetric(&[(0, 0, 1.0), (0, 1, 1.0), (1, 1, 1.0)]), 2), None, "on the boundary");
        let wrong = symmetric(&[(0, 0, 5.0), (2, 2, 1e200), (2, 3, 2e200), (3, 3, 1e200)]);
        let found =
            find_indefinite(&wrong, 4).map(|found| (found.variables, found.eigenvalue.map(|value| value / 1e200)));
        assert!(matches!(found, Some((variables, Some(value))) if variables == [2, 3] && (value + 1.0).abs() < 1e-12));
        let no_diagonal = find_indefinite(&symmetric(&[(0, 1, 1.0)]), 2);
        assert!(no_diagonal.is_some());
    }

    #[test]
    fn a_long_chain_is_decided_without_a_dense_matrix() {
        let n = 50_000;
        let chain = |corner: f64| {
            let mut entries: Vec<_> = (0..n).map(|i| (i, i, if i == 0 { corner } else { 2.0 })).collect();
            entries.extend((1..n).map(|i| (i, i - 1, -1.0)));
            find_indefinite(&symmetric(&entries), n)
        };
        assert_eq!(chain(2.0), None);
        assert!(chain(-1.0).is_some_and(|found| found.variables.len() == n && found.eigenvalue.is_none()));
    }
}
