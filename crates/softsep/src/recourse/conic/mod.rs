//! Engine for quadratic and conic recourse: one interior-point solve per (x, ξ), with the cut that its dual proves.

mod certificate;
mod cones;
mod elastic;
mod feasible_point;
#[cfg(test)]
mod infeasible_tests;
mod least_norm;
#[cfg(test)]
mod random_tests;
mod recession;
mod residual;
mod solver;
mod standard_form;
#[cfg(test)]
mod tests;
mod units;

use super::{Answer, DualChoice, Recourse, RecourseBasis, RecourseError, RecourseOutcome, RecourseWork};
use crate::definition::ConeKind;
use crate::model::{Problem, RecourseModel};
use crate::run::Clock;
use certificate::Proof;
use least_norm::Selection;
use solver::ConicSolver;
pub(crate) use solver::ConicStatus;
pub(crate) use standard_form::ConicProgram;

/// Interior-point recourse for every problem of the format. On linear recourse it serves as a check of the simplex
/// engine.
///
/// It has no warm start: every answer is a function of (x, ξ) alone.
#[derive(Debug)]
pub struct Conic {
    model: RecourseModel,
    solver: ConicSolver,
    /// Row of the solver's program for each row of the model.
    program_row: Vec<usize>,
    x: Vec<f64>,
    /// `E x`, by rows of the model.
    fixed_shift: Vec<f64>,
    /// `E x + U ξ`, by rows of the model.
    shift: Vec<f64>,
    /// π of the last solve, by rows of the model.
    dual: Vec<f64>,
    choice: DualChoice,
    /// The units of the multipliers by rows of the solver's program: rows of the model are scaled.
    units: Vec<f64>,
    clock: Clock,
    solves: u64,
    unselected: u64,
}

impl Conic {
    /// Builds the engine.
    pub fn new(problem: &Problem, clock: &Clock) -> Result<Self, RecourseError> {
        let model = problem.recourse.clone();
        let (program, program_row) = build_program(&model, &problem.names.recourse_rows)?;
        let rows = model.rows();
        let mut units = vec![1.0; rows];
        program_row.iter().zip(&model.row_scale).for_each(|(&row, scale): (&usize, _)| units[row] = *scale);
        Ok(Self {
            solver: ConicSolver::new(program, Proof::Bound, clock)?,
            program_row,
            x: vec![0.0; problem.first.dim()],
            fixed_shift: vec![0.0; rows],
            shift: vec![0.0; rows],
            dual: vec![0.0; rows],
            choice: DualChoice::Any,
            units,
            clock: clock.clone(),
            solves: 0,
            unselected: 0,
            model,
        })
    }

    /// Returns the same engine with another choice among optimal duals.
    pub fn with_dual(self, choice: DualChoice) -> Self {
        Self { choice, ..self }
    }

    /// Solves the program, and selects among its optimal duals if that is asked for. A dual that cannot be selected or
    /// verified is that of the interior-point method, and counts in [`RecourseWork::unselected`].
    fn solve_program(&mut self) -> ConicStatus {
        let status = self.solver.solve();
        if status == ConicStatus::Solved && self.choice == DualChoice::LeastNorm {
            match self.solver.select_least_norm(&self.units, &self.clock) {
                Selection::Selected => {}
                Selection::Kept => self.unselected += 1,
                Selection::Stopped(stop) => return ConicStatus::Stopped(stop),
            }
        }
        status
    }

    /// Writes `slope_x = −Eᵀπ`, `slope_xi = −Uᵀπ` and the intercept. The bound of the certificate is affine in the
    /// shift Ex + Uξ.
    fn fill_cut(&self, xi: &[f64], answer: &mut Answer) {
        let Answer { intercept, slope_x, slope_xi, .. } = answer;
        slope_x.fill(0.0);
        self.model.e.transpose_mul_add(-1.0, &self.dual, slope_x);
        slope_xi.fill(0.0);
        self.model.u.transpose_mul_add(-1.0, &self.dual, slope_xi);
        let moved: f64 = slope_xi.iter().zip(xi).map(|(slope, xi)| slope * xi).sum();
        *intercept = self.solver.certificate.bound + moved;
    }
}

impl Recourse for Conic {
    fn at(&mut self, x: &[f64]) {
        self.x.copy_from_slice(x);
        self.fixed_shift.fill(0.0);
        self.model.e.mul_add(1.0, x, &mut self.fixed_shift);
    }

