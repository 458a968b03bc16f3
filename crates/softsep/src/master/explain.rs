//! Explanation of masters without an optimum: a set of contradictory rows, or the variables of an unbounded ray.

use std::ops::Range;

use softsep_lp::{Lp, Model, Status, Toggle};

use super::scenario_copies::{ModelVariant, RowOrigin, ScenarioCopies};
use super::solve::linear_program;
use crate::definition::{ConeKind, VariableKind, one_line};
use crate::error::Error;
use crate::model::Problem;
use crate::numeric::tolerances::{LP_FEASIBILITY_TOL, RAY_SUPPORT_TOL};
use crate::recourse::{ConicProgram, ConicStatus, ElasticModel, ProgramBuilder, RecourseError};
use crate::run::{Clock, Infeasible, Interrupt, Stage, Unbounded};

/// Descent of a ray in the unit cube below which the master counts as bounded.
const RAY_DESCENT_TOL: f64 = 1e-9;

/// Number of rows up to which the deletion filter runs. It takes one solve per row.
const MAX_FILTERED_ROWS: usize = 200;

/// Explains an infeasible master by a set of contradictory rows, of one scenario only where one suffices.
pub(crate) fn explain_infeasible(copies: &ScenarioCopies, clock: &Clock) -> Result<Infeasible, Error> {
    let rows = match farkas_rows(copies, clock)? {
        Some(rows) => rows,
        None if copies.problem.first.has_integers() => return explain_integer_infeasibility(copies, clock),
        None => {
            return Err(Error::Master(
                "the solver calls the master infeasible, but its rows can all be satisfied".into(),
            ));
        }
    };
    let involved = involved_copies(&rows);
    if involved.len() > 1 {
        for &copy in &involved {
            let alone = ScenarioCopies::new(copies.problem, vec![copies.scenarios[copy]], clock)?;
            if let Some(rows) = farkas_rows(&alone, clock)? {
                return Ok(infeasible(copies.problem, &rows, &alone.scenarios, false));
            }
        }
    }
    Ok(infeasible(copies.problem, &rows, &copies.scenarios, false))
}

/// Returns the copies with rows in the contradiction, by decreasing number of rows.
fn involved_copies(rows: &[RowOrigin]) -> Vec<usize> {
    let mut weights: Vec<(usize, usize)> = Vec::new();
    for row in rows {
        if let RowOrigin::Recourse { copy, .. } = *row {
            match weights.iter_mut().find(|(known, _)| *known == copy) {
                Some((_, weight)) => *weight += 1,
                None => weights.push((copy, 1)),
            }
        }
    }
    weights.sort_by_key(|&(copy, weight)| (std::cmp::Reverse(weight), copy));
    weights.into_iter().map(|(copy, _)| copy).collect()
}

fn infeasible(problem: &Problem, rows: &[RowOrigin], scenarios: &[&[f64]], integers: bool) -> Infeasible {
    let mut first_rows = Vec::new();
    let mut recourse_rows = Vec::new();
    for row in rows {
        match *row {
            RowOrigin::First(row) => first_rows.push(row),
            RowOrigin::Recourse { row, .. } if !recourse_rows.contains(&row) => recourse_rows.push(row),
            RowOrigin::Recourse { .. } | RowOrigin::Cost | RowOrigin::Cut => {}
        }
    }
    recourse_rows.sort_unstable();
    let involved = involved_copies(rows);
    let named = |rows: &[usize], names: &[String]| -> Vec<String> {
        rows.iter().map(|&row| format!("\"{}\"", one_line(&names[row]))).collect()
    };
    let mut all = named(&first_rows, &problem.names.first_rows);
    all.extend(named(&recourse_rows, &problem.names.recourse_rows));
    let subject = match all.len() {
        0 => "the bounds of the variables".to_owned(),
        1 => format!("the row {} and the bounds of its variables", all[0]),
        _ => format!("the rows {} and the bounds of their variables", all.join(", ")),
    };
    let integrality = if integers { "integral " } else { "" };
    let why = match involved.len() {
        0 => format!("no {integrality}first-stage decision exists: {subject} contradict one another"),
        1 => format!(
            "no {integrality}first-stage decision leaves a recourse to this ξ: {subject} contradict one another"
        ),
        count => {
            format!(
                "no one {integrality}first-stage decision leaves a recourse to these {count} scenarios at once, though \
                 each alone can be served: {subject} contradict one another"
            )
        }
    };
    Infeasible {
        stage: if involved.is_empty() { Stage::First } else { Stage::Recourse },
        xi: involved.iter().map(|&copy| scenarios[copy].to_vec()).collect(),
        first_rows,
        recourse_rows,
        why,
    }
}

