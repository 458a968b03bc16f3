//! Dual simplex pivots from a known basis.
//!
//! When right-hand sides change and costs do not, a basis stays dual feasible and is often only a few pivots away from
//! the optimum. HiGHS would find the same optimum, but one call of it costs as much as hundreds of these pivots.
//!
//! Nothing here is taken as proved: the caller verifies basic values and reduced costs, or factors the last basis
//! afresh and tests it, verifies the ray, and calls HiGHS wherever the status is [`DualSimplexStatus::Unreliable`].

use std::ops::Range;

use softsep_lp::{Basis, BasisStatus};

use super::basis_factors::{BasisFactors, nonbasic_value};
use super::data::RecourseData;
use super::eta_file::EtaFile;
use crate::numeric::tolerances::LP_FEASIBILITY_TOL;

/// Pivots after which the basis must be factored anew.
const MAX_PIVOTS: usize = 100;

/// Entries of the pivot row below this are rounding errors. Also the amount by which reduced costs may have the wrong
/// sign in the first pass of the ratio test.
const PIVOT_TOL: f64 = 1e-9;

/// Largest difference of the pivot element between row and column, relative to it where that is above 1.
const PIVOT_MISMATCH_TOL: f64 = 1e-7;

/// Stands for an entry of the pivot row that cancelled to zero. Products with it are not subnormal: those are slow.
const CANCELLED: f64 = 1e-200;

/// Status at which a run ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DualSimplexStatus {
    /// The basis is primal feasible by the values updated here.
    Optimal,
    /// No pivot can repair some row. [`DualSimplex::ray`] is the certificate, not yet verified.
    Infeasible,
    /// [`MAX_PIVOTS`] were made. The caller may refactor the basis and continue.
    PivotLimit,
    /// The pivot element differs between row and column, or a status contradicts its bounds.
    Unreliable,
}

/// Direction in which a nonbasic variable may move when it enters the basis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i8)]
enum EnteringDirection {
    /// The variable is at its lower bound.
    Increase = 1,
    /// The variable is at its upper bound.
    Decrease = -1,
    /// The variable is basic or fixed.
    Never = 0,
    /// The variable is free.
    Either = 2,
}

impl EnteringDirection {
    fn of(data: &RecourseData, variable: usize, status: BasisStatus) -> Self {
        let is_fixed = match variable.checked_sub(data.cols()) {
            None => data.lower[variable] == data.upper[variable],
            Some(row) => data.row_lower[row] == data.row_upper[row],
        };
        match status {
            _ if is_fixed => Self::Never,
            BasisStatus::Lower => Self::Increase,
            BasisStatus::Upper => Self::Decrease,
            BasisStatus::Zero | BasisStatus::Nonbasic => Self::Either,
            BasisStatus::Basic => Self::Never,
        }
    }
}

/// A variable that may enter the basis: the absolute value of its reduced cost, and its entry of the pivot row, with a
/// positive sign.
#[derive(Debug, Clone, Copy, Default)]
struct Candidate {
    variable: u32,
    reduced: f64,
    entry: f64,
}

/// Working memory of the dual simplex, kept between runs.
#[derive(Default)]
pub(super) struct DualSimplex {
    /// The current basis.
    pub(super) basis: Basis,
    /// Pivots of the last run.
    pub(super) pivots: u64,
    pub(super) basic: Vec<u32>,
    pub(super) basic_values: Vec<f64>,
    /// Devex weights of the basic variables.
    devex_weights: Vec<f64>,
    /// Direction in which each variable may enter.
    directions: Vec<EnteringDirection>,
    /// Reduced costs of all variables, and the pivot row over all variables, which is zero outside of its support.
    reduced_costs: Vec<f64>,
    pivot_row: Vec<f64>,
    /// The support of the pivot row, in its first `pivot_row_count` entries.
    pivot_row_support: Vec<u32>,
    pivot_row_count: usize,
    /// The variables that may enter, in the ratio test.
    candidates: Vec<Candidate>,
    pivot_column: Vec<f64>,
    rho: Vec<f64>,
    /// Basis changes since the factorization.
    pub(super) etas: EtaFile,
}

