//! Sparse LU factors of a square matrix, with solves in place.
//!
//! A basis of a sparse program is nearly triangular. Columns with one entry in the rows left are eliminated first, then
//! rows with one entry in the columns left; only what remains, the nucleus, is factored by faer. With rows and columns
//! in this order the matrix is
//!
//! ```text
//! U₁₁  U₁₂  U₁₃     U₁₁ upper triangular: the column singletons
//!  0   L₂₂   0      L₂₂ lower triangular: the row singletons
//!  0   L₃₂   N      N the nucleus
//! ```
//!
//! A solve visits the columns of the matrix itself, without fill-in, and skips those whose entry of the solution is
//! zero.

use std::sync::Arc;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::temp_mat_scratch;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::lu::{LuRef, LuSymbolicParams, NumericLu, SymbolicLu, factorize_symbolic_lu};
use faer::sparse::{SparseColMat, Triplet};
use faer::{Conj, MatMut, Par};

/// A row singleton is eliminated if its entry is at least this share of the largest one left in its column: that bounds
/// the multipliers. The nucleus takes the others.
const PIVOT_SHARE: f64 = 0.1;

/// LU factors with the working memory of a solve, so that solves do not allocate.
pub(super) struct Lu {
    factors: Arc<Factors>,
    work: Vec<f64>,
    scratch: MemBuffer,
}

struct Factors {
    columns: Steps,
    rows: Steps,
    nucleus: Option<Nucleus>,
}

/// Eliminations of one column and one row each, in order.
#[derive(Default)]
struct Steps {
    steps: Vec<Step>,
    entries: Vec<(u32, f64)>,
}

/// An elimination. The other entries of its column are those from the end of the previous step up to `end`.
#[derive(Clone, Copy)]
struct Step {
    row: u32,
    col: u32,
    pivot: f64,
    end: u32,
}

/// The rows and columns left, and the factors of their matrix. `above` has the entries of these columns in the rows of
/// column singletons.
struct Nucleus {
    rows: Vec<u32>,
    cols: Vec<u32>,
    above: Vec<(u32, f64)>,
    ends: Vec<u32>,
    symbolic: SymbolicLu<usize>,
    numeric: NumericLu<usize, f64>,
}

impl Lu {
    /// Factors the matrix with the given entries, at most one at each place. Returns `None` if it is singular. The size
    /// must be positive.
    pub(super) fn new(size: usize, entries: &[Triplet<usize, usize, f64>]) -> Option<Self> {
        let mut elimination = Elimination::new(size, entries);
        let columns = elimination.eliminate_columns();
        let rows = elimination.eliminate_rows();
        let nucleus = if columns.steps.len() + rows.steps.len() < size { Some(elimination.nucleus()?) } else { None };
        Self::with_memory(size, Arc::new(Factors { columns, rows, nucleus }))
    }

    fn with_memory(size: usize, factors: Arc<Factors>) -> Option<Self> {
        // No nucleus is larger than the matrix.
        let scratch = MemBuffer::try_new(temp_mat_scratch::<f64>(size, 1)).ok()?;
        Some(Self { factors, work: vec![0.0; 2 * size], scratch })
    }

    /// Makes `slot` use the factors of `self`. Allocates only if `slot` is empty. All factors of one pool have the same
    /// size, hence the same need of memory.
    pub(super) fn share_with(&self, slot: &mut Option<Lu>) -> Option<()> {
        match slot {
            Some(lu) => lu.factors = Arc::clone(&self.factors),
            None => *slot = Some(Self::with_memory(self.work.len() / 2, Arc::clone(&self.factors))?),
        }
        Some(())
    }

    /// Computes `values = M⁻¹ values`.
    pub(super) fn solve(&mut self, values: &mut [f64]) {
        let Factors { columns, rows, nucleus } = &*self.factors;
        let (solution, work) = self.work.split_at_mut(values.len());
        let mut start = 0;
        for step in &rows.steps {
            step.solve(&rows.entries[start..step.end as usize], values, solution);
            start = step.end as usize;
        }
        if let Some(nucleus) = nucleus {
            nucleus.solve(values, solution, work, &mut self.scratch);
        }
        for (index, step) in columns.steps.iter().enumerate().rev() {
            step.solve(columns.entries_of(index), values, solution);
        }
        values.copy_from_slice(solution);
    }

