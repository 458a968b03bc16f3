//! Affine policies `y(ξ) = y₀ + Yξ`: the best one for a fixed decision or together with one, as one program.
//!
//! Its value is an upper bound: on the worst case of a fixed decision, or on the optimum of the problem.

use std::sync::Arc;

use softsep_lp::{Algorithm, Basis, Lp, Model, Status, Toggle};

use super::dependence::Dependence;
use super::robust::{Expression, Region, Robust};
use crate::format::VariableKind;
use crate::model::Problem;
use crate::recourse::{ConicProgram, ConicStatus, Program, RecourseError};
use crate::run::{Clock, Stop};
use crate::uncertainty::Shape;

/// Whose policy it is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Decision<'a> {
    /// Of this decision.
    Fixed(&'a [f64]),
    /// Of the best decision for policies of this kind.
    Free,
    /// Of the best such decision that has the integers of this one.
    Around(&'a [f64]),
}

/// The strictest that HiGHS takes.
const STRICT: f64 = 1e-10;

/// The program of the best affine policy over a region.
pub(crate) struct Affine<'a> {
    problem: &'a Problem,
    region: Region<'a>,
    dependence: &'a Dependence,
    decision: Decision<'a>,
    gap: f64,
    strict: bool,
    start: Option<&'a Basis>,
    /// The middle of each entry's range, and how far it reaches to either side.
    units: Vec<(f64, f64)>,
}

/// A solved program.
#[derive(Debug, Clone)]
pub(crate) struct Solved {
    /// How it ended.
    pub(crate) ended: Ended,
    /// The decision, where it was free.
    pub(crate) x: Vec<f64>,
    /// The worst cost of the policy; with a free decision, f(x) included.
    pub(crate) value: f64,
    /// How the policy's cost moves with ξ: where it is worst is where to look for a bad scenario.
    pub(crate) cost_slope: Vec<f64>,
    /// The optimal basis, of a linear program over points.
    pub(crate) basis: Option<Basis>,
    /// y₀ and Y, one row of coefficients per recourse variable.
    pub(crate) policy: Vec<(f64, Vec<(usize, f64)>)>,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ended {
    /// With the best policy.
    Optimal,
    /// No such policy is feasible for all ξ of the region. That says nothing about other policies.
    Infeasible,
    /// The cost falls without end: the region is empty, or the problem is unbounded.
    Unbounded,
    /// Early, with nothing.
    Stopped(Stop),
    /// The solver failed.
    Failed(String),
}

/// Where the columns are.
struct Columns {
    tau: usize,
    /// The column of y₀ⱼ; those of Yⱼ follow it.
    constant: Vec<usize>,
}

impl<'a> Affine<'a> {
    /// The problem's recourse must be linear with costs that do not move.
    pub(crate) fn new(problem: &'a Problem, region: Region<'a>, dependence: &'a Dependence, decision: Decision<'a>) -> Self {
        let units = units(problem, region);
        Self { problem, region, dependence, decision, gap: 0.0, strict: false, start: None, units }
    }

    /// The relative gap to which a mixed-integer program is solved.
    pub(crate) fn with_gap(self, gap: f64) -> Self {
        Self { gap, ..self }
    }

    /// Starts from the optimal basis of the same program over fewer points.
    pub(crate) fn starting_from(self, start: Option<&'a Basis>) -> Self {
        Self { start, ..self }
    }

    /// Integers as whole as HiGHS can make them.
    pub(crate) fn strictly(self) -> Self {
        Self { strict: true, ..self }
    }

    fn is_free(&self) -> bool {
        !matches!(self.decision, Decision::Fixed(_))
    }

    /// Solves.
    pub(crate) fn solve(&self, clock: &Clock) -> Result<Solved, RecourseError> {
        if self.is_linear() { self.solve_linear(clock) } else { self.solve_conic(clock) }
    }

