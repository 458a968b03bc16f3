//! Sparse LU factors of a square matrix, with solves in place that skip zeros.
//!
//! A basis of a sparse program is nearly triangular, and the right-hand sides of the simplex method are mostly zero. So
//! a solve visits the columns of the entries that are not zero, and a transposed solve the rows.

use std::sync::Arc;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::perm::PermRef;
use faer::sparse::linalg::colamd;
use faer::sparse::linalg::lu::simplicial::{
    SimplicialLu, factorize_simplicial_numeric_lu, factorize_simplicial_numeric_lu_scratch,
};
use faer::sparse::{SparseColMat, SparseColMatRef, Triplet};

/// LU factors with the working memory of a solve, so that solves do not allocate.
pub(super) struct Lu {
    factors: Arc<Factors>,
    work: Vec<f64>,
}

/// `M[rows[i], cols[j]] = (L U)[i, j]`, where the diagonal of L is 1.
struct Factors {
    rows: Vec<u32>,
    cols: Vec<u32>,
    /// The reciprocals of the diagonal of U.
    reciprocals: Vec<f64>,
    /// Both factors without their diagonals, by columns and by rows.
    lower: SparseLines,
    lower_rows: SparseLines,
    upper: SparseLines,
    upper_rows: SparseLines,
}

/// The columns of a sparse matrix, or its rows.
struct SparseLines {
    /// The end of each line in `entries`.
    ends: Vec<usize>,
    entries: Vec<(u32, f64)>,
}

impl SparseLines {
    /// The columns of a triangular factor without its diagonal.
    fn off_diagonal(factor: SparseColMatRef<'_, usize, f64>) -> Self {
        let mut lines = Self { ends: Vec::with_capacity(factor.ncols()), entries: Vec::new() };
        for col in 0..factor.ncols() {
            let column = factor.row_idx_of_col(col).zip(factor.val_of_col(col));
            lines.entries.extend(column.filter(|(row, _)| *row != col).map(|(row, value)| (row as u32, *value)));
            lines.ends.push(lines.entries.len());
        }
        lines
    }

    fn transpose(&self) -> Self {
        let mut ends = vec![0; self.ends.len()];
        self.entries.iter().for_each(|(line, _)| ends[*line as usize] += 1);
        let mut end = 0;
        for count in &mut ends {
            // For now the beginning of the line; each entry below moves it on.
            end += std::mem::replace(count, end);
        }
        let mut entries = vec![(0, 0.0); self.entries.len()];
        for line in 0..self.ends.len() {
            for &(other, value) in self.line(line) {
                let at = &mut ends[other as usize];
                entries[*at] = (line as u32, value);
                *at += 1;
            }
        }
        Self { ends, entries }
    }

    fn line(&self, line: usize) -> &[(u32, f64)] {
        let start = line.checked_sub(1).map_or(0, |last| self.ends[last]);
        &self.entries[start..self.ends[line]]
    }

    /// Subtracts this multiple of a line.
    fn subtract(&self, line: usize, multiple: f64, values: &mut [f64]) {
        self.line(line).iter().for_each(|&(at, entry)| values[at as usize] -= entry * multiple);
    }
}

impl Lu {
    /// Factors the matrix with the given entries. Returns `None` if it is singular. The size must be positive.
    pub(super) fn new(size: usize, entries: &[Triplet<usize, usize, f64>]) -> Option<Self> {
        let matrix = SparseColMat::<usize, f64>::try_new_from_triplets(size, size, entries).ok()?;
        let need = colamd::order_scratch::<usize>(size, size, matrix.compute_nnz())
            .or(factorize_simplicial_numeric_lu_scratch::<usize, f64>(size, size));
        let mut work = MemBuffer::try_new(need).ok()?;
        let stack = MemStack::new(&mut work);
        let (mut cols, mut cols_inverse) = (vec![0; size], vec![0; size]);
        colamd::order(&mut cols, &mut cols_inverse, matrix.symbolic(), Default::default(), stack).ok()?;
        let (mut rows, mut rows_inverse) = (vec![0; size], vec![0; size]);
        let mut lu = SimplicialLu::new();
        // Dense supernodes would only cost time on a matrix that is nearly triangular.
        factorize_simplicial_numeric_lu(
            &mut rows,
            &mut rows_inverse,
            &mut lu,
            matrix.as_ref(),
            PermRef::new_checked(&cols, &cols_inverse, size),
            stack,
        )
        .ok()?;
        let (lower, upper) = (lu.l_factor_unsorted(), lu.u_factor_unsorted());
        // The diagonal entry of a column of U is its last one.
        let reciprocals: Option<Vec<f64>> =
            (0..size).map(|col| upper.val_of_col(col).last().map(|pivot| pivot.recip())).collect();
        let (lower, upper) = (SparseLines::off_diagonal(lower), SparseLines::off_diagonal(upper));
        let short = |order: Vec<usize>| order.into_iter().map(|index| index as u32).collect();
        let factors = Factors {
            rows: short(rows),
            cols: short(cols),
            reciprocals: reciprocals?,
            lower_rows: lower.transpose(),
            lower,
            upper_rows: upper.transpose(),
            upper,
        };
        Some(Self { factors: Arc::new(factors), work: vec![0.0; size] })
    }