impl DualSimplex {
    /// Pivots from `basis`, whose factors are `factors` and whose dual is `dual`, towards primal feasibility at
    /// `shift`.
    pub(super) fn run(
        &mut self,
        data: &RecourseData,
        factors: &mut BasisFactors,
        basis: &Basis,
        cost: &[f64],
        dual: &[f64],
        shift: &[f64],
    ) -> DualSimplexStatus {
        self.load(data, factors, basis, cost, dual);
        while self.pivots < MAX_PIVOTS as u64 {
            let Some((position, below)) = self.choose_leaving(data, shift) else { return DualSimplexStatus::Optimal };
            self.btran(factors, position);
            self.compute_pivot_row(data);
            let Some(entering) = self.ratio_test(below) else { return DualSimplexStatus::Infeasible };
            self.ftran(data, factors, entering);
            if !self.pivot_is_consistent(position, entering) {
                return DualSimplexStatus::Unreliable;
            }
            let Some(()) = self.update_basis(data, shift, position, entering, below) else {
                return DualSimplexStatus::Unreliable;
            };
        }
        DualSimplexStatus::PivotLimit
    }

    /// Pivots the variables of the range `fixed`, which are fixed, out of a dual feasible basis. The right-hand side
    /// does not matter. Returns `None` if that takes more than [`MAX_PIVOTS`] pivots or a pivot is unreliable.
    pub(super) fn drive_out_fixed(
        &mut self,
        data: &RecourseData,
        factors: &mut BasisFactors,
        basis: &Basis,
        cost: &[f64],
        dual: &[f64],
        fixed: Range<usize>,
    ) -> Option<()> {
        self.load(data, factors, basis, cost, dual);
        let zero_shift = vec![0.0; data.rows()];
        let positions: Vec<usize> =
            (0..self.basic.len()).filter(|&position| fixed.contains(&(self.basic[position] as usize))).collect();
        if positions.len() > MAX_PIVOTS {
            return None;
        }
        for position in positions {
            self.btran(factors, position);
            self.compute_pivot_row(data);
            // A fixed variable may leave at either bound, so the larger of the two pivots is taken.
            let size = |simplex: &Self, entering: Option<usize>| {
                entering.map_or(0.0, |variable| simplex.pivot_row[variable].abs())
            };
            let (up, down) = (self.ratio_test(false), self.ratio_test(true));
            let entering = if size(self, up) >= size(self, down) { up? } else { down? };
            self.ftran(data, factors, entering);
            if !self.pivot_is_consistent(position, entering) {
                return None;
            }
            self.update_basis(data, &zero_shift, position, entering, true)?;
        }
        Some(())
    }

    /// Returns whether the pivot element of the row equals that of the column. Where they differ the factors have
    /// drifted.
    fn pivot_is_consistent(&self, position: usize, entering: usize) -> bool {
        let pivot = self.pivot_column[position];
        (pivot - self.pivot_row[entering]).abs() <= PIVOT_MISMATCH_TOL * (1.0 + pivot.abs())
    }

    /// Returns the multipliers of the row that no pivot could repair.
    pub(super) fn ray(&self) -> &[f64] {
        &self.rho
    }

    /// Returns the dual of the current basis as the pivots updated it, one entry per row.
    pub(super) fn dual(&self, data: &RecourseData) -> &[f64] {
        &self.reduced_costs[data.cols()..]
    }

