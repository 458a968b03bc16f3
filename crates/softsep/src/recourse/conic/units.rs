//! Internal units of a conic program: columns, rows, right-hand side and costs scaled together.
//!
//! Clarabel equilibrates the matrix, but neither the right-hand side nor the costs. With right-hand sides of 1e6 it has
//! called feasible programs infeasible. Here the scales are geometric means over the matrix with the right-hand side as
//! one more column and the costs as one more row, alternating between columns and rows, and rounded to powers of two.

use clarabel::algebra::CscMatrix;
use clarabel::solver::DefaultSolution;

use super::certificate::SolveData;
use super::standard_form::StandardForm;

/// Sweeps over columns and rows. The exponents change by less than one after a few.
const SWEEPS: usize = 12;

/// The scales: y = column·ŷ, s = ŝ/(row·rhs), z = row·ẑ/cost.
pub(super) struct Units {
    /// Scale of each column, relative to that of the right-hand side.
    column: Vec<f64>,
    row: Vec<f64>,
    rhs: f64,
    cost: f64,
}

impl Units {
    pub(super) fn new(form: &StandardForm, data: &SolveData) -> Self {
        let (rows, cols) = (form.entries.len(), form.cost.len());
        // Binary logarithms of the scales.
        let (mut column, mut row) = (vec![0.0; cols], vec![0.0; rows]);
        let (mut rhs, mut cost) = (0.0, 0.0);
        let log = |value: f64| (value != 0.0).then(|| value.abs().log2());
        for _ in 0..SWEEPS {
            let mut sums = vec![Mean::default(); rows];
            for (j, i, value) in matrix_terms(&form.a) {
                sums[i].add(log(value).map(|value| value + column[j]));
            }
            sums.iter_mut().zip(&data.right_side).for_each(|(sum, b)| sum.add(log(*b).map(|b| b + rhs)));
            // One scale for all rows of a cone, which is not a cone otherwise.
            for (_, entries) in &form.cones {
                let all = sums[entries.clone()].iter().fold(Mean::default(), Mean::joined);
                sums[entries.clone()].fill(all);
            }
            row.iter_mut().zip(&sums).for_each(|(row, sum)| *row = -sum.get());
            let costs = data.cost.iter().zip(&column);
            cost = -costs.fold(Mean::default(), |mean, (q, column)| mean.with(log(*q).map(|q| q + column))).get();
            let targets = data.right_side.iter().zip(&row);
            rhs = -targets.fold(Mean::default(), |mean, (b, row)| mean.with(log(*b).map(|b| b + row))).get();
            let mut sums = vec![Mean::default(); cols];
            for (j, i, value) in matrix_terms(&form.a) {
                sums[j].add(log(value).map(|value| value + row[i]));
            }
            sums.iter_mut().zip(&data.cost).for_each(|(sum, q)| sum.add(log(*q).map(|q| q + cost)));
            for (i, j, value) in form.quadratic.iter() {
                let (ci, cj) = (column[i], column[j]);
                sums[i].add(log(value).map(|value| value + cost + cj - rhs));
                sums[j].add(log(value).map(|value| value + cost + ci - rhs));
            }
            column.iter_mut().zip(&sums).for_each(|(column, sum)| *column = -sum.get());
        }
        let rhs: f64 = rhs.round();
        Self {
            column: column.iter().map(|column: &f64| (column.round() - rhs).exp2()).collect(),
            row: row.iter().map(|row: &f64| row.round().exp2()).collect(),
            rhs: rhs.exp2(),
            cost: cost.round().exp2(),
        }
    }

    /// The matrices P and A in these units.
    pub(super) fn matrices(&self, form: &StandardForm) -> (CscMatrix<f64>, CscMatrix<f64>) {
        let (mut p, mut a) = (form.p.clone(), form.a.clone());
        for (j, i, at) in positions(&form.p) {
            p.nzval[at] *= self.cost * self.rhs * self.column[i] * self.column[j];
        }
        for (j, i, at) in positions(&form.a) {
            a.nzval[at] *= self.row[i] * self.rhs * self.column[j];
        }
        (p, a)
    }

    /// Costs in these units.
    pub(super) fn costs(&self, cost: &[f64]) -> Vec<f64> {
        cost.iter().zip(&self.column).map(|(q, column)| q * self.cost * self.rhs * column).collect()
    }

    /// A right-hand side in these units.
    pub(super) fn right_side(&self, b: &[f64]) -> Vec<f64> {
        b.iter().zip(&self.row).map(|(b, row)| b * row * self.rhs).collect()
    }

    /// Converts a solution back.
    pub(super) fn convert_back(&self, solution: &mut DefaultSolution<f64>) {
        solution.x.iter_mut().zip(&self.column).for_each(|(x, column)| *x *= column);
        solution.s.iter_mut().zip(&self.row).for_each(|(s, row)| *s /= row * self.rhs);
        solution.z.iter_mut().zip(&self.row).for_each(|(z, row)| *z *= row / self.cost);
    }
}

#[derive(Clone, Copy, Default)]
struct Mean {
    sum: f64,
    count: f64,
}

impl Mean {
    fn add(&mut self, value: Option<f64>) {
        *self = self.with(value);
    }

    fn with(self, value: Option<f64>) -> Self {
        value.map_or(self, |value| Self { sum: self.sum + value, count: self.count + 1.0 })
    }

    fn joined(self, other: &Self) -> Self {
        Self { sum: self.sum + other.sum, count: self.count + other.count }
    }

    fn get(&self) -> f64 {
        self.sum / self.count.max(1.0)
    }
}

/// Column, row and position of each term.
fn positions(matrix: &CscMatrix<f64>) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
    (0..matrix.n).flat_map(move |j| (matrix.colptr[j]..matrix.colptr[j + 1]).map(move |at| (j, matrix.rowval[at], at)))
}

fn matrix_terms(matrix: &CscMatrix<f64>) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
    positions(matrix).map(|(j, i, at)| (j, i, matrix.nzval[at]))
}
