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
use crate::numeric::tolerances::SUMMATION_TOL;
use clarabel::solver::DefaultSolution;

use super::cones::into_dual_cone;
use super::feasible_point::{Violation, make_feasible};
use super::residual::remove_residuals;
use super::standard_form::{ActivitySource, StandardForm, matrix_side};

/// Largest residual of a certificate of unboundedness, relative to its descent, and largest loss of a certificate of
/// infeasibility by the reduced costs of columns that should have none, relative to its gain.
const CERTIFICATE_RESIDUAL_TOL: f64 = 1e-6;

/// Smallest gain of a Farkas certificate, relative to the sum of the absolute terms of the gain. A program that misses
/// feasibility by less has usually a point that is feasible up to the tolerance of the solver.
pub(super) const FARKAS_GAIN_TOL: f64 = 1e-9;

/// Multiple of the values of y that the data suggest up to which a Farkas certificate must exclude every y in spite of
/// rounding, where y has no bounds.
const FARTHEST: f64 = 1e3;

/// Largest violation of a point that shows a program with a falling ray to be feasible, see [`Violation::largest`].
const POINT_VIOLATION_TOL: f64 = 1e-9;

/// Largest violation of a row by a point whose cost with the prices of its violations is an upper bound, see
/// [`Violation::largest`]: a tenth of what HiGHS allows. Of 60,000 recourse programs in ordinary units 0.7 % leave more
/// than rounding, and none more than this.
const PRICED_VIOLATION_TOL: f64 = 1e-8;

/// A gap of a solved program that is larger, absolutely and as a share of the cost, is worth another solve.
const COARSE_GAP: f64 = 1e-10;
const COARSE_SHARE: f64 = 1e-7;

/// Largest reduced cost that counts as rounding, relative to the sum of its absolute terms.
const ROUNDING_SHARE: f64 = 1e-13;

/// Reduced costs up to this share of the largest multiplier are zero: some of them are sums of underflows.
const NEGLIGIBLE_SHARE: f64 = 1e-24;

/// Largest reduced cost that is a residual where its column has a bound, relative to the sum of its absolute terms. A
/// larger one is the multiplier of the bound.
const RESIDUAL_SHARE: f64 = 1e-6;

/// Multipliers up to this share of the largest one are zero in a second attempt at a repair: above the
/// multipliers that Clarabel leaves at its loosest tolerance.
const SMALL_MULTIPLIER: f64 = 1e-6;

/// Rounds of repair. The second removes the rounding and the regularisation of the first, the others are for cones
/// where a repaired multiplier has to be moved back.
const REPAIR_ROUNDS: usize = 6;

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
    /// The cost of y. Of [`Proof::Bound`] it is an upper bound on the optimum, see [`Self::cost_of_violation`].
    pub(super) objective: f64,
    /// The lower bound, or the gain of the Farkas certificate, at shift zero. At another shift it is smaller by
    /// `πᵀshift`.
    pub(super) bound: f64,
    multipliers: Multipliers,
    /// Whether the multipliers are a Farkas certificate.
    is_farkas: bool,
    violation: Violation,
    /// Sum of the absolute terms of each reduced cost.
    terms: Vec<f64>,
    /// Columns whose reduced costs lost more than their share of the budget in some round of the repair.
    uncovered: Vec<usize>,
    is_uncovered: Vec<bool>,
    proof: Proof,
    matrix: Vec<f64>,
}

/// What the multipliers of an optimum must prove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// A lower bound that holds: residuals are repaired.
    Bound,
    /// The optimality of the point up to the tolerance of the solver: residuals are allowed to it.
    Tolerance,
}

/// The multipliers that prove a bound.
#[derive(Debug, Clone)]
pub(super) struct Multipliers {
    /// The multipliers of the entries.
    pub(super) z: Vec<f64>,
    /// The point ŷ at which the quadratic cost is replaced by its tangent.
    pub(super) tangent: Vec<f64>,
}

impl Multipliers {
    /// Sets multipliers to zero that are small against the largest one, cones as a whole.
    fn round(&mut self, form: &StandardForm) {
        let small = SMALL_MULTIPLIER * inf_norm(&self.z);
        let (scalars, cones) = self.z.split_at_mut(form.zero + form.nonnegative);
        scalars.iter_mut().filter(|z| z.abs() <= small).for_each(|z| *z = 0.0);
        for (_, entries) in &form.cones {
            let cone = &mut cones[entries.start - scalars.len()..entries.end - scalars.len()];
            if inf_norm(cone) <= small {
                cone.fill(0.0);
            }
        }
    }
}

