//! The optimum of a small problem by a search without masters and separations.

use crate::definition::{ScenarioList, VariableKind};
use crate::model::Problem;
use crate::recourse::{Answer, Recourse, RecourseOutcome, engine};
use crate::run::Clock;

/// Scenarios that a search enumerates at most.
const MOST_SCENARIOS: usize = 200;

/// Costs from which on a decision counts as infeasible.
const INFEASIBLE: f64 = 1e5;

/// The optimum by golden sections in every coordinate of x, nested, over the exact worst case of each x; integers are
/// enumerated. `None` for more than two first-stage variables, for sets whose worst case cannot be enumerated, and
/// where the search finds no feasible x or the engine has no answer at some x. It misses feasible sets without
/// interior.
pub fn optimum_by_search(problem: &Problem) -> Option<f64> {
    if problem.first.dim() > 2 || !problem.set.is_finite_list() && problem.recourse.costs_move() {
        return None;
    }
    let points = problem.set.enumerate(MOST_SCENARIOS).ok()?.into_owned();
    let engine = engine(problem, &Clock::unlimited()).ok()?;
    let mut search = ReferenceSearch { problem, points, engine, has_failed: false };
    let best = search.minimise(&mut vec![0.0; problem.first.dim()], 0);
    (best < INFEASIBLE && !search.has_failed).then_some(best)
}

struct ReferenceSearch<'p> {
    problem: &'p Problem,
    points: ScenarioList,
    engine: Box<dyn Recourse>,
    /// Whether the engine had no answer somewhere: an optimum nearby would be missed.
    has_failed: bool,
}

impl ReferenceSearch<'_> {
    /// f(x) plus the worst case, or ∞; for infeasible x a large number that grows with the violation, so that the
    /// search returns to feasible x.
    fn cost(&mut self, x: &[f64]) -> f64 {
        let mut answer = Answer::new(self.problem);
        let violation = self.problem.first.violation(x).map_or(0.0, |violation| violation.amount);
        if violation > 1e-9 {
            return 1e9 * (1.0 + violation);
        }
        self.engine.at(x);
        let mut worst = f64::NEG_INFINITY;
        for xi in self.points.iter() {
            if self.has_failed || self.engine.solve(xi, &mut answer).is_err() {
                self.has_failed = true;
                return f64::INFINITY;
            }
            let value = match answer.outcome {
                RecourseOutcome::Infeasible => {
                    1e6 * (1.0 + answer.intercept + answer.slope_x.iter().zip(x).map(|(s, x)| s * x).sum::<f64>())
                }
                _ => answer.value,
            };
            worst = worst.max(value);
        }
        self.problem.first.value(x) + worst
    }

    fn minimise(&mut self, x: &mut Vec<f64>, from: usize) -> f64 {
        if from == x.len() {
            return self.cost(x);
        }
        let (mut low, mut high) = (self.problem.first.lower[from], self.problem.first.upper[from]);
        if self.problem.first.kind[from] != VariableKind::Continuous {
            let mut best = f64::INFINITY;
            while low <= high {
                x[from] = low;
                best = best.min(self.minimise(x, from + 1));
                low += 1.0;
            }
            return best;
        }
        let mut at = |search: &mut Self, value: f64| {
            x[from] = value;
            search.minimise(x, from + 1)
        };
        // The cost is convex in x, so sections find its minimum; the ends count too, where the minimum often is.
        let ratio = (5.0_f64.sqrt() - 1.0) / 2.0;
        let mut best = at(self, low).min(at(self, high));
        let (mut left, mut right) = (high - ratio * (high - low), low + ratio * (high - low));
        let (mut cost_left, mut cost_right) = (at(self, left), at(self, right));
        for _ in 0..45 {
            if cost_left < cost_right {
                (high, right, cost_right) = (right, left, cost_left);
                left = high - ratio * (high - low);
                cost_left = at(self, left);
            } else {
                (low, left, cost_left) = (left, right, cost_right);
                right = low + ratio * (high - low);
                cost_right = at(self, right);
            }
            best = best.min(cost_left).min(cost_right);
        }
        best
    }
}
