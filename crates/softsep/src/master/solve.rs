//! Solving a stacked program: by HiGHS where it is linear, by Clarabel where it is quadratic or conic.

use std::sync::Arc;

use softsep_lp::{Algorithm, Basis, Lp, Model, Status, Toggle};

use super::copies::{Copies, Part};
use crate::definition::VariableKind;
use crate::error::Error;
use crate::recourse::{ConicProgram, ConicStatus};
use crate::run::{Clock, Stop, Unfinished, solve_here, solve_until};

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
    /// The optimal basis of a linear program.
    pub(super) basis: Option<Basis>,
    /// Nodes of the search tree.
    pub(crate) nodes: u64,
}

/// Where a solve starts from. Clarabel cannot start from anything: an interior point gains nothing from a point on the
/// boundary, which is where the last optimum is.
#[derive(Debug, Clone, Default)]
pub(crate) enum Start {
    /// From nothing.
    #[default]
    Cold,
    /// From a basis of the linear program. Presolve is skipped then, and that pays: on a random problem of 60 resources
    /// the last of 39 masters takes 4 pivots and a tenth of the time of presolve and 4428 pivots.
    Basis(Basis),
    /// From a point that the mixed-integer program takes for its first incumbent. The tree is hardly smaller for it,
    /// since the best robust decision is far from the master's optimum until the bounds meet; but a tree that is
    /// stopped has a decision to show.
    Point(Vec<f64>),
}

impl Start {
    /// Hands the start over. One that HiGHS refuses costs time and nothing else.
    pub(super) fn give(&self, lp: &mut Lp) -> Result<(), Error> {
        match self {
            Start::Cold => {}
            Start::Basis(basis) => {
                if lp.set_basis(basis).is_ok() {
                    lp.set_algorithm(Algorithm::DualSimplex)?;
                    lp.set_devex(true)?;
                }
            }
            Start::Point(point) => {
                let _ = lp.set_point(point);
            }
        }
        Ok(())
    }
}

impl Solved {
    /// No point, no bound.
    fn nothing(ended: Ended) -> Self {
        Self { x: None, theta: None, lower: None, ended, basis: None, nodes: 0 }
    }
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

/// Solves under a clock; `None` where the solver does not hear it.
type Solver = fn(Lp, &Clock) -> Result<Option<(Lp, Status)>, Unfinished>;

impl Copies<'_> {
    /// Solves to a relative gap of `gap` (integers; continuous programs are solved to the solver's tolerance).
    pub(crate) fn solve(&self, start: &Start, gap: f64, seed: u64, clock: &Clock) -> Result<Solved, Error> {
        if self.is_conic() { self.solve_conic(clock) } else { self.solve_linear(start, gap, seed, clock) }
    }

    fn solve_linear(&self, start: &Start, gap: f64, seed: u64, clock: &Clock) -> Result<Solved, Error> {
        if self.is_lone() && matches!(start, Start::Cold) {
            return self.solve_lone(seed, clock);
        }
        let mut model = Model::new();
        self.write(&mut model, Part::WHOLE)?;
        model.set_offset(self.problem.first.constant);
        let mut lp = linear_program(&model, seed, clock)?;
        lp.set_mip_gap(gap)?;
        start.give(&mut lp)?;
        // From a basis there is a simplex alone, which hears the clock: small masters take less time than a thread of
        // their own.
        let solver = if matches!(start, Start::Basis(_)) { solve_here } else { solve_until };
        let (solved, spoiled) = self.attempt_linear(lp, solver, &model, gap, clock)?;
        if !spoiled || clock.check().is_err() {
            return Ok(solved);
        }
        // A large coefficient lets an integer that is almost whole stand in for the whole one. Once more, as strictly
        // as HiGHS can.
        let mut lp = linear_program(&model, seed, clock)?;
        lp.set_mip_gap(gap)?;
        lp.set_integrality(1e-10)?;
        let again = self.attempt_linear(lp, solve_until, &model, gap, clock)?.0;
        Ok(Solved { nodes: solved.nodes + again.nodes, ..again })
    }