    /// Computes `values = M⁻ᵀ values`.
    pub(super) fn solve_transpose(&mut self, values: &mut [f64]) {
        let Factors { columns, rows, nucleus } = &*self.factors;
        let (solution, work) = self.work.split_at_mut(values.len());
        let mut start = 0;
        for step in &columns.steps {
            step.solve_transpose(&columns.entries[start..step.end as usize], values, solution);
            start = step.end as usize;
        }
        if let Some(nucleus) = nucleus {
            nucleus.solve_transpose(values, solution, work, &mut self.scratch);
        }
        for (index, step) in rows.steps.iter().enumerate().rev() {
            step.solve_transpose(rows.entries_of(index), values, solution);
        }
        values.copy_from_slice(solution);
    }
}

impl Steps {
    fn entries_of(&self, index: usize) -> &[(u32, f64)] {
        let start = index.checked_sub(1).map_or(0, |last| self.steps[last].end);
        &self.entries[start as usize..self.steps[index].end as usize]
    }
}

impl Step {
    /// Computes the solution at the column from the right-hand side at the row, and subtracts the column's other
    /// entries times it from the right-hand side.
    fn solve(&self, others: &[(u32, f64)], rhs: &mut [f64], solution: &mut [f64]) {
        let mut value = rhs[self.row as usize];
        if value != 0.0 {
            value /= self.pivot;
            others.iter().for_each(|&(row, entry)| rhs[row as usize] -= entry * value);
        }
        solution[self.col as usize] = value;
    }

    /// Computes the solution at the row from the right-hand side at the column and the solution at the column's other
    /// entries.
    fn solve_transpose(&self, others: &[(u32, f64)], rhs: &[f64], solution: &mut [f64]) {
        let known: f64 = others.iter().map(|&(row, entry)| entry * solution[row as usize]).sum();
        solution[self.row as usize] = (rhs[self.col as usize] - known) / self.pivot;
    }
}

impl Nucleus {
    fn new(
        rows: Vec<u32>,
        cols: Vec<u32>,
        above: Vec<(u32, f64)>,
        ends: Vec<u32>,
        entries: &[Triplet<usize, usize, f64>],
    ) -> Option<Self> {
        let matrix = SparseColMat::<usize, f64>::try_new_from_triplets(rows.len(), cols.len(), entries).ok()?;
        // Dense supernodes would only cost time.
        let params = LuSymbolicParams {
            supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SIMPLICIAL,
            ..Default::default()
        };
        let symbolic = factorize_symbolic_lu(matrix.symbolic(), params).ok()?;
        let mut numeric = NumericLu::new();
        let mut work =
            MemBuffer::try_new(symbolic.factorize_numeric_lu_scratch::<f64>(Par::Seq, Default::default())).ok()?;
        symbolic
            .factorize_numeric_lu(&mut numeric, matrix.as_ref(), Par::Seq, MemStack::new(&mut work), Default::default())
            .ok()?;
        let nucleus = Self { rows, cols, above, ends, symbolic, numeric };
        nucleus.is_regular().then_some(nucleus)
    }

    /// Returns whether solves give numbers: faer does not refuse a pivot of zero.
    fn is_regular(&self) -> bool {
        let mut probe = vec![1.0; self.rows.len()];
        let Ok(mut scratch) = MemBuffer::try_new(temp_mat_scratch::<f64>(probe.len(), 1)) else { return false };
        self.solve_inner(&mut probe, &mut scratch);
        probe.iter().all(|value| value.is_finite())
    }