    fn load(&mut self, data: &RecourseData, factors: &BasisFactors, basis: &Basis, cost: &[f64], dual: &[f64]) {
        let (rows, cols) = (data.rows(), data.cols());
        self.pivots = 0;
        self.basis.clone_from(basis);
        self.basic.clone_from(&factors.basic);
        self.basic_values.clone_from(&factors.basic_values);
        self.devex_weights.clear();
        self.devex_weights.resize(rows, 1.0);
        self.etas.copy_from(&factors.etas);
        self.pivot_column.resize(rows, 0.0);
        self.rho.resize(rows, 0.0);
        self.pivot_row.resize(cols + rows, 0.0);
        // One more than there are variables: see `compute_pivot_row`.
        self.pivot_row_support.resize(cols + rows + 1, 0);
        self.candidates.resize(cols + rows + 1, Candidate::default());
        self.reduced_costs.resize(cols + rows, 0.0);
        for j in 0..cols {
            self.reduced_costs[j] = cost[j] - data.col_dot(j, dual);
        }
        self.reduced_costs[cols..].copy_from_slice(dual);
        let statuses = (0..cols).map(|col| basis.col(col)).chain((0..rows).map(|row| basis.row(row)));
        self.directions.clear();
        self.directions
            .extend(statuses.enumerate().map(|(variable, status)| EnteringDirection::of(data, variable, status)));
    }

    /// Returns the position of the basic variable with the largest weighted bound violation, and whether it is below
    /// its lower bound.
    fn choose_leaving(&self, data: &RecourseData, shift: &[f64]) -> Option<(usize, bool)> {
        let mut worst = (0.0, None);
        for (position, ((&variable, &value), &weight)) in
            self.basic.iter().zip(&self.basic_values).zip(&self.devex_weights).enumerate()
        {
            let (lower, upper) = data.bounds(variable as usize, shift);
            let (infeasibility, below) = if value < lower { (lower - value, true) } else { (value - upper, false) };
            if infeasibility > LP_FEASIBILITY_TOL && infeasibility * infeasibility > worst.0 * weight {
                worst = (infeasibility * infeasibility / weight, Some((position, below)));
            }
        }
        worst.1
    }

    /// BTRAN: computes `rho = B⁻ᵀ e_position` through the basis changes, latest first, then the factors.
    fn btran(&mut self, factors: &mut BasisFactors, position: usize) {
        self.rho.fill(0.0);
        self.rho[position] = 1.0;
        self.etas.btran(&mut self.rho);
        factors.solve_with_transposed_factors(&mut self.rho);
    }

    /// Computes the pivot row `rhoᵀA` over all variables. Works by rows, since rho is sparse.
    fn compute_pivot_row(&mut self, data: &RecourseData) {
        let (row, support) = (&mut self.pivot_row[..], &mut self.pivot_row_support[..]);
        for &variable in &support[..self.pivot_row_count] {
            row[variable as usize] = 0.0;
        }
        let mut count = 0;
        for (i, &rho) in self.rho.iter().enumerate() {
            if rho.abs() <= PIVOT_TOL * PIVOT_TOL {
                continue;
            }
            for (variable, value) in data.g_rows.row(i) {
                let entry = row[variable];
                // Written in any case, and kept if the variable is new: whether it is cannot be predicted.
                support[count] = variable as u32;
                count += usize::from(entry == 0.0);
                let entry = entry + rho * value;
                // An entry that cancels to zero must stay in the support.
                row[variable] = if entry == 0.0 { CANCELLED } else { entry };
            }
            let activity = data.cols() + i;
            support[count] = activity as u32;
            count += 1;
            row[activity] = -rho;
        }
        self.pivot_row_count = count;
    }

    /// Two-pass dual ratio test (Harris): the first pass finds the largest step when reduced costs may have the wrong
    /// sign by a tolerance, the second takes the largest pivot within that step. Returns the entering variable.
    fn ratio_test(&mut self, below: bool) -> Option<usize> {
        let candidates = self.collect_candidates(below);
        let step = |candidate: &Candidate| (candidate.reduced + PIVOT_TOL) / candidate.entry;
        let max_step = candidates.iter().fold(f64::INFINITY, |least, candidate| least.min(step(candidate)));
        let (mut best, mut largest) = (None, PIVOT_TOL);
        for candidate in candidates {
            if (candidate.entry > largest) & (candidate.reduced <= max_step * candidate.entry) {
                (best, largest) = (Some(candidate.variable as usize), candidate.entry);
            }
        }
        best
    }

