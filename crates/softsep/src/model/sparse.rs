//! A sparse matrix by rows: the few products that the solvers need, none of which allocates.

/// A matrix in compressed rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Sparse {
    cols: usize,
    start: Vec<usize>,
    index: Vec<u32>,
    value: Vec<f64>,
}

impl Sparse {
    /// A matrix with no rows yet.
    pub fn new(cols: usize) -> Self {
        Self { cols, start: vec![0], index: Vec::new(), value: Vec::new() }
    }

    /// Appends a row. Entries are kept in the order given; zeros are left out.
    pub(crate) fn push_row(&mut self, terms: impl IntoIterator<Item = (usize, f64)>) {
        for (col, value) in terms {
            debug_assert!(col < self.cols);
            if value != 0.0 {
                self.index.push(col as u32);
                self.value.push(value);
            }
        }
        self.start.push(self.index.len());
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.start.len() - 1
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Number of stored entries.
    pub fn nonzeros(&self) -> usize {
        self.index.len()
    }

    /// The entries of one row: column and value.
    #[inline]
    pub fn row(&self, row: usize) -> impl ExactSizeIterator<Item = (usize, f64)> + '_ {
        let range = self.start[row]..self.start[row + 1];
        self.index[range.clone()].iter().zip(&self.value[range]).map(|(&col, &value)| (col as usize, value))
    }

    /// The product of one row with a vector.
    #[inline]
    pub fn dot(&self, row: usize, vector: &[f64]) -> f64 {
        self.row(row).map(|(col, value)| value * vector[col]).sum()
    }

    /// `out += scale · M v`.
    pub fn mul_add(&self, scale: f64, vector: &[f64], out: &mut [f64]) {
        for (row, out) in out.iter_mut().enumerate() {
            *out += scale * self.dot(row, vector);
        }
    }

    /// `out += scale · Mᵀ v`.
    pub fn transpose_mul_add(&self, scale: f64, vector: &[f64], out: &mut [f64]) {
        for (row, &weight) in vector.iter().enumerate() {
            if weight != 0.0 {
                for (col, value) in self.row(row) {
                    out[col] += scale * weight * value;
                }
            }
        }
    }

    /// Multiplies each row by its scale.
    pub(crate) fn scale_rows(&mut self, scales: &[f64]) {
        for (row, scale) in scales.iter().enumerate() {
            self.value[self.start[row]..self.start[row + 1]].iter_mut().for_each(|value| *value *= scale);
        }
    }

    /// The matrix by columns.
    pub fn transpose(&self) -> Sparse {
        let mut start = vec![0; self.cols + 1];
        for &col in &self.index {
            start[col as usize + 1] += 1;
        }
        for col in 0..self.cols {
            start[col + 1] += start[col];
        }
        let mut next = start.clone();
        let mut index = vec![0; self.index.len()];
        let mut value = vec![0.0; self.index.len()];
        for row in 0..self.rows() {
            for (col, entry) in self.row(row) {
                index[next[col]] = row as u32;
                value[next[col]] = entry;
                next[col] += 1;
            }
        }
        Sparse { cols: self.rows(), start, index, value }
    }
}

/// A symmetric matrix by its entries on and below the diagonal: the quadratic part of a cost, `½ vᵀ M v`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Symmetric {
    entries: Vec<(u32, u32, f64)>,
}

impl Symmetric {
    /// Adds the entry of an unordered pair, which must be new.
    pub fn push(&mut self, i: usize, j: usize, value: f64) {
        if value != 0.0 {
            self.entries.push((i.max(j) as u32, i.min(j) as u32, value));
        }
    }

    /// Whether the matrix is zero.
    pub fn is_zero(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries (i, j, value), i ≥ j.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (usize, usize, f64)> + '_ {
        self.entries.iter().map(|&(i, j, value)| (i as usize, j as usize, value))
    }

    /// `½ vᵀ M v`.
    pub fn half_square(&self, vector: &[f64]) -> f64 {
        self.iter()
            .map(|(i, j, value)| {
                let product = value * vector[i] * vector[j];
                if i == j { 0.5 * product } else { product }
            })
            .sum()
    }

    /// `out += scale · M v`.
    pub fn mul_add(&self, scale: f64, vector: &[f64], out: &mut [f64]) {
        for (i, j, value) in self.iter() {
            out[i] += scale * value * vector[j];
            if i != j {
                out[j] += scale * value * vector[i];
            }
        }
    }
}
