//! Projection onto bounds and rows by a dual active-set method (Goldfarb and Idnani, 1983).
//!
//! With the multipliers λ of the active rows, a variable without an active bound is at its target `x − H⁻¹Aᵀλ`. All
//! iterates are optimal for the active constraints alone: each multiplier has the right sign, and a bound is active
//! only if the target is beyond it. An iteration activates the most violated constraint by raising its multiplier, and
//! drops active constraints whose multiplier becomes zero on the way. The distance grows with each iteration, so that
//! no active set repeats. A variable at an active bound is removed from the linear algebra. The others are in
//! [`ThinQr`].

use super::polyhedron::{ConstraintSide, FirstStagePolyhedron};
use super::qr::ThinQr;

/// The method failed: X is empty, or rounding errors prevented convergence. The caller decides which of the two.
#[derive(Debug)]
pub(super) struct ActiveSetFailure;

/// Rounds in which all violated constraints are activated at once. After them one at a time is activated, which
/// terminates. On a box of 1000 variables with 100 rows a handful of these rounds replaces a thousand steps; in a very
/// uneven metric they may cycle.
const MAX_BATCH_ROUNDS: usize = 20;

/// The active constraints. The next projection starts from them.
#[derive(Debug)]
pub(super) struct ActiveSet {
    /// +1 where the upper bound is active, −1 where the lower one is, 0 where the variable is free.
    bound_side: Vec<f64>,
    rows: Vec<ActiveRow>,
    /// Position of each variable without its bounds.
    target: Vec<f64>,
    qr: ThinQr,
    /// Rows in the QR factors, and the variables that were at a bound when the factors were computed.
    rows_in_qr: Vec<usize>,
    at_bound_in_qr: Vec<bool>,
    /// One entry per active row: a right-hand side, then the solution. In [`activate`](Self::activate) the rates at
    /// which the multipliers fall.
    multiplier_rate: Vec<f64>,
    /// Rate of change of the gradient of the Lagrangian with the multiplier that is raised.
    gradient_rate: Vec<f64>,
    /// Rate of change of the point.
    direction: Vec<f64>,
}

#[derive(Debug, Clone, Copy)]
struct ActiveRow {
    index: usize,
    sign: f64,
    multiplier: f64,
}

/// The active constraint that limits the step of a multiplier.
enum BlockingConstraint {
    Row(usize),
    Bound(usize),
}

impl ActiveSet {
    pub(super) fn new(dim: usize) -> Self {
        Self {
            bound_side: vec![0.0; dim],
            rows: Vec::new(),
            target: vec![0.0; dim],
            qr: ThinQr::new(dim),
            rows_in_qr: Vec::new(),
            at_bound_in_qr: vec![false; dim],
            multiplier_rate: Vec::new(),
            gradient_rate: vec![0.0; dim],
            direction: vec![0.0; dim],
        }
    }

    /// Writes the projection into v. Starts from the last active set, and if that fails, from the bounds that x
    /// violates.
    pub(super) fn project(
        &mut self,
        polyhedron: &FirstStagePolyhedron,
        x: &[f64],
        inverse_metric: &[f64],
        v: &mut [f64],
    ) -> Result<(), ActiveSetFailure> {
        self.solve(polyhedron, x, inverse_metric, v).or_else(|ActiveSetFailure| {
            self.rows.clear();
            for (j, bound_side) in self.bound_side.iter_mut().enumerate() {
                let (lower, upper) = polyhedron.bounds(j);
                *bound_side = f64::from(x[j] > upper) - f64::from(x[j] < lower);
            }
            self.solve(polyhedron, x, inverse_metric, v)
        })
    }

    fn solve(
        &mut self,
        polyhedron: &FirstStagePolyhedron,
        x: &[f64],
        inverse_metric: &[f64],
        v: &mut [f64],
    ) -> Result<(), ActiveSetFailure> {
        for (j, bound_side) in self.bound_side.iter_mut().enumerate() {
            let (lower, upper) = polyhedron.bounds(j);
            if lower == upper {
                *bound_side = 1.0;
            }
        }
        self.solve_active(polyhedron, x, inverse_metric, v)?;
        for _ in 0..MAX_BATCH_ROUNDS {
            if !self.activate_all_violated(polyhedron, v) {
                break;
            }
            self.solve_active(polyhedron, x, inverse_metric, v)?;
        }
        for _ in 0..100 + 10 * (x.len() + polyhedron.rows()) {
            let Some(side) = polyhedron.most_violated(v, inverse_metric) else {
                for (j, v) in v.iter_mut().enumerate() {
                    *v = polyhedron.clamp(j, *v);
                }
                return Ok(());
            };
            self.activate(side, polyhedron, inverse_metric, v)?;
            self.solve_active(polyhedron, x, inverse_metric, v)?;
        }
        Err(ActiveSetFailure)
    }