/// The value of multipliers at shift zero.
#[derive(Clone, Copy)]
struct DualValue {
    total: f64,
    /// Sum of the absolute terms.
    mass: f64,
    /// Value lost by residuals on columns with a far bound.
    loss: f64,
    /// Largest |d_j| that neither a finite bound nor rounding explains. With one the value is no bound.
    residual: f64,
    /// Whether no column loses more than its share of the budget.
    is_covered: bool,
}

/// What is wrong with the point of a solver.
#[derive(Debug)]
pub(super) struct Flaw {
    pub(super) why: String,
    /// False if the point is feasible and its bound holds, but the two are too far apart, or the bound is −∞.
    pub(super) is_fatal: bool,
}

impl Flaw {
    pub(super) fn fatal(why: String) -> Self {
        Self { why, is_fatal: true }
    }
}

impl ConicCertificate {
    pub(super) fn new(form: &StandardForm, proof: Proof) -> Self {
        let side = form.cones.iter().map(|(_, entries)| matrix_side(entries.len())).max().unwrap_or(0);
        let cols = form.cost.len();
        Self {
            y: vec![0.0; cols],
            pi: vec![0.0; form.rows.rows()],
            reduced_costs: vec![0.0; cols],
            objective: f64::INFINITY,
            bound: f64::NEG_INFINITY,
            multipliers: Multipliers { z: vec![0.0; form.entries.len()], tangent: vec![0.0; cols] },
            is_farkas: false,
            violation: Violation::default(),
            terms: vec![0.0; cols],
            uncovered: Vec::with_capacity(cols),
            is_uncovered: vec![false; cols],
            proof,
            matrix: vec![0.0; side * side],
        }
    }

    /// Verifies an optimum: the primal residual, or the violation that a repair leaves, and the gap must be at most
    /// `tolerance`. If the gap alone is larger, the point and the bound, which may be −∞, hold nevertheless. If the
    /// violation is above [`PRICED_VIOLATION_TOL`], the bound does.
    pub(super) fn verify_optimum(
        &mut self,
        form: &StandardForm,
        data: &SolveData,
        solution: &DefaultSolution<f64>,
        tolerance: f64,
    ) -> Result<(), Flaw> {
        self.y.copy_from_slice(&solution.x);
        // A point that can be moved into its rows is as good as one in them.
        let (residual, what) = match self.proof {
            Proof::Bound => {
                make_feasible(form, data, &solution.s, &mut self.y, &mut self.violation, &mut self.matrix);
                (self.violation.largest(), "violation of rows")
            }
            Proof::Tolerance => (feasibility_error(form, data, solution), "residual"),
        };
        if !is_at_most(residual, tolerance) {
            return Err(Flaw::fatal(format!("the primal {what} is {residual:e}")));
        }
        self.verify_dual(form, data, &solution.z, tolerance)
    }

    /// Verifies multipliers beside the primal point y: the gap must be at most `tolerance`.
    pub(super) fn verify_dual(
        &mut self,
        form: &StandardForm,
        data: &SolveData,
        z: &[f64],
        tolerance: f64,
    ) -> Result<(), Flaw> {
        self.objective = dot(&data.cost, &self.y) + form.quadratic.half_square(&self.y);
        let allowed = tolerance * self.objective.abs().max(1.0);
        self.is_farkas = false;
        self.multipliers.z.copy_from_slice(z);
        self.multipliers.tangent.copy_from_slice(&self.y);
        let (value, residual_tol, loss_of_residuals) = match self.proof {
            Proof::Bound => (self.repair(form, data, &data.cost, allowed), 0.0, 0.0),
            Proof::Tolerance => {
                self.clear_uncovered();
                let value = self.evaluate(form, &data.cost, allowed);
                let prices = self.terms.iter().chain(&self.pi).fold(1.0, |size: f64, term| size.max(term.abs()));
                (value, tolerance * prices, value.loss)
            }
        };
        if !is_at_most(value.residual, residual_tol) {
            self.bound = f64::NEG_INFINITY;
            return Err(Flaw { why: format!("the dual residual is {:e}", value.residual), is_fatal: false });
        }
        self.bound = value.total + loss_of_residuals - SUMMATION_TOL * value.mass;
        if self.proof == Proof::Bound {
            self.objective += self.cost_of_violation(form, data);
        }
        if self.proof == Proof::Bound && !is_at_most(self.violation.largest(), PRICED_VIOLATION_TOL) {
            return Err(Flaw {
                why: format!("the point violates a row by {:e}", self.violation.largest()),
                is_fatal: false,
            });
        }
        let gap = self.objective - self.value(data);
        match is_at_most(gap.abs(), allowed) {
            true => Ok(()),
            false => Err(Flaw {
                why: format!("the duality gap is {gap:e} at the value {:e}", self.objective),
                is_fatal: gap.is_nan(),
            }),
        }
    }

