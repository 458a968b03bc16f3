//! The heuristic that fixes the integers: what the best decision with them is, a method for continuous x finds.

use super::judge::Costs;
use crate::definition::VariableKind;
use crate::error::Error;
use crate::methods::bundle::Bundle;
use crate::methods::record::is_stop;
use crate::methods::soft::Teacher;
use crate::model::Problem;
use crate::run::{Limits, Run, Silent};
use crate::settings::Certify;

/// Iterations that it may take: more would be for the last digits.
const ITERATIONS: u64 = 30;

/// The share of the gap to which the rest is solved.
const SHARE: f64 = 0.5;

/// The best decision with the integers of `x`, as far as a few iterations find it, and the cuts on the way; `None`
/// where there is nothing to choose.
pub(super) fn polish(costs: &mut Costs, x: &[f64], run: &mut Run) -> Result<Option<Vec<f64>>, Error> {
    let problem = costs.problem;
    if problem.first.kind.iter().all(|&kind| kind != VariableKind::Continuous) {
        return Ok(None);
    }
    let fixed = with_integers_of(problem, x);
    let mut silent = Silent;
    let limits = Limits { gap: SHARE * run.limits().gap, iterations: Some(ITERATIONS), ..run.limits().clone() };
    let mut search = Run::new(run.method(), limits, run.clock().clone(), &mut silent);
    let (learned, ended) = Bundle::in_out().search(&fixed, Certify::None, &mut search);
    let (solves, best) = (search.recourse_solves(), search.bounds().best().map(|best| best.x.clone()));
    run.count_solves(solves);
    match ended {
        Err(error) if !is_stop(&error) => {
            run.say(&format!("the rest of a decision was not solved to the end: {error}"))
        }
        _ => {}
    }
    costs.evidence.adopt(&learned);
    Ok(best)
}

/// The problem of the rest, when the integers are those of `x`.
fn with_integers_of(problem: &Problem, x: &[f64]) -> Problem {
    let mut fixed = problem.relaxed();
    for (j, _) in problem.first.kind.iter().enumerate().filter(|(_, kind)| **kind != VariableKind::Continuous) {
        (fixed.first.lower[j], fixed.first.upper[j]) = (x[j].round(), x[j].round());
    }
    fixed
}
