//! A basis with its LU factors. The factors test in one solve whether the basis is optimal for another right-hand side.
//!
//! The program is read as `Gy − r = 0` with bounds on y and on the row activities r. A basis matrix then has one column
//! per row: a column of G for a basic y, `−eᵢ` for a basic rᵢ. Variables are numbered y first, then r.

use faer::sparse::Triplet;
use softsep_lp::{Basis, BasisStatus};

use super::data::RecourseData;
use super::eta_file::EtaFile;
use super::lu::Lu;
use crate::numeric::tolerances::LP_FEASIBILITY_TOL;

/// Largest residual of a solve through basis changes, in units of the rows. A tenth of the tolerance of bounds, so that
/// feasible basic values stay feasible.
const RESIDUAL_TOL: f64 = 0.1 * LP_FEASIBILITY_TOL;

/// Largest reduced cost of a basic variable, relative to its cost where that is above 1, in a dual that was updated and
/// not solved for.
const DUAL_RESIDUAL_TOL: f64 = 1e-9;

/// A basis, its LU factors, and the basic values of the last solve.
#[derive(Default)]
pub(super) struct BasisFactors {
    /// The variable of each column of the basis matrix.
    pub(super) basic: Vec<u32>,
    /// Right-hand side at shift 0, and its coefficient of the shift: 1 for a nonbasic row, 0 for a basic one.
    rhs_at_zero: Vec<f64>,
    nonbasic_row: Vec<f64>,
    /// Factors of the basis from which the changes in `etas` lead to this one.
    lu: Option<Lu>,
    pub(super) etas: EtaFile,
    pub(super) basic_values: Vec<f64>,
    residual: Vec<f64>,
}

/// Primal feasibility of a basis at a right-hand side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PrimalFeasibility {
    /// Some basic variable violates a bound.
    Infeasible,
    /// All basic variables are within their bounds and some are at a bound: the dual may not be unique.
    Degenerate,
    /// All basic variables are strictly within their bounds: the dual is unique.
    Nondegenerate,
}

impl BasisFactors {
    /// Factors a basis. Returns `None` if it is singular, of the wrong size, or has a nonbasic variable at an infinite
    /// bound.
    pub(super) fn new(data: &RecourseData, basis: &Basis) -> Option<Self> {
        let rows = data.rows();
        let (mut rhs_at_zero, mut nonbasic_row) = (vec![0.0; rows], vec![0.0; rows]);
        let mut basic = Vec::with_capacity(rows);
        let mut entries = Vec::new();
        for col in 0..data.cols() {
            let status = basis.col(col);
            if status == BasisStatus::Basic {
                entries.extend(data.g_columns.row(col).map(|(row, value)| Triplet::new(row, basic.len(), value)));
                basic.push(col as u32);
            } else {
                let value = nonbasic_value(status, data.lower[col], data.upper[col])?;
                if value != 0.0 {
                    for (row, entry) in data.g_columns.row(col) {
                        rhs_at_zero[row] -= entry * value;
                    }
                }
            }
        }
        for row in 0..rows {
            let status = basis.row(row);
            if status == BasisStatus::Basic {
                entries.push(Triplet::new(row, basic.len(), -1.0));
                basic.push((data.cols() + row) as u32);
            } else {
                rhs_at_zero[row] += nonbasic_value(status, data.row_lower[row], data.row_upper[row])?;
                nonbasic_row[row] = 1.0;
            }
        }
        if basic.len() != rows {
            return None;
        }
        let lu = if rows == 0 { None } else { Some(Lu::new(rows, &entries)?) };
        let (basic_values, residual) = (vec![0.0; rows], vec![0.0; rows]);
        Some(Self { basic, rhs_at_zero, nonbasic_row, lu, etas: EtaFile::default(), basic_values, residual })
    }

