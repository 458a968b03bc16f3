//! The root: the relaxation is solved first, by a method for continuous x, and its cuts warm-start the tree (line 1 of
//! Algorithm 3).

use super::settings::Root;
use crate::error::Error;
use crate::methods::bundle::Bundle;
use crate::methods::record::is_stop;
use crate::methods::sgd::Sgd;
use crate::methods::soft::{Learned, Teacher};
use crate::model::Problem;
use crate::run::{Limits, Run, Silent, Verdict};
use crate::settings::Certify;

/// The share of the gap to which the relaxation is solved. Its cuts matter near its optimum; how good that is matters
/// little.
const SHARE: f64 = 0.3;

/// What the relaxation says of the problem.
pub(super) enum Relaxed {
    /// It is bounded, or nobody knows; these are its cuts.
    Solved(Learned),
    /// Its cost falls without end, and so does the problem's if some decision is feasible.
    Unbounded,
}

/// Solves the relaxation. Its lower bound is one of the problem, and if it is infeasible so is the problem.
pub(super) fn relax(problem: &Problem, by: Root, run: &mut Run) -> Result<Relaxed, Error> {
    if by == Root::None {
        return Ok(Relaxed::Solved(Learned::default()));
    }
    let relaxed = problem.relaxed();
    let mut silent = Silent;
    let limits = Limits { gap: SHARE * run.limits().gap, iterations: None, ..run.limits().clone() };
    let mut search = Run::new(run.method(), limits, run.clock().clone(), &mut silent);
    let (learned, ended) = match by {
        Root::Sgd => Sgd::default().search(&relaxed, Certify::None, &mut search),
        Root::Bundle | Root::None => Bundle::in_out().search(&relaxed, Certify::None, &mut search),
    };
    let (solves, iterations) = (search.recourse_solves(), search.iterations());
    let (lower, verdict) = (search.bounds().lower(), search.verdict().cloned());
    run.count_solves(solves);
    match (verdict, ended) {
        (Some(verdict @ Verdict::Infeasible(_)), _) => return Err(run.prove(verdict).into()),
        (Some(Verdict::Unbounded(_)), _) => return Ok(Relaxed::Unbounded),
        (None, Err(error)) if !is_stop(&error) => {
            run.say(&format!("the relaxation was not solved to the end: {error}"))
        }
        (None, _) => {}
    }
    if let Some(lower) = lower {
        run.lower(lower);
    }
    run.say(&format!("the relaxation: {iterations} iterations, {solves} recourse solves, {} cuts", learned.cuts.len()));
    Ok(Relaxed::Solved(learned))
}