    /// Whether HiGHS takes it. Its quadratic solver is no match for Clarabel's.
    fn is_linear(&self) -> bool {
        let curved = matches!(self.region, Region::Shape(shape) if shape.ball.is_some());
        let squared = self.is_free() && !self.problem.first.quadratic.is_zero();
        !curved && !squared
    }

    fn write(&self, program: &mut dyn Program) -> Result<Columns, RecourseError> {
        let (first, recourse) = (&self.problem.first, &self.problem.recourse);
        if self.is_free() {
            for j in 0..first.dim() {
                match self.decision {
                    Decision::Around(x) if first.kind[j] != VariableKind::Continuous => {
                        program.col(first.cost[j], x[j], x[j], VariableKind::Continuous)
                    }
                    _ => program.col(first.cost[j], first.lower[j], first.upper[j], first.kind[j]),
                };
            }
            for (i, j, value) in first.quadratic.iter() {
                program.quadratic(i, j, value);
            }
            for i in 0..first.rows.rows() {
                let terms: Vec<_> = first.rows.row(i).collect();
                program.row(first.row_lower[i], first.row_upper[i], &terms);
            }
        }
        let free =
            |program: &mut dyn Program, cost| program.col(cost, f64::NEG_INFINITY, f64::INFINITY, VariableKind::Continuous);
        let tau = free(program, 1.0);
        let mut constant = Vec::with_capacity(recourse.dim());
        for j in 0..recourse.dim() {
            let follows = self.dependence.of_variable(j);
            constant.push(match follows.is_empty() {
                true => program.col(0.0, recourse.lower[j], recourse.upper[j], VariableKind::Continuous),
                false => free(program, 0.0),
            });
            follows.iter().for_each(|_| {
                free(program, 0.0);
            });
        }
        let columns = Columns { tau, constant };
        self.write_rows(&columns, program)?;
        Ok(columns)
    }

    fn write_rows(&self, columns: &Columns, program: &mut dyn Program) -> Result<(), RecourseError> {
        let mut rows = self.rows(columns);
        for (expression, (lower, upper)) in rows.iter().filter(|(expression, _)| expression.is_fixed()) {
            if lower.is_finite() || upper.is_finite() {
                let (constant, terms) = expression.at(&[]);
                program.row(lower - constant, upper - constant, &terms);
            }
        }
        match self.region {
            Region::Shape(shape) => {
                let robust = Robust::new(shape);
                rows.retain(|(expression, _)| !expression.is_fixed());
                rows.iter().try_for_each(|(expression, sides)| robust.between(program, expression, *sides))
            }
            // In the order in which they came, so that a basis of the program before they came is still at its head.
            Region::Points(places, points) => {
                for (&place, xi) in places.iter().zip(points.iter()) {
                    let (expression, (lower, upper)) = &rows[place];
                    if !expression.is_fixed() {
                        let (constant, terms) = expression.at(xi);
                        program.row(lower - constant, upper - constant, &terms);
                    }
                }
                Ok(())
            }
        }
    }

    /// What must hold for all ξ, as functions of ξ and what they lie between: the cost, the rows, the variables.
    fn rows(&self, columns: &Columns) -> Vec<(Expression, (f64, f64))> {
        let (recourse, dim) = (&self.problem.recourse, self.problem.set.dim());
        let mut cost = Expression::new(dim);
        cost.terms.push((columns.tau, 1.0));
        for (j, &value) in recourse.cost.iter().enumerate() {
            self.add_variable(&mut cost, columns, j, -value);
        }
        let mut rows = vec![(cost, (0.0, f64::INFINITY))];
        for i in 0..recourse.rows() {
            let mut row = Expression::new(dim);
            match self.decision {
                Decision::Fixed(x) => row.constant = recourse.e.dot(i, x),
                Decision::Free | Decision::Around(_) => row.terms.extend(recourse.e.row(i)),
            }
            recourse.u.row(i).for_each(|(entry, value)| row.add_slope(entry, value));
            recourse.g.row(i).for_each(|(j, value)| self.add_variable(&mut row, columns, j, value));
            rows.push((row, (recourse.row_lower[i], recourse.row_upper[i])));
        }
        for j in 0..recourse.dim() {
            let mut variable = Expression::new(dim);
            self.add_variable(&mut variable, columns, j, 1.0);
            // A variable that follows nothing has its bounds as a column.
            let is_column = self.dependence.of_variable(j).is_empty();
            let sides = if is_column { (f64::NEG_INFINITY, f64::INFINITY) } else { (recourse.lower[j], recourse.upper[j]) };
            rows.push((variable, sides));
        }
        rows
    }

