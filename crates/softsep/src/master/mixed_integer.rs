//! Solution of masters with integers by HiGHS or another solver of mixed-integer programs.

use std::sync::Arc;

use softsep_lp::{Mip, Model, Status};

use super::scenario_copies::{ModelVariant, ScenarioCopies};
use super::solve::{MasterSolution, MasterStart, MasterStatus, linear_program, master_status};
use crate::definition::VariableKind;
use crate::error::Error;
use crate::numeric::tolerances::{ROUNDING_RISE_TOL, ROW_TOL, STRICT_INTEGRALITY_TOL};
use crate::recourse::is_definite;
use crate::run::{Clock, Interrupt, solve_mip_until};

/// Solution of a mixed-integer master by one solve.
struct Attempt {
    solution: MasterSolution,
    /// Whether rounding the integers has raised the objective by more than the gap.
    rounding_failed: bool,
}

impl ScenarioCopies<'_> {
    /// Solves a linear master with integers to a relative gap of `gap`.
    pub(super) fn solve_mixed_integer(
        &self,
        start: &MasterStart,
        gap: f64,
        seed: u64,
        clock: &Clock,
    ) -> Result<MasterSolution, Error> {
        let mut model = Model::new();
        self.write(&mut model, ModelVariant::FULL)?;
        model.set_offset(self.problem.first.constant);
        let mut mip = self.mixed_integer_program(&model, gap, seed, clock)?;
        if let MasterStart::Point(point) = start {
            // A start that the solver rejects is ignored.
            let _ = mip.set_start_point(point);
        }
        let Attempt { solution: solved, rounding_failed } = self.attempt_mixed_integer(mip, &model, gap, clock)?;
        if !rounding_failed || clock.check().is_err() {
            return Ok(solved);
        }
        // With a large coefficient an almost integral value can have the effect of an integral one. Solve again with
        // the strictest integrality tolerance of the solver.
        let mut mip = self.mixed_integer_program(&model, gap, seed, clock)?;
        mip.set_integrality(STRICT_INTEGRALITY_TOL)?;
        let again = self.attempt_mixed_integer(mip, &model, gap, clock)?.solution;
        Ok(MasterSolution { nodes: solved.nodes + again.nodes, ..again })
    }

    /// Passes a model to the solver, with the time limit and the interrupt of the clock.
    fn mixed_integer_program(&self, model: &Model, gap: f64, seed: u64, clock: &Clock) -> Result<Mip, Error> {
        let mut mip = Mip::new(model, &self.solver)?;
        mip.set_mip_gap(gap)?;
        // The trees are small and the roots slow: HiGHS repeats a root of seconds for a few integers that it has fixed.
        mip.set_restarts(false)?;
        mip.set_seed(seed)?;
        mip.set_interrupt(Arc::clone(clock.interrupt()))?;
        mip.set_time_limit(clock.left())?;
        Ok(mip)
    }

    /// Solves once.
    fn attempt_mixed_integer(&self, mip: Mip, model: &Model, gap: f64, clock: &Clock) -> Result<Attempt, Error> {
        let Some((mip, mip_status)) = self.run_mip(mip, clock)? else {
            let stop = clock.check().err().unwrap_or(Interrupt::Interrupted);
            let solution = MasterSolution::without_point(MasterStatus::Stopped(stop));
            return Ok(Attempt { solution, rounding_failed: false });
        };
        let status = master_status(mip_status)?;
        let (lower, nodes) = (mip.dual_bound(), mip.nodes());
        // A stopped tree may have an incumbent.
        if status != MasterStatus::Optimal && !mip.has_feasible_point() {
            let solution = MasterSolution { lower, nodes, ..MasterSolution::without_point(status) };
            return Ok(Attempt { solution, rounding_failed: false });
        }
        let mut point = vec![0.0; model.cols()];
        mip.primal(&mut point)?;
        let objective = self.round_integers(&mut point, model, clock)?;
        let claimed = mip.objective();
        let rounding_failed = objective
            .is_some_and(|objective| objective > claimed + gap.max(ROUNDING_RISE_TOL) * claimed.abs().max(1.0));
        let (x, theta) = (point[..self.problem.first.dim()].to_vec(), Some(point[self.problem.first.dim()]));
        let solution = MasterSolution { x: Some(x), theta, lower, status, basis: None, nodes };
        Ok(Attempt { solution, rounding_failed })
    }

    /// Solves, and again without presolve if the status is in doubt. Returns `None` if the clock stopped it.
    fn run_mip(&self, mip: Mip, clock: &Clock) -> Result<Option<(Mip, Status)>, Error> {
        let Some((mut mip, mut status)) = solve_mip_until(mip, clock)? else { return Ok(None) };
        if matches!(status, Status::Infeasible | Status::InfeasibleOrUnbounded | Status::Failed) {
            // Presolve has called feasible masters infeasible, and does not distinguish infeasible from unbounded.
            mip.restart_without_presolve()?;
            mip.set_time_limit(clock.left())?;
            let Some(again) = solve_mip_until(mip, clock)? else { return Ok(None) };
            (mip, status) = again;
        }
        if matches!(status, Status::InfeasibleOrUnbounded | Status::Unbounded) {
            status = self.distinguish_infeasible_from_unbounded(clock)?;
        }
        if !is_definite(status) && clock.check().is_ok() && self.is_contradictory(clock)? {
            status = Status::Infeasible;
        }
        Ok(Some((mip, status)))
    }

    /// Rounds integers that are within the tolerance of the solver and solves for the other columns, so that X holds to
    /// the last digit. All of the point changes then, θ included, since another optimum may be far away. Returns the
    /// objective of that solve, or ∞ if it is infeasible. Returns `None` if all integers were integral.
    ///
    /// The other columns are also solved for where the point violates a row by the tolerance of trees, which is above
    /// that of linear programs: a scenario may have no recourse there although the master has its cut.
    fn round_integers(&self, point: &mut [f64], model: &Model, clock: &Clock) -> Result<Option<f64>, Error> {
        let first = &self.problem.first;
        let is_integer = |j: &usize| first.kind[*j] != VariableKind::Continuous;
        let is_fractional = (0..first.dim()).filter(is_integer).any(|j| point[j] != point[j].round());
        for j in (0..first.dim()).filter(is_integer) {
            point[j] = point[j].round();
        }
        self.clamp(point);
        if !is_fractional && model.row_violation(point) <= ROW_TOL {
            return Ok(None);
        }
        let mut fixed = Model::new();
        self.write(&mut fixed, ModelVariant::RELAXED)?;
        fixed.set_offset(first.constant);
        // The incumbent of a stopped tree is rounded within a grace period.
        let grace = clock.check().is_err().then(|| clock.grace());
        let mut lp = linear_program(&fixed, 0, grace.as_ref().unwrap_or(clock))?;
        let (mut lower, mut upper) = model.col_bounds();
        for j in (0..first.dim()).filter(is_integer) {
            (lower[j], upper[j]) = (point[j], point[j]);
        }
        lp.set_col_bounds(&lower, &upper)?;
        if lp.solve()? != Status::Optimal {
            return Ok(is_fractional.then_some(f64::INFINITY));
        }
        lp.primal(point)?;
        for j in (0..first.dim()).filter(is_integer) {
            point[j] = lower[j];
        }
        self.clamp(point);
        Ok(is_fractional.then(|| lp.objective()))
    }
}
