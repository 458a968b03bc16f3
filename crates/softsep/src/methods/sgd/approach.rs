//! Steps toward a level by all cuts seen.
//!
//! Memory cures what ails a chain that is nearly greedy: it stays on one scenario while x gives way to that one alone.
//! A step that looks at all cuts cannot forget the others, and costs a few dot products where a recourse solve costs a
//! linear program.

use crate::cuts::CutPool;
use crate::model::Problem;
use crate::recourse::CutKind;

/// Over-relaxation of steps toward the level. Between 1 and 2 they converge; the larger, the sooner they meet the next
/// cut.
const RELAXATION: f64 = 1.5;

/// Steps toward the level between two calls of the chain.
const REPLAY: usize = 200;

/// A constraint so little beyond its limit, relative to the size of its terms, holds.
const HOLDS: f64 = 1e-12;

/// Descent on the maximum of the pool's cuts.
pub(super) struct Approach<'p> {
    problem: &'p Problem,
    gradient: Vec<f64>,
}

/// One constraint that a point misses: `amount` beyond its limit.
struct Missed {
    amount: f64,
    /// Its amount over the length of its gradient in the dual metric: the distance to where it holds, infinite where
    /// bounds stop every entry.
    distance: f64,
    whose: Whose,
}

/// Whose constraint.
#[derive(Clone, Copy)]
enum Whose {
    /// The level, by a cut on the recourse's cost.
    Cost(usize),
    /// A feasibility cut.
    Recourse(usize),
    /// A row of X, and its side.
    Row(usize, f64),
}

impl<'p> Approach<'p> {
    pub(super) fn new(problem: &'p Problem) -> Self {
        Self { problem, gradient: vec![0.0; problem.first.dim()] }
    }

    /// Steps from x toward `{x in X : every cut's cost is at most level}` in the metric H = diag(`metric`), which is
    /// what a Polyak step does with the level for the optimum: `x − r·(F − level)/‖g‖²·H⁻¹g` with over-relaxation r,
    /// for the constraint that is furthest away. True if it got there. X's bounds are kept by clamping, its rows are
    /// among the constraints.
    pub(super) fn approach(&mut self, pool: &mut CutPool, x: &mut [f64], level: f64, metric: &[f64]) -> bool {
        let first = &self.problem.first;
        for _ in 0..REPLAY {
            let Some(missed) = self.furthest(pool, x, level, metric) else { return true };
            // Pushed against bounds in every entry: no step can help.
            if missed.distance == f64::INFINITY {
                return false;
            }
            self.write_gradient(pool, x, missed.whose);
            let scale = RELAXATION * missed.distance / (missed.amount / missed.distance);
            for (j, x) in x.iter_mut().enumerate() {
                // A variable at the bound that it is pushed against has no part in the step's length either: see
                // `length`.
                *x = (*x - scale * self.gradient[j] / metric[j]).clamp(first.lower[j], first.upper[j]);
            }
            if let Whose::Cost(cut) | Whose::Recourse(cut) = missed.whose {
                pool.activate(cut);
            }
        }
        self.furthest(pool, x, level, metric).is_none()
    }

    /// The constraint that is furthest away, if one is missed.
    fn furthest(&mut self, pool: &CutPool, x: &[f64], level: f64, metric: &[f64]) -> Option<Missed> {
        let first = &self.problem.first;
        let mut furthest: Option<Missed> = None;
        let cost = first.value(x);
        let mut consider = |approach: &mut Self, amount: f64, size: f64, whose: Whose| {
            if amount <= HOLDS * size {
                return;
            }
            approach.write_gradient(pool, x, whose);
            let length = approach.length(x, metric);
            let distance = if length > 0.0 { amount / length } else { f64::INFINITY };
            if furthest.as_ref().is_none_or(|furthest| distance > furthest.distance) {
                furthest = Some(Missed { amount, distance, whose });
            }
        };
        if level.is_finite()
            && let Some((cut, value)) = pool.largest_at(x)
        {
            consider(self, cost + value - level, level.abs().max(1.0), Whose::Cost(cut));
        }
        for cut in 0..pool.len() {
            if pool.kind(cut) == CutKind::Feasibility {
                consider(self, pool.value_at(cut, x), pool.intercept(cut).abs().max(1.0), Whose::Recourse(cut));
            }
        }
        for row in 0..first.rows.rows() {
            let activity = first.rows.dot(row, x);
            let (below, above) = (first.row_lower[row] - activity, activity - first.row_upper[row]);
            let size = activity.abs().max(1.0);
            if below > above {
                consider(self, below, size, Whose::Row(row, -1.0));
            } else {
                consider(self, above, size, Whose::Row(row, 1.0));
            }
        }
        furthest
    }

    fn write_gradient(&mut self, pool: &CutPool, x: &[f64], whose: Whose) {
        let first = &self.problem.first;
        match whose {
            Whose::Cost(cut) => {
                for (entry, (cost, slope)) in self.gradient.iter_mut().zip(first.cost.iter().zip(pool.slope(cut))) {
                    *entry = cost + slope;
                }
                first.quadratic.mul_add(1.0, x, &mut self.gradient);
            }
            Whose::Recourse(cut) => self.gradient.copy_from_slice(pool.slope(cut)),
            Whose::Row(row, side) => {
                self.gradient.fill(0.0);
                first.rows.row(row).for_each(|(j, value)| self.gradient[j] = side * value);
            }
        }
    }

    /// The length of the gradient in the dual metric, entries that bounds stop left out.
    fn length(&self, x: &[f64], metric: &[f64]) -> f64 {
        let first = &self.problem.first;
        let is_stopped = |j: usize| {
            let slope = self.gradient[j];
            (slope > 0.0 && x[j] <= first.lower[j]) || (slope < 0.0 && x[j] >= first.upper[j])
        };
        (0..x.len()).filter(|&j| !is_stopped(j)).map(|j| self.gradient[j].powi(2) / metric[j]).sum::<f64>().sqrt()
    }
}
