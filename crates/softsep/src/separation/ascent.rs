//! Alternating ascent: follow the recourse's own slope in ξ to the support point, and again, until it stands still.
//!
//! Q is convex in ξ where costs are fixed, so each step cannot go down; the end is a local maximum. It proves nothing about the global one.

use super::{Claim, Found};
use crate::error::Error;
use crate::model::Problem;
use crate::recourse::{Answer, Outcome, Recourse};

/// Steps of one ascent; on polyhedral sets it ends long before.
const STEPS: usize = 100;

/// Climbs from the nominal point and from the two ends of each coordinate axis, and returns the worst scenario met.
pub fn ascend(problem: &Problem, engine: &mut dyn Recourse, x: &[f64]) -> Result<Found, Error> {
    let dim = problem.set.dim();
    let before = engine.work().solves;
    let mut answer = Answer::new(problem);
    let mut best = (vec![0.0; dim], f64::NEG_INFINITY);
    problem.set.nominal(&mut best.0);
    engine.at(x);
    let mut start = vec![0.0; dim];
    let mut axis = vec![0.0; dim];
    for attempt in 0..=2 * dim {
        if attempt == 0 {
            problem.set.nominal(&mut start);
        } else {
            axis.fill(0.0);
            axis[(attempt - 1) / 2] = if attempt % 2 == 1 { 1.0 } else { -1.0 };
            problem.set.support(&axis, &mut start)?;
        }
        climb(problem, engine, &mut start, &mut answer, &mut best)?;
        if best.1 == f64::INFINITY {
            break;
        }
    }
    engine.solve(&best.0, &mut answer)?;
    let claim = if best.1 == f64::INFINITY { Claim::Surely(best.1) } else { Claim::Nothing };
    Ok(Found { xi: best.0, value: best.1, cut: answer.cut(), claim, solves: engine.work().solves - before, nodes: 0 })
}

fn climb(
    problem: &Problem,
    engine: &mut dyn Recourse,
    xi: &mut [f64],
    answer: &mut Answer,
    best: &mut (Vec<f64>, f64),
) -> Result<(), Error> {
    let mut last = f64::NEG_INFINITY;
    for _ in 0..STEPS {
        engine.solve(xi, answer)?;
        if answer.value > best.1 {
            best.0.copy_from_slice(xi);
            best.1 = answer.value;
        }
        if answer.outcome != Outcome::Solved || answer.value <= last + 1e-12 * last.abs() {
            break;
        }
        last = answer.value;
        problem.set.support(&answer.slope_xi, xi)?;
    }
    Ok(())
}
