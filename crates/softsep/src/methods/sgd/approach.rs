//! Steps toward a level by all cuts of the pool.
//!
//! A chain at low temperature stays at one scenario for long, and steps against its subgradient alone may raise the
//! cost of other scenarios. Steps that use all cuts take these into account, and cost a few dot products where a
//! recourse solve costs a linear program.

use crate::cuts::CutPool;
use crate::model::Problem;
use crate::recourse::CutKind;

/// The over-relaxation factor of steps toward the level. Steps converge for factors between 1 and 2, and reach the next
/// cut sooner with larger ones.
const OVER_RELAXATION: f64 = 1.5;

/// The largest number of steps toward the level between two separations.
const MAX_STEPS: usize = 200;

/// The largest violation of a constraint that holds, relative to the size of its terms.
const CONSTRAINT_TOL: f64 = 1e-12;

/// Descent on the maximum of the pool's cuts.
pub(super) struct Approach<'p> {
    problem: &'p Problem,
    gradient: Vec<f64>,
}

/// A constraint that a point violates by `amount`.
struct ViolatedConstraint {
    amount: f64,
    /// The distance to the points that satisfy it: the amount over the length of its gradient in the dual metric,
    /// infinite where bounds block every entry.
    distance: f64,
    constraint: LevelConstraint,
}

/// A constraint of the level set.
#[derive(Clone, Copy)]
enum LevelConstraint {
    /// The level, by an optimality cut.
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

    /// Steps from x toward `{x in X : every cut's cost is at most level}` in the metric H = diag(`metric`), and returns
    /// whether x reached it. Each is a Polyak step with the level in place of the optimum,
    /// `x − r·(F − level)/‖g‖²·H⁻¹g` with over-relaxation factor r, for the constraint with the largest distance.
    /// Clamping keeps x within the bounds of X; the rows of X are among the constraints.
    pub(super) fn approach(&mut self, pool: &mut CutPool, x: &mut [f64], level: f64, metric: &[f64]) -> bool {
        let first = &self.problem.first;
        for _ in 0..MAX_STEPS {
            let Some(violated) = self.furthest(pool, x, level, metric) else { return true };
            // Bounds block every entry of the step.
            if violated.distance == f64::INFINITY {
                return false;
            }
            self.write_gradient(pool, x, violated.constraint);
            let scale = OVER_RELAXATION * violated.distance / (violated.amount / violated.distance);
            for (j, x) in x.iter_mut().enumerate() {
                // Entries that bounds block are left out of the step's length too: see `length`.
                *x = (*x - scale * self.gradient[j] / metric[j]).clamp(first.lower[j], first.upper[j]);
            }
            if let LevelConstraint::Cost(cut) | LevelConstraint::Recourse(cut) = violated.constraint {
                pool.activate(cut);
            }
        }
        self.furthest(pool, x, level, metric).is_none()
    }

    /// Returns the violated constraint with the largest distance, if there is one.
    fn furthest(&mut self, pool: &CutPool, x: &[f64], level: f64, metric: &[f64]) -> Option<ViolatedConstraint> {
        let first = &self.problem.first;
        let mut furthest: Option<ViolatedConstraint> = None;
        let cost = first.value(x);
        let mut consider = |approach: &mut Self, amount: f64, size: f64, constraint: LevelConstraint| {
            if amount <= CONSTRAINT_TOL * size {
                return;
            }
            approach.write_gradient(pool, x, constraint);
            let length = approach.length(x, metric);
            let distance = if length > 0.0 { amount / length } else { f64::INFINITY };
            if furthest.as_ref().is_none_or(|furthest| distance > furthest.distance) {
                furthest = Some(ViolatedConstraint { amount, distance, constraint });
            }
        };
        if level.is_finite()
            && let Some((cut, value)) = pool.largest_at(x)
        {
            consider(self, cost + value - level, level.abs().max(1.0), LevelConstraint::Cost(cut));
        }
        for cut in 0..pool.len() {
            if pool.kind(cut) == CutKind::Feasibility {
                consider(
                    self,
                    pool.value_at(cut, x),
                    pool.intercept(cut).abs().max(1.0),
                    LevelConstraint::Recourse(cut),
                );
            }
        }
        for row in 0..first.rows.rows() {
            let activity = first.rows.dot(row, x);
            let (below, above) = (first.row_lower[row] - activity, activity - first.row_upper[row]);
            let size = activity.abs().max(1.0);
            if below > above {
                consider(self, below, size, LevelConstraint::Row(row, -1.0));
            } else {
                consider(self, above, size, LevelConstraint::Row(row, 1.0));
            }
        }
        furthest
    }

    fn write_gradient(&mut self, pool: &CutPool, x: &[f64], constraint: LevelConstraint) {
        let first = &self.problem.first;
        match constraint {
            LevelConstraint::Cost(cut) => {
                for (entry, (cost, slope)) in self.gradient.iter_mut().zip(first.cost.iter().zip(pool.slope(cut))) {
                    *entry = cost + slope;
                }
                first.quadratic.mul_add(1.0, x, &mut self.gradient);
            }
            LevelConstraint::Recourse(cut) => self.gradient.copy_from_slice(pool.slope(cut)),
            LevelConstraint::Row(row, side) => {
                self.gradient.fill(0.0);
                first.rows.row(row).for_each(|(j, value)| self.gradient[j] = side * value);
            }
        }
    }

    /// Returns the length of the gradient in the dual metric, without the entries that bounds block.
    fn length(&self, x: &[f64], metric: &[f64]) -> f64 {
        let first = &self.problem.first;
        let is_stopped = |j: usize| {
            let slope = self.gradient[j];
            (slope > 0.0 && x[j] <= first.lower[j]) || (slope < 0.0 && x[j] >= first.upper[j])
        };
        (0..x.len()).filter(|&j| !is_stopped(j)).map(|j| self.gradient[j].powi(2) / metric[j]).sum::<f64>().sqrt()
    }
}