    /// Makes `slot` use the factors of `self`. Allocates only if `slot` is empty. All factors of one pool have the same
    /// size, hence the same need of working memory.
    pub(super) fn share_with(&self, slot: &mut Option<Lu>) {
        match slot {
            Some(lu) => lu.factors = Arc::clone(&self.factors),
            None => *slot = Some(Self { factors: Arc::clone(&self.factors), work: vec![0.0; self.work.len()] }),
        }
    }

    /// Computes `values = M⁻¹ values`.
    pub(super) fn solve(&mut self, values: &mut [f64]) {
        let (Factors { rows, cols, reciprocals, lower, upper, .. }, work) = (&*self.factors, &mut self.work[..]);
        work.iter_mut().zip(rows).for_each(|(work, row)| *work = values[*row as usize]);
        for col in 0..work.len() {
            if work[col] != 0.0 {
                lower.subtract(col, work[col], work);
            }
        }
        for col in (0..work.len()).rev() {
            if work[col] != 0.0 {
                work[col] *= reciprocals[col];
                upper.subtract(col, work[col], work);
            }
        }
        work.iter().zip(cols).for_each(|(work, col)| values[*col as usize] = *work);
    }

    /// Computes `values = M⁻ᵀ values`.
    pub(super) fn solve_transpose(&mut self, values: &mut [f64]) {
        let (Factors { rows, cols, reciprocals, lower_rows, upper_rows, .. }, work) =
            (&*self.factors, &mut self.work[..]);
        work.iter_mut().zip(cols).for_each(|(work, col)| *work = values[*col as usize]);
        for row in 0..work.len() {
            if work[row] != 0.0 {
                work[row] *= reciprocals[row];
                upper_rows.subtract(row, work[row], work);
            }
        }
        for row in (0..work.len()).rev() {
            if work[row] != 0.0 {
                lower_rows.subtract(row, work[row], work);
            }
        }
        work.iter().zip(rows).for_each(|(work, row)| values[*row as usize] = *work);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// A random matrix with entries off a permuted diagonal, and the dense one.
    fn random_matrix(size: usize, rng: &mut ChaCha8Rng) -> (Vec<Triplet<usize, usize, f64>>, Vec<Vec<f64>>) {
        let shift = rng.random_range(0..size);
        let mut dense = vec![vec![0.0; size]; size];
        for row in 0..size {
            dense[row][(row + shift) % size] = rng.random_range(0.5..2.0);
            for _ in 0..2 {
                dense[row][rng.random_range(0..size)] += rng.random_range(-1.0..1.0);
            }
        }
        let at = |row: usize, col: usize| Triplet::new(row, col, dense[row][col]);
        let all = (0..size).flat_map(|row| (0..size).map(move |col| (row, col)));
        (all.map(|(row, col)| at(row, col)).filter(|entry| entry.val != 0.0).collect(), dense)
    }

    #[test]
    fn solves_reproduce_right_hand_sides_and_units() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        for size in [1, 2, 5, 17, 60] {
            for _ in 0..20 {
                let (entries, dense) = random_matrix(size, &mut rng);
                let Some(mut lu) = Lu::new(size, &entries) else { continue };
                let unit = rng.random_range(0..size);
                let unit: Vec<f64> = (0..size).map(|row| f64::from(u8::from(row == unit))).collect();
                for right_side in [unit, (0..size).map(|_| rng.random_range(-1.0..1.0)).collect()] {
                    let (mut x, mut z) = (right_side.clone(), right_side.clone());
                    lu.solve(&mut x);
                    lu.solve_transpose(&mut z);
                    let tolerance = |of: &[f64]| 1e-9 * of.iter().fold(1.0, |most: f64, value| most.max(value.abs()));
                    for i in 0..size {
                        let product: f64 = (0..size).map(|j| dense[i][j] * x[j]).sum();
                        assert!((product - right_side[i]).abs() <= tolerance(&x), "size {size}: {product}");
                        let product: f64 = (0..size).map(|j| dense[j][i] * z[j]).sum();
                        assert!((product - right_side[i]).abs() <= tolerance(&z), "size {size}: {product}, transposed");
                    }
                }
            }
        }
    }

    #[test]
    fn a_singular_matrix_has_no_factors() {
        assert!(Lu::new(2, &[Triplet::new(0, 0, 1.0), Triplet::new(0, 1, 1.0)]).is_none());
    }
}