    /// Makes `self` the basis that the changes `etas` lead to from the one that `parent` has factors of. The memory of
    /// `self` is used again. `basis` must have finite values of its nonbasic variables.
    pub(super) fn change_from(
        &mut self,
        data: &RecourseData,
        parent: &BasisFactors,
        basis: &Basis,
        basic: &[u32],
        etas: &EtaFile,
    ) -> Option<()> {
        let rows = data.rows();
        self.basic.clear();
        self.basic.extend_from_slice(basic);
        self.rhs_at_zero.clear();
        self.rhs_at_zero.resize(rows, 0.0);
        self.nonbasic_row.clear();
        self.nonbasic_row.resize(rows, 0.0);
        for &col in &data.nonzero_bound_cols {
            let status = basis.col(col);
            if status != BasisStatus::Basic {
                let value = nonbasic_value(status, data.lower[col], data.upper[col])?;
                data.g_columns.row(col).for_each(|(row, entry)| self.rhs_at_zero[row] -= entry * value);
            }
        }
        for row in 0..rows {
            let status = basis.row(row);
            if status != BasisStatus::Basic {
                self.rhs_at_zero[row] += nonbasic_value(status, data.row_lower[row], data.row_upper[row])?;
                self.nonbasic_row[row] = 1.0;
            }
        }
        parent.lu.as_ref()?.share_with(&mut self.lu)?;
        self.etas.copy_from(etas);
        self.basic_values.resize(rows, 0.0);
        self.residual.resize(rows, 0.0);
        Some(())
    }

    /// FTRAN: computes `values = B⁻¹ values`.
    pub(super) fn ftran(&mut self, values: &mut [f64]) {
        if let Some(lu) = &mut self.lu {
            lu.solve(values);
        }
        self.etas.ftran(values);
    }

    /// Solves with the factors alone, without the basis changes: `values = B₀⁻¹ values`.
    pub(super) fn solve_with_factors(&mut self, values: &mut [f64]) {
        if let Some(lu) = &mut self.lu {
            lu.solve(values);
        }
    }

    /// Solves with the transposed factors alone: `values = B₀⁻ᵀ values`.
    pub(super) fn solve_with_transposed_factors(&mut self, values: &mut [f64]) {
        if let Some(lu) = &mut self.lu {
            lu.solve_transpose(values);
        }
    }

    /// Writes the change of the right-hand side that a change of the shift by these entries causes.
    pub(super) fn rhs_change(&self, shift: impl Iterator<Item = (usize, f64)>, out: &mut [f64]) {
        out.fill(0.0);
        shift.for_each(|(row, value)| out[row] -= self.nonbasic_row[row] * value);
    }

    /// Computes `out −= B values`.
    pub(super) fn subtract_product(&self, data: &RecourseData, values: &[f64], out: &mut [f64]) {
        for (&variable, &value) in self.basic.iter().zip(values) {
            match (variable as usize).checked_sub(data.cols()) {
                None => data.g_columns.row(variable as usize).for_each(|(row, entry)| out[row] -= entry * value),
                Some(row) => out[row] += value,
            }
        }
    }

    /// Computes the basic variables at `shift`.
    pub(super) fn solve(&mut self, shift: &[f64]) {
        for (((value, rhs_at_zero), nonbasic_row), shift) in
            self.basic_values.iter_mut().zip(&self.rhs_at_zero).zip(&self.nonbasic_row).zip(shift)
        {
            *value = rhs_at_zero - nonbasic_row * shift;
        }
        if let Some(lu) = &mut self.lu {
            lu.solve(&mut self.basic_values);
        }
        self.etas.ftran(&mut self.basic_values);
    }

    /// Returns whether the basic values solve `B values = rhs` at `shift` up to a tolerance.
    pub(super) fn values_solve(&mut self, data: &RecourseData, shift: &[f64]) -> bool {
        let mut residual = std::mem::take(&mut self.residual);
        for (((residual, rhs_at_zero), nonbasic_row), shift) in
            residual.iter_mut().zip(&self.rhs_at_zero).zip(&self.nonbasic_row).zip(shift)
        {
            *residual = rhs_at_zero - nonbasic_row * shift;
        }
        self.subtract_product(data, &self.basic_values, &mut residual);
        // NaN must not count as small.
        let is_small = residual.iter().all(|residual| residual.abs() <= RESIDUAL_TOL);
        self.residual = residual;
        is_small
    }