    /// Adds `value·yⱼ(ξ)`, where `yⱼ(ξ) = y₀ⱼ + Σ Yⱼₑ·(ξₑ − middleₑ)/reachₑ`: whatever the units of ξ, coefficients are of the size of y.
    fn add_variable(&self, expression: &mut Expression, columns: &Columns, j: usize, value: f64) {
        if value == 0.0 {
            return;
        }
        let constant = columns.constant[j];
        expression.terms.push((constant, value));
        for (place, &entry) in self.dependence.of_variable(j).iter().enumerate() {
            let (middle, reach) = self.units[entry];
            expression.terms.push((constant + 1 + place, -value * middle / reach));
            expression.add_slope_term(entry, constant + 1 + place, value / reach);
        }
    }

    fn solve_linear(&self, clock: &Clock) -> Result<Solved, RecourseError> {
        let mut model = Model::new();
        let columns = self.write(&mut model)?;
        let mut lp = Lp::new(&model)?;
        let integers = matches!(self.decision, Decision::Free) && self.problem.first.has_integers();
        let at_points = matches!(self.region, Region::Points(..)) && !integers;
        // Over shapes these programs are large and degenerate: an interior point is far ahead of simplex. A tree needs simplex, and so do rows that
        // come a few at a time.
        lp.set_algorithm(match (integers, at_points) {
            (true, _) => Algorithm::Choose,
            (_, true) => Algorithm::DualSimplex,
            _ => Algorithm::InteriorPoint,
        })?;
        if let Some(start) = self.start.filter(|_| at_points) {
            let rows = lp.rows();
            lp.set_basis(&start.extended(rows))?;
        }
        lp.set_mip_gap(self.gap)?;
        if self.strict {
            lp.set_integrality(STRICT)?;
        }
        lp.set_interrupt(Arc::clone(clock.interrupt()))?;
        lp.set_time_limit(clock.left())?;
        let mut status = lp.solve()?;
        if !is_definite(status) && clock.check().is_ok() {
            // An interior point that lost its way says nothing; simplex gets there, if later.
            lp.forget()?;
            lp.set_algorithm(Algorithm::DualSimplex)?;
            lp.set_presolve(Toggle::Off)?;
            lp.set_time_limit(clock.left())?;
            status = lp.solve()?;
        }
        if matches!(status, Status::Unbounded | Status::InfeasibleOrUnbounded) && clock.check().is_ok() {
            // Without costs nothing is unbounded: what is feasible then was.
            lp.forget()?;
            lp.set_costs(&vec![0.0; model.cols()])?;
            lp.set_time_limit(clock.left())?;
            status = match lp.solve()? {
                Status::Optimal => Status::Unbounded,
                status => status,
            };
        }
        let ended = match (status, clock.check()) {
            (Status::Optimal, _) => Ended::Optimal,
            (Status::Infeasible, _) => Ended::Infeasible,
            (Status::Unbounded, _) => Ended::Unbounded,
            (Status::TimeLimit, _) => Ended::Stopped(Stop::TimeLimit),
            (Status::Interrupted, _) => Ended::Stopped(Stop::Interrupted),
            // HiGHS's interior point does not tell an interrupt from a failure.
            (_, Err(stop)) => Ended::Stopped(stop),
            (status, Ok(())) => Ended::Failed(format!("HiGHS ended with {status:?}")),
        };
        let mut point = vec![0.0; model.cols()];
        if ended == Ended::Optimal {
            lp.primal(&mut point)?;
        }
        let mut solved = self.read(ended, &columns, &point);
        if solved.ended == Ended::Optimal && at_points && lp.has_basis() {
            lp.basis(solved.basis.insert(Basis::default()))?;
        }
        Ok(solved)
    }