    fn solve(&mut self, xi: &[f64], answer: &mut Answer) -> Result<(), RecourseError> {
        self.shift.copy_from_slice(&self.fixed_shift);
        self.model.u.mul_add(1.0, xi, &mut self.shift);
        let data = &mut self.solver.data;
        self.model.cost_at(xi, &mut data.cost);
        for (&program_row, shift) in self.program_row.iter().zip(&self.shift) {
            data.shift[program_row] = *shift;
        }

        let status = self.solve_program();
        for (pi, &program_row) in self.dual.iter_mut().zip(&self.program_row) {
            *pi = self.solver.certificate.pi[program_row];
        }
        // A feasible point and a bound that are far apart both hold.
        let status = match status {
            ConicStatus::Inexact(_) if self.solver.certificate.holds() => ConicStatus::Solved,
            status => status,
        };
        match status {
            ConicStatus::Solved => {
                self.fill_cut(xi, answer);
                answer.outcome = RecourseOutcome::Solved;
                answer.cost = self.solver.certificate.objective;
                answer.value =
                    answer.intercept + answer.slope_x.iter().zip(&self.x).map(|(slope, x)| slope * x).sum::<f64>();
                // The cost (b + Bξ)ᵀy depends on ξ too. That part belongs to the slope, not to the cut at this ξ.
                self.model.cost_xi.transpose_mul_add(1.0, &self.solver.certificate.y, &mut answer.slope_xi);
            }
            ConicStatus::Infeasible => {
                self.fill_cut(xi, answer);
                (answer.outcome, answer.value, answer.cost) =
                    (RecourseOutcome::Infeasible, f64::INFINITY, f64::INFINITY);
            }
            ConicStatus::Unbounded => {
                (answer.outcome, answer.value, answer.intercept) =
                    (RecourseOutcome::Unbounded, f64::NEG_INFINITY, f64::NEG_INFINITY);
                answer.cost = f64::NEG_INFINITY;
                answer.slope_x.fill(0.0);
                answer.slope_xi.fill(0.0);
            }
            ConicStatus::Stopped(stop) => return Err(stop.into()),
            ConicStatus::Inexact(why) | ConicStatus::Failed(why) => {
                return Err(RecourseError::Numerical { x: self.x.clone(), xi: xi.to_vec(), why });
            }
        }
        self.solves += 1;
        Ok(())
    }

    fn decision(&mut self, y: &mut [f64]) {
        y.copy_from_slice(&self.solver.certificate.y);
    }

    fn dual(&mut self, pi: &mut [f64]) {
        pi.copy_from_slice(&self.dual);
    }

    fn warm_start(&self) -> RecourseBasis {
        RecourseBasis::default()
    }

    /// Does nothing, since no state is kept between solves.
    fn start_from(&mut self, _warm: &RecourseBasis) -> Result<(), RecourseError> {
        Ok(())
    }

    fn work(&self) -> RecourseWork {
        RecourseWork {
            solves: self.solves,
            iterations: self.solver.iterations,
            recovered: self.solver.recovered,
            unselected: self.unselected,
            ..RecourseWork::default()
        }
    }
}

/// Writes the recourse as a conic program at x = 0, ξ = 0. Returns it with the program row of each row of the model.
fn build_program(model: &RecourseModel, names: &[String]) -> Result<(ConicProgram, Vec<usize>), RecourseError> {
    let mut program = ConicProgram::new(0.0);
    for ((&cost, &lower), &upper) in model.cost.iter().zip(&model.lower).zip(&model.upper) {
        program.add_col(cost, lower, upper);
    }
    for (i, j, value) in model.quadratic.iter() {
        program.add_quadratic(i, j, value);
    }
    let mut in_cone = vec![None; model.rows()];
    for cone in &model.cones {
        let rows = cone.rows.iter().map(|&row| (model.g.row(row), model.offset[row]));
        let rows = program.add_cone(cone.kind, rows).map_err(|error| name_cone(error, cone.kind, &cone.rows, names))?;
        for (&row, at) in cone.rows.iter().zip(rows) {
            in_cone[row] = Some(at);
        }
    }
    let mut add_row = |row: usize| program.add_row(model.row_lower[row], model.row_upper[row], model.g.row(row));
    let program_row =
        in_cone.into_iter().enumerate().map(|(row, program_row)| program_row.unwrap_or_else(|| add_row(row))).collect();
    Ok((program, program_row))
}

/// Adds the cone's kind and first row to an error message.
fn name_cone(error: RecourseError, kind: ConeKind, rows: &[usize], names: &[String]) -> RecourseError {
    let RecourseError::Unsupported(why) = error else { return error };
    let kind = match kind {
        ConeKind::SecondOrder => "soc",
        ConeKind::Exponential => "exp",
        ConeKind::Power { .. } => "power",
        ConeKind::Semidefinite => "psd",
    };
    let first = rows.first().and_then(|&row| names.get(row)).map_or("", String::as_str);
    RecourseError::Unsupported(format!("the {kind} cone that begins with row \"{first}\": {why}"))
}