    /// Returns the violation that remains after the repair of y, at the prices of the multipliers, and the rounding of
    /// the cost and of the slacks.
    ///
    /// Where only rounding remains, y is feasible and its cost an upper bound. Otherwise the optimum is a convex
    /// function of the slacks' move, whose slope at zero the multipliers of an optimum are: the sum is an upper bound
    /// up to the error of the multipliers, for violations of at most [`PRICED_VIOLATION_TOL`].
    fn cost_of_violation(&self, form: &StandardForm, data: &SolveData) -> f64 {
        let Violation { moves, terms, .. } = &self.violation;
        let violated: f64 = (self.multipliers.z.iter().zip(moves.iter().zip(terms)))
            .map(|(z, (moved, terms))| z.abs() * (moved.abs() + f64::EPSILON * terms))
            .sum();
        let costs: f64 = data.cost.iter().zip(&self.y).map(|(cost, y)| (cost * y).abs()).sum();
        violated + SUMMATION_TOL * (costs + form.quadratic.half_square(&self.y).abs())
    }

    /// Verifies a Farkas certificate, scaled to a largest row multiplier of 1: it must exclude every y, and gain more
    /// than the share `least_gain` of the terms of its gain.
    pub(super) fn verify_farkas(
        &mut self,
        form: &StandardForm,
        data: &SolveData,
        z: &[f64],
        least_gain: f64,
    ) -> Result<(), String> {
        let zero_cost = vec![0.0; form.cost.len()];
        self.is_farkas = true;
        self.multipliers.z.copy_from_slice(z);
        self.set_row_multipliers(form);
        let scale = inf_norm(&self.pi).recip();
        if !scale.is_finite() {
            return Err("the certificate of infeasibility names no row".to_owned());
        }
        self.multipliers.z.iter_mut().chain(&mut self.pi).for_each(|multiplier| *multiplier *= scale);
        self.multipliers.tangent.fill(0.0);
        self.y.fill(0.0);
        let budget = CERTIFICATE_RESIDUAL_TOL * (self.target_product(form).0 - dot(&self.pi, &data.shift)).abs();
        let value = self.repair(form, data, &zero_cost, budget);
        self.bound = value.total;
        self.objective = f64::INFINITY;
        let gain = self.value(data);
        let mass = value.mass + self.pi.iter().zip(&data.shift).map(|(pi, shift)| (pi * shift).abs()).sum::<f64>();
        let doubt = self.doubt(form, data) + SUMMATION_TOL * mass;
        let scale = inf_norm(&self.pi).recip();
        if !(gain > least_gain * mass && gain > 2.0 * doubt && value.residual == 0.0 && scale.is_finite()) {
            return Err(format!(
                "the certificate of infeasibility gains {gain:e}, {doubt:e} of it in doubt, with a residual of {:e}",
                value.residual
            ));
        }
        // The repair may have shortened it.
        self.bound *= scale;
        self.multipliers.z.iter_mut().chain(&mut self.pi).for_each(|multiplier| *multiplier *= scale);
        Ok(())
    }

