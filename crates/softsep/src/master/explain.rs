//! Why a master has no optimum: the rows that contradict one another, or the variables along which the cost falls
//! without end.

use std::ops::Range;

use softsep_lp::{Lp, Model, Status, Toggle};

use super::copies::{Copies, Part, RowOf};
use super::solve::linear_program;
use crate::definition::{ConeKind, VariableKind, one_line};
use crate::error::Error;
use crate::model::Problem;
use crate::recourse::{ConicProgram, ConicStatus, Program, RecourseError};
use crate::run::{Clock, Infeasible, Stage, Stop, Unbounded};

/// Multipliers below this, of a largest one of 1, are rounding.
const PRESENT: f64 = 1e-6;

/// Rows that a deletion filter is tried on; each costs one solve.
const FILTERED: usize = 200;

/// The contradiction in an infeasible master, traced to one scenario where one alone causes it.
pub(crate) fn explain_infeasible(copies: &Copies, clock: &Clock) -> Result<Infeasible, Error> {
    let rows = match contradiction(copies, clock)? {
        Some(rows) => rows,
        None if copies.problem.first.has_integers() => return explain_integers(copies, clock),
        None => {
            return Err(Error::Master(
                "the solver calls the master infeasible, but its rows can all be satisfied".into(),
            ));
        }
    };
    let involved = involved_copies(&rows);
    if involved.len() > 1 {
        for &copy in &involved {
            let alone = Copies::new(copies.problem, vec![copies.scenarios[copy]], clock)?;
            if let Some(rows) = contradiction(&alone, clock)? {
                return Ok(infeasible(copies.problem, &rows, &alone.scenarios, false));
            }
        }
    }
    Ok(infeasible(copies.problem, &rows, &copies.scenarios, false))
}

/// Copies in a contradiction, the one with the most rows first.
fn involved_copies(rows: &[RowOf]) -> Vec<usize> {
    let mut weights: Vec<(usize, usize)> = Vec::new();
    for row in rows {
        if let RowOf::Recourse { copy, .. } = *row {
            match weights.iter_mut().find(|(known, _)| *known == copy) {
                Some((_, weight)) => *weight += 1,
                None => weights.push((copy, 1)),
            }
        }
    }
    weights.sort_by_key(|&(copy, weight)| (std::cmp::Reverse(weight), copy));
    weights.into_iter().map(|(copy, _)| copy).collect()
}

fn infeasible(problem: &Problem, rows: &[RowOf], scenarios: &[&[f64]], integers: bool) -> Infeasible {
    let mut first_rows = Vec::new();
    let mut recourse_rows = Vec::new();
    for row in rows {
        match *row {
            RowOf::First(row) => first_rows.push(row),
            RowOf::Recourse { row, .. } if !recourse_rows.contains(&row) => recourse_rows.push(row),
            RowOf::Recourse { .. } | RowOf::Cost | RowOf::Cut => {}
        }
    }
    recourse_rows.sort_unstable();
    let involved = involved_copies(rows);
    let named = |rows: &[usize], names: &[String]| -> Vec<String> {
        rows.iter().map(|&row| format!("\"{}\"", one_line(&names[row]))).collect()
    };
    let mut all = named(&first_rows, &problem.names.first_rows);
    all.extend(named(&recourse_rows, &problem.names.recourse_rows));
    let who = match all.len() {
        0 => "the bounds of the variables".to_owned(),
        1 => format!("the row {} and the bounds of its variables", all[0]),
        _ => format!("the rows {} and the bounds of their variables", all.join(", ")),
    };
    let whole = if integers { " in whole numbers" } else { "" };
    let why = match involved.len() {
        0 => format!("no first-stage decision exists{whole}: {who} contradict one another"),
        1 => format!("no first-stage decision leaves a recourse{whole} to this ξ: {who} contradict one another"),
        count => {
            format!(
                "no one first-stage decision leaves a recourse{whole} to these {count} scenarios at once (ξ is one of \
                 them), though each alone can be served: {who} contradict one another"
            )
        }
    };
    Infeasible {
        stage: if involved.is_empty() { Stage::First } else { Stage::Recourse },
        xi: involved.first().map(|&copy| scenarios[copy].to_vec()),
        first_rows,
        recourse_rows,
        why,
    }
}