    /// Computes the optimum for the active constraints alone, and drops constraints until all multipliers have the
    /// right sign.
    fn solve_active(
        &mut self,
        polyhedron: &FirstStagePolyhedron,
        x: &[f64],
        inverse_metric: &[f64],
        v: &mut [f64],
    ) -> Result<(), ActiveSetFailure> {
        loop {
            self.update_qr(polyhedron, inverse_metric);
            for (j, v) in v.iter_mut().enumerate() {
                let (lower, upper) = polyhedron.bounds(j);
                *v = match self.bound_side[j] {
                    0.0 => x[j],
                    bound_side if bound_side > 0.0 => upper,
                    _ => lower,
                };
            }
            self.rows.iter_mut().for_each(|row| row.multiplier = 0.0);
            // The second pass removes the rounding error of the first.
            for _ in 0..2 {
                self.multiplier_rate.clear();
                self.multiplier_rate.extend(
                    self.rows
                        .iter()
                        .map(|row| polyhedron.activity(row.index, v) - polyhedron.side(row.index, row.sign)),
                );
                self.qr.min_norm_solution(&mut self.multiplier_rate, &mut self.direction);
                for (j, v) in v.iter_mut().enumerate() {
                    *v -= self.direction[j] * inverse_metric[j].sqrt();
                }
                self.rows.iter_mut().zip(&self.multiplier_rate).for_each(|(row, change)| row.multiplier += change);
            }
            self.update_targets(polyhedron, x, inverse_metric);
            if !self.drop_wrong_signs(polyhedron) {
                return if v.iter().all(|v| v.is_finite()) { Ok(()) } else { Err(ActiveSetFailure) };
            }
        }
    }

    /// Discards the QR factors after a change of the metric, which scales the normals.
    pub(super) fn reset_metric(&mut self) {
        self.rows_in_qr.clear();
    }

    /// Updates the QR factors of the active rows, and drops rows whose normals depend linearly on earlier ones. The
    /// factors of leading rows are kept while none of their variables has reached or left a bound: with a hundred
    /// active rows nearly all of the time would go into computing them again.
    fn update_qr(&mut self, polyhedron: &FirstStagePolyhedron, inverse_metric: &[f64]) {
        let Self { bound_side, rows, qr, rows_in_qr, at_bound_in_qr, .. } = self;
        let is_same = |&(row, rows_in_qr): &(&ActiveRow, &usize)| {
            row.index == *rows_in_qr
                && polyhedron.terms(row.index).all(|(j, _)| at_bound_in_qr[j] == (bound_side[j] != 0.0))
        };
        let kept = rows.iter().zip(rows_in_qr.iter()).take_while(is_same).count().min(qr.size());
        qr.truncate(kept);
        rows_in_qr.truncate(kept);
        at_bound_in_qr
            .iter_mut()
            .zip(&*bound_side)
            .for_each(|(rows_in_qr, bound_side)| *rows_in_qr = *bound_side != 0.0);
        let mut side = 0;
        rows.retain(|row| {
            side += 1;
            if side <= kept {
                return true;
            }
            let normal = qr.next_normal();
            for (j, value) in polyhedron.terms(row.index) {
                if bound_side[j] == 0.0 {
                    normal[j] += value * inverse_metric[j].sqrt();
                }
            }
            let is_new = qr.append();
            if is_new {
                rows_in_qr.push(row.index);
            }
            is_new
        });
    }

    /// Computes the targets from the multipliers.
    fn update_targets(&mut self, polyhedron: &FirstStagePolyhedron, x: &[f64], inverse_metric: &[f64]) {
        self.target.fill(0.0);
        for row in &self.rows {
            for (j, value) in polyhedron.terms(row.index) {
                self.target[j] += row.multiplier * value;
            }
        }
        for (j, target) in self.target.iter_mut().enumerate() {
            *target = x[j] - inverse_metric[j] * *target;
        }
    }

    fn drop_wrong_signs(&mut self, polyhedron: &FirstStagePolyhedron) -> bool {
        let before = self.rows.len();
        self.rows.retain(|row| {
            let (lower, upper) = polyhedron.sides(row.index);
            lower == upper || row.sign * row.multiplier >= 0.0
        });
        let mut dropped = self.rows.len() < before;
        for (j, bound_side) in self.bound_side.iter_mut().enumerate() {
            let (lower, upper) = polyhedron.bounds(j);
            if lower < upper
                && (*bound_side > 0.0 && self.target[j] < upper || *bound_side < 0.0 && self.target[j] > lower)
            {
                *bound_side = 0.0;
                dropped = true;
            }
        }
        dropped
    }

    /// Activates all violated constraints. Returns whether there were any.
    fn activate_all_violated(&mut self, polyhedron: &FirstStagePolyhedron, v: &[f64]) -> bool {
        let Self { bound_side, rows, .. } = self;
        let mut any = false;
        polyhedron.for_each_violated(v, |side, _| {
            any = true;
            match side {
                ConstraintSide::Row(index, sign) => rows.push(ActiveRow { index, sign, multiplier: 0.0 }),
                ConstraintSide::Bound(j, sign) => bound_side[j] = sign,
            }
        });
        any
    }