    /// Returns how much of the gain of a Farkas certificate the rounding of its reduced costs may take away. A reduced
    /// cost of one term has no sum that rounds, and so the sign that it seems to have. Where y has no bound, it counts
    /// up to [`FARTHEST`] times the largest value at which one of its terms meets the targets, the shifts and the
    /// bounds of the other variables in a row.
    fn doubt(&self, form: &StandardForm, data: &SolveData) -> f64 {
        let mut sizes: Vec<f64> = data.shift.iter().map(|shift| shift.abs()).collect();
        for entry in &form.entries {
            if let ActivitySource::Row(row) = entry.source {
                sizes[row] += entry.target.abs();
            }
        }
        let finite = |bound: f64| if bound.is_finite() { bound.abs() } else { 0.0 };
        let (mut counts, mut reach) = (vec![0_u32; form.cost.len()], vec![0.0_f64; form.cost.len()]);
        for row in (0..form.rows.rows()).filter(|row| self.pi[*row] != 0.0) {
            let bounds =
                form.rows.row(row).map(|(j, value)| value.abs() * finite(form.lower[j]).max(finite(form.upper[j])));
            let size = sizes[row] + bounds.sum::<f64>();
            for (col, value) in form.rows.row(row) {
                counts[col] += 1;
                reach[col] = reach[col].max(FARTHEST * size / value.abs());
            }
        }
        let mut doubt = 0.0;
        for (col, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 1) {
            let (d, lower, upper) = (self.reduced_costs[col], form.lower[col], form.upper[col]);
            let error = f64::from(count + 2) * f64::EPSILON * self.terms[col];
            let bound = if d > 0.0 { lower } else { upper };
            let counted = if bound.is_finite() { d * bound } else { 0.0 };
            let least = |y: f64| d * y - error * y.abs();
            let (lower, upper) = (lower.max(-reach[col].max(finite(upper))), upper.min(reach[col].max(finite(lower))));
            doubt += counted - least(lower).min(least(upper));
        }
        doubt
    }

    /// Takes over a ray.
    pub(super) fn set_ray(&mut self, ray: &[f64]) {
        self.clear();
        self.y.copy_from_slice(ray);
        self.objective = f64::NEG_INFINITY;
    }

    /// Returns whether a point of the solver can be moved into all rows and cones, up to [`POINT_VIOLATION_TOL`].
    pub(super) fn has_feasible_point(
        &mut self,
        form: &StandardForm,
        data: &SolveData,
        solution: &DefaultSolution<f64>,
    ) -> bool {
        let mut point = solution.x.clone();
        make_feasible(form, data, &solution.s, &mut point, &mut self.violation, &mut self.matrix);
        is_at_most(self.violation.largest(), POINT_VIOLATION_TOL)
    }

    /// Returns whether y is feasible up to rounding and its bound is finite, so that both hold, however far apart.
    pub(super) fn holds(&self) -> bool {
        self.proof == Proof::Bound && self.violation.is_rounding() && self.bound.is_finite()
    }

