//! A simplex basis: one status per column and row.

/// The status of a column or row in a basis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BasisStatus {
    /// At its lower bound.
    Lower,
    /// Basic.
    Basic,
    /// At its upper bound.
    Upper,
    /// Free and nonbasic, at zero.
    Zero,
    /// Nonbasic at an unspecified bound.
    Nonbasic,
}

/// A basis, read from an [`Lp`](crate::Lp) or assembled from statuses. It fits any program of the same size, on any
/// thread.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Basis {
    pub(crate) cols: Vec<i32>,
    pub(crate) rows: Vec<i32>,
}

impl Basis {
    /// Assembles a basis from statuses.
    pub fn new(cols: impl IntoIterator<Item = BasisStatus>, rows: impl IntoIterator<Item = BasisStatus>) -> Self {
        Self { cols: cols.into_iter().map(encode).collect(), rows: rows.into_iter().map(encode).collect() }
    }

    /// Returns the basis of the same program with more rows, which are basic.
    pub fn extended(&self, rows: usize) -> Self {
        let mut longer = self.clone();
        longer.rows.resize(rows, encode(BasisStatus::Basic));
        longer
    }

    /// Status of a column.
    pub fn col(&self, col: usize) -> BasisStatus {
        decode(self.cols[col])
    }

    /// Status of a row.
    pub fn row(&self, row: usize) -> BasisStatus {
        decode(self.rows[row])
    }

    /// Sets the status of a column.
    pub fn set_col(&mut self, col: usize, status: BasisStatus) {
        self.cols[col] = encode(status);
    }

    /// Sets the status of a row.
    pub fn set_row(&mut self, row: usize, status: BasisStatus) {
        self.rows[row] = encode(status);
    }

    /// Whether no basis has been stored yet.
    pub fn is_empty(&self) -> bool {
        self.cols.is_empty() && self.rows.is_empty()
    }
}

fn decode(code: i32) -> BasisStatus {
    match code {
        0 => BasisStatus::Lower,
        1 => BasisStatus::Basic,
        2 => BasisStatus::Upper,
        3 => BasisStatus::Zero,
        _ => BasisStatus::Nonbasic,
    }
}

fn encode(status: BasisStatus) -> i32 {
    match status {
        BasisStatus::Lower => 0,
        BasisStatus::Basic => 1,
        BasisStatus::Upper => 2,
        BasisStatus::Zero => 3,
        BasisStatus::Nonbasic => 4,
    }
}
