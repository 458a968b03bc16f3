//! A mixed-integer program of a separation, solved by HiGHS under the run's clock.

use std::sync::Arc;

use softsep_lp::{Lp, Model, Status, Toggle};

use super::slopes::raised;
use crate::error::Error;
use crate::run::{Clock, solve_until};

/// The tolerances and the limit of a tree search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct MipTolerances {
    /// The relative gap at which the search may stop.
    pub(super) gap: f64,
    /// The largest distance of a binary from an integer. The objective value of the best point may be too large by this
    /// times a big-M constant.
    pub(super) integrality: f64,
    /// The largest number of nodes.
    pub(super) nodes: Option<u64>,
}

/// The integrality tolerance of the first tree search, and of the second one where the first result is too large.
pub(super) const LOOSE_INTEGRALITY: f64 = 1e-6;
pub(super) const STRICT_INTEGRALITY: f64 = 1e-9;

/// A mixed-integer program whose objective is maximised.
pub(super) struct MixedInteger<'a> {
    pub(super) model: &'a Model,
    /// The objective: one coefficient per column.
    pub(super) value: &'a [f64],
    /// Whether there are binaries. Bounds may decide all of them in advance.
    pub(super) has_binaries: bool,
    /// Values of all binaries to start from; empty if none are known.
    pub(super) start: Vec<(usize, f64)>,
}

/// The result of a tree search.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TreeOutcome {
    /// An upper bound on the maximum, valid however the search ended: −∞ if no point is feasible, ∞ if no bound is
    /// known.
    pub(super) bound: f64,
    /// The best point, if one was found.
    pub(super) point: Option<Vec<f64>>,
    /// The number of nodes.
    pub(super) nodes: u64,
    /// Whether the gap was met.
    pub(super) is_complete: bool,
}

impl TreeOutcome {
    const UNKNOWN: TreeOutcome = TreeOutcome { bound: f64::INFINITY, point: None, nodes: 0, is_complete: false };
}

impl MixedInteger<'_> {
    /// Searches the maximum until the gap is met or the clock stops.
    pub(super) fn search(&self, tolerances: MipTolerances, clock: &Clock) -> Result<TreeOutcome, Error> {
        let mut lp = Lp::new(self.model)?;
        lp.set_costs(&self.value.iter().map(|value| -value).collect::<Vec<f64>>())?;
        lp.set_mip_gap(tolerances.gap)?;
        lp.set_integrality(tolerances.integrality)?;
        if let Some(nodes) = tolerances.nodes {
            lp.set_mip_nodes(nodes)?;
        }
        lp.set_interrupt(Arc::clone(clock.interrupt()))?;
        lp.set_time_limit(clock.left())?;
        if !self.start.is_empty() {
            lp.set_partial_start(&self.start)?;
        }
        let Some((mut lp, mut status)) = solve_until(lp, clock)? else { return Ok(TreeOutcome::UNKNOWN) };
        if matches!(status, Status::Infeasible | Status::InfeasibleOrUnbounded | Status::Unbounded | Status::Failed) {
            // HiGHS's presolve has returned wrong statuses: the program is solved again without it.
            lp.clear_solver()?;
            lp.set_presolve(Toggle::Off)?;
            lp.set_time_limit(clock.left())?;
            let Some(again) = solve_until(lp, clock)? else { return Ok(TreeOutcome::UNKNOWN) };
            (lp, status) = again;
        }
        self.read(&lp, status)
    }

    /// Reads the result of a solve.
    fn read(&self, lp: &Lp, status: Status) -> Result<TreeOutcome, Error> {
        let nodes = lp.mip_nodes();
        if status == Status::Infeasible {
            return Ok(TreeOutcome { bound: f64::NEG_INFINITY, point: None, nodes, is_complete: true });
        }
        let mut point = None;
        if lp.has_feasible_point() {
            lp.primal(point.insert(vec![0.0; self.model.cols()]))?;
        }
        // A program without binaries has no tree and no dual bound; its objective value is the maximum.
        let bound = match status {
            Status::Optimal if !self.has_binaries => Some(lp.objective()),
            Status::Optimal | Status::TimeLimit | Status::Interrupted | Status::OtherLimit if self.has_binaries => {
                lp.mip_dual_bound()
            }
            _ => None,
        };
        Ok(TreeOutcome {
            bound: bound.map_or(f64::INFINITY, |bound| raised(-bound)),
            point,
            nodes,
            is_complete: status == Status::Optimal,
        })
    }
}