    /// The distance of cost and bound, and whether it is large against the cost, while Clarabel's own tolerance is not
    /// to blame.
    pub(super) fn is_coarse(&self, data: &SolveData) -> bool {
        let gap = self.objective - self.value(data);
        self.proof == Proof::Bound && gap > COARSE_GAP && gap > COARSE_SHARE * self.objective.abs()
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

    /// The bound at the shift of a solve.
    pub(super) fn value(&self, data: &SolveData) -> f64 {
        self.bound - dot(&self.pi, &data.shift)
    }

    /// Resets to no solution and no bound.
    pub(super) fn clear(&mut self) {
        for buffer in [&mut self.y, &mut self.pi, &mut self.reduced_costs] {
            buffer.fill(0.0);
        }
        (self.objective, self.bound) = (f64::INFINITY, f64::NEG_INFINITY);
    }

    /// Moves z into the dual cone and computes π from it.
    fn set_row_multipliers(&mut self, form: &StandardForm) {
        let z = &mut self.multipliers.z;
        for z in &mut z[form.zero..form.zero + form.nonnegative] {
            *z = z.max(0.0);
        }
        for (kind, entries) in &form.cones {
            into_dual_cone(*kind, &mut z[entries.clone()], &mut self.matrix);
        }
        self.pi.fill(0.0);
        for (entry, z) in form.entries.iter().zip(&*z) {
            if let ActivitySource::Row(row) = entry.source {
                self.pi[row] += entry.sign * z;
            }
        }
    }

    /// Returns `Σ z·sign·target` over the entries of rows, and the sum of the absolute terms.
    fn target_product(&self, form: &StandardForm) -> (f64, f64) {
        (form.entries.iter().zip(&self.multipliers.z))
            .filter(|(entry, _)| matches!(entry.source, ActivitySource::Row(_)))
            .map(|(entry, z)| z * entry.sign * entry.target)
            .fold((0.0, 0.0), |(sum, mass), term| (sum + term, mass + term.abs()))
    }

    /// Repairs the multipliers until the reduced costs lose at most `budget` at the bounds of y (see `residual.rs`),
    /// and evaluates them. The best multipliers met remain.
    ///
    /// An interior-point method leaves small multipliers where zero is optimal, and columns that only such rows have
    /// can be out of reach of small changes. The second attempt starts with these multipliers at zero.
    fn repair(&mut self, form: &StandardForm, data: &SolveData, cost: &[f64], budget: f64) -> DualValue {
        self.clear_uncovered();
        let mut value = self.evaluate(form, cost, budget);
        if value.is_covered {
            return value;
        }
        let rank = |value: &DualValue, pi: &[f64]| (value.residual == 0.0, value.total - dot(pi, &data.shift));
        let found = self.multipliers.clone();
        let mut best = (rank(&value, &self.pi), found.clone());
        for is_rounded in [false, true] {
            if is_rounded {
                self.multipliers.clone_from(&found);
                self.multipliers.round(form);
                self.clear_uncovered();
                value = self.evaluate(form, cost, budget);
            }
            for _ in 0..REPAIR_ROUNDS {
                let is_better = rank(&value, &self.pi) > best.0;
                if is_better {
                    best = (rank(&value, &self.pi), self.multipliers.clone());
                }
                if value.is_covered
                    || !remove_residuals(form, &self.uncovered, &self.reduced_costs, budget, &mut self.multipliers)
                {
                    break;
                }
                value = self.evaluate(form, cost, budget);
            }
            if value.is_covered {
                break;
            }
        }
        if best.0 > rank(&value, &self.pi) {
            self.multipliers = best.1;
            value = self.evaluate(form, cost, budget);
        }
        value
    }

    fn clear_uncovered(&mut self) {
        self.uncovered.drain(..).for_each(|col| self.is_uncovered[col] = false);
    }

    /// Computes the reduced costs d of the multipliers, and the minimum of dᵀy over the bounds of y with the targets'
    /// part. Marks the columns whose d loses more than its share of `budget` against its value at y.
    ///
    /// Where the bound in the direction of −d_j is infinite, the minimum is finite only for d_j = 0. There a |d_j| that
    /// the rounding of its own terms explains is evaluated at y_j, and any other is a residual.
    fn evaluate(&mut self, form: &StandardForm, cost: &[f64], budget: f64) -> DualValue {
        self.set_row_multipliers(form);
        let tangent = &self.multipliers.tangent;
        self.reduced_costs.copy_from_slice(cost);
        form.quadratic.mul_add(1.0, tangent, &mut self.reduced_costs);
        self.terms.iter_mut().zip(cost).for_each(|(terms, cost)| *terms = cost.abs());
        for (i, j, value) in form.quadratic.iter() {
            self.terms[i] += (value * tangent[j]).abs();
            self.terms[j] += (value * tangent[i]).abs();
        }
        for (row, &pi) in self.pi.iter().enumerate().filter(|(_, pi)| **pi != 0.0) {
            for (col, value) in form.rows.row(row) {
                self.reduced_costs[col] -= pi * value;
                self.terms[col] += (pi * value).abs();
            }
        }
        let budget = budget / form.cost.len().max(1) as f64;
        // Multipliers of bounds, which are reduced costs themselves, say nothing of the size of a Farkas certificate.
        let negligible = NEGLIGIBLE_SHARE * inf_norm(if self.is_farkas { &self.pi } else { &self.multipliers.z });
        let ((targets, mass), half_square) = (self.target_product(form), form.quadratic.half_square(tangent));
        let mut value = DualValue {
            total: targets - half_square,
            mass: mass + half_square.abs(),
            loss: 0.0,
            residual: 0.0,
            is_covered: true,
        };
        for (col, (&d, &y)) in self.reduced_costs.iter().zip(&self.y).enumerate() {
            if d == 0.0 {
                continue;
            }
            let bound = if d > 0.0 { form.lower[col] } else { form.upper[col] };
            let share = d.abs() / self.terms[col];
            let term = if bound.is_finite() { d * bound } else { d * y };
            let is_covered = match bound.is_finite() {
                true => share > RESIDUAL_SHARE || (d * (y - bound)).abs() <= budget,
                false => share <= ROUNDING_SHARE || d.abs() <= negligible,
            };
            if !is_covered {
                value.is_covered = false;
                // A column stays in: a repair that ignores it would undo its repair.
                if !std::mem::replace(&mut self.is_uncovered[col], true) {
                    self.uncovered.push(col);
                }
                match bound.is_finite() {
                    true => value.loss += d * (y - bound),
                    false => value.residual = value.residual.max(d.abs()),
                }
            }
            value.total += term;
            value.mass += term.abs();
        }
        value
    }
}

/// Returns the residual of `Ay + s = b`, relative to the largest number in it. The slack s is in its cone, since the
/// iterates of an interior-point method are.
fn feasibility_error(form: &StandardForm, data: &SolveData, solution: &DefaultSolution<f64>) -> f64 {
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
