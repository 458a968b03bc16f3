//! A model under construction: columns, rows by sparse terms, integrality and a convex quadratic cost.

/// A number within this distance of an integer counts as integral: the default tolerance of HiGHS.
pub(crate) const INTEGRALITY_TOL: f64 = 1e-6;

/// Columns, rows and costs of a program for [`Lp::new`](crate::Lp::new), stored row by row. Infinite bounds are
/// `f64::INFINITY`.
#[derive(Debug, Clone, Default)]
pub struct Model {
    pub(crate) cost: Vec<f64>,
    pub(crate) col_lower: Vec<f64>,
    pub(crate) col_upper: Vec<f64>,
    pub(crate) integer: Vec<bool>,
    pub(crate) row_lower: Vec<f64>,
    pub(crate) row_upper: Vec<f64>,
    pub(crate) start: Vec<i32>,
    pub(crate) index: Vec<i32>,
    pub(crate) value: Vec<f64>,
    /// Entries of the Hessian's lower triangle: (row, column, value), row ≥ column, each once.
    pub(crate) hessian: Vec<(usize, usize, f64)>,
    pub(crate) offset: f64,
}

impl Model {
    /// An empty model.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a continuous column and returns its index.
    pub fn add_col(&mut self, cost: f64, lower: f64, upper: f64) -> usize {
        self.cost.push(cost);
        self.col_lower.push(lower);
        self.col_upper.push(upper);
        self.integer.push(false);
        self.cost.len() - 1
    }

    /// Adds an integer column and returns its index. Its bounds are rounded inward to integers: HiGHS 1.15.0 misses
    /// optima for fractional bounds (in one of eight random problems with such bounds, if presolve is off).
    pub fn add_integer(&mut self, cost: f64, lower: f64, upper: f64) -> usize {
        let (least, most) = ((lower - INTEGRALITY_TOL).ceil(), (upper + INTEGRALITY_TOL).floor());
        // If there is no integer between them, HiGHS reports infeasibility.
        let (lower, upper) = if least <= most { (least, most) } else { (lower, upper) };
        let col = self.add_col(cost, lower, upper);
        self.integer[col] = true;
        col
    }

    /// Adds a row `lower ≤ Σ terms ≤ upper` and returns its index. Zero coefficients are omitted.
    pub fn add_row(&mut self, lower: f64, upper: f64, terms: &[(usize, f64)]) -> usize {
        self.start.push(self.index.len() as i32);
        for &(col, value) in terms {
            if value != 0.0 {
                self.index.push(col as i32);
                self.value.push(value);
            }
        }
        self.row_lower.push(lower);
        self.row_upper.push(upper);
        self.row_lower.len() - 1
    }

    /// Adds `½·value·x_i²` (i = j) or `value·x_i·x_j` (i ≠ j) to the cost; each unordered pair at most once. The entire
    /// cost must be convex.
    pub fn add_quadratic(&mut self, i: usize, j: usize, value: f64) {
        self.hessian.push((i.max(j), i.min(j), value));
    }

    /// Sets the constant of the objective.
    pub fn set_offset(&mut self, offset: f64) {
        self.offset = offset;
    }

    /// The bounds of all columns so far.
    pub fn col_bounds(&self) -> (Vec<f64>, Vec<f64>) {
        (self.col_lower.clone(), self.col_upper.clone())
    }

    /// Fixes a column at a value.
    pub fn fix_col(&mut self, col: usize, value: f64) {
        (self.col_lower[col], self.col_upper[col]) = (value, value);
    }

    /// The bounds of all rows so far.
    pub fn row_bounds(&self) -> (Vec<f64>, Vec<f64>) {
        (self.row_lower.clone(), self.row_upper.clone())
    }

    /// The terms of a row.
    pub(crate) fn terms(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let start = self.start[row] as usize;
        let end = self.start.get(row + 1).map_or(self.index.len(), |&end| end as usize);
        self.index[start..end].iter().zip(&self.value[start..end]).map(|(&col, &value)| (col as usize, value))
    }

    /// Largest violation of a row at a point, relative to the size of the row's terms and side where that is above 1.
    pub fn row_violation(&self, point: &[f64]) -> f64 {
        let of_row = |row: usize| {
            let (mut value, mut size) = (0.0, 1.0_f64);
            for (col, entry) in self.terms(row) {
                value += entry * point[col];
                size = size.max((entry * point[col]).abs());
            }
            [self.row_lower[row] - value, value - self.row_upper[row]].into_iter().fold(0.0, f64::max) / size
        };
        (0..self.rows()).map(of_row).fold(0.0, f64::max)
    }

    /// Whether some column is integer.
    pub fn has_integers(&self) -> bool {
        self.integer.contains(&true)
    }

    /// Number of columns so far.
    pub fn cols(&self) -> usize {
        self.cost.len()
    }

    /// Number of rows so far.
    pub fn rows(&self) -> usize {
        self.row_lower.len()
    }

    /// Number of nonzeros so far.
    pub fn nonzeros(&self) -> usize {
        self.index.len()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::{Lp, Status, Toggle};

    #[test]
    fn violations_are_relative_to_the_terms() {
        let mut model = Model::new();
        let (x, y) = (model.add_col(1.0, 0.0, 9.0), model.add_col(1.0, 0.0, 9.0));
        model.add_row(f64::NEG_INFINITY, 3.0, &[(x, 1.0), (y, 0.5)]);
        model.add_row(100.0, f64::INFINITY, &[(x, 50.0), (y, 1.0)]);
        assert_eq!(model.row_violation(&[2.0, 2.0]), 0.0);
        assert_eq!(model.row_violation(&[1.0, 0.0]), 1.0);
        assert_eq!(model.row_violation(&[3.0, 2.0]), 1.0 / 3.0);
    }

    #[test]
    fn integer_columns_have_integral_bounds() {
        let mut model = Model::new();
        model.add_integer(1.0, -3.3, 2.4);
        model.add_integer(1.0, 0.999_999_9, 2.999_999_9);
        model.add_integer(1.0, f64::NEG_INFINITY, f64::INFINITY);
        assert_eq!(
            (model.col_lower, model.col_upper),
            (vec![-3.0, 1.0, f64::NEG_INFINITY], vec![2.0, 3.0, f64::INFINITY])
        );
        let mut nothing = Model::new();
        nothing.add_integer(1.0, 0.3, 0.7);
        for presolve in [Toggle::On, Toggle::Off] {
            let mut lp = Lp::new(&nothing).unwrap();
            lp.set_presolve(presolve).unwrap();
            assert_eq!(lp.solve().unwrap(), Status::Infeasible);
        }
    }
}