    /// Returns the variables of the pivot row that may enter. Each is written, and kept if its entry is large enough:
    /// the signs of entries are unpredictable, and branches on them slow.
    fn collect_candidates(&mut self, below: bool) -> &[Candidate] {
        let sign = if below { -1.0 } else { 1.0 };
        let (row, reduced, directions) = (&self.pivot_row[..], &self.reduced_costs[..], &self.directions[..]);
        let mut count = 0;
        for &variable in &self.pivot_row_support[..self.pivot_row_count] {
            let index = variable as usize;
            let entry = sign * row[index];
            let (reduced, entry) = match directions[index] {
                EnteringDirection::Either => (0.0, entry.abs()),
                direction => {
                    let towards = f64::from(direction as i8);
                    ((towards * reduced[index]).max(0.0), towards * entry)
                }
            };
            self.candidates[count] = Candidate { variable, reduced, entry };
            count += usize::from(entry > PIVOT_TOL);
        }
        &self.candidates[..count]
    }

    fn status(&self, data: &RecourseData, variable: usize) -> BasisStatus {
        match variable.checked_sub(data.cols()) {
            None => self.basis.col(variable),
            Some(row) => self.basis.row(row),
        }
    }

    /// FTRAN: computes `pivot_column = B⁻¹ a` through the factors, then the basis changes in order.
    fn ftran(&mut self, data: &RecourseData, factors: &mut BasisFactors, variable: usize) {
        self.pivot_column.fill(0.0);
        match variable.checked_sub(data.cols()) {
            None => data.g_columns.row(variable).for_each(|(row, value)| self.pivot_column[row] = value),
            Some(row) => self.pivot_column[row] = -1.0,
        }
        factors.solve_with_factors(&mut self.pivot_column);
        self.etas.ftran(&mut self.pivot_column);
    }

    /// Exchanges the leaving variable, which moves to the bound that it violates, for the entering one. Updates reduced
    /// costs, basic values, weights and the product form. Returns `None` if the status of the entering variable
    /// contradicts its bounds.
    fn update_basis(
        &mut self,
        data: &RecourseData,
        shift: &[f64],
        position: usize,
        entering: usize,
        below: bool,
    ) -> Option<()> {
        let leaving = self.basic[position] as usize;
        let pivot = self.pivot_column[position];
        let dual_step = self.reduced_costs[entering] / pivot;
        if dual_step != 0.0 {
            let (row, reduced) = (&self.pivot_row[..], &mut self.reduced_costs[..]);
            for &variable in &self.pivot_row_support[..self.pivot_row_count] {
                reduced[variable as usize] -= dual_step * row[variable as usize];
            }
        }
        self.reduced_costs[entering] = 0.0;
        self.reduced_costs[leaving] = -dual_step;

        let (lower, upper) = data.bounds(leaving, shift);
        let bound = if below { lower } else { upper };
        let step = (self.basic_values[position] - bound) / pivot;
        let (lower, upper) = data.bounds(entering, shift);
        let start = nonbasic_value(self.status(data, entering), lower, upper)?;
        let reference = self.devex_weights[position] / (pivot * pivot);
        for ((value, weight), column) in
            self.basic_values.iter_mut().zip(&mut self.devex_weights).zip(&self.pivot_column)
        {
            *value -= step * column;
            *weight = weight.max(column * column * reference);
        }
        self.devex_weights[position] = reference.max(1.0);
        self.basic_values[position] = start + step;
        self.basic[position] = entering as u32;
        self.set_status(data, entering, BasisStatus::Basic);
        self.set_status(data, leaving, if below { BasisStatus::Lower } else { BasisStatus::Upper });
        self.etas.push(position, &self.pivot_column);
        self.pivots += 1;
        Some(())
    }

    fn set_status(&mut self, data: &RecourseData, variable: usize, status: BasisStatus) {
        match variable.checked_sub(data.cols()) {
            None => self.basis.set_col(variable, status),
            Some(row) => self.basis.set_row(row, status),
        }
        self.directions[variable] = EnteringDirection::of(data, variable, status);
    }
}