/// The rows of a Farkas certificate of the continuous relaxation, or `None` if that is feasible.
fn contradiction(copies: &Copies, clock: &Clock) -> Result<Option<Vec<RowOf>>, Error> {
    let (rows, ray) = if copies.is_conic() {
        let mut program = ConicProgram::new(0.0);
        let rows = copies.write(&mut program, Part::RELAXED_ROWS)?;
        let solution = program.solve(clock)?;
        match solution.status {
            ConicStatus::Infeasible => {}
            ConicStatus::Stopped(stop) => return Err(stop.into()),
            _ => return Ok(None),
        }
        (rows, solution.row_duals)
    } else {
        let mut elastic = Elastic::default();
        let rows = copies.write(&mut elastic, Part::RELAXED_ROWS)?;
        let mut lp = linear_program(&elastic.finish(), 0, clock)?;
        match lp.solve()? {
            Status::Optimal if lp.objective() > 1e-7 => {}
            Status::Optimal => return Ok(None),
            Status::TimeLimit => return Err(Stop::TimeLimit.into()),
            Status::Interrupted => return Err(Stop::Interrupted.into()),
            status => return Err(Error::Master(format!("HiGHS could not explain an infeasible master: {status:?}"))),
        }
        let mut ray = vec![0.0; lp.rows()];
        lp.dual(&mut ray)?;
        (rows, ray)
    };
    let largest = ray.iter().fold(0.0_f64, |largest, entry| largest.max(entry.abs()));
    let present: Vec<bool> = ray.iter().map(|entry| entry.abs() > PRESENT * largest).collect();
    if copies.is_conic() {
        return Ok(Some(rows.into_iter().zip(present).filter(|(_, present)| *present).map(|(row, _)| row).collect()));
    }
    // The elastic program mixes all contradictions that there are; one is enough.
    let mut model = Model::new();
    copies.write(&mut model, Part::RELAXED_ROWS)?;
    let mut lp = linear_program(&model, 0, clock)?;
    Ok(Some(filtered(&mut lp, &model, rows, present, clock)?))
}

/// A program in which every row may be broken at a price of one, and nothing else has a price. Its dual is a Farkas
/// certificate.
#[derive(Default)]
struct Elastic {
    model: Model,
    rows: Vec<ElasticRow>,
}

/// Bounds and terms.
type ElasticRow = (f64, f64, Vec<(usize, f64)>);

impl Elastic {
    fn finish(mut self) -> Model {
        for (lower, upper, mut terms) in self.rows {
            if lower.is_finite() {
                terms.push((self.model.add_col(1.0, 0.0, f64::INFINITY), 1.0));
            }
            if upper.is_finite() {
                terms.push((self.model.add_col(1.0, 0.0, f64::INFINITY), -1.0));
            }
            self.model.add_row(lower, upper, &terms);
        }
        self.model
    }
}

impl Program for Elastic {
    fn col(&mut self, _cost: f64, lower: f64, upper: f64, _kind: VariableKind) -> usize {
        self.model.add_col(0.0, lower, upper)
    }

    fn row(&mut self, lower: f64, upper: f64, terms: &[(usize, f64)]) -> usize {
        self.rows.push((lower, upper, terms.to_vec()));
        self.rows.len() - 1
    }

    fn quadratic(&mut self, _i: usize, _j: usize, _value: f64) {}

    fn cone(&mut self, kind: ConeKind, rows: &[(Vec<(usize, f64)>, f64)]) -> Result<Range<usize>, RecourseError> {
        self.model.cone(kind, rows)
    }
}

/// An infeasibility that integrality causes: the first stage alone, one scenario alone, or all together; rows by
/// deletion.
fn explain_integers(copies: &Copies, clock: &Clock) -> Result<Infeasible, Error> {
    let mut parts = vec![Copies::new(copies.problem, Vec::new(), clock)?];
    for &xi in &copies.scenarios {
        parts.push(Copies::new(copies.problem, vec![xi], clock)?);
    }
    for part in parts.iter().chain([copies]) {
        let mut model = Model::new();
        let rows = part.write(&mut model, Part::ROWS)?;
        let mut lp = linear_program(&model, 0, clock)?;
        lp.set_presolve(Toggle::Off)?;
        clock.check()?;
        if lp.solve()? == Status::Infeasible {
            let all = vec![true; rows.len()];
            let rows = filtered(&mut lp, &model, rows, all, clock)?;
            return Ok(infeasible(copies.problem, &rows, &part.scenarios, true));
        }
    }
    Err(Error::Master("HiGHS calls the master infeasible, but no part of it is".into()))
}

