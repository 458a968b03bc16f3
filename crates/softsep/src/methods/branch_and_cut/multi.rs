//! Many trees: the master with its integers is solved to optimality by HiGHS again after each round of cuts.

use std::ops::ControlFlow;

use super::callback::SeparationCallback;
use crate::certify::Certify;
use crate::error::Error;
use crate::master::{CutMaster, CutMasterOutcome};
use crate::methods::unbounded::prove_unbounded;
use crate::run::{Run, Stop};

/// Rounds in a row without a new cut after which the search has stalled.
const MOST_STALE: u32 = 10;

/// The share of the gap to which masters are solved.
const MASTER_SHARE: f64 = 0.1;

/// Solves the master, separates at its decision, and repeats.
pub(super) fn search(callback: &mut SeparationCallback, certify: Certify, run: &mut Run) -> Result<Stop, Error> {
    let problem = callback.problem;
    let mut master = CutMaster::new(problem, MASTER_SHARE * run.limits().gap, run.clock())?.with_solver(run.solver());
    let mut stale = 0;
    let mut near = vec![0.0; problem.first.dim()];
    while stale < MOST_STALE {
        let x = match master.solve(callback.pool, &near, run)? {
            CutMasterOutcome::Decision(x) => x,
            CutMasterOutcome::Ended(stop) => return Ok(stop),
            CutMasterOutcome::Unbounded => return prove_unbounded(problem, certify, run),
        };
        let lower = run.bounds().lower().unwrap_or(f64::NEG_INFINITY);
        let before = callback.pool.end();
        if let ControlFlow::Break(stop) = callback.accepts(&x, lower, run)? {
            return Ok(stop);
        }
        if let Some(stop) = callback.verify_if_due(run)? {
            return Ok(stop);
        }
        stale = if callback.pool.count_new(before) == 0 { stale + 1 } else { 0 };
        near = x;
        if let Some(stop) = run.tick() {
            return Ok(stop);
        }
    }
    Ok(Stop::Stalled)
}
