//! Solving a stacked program: by HiGHS where it is linear, by Clarabel where it is quadratic or conic.

use std::sync::Arc;

use softsep_lp::{Algorithm, Lp, Model, Status, Toggle};

use super::copies::{Copies, Part};
use crate::error::Error;
use crate::format::VariableKind;
use crate::recourse::{ConicProgram, ConicStatus};
use crate::run::{Clock, Stop, solve_patiently};

/// A solved master.
#[derive(Debug, Clone)]
pub(crate) struct Solved {
    /// The decision, members of X up to the solver's tolerance; integers are whole.
    pub(crate) x: Option<Vec<f64>>,
    /// What the master thinks that the recourse costs at x.
    pub(crate) theta: Option<f64>,
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

impl Copies<'_> {
    /// Solves to a relative gap of `gap` (integers; continuous programs are solved to the solver's tolerance).
    pub(crate) fn solve(&self, gap: f64, seed: u64, clock: &Clock) -> Result<Solved, Error> {
        if self.is_conic() { self.solve_conic(clock) } else { self.solve_linear(gap, seed, clock) }
    }

    fn solve_linear(&self, gap: f64, seed: u64, clock: &Clock) -> Result<Solved, Error> {
        let mut model = Model::new();
        self.write(&mut model, Part::WHOLE)?;
        model.set_offset(self.problem.first.constant);
        let mut lp = linear_program(&model, seed, clock)?;
        lp.set_mip_gap(gap)?;
        let (solved, spoiled) = self.attempt_linear(lp, &model, gap, clock)?;
        if !spoiled || clock.check().is_err() {
            return Ok(solved);
        }
        // A large coefficient lets an integer that is almost whole stand in for the whole one. Once more, as strictly as HiGHS can.
        let mut lp = linear_program(&model, seed, clock)?;
        lp.set_mip_gap(gap)?;
        lp.set_integrality(1e-10)?;
        Ok(self.attempt_linear(lp, &model, gap, clock)?.0)
    }

    /// One solve, and whether making integers whole spoiled its decision.
    fn attempt_linear(&self, lp: Lp, model: &Model, gap: f64, clock: &Clock) -> Result<(Solved, bool), Error> {
        let integers = self.problem.first.has_integers();
        let given_up = |clock: &Clock| {
            let stop = clock.check().err().unwrap_or(Stop::Interrupted);
            (Solved { x: None, theta: None, lower: None, ended: Ended::Stopped(stop) }, false)
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
        if status == Status::InfeasibleOrUnbounded {
            status = self.decide(clock)?;
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
        if !has_point {
            return Ok((Solved { x: None, theta: None, lower, ended }, false));
        }
        let mut point = vec![0.0; model.cols()];
        lp.primal(&mut point)?;
        let (x, objective) = self.whole(&point[..self.problem.first.dim()], model, clock)?;
        let claimed = lp.objective();
        let spoiled = objective.is_some_and(|objective| objective > claimed + gap.max(1e-6) * claimed.abs().max(1.0));
        let theta = Some(point[self.problem.first.dim()]);
        Ok((Solved { x: Some(x), theta, lower, ended }, spoiled))
    }

    /// Tells infeasible from unbounded where HiGHS does not: without costs nothing is unbounded. What is feasible then was unbounded, as the
    /// explanation has to confirm.
    fn decide(&self, clock: &Clock) -> Result<Status, Error> {
        let mut model = Model::new();
        self.write(&mut model, Part::ROWS)?;
        let lp = linear_program(&model, 0, clock)?;
        Ok(match solve_patiently(lp, clock)? {
            Some((_, Status::Optimal)) => Status::Unbounded,
            Some((_, status)) => status,
            None => Status::Interrupted,
        })
    }

    /// Integers within HiGHS's tolerance are made whole, and the rest is solved again around them, so that X holds to the last digit.
    /// Returns the objective of that too, if it was needed: infinite if nothing fits the whole numbers.
    fn whole(&self, x: &[f64], model: &Model, clock: &Clock) -> Result<(Vec<f64>, Option<f64>), Error> {
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
        if off == 0.0 {
            return Ok((x, None));
        }
        let mut fixed = Model::new();
        self.write(&mut fixed, Part::RELAXED)?;
        fixed.set_offset(first.constant);
        // A tree that was stopped left an incumbent; to make it whole takes a moment more.
        let moment = clock.check().is_err().then(Clock::moment);
        let mut lp = linear_program(&fixed, 0, moment.as_ref().unwrap_or(clock))?;
        let (mut lower, mut upper) = model.col_bounds();
        for j in (0..first.dim()).filter(|&j| first.kind[j] != VariableKind::Continuous) {
            (lower[j], upper[j]) = (x[j], x[j]);
        }
        lp.set_col_bounds(&lower, &upper)?;
        if lp.solve()? != Status::Optimal {
            return Ok((x, Some(f64::INFINITY)));
        }
        let mut point = vec![0.0; fixed.cols()];
        lp.primal(&mut point)?;
        for j in (0..first.dim()).filter(|&j| first.kind[j] == VariableKind::Continuous) {
            x[j] = point[j].clamp(first.lower[j], first.upper[j]);
        }
        Ok((x, Some(lp.objective())))
    }

    fn solve_conic(&self, clock: &Clock) -> Result<Solved, Error> {
        let first = &self.problem.first;
        let mut program = ConicProgram::new(first.constant / self.size());
        self.write(&mut program, Part::RELAXED)?;
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
        let theta = solved.then(|| solution.primal[first.dim()] * self.size());
        Ok(Solved { x, theta, lower: solved.then_some(solution.dual_objective * self.size()), ended })
    }
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
