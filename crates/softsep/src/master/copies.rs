//! The master with one copy of the recourse per scenario: `min f(x) + θ` with `θ ≥ cost(yₖ)` and the recourse rows of (x, yₖ, ξₖ) for every k.

use std::sync::Arc;

use softsep_lp::{Algorithm, Lp, Model, Status, Toggle};

use super::patience::solve_patiently;
use super::square::square_root;
use crate::error::Error;
use crate::format::{ConeKind, VariableKind};
use crate::model::Problem;
use crate::recourse::{Answer, ConicProgram, ConicStatus, engine};
use crate::run::{Clock, Stop};

/// Whose row a row of the stacked program is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowOf {
    /// A row of the first stage.
    First(usize),
    /// A row of the recourse, in copy `copy`.
    Recourse {
        /// Which copy.
        copy: usize,
        /// Which row.
        row: usize,
    },
    /// A row that only ties θ to the costs.
    Cost,
}

/// The stacked program of a problem and some scenarios. Its columns are x, θ, then the y of each copy.
pub(crate) struct Copies<'a> {
    pub(super) problem: &'a Problem,
    pub(super) scenarios: Vec<&'a [f64]>,
    /// `None` if the program is linear.
    conic: Option<Square>,
}

/// What a conic program needs to know of the recourse cost.
struct Square {
    /// The root of its quadratic part.
    root: Vec<Vec<(usize, f64)>>,
    /// Its size. All costs are measured in it, or an interior point loses its way between costs and rows of very different sizes.
    size: f64,
}

/// What of a stacked program is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// All.
    Whole,
    /// All but integrality.
    Relaxed,
    /// What is feasible, without integrality: no costs, and no rows that tie θ to them.
    Rows,
}

/// A solved master.
#[derive(Debug, Clone)]
pub(crate) struct Solved {
    /// The decision, members of X up to the solver's tolerance; integers are whole.
    pub(crate) x: Option<Vec<f64>>,
    /// A lower bound on the master's optimum, for sure.
    pub(crate) lower: Option<f64>,
    /// How it ended.
    pub(crate) ended: Ended,
}

/// How a master ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Solved to the gap asked for.
    Optimal,
    /// No x satisfies the master's rows.
    Infeasible,
    /// The objective falls without end.
    Unbounded,
    /// Stopped early.
    Stopped(Stop),
}

/// What a stacked program is written into: HiGHS's model or Clarabel's.
pub(super) trait Program {
    fn col(&mut self, cost: f64, lower: f64, upper: f64, kind: VariableKind) -> usize;
    fn row(&mut self, lower: f64, upper: f64, terms: &[(usize, f64)]);
    fn quadratic(&mut self, i: usize, j: usize, value: f64);
    fn cone(&mut self, kind: ConeKind, rows: &[(Vec<(usize, f64)>, f64)]) -> Result<(), Error>;
}

impl Program for Model {
    fn col(&mut self, cost: f64, lower: f64, upper: f64, kind: VariableKind) -> usize {
        match kind {
            VariableKind::Continuous => self.add_col(cost, lower, upper),
            VariableKind::Integer | VariableKind::Binary => self.add_integer(cost, lower, upper),
        }
    }

    fn row(&mut self, lower: f64, upper: f64, terms: &[(usize, f64)]) {
        self.add_row(lower, upper, terms);
    }

    fn quadratic(&mut self, i: usize, j: usize, value: f64) {
        self.add_quadratic(i, j, value);
    }

    fn cone(&mut self, kind: ConeKind, _rows: &[(Vec<(usize, f64)>, f64)]) -> Result<(), Error> {
        Err(Error::Master(format!("HiGHS takes no cones, and was given a {kind:?}")))
    }
}

impl Program for ConicProgram {
    fn col(&mut self, cost: f64, lower: f64, upper: f64, _kind: VariableKind) -> usize {
        self.add_col(cost, lower, upper)
    }

    fn row(&mut self, lower: f64, upper: f64, terms: &[(usize, f64)]) {
        self.add_row(lower, upper, terms.iter().copied());
    }

    fn quadratic(&mut self, i: usize, j: usize, value: f64) {
        self.add_quadratic(i, j, value);
    }

