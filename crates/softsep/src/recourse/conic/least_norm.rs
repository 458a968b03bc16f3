//! Selection among the optimal duals of quadratic and conic recourse by Lemma EC.1: the one with the smallest ‖π‖.
//!
//! With an optimal y the dual is linear in its multipliers z: they are in the dual cones, `−Aᵀz = q + Py`, and their
//! value is `−bᵀz − ½yᵀPy`. The optimal ones are those whose value is that of the dual found; a value that is lower by
//! a tolerance is allowed, since the set would have no interior otherwise. On it `½‖π‖²` is minimised.
//!
//! The tolerance t on the value moves π by about t where the rows are linear, and by about √t along a curved cone.

use super::cones::dual_cone_rows;
use super::solver::{ConicSolver, ConicStatus};
use super::standard_form::{ActivitySource, ConicProgram};
use crate::numeric::dot;
use crate::run::{Clock, Interrupt};

/// The loss of value at which a dual counts as optimal, relative to the value where that is above 1.
const VALUE_TOL: f64 = 1e-10;

/// The tolerance to which the selected dual is verified, as that of the first solve.
const ACCEPTED: f64 = 1e-7;

/// The rounding of norms, relative to the largest multiplier: a dual found first that is shorter is zero, and the
/// selected one may be longer than the first by as much.
const NORM_TOL: f64 = 1e-6;

/// The outcome of a selection.
pub(super) enum Selection {
    /// The certificate has the selected dual.
    Selected,
    /// The second program failed, or its dual did not verify: the certificate is unchanged.
    Kept,
    /// The clock stopped the second program.
    Stopped(Interrupt),
}

impl ConicSolver {
    /// Replaces the dual of a solved program by the optimal one with the smallest norm. `weights` are the units of the
    /// rows' multipliers.
    pub(super) fn select_least_norm(&mut self, weights: &[f64], clock: &Clock) -> Selection {
        let norm = |pi: &[f64]| pi.iter().zip(weights).map(|(pi, weight)| (pi * weight).powi(2)).sum::<f64>().sqrt();
        let found = norm(&self.certificate.pi);
        // The multipliers of the bounds of y are in the program, too.
        let size = self.certificate.reduced_costs.iter().fold(found, |size, cost| size.max(cost.abs()));
        if found <= NORM_TOL * size {
            return Selection::Selected;
        }
        let z = match self.least_norm_multipliers(size, weights, clock) {
            Ok(z) => z,
            Err(Some(stop)) => return Selection::Stopped(stop),
            Err(None) => return Selection::Kept,
        };
        let mut selected = self.certificate.clone();
        let is_verified = selected.verify_dual(&self.form, &self.data, &z, ACCEPTED).is_ok();
        if !is_verified || norm(&selected.pi) > found + NORM_TOL * size {
            return Selection::Kept;
        }
        self.certificate = selected;
        Selection::Selected
    }

    /// Solves the second program, in units of `size`. The error is the interrupt, or `None` if the program failed.
    fn least_norm_multipliers(&self, size: f64, weights: &[f64], clock: &Clock) -> Result<Vec<f64>, Option<Interrupt>> {
        let (form, data, certificate) = (&self.form, &self.data, &self.certificate);
        let mut program = ConicProgram::new(0.0);
        let mut entries_of_row = vec![Vec::new(); form.rows.rows()];
        for (index, entry) in form.entries.iter().enumerate() {
            let is_nonnegative = (form.zero..form.zero + form.nonnegative).contains(&index);
            program.add_col(0.0, if is_nonnegative { 0.0 } else { f64::NEG_INFINITY }, f64::INFINITY);
            if let ActivitySource::Row(row) = entry.source {
                entries_of_row[row].push((index, entry.sign));
            }
        }
        for (entries, weight) in entries_of_row.iter().zip(weights) {
            for (place, &(i, sign_i)) in entries.iter().enumerate() {
                for &(j, sign_j) in &entries[place..] {
                    program.add_quadratic(i, j, sign_i * sign_j * weight * weight);
                }
            }
        }
        let mut gradient = data.cost.clone();
        form.quadratic.mul_add(1.0, &certificate.y, &mut gradient);
        for (col, gradient) in gradient.iter().enumerate() {
            let terms = form.a.colptr[col]..form.a.colptr[col + 1];
            let terms = terms.map(|k| (form.a.rowval[k], -form.a.nzval[k]));
            program.add_row(gradient / size, gradient / size, terms);
        }
        let value = certificate.bound - dot(&certificate.pi, &data.shift);
        let level = value - VALUE_TOL * value.abs().max(1.0) + form.quadratic.half_square(&certificate.y);
        let unit = data.right_side.iter().fold(1.0_f64, |unit, b| unit.max(b.abs()));
        let terms = data.right_side.iter().enumerate().filter(|(_, b)| **b != 0.0);
        program.add_row(level / (size * unit), f64::INFINITY, terms.map(|(index, b)| (index, -b / unit)));
        for (kind, entries) in &form.cones {
            let rows = dual_cone_rows(*kind, entries.clone());
            program.add_cone(*kind, rows.into_iter().map(|terms| (terms, 0.0))).map_err(|_| None)?;
        }
        let solved = program.solve(clock).map_err(|_| None)?;
        match solved.status {
            ConicStatus::Solved => Ok(solved.primal.iter().map(|z| z * size).collect()),
            ConicStatus::Stopped(stop) => Err(Some(stop)),
            ConicStatus::Infeasible | ConicStatus::Unbounded | ConicStatus::Inexact(_) | ConicStatus::Failed(_) => {
                Err(None)
            }
        }
    }
}