    /// One solve, and whether making integers whole spoiled its decision.
    pub(super) fn attempt_linear(
        &self,
        lp: Lp,
        solver: Solver,
        model: &Model,
        gap: f64,
        clock: &Clock,
    ) -> Result<(Solved, bool), Error> {
        let integers = self.problem.first.has_integers();
        let given_up = |clock: &Clock| {
            let stop = clock.check().err().unwrap_or(Stop::Interrupted);
            (Solved::nothing(Ended::Stopped(stop)), false)
        };
        let Some((mut lp, mut status)) = solver(lp, clock)? else { return Ok(given_up(clock)) };
        if matches!(status, Status::Infeasible | Status::InfeasibleOrUnbounded | Status::Failed) {
            // Presolve has been wrong before (and does not tell infeasible from unbounded): ask again without.
            lp.forget()?;
            lp.set_presolve(Toggle::Off)?;
            lp.set_time_limit(clock.left())?;
            let Some(again) = solve_until(lp, clock)? else { return Ok(given_up(clock)) };
            (lp, status) = again;
        }
        if matches!(status, Status::InfeasibleOrUnbounded | Status::Unbounded) {
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
        // A linear program that was stopped has no point worth reporting; a tree that was stopped may have an
        // incumbent.
        let has_point = ended == Ended::Optimal || integers && lp.has_feasible_point();
        let nodes = if integers { lp.mip_nodes() } else { 0 };
        if !has_point {
            return Ok((Solved { lower, nodes, ..Solved::nothing(ended) }, false));
        }
        let mut basis = Basis::default();
        if !integers && lp.has_basis() {
            lp.basis(&mut basis)?;
        }
        let mut point = vec![0.0; model.cols()];
        lp.primal(&mut point)?;
        let objective = self.whole(&mut point, model, clock)?;
        let x = point[..self.problem.first.dim()].to_vec();
        let claimed = lp.objective();
        let spoiled = objective.is_some_and(|objective| objective > claimed + gap.max(1e-6) * claimed.abs().max(1.0));
        let theta = Some(point[self.problem.first.dim()]);
        let basis = (!basis.is_empty()).then_some(basis);
        Ok((Solved { x: Some(x), theta, lower, ended, basis, nodes }, spoiled))
    }

    /// Tells infeasible from unbounded where HiGHS does not: without costs nothing is unbounded. What is feasible then
    /// was unbounded, as the explanation has to confirm.
    fn decide(&self, clock: &Clock) -> Result<Status, Error> {
        let mut model = Model::new();
        self.write(&mut model, Part::ROWS)?;
        let lp = linear_program(&model, 0, clock)?;
        Ok(match solve_until(lp, clock)? {
            Some((_, Status::Optimal)) => Status::Unbounded,
            Some((_, status)) => status,
            None => Status::Interrupted,
        })
    }

    /// Integers within HiGHS's tolerance are made whole, and the rest is solved again around them, so that X holds to
    /// the last digit. All of the point moves then, θ too: the other optimum may be far away. Returns the objective of
    /// that, if it was needed: infinite if nothing fits the whole numbers.
    fn whole(&self, point: &mut [f64], model: &Model, clock: &Clock) -> Result<Option<f64>, Error> {
        let first = &self.problem.first;
        let is_whole = |j: &usize| first.kind[*j] != VariableKind::Continuous;
        let off = (0..first.dim()).filter(is_whole).any(|j| point[j] != point[j].round());
        for j in (0..first.dim()).filter(is_whole) {
            point[j] = point[j].round();
        }
        let clamp = |point: &mut [f64]| {
            for (j, x) in point[..first.dim()].iter_mut().enumerate() {
                *x = x.clamp(first.lower[j], first.upper[j]);
            }
        };
        clamp(point);
        if !off {
            return Ok(None);
        }
        let mut fixed = Model::new();
        self.write(&mut fixed, Part::RELAXED)?;
        fixed.set_offset(first.constant);
        // A tree that was stopped left an incumbent; to make it whole takes a moment more.
        let grace = clock.check().is_err().then(Clock::grace);
        let mut lp = linear_program(&fixed, 0, grace.as_ref().unwrap_or(clock))?;
        let (mut lower, mut upper) = model.col_bounds();
        for j in (0..first.dim()).filter(is_whole) {
            (lower[j], upper[j]) = (point[j], point[j]);
        }
        lp.set_col_bounds(&lower, &upper)?;
        if lp.solve()? != Status::Optimal {
            return Ok(Some(f64::INFINITY));
        }
        lp.primal(point)?;
        for j in (0..first.dim()).filter(is_whole) {
            point[j] = lower[j];
        }
        clamp(point);
        Ok(Some(lp.objective()))
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
            ConicStatus::Failed(why) => {
                return Err(Error::Master(format!("Clarabel could not solve the master: {why}")));
            }
        };
        if ended != Ended::Optimal {
            return Ok(Solved::nothing(ended));
        }
        let x = (0..first.dim()).map(|j| solution.primal[j].clamp(first.lower[j], first.upper[j])).collect();
        let theta = Some(solution.primal[first.dim()] * self.size());
        let lower = Some(solution.dual_objective * self.size());
        Ok(Solved { x: Some(x), theta, lower, ..Solved::nothing(ended) })
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
