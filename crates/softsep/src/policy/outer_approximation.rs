//! Affine policies with integer decisions over ellipsoids, by outer approximation (Duran and Grossmann 1986).
//!
//! No solver here combines integers with cones. HiGHS solves the mixed-integer program with tangents in place of the
//! cones, a relaxation whose optimum proposes integers; Clarabel solves the conic program with these integers fixed,
//! whose optimum is a policy. Tangents at both points are added, until the relaxation promises no better policy.

use super::program::{Decision, PolicyColumns, PolicyProgram};
use super::robust::CounterpartRows;
use super::solve::{PolicyStatus, SolverPoint};
use crate::definition::VariableKind;
use crate::numeric::tolerances::FEASIBILITY_TOL;
use crate::recourse::{RecourseError, TangentCone, TangentProgram};
use crate::run::Clock;

/// The ratios of each entry of a cone at which there are tangents from the start; `w ≥ 0` is that at zero.
const FIRST_RATIOS: [f64; 8] = [-1.0, -0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 1.0];

/// The smallest relative gap at which the search ends: two solvers agree no better.
const MIN_GAP: f64 = 1e-6;

impl PolicyProgram<'_> {
    /// Solves the program with its integers, and returns the best policy found: within the gap, unless the clock stops
    /// the search.
    pub(super) fn solve_in_tangents(
        &self,
        clock: &Clock,
    ) -> Result<(PolicyColumns, Vec<CounterpartRows>, SolverPoint), RecourseError> {
        let (_, _, relaxed) = self.solve_conic(clock)?;
        let mut program = TangentProgram::default();
        let (columns, written) = self.write(&mut program)?;
        if relaxed.status != PolicyStatus::Optimal {
            return Ok((columns, written, relaxed));
        }
        let (mut model, cones) = program.finish(&FIRST_RATIOS);
        // The tangents alone may leave the cost unbounded.
        let dim = self.problem.first.dim();
        let least = self.cost(&columns, &relaxed.values);
        let mut cost: Vec<(usize, f64)> = self.problem.first.cost.iter().copied().enumerate().collect();
        cost.push((columns.tau, 1.0));
        let margin = FEASIBILITY_TOL * least.abs().max(1.0);
        model.add_row(least - margin - self.problem.first.constant, f64::INFINITY, &cost);
        cones.iter().for_each(|cone| cone.add_tangents(&mut model, &relaxed.values));
        let mut best: Option<SolverPoint> = None;
        let mut tried: Vec<Vec<f64>> = Vec::new();
        loop {
            let proposed = self.solve_to_basis(&model, clock)?;
            if proposed.status != PolicyStatus::Optimal {
                return Ok((columns, written, best.unwrap_or(proposed)));
            }
            let x = self.rounded(&proposed.values[..dim]);
            let best_cost = best.as_ref().map_or(f64::INFINITY, |best| self.cost(&columns, &best.values));
            let promised = self.cost(&columns, &proposed.values);
            if best_cost <= promised + self.gap.max(MIN_GAP) * promised.abs().max(1.0) {
                return Ok((columns, written, best.unwrap_or(proposed)));
            }
            let is_new = !tried.contains(&x);
            if is_new {
                let (_, _, mut point) = self.with_decision(Decision::FixedIntegers(&x)).solve_conic(clock)?;
                if point.status == PolicyStatus::Optimal {
                    self.fix_integers(&x, &mut point.values);
                    cones.iter().for_each(|cone| cone.add_tangents(&mut model, &point.values));
                    if self.cost(&columns, &point.values) < best_cost {
                        best = Some(point);
                    }
                } else if matches!(point.status, PolicyStatus::Stopped(_)) {
                    return Ok((columns, written, best.unwrap_or(point)));
                }
                tried.push(x);
            }
            let is_outside = |cone: &&TangentCone| {
                let (excess, norm) = cone.excess(&proposed.values);
                excess > FEASIBILITY_TOL * norm.max(1.0)
            };
            let violated: Vec<&TangentCone> = cones.iter().filter(is_outside).collect();
            if violated.is_empty() && !is_new {
                // The relaxation's policy is feasible up to the tolerance of the solvers.
                return Ok((columns, written, best.unwrap_or(proposed)));
            }
            violated.iter().for_each(|cone| cone.add_tangents(&mut model, &proposed.values));
        }
    }

    /// Returns the worst-case cost of the policy at a point of the program, with f(x).
    fn cost(&self, columns: &PolicyColumns, values: &[f64]) -> f64 {
        values[columns.tau] + self.problem.first.value(&values[..self.problem.first.dim()])
    }

    /// Returns a decision with its integers rounded, and the other entries zero, which [`Decision::FixedIntegers`]
    /// does not read.
    fn rounded(&self, x: &[f64]) -> Vec<f64> {
        let is_integer = |j: usize| self.problem.first.kind[j] != VariableKind::Continuous;
        x.iter().enumerate().map(|(j, x)| if is_integer(j) { x.round() } else { 0.0 }).collect()
    }

    /// Replaces the integers of a point, which a solver returns up to its tolerance.
    fn fix_integers(&self, x: &[f64], values: &mut [f64]) {
        for (j, x) in x.iter().enumerate() {
            if self.problem.first.kind[j] != VariableKind::Continuous {
                values[j] = *x;
            }
        }
    }
}