    /// Activates a violated constraint.
    fn activate(
        &mut self,
        side: ConstraintSide,
        polyhedron: &FirstStagePolyhedron,
        inverse_metric: &[f64],
        v: &mut [f64],
    ) -> Result<(), ActiveSetFailure> {
        for _ in 0..=self.bound_side.len() + self.rows.len() {
            let decrease_rate = self.compute_rates(side, polyhedron, inverse_metric);
            let full_step = if decrease_rate > 0.0 {
                polyhedron.violation(side, v).max(0.0) / decrease_rate
            } else {
                f64::INFINITY
            };
            let (max_dual_step, blocking) = self.first_blocking(polyhedron, inverse_metric);
            let step = full_step.min(max_dual_step);
            if !step.is_finite() {
                return Err(ActiveSetFailure);
            }
            for (j, v) in v.iter_mut().enumerate() {
                *v -= step * self.direction[j] * inverse_metric[j].sqrt();
                self.target[j] -= step * self.gradient_rate[j] * inverse_metric[j];
            }
            self.rows
                .iter_mut()
                .zip(&self.multiplier_rate)
                .for_each(|(row, multiplier_rate)| row.multiplier -= step * multiplier_rate);
            match (blocking, side) {
                (Some(BlockingConstraint::Row(k)), _) if max_dual_step < full_step => {
                    self.rows.remove(k);
                }
                (Some(BlockingConstraint::Bound(j)), _) if max_dual_step < full_step => self.bound_side[j] = 0.0,
                // Its multiplier is computed by `solve_active`.
                (_, ConstraintSide::Row(index, sign)) => {
                    self.rows.push(ActiveRow { index, sign, multiplier: 0.0 });
                    return Ok(());
                }
                (_, ConstraintSide::Bound(j, sign)) => {
                    self.bound_side[j] = sign;
                    return Ok(());
                }
            }
            self.update_qr(polyhedron, inverse_metric);
        }
        Err(ActiveSetFailure)
    }

    /// Computes the rates of change when the multiplier of a constraint is raised. Returns the rate at which its
    /// violation falls, which is 0 if its normal depends linearly on the active ones and the point cannot move.
    fn compute_rates(
        &mut self,
        side: ConstraintSide,
        polyhedron: &FirstStagePolyhedron,
        inverse_metric: &[f64],
    ) -> f64 {
        self.gradient_rate.fill(0.0);
        match side {
            ConstraintSide::Row(row, sign) => {
                polyhedron.terms(row).for_each(|(j, value)| self.gradient_rate[j] += sign * value)
            }
            ConstraintSide::Bound(j, sign) => self.gradient_rate[j] = sign,
        }
        let normal = self.qr.next_normal();
        for (j, &gradient_rate) in self.gradient_rate.iter().enumerate() {
            if self.bound_side[j] == 0.0 {
                normal[j] = gradient_rate * inverse_metric[j].sqrt();
            }
        }
        let decrease_rate = self.qr.decompose(&mut self.multiplier_rate, &mut self.direction);
        // The multiplier of a bound acts on its own variable only, and does not change the target.
        if let ConstraintSide::Bound(j, _) = side {
            self.gradient_rate[j] = 0.0;
        }
        for (row, multiplier_rate) in self.rows.iter().zip(&self.multiplier_rate) {
            polyhedron.terms(row.index).for_each(|(j, value)| self.gradient_rate[j] -= multiplier_rate * value);
        }
        decrease_rate
    }

    /// Returns the largest step of the new multiplier until an active constraint's multiplier becomes zero, and that
    /// constraint.
    fn first_blocking(
        &self,
        polyhedron: &FirstStagePolyhedron,
        inverse_metric: &[f64],
    ) -> (f64, Option<BlockingConstraint>) {
        let mut max_dual_step = f64::INFINITY;
        let mut blocking = None;
        for (k, row) in self.rows.iter().enumerate() {
            let (lower, upper) = polyhedron.sides(row.index);
            if lower < upper && row.sign * self.multiplier_rate[k] > 0.0 {
                let step = row.multiplier / self.multiplier_rate[k];
                if step < max_dual_step {
                    (max_dual_step, blocking) = (step, Some(BlockingConstraint::Row(k)));
                }
            }
        }
        for (j, &bound_side) in self.bound_side.iter().enumerate() {
            let (lower, upper) = polyhedron.bounds(j);
            if lower < upper && bound_side * self.gradient_rate[j] > 0.0 {
                let bound = if bound_side > 0.0 { upper } else { lower };
                let step = (self.target[j] - bound) / (inverse_metric[j] * self.gradient_rate[j]);
                if step < max_dual_step {
                    (max_dual_step, blocking) = (step, Some(BlockingConstraint::Bound(j)));
                }
            }
        }
        (max_dual_step.max(0.0), blocking)
    }
}
