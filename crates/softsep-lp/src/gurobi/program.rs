//! A mixed-integer program in Gurobi: parameters, solves, and the check of their results.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::library::{Columns, RawModel, Rows};
use super::{Gurobi, GurobiError};
use crate::model::INTEGRALITY_TOL;
use crate::{Model, Status};

/// The feasibility and the optimality tolerance of linear programs: the default of HiGHS.
const LP_TOL: f64 = 1e-7;

/// The range of Gurobi's integrality tolerance.
const LEAST_INTEGRALITY: f64 = 1e-9;
const MOST_INTEGRALITY: f64 = 1e-1;

/// The largest violation of a row, a bound or integrality by a point that is accepted, relative to the size of the
/// terms where that is above 1. Gurobi scales and presolves: the violation of its point may be above its tolerances.
const POINT_TOL: f64 = 1e-5;

/// The largest excess of the bound over the objective of the point, relative to the objective where that is above 1.
const BOUND_TOL: f64 = 1e-6;

/// A mixed-integer linear program in Gurobi, silent and on one thread.
pub(crate) struct GurobiProgram {
    gurobi: Gurobi,
    raw: RawModel,
    /// For the check of results.
    model: Model,
    integrality: f64,
    solution: Solution,
}

/// The result of a solve.
#[derive(Default)]
struct Solution {
    /// The best point and its objective.
    point: Option<(Vec<f64>, f64)>,
    bound: Option<f64>,
    nodes: u64,
}

impl GurobiProgram {
    /// Passes `model` to Gurobi.
    pub(crate) fn new(gurobi: &Gurobi, model: &Model) -> Result<Self, GurobiError> {
        if !model.hessian.is_empty() {
            return Err(GurobiError::Quadratic);
        }
        let columns =
            Columns { cost: &model.cost, lower: &model.col_lower, upper: &model.col_upper, integer: &model.integer };
        let mut raw = RawModel::new(gurobi.env()?, &columns, &one_sided_rows(model))?;
        raw.set_offset(model.offset)?;
        raw.set_int(c"Threads", 1)?;
        raw.set_double(c"FeasibilityTol", LP_TOL)?;
        raw.set_double(c"OptimalityTol", LP_TOL)?;
        let solution = Solution::default();
        let mut program =
            Self { gurobi: gurobi.clone(), raw, model: model.clone(), integrality: INTEGRALITY_TOL, solution };
        program.set_integrality(INTEGRALITY_TOL)?;
        Ok(program)
    }

    pub(crate) fn set_costs(&mut self, cost: &[f64]) -> Result<(), GurobiError> {
        self.raw.set_columns(c"Obj", cost)?;
        self.model.cost.copy_from_slice(cost);
        Ok(())
    }

    pub(crate) fn set_mip_gap(&mut self, relative: f64, absolute: f64) -> Result<(), GurobiError> {
        self.raw.set_double(c"MIPGap", relative)?;
        self.raw.set_double(c"MIPGapAbs", absolute)
    }

    pub(crate) fn set_integrality(&mut self, tolerance: f64) -> Result<(), GurobiError> {
        self.integrality = tolerance.clamp(LEAST_INTEGRALITY, MOST_INTEGRALITY);
        self.raw.set_double(c"IntFeasTol", self.integrality)
    }

    pub(crate) fn set_node_limit(&mut self, nodes: u64) -> Result<(), GurobiError> {
        self.raw.set_double(c"NodeLimit", nodes as f64)
    }

    pub(crate) fn set_seed(&mut self, seed: u64) -> Result<(), GurobiError> {
        self.raw.set_int(c"Seed", (seed & 0x3fff_ffff) as i32)
    }

    pub(crate) fn set_time_limit(&mut self, limit: Option<Duration>) -> Result<(), GurobiError> {
        self.raw.set_double(c"TimeLimit", limit.map_or(f64::INFINITY, |limit| limit.as_secs_f64()))
    }

    pub(crate) fn set_interrupt(&mut self, flag: Arc<AtomicBool>) -> Result<(), GurobiError> {
        self.raw.set_interrupt(flag)
    }

    /// Turns presolve off, and with it the reductions that do not distinguish infeasible from unbounded.
    pub(crate) fn set_presolve_off(&mut self) -> Result<(), GurobiError> {
        self.raw.set_int(c"Presolve", 0)?;
        self.raw.set_int(c"DualReductions", 0)
    }

    pub(crate) fn set_start(&mut self, known: &[(usize, f64)]) -> Result<(), GurobiError> {
        let columns: Vec<i32> = known.iter().map(|&(col, _)| i32::try_from(col).unwrap_or(-1)).collect();
        let values: Vec<f64> = known.iter().map(|&(_, value)| value).collect();
        self.raw.set_start(&columns, &values)
    }

