//! Solution of masters with integers by HiGHS or another solver of mixed-integer programs.

use std::sync::Arc;

use softsep_lp::{Mip, Model, Status};

use super::dual_bound::proved_lower;
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
    /// Optimum of the master with its integers fixed, if it was computed.
    fixed_objective: Option<f64>,
    /// Whether rounding the integers has raised the objective by more than the gap.
    rounding_failed: bool,
    /// Whether the bound of the tree is above an optimum with fixed integers.
    is_refuted: bool,
}

impl Attempt {
    fn without_point(solution: MasterSolution) -> Self {
        Self { solution, fixed_objective: None, rounding_failed: false, is_refuted: false }
    }
}

/// A master solved with its integers fixed.
struct FixedSolution {
    point: Vec<f64>,
    objective: f64,
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
        let first = self.attempt_mixed_integer(mip, &model, gap, clock)?;
        if !(first.rounding_failed || first.is_refuted) || clock.check().is_err() {
            return Ok(first.solution);
        }
        // With a large coefficient an almost integral value can have the effect of an integral one, and the dual
        // tolerance of HiGHS, which goes with that of integrality, hides the signs of small reduced costs. Solve again
        // with the strictest tolerance of the solver.
        let mut mip = self.mixed_integer_program(&model, gap, seed, clock)?;
        mip.set_integrality(STRICT_INTEGRALITY_TOL)?;
        let again = match self.attempt_mixed_integer(mip, &model, gap, clock) {
            // HiGHS may end without a status at this tolerance. The decision of the first tree stands.
            Err(Error::Master(_)) if first.fixed_objective.is_some() => None,
            again => Some(again?),
        };
        let fixed = [Some(&first), again.as_ref()].into_iter().flatten().filter_map(|attempt| attempt.fixed_objective);
        let least = fixed.fold(f64::INFINITY, f64::min);
        let nodes = first.solution.nodes + again.as_ref().map_or(0, |again| again.solution.nodes);
        let Attempt { solution, is_refuted: is_false, .. } = again.unwrap_or(first);
        // Where the solver cannot bound the master, its relaxation does.
        let lower = match solution.lower {
            Some(lower) if is_false || is_refuted(lower, least) => self.bound_of_relaxation(clock)?,
            lower => lower,
        };
        Ok(MasterSolution { nodes, lower: lower.map(|lower| lower.min(least)), ..solution })
    }

    /// The bound that the duals of the master without integrality prove.
    fn bound_of_relaxation(&self, clock: &Clock) -> Result<Option<f64>, Error> {
        let model = self.relaxation()?;
        let mut lp = linear_program(&model, 0, clock)?;
        Ok(if lp.solve()? == Status::Optimal { proved_lower(&mut lp, &model, clock)?.0 } else { None })
    }

    /// The master without integrality.
    fn relaxation(&self) -> Result<Model, Error> {
        let mut model = Model::new();
        self.write(&mut model, ModelVariant::RELAXED)?;
        model.set_offset(self.problem.first.constant);
        Ok(model)
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

    /// Solves once. The bound of a tree that has ended is compared with the optimum of the linear program that the
    /// integers found leave, and is at most that.
    fn attempt_mixed_integer(&self, mip: Mip, model: &Model, gap: f64, clock: &Clock) -> Result<Attempt, Error> {
        let Some((mip, mip_status)) = self.run_mip(mip, clock)? else {
            let stop = clock.check().err().unwrap_or(Interrupt::Interrupted);
            return Ok(Attempt::without_point(MasterSolution::without_point(MasterStatus::Stopped(stop))));
        };
        let status = master_status(mip_status)?;
        let (mut lower, nodes) = (mip.dual_bound(), mip.nodes());
        // A stopped tree may have an incumbent.
        if status != MasterStatus::Optimal && !mip.has_feasible_point() {
            let solution = MasterSolution { lower, nodes, ..MasterSolution::without_point(status) };
            return Ok(Attempt::without_point(solution));
        }
        let mut point = vec![0.0; model.cols()];
        mip.primal(&mut point)?;
        let is_fractional = self.round_integers(&mut point);
        // A point that violates a row by the tolerance of trees, which is above that of linear programs, is solved for
        // again too: a scenario may have no recourse there although the master has its cut.
        let is_inexact = is_fractional || model.row_violation(&point) > ROW_TOL;
        let fixed = match is_inexact || status == MasterStatus::Optimal && clock.check().is_ok() {
            true => self.solve_with_fixed_integers(&point, clock)?,
            false => None,
        };
        let fixed_objective = fixed.as_ref().map(|fixed| fixed.objective);
        let is_refuted = matches!((lower, fixed_objective), (Some(lower), Some(fixed)) if is_refuted(lower, fixed));
        lower = lower.map(|lower| lower.min(fixed_objective.unwrap_or(f64::INFINITY)));
        let claimed = mip.objective();
        let rounding_failed = is_fractional
            && fixed_objective.unwrap_or(f64::INFINITY) > claimed + gap.max(ROUNDING_RISE_TOL) * claimed.abs().max(1.0);
        if let Some(fixed) = fixed.filter(|_| is_inexact || is_refuted) {
            point = fixed.point;
        }
        let (x, theta) = (point[..self.problem.first.dim()].to_vec(), Some(point[self.problem.first.dim()]));
        let solution = MasterSolution { x: Some(x), theta, lower, status, basis: None, nodes };
        Ok(Attempt { solution, fixed_objective, rounding_failed, is_refuted })
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

    /// Rounds the integers of a point, which are within the tolerance of the solver, and returns whether any were not
    /// integral.
    fn round_integers(&self, point: &mut [f64]) -> bool {
        let mut is_fractional = false;
        for j in self.integers() {
            is_fractional |= point[j] != point[j].round();
            point[j] = point[j].round();
        }
        self.clamp(point);
        is_fractional
    }

    fn integers(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.problem.first.dim()).filter(|&j| self.problem.first.kind[j] != VariableKind::Continuous)
    }

    /// Solves for the other columns with the integers fixed at those of a point, so that X holds to the last digit. All
    /// of the point changes, θ included, since another optimum may be far away. Returns `None` if there is none.
    fn solve_with_fixed_integers(&self, point: &[f64], clock: &Clock) -> Result<Option<FixedSolution>, Error> {
        let mut model = self.relaxation()?;
        self.integers().for_each(|j| model.fix_col(j, point[j]));
        // The incumbent of a stopped tree is rounded within a grace period.
        let grace = clock.check().is_err().then(|| clock.grace());
        let clock = grace.as_ref().unwrap_or(clock);
        let mut lp = linear_program(&model, 0, clock)?;
        // The proof may solve again with a stricter tolerance.
        if lp.solve()? != Status::Optimal || proved_lower(&mut lp, &model, clock)?.1 != Status::Optimal {
            return Ok(None);
        }
        let mut solved = vec![0.0; model.cols()];
        lp.primal(&mut solved)?;
        self.integers().for_each(|j| solved[j] = point[j]);
        self.clamp(&mut solved);
        Ok(Some(FixedSolution { point: solved, objective: lp.objective() }))
    }
}

/// Whether an optimum with fixed integers shows a bound to be false, by more than tolerances explain.
fn is_refuted(lower: f64, fixed: f64) -> bool {
    lower - fixed > ROUNDING_RISE_TOL * lower.abs().max(1.0)
}
