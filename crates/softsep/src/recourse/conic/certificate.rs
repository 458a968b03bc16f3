//! Verification of the points that Clarabel returns: a lower bound by duality, a Farkas certificate, or a ray. Each is
//! recomputed here from the multipliers.
//!
//! For multipliers z in the dual cone, row multipliers `π = Σ sign·z`, and any ŷ (½yᵀHy ≥ ŷᵀHy − ½ŷᵀHŷ as H is positive
//! semidefinite), every feasible y costs at least
//!
//! ```text
//! −½ŷᵀHŷ + min over l ≤ y ≤ u of dᵀy + Σ z·sign·target − πᵀshift,     d = c + Hŷ − Gᵀπ
//! ```
//!
//! where the sum is over the entries of rows. The multipliers of the bounds on y follow from d, and those of the solver
//! are not used. The value is affine in the shift Ex + Uξ, so it is a cut in x. With c = H = 0 it is Farkas' lemma: a
//! positive value excludes every y.

use crate::numeric::dot;
use clarabel::solver::DefaultSolution;

use super::cones::into_dual_cone;
use super::standard_form::{ActivitySource, StandardForm, matrix_side};

/// Largest residual of a certificate of infeasibility or unboundedness, relative to its gain.
const CERTIFICATE_RESIDUAL_TOL: f64 = 1e-6;

/// Smallest gain of a Farkas certificate, relative to the sum of the absolute terms of the gain.
const FARKAS_GAIN_TOL: f64 = 1e-9;

/// Data of one solve.
#[derive(Debug)]
pub(super) struct SolveData {
    /// The cost vector c.
    pub(super) cost: Vec<f64>,
    /// The shift Ex + Uξ of each row.
    pub(super) shift: Vec<f64>,
    /// Clarabel's b, computed from the shift.
    pub(super) right_side: Vec<f64>,
}

/// The last point that was verified, and the bound that it proves. Undefined after a failed verification.
#[derive(Debug, Clone)]
pub(super) struct ConicCertificate {
    /// The primal point or the ray. Zeros after infeasibility.
    pub(super) y: Vec<f64>,
    /// The multipliers of the rows, or the Farkas certificate. Zeros after unboundedness.
    pub(super) pi: Vec<f64>,
    /// The reduced costs d, which are the multipliers of the bounds of y: positive at a lower bound, negative at an
    /// upper one.
    pub(super) reduced_costs: Vec<f64>,
    /// The cost of y.
    pub(super) objective: f64,
    /// The lower bound, or the gain of the Farkas certificate, at shift zero. At another shift it is smaller by
    /// `πᵀshift`.
    pub(super) bound: f64,
    z: Vec<f64>,
    matrix: Vec<f64>,
}

/// The minimum of dᵀy over the finite bounds.
struct BoundTerms {
    total: f64,
    /// Sum of the absolute terms.
    mass: f64,
    /// Largest |d_j| that is not covered by a finite bound.
    residual: f64,
}

impl ConicCertificate {
    pub(super) fn new(form: &StandardForm) -> Self {
        let side = form.cones.iter().map(|(_, entries)| matrix_side(entries.len())).max().unwrap_or(0);
        let cols = form.cost.len();
        Self {
            y: vec![0.0; cols],
            pi: vec![0.0; form.rows.rows()],
            reduced_costs: vec![0.0; cols],
            objective: f64::INFINITY,
            bound: f64::NEG_INFINITY,
            z: vec![0.0; form.entries.len()],
            matrix: vec![0.0; side * side],
        }
    }

    /// Verifies an optimum: primal residual, dual residual and gap must be at most `tolerance`.
    pub(super) fn verify_optimum(
        &mut self,
        form: &StandardForm,
        data: &SolveData,
        solution: &DefaultSolution<f64>,
        tolerance: f64,
    ) -> Result<(), String> {
        let primal_residual = feasibility_error(form, data, solution);
        if !is_at_most(primal_residual, tolerance) {
            return Err(format!("the primal residual is {primal_residual:e}"));
        }
        self.y.copy_from_slice(&solution.x);
        self.verify_dual(form, data, &solution.z, tolerance)
    }

