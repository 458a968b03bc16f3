//! Least violation of an infeasible program. Its dual is the deepest Farkas certificate.
//!
//! Among all certificates an interior-point method returns a central one, and its cut may exclude little more than the
//! current x: feasibility cuts then approach the feasible x without reaching it. The elastic program
//!
//! ```text
//! min t   over   s + t·e ∈ K on inequalities and cones,   |activity − target| ≤ t on equalities,   l ≤ y ≤ u
//! ```
//!
//! with e in the interior of K has a dual that maximises the gain of the certificate over the multipliers with
//! `zᵀe + Σ|z_equality| = 1`. Its cut therefore supports the least violation, a convex function of x, and is zero where
//! the linearization of that function is zero.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSolver, SolverStatus, SupportedConeT};

use super::solver::{LADDER, new_solver, resolve};
use super::standard_form::{ActivitySource, StandardForm};
use crate::definition::ConeKind;
use crate::run::Clock;

/// The elastic program of a standard form. Its first entries are those of the form, so that their multipliers are a
/// certificate without further change.
pub(super) struct ElasticProgram {
    solver: DefaultSolver<f64>,
    cost: Vec<f64>,
    right_side: Vec<f64>,
    entries: usize,
}

impl ElasticProgram {
    pub(super) fn new(form: &StandardForm, clock: &Clock) -> Result<Self, String> {
        let (entries, t) = (form.entries.len(), form.cost.len());
        let (mut row, mut col, mut value) = (Vec::new(), Vec::new(), Vec::new());
        let mut push = |i: usize, j: usize, coefficient: f64| {
            row.push(i);
            col.push(j);
            value.push(coefficient);
        };
        for j in 0..t {
            for k in form.a.colptr[j]..form.a.colptr[j + 1] {
                push(form.a.rowval[k], j, form.a.nzval[k]);
            }
        }
        // Bounds of y are not relaxed, since they do not depend on x. In Ay + s = b the slack s is on the left, so that
        // the relaxation is subtracted.
        let is_row = |entry: usize| matches!(form.entries[entry].source, ActivitySource::Row(_));
        let equalities: Vec<usize> = (0..form.zero).filter(|&entry| is_row(entry)).collect();
        for entry in (form.zero..form.zero + form.nonnegative).filter(|&entry| is_row(entry)) {
            push(entry, t, -1.0);
        }
        for (kind, cone) in &form.cones {
            for (position, entry) in cone.clone().enumerate() {
                push(entry, t, -interior_point_entry(*kind, position));
            }
        }
        // Each equality has its own deviation v with (t, v) in a second-order cone: |v| ≤ t.
        let mut cones = form.standard_cones.clone();
        for (k, &entry) in equalities.iter().enumerate() {
            let v = t + 1 + k;
            push(entry, v, -1.0);
            push(entries + 2 * k, t, -1.0);
            push(entries + 2 * k + 1, v, -1.0);
            cones.push(SupportedConeT::SecondOrderConeT(2));
        }

        let (rows, cols) = (entries + 2 * equalities.len(), t + 1 + equalities.len());
        let a = CscMatrix::new_from_triplets(rows, cols, row, col, value);
        let mut cost = vec![0.0; cols];
        cost[t] = 1.0;
        let right_side = vec![0.0; rows];
        let solver = new_solver(&CscMatrix::zeros((cols, cols)), &cost, &a, &right_side, &cones, &LADDER[0], clock)?;
        Ok(Self { solver, cost, right_side, entries })
    }

    /// Returns the multipliers of the form's entries at its right-hand side b. The caller verifies that they are a
    /// certificate.
    pub(super) fn farkas_multipliers(&mut self, b: &[f64], iterations: &mut u64) -> Result<&[f64], String> {
        self.right_side[..self.entries].copy_from_slice(b);
        resolve(&mut self.solver, &self.cost, &self.right_side, iterations)?;
        match self.solver.solution.status {
            SolverStatus::Solved | SolverStatus::AlmostSolved => Ok(&self.solver.solution.z[..self.entries]),
            other => Err(format!("Clarabel ended with {other} on the least violation")),
        }
    }
}

/// Entry of a vector in the interior of each cone, by position.
fn interior_point_entry(kind: ConeKind, position: usize) -> f64 {
    match (kind, position) {
        (ConeKind::SecondOrder, 0) => 1.0,
        (ConeKind::SecondOrder, _) => 0.0,
        // 1·exp(−1/1) < 1.
        (ConeKind::Exponential, 0) => -1.0,
        (ConeKind::Exponential, _) => 1.0,
        (ConeKind::Power { .. }, 2) => 0.0,
        (ConeKind::Power { .. }, _) => 1.0,
        // The identity. Diagonal entries are at k(k+3)/2, where 8·position + 9 is a square.
        (ConeKind::Semidefinite, _) => f64::from((8 * position + 9).isqrt().pow(2) == 8 * position + 9),
    }
}