    fn cone(&mut self, kind: ConeKind, rows: &[(Vec<(usize, f64)>, f64)]) -> Result<(), Error> {
        self.add_cone(kind, rows.iter().map(|(terms, offset)| (terms.iter().copied(), *offset)))?;
        Ok(())
    }
}

impl<'a> Copies<'a> {
    /// One copy per scenario.
    pub(crate) fn new(problem: &'a Problem, scenarios: Vec<&'a [f64]>) -> Result<Self, Error> {
        let linear = problem.recourse.is_linear() && problem.first.quadratic.is_zero();
        let conic = if linear {
            None
        } else {
            let root = square_root(&problem.recourse.quadratic)
                .ok_or_else(|| Error::Master("the recourse's quadratic cost could not be factored".into()))?;
            Some(Square { root, size: typical_cost(problem, scenarios.first().copied()) })
        };
        Ok(Self { problem, scenarios, conic })
    }

    /// Whether Clarabel is needed.
    pub(super) fn is_conic(&self) -> bool {
        self.conic.is_some()
    }

    /// Where the y of a copy begin.
    pub(super) fn first_y(&self, copy: usize) -> usize {
        // With a quadratic cost each copy has one more column, t ≥ ½ yᵀHy.
        self.problem.first.dim() + 1 + copy * (self.problem.recourse.dim() + usize::from(self.has_square()))
    }

    /// The unit of all costs in the program.
    fn size(&self) -> f64 {
        self.conic.as_ref().map_or(1.0, |square| square.size)
    }

    fn has_square(&self) -> bool {
        !self.problem.recourse.quadratic.is_zero()
    }

    /// Writes the program, or a part of it with the same columns. Returns whose row each row is.
    pub(super) fn write(&self, program: &mut dyn Program, part: Part) -> Result<Vec<RowOf>, Error> {
        let (first, recourse) = (&self.problem.first, &self.problem.recourse);
        let mut rows = Vec::new();
        let size = self.size();
        for j in 0..first.dim() {
            let kind = if part == Part::Whole { first.kind[j] } else { VariableKind::Continuous };
            let cost = if part == Part::Rows { 0.0 } else { first.cost[j] / size };
            program.col(cost, first.lower[j], first.upper[j], kind);
        }
        for (i, j, value) in first.quadratic.iter().filter(|_| part != Part::Rows) {
            program.quadratic(i, j, value / size);
        }
        let theta_cost = if part == Part::Rows { 0.0 } else { 1.0 };
        let theta = program.col(theta_cost, f64::NEG_INFINITY, f64::INFINITY, VariableKind::Continuous);
        let mut terms: Vec<(usize, f64)> = Vec::new();
        for i in 0..first.rows.rows() {
            terms.clear();
            terms.extend(first.rows.row(i));
            program.row(first.row_lower[i], first.row_upper[i], &terms);
            rows.push(RowOf::First(i));
        }
        let mut cost = vec![0.0; recourse.dim()];
        let mut shift = vec![0.0; recourse.rows()];
        for (copy, xi) in self.scenarios.iter().enumerate() {
            let start = self.first_y(copy);
            recourse.cost_at(xi, &mut cost);
            shift.fill(0.0);
            recourse.u.mul_add(1.0, xi, &mut shift);
            for j in 0..recourse.dim() {
                program.col(0.0, recourse.lower[j], recourse.upper[j], VariableKind::Continuous);
            }
            terms.clear();
            terms.push((theta, 1.0));
            terms.extend(cost.iter().enumerate().map(|(j, cost)| (start + j, -cost / size)));
            if self.has_square() {
                let square = program.col(0.0, f64::NEG_INFINITY, f64::INFINITY, VariableKind::Continuous);
                terms.push((square, -1.0));
            }
            self.write_recourse_rows(program, copy, &shift, &mut rows)?;
            if part != Part::Rows {
                program.row(0.0, f64::INFINITY, &terms);
                rows.push(RowOf::Cost);
                self.write_square(program, start, &mut rows)?;
            }
        }
        Ok(rows)
    }