    fn solve_conic(&self, clock: &Clock) -> Result<Solved, RecourseError> {
        let mut program = ConicProgram::new(0.0);
        let columns = self.write(&mut program)?;
        let solution = program.solve(clock)?;
        let ended = match solution.status {
            ConicStatus::Solved => Ended::Optimal,
            ConicStatus::Infeasible => Ended::Infeasible,
            ConicStatus::Unbounded => Ended::Unbounded,
            ConicStatus::Stopped(stop) => Ended::Stopped(stop),
            ConicStatus::Failed(why) => Ended::Failed(why),
        };
        Ok(self.read(ended, &columns, &solution.primal))
    }

    fn read(&self, ended: Ended, columns: &Columns, point: &[f64]) -> Solved {
        let mut solved = Solved {
            ended,
            x: Vec::new(),
            value: f64::INFINITY,
            cost_slope: vec![0.0; self.problem.set.dim()],
            basis: None,
            policy: Vec::new(),
        };
        if solved.ended != Ended::Optimal {
            return solved;
        }
        solved.value = point[columns.tau];
        if self.is_free() {
            solved.x = point[..self.problem.first.dim()].to_vec();
            solved.value += self.problem.first.value(&solved.x);
        }
        for (j, cost) in self.problem.recourse.cost.iter().enumerate() {
            let constant = columns.constant[j];
            let follows = self.dependence.of_variable(j);
            let unscaled = |(&entry, &slope): (&usize, &f64)| (entry, slope / self.units[entry].1);
            let slopes: Vec<(usize, f64)> = follows.iter().zip(&point[constant + 1..]).map(unscaled).collect();
            slopes.iter().for_each(|&(entry, slope)| solved.cost_slope[entry] += cost * slope);
            let at_zero = slopes.iter().map(|&(entry, slope)| slope * self.units[entry].0).sum::<f64>();
            solved.policy.push((point[constant] - at_zero, slopes));
        }
        solved
    }
}

/// Whether a status says what the program is, or that it was stopped.
fn is_definite(status: Status) -> bool {
    !matches!(status, Status::OtherLimit | Status::Failed)
}

/// The middle and the reach of each entry of ξ; of one that does not move, a reach of 1.
fn units(problem: &Problem, region: Region) -> Vec<(f64, f64)> {
    let mut ends = vec![(f64::INFINITY, f64::NEG_INFINITY); problem.set.dim()];
    let mut take = |entry: usize, value: f64| ends[entry] = (ends[entry].0.min(value), ends[entry].1.max(value));
    match region {
        Region::Shape(Shape { polytope: Some(polytope), .. }) => {
            polytope.base.iter().enumerate().for_each(|(entry, &base)| take(entry, base));
            polytope.columns.iter().for_each(|&(entry, step)| take(entry, polytope.base[entry] + step));
        }
        Region::Shape(Shape { ball: Some(ball), .. }) => {
            for (entry, center) in ball.center.iter().enumerate() {
                let reach = ball.reach(entry);
                take(entry, center - reach);
                take(entry, center + reach);
            }
        }
        Region::Shape(_) => {}
        // All of the list, whichever points have rows by now: a basis is for one choice of units.
        Region::Points(..) => {
            let list = problem.set.enumerate(usize::MAX).ok();
            list.iter().flat_map(|list| list.iter()).for_each(|xi| xi.iter().enumerate().for_each(|(e, &value)| take(e, value)));
        }
    }
    let unit = |(low, high): (f64, f64)| match high - low {
        width if width > 0.0 && width.is_finite() => (low.midpoint(high), 0.5 * width),
        _ => (if low.is_finite() { low } else { 0.0 }, 1.0),
    };
    ends.into_iter().map(unit).collect()
}
