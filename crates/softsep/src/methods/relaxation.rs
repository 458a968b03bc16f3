//! The relaxation of the integers, solved first by a method for continuous x: its cuts start a tree (line 1 of
//! Algorithm 3), and the scenarios that are worst at its optimum are the first copies of a master with integers.

use super::{BundleSettings, MethodSettings, Stabilisation};
use crate::certify::Certify;
use crate::cuts::WarmStart;
use crate::error::Error;
use crate::model::Problem;
use crate::run::{Limits, Run, Silent, Stop, Verdict};
use crate::separation::{SeparationKind, SoftSettings};

/// The share of the gap to which the relaxation is solved. Its cuts matter near its optimum; its last digits do not.
const SHARE: f64 = 0.3;

/// The largest number of recourse solves of a search that verifies the relaxation's decision, of which only the cuts
/// are used.
pub(super) const THOROUGH_SOLVES: u64 = 100;

/// The end of the relaxation.
pub(super) enum Relaxed {
    /// It is bounded, or that is not known; its cuts are in the pool. Its decision, if it has one.
    Solved(Option<Vec<f64>>),
    /// The run is over: the relaxation is infeasible, and so is the problem.
    Ended(Stop),
    /// Its cost falls without end, and so does the problem's if some decision is feasible.
    Unbounded,
}

/// The cutting planes that solve a relaxation. Projections onto a level set are slow where X has a row per integer:
/// in-out takes a tenth of the time there.
pub(super) fn cutting_planes(separation: &SeparationKind, soft: &SoftSettings) -> MethodSettings {
    MethodSettings::Bundle(BundleSettings {
        separation: separation.clone(),
        stabilisation: Stabilisation::InOut,
        soft: SoftSettings { thorough_solves: Some(THOROUGH_SOLVES), ..soft.clone() },
    })
}

/// Solves the relaxation by `method`. Its lower bound is one of the problem's, and its cuts are valid for the problem.
pub(super) fn relax(
    problem: &Problem,
    method: &MethodSettings,
    iterations: Option<u64>,
    warm: &mut WarmStart,
    run: &mut Run,
) -> Result<Relaxed, Error> {
    let relaxed = problem.relaxed();
    let mut silent = Silent;
    let limits = Limits { gap: SHARE * run.limits().gap, iterations, ..run.limits().clone() };
    let mut search = Run::new(run.method(), limits, run.clock().clone(), &mut silent).with_solver(run.solver());
    let ended = method.build().solve(&relaxed, Certify::None, warm, &mut search);
    let (solves, iterations) = (search.recourse_solves(), search.iterations());
    let x = search.incumbent().map(|incumbent| incumbent.x.clone());
    let (lower, verdict, exact) = (search.bounds().lower(), search.verdict().cloned(), search.exact_separations());
    run.count_solves(solves);
    run.count_exact(exact);
    match (verdict, ended) {
        (Some(verdict @ Verdict::Infeasible(_)), _) => return Ok(Relaxed::Ended(run.prove(verdict))),
        (Some(Verdict::Unbounded(_)), _) => return Ok(Relaxed::Unbounded),
        (None, Err(error)) if !error.is_interrupt() => {
            run.say(&format!("the relaxation was not solved to optimality: {error}"));
        }
        (None, _) => {}
    }
    if let Some(lower) = lower {
        run.lower(lower);
    }
    let cuts = warm.cuts.len();
    run.say(&format!("the relaxation: {iterations} iterations, {solves} recourse solves, {cuts} cuts"));
    Ok(Relaxed::Solved(x))
}