    fn write_recourse_rows(
        &self,
        program: &mut dyn Program,
        copy: usize,
        shift: &[f64],
        rows: &mut Vec<RowOf>,
    ) -> Result<(), Error> {
        let recourse = &self.problem.recourse;
        let start = self.first_y(copy);
        let terms_of = |i: usize| -> Vec<(usize, f64)> {
            recourse.g.row(i).map(|(j, value)| (start + j, value)).chain(recourse.e.row(i)).collect()
        };
        for i in 0..recourse.rows() {
            if recourse.row_lower[i].is_finite() || recourse.row_upper[i].is_finite() {
                program.row(recourse.row_lower[i] - shift[i], recourse.row_upper[i] - shift[i], &terms_of(i));
                rows.push(RowOf::Recourse { copy, row: i });
            }
        }
        for cone in &recourse.cones {
            let entries: Vec<_> = cone.rows.iter().map(|&i| (terms_of(i), recourse.offset[i] - shift[i])).collect();
            program.cone(cone.kind, &entries)?;
            rows.extend(cone.rows.iter().map(|&row| RowOf::Recourse { copy, row }));
        }
        Ok(())
    }

    /// `t ≥ ½ yᵀHy` in the size of the costs: `‖(√2·Ly, t − 1)‖ ≤ t + 1`, see [`square_root`].
    fn write_square(&self, program: &mut dyn Program, start: usize, rows: &mut Vec<RowOf>) -> Result<(), Error> {
        let (true, Some(Square { root, size })) = (self.has_square(), &self.conic) else { return Ok(()) };
        let square = start + self.problem.recourse.dim();
        let mut entries = vec![(vec![(square, 1.0)], -1.0), (vec![(square, 1.0)], 1.0)];
        let scale = (2.0 / size).sqrt();
        entries.extend(root.iter().map(|row| (row.iter().map(|&(j, value)| (start + j, scale * value)).collect(), 0.0)));
        rows.extend(entries.iter().map(|_| RowOf::Cost));
        program.cone(ConeKind::SecondOrder, &entries)
    }

    /// Solves to a relative gap of `gap` (integers; continuous programs are solved to the solver's tolerance).
    pub(crate) fn solve(&self, gap: f64, seed: u64, clock: &Clock) -> Result<Solved, Error> {
        if self.is_conic() { self.solve_conic(clock) } else { self.solve_linear(gap, seed, clock) }
    }

    fn solve_linear(&self, gap: f64, seed: u64, clock: &Clock) -> Result<Solved, Error> {
        let integers = self.problem.first.has_integers();
        let mut model = Model::new();
        self.write(&mut model, Part::Whole)?;
        model.set_offset(self.problem.first.constant);
        let mut lp = linear_program(&model, seed, clock)?;
        lp.set_mip_gap(gap)?;
        let given_up = |clock: &Clock| Solved {
            x: None,
            lower: None,
            ended: Ended::Stopped(clock.check().err().unwrap_or(Stop::Interrupted)),
        };
        let Some((mut lp, mut status)) = solve_patiently(lp, clock)? else { return Ok(given_up(clock)) };
        if matches!(status, Status::Infeasible | Status::InfeasibleOrUnbounded | Status::Failed) {
            // Presolve has been wrong before (and does not tell infeasible from unbounded): ask again without.
            lp.forget()?;
            lp.set_presolve(Toggle::Off)?;
            lp.set_time_limit(clock.left())?;
            let Some(again) = solve_patiently(lp, clock)? else { return Ok(given_up(clock)) };
            (lp, status) = again;
        }
        let ended = match status {
            Status::Optimal => Ended::Optimal,
            Status::Infeasible => Ended::Infeasible,
            Status::Unbounded => Ended::Unbounded,
            Status::TimeLimit => Ended::Stopped(Stop::TimeLimit),
            Status::Interrupted => Ended::Stopped(Stop::Interrupted),
            Status::InfeasibleOrUnbounded | Status::OtherLimit | Status::Failed => {
                return Err(Error::Master(format!("HiGHS ended the master with {status:?}")));
            }
        };
        let lower = match ended {
            _ if integers => lp.mip_dual_bound(),
            Ended::Optimal => Some(lp.objective()),
            _ => None,
        };
        // A linear program that was stopped has no point worth reporting; a tree that was stopped may have an incumbent.
        let has_point = ended == Ended::Optimal || integers && lp.has_feasible_point();
        let x = if has_point {
            let mut point = vec![0.0; model.cols()];
            lp.primal(&mut point)?;
            Some(self.whole(&point[..self.problem.first.dim()], &model, clock)?)
        } else {
            None
        };
        Ok(Solved { x, lower, ended })
    }