/// Of the rows to be `kept`, which contradict one another, drops one after the other as long as the rest still does: it
/// is irreducible.
fn filtered(
    lp: &mut Lp,
    model: &Model,
    rows: Vec<RowOf>,
    mut kept: Vec<bool>,
    clock: &Clock,
) -> Result<Vec<RowOf>, Error> {
    let (mut lower, mut upper) = model.row_bounds();
    for row in (0..rows.len()).filter(|&row| !kept[row]) {
        (lower[row], upper[row]) = (f64::NEG_INFINITY, f64::INFINITY);
    }
    let tried: Vec<usize> = (0..rows.len()).filter(|&row| kept[row]).collect();
    for &row in tried.iter().take_while(|_| tried.len() <= FILTERED && clock.check().is_ok()) {
        let bounds = (lower[row], upper[row]);
        (lower[row], upper[row]) = (f64::NEG_INFINITY, f64::INFINITY);
        lp.set_row_bounds(&lower, &upper)?;
        lp.set_time_limit(clock.left())?;
        if lp.solve()? == Status::Infeasible {
            kept[row] = false;
        } else {
            (lower[row], upper[row]) = bounds;
        }
    }
    Ok(rows.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(row, _)| row).collect())
}

/// The variables of a ray along which an unbounded master falls.
pub(crate) fn explain_unbounded(copies: &Copies, clock: &Clock) -> Result<Unbounded, Error> {
    let ray = if copies.is_conic() {
        let mut program = ConicProgram::new(0.0);
        copies.write(&mut program, Part::RELAXED)?;
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
        let mut recession = Recession::default();
        copies.write(&mut recession, Part::RELAXED)?;
        let mut lp = linear_program(&recession.0, 0, clock)?;
        match lp.solve()? {
            Status::Optimal if lp.objective() < -1e-9 => {}
            Status::Optimal => {
                return Err(Error::Master("HiGHS calls the master unbounded, but no certificate of that holds".into()));
            }
            Status::TimeLimit => return Err(Stop::TimeLimit.into()),
            Status::Interrupted => return Err(Stop::Interrupted.into()),
            status => return Err(Error::Master(format!("HiGHS could not explain an unbounded master: {status:?}"))),
        }
        let mut ray = vec![0.0; lp.cols()];
        lp.primal(&mut ray)?;
        ray
    };
    let largest = ray.iter().fold(0.0_f64, |largest, entry| largest.max(entry.abs()));
    let present = |col: usize| ray[col].abs() > PRESENT * largest;
    let dim = copies.problem.recourse.dim();
    Ok(Unbounded {
        first: (0..copies.problem.first.dim()).filter(|&col| present(col)).collect(),
        recourse: (0..dim)
            .filter(|&j| (0..copies.scenarios.len()).any(|copy| present(copies.first_y(copy) + j)))
            .collect(),
    })
}

/// The directions in which a program can go on for ever, cut to the unit cube.
#[derive(Default)]
struct Recession(Model);

/// What is left of two bounds when they are infinitely far away.
fn far(lower: f64, upper: f64, end: f64) -> (f64, f64) {
    (if lower.is_finite() { 0.0 } else { -end }, if upper.is_finite() { 0.0 } else { end })
}

impl Program for Recession {
    fn col(&mut self, cost: f64, lower: f64, upper: f64, _kind: VariableKind) -> usize {
        let (lower, upper) = far(lower, upper, 1.0);
        self.0.add_col(cost, lower, upper)
    }

    fn row(&mut self, lower: f64, upper: f64, terms: &[(usize, f64)]) -> usize {
        let (lower, upper) = far(lower, upper, f64::INFINITY);
        self.0.add_row(lower, upper, terms)
    }

    fn quadratic(&mut self, _i: usize, _j: usize, _value: f64) {}

    fn cone(&mut self, kind: ConeKind, rows: &[(Vec<(usize, f64)>, f64)]) -> Result<Range<usize>, RecourseError> {
        self.0.cone(kind, rows)
    }
}
