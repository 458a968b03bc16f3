//! The search tree: the mixed-integer program in HiGHS, under the run's clock.

use std::sync::Arc;

use softsep_lp::{Lp, Status, Toggle};

use super::milp::{BilinearProgram, Formulation, MilpModel, VariableBounds};
use super::tighten::raised;
use crate::error::Error;
use crate::run::{Clock, solve_until};

/// The tolerances of a tree search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct MipTolerances {
    /// The relative gap at which the search may stop.
    pub(super) gap: f64,
    /// The largest distance of a binary from an integer. The objective value of the best point may be too large by this
    /// times the range of a slope.
    pub(super) integrality: f64,
}

/// The result of a tree search.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TreeOutcome {
    /// An upper bound on the maximum, valid however the search ended: −∞ if no point is feasible, ∞ if no bound is
    /// known.
    pub(super) bound: f64,
    /// The slopes at the best point, if one was found.
    pub(super) slopes: Option<Vec<f64>>,
    /// The number of nodes.
    pub(super) nodes: u64,
    /// Whether the gap was met.
    pub(super) is_complete: bool,
}

impl TreeOutcome {
    const UNKNOWN: TreeOutcome = TreeOutcome { bound: f64::INFINITY, slopes: None, nodes: 0, is_complete: false };
}

/// Solves the mixed-integer program from the scenario `start`. The inner error names a bound that is missing.
pub(super) fn search_tree(
    program: &BilinearProgram,
    bounds: &VariableBounds,
    start: &[f64],
    tolerances: MipTolerances,
    clock: &Clock,
) -> Result<Result<TreeOutcome, &'static str>, Error> {
    let milp = program.write(bounds, Formulation::MixedInteger);
    if let Some(missing_bound) = milp.missing_bound {
        return Ok(Err(missing_bound));
    }
    let mut lp = Lp::new(&milp.model)?;
    lp.set_costs(&milp.value.iter().map(|value| -value).collect::<Vec<f64>>())?;
    lp.set_mip_gap(tolerances.gap)?;
    lp.set_integrality(tolerances.integrality)?;
    lp.set_interrupt(Arc::clone(clock.interrupt()))?;
    lp.set_time_limit(clock.left())?;
    let binaries = milp.start(start);
    if !binaries.is_empty() {
        lp.set_partial_start(&binaries)?;
    }
    let Some((mut lp, mut status)) = solve_until(lp, clock)? else { return Ok(Ok(TreeOutcome::UNKNOWN)) };
    if matches!(status, Status::Infeasible | Status::InfeasibleOrUnbounded | Status::Unbounded | Status::Failed) {
        // HiGHS's presolve has returned wrong statuses: the program is solved again without it.
        lp.clear_solver()?;
        lp.set_presolve(Toggle::Off)?;
        lp.set_time_limit(clock.left())?;
        let Some(again) = solve_until(lp, clock)? else { return Ok(Ok(TreeOutcome::UNKNOWN)) };
        (lp, status) = again;
    }
    read(&lp, status, &milp).map(Ok)
}

/// Reads the result of a solve.
fn read(lp: &Lp, status: Status, milp: &MilpModel) -> Result<TreeOutcome, Error> {
    let nodes = lp.mip_nodes();
    if status == Status::Infeasible {
        return Ok(TreeOutcome { bound: f64::NEG_INFINITY, slopes: None, nodes, is_complete: true });
    }
    let mut slopes = None;
    if lp.has_feasible_point() {
        let mut point = vec![0.0; milp.model.cols()];
        lp.primal(&mut point)?;
        slopes = Some(milp.slopes_at(&point));
    }
    // A program without binaries has no tree and no dual bound; its objective value is the maximum.
    let bound = match status {
        Status::Optimal if !milp.has_binaries => Some(lp.objective()),
        Status::Optimal | Status::TimeLimit | Status::Interrupted | Status::OtherLimit if milp.has_binaries => {
            lp.mip_dual_bound()
        }
        _ => None,
    };
    Ok(TreeOutcome {
        bound: bound.map_or(f64::INFINITY, |bound| raised(-bound)),
        slopes,
        nodes,
        is_complete: status == Status::Optimal,
    })
}