    /// Integers within HiGHS's tolerance are made whole, and the rest is solved again around them, so that X holds to the last digit.
    fn whole(&self, x: &[f64], model: &Model, clock: &Clock) -> Result<Vec<f64>, Error> {
        let first = &self.problem.first;
        let mut x = x.to_vec();
        let mut off = 0.0_f64;
        for (j, x) in x.iter_mut().enumerate() {
            if first.kind[j] != VariableKind::Continuous {
                off = off.max((*x - x.round()).abs());
                *x = x.round();
            }
            *x = x.clamp(first.lower[j], first.upper[j]);
        }
        if off > 1e-9 {
            let mut fixed = Model::new();
            self.write(&mut fixed, Part::Relaxed)?;
            let mut lp = linear_program(&fixed, 0, clock)?;
            let mut bounds: (Vec<f64>, Vec<f64>) = model.col_bounds();
            for j in 0..first.dim() {
                if first.kind[j] != VariableKind::Continuous {
                    (bounds.0[j], bounds.1[j]) = (x[j], x[j]);
                }
            }
            lp.set_col_bounds(&bounds.0, &bounds.1)?;
            if lp.solve()? == Status::Optimal {
                let mut point = vec![0.0; fixed.cols()];
                lp.primal(&mut point)?;
                for j in 0..first.dim() {
                    if first.kind[j] == VariableKind::Continuous {
                        x[j] = point[j].clamp(first.lower[j], first.upper[j]);
                    }
                }
            }
        }
        Ok(x)
    }

    fn solve_conic(&self, clock: &Clock) -> Result<Solved, Error> {
        let first = &self.problem.first;
        let mut program = ConicProgram::new(first.constant / self.size());
        self.write(&mut program, Part::Relaxed)?;
        let solution = program.solve(clock)?;
        let ended = match solution.status {
            ConicStatus::Solved => Ended::Optimal,
            ConicStatus::Infeasible => Ended::Infeasible,
            ConicStatus::Unbounded => Ended::Unbounded,
            ConicStatus::Stopped(stop) => Ended::Stopped(stop),
            ConicStatus::Failed(why) => return Err(Error::Master(format!("Clarabel could not solve the master: {why}"))),
        };
        let solved = ended == Ended::Optimal;
        let x = solved.then(|| (0..first.dim()).map(|j| solution.primal[j].clamp(first.lower[j], first.upper[j])).collect());
        Ok(Solved { x, lower: solved.then_some(solution.dual_objective * self.size()), ended })
    }
}

/// The size of the recourse cost at the corner of X nearest to zero, at least 1.
fn typical_cost(problem: &Problem, xi: Option<&[f64]>) -> f64 {
    let (lower, upper) = (&problem.first.lower, &problem.first.upper);
    let corner: Vec<f64> = lower.iter().zip(upper).map(|(&lower, &upper)| 0.0_f64.clamp(lower, upper)).collect();
    let cost = || -> Option<f64> {
        let mut engine = engine(problem, &Clock::unlimited()).ok()?;
        let mut answer = Answer::new(problem);
        engine.at(&corner);
        engine.solve(xi?, &mut answer).ok()?;
        answer.value.is_finite().then_some(answer.value.abs())
    };
    cost().unwrap_or(1.0).max(1.0)
}

/// A program in HiGHS under the run's clock.
pub(super) fn linear_program(model: &Model, seed: u64, clock: &Clock) -> Result<Lp, Error> {
    let mut lp = Lp::new(model)?;
    lp.set_algorithm(Algorithm::Choose)?;
    lp.set_seed(seed)?;
    lp.set_interrupt(Arc::clone(clock.interrupt()))?;
    lp.set_time_limit(clock.left())?;
    Ok(lp)
}