    fn factors(&self) -> LuRef<'_, usize, f64> {
        LuRef::new_unchecked(&self.symbolic, &self.numeric)
    }

    /// Computes `values = N⁻¹ values`.
    fn solve_inner(&self, values: &mut [f64], scratch: &mut MemBuffer) {
        if values.iter().any(|value| *value != 0.0) {
            let size = values.len();
            let side = MatMut::from_column_major_slice_mut(values, size, 1);
            self.factors().solve_in_place_with_conj(Conj::No, side, Par::Seq, MemStack::new(scratch));
        }
    }

    fn solve(&self, rhs: &mut [f64], solution: &mut [f64], work: &mut [f64], scratch: &mut MemBuffer) {
        let inner = &mut work[..self.rows.len()];
        inner.iter_mut().zip(&self.rows).for_each(|(inner, &row)| *inner = rhs[row as usize]);
        self.solve_inner(inner, scratch);
        let mut start = 0;
        for ((&col, &end), &value) in self.cols.iter().zip(&self.ends).zip(&work[..self.cols.len()]) {
            solution[col as usize] = value;
            if value != 0.0 {
                self.above[start..end as usize].iter().for_each(|&(row, entry)| rhs[row as usize] -= entry * value);
            }
            start = end as usize;
        }
    }

    fn solve_transpose(&self, rhs: &[f64], solution: &mut [f64], work: &mut [f64], scratch: &mut MemBuffer) {
        let inner = &mut work[..self.cols.len()];
        let mut start = 0;
        for ((&col, &end), inner) in self.cols.iter().zip(&self.ends).zip(inner.iter_mut()) {
            let above = self.above[start..end as usize].iter();
            let known: f64 = above.map(|&(row, entry)| entry * solution[row as usize]).sum();
            *inner = rhs[col as usize] - known;
            start = end as usize;
        }
        if inner.iter().any(|value| *value != 0.0) {
            let size = inner.len();
            let side = MatMut::from_column_major_slice_mut(inner, size, 1);
            self.factors().solve_transpose_in_place_with_conj(Conj::No, side, Par::Seq, MemStack::new(scratch));
        }
        work.iter().zip(&self.rows).for_each(|(value, &row)| solution[row as usize] = *value);
    }
}

/// The state of an elimination: the matrix, and for each row and column the entries that are left.
struct Elimination {
    /// Entries by columns, and the places of the entries of each row among them.
    columns: Lines,
    rows: Lines,
    row_left: Vec<Left>,
    col_left: Vec<Left>,
    is_row_done: Vec<bool>,
    is_col_done: Vec<bool>,
}

/// The number of entries left in a line, and the sum of their indices: the index of the last one.
#[derive(Clone, Copy, Default)]
struct Left {
    count: u32,
    sum: u64,
}

impl Left {
    fn add(&mut self, index: u32) {
        self.count += 1;
        self.sum += u64::from(index);
    }

    fn remove(&mut self, index: u32) {
        self.count -= 1;
        self.sum -= u64::from(index);
    }
}

/// The rows or the columns of a sparse matrix.
struct Lines {
    starts: Vec<usize>,
    entries: Vec<(u32, f64)>,
}

impl Lines {
    /// Of `count` lines; each entry comes with its line and its index in the line.
    fn new(count: usize, entries: impl Iterator<Item = (usize, usize, f64)> + Clone) -> Self {
        let mut starts = vec![0; count + 1];
        entries.clone().for_each(|(line, ..)| starts[line + 1] += 1);
        for line in 0..count {
            starts[line + 1] += starts[line];
        }
        let (mut next, mut lines) = (starts.clone(), vec![(0, 0.0); starts[count]]);
        for (line, index, value) in entries {
            lines[next[line]] = (index as u32, value);
            next[line] += 1;
        }
        Self { starts, entries: lines }
    }

    fn line(&self, line: usize) -> &[(u32, f64)] {
        &self.entries[self.starts[line]..self.starts[line + 1]]
    }
}

impl Elimination {
    fn new(size: usize, entries: &[Triplet<usize, usize, f64>]) -> Self {
        let entries = entries.iter().filter(|entry| entry.val != 0.0);
        let columns = Lines::new(size, entries.clone().map(|entry| (entry.col, entry.row, entry.val)));
        let rows = Lines::new(size, entries.clone().map(|entry| (entry.row, entry.col, entry.val)));
        let (mut row_left, mut col_left) = (vec![Left::default(); size], vec![Left::default(); size]);
        for entry in entries {
            row_left[entry.row].add(entry.col as u32);
            col_left[entry.col].add(entry.row as u32);
        }
        let (is_row_done, is_col_done) = (vec![false; size], vec![false; size]);
        Self { columns, rows, row_left, col_left, is_row_done, is_col_done }
    }

