//! Solution of master problems: by HiGHS where they are linear, by Clarabel where they are quadratic or conic, by the
//! solver of the user's choice where they have integers (`mixed_integer.rs`).

use std::sync::Arc;

use softsep_lp::{Algorithm, Basis, Lp, Model, Status, Toggle};

use super::dual_bound::proved_lower;
use super::scenario_copies::{ModelVariant, RowOrigin, ScenarioCopies};
use crate::error::Error;
use crate::numeric::tolerances::LP_FEASIBILITY_TOL;
use crate::recourse::{ConicProgram, ConicStatus, ElasticModel, climb_ladder, is_definite};
use crate::run::{Clock, Interrupt, Unfinished, solve_here, solve_until};

/// Solution of a master problem.
#[derive(Debug, Clone)]
pub(crate) struct MasterSolution {
    /// The decision, in X up to the tolerance of the solver. Integers are integral.
    pub(crate) x: Option<Vec<f64>>,
    /// The master's value of the recourse cost at x.
    pub(crate) theta: Option<f64>,
    /// A proved lower bound on the optimum of the master.
    pub(crate) lower: Option<f64>,
    /// Status of the solve.
    pub(crate) status: MasterStatus,
    /// Optimal basis of a linear program.
    pub(super) basis: Option<Basis>,
    /// Nodes of the search tree.
    pub(crate) nodes: u64,
}

/// Start of a solve. Clarabel has no warm start: an interior-point method gains nothing from a point on the boundary,
/// where the last optimum is.
#[derive(Debug, Clone, Default)]
pub(crate) enum MasterStart {
    /// From scratch.
    #[default]
    Cold,
    /// From a basis of the linear program, without presolve. On a random problem of 60 resources the last of 39 masters
    /// takes 4 pivots and a tenth of the time that presolve and 4428 pivots take.
    Basis(Basis),
    /// From a point as the first incumbent of the mixed-integer program. The tree is hardly smaller for it, since the
    /// best robust decision is far from the master's optimum until the bounds meet. But a stopped tree has an
    /// incumbent.
    Point(Vec<f64>),
}

impl MasterStart {
    /// Passes the start of a linear program to HiGHS. A basis that HiGHS rejects is ignored.
    pub(super) fn apply(&self, lp: &mut Lp) -> Result<(), Error> {
        match self {
            MasterStart::Cold | MasterStart::Point(_) => {}
            MasterStart::Basis(basis) => {
                if lp.set_basis(basis).is_ok() {
                    lp.set_algorithm(Algorithm::DualSimplex)?;
                    lp.set_devex(true)?;
                }
            }
        }
        Ok(())
    }
}

impl MasterSolution {
    /// A solution without point and bound.
    pub(super) fn without_point(status: MasterStatus) -> Self {
        Self { x: None, theta: None, lower: None, status, basis: None, nodes: 0 }
    }
}

/// Solution of a linear master by one solve.
pub(super) struct LinearAttempt {
    pub(super) solution: MasterSolution,
    /// Objective of HiGHS at its point, which need not be a proved bound.
    pub(super) objective: Option<f64>,
}

impl LinearAttempt {
    fn without_point(solution: MasterSolution) -> Self {
        Self { solution, objective: None }
    }
}

/// Status at which the solve of a master ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MasterStatus {
    /// Solved to the gap asked for.
    Optimal,
    /// No x satisfies the master's rows.
    Infeasible,
    /// The objective falls without limit.
    Unbounded,
    /// Stopped by the time limit or an interrupt.
    Stopped(Interrupt),
}

/// The status of a master that a solver has ended with this status.
pub(super) fn master_status(status: Status) -> Result<MasterStatus, Error> {
    Ok(match status {
        Status::Optimal => MasterStatus::Optimal,
        Status::Infeasible => MasterStatus::Infeasible,
        Status::Unbounded => MasterStatus::Unbounded,
        Status::TimeLimit => MasterStatus::Stopped(Interrupt::TimeLimit),
        Status::Interrupted => MasterStatus::Stopped(Interrupt::Interrupted),
        Status::InfeasibleOrUnbounded | Status::OtherLimit | Status::Failed => {
            return Err(Error::Master(format!("the solver ended the master with {status:?}")));
        }
    })
}