    /// Discards the solution.
    pub(crate) fn clear(&mut self) -> Result<(), GurobiError> {
        self.solution = Solution::default();
        self.raw.reset()
    }

    /// Solves the program and checks the result. A point that violates the program is discarded, and an optimum without
    /// a point, or one above its point, is a failure.
    pub(crate) fn solve(&mut self) -> Result<Status, GurobiError> {
        self.solution = Solution::default();
        self.raw.optimize()?;
        let status = status_of(self.raw.int(c"Status")?)?;
        self.solution.nodes = self.raw.double(c"NodeCount").map_or(0, |nodes| nodes.max(0.0) as u64);
        if self.raw.int(c"SolCount")? > 0 {
            let point = self.raw.point()?;
            self.solution.point = self.is_feasible(&point).then(|| {
                let objective = self.objective_at(&point);
                (point, objective)
            });
        }
        if matches!(status, Status::Optimal | Status::TimeLimit | Status::Interrupted | Status::OtherLimit) {
            // There is none before the root node is solved.
            let bound = self.raw.double(c"ObjBound").ok();
            self.solution.bound = bound.filter(|bound| bound.abs() < 1e100);
        }
        let contradicts = |(_, objective): &(Vec<f64>, f64)| {
            self.solution.bound.is_some_and(|bound| bound > objective + BOUND_TOL * objective.abs().max(1.0))
        };
        let is_contradiction = self.solution.point.as_ref().is_some_and(contradicts);
        if is_contradiction || status == Status::Optimal && self.solution.point.is_none() {
            self.solution.bound = None;
            return Ok(Status::Failed);
        }
        Ok(status)
    }

    pub(crate) fn point(&self) -> Option<&[f64]> {
        self.solution.point.as_ref().map(|(point, _)| point.as_slice())
    }

    pub(crate) fn objective(&self) -> Option<f64> {
        self.solution.point.as_ref().map(|&(_, objective)| objective)
    }

    pub(crate) fn bound(&self) -> Option<f64> {
        self.solution.bound
    }

    pub(crate) fn nodes(&self) -> u64 {
        self.solution.nodes
    }

    fn objective_at(&self, point: &[f64]) -> f64 {
        self.model.offset + self.model.cost.iter().zip(point).map(|(cost, value)| cost * value).sum::<f64>()
    }

    /// Whether rows, bounds and integrality hold.
    fn is_feasible(&self, point: &[f64]) -> bool {
        let model = &self.model;
        let is_inside = |col: usize| {
            let (value, size) = (point[col], point[col].abs().max(1.0));
            let slack = (value - model.col_lower[col]).min(model.col_upper[col] - value);
            let is_integral = !model.integer[col] || (value - value.round()).abs() <= self.integrality + LP_TOL;
            value.is_finite() && slack >= -POINT_TOL * size && is_integral
        };
        (0..model.cols()).all(is_inside) && model.row_violation(point) <= POINT_TOL
    }
}

impl Drop for GurobiProgram {
    fn drop(&mut self) {
        if let Some(env) = self.raw.free() {
            self.gurobi.put_back(env);
        }
    }
}

/// The rows of a model with one side each: a row with two different sides becomes two. Gurobi would add a column to it.
fn one_sided_rows(model: &Model) -> Rows {
    let mut rows = Rows::default();
    for row in 0..model.rows() {
        let (lower, upper) = (model.row_lower[row], model.row_upper[row]);
        let sides = match lower == upper {
            true => [Some((b'=', lower)), None],
            false => [lower.is_finite().then_some((b'>', lower)), upper.is_finite().then_some((b'<', upper))],
        };
        for (sense, side) in sides.into_iter().flatten() {
            rows.start.push(rows.index.len() as i32);
            for (col, value) in model.terms(row) {
                rows.index.push(col as i32);
                rows.value.push(value);
            }
            rows.sense.push(sense);
            rows.side.push(side);
        }
    }
    rows
}

/// The status of a code. Codes of limits that are never set count as other limits.
fn status_of(code: i32) -> Result<Status, GurobiError> {
    Ok(match code {
        2 => Status::Optimal,
        3 => Status::Infeasible,
        4 => Status::InfeasibleOrUnbounded,
        5 => Status::Unbounded,
        9 => Status::TimeLimit,
        11 => Status::Interrupted,
        // Cutoff, iterations, nodes, solutions, objective, work, memory.
        6..=8 | 10 | 15..=17 => Status::OtherLimit,
        // Loaded, numerical trouble, suboptimal, in progress.
        1 | 12..=14 => Status::Failed,
        code => return Err(GurobiError::UnknownStatus(code)),
    })
}
