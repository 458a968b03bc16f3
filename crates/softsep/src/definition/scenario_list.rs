//! A list of scenarios or of extreme points, in one flat array.

/// Scenarios (or extreme points of a set) of one dimension, row after row in one array.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ScenarioList {
    dim: usize,
    rows: usize,
    values: Vec<f64>,
}

impl ScenarioList {
    /// No points yet, of dimension `dim`.
    pub fn new(dim: usize) -> Self {
        Self { dim, rows: 0, values: Vec::new() }
    }

    /// Takes a flat row-major array. Returns `None` unless its length is `rows · dim`.
    pub fn from_flat(dim: usize, rows: usize, values: Vec<f64>) -> Option<Self> {
        (values.len() == rows * dim).then_some(Self { dim, rows, values })
    }

    /// Appends a point of the right dimension.
    pub fn push(&mut self, point: &[f64]) {
        debug_assert_eq!(point.len(), self.dim);
        self.values.extend_from_slice(point);
        self.rows += 1;
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Entries of a point.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// One point.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.dim..(row + 1) * self.dim]
    }

    /// All points in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        (0..self.rows).map(|row| self.row(row))
    }

    /// The flat array.
    pub fn flat(&self) -> &[f64] {
        &self.values
    }
}