    /// Eliminates columns with one entry left, until there are none.
    fn eliminate_columns(&mut self) -> Steps {
        let mut steps = Steps::default();
        let mut singletons: Vec<u32> =
            (0..self.col_left.len() as u32).filter(|&col| self.col_left[col as usize].count == 1).collect();
        while let Some(col) = singletons.pop() {
            // The row of its entry may have been taken by another column, which leaves this one without an entry.
            if self.col_left[col as usize].count != 1 {
                continue;
            }
            let row = self.col_left[col as usize].sum as u32;
            steps.push(row, col, self.columns.line(col as usize));
            self.finish(row, col);
            for &(other, _) in self.rows.line(row as usize) {
                self.col_left[other as usize].remove(row);
                if self.col_left[other as usize].count == 1 && !self.is_col_done[other as usize] {
                    singletons.push(other);
                }
            }
        }
        steps
    }

    /// Eliminates rows with one entry left, until there are none whose entry is large enough. This creates no column
    /// with one entry.
    fn eliminate_rows(&mut self) -> Steps {
        let mut steps = Steps::default();
        for row in 0..self.row_left.len() {
            self.row_left[row] = Left::default();
            let left = self.rows.line(row).iter().filter(|(col, _)| !self.is_col_done[*col as usize]);
            left.for_each(|&(col, _)| self.row_left[row].add(col));
        }
        let is_single = |row: u32| !self.is_row_done[row as usize] && self.row_left[row as usize].count == 1;
        let mut singletons: Vec<u32> = (0..self.row_left.len() as u32).filter(|&row| is_single(row)).collect();
        while let Some(row) = singletons.pop() {
            if self.row_left[row as usize].count != 1 {
                continue;
            }
            let col = self.row_left[row as usize].sum as u32;
            let column = self.columns.line(col as usize);
            let left = column.iter().filter(|(other, _)| !self.is_row_done[*other as usize]);
            let largest = left.fold(0.0_f64, |most, (_, entry)| most.max(entry.abs()));
            let pivot = column.iter().find(|(other, _)| *other == row).map_or(0.0, |(_, entry)| entry.abs());
            if pivot < PIVOT_SHARE * largest {
                continue;
            }
            steps.push(row, col, column);
            self.finish(row, col);
            for &(other, _) in self.columns.line(col as usize) {
                self.row_left[other as usize].remove(col);
                if self.row_left[other as usize].count == 1 && !self.is_row_done[other as usize] {
                    singletons.push(other);
                }
            }
        }
        steps
    }

    fn finish(&mut self, row: u32, col: u32) {
        self.is_row_done[row as usize] = true;
        self.is_col_done[col as usize] = true;
    }

    /// Factors what is left.
    fn nucleus(&self) -> Option<Nucleus> {
        let open = |is_done: &[bool]| (0..is_done.len() as u32).filter(|&i| !is_done[i as usize]).collect::<Vec<_>>();
        let (rows, cols) = (open(&self.is_row_done), open(&self.is_col_done));
        let mut inner_row = vec![0; self.is_row_done.len()];
        rows.iter().enumerate().for_each(|(inner, &row)| inner_row[row as usize] = inner);
        let (mut above, mut ends, mut entries) = (Vec::new(), Vec::with_capacity(cols.len()), Vec::new());
        for (inner_col, &col) in cols.iter().enumerate() {
            for &(row, value) in self.columns.line(col as usize) {
                match self.is_row_done[row as usize] {
                    true => above.push((row, value)),
                    false => entries.push(Triplet::new(inner_row[row as usize], inner_col, value)),
                }
            }
            ends.push(above.len() as u32);
        }
        Nucleus::new(rows, cols, above, ends, &entries)
    }
}