/// A function that solves within the limits of a clock. Returns `None` if HiGHS did not stop in time.
type Solver = fn(Lp, &Clock) -> Result<Option<(Lp, Status)>, Unfinished>;

impl ScenarioCopies<'_> {
    /// Solves to a relative gap of `gap`. Continuous programs are solved to the tolerance of the solver.
    pub(crate) fn solve(
        &self,
        start: &MasterStart,
        gap: f64,
        seed: u64,
        clock: &Clock,
    ) -> Result<MasterSolution, Error> {
        if self.is_conic() { self.solve_conic(clock) } else { self.solve_linear(start, gap, seed, clock) }
    }

    fn solve_linear(&self, start: &MasterStart, gap: f64, seed: u64, clock: &Clock) -> Result<MasterSolution, Error> {
        if self.problem.first.has_integers() {
            return self.solve_mixed_integer(start, gap, seed, clock);
        }
        if self.is_single_copy() && matches!(start, MasterStart::Cold) {
            return self.solve_single_copy(seed, clock);
        }
        let mut model = Model::new();
        self.write(&mut model, ModelVariant::FULL)?;
        model.set_offset(self.problem.first.constant);
        let mut lp = linear_program(&model, seed, clock)?;
        start.apply(&mut lp)?;
        // From a basis HiGHS runs the simplex only, which stops in time by itself. For a small master a thread of its
        // own would take longer than the solve.
        let solver = if matches!(start, MasterStart::Basis(_)) { solve_here } else { solve_until };
        Ok(self.attempt_linear(lp, solver, &model, clock)?.solution)
    }

    /// The weights of the scenarios in the bound of a linear master's relaxation: the multipliers of the rows that
    /// bound θ by the costs of the copies, which sum to 1. `None` if the master is conic or no optimum was found.
    pub(crate) fn weights(&self, clock: &Clock) -> Result<Option<Vec<f64>>, Error> {
        if self.is_conic() {
            return Ok(None);
        }
        let mut model = Model::new();
        let rows = self.write(&mut model, ModelVariant::RELAXED)?;
        let Some((lp, Status::Optimal)) = solve_until(linear_program(&model, 0, clock)?, clock)? else {
            return Ok(None);
        };
        let mut dual = vec![0.0; model.rows()];
        lp.dual(&mut dual)?;
        let costs = rows.iter().zip(dual).filter(|(row, _)| **row == RowOrigin::Cost);
        Ok(Some(costs.map(|(_, dual)| dual).collect()))
    }

    /// Solves once.
    pub(super) fn attempt_linear(
        &self,
        lp: Lp,
        solver: Solver,
        model: &Model,
        clock: &Clock,
    ) -> Result<LinearAttempt, Error> {
        let Some((mut lp, mut lp_status)) = self.run_highs(lp, solver, clock)? else {
            let stop = clock.check().err().unwrap_or(Interrupt::Interrupted);
            return Ok(LinearAttempt::without_point(MasterSolution::without_point(MasterStatus::Stopped(stop))));
        };
        let mut lower = None;
        if lp_status == Status::Optimal {
            (lower, lp_status) = proved_lower(&mut lp, model, clock)?;
        }
        let status = master_status(lp_status)?;
        // The point of a stopped simplex is of no use.
        if status != MasterStatus::Optimal {
            let solution = MasterSolution { lower, ..MasterSolution::without_point(status) };
            return Ok(LinearAttempt::without_point(solution));
        }
        let mut basis = Basis::default();
        if lp.has_basis() {
            lp.basis(&mut basis)?;
        }
        let mut point = vec![0.0; model.cols()];
        lp.primal(&mut point)?;
        self.clamp(&mut point);
        let x = point[..self.problem.first.dim()].to_vec();
        let theta = Some(point[self.problem.first.dim()]);
        let basis = (!basis.is_empty()).then_some(basis);
        let solution = MasterSolution { x: Some(x), theta, lower, status, basis, nodes: 0 };
        Ok(LinearAttempt { solution, objective: Some(lp.objective()) })
    }

    /// Clamps the decision of a point to its bounds, which solvers violate by their tolerances.
    pub(super) fn clamp(&self, point: &mut [f64]) {
        let first = &self.problem.first;
        for (j, x) in point[..first.dim()].iter_mut().enumerate() {
            *x = x.clamp(first.lower[j], first.upper[j]);
        }
    }

    /// Solves by HiGHS, again without presolve if the status is in doubt, and then on the ladder of linear programs.
    /// Returns `None` if the clock stopped it.
    fn run_highs(&self, lp: Lp, solver: Solver, clock: &Clock) -> Result<Option<(Lp, Status)>, Error> {
        let Some((mut lp, mut status)) = solver(lp, clock)? else { return Ok(None) };
        if matches!(status, Status::Infeasible | Status::InfeasibleOrUnbounded | Status::Failed) {
            // Presolve has called feasible masters infeasible, and does not distinguish infeasible from unbounded.
            lp.clear_solver()?;
            lp.set_presolve(Toggle::Off)?;
            lp.set_time_limit(clock.left())?;
            let Some(again) = solve_until(lp, clock)? else { return Ok(None) };
            (lp, status) = again;
        }
        if matches!(status, Status::InfeasibleOrUnbounded | Status::Unbounded) {
            status = self.distinguish_infeasible_from_unbounded(clock)?;
        }
        status = climb_ladder(&mut lp, status, clock)?;
        if !is_definite(status) && clock.check().is_ok() && self.is_contradictory(clock)? {
            status = Status::Infeasible;
        }
        Ok(Some((lp, status)))
    }

    /// Whether the rows contradict one another, integers aside. HiGHS may end without a status where its own proof of
    /// that does not meet its tolerances.
    pub(super) fn is_contradictory(&self, clock: &Clock) -> Result<bool, Error> {
        let mut elastic = ElasticModel::default();
        self.write(&mut elastic, ModelVariant::RELAXED_FEASIBILITY)?;
        let lp = linear_program(&elastic.finish(), 0, clock)?;
        let solved = solve_until(lp, clock)?;
        Ok(solved.is_some_and(|(lp, status)| status == Status::Optimal && lp.objective() > LP_FEASIBILITY_TOL))
    }

    /// Distinguishes infeasible from unbounded where HiGHS does not, by a solve without costs. A feasible master was
    /// unbounded, which the explanation has to confirm.
    pub(super) fn distinguish_infeasible_from_unbounded(&self, clock: &Clock) -> Result<Status, Error> {
        let mut model = Model::new();
        self.write(&mut model, ModelVariant::FEASIBILITY)?;
        let lp = linear_program(&model, 0, clock)?;
        Ok(match solve_until(lp, clock)? {
            Some((_, Status::Optimal)) => Status::Unbounded,
            Some((_, status)) => status,
            None => Status::Interrupted,
        })
    }

    fn solve_conic(&self, clock: &Clock) -> Result<MasterSolution, Error> {
        let first = &self.problem.first;
        let mut program = ConicProgram::new(first.constant / self.cost_unit());
        self.write(&mut program, ModelVariant::RELAXED)?;
        let solution = program.solve_with_bound(clock)?;
        let status = match solution.status {
            // The bound is proved by a dual point, however far the primal one is from it.
            ConicStatus::Solved | ConicStatus::Inexact(_) => MasterStatus::Optimal,
            ConicStatus::Infeasible => MasterStatus::Infeasible,
            ConicStatus::Unbounded => MasterStatus::Unbounded,
            ConicStatus::Stopped(stop) => MasterStatus::Stopped(stop),
            ConicStatus::Failed(why) => {
                return Err(Error::Master(format!("Clarabel could not solve the master: {why}")));
            }
        };
        if status != MasterStatus::Optimal {
            return Ok(MasterSolution::without_point(status));
        }
        let x = (0..first.dim()).map(|j| solution.primal[j].clamp(first.lower[j], first.upper[j])).collect();
        let theta = Some(solution.primal[first.dim()] * self.cost_unit());
        let lower = Some(solution.dual_objective * self.cost_unit()).filter(|lower| lower.is_finite());
        Ok(MasterSolution { x: Some(x), theta, lower, ..MasterSolution::without_point(status) })
    }
}

/// Passes a model to HiGHS, with the time limit and the interrupt of the clock.
pub(super) fn linear_program(model: &Model, seed: u64, clock: &Clock) -> Result<Lp, Error> {
    let mut lp = Lp::new(model)?;
    lp.set_algorithm(Algorithm::Choose)?;
    lp.set_seed(seed)?;
    lp.set_interrupt(Arc::clone(clock.interrupt()))?;
    lp.set_time_limit(clock.left())?;
    Ok(lp)
}