    /// Verifies multipliers beside the primal point y: dual residual and gap must be at most `tolerance`.
    pub(super) fn verify_dual(
        &mut self,
        form: &StandardForm,
        data: &SolveData,
        z: &[f64],
        tolerance: f64,
    ) -> Result<(), String> {
        self.set_multipliers(form, z);
        self.reduced_costs.copy_from_slice(&data.cost);
        form.quadratic.mul_add(1.0, &self.y, &mut self.reduced_costs);
        let gradient_norm = inf_norm(&self.reduced_costs);
        form.rows.transpose_mul_add(-1.0, &self.pi, &mut self.reduced_costs);
        let half_square = form.quadratic.half_square(&self.y);
        self.objective = dot(&data.cost, &self.y) + half_square;

        let allowed = tolerance * self.objective.abs().max(1.0);
        let dual_tol = tolerance * gradient_norm.max(inf_norm(&self.pi)).max(1.0);
        let bound_terms = self.minimise_over_bounds(form, allowed / form.cost.len().max(1) as f64, dual_tol);
        if !is_at_most(bound_terms.residual, dual_tol) {
            return Err(format!("the dual residual is {:e}", bound_terms.residual));
        }
        self.bound = bound_terms.total - half_square + self.target_product(form).0;
        let gap = self.objective - (self.bound - dot(&self.pi, &data.shift));
        if !is_at_most(gap.abs(), allowed) {
            return Err(format!("the duality gap is {gap:e} at the value {:e}", self.objective));
        }
        Ok(())
    }

    /// Verifies a Farkas certificate, scaled to a largest row multiplier of 1: it must exclude every y.
    pub(super) fn verify_farkas(&mut self, form: &StandardForm, data: &SolveData, z: &[f64]) -> Result<(), String> {
        self.set_multipliers(form, z);
        let scale = inf_norm(&self.pi).recip();
        if !scale.is_finite() {
            return Err("the certificate of infeasibility names no row".to_owned());
        }
        self.z.iter_mut().chain(&mut self.pi).for_each(|multiplier| *multiplier *= scale);
        self.y.fill(0.0);
        self.reduced_costs.fill(0.0);
        form.rows.transpose_mul_add(-1.0, &self.pi, &mut self.reduced_costs);

        let (targets, mut mass) = self.target_product(form);
        let shifts = dot(&self.pi, &data.shift);
        mass += self.pi.iter().zip(&data.shift).map(|(pi, shift)| (pi * shift).abs()).sum::<f64>();
        let budget = CERTIFICATE_RESIDUAL_TOL * (targets - shifts).abs() / form.cost.len().max(1) as f64;
        let bound_terms = self.minimise_over_bounds(form, budget, CERTIFICATE_RESIDUAL_TOL * form.max_coefficient);
        self.bound = targets + bound_terms.total;
        self.objective = f64::INFINITY;
        let gain = self.bound - shifts;
        if !(gain > FARKAS_GAIN_TOL * (mass + bound_terms.mass)
            && is_at_most(bound_terms.residual, CERTIFICATE_RESIDUAL_TOL * gain))
        {
            return Err(format!(
                "the certificate of infeasibility gains {gain:e} with a residual of {:e}",
                bound_terms.residual
            ));
        }
        Ok(())
    }

    /// Verifies a ray, scaled to a largest entry of 1: the cost must fall along it, and it must stay in every cone.
    pub(super) fn verify_ray(
        &mut self,
        form: &StandardForm,
        data: &SolveData,
        solution: &DefaultSolution<f64>,
    ) -> Result<(), String> {
        let scale = inf_norm(&solution.x).recip();
        self.y.iter_mut().zip(&solution.x).for_each(|(ray, x)| *ray = scale * x);
        // H y must be zero as well, or the cost would rise in the end.
        self.reduced_costs.fill(0.0);
        form.quadratic.mul_add(1.0, &self.y, &mut self.reduced_costs);
        let descent = -dot(&data.cost, &self.y);
        let curvature = inf_norm(&self.reduced_costs);
        let cone_residual = (form.entries.iter().zip(&solution.s))
            .map(|(entry, slack)| (form.activity_of(entry, &self.y) - scale * slack).abs())
            .fold(0.0, f64::max);
        self.reduced_costs.fill(0.0);
        self.pi.fill(0.0);
        (self.objective, self.bound) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        let allowed = CERTIFICATE_RESIDUAL_TOL * descent;
        if !(descent > 0.0
            && is_at_most(curvature, allowed)
            && is_at_most(cone_residual * inf_norm(&data.cost), allowed * form.max_coefficient))
        {
            return Err(format!(
                "the ray descends by {descent:e}, curves by {curvature:e} and leaves its cones by {cone_residual:e}"
            ));
        }
        Ok(())
    }

