//! The scheme of many trees: the master with its integers is solved to the end by HiGHS again after each round of cuts.

use super::judge::Costs;
use crate::error::Error;
use crate::run::{Run, Stop};

/// Rounds in a row in which no new cut is found, after which there is nothing left to find.
const NOTHING_NEW: u32 = 10;

/// Solve, separate, repeat; ends as the judge says.
pub(super) fn search(costs: &mut Costs, run: &mut Run) -> Result<(), Error> {
    let mut stale = 0;
    let mut near = vec![0.0; costs.problem.first.dim()];
    while stale < NOTHING_NEW {
        let Some(x) = costs.evidence.bound(&near, run)? else { break };
        let lower = run.bounds().lower().unwrap_or(f64::NEG_INFINITY);
        let before = costs.evidence.pending();
        costs.stands(&x, lower, run)?;
        let ended = costs.end_if_due(run);
        costs.count(run);
        ended?;
        stale = if costs.evidence.pending() == before { stale + 1 } else { 0 };
        near = x;
        run.tick()?;
    }
    Err(Stop::Stalled.into())
}
