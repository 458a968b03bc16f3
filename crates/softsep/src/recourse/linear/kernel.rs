//! One basis with its factors, kept: they answer at once whether the basis is optimal for other right-hand sides too.
//!
//! The program is read as `Gy − r = 0` with bounds on y and on the row activities r, so that a basis has one column per
//! row: a column of G for a basic y, `−eᵢ` for a basic rᵢ. Variables are numbered y first, then r.

use faer::sparse::Triplet;
use softsep_lp::{Basis, BasisStatus};

use super::frame::{FEASIBLE, Frame};
use super::lu::Lu;

/// A basis, its factors, and the basic values that the last test found.
pub(super) struct Kernel {
    /// The variable of each column of the basis matrix.
    pub(super) basic: Vec<u32>,
    /// The right-hand side at shift 0, and how it falls with the shift: 1 for a row held at a bound, else 0.
    base: Vec<f64>,
    held: Vec<f64>,
    pub(super) lu: Option<Lu>,
    pub(super) values: Vec<f64>,
}

/// What a basis says of a right-hand side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Primal {
    /// Some basic variable leaves its bounds.
    Infeasible,
    /// All are inside, and some stand on a bound: the dual need not be unique.
    Degenerate,
    /// All are strictly inside: the dual is unique.
    Strict,
}

impl Kernel {
    /// Factors a basis; `None` if it is singular or says less than it must.
    pub(super) fn new(frame: &Frame, basis: &Basis) -> Option<Self> {
        let rows = frame.rows();
        let (mut base, mut held) = (vec![0.0; rows], vec![0.0; rows]);
        let mut basic = Vec::with_capacity(rows);
        let mut entries = Vec::new();
        for col in 0..frame.cols() {
            let status = basis.col(col);
            if status == BasisStatus::Basic {
                entries.extend(frame.columns.row(col).map(|(row, value)| Triplet::new(row, basic.len(), value)));
                basic.push(col as u32);
            } else {
                let value = held_at(status, frame.lower[col], frame.upper[col])?;
                if value != 0.0 {
                    for (row, entry) in frame.columns.row(col) {
                        base[row] -= entry * value;
                    }
                }
            }
        }
        for row in 0..rows {
            let status = basis.row(row);
            if status == BasisStatus::Basic {
                entries.push(Triplet::new(row, basic.len(), -1.0));
                basic.push((frame.cols() + row) as u32);
            } else {
                base[row] += held_at(status, frame.row_lower[row], frame.row_upper[row])?;
                held[row] = 1.0;
            }
        }
        if basic.len() != rows {
            return None;
        }
        let lu = if rows == 0 { None } else { Some(Lu::new(rows, &entries)?) };
        Some(Self { basic, base, held, lu, values: vec![0.0; rows] })
    }

    /// How the right-hand side moves when the shift moves by these entries.
    pub(super) fn falls(&self, shift: impl Iterator<Item = (usize, f64)>, out: &mut [f64]) {
        out.fill(0.0);
        shift.for_each(|(row, value)| out[row] -= self.held[row] * value);
    }

    /// `out −= B values`.
    pub(super) fn subtract_product(&self, frame: &Frame, values: &[f64], out: &mut [f64]) {
        for (&variable, &value) in self.basic.iter().zip(values) {
            match (variable as usize).checked_sub(frame.cols()) {
                None => frame.columns.row(variable as usize).for_each(|(row, entry)| out[row] -= entry * value),
                Some(row) => out[row] += value,
            }
        }
    }

    /// Solves for the basic variables at `shift`.
    pub(super) fn solve(&mut self, shift: &[f64]) {
        for (((value, base), held), shift) in self.values.iter_mut().zip(&self.base).zip(&self.held).zip(shift) {
            *value = base - held * shift;
        }
        if let Some(lu) = &mut self.lu {
            lu.solve(&mut self.values);
        }
    }

    /// Solves for the basic variables at `shift` and tests them.
    pub(super) fn test(&mut self, frame: &Frame, shift: &[f64]) -> Primal {
        self.solve(shift);
        let mut slack = f64::INFINITY;
        for (&variable, &value) in self.basic.iter().zip(&self.values) {
            let (lower, upper) = frame.bounds(variable as usize, shift);
            slack = slack.min(value - lower).min(upper - value);
            // A value that is no number must not pass for feasible.
            if value.is_nan() || slack < -FEASIBLE {
                return Primal::Infeasible;
            }
        }
        if slack < FEASIBLE { Primal::Degenerate } else { Primal::Strict }
    }

    /// The dual of this basis under `cost`, and whether it is feasible; `dual` gets one entry per row.
    pub(super) fn price(&mut self, frame: &Frame, basis: &Basis, cost: &[f64], dual: &mut [f64]) -> bool {
        for (price, &variable) in dual.iter_mut().zip(&self.basic) {
            *price = cost.get(variable as usize).copied().unwrap_or(0.0);
        }
        if let Some(lu) = &mut self.lu {
            lu.solve_transpose(dual);
        }
        let right_sign = |status, multiplier: f64, lower: f64, upper: f64| match status {
            BasisStatus::Basic => true,
            _ if lower == upper => true,
            BasisStatus::Lower => multiplier >= -FEASIBLE,
            BasisStatus::Upper => multiplier <= FEASIBLE,
            BasisStatus::Zero | BasisStatus::Nonbasic => multiplier.abs() <= FEASIBLE,
        };
        (0..frame.rows()).all(|i| right_sign(basis.row(i), dual[i], frame.row_lower[i], frame.row_upper[i]))
            && (0..frame.cols())
                .all(|j| right_sign(basis.col(j), cost[j] - frame.price(j, dual), frame.lower[j], frame.upper[j]))
    }

    /// The whole decision: basic values of the last test, bounds elsewhere.
    pub(super) fn decision(&self, frame: &Frame, basis: &Basis, y: &mut [f64]) {
        for (col, y) in y.iter_mut().enumerate() {
            *y = held_at(basis.col(col), frame.lower[col], frame.upper[col]).unwrap_or(0.0);
        }
        for (&variable, &value) in self.basic.iter().zip(&self.values) {
            let col = variable as usize;
            if col < frame.cols() {
                y[col] = value.clamp(frame.lower[col], frame.upper[col]);
            }
        }
    }
}

/// The value of a nonbasic variable; `None` if its status contradicts its bounds.
pub(super) fn held_at(status: BasisStatus, lower: f64, upper: f64) -> Option<f64> {
    let value = match status {
        BasisStatus::Lower => lower,
        BasisStatus::Upper => upper,
        BasisStatus::Zero => 0.0,
        BasisStatus::Nonbasic if lower.is_finite() => lower,
        BasisStatus::Nonbasic => upper,
        BasisStatus::Basic => return None,
    };
    value.is_finite().then_some(value)
}