/// Returns the rows of a Farkas certificate of the continuous relaxation, or `None` if that is feasible.
fn farkas_rows(copies: &ScenarioCopies, clock: &Clock) -> Result<Option<Vec<RowOrigin>>, Error> {
    let (rows, ray) = if copies.is_conic() {
        let mut program = ConicProgram::new(0.0);
        let rows = copies.write(&mut program, ModelVariant::RELAXED_FEASIBILITY)?;
        let solution = program.solve(clock)?;
        match solution.status {
            ConicStatus::Infeasible => {}
            ConicStatus::Stopped(stop) => return Err(stop.into()),
            _ => return Ok(None),
        }
        (rows, solution.row_duals)
    } else {
        let mut elastic = ElasticModel::default();
        let rows = copies.write(&mut elastic, ModelVariant::RELAXED_FEASIBILITY)?;
        let mut lp = linear_program(&elastic.finish(), 0, clock)?;
        match lp.solve()? {
            Status::Optimal if lp.objective() > LP_FEASIBILITY_TOL => {}
            Status::Optimal => return Ok(None),
            Status::TimeLimit => return Err(Interrupt::TimeLimit.into()),
            Status::Interrupted => return Err(Interrupt::Interrupted.into()),
            status => return Err(Error::Master(format!("HiGHS could not explain an infeasible master: {status:?}"))),
        }
        let mut ray = vec![0.0; lp.rows()];
        lp.dual(&mut ray)?;
        (rows, ray)
    };
    let largest = ray.iter().fold(0.0_f64, |largest, entry| largest.max(entry.abs()));
    let in_support: Vec<bool> = ray.iter().map(|entry| entry.abs() > RAY_SUPPORT_TOL * largest).collect();
    if copies.is_conic() {
        return Ok(Some(
            rows.into_iter().zip(in_support).filter(|(_, in_support)| *in_support).map(|(row, _)| row).collect(),
        ));
    }
    // The elastic program mixes all contradictions. The deletion filter leaves one.
    let mut model = Model::new();
    copies.write(&mut model, ModelVariant::RELAXED_FEASIBILITY)?;
    let mut lp = linear_program(&model, 0, clock)?;
    Ok(Some(deletion_filter(&mut lp, &model, rows, in_support, clock)?))
}

/// Explains an infeasibility that integrality causes: by the first stage alone, one scenario alone, or all together.
/// The deletion filter finds the rows.
fn explain_integer_infeasibility(copies: &ScenarioCopies, clock: &Clock) -> Result<Infeasible, Error> {
    let mut parts = vec![ScenarioCopies::new(copies.problem, Vec::new(), clock)?];
    for &xi in &copies.scenarios {
        parts.push(ScenarioCopies::new(copies.problem, vec![xi], clock)?);
    }
    for part in parts.iter().chain([copies]) {
        let mut model = Model::new();
        let rows = part.write(&mut model, ModelVariant::FEASIBILITY)?;
        let mut lp = linear_program(&model, 0, clock)?;
        lp.set_presolve(Toggle::Off)?;
        clock.check()?;
        if lp.solve()? == Status::Infeasible {
            let all = vec![true; rows.len()];
            let rows = deletion_filter(&mut lp, &model, rows, all, clock)?;
            return Ok(infeasible(copies.problem, &rows, &part.scenarios, true));
        }
    }
    Err(Error::Master("HiGHS calls the master infeasible, but no part of it is".into()))
}

