//! A mixed-integer program of a separation, solved by HiGHS or another solver under the run's clock.

use std::sync::Arc;

use softsep_lp::{Mip, MipSolver, Model, Status};

use super::slopes::raised;
use crate::error::Error;
use crate::run::{Clock, solve_mip_until};

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
    pub(super) fn search(
        &self,
        tolerances: MipTolerances,
        solver: &MipSolver,
        clock: &Clock,
    ) -> Result<TreeOutcome, Error> {
        let mut mip = Mip::new(self.model, solver)?;
        mip.set_costs(&self.value.iter().map(|value| -value).collect::<Vec<f64>>())?;
        mip.set_mip_gap(tolerances.gap)?;
        mip.set_integrality(tolerances.integrality)?;
        if let Some(nodes) = tolerances.nodes {
            mip.set_node_limit(nodes)?;
        }
        mip.set_interrupt(Arc::clone(clock.interrupt()))?;
        mip.set_time_limit(clock.left())?;
        if !self.start.is_empty() {
            mip.set_partial_start(&self.start)?;
        }
        let Some((mut mip, mut status)) = solve_mip_until(mip, clock)? else { return Ok(TreeOutcome::UNKNOWN) };
        if matches!(status, Status::Infeasible | Status::InfeasibleOrUnbounded | Status::Unbounded | Status::Failed) {
            // Presolve has returned wrong statuses: the program is solved again without it.
            mip.restart_without_presolve()?;
            mip.set_time_limit(clock.left())?;
            let Some(again) = solve_mip_until(mip, clock)? else { return Ok(TreeOutcome::UNKNOWN) };
            (mip, status) = again;
        }
        self.read(&mip, status)
    }

    /// Reads the result of a solve.
    fn read(&self, mip: &Mip, status: Status) -> Result<TreeOutcome, Error> {
        let nodes = mip.nodes();
        if status == Status::Infeasible {
            return Ok(TreeOutcome { bound: f64::NEG_INFINITY, point: None, nodes, is_complete: true });
        }
        let mut point = None;
        if mip.has_feasible_point() {
            mip.primal(point.insert(vec![0.0; self.model.cols()]))?;
        }
        // A program without binaries has no tree and no dual bound; its objective value is the maximum.
        let bound = match status {
            Status::Optimal if !self.has_binaries => Some(mip.objective()),
            Status::Optimal | Status::TimeLimit | Status::Interrupted | Status::OtherLimit if self.has_binaries => {
                mip.dual_bound()
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
