//! The master problem over the cuts of a pool, for methods that move x by other means and need its lower bound.

use softsep_lp::MipSolver;

use super::{MasterProblem, MasterSolution, MasterStatus, explain_infeasible};
use crate::cuts::CutPool;
use crate::error::Error;
use crate::model::Problem;
use crate::numeric::tolerances::CUT_TOL;
use crate::recourse::RecourseBasis;
use crate::run::{Clock, Run, Stop, Verdict};

/// What bounds the master from below. The first scenario copy always does, but makes a large program
/// of a small one; once there are cuts, these may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BoundedBy {
    /// The copy; whether cuts would do is not known.
    Copy,
    /// Cuts.
    Cuts,
    /// The copy, since cuts do not.
    CopyOnly,
}

/// How a master over cuts ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CutMasterOutcome {
    /// Its decision; the lower bound is in the ledger.
    Decision(Vec<f64>),
    /// The run is over: the master is infeasible, and so is the problem.
    Ended(Stop),
    /// The master is unbounded.
    Unbounded,
}

/// A master problem that reads its cuts from a pool.
pub(crate) struct CutMaster<'p> {
    master: MasterProblem<'p>,
    bounded_by: BoundedBy,
    gap: f64,
}

impl<'p> CutMaster<'p> {
    /// The master with one scenario copy. `gap` is the relative gap to which integers are solved.
    pub(crate) fn new(problem: &'p Problem, gap: f64, clock: &Clock) -> Result<Self, Error> {
        Ok(Self { master: MasterProblem::new(problem, clock)?, bounded_by: BoundedBy::Copy, gap })
    }

    /// The same master with another solver of mixed-integer programs.
    pub(crate) fn with_solver(self, solver: &MipSolver) -> Self {
        Self { master: self.master.with_solver(solver), ..self }
    }

    /// The master of a continuous first stage without a copy yet: over the copies that are added, it computes
    /// `min f(x) + max Q(x, ξ)` over their scenarios.
    pub(crate) fn over_copies(problem: &'p Problem, clock: &Clock) -> Result<Self, Error> {
        let mut master = MasterProblem::new(problem, clock)?;
        master.release_bounds();
        Ok(Self { master, bounded_by: BoundedBy::CopyOnly, gap: 0.0 })
    }

    /// Adds a scenario copy; `x` is a decision at which the scenario has a high recourse cost.
    pub(crate) fn add_copy(&mut self, xi: &[f64], x: &[f64]) -> Result<(), Error> {
        self.master.add_copy(xi, x).map(|_| ())
    }

    /// The scenario of the first copy: the nominal one, or one that bounds the master where that does not.
    pub(crate) fn typical(&self) -> &[f64] {
        self.master.typical()
    }

    /// The basis of the recourse in the first copy, for engines to start from.
    pub(crate) fn recourse_start(&self) -> Option<RecourseBasis> {
        self.master.recourse_start()
    }

    /// The best lower bound that it has computed, −∞ without one.
    pub(crate) fn lower(&self) -> f64 {
        self.master.lower()
    }

    /// Solves the master over all cuts of the pool, and writes its lower bound into the ledger. Where the pool has
    /// thousands of new cuts, those with large values at `near` are added first, and of the others those that the
    /// master needs.
    pub(crate) fn solve(&mut self, pool: &mut CutPool, near: &[f64], run: &mut Run) -> Result<CutMasterOutcome, Error> {
        self.master.add_new_cuts(pool, near);
        let solved = self.solve_bounded(pool, run)?;
        run.set_master(self.master.size());
        run.count_solves(self.master.take_solves());
        match solved.status {
            MasterStatus::Infeasible => {
                let explain = |clock: &Clock| explain_infeasible(&self.master.behind(), clock);
                let verdict = run.clock().with_grace(explain, Error::is_interrupt)?;
                return Ok(CutMasterOutcome::Ended(run.prove(Verdict::Infeasible(verdict))));
            }
            MasterStatus::Unbounded => return Ok(CutMasterOutcome::Unbounded),
            MasterStatus::Stopped(stop) => return Err(stop.into()),
            MasterStatus::Optimal => {}
        }
        if let Some(lower) = solved.lower {
            run.lower(lower);
        }
        if let Some(x) = &solved.x {
            pool.activate_binding(x);
        }
        // An optimal master without a decision carries no information.
        Ok(solved.x.map_or(CutMasterOutcome::Ended(Stop::Stalled), CutMasterOutcome::Decision))
    }

    /// Solves the master with as few scenario copies as bound it.
    fn solve_bounded(&mut self, pool: &CutPool, run: &Run) -> Result<MasterSolution, Error> {
        if self.bounded_by == BoundedBy::Copy && pool.has_optimality_cuts() {
            let nominal = self.master.release_bounds();
            let solved = self.solve_over(pool, run)?;
            if solved.status != MasterStatus::Unbounded {
                self.bounded_by = BoundedBy::Cuts;
                return Ok(solved);
            }
            self.bounded_by = BoundedBy::CopyOnly;
            nominal.iter().for_each(|xi| self.master.add_bound(xi));
        }
        self.solve_over(pool, run)
    }

    /// Solves the master until no cut of the pool is above its θ: a cut may have been idle and dropped, or left out
    /// among many.
    fn solve_over(&mut self, pool: &CutPool, run: &Run) -> Result<MasterSolution, Error> {
        loop {
            let solved = self.master.solve(None, self.gap, run.limits().seed, run.clock())?;
            let (MasterStatus::Optimal, Some(x), Some(theta)) = (solved.status, &solved.x, solved.theta) else {
                return Ok(solved);
            };
            let above = theta + CUT_TOL * theta.abs().max(1.0);
            if !self.master.restore_copy(x, above)? && !self.master.add_violated_cut(x, above, pool) {
                return Ok(solved);
            }
        }
    }
}