/// Deletion filter: drops each of the rows in `is_kept`, which are infeasible together, if the rest is still
/// infeasible. Returns an irreducible infeasible subset.
fn deletion_filter(
    lp: &mut Lp,
    model: &Model,
    rows: Vec<RowOrigin>,
    mut is_kept: Vec<bool>,
    clock: &Clock,
) -> Result<Vec<RowOrigin>, Error> {
    let (mut lower, mut upper) = model.row_bounds();
    for row in (0..rows.len()).filter(|&row| !is_kept[row]) {
        (lower[row], upper[row]) = (f64::NEG_INFINITY, f64::INFINITY);
    }
    let tried: Vec<usize> = (0..rows.len()).filter(|&row| is_kept[row]).collect();
    for &row in tried.iter().take_while(|_| tried.len() <= MAX_FILTERED_ROWS && clock.check().is_ok()) {
        let bounds = (lower[row], upper[row]);
        (lower[row], upper[row]) = (f64::NEG_INFINITY, f64::INFINITY);
        lp.set_row_bounds(&lower, &upper)?;
        lp.set_time_limit(clock.left())?;
        if lp.solve()? == Status::Infeasible {
            is_kept[row] = false;
        } else {
            (lower[row], upper[row]) = bounds;
        }
    }
    Ok(rows.into_iter().zip(is_kept).filter(|(_, is_kept)| *is_kept).map(|(row, _)| row).collect())
}

/// Explains an unbounded master by the variables of a ray along which its cost falls.
pub(crate) fn explain_unbounded(copies: &ScenarioCopies, clock: &Clock) -> Result<Unbounded, Error> {
    let ray = if copies.is_conic() {
        let mut program = ConicProgram::new(0.0);
        copies.write(&mut program, ModelVariant::RELAXED)?;
        let solution = program.solve(clock)?;
        match solution.status {
            ConicStatus::Unbounded => solution.primal,
            ConicStatus::Stopped(stop) => return Err(stop.into()),
            _ => {
                return Err(Error::Master(
                    "Clarabel calls the master unbounded, but no certificate of that holds".into(),
                ));
            }
        }
    } else {
        let mut recession = RecessionModel::default();
        copies.write(&mut recession, ModelVariant::RELAXED)?;
        let mut lp = linear_program(&recession.0, 0, clock)?;
        match lp.solve()? {
            Status::Optimal if lp.objective() < -RAY_DESCENT_TOL => {}
            Status::Optimal => {
                return Err(Error::Master("HiGHS calls the master unbounded, but no certificate of that holds".into()));
            }
            Status::TimeLimit => return Err(Interrupt::TimeLimit.into()),
            Status::Interrupted => return Err(Interrupt::Interrupted.into()),
            status => return Err(Error::Master(format!("HiGHS could not explain an unbounded master: {status:?}"))),
        }
        let mut ray = vec![0.0; lp.cols()];
        lp.primal(&mut ray)?;
        ray
    };
    let largest = ray.iter().fold(0.0_f64, |largest, entry| largest.max(entry.abs()));
    let in_support = |col: usize| ray[col].abs() > RAY_SUPPORT_TOL * largest;
    let dim = copies.problem.recourse.dim();
    Ok(Unbounded {
        first: (0..copies.problem.first.dim()).filter(|&col| in_support(col)).collect(),
        recourse: (0..dim)
            .filter(|&j| (0..copies.scenarios.len()).any(|copy| in_support(copies.first_y(copy) + j)))
            .collect(),
    })
}

/// The recession cone of a program, intersected with the unit cube.
#[derive(Default)]
struct RecessionModel(Model);

/// Returns the bounds of a recession direction: 0 where the bound is finite, `end` where it is infinite.
fn recession_bounds(lower: f64, upper: f64, end: f64) -> (f64, f64) {
    (if lower.is_finite() { 0.0 } else { -end }, if upper.is_finite() { 0.0 } else { end })
}

impl ProgramBuilder for RecessionModel {
    fn col(&mut self, cost: f64, lower: f64, upper: f64, _kind: VariableKind) -> usize {
        let (lower, upper) = recession_bounds(lower, upper, 1.0);
        self.0.add_col(cost, lower, upper)
    }

    fn row(&mut self, lower: f64, upper: f64, terms: &[(usize, f64)]) -> usize {
        let (lower, upper) = recession_bounds(lower, upper, f64::INFINITY);
        self.0.add_row(lower, upper, terms)
    }

    fn quadratic(&mut self, _i: usize, _j: usize, _value: f64) {}

    fn cone(&mut self, kind: ConeKind, rows: &[(Vec<(usize, f64)>, f64)]) -> Result<Range<usize>, RecourseError> {
        self.0.cone(kind, rows)
    }
}
