//! The search tree: the mixed-integer program in HiGHS, under the run's clock.

use std::sync::Arc;

use softsep_lp::{Lp, Status, Toggle};

use super::program::{Form, Known, Program, Written};
use super::tighten::raised;
use crate::error::Error;
use crate::run::{Clock, solve_until};

/// How a tree is searched.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Care {
    /// The relative gap at which it may stop.
    pub(super) gap: f64,
    /// How far a binary may be from whole. Times the range of a slope, it is what the best point may be overrated by.
    pub(super) integrality: f64,
}

/// What a tree came to.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Grown {
    /// A bound on the maximum that holds however the tree ended; −∞ if nothing is feasible, ∞ if none is known.
    pub(super) bound: f64,
    /// The slopes at the best point.
    pub(super) slopes: Option<Vec<f64>>,
    /// Nodes.
    pub(super) nodes: u64,
    /// Whether the gap was met.
    pub(super) complete: bool,
}

impl Grown {
    const NOTHING: Grown = Grown { bound: f64::INFINITY, slopes: None, nodes: 0, complete: false };
}

/// Searches, from the scenario `start` on; the error names what is not bounded.
pub(super) fn grow(
    program: &Program,
    known: &Known,
    start: &[f64],
    care: Care,
    clock: &Clock,
) -> Result<Result<Grown, &'static str>, Error> {
    let written = program.write(known, Form::Whole);
    if let Some(lacks) = written.lacks {
        return Ok(Err(lacks));
    }
    let mut lp = Lp::new(&written.model)?;
    lp.set_costs(&written.value.iter().map(|value| -value).collect::<Vec<f64>>())?;
    lp.set_mip_gap(care.gap)?;
    lp.set_integrality(care.integrality)?;
    lp.set_interrupt(Arc::clone(clock.interrupt()))?;
    lp.set_time_limit(clock.left())?;
    let known = written.start(start);
    if !known.is_empty() {
        lp.set_partial_start(&known)?;
    }
    let Some((mut lp, mut status)) = solve_until(lp, clock)? else { return Ok(Ok(Grown::NOTHING)) };
    if matches!(status, Status::Infeasible | Status::InfeasibleOrUnbounded | Status::Unbounded | Status::Failed) {
        // Presolve has been wrong before: ask again without.
        lp.clear_solver()?;
        lp.set_presolve(Toggle::Off)?;
        lp.set_time_limit(clock.left())?;
        let Some(again) = solve_until(lp, clock)? else { return Ok(Ok(Grown::NOTHING)) };
        (lp, status) = again;
    }
    read(&lp, status, &written).map(Ok)
}

fn read(lp: &Lp, status: Status, written: &Written) -> Result<Grown, Error> {
    let nodes = lp.mip_nodes();
    if status == Status::Infeasible {
        return Ok(Grown { bound: f64::NEG_INFINITY, slopes: None, nodes, complete: true });
    }
    let mut slopes = None;
    if lp.has_feasible_point() {
        let mut point = vec![0.0; written.model.cols()];
        lp.primal(&mut point)?;
        slopes = Some(written.slopes_at(&point));
    }
    // Where everything is settled there are no binaries, and no tree that a bound could come from.
    let bound = match status {
        Status::Optimal if !written.has_binaries => Some(lp.objective()),
        Status::Optimal | Status::TimeLimit | Status::Interrupted | Status::OtherLimit if written.has_binaries => {
            lp.mip_dual_bound()
        }
        _ => None,
    };
    Ok(Grown {
        bound: bound.map_or(f64::INFINITY, |bound| raised(-bound)),
        slopes,
        nodes,
        complete: status == Status::Optimal,
    })
}