    /// Resets to no solution and no bound.
    pub(super) fn clear(&mut self) {
        for buffer in [&mut self.y, &mut self.pi, &mut self.reduced_costs] {
            buffer.fill(0.0);
        }
        (self.objective, self.bound) = (f64::INFINITY, f64::NEG_INFINITY);
    }

    /// Moves z into the dual cone and computes π from it.
    fn set_multipliers(&mut self, form: &StandardForm, z: &[f64]) {
        self.z.copy_from_slice(z);
        for z in &mut self.z[form.zero..form.zero + form.nonnegative] {
            *z = z.max(0.0);
        }
        for (kind, entries) in &form.cones {
            into_dual_cone(*kind, &mut self.z[entries.clone()], &mut self.matrix);
        }
        self.pi.fill(0.0);
        for (entry, z) in form.entries.iter().zip(&self.z) {
            if let ActivitySource::Row(row) = entry.source {
                self.pi[row] += entry.sign * z;
            }
        }
    }

    /// Returns `Σ z·sign·target` over the entries of rows, and the sum of the absolute terms.
    fn target_product(&self, form: &StandardForm) -> (f64, f64) {
        (form.entries.iter().zip(&self.z))
            .filter(|(entry, _)| matches!(entry.source, ActivitySource::Row(_)))
            .map(|(entry, z)| z * entry.sign * entry.target)
            .fold((0.0, 0.0), |(sum, mass), term| (sum + term, mass + term.abs()))
    }

    /// Returns the minimum of d_j·y_j over the bounds of y_j, summed over j.
    ///
    /// At an optimum d_j is the multiplier of a bound or zero, up to the tolerance of the solver. Where the bound in
    /// the direction of −d_j is infinite the minimum is finite only for d_j = 0, and where it is far away the minimum
    /// is uselessly weak. There a |d_j| below `dual_tol` is evaluated at ŷ_j. That is an error of |d_j|·|y_j − ŷ_j| for
    /// other y_j, as the tolerance of the solver allows. All other terms, and those of at most `budget`, are evaluated
    /// at the bound and hold without a tolerance.
    fn minimise_over_bounds(&self, form: &StandardForm, budget: f64, dual_tol: f64) -> BoundTerms {
        let mut bound_terms = BoundTerms { total: 0.0, mass: 0.0, residual: 0.0 };
        for (col, (&d, &y)) in self.reduced_costs.iter().zip(&self.y).enumerate() {
            if d == 0.0 {
                continue;
            }
            let bound = if d > 0.0 { form.lower[col] } else { form.upper[col] };
            let at_bound = bound.is_finite() && (d.abs() > dual_tol || d.abs() * (y - bound).abs() <= budget);
            if !at_bound {
                bound_terms.residual = bound_terms.residual.max(d.abs());
            }
            let term = d * if at_bound { bound } else { y };
            bound_terms.total += term;
            bound_terms.mass += term.abs();
        }
        bound_terms
    }
}

/// Returns the residual of `Ay + s = b`, relative to the largest number in it. The slack s is in its cone, since the
/// iterates of an interior-point method are.
pub(super) fn feasibility_error(form: &StandardForm, data: &SolveData, solution: &DefaultSolution<f64>) -> f64 {
    let (mut error, mut size) = (0.0_f64, 1.0_f64);
    for ((entry, b), slack) in form.entries.iter().zip(&data.right_side).zip(&solution.s) {
        let activity = form.activity_of(entry, &solution.x);
        let residual_of_entry = (b + activity - slack).abs();
        // The maximum would drop a NaN.
        error = if residual_of_entry.is_nan() { f64::INFINITY } else { error.max(residual_of_entry) };
        size = size.max(b.abs()).max(activity.abs());
    }
    error / size
}

/// Returns whether a number is finite and at most `limit`.
pub(super) fn is_at_most(number: f64, limit: f64) -> bool {
    number.is_finite() && number <= limit
}

fn inf_norm(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |norm: f64, entry| norm.max(entry.abs()))
}