    /// Computes the basic variables at `shift` and compares them with their bounds.
    pub(super) fn test(&mut self, data: &RecourseData, shift: &[f64]) -> PrimalFeasibility {
        self.solve(shift);
        self.compare_with_bounds(data, shift)
    }

    /// Compares the basic values with their bounds at `shift`.
    pub(super) fn compare_with_bounds(&self, data: &RecourseData, shift: &[f64]) -> PrimalFeasibility {
        let mut slack = f64::INFINITY;
        for (&variable, &value) in self.basic.iter().zip(&self.basic_values) {
            let (lower, upper) = data.bounds(variable as usize, shift);
            slack = slack.min(value - lower).min(upper - value);
            // NaN must not count as feasible.
            if value.is_nan() || slack < -LP_FEASIBILITY_TOL {
                return PrimalFeasibility::Infeasible;
            }
        }
        if slack < LP_FEASIBILITY_TOL { PrimalFeasibility::Degenerate } else { PrimalFeasibility::Nondegenerate }
    }

    /// Writes the dual of this basis under `cost`, one entry per row. Returns whether it is dual feasible.
    pub(super) fn compute_dual(&mut self, data: &RecourseData, basis: &Basis, cost: &[f64], dual: &mut [f64]) -> bool {
        for (price, &variable) in dual.iter_mut().zip(&self.basic) {
            *price = cost.get(variable as usize).copied().unwrap_or(0.0);
        }
        self.etas.btran(dual);
        if let Some(lu) = &mut self.lu {
            lu.solve_transpose(dual);
        }
        (0..data.rows()).all(|i| right_sign(basis.row(i), dual[i], data.row_lower[i], data.row_upper[i]))
            && (0..data.cols())
                .all(|j| right_sign(basis.col(j), cost[j] - data.col_dot(j, dual), data.lower[j], data.upper[j]))
    }

    /// Writes y: basic values of the last solve, bounds for the nonbasic variables.
    pub(super) fn decision(&self, data: &RecourseData, basis: &Basis, y: &mut [f64]) {
        for (col, y) in y.iter_mut().enumerate() {
            *y = nonbasic_value(basis.col(col), data.lower[col], data.upper[col]).unwrap_or(0.0);
        }
        for (&variable, &value) in self.basic.iter().zip(&self.basic_values) {
            let col = variable as usize;
            if col < data.cols() {
                y[col] = value.clamp(data.lower[col], data.upper[col]);
            }
        }
    }
}

/// Returns whether a multiplier has the sign that its variable's status asks for. That of a basic variable is not
/// tested.
fn right_sign(status: BasisStatus, multiplier: f64, lower: f64, upper: f64) -> bool {
    match status {
        BasisStatus::Basic => true,
        _ if lower == upper => true,
        BasisStatus::Lower => multiplier >= -LP_FEASIBILITY_TOL,
        BasisStatus::Upper => multiplier <= LP_FEASIBILITY_TOL,
        BasisStatus::Zero | BasisStatus::Nonbasic => multiplier.abs() <= LP_FEASIBILITY_TOL,
    }
}

/// Returns whether `dual`, which was updated along pivots, is the dual of `basis` under `cost`: the reduced costs of
/// basic variables vanish up to a tolerance, and those of the others have the right sign.
pub(super) fn dual_belongs_to(data: &RecourseData, basis: &Basis, cost: &[f64], dual: &[f64]) -> bool {
    let holds = |status, multiplier: f64, size: f64, lower: f64, upper: f64| match status {
        BasisStatus::Basic => multiplier.abs() <= DUAL_RESIDUAL_TOL * size.max(1.0),
        _ => multiplier.is_finite() && right_sign(status, multiplier, lower, upper),
    };
    (0..data.rows()).all(|i| holds(basis.row(i), dual[i], 1.0, data.row_lower[i], data.row_upper[i]))
        && (0..data.cols()).all(|j| {
            let reduced = cost[j] - data.col_dot(j, dual);
            holds(basis.col(j), reduced, cost[j].abs(), data.lower[j], data.upper[j])
        })
}

/// Returns the value of a nonbasic variable, or `None` if its status contradicts its bounds.
pub(super) fn nonbasic_value(status: BasisStatus, lower: f64, upper: f64) -> Option<f64> {
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
