//! The worst case of a decision, computed without policies.

use softsep::Problem;
use softsep::internals::separation::{Ascent, finite_equivalent};
use softsep::recourse::{Answer, engine};
use softsep::run::Clock;

/// The worst case: of all extreme points, or of the ends of ascents, so many for each entry of ξ.
pub(crate) fn truth(problem: &Problem, x: &[f64], starts: usize) -> f64 {
    let mut engine = engine(problem, &Clock::unlimited()).unwrap();
    let Ok(points) = finite_equivalent(problem, 100_000) else {
        let mut ascent = Ascent::new(problem, engine.as_mut(), x);
        ascent.climb_from_axes().unwrap();
        ascent.climb_at_random(starts * problem.set.dim(), 1).unwrap();
        return ascent.value();
    };
    let mut answer = Answer::new(problem);
    engine.at(x);
    points.iter().fold(f64::NEG_INFINITY, |worst, xi| {
        engine.solve(xi, &mut answer).unwrap();
        worst.max(answer.value)
    })
}