impl Steps {
    fn push(&mut self, row: u32, col: u32, column: &[(u32, f64)]) {
        let mut pivot = 0.0;
        for &(other, entry) in column {
            match other == row {
                true => pivot = entry,
                false => self.entries.push((other, entry)),
            }
        }
        self.steps.push(Step { row, col, pivot, end: self.entries.len() as u32 });
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::run::{Purpose, Random, stream};

    fn product(size: usize, entries: &[Triplet<usize, usize, f64>], values: &[f64], is_transposed: bool) -> Vec<f64> {
        let mut out = vec![0.0; size];
        for entry in entries {
            let (to, from) = if is_transposed { (entry.col, entry.row) } else { (entry.row, entry.col) };
            out[to] += entry.val * values[from];
        }
        out
    }

    /// A triangular matrix but for a dense part of this size, in a random order of rows and columns. The dense part is
    /// the first one of an upper triangle, or the last one of a lower triangle, where rows are singletons.
    fn matrix(size: usize, dense: usize, is_upper: bool, random: &mut Random) -> Vec<Triplet<usize, usize, f64>> {
        let mut order = || {
            let mut order: Vec<usize> = (0..size).collect();
            (1..size).for_each(|i| order.swap(i, random.random_range(0..=i)));
            order
        };
        let (rows, cols) = (order(), order());
        let is_dense = |line: usize| if is_upper { line < dense } else { line >= size - dense };
        let mut entries = Vec::new();
        for (row, col) in (0..size).flat_map(|row| (0..size).map(move |col| (row, col))) {
            let is_beside = if is_upper { row < col } else { row > col } && random.random::<f64>() < 0.1;
            if row == col || is_dense(row) && is_dense(col) || is_beside {
                // Entries differ by decades, so that not every singleton is a good pivot.
                let value = 10.0_f64.powf(random.random_range(-1.0..1.0)) * if random.random() { 1.0 } else { -1.0 };
                entries.push(Triplet::new(rows[row], cols[col], value));
            }
        }
        entries
    }

    #[test]
    fn solves_satisfy_the_equations_of_nearly_triangular_and_of_dense_matrices() {
        let mut random = stream(3, Purpose::Start, 0);
        let (mut columns, mut rows, mut inner) = (0, 0, 0);
        for (size, dense) in [(1, 1), (12, 1), (12, 5), (40, 1), (40, 20), (40, 40)].repeat(20) {
            let is_upper = random.random();
            let entries = matrix(size, dense, is_upper, &mut random);
            let mut slot = Some(Lu::new(size, &matrix(size, dense, !is_upper, &mut random)).unwrap());
            Lu::new(size, &entries).unwrap().share_with(&mut slot).unwrap();
            let lu = slot.as_mut().unwrap();
            columns += lu.factors.columns.steps.len();
            rows += lu.factors.rows.steps.len();
            inner += lu.factors.nucleus.as_ref().map_or(0, |nucleus| nucleus.rows.len());
            for is_transposed in [false, true] {
                let mut entry = || if random.random::<f64>() < 0.2 { random.random_range(-1.0..1.0) } else { 0.0 };
                let right: Vec<f64> = (0..size).map(|_| entry()).collect();
                let mut values = right.clone();
                if is_transposed {
                    lu.solve_transpose(&mut values)
                } else {
                    lu.solve(&mut values)
                };
                let largest = values.iter().fold(1.0_f64, |most, value| most.max(value.abs()));
                let product = product(size, &entries, &values, is_transposed);
                for (product, right) in product.iter().zip(&right) {
                    assert!((product - right).abs() <= 1e-9 * largest, "{size} {dense}: {product} {right}");
                }
            }
        }
        assert!(columns > 200 && rows > 200 && inner > 200, "{columns} {rows} {inner}");
    }

    #[test]
    fn a_singular_matrix_has_no_factors() {
        let entry = |row, col, value| Triplet::new(row, col, value);
        assert!(Lu::new(2, &[entry(0, 0, 1.0), entry(0, 1, 1.0)]).is_none());
        assert!(Lu::new(2, &[entry(0, 0, 1.0), entry(1, 1, 0.0)]).is_none());
        let dense = [entry(0, 0, 1.0), entry(0, 1, 2.0), entry(1, 0, 2.0), entry(1, 1, 4.0)];
        assert!(Lu::new(2, &dense).is_none());
        assert!(Lu::new(2, &[entry(0, 1, 1.0), entry(1, 0, -2.0)]).is_some());
    }
}
