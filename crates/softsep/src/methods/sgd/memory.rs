//! The cuts that a descent has seen, and descent on their maximum.
//!
//! Every answer of the recourse is a minorant of the objective in x, whatever the chain does afterwards. Remembered, they cure what ails a chain that
//! is nearly greedy: it stays on one scenario while x gives way to that one alone. A step that looks at all of them cannot forget the others, and
//! costs a few dot products where a recourse solve costs a linear program.

use crate::model::Problem;
use crate::recourse::{Answer, CutKind, Outcome};

/// Cuts that are kept; the one that was tight longest ago goes first.
const KEPT: usize = 4096;

/// A constraint so little beyond its limit, relative to the size of its terms, holds.
const HOLDS: f64 = 1e-12;

/// A feasibility cut that is missed by more, relative to its size, tells that there is no recourse.
const NO_RECOURSE: f64 = 1e-7;

/// Cuts in one flat array.
pub(super) struct Memory<'p> {
    problem: &'p Problem,
    kinds: Vec<CutKind>,
    intercepts: Vec<f64>,
    slopes: Vec<f64>,
    scenarios: Vec<f64>,
    /// When each was last the worst one.
    used: Vec<u64>,
    now: u64,
    gradient: Vec<f64>,
}

/// One constraint that a point misses: `amount` beyond its limit.
struct Missed {
    amount: f64,
    /// Its amount over the length of its gradient in the dual metric: the distance to where it holds, infinite where bounds stop every entry.
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

impl<'p> Memory<'p> {
    pub(super) fn new(problem: &'p Problem) -> Self {
        Self {
            problem,
            kinds: Vec::new(),
            intercepts: Vec::new(),
            slopes: Vec::new(),
            scenarios: Vec::new(),
            used: Vec::new(),
            now: 0,
            gradient: vec![0.0; problem.first.dim()],
        }
    }

    fn slope(&self, cut: usize) -> &[f64] {
        let dim = self.problem.first.dim();
        &self.slopes[cut * dim..(cut + 1) * dim]
    }

    /// The scenario that proved a cut.
    pub(super) fn scenario(&self, cut: usize) -> &[f64] {
        let dim = self.problem.set.dim();
        &self.scenarios[cut * dim..(cut + 1) * dim]
    }

    fn at(&self, cut: usize, x: &[f64]) -> f64 {
        self.intercepts[cut] + dot(self.slope(cut), x)
    }

    /// Keeps the cut of an answer; false if it is there already, or if the answer has none.
    pub(super) fn keep(&mut self, answer: &Answer, xi: &[f64]) -> bool {
        let kind = match answer.outcome {
            Outcome::Solved => CutKind::Optimality,
            Outcome::Infeasible => CutKind::Feasibility,
            Outcome::Unbounded => return false,
        };
        let is_known = |known: usize| {
            self.intercepts[known] == answer.intercept
                && self.kinds[known] == kind
                && self.slope(known) == answer.slope_x.as_slice()
        };
        if (0..self.kinds.len()).any(is_known) {
            return false;
        }
        self.now += 1;
        if self.kinds.len() < KEPT {
            self.kinds.push(kind);
            self.intercepts.push(answer.intercept);
            self.slopes.extend_from_slice(&answer.slope_x);
            self.scenarios.extend_from_slice(xi);
            self.used.push(self.now);
            return true;
        }
        let oldest = (0..KEPT).min_by_key(|&known| self.used[known]).unwrap_or(0);
        let (dim, dim_xi) = (answer.slope_x.len(), xi.len());
        self.kinds[oldest] = kind;
        self.intercepts[oldest] = answer.intercept;
        self.slopes[oldest * dim..(oldest + 1) * dim].copy_from_slice(&answer.slope_x);
        self.scenarios[oldest * dim_xi..(oldest + 1) * dim_xi].copy_from_slice(xi);
        self.used[oldest] = self.now;
        true
    }

    /// The cut that says most about the cost of the recourse at x, and what it says.
    pub(super) fn worst(&self, x: &[f64]) -> Option<(usize, f64)> {
        let costs = (0..self.kinds.len()).filter(|&cut| self.kinds[cut] == CutKind::Optimality);
        costs.fold(None, |worst, cut| {
            let value = self.at(cut, x);
            if worst.is_none_or(|(_, most)| value > most) { Some((cut, value)) } else { worst }
        })
    }

    /// Whether some scenario seen has no recourse at x.
    pub(super) fn forbids(&self, x: &[f64]) -> bool {
        let is_missed = |cut: usize| self.at(cut, x) > NO_RECOURSE * self.intercepts[cut].abs().max(1.0);
        (0..self.kinds.len()).any(|cut| self.kinds[cut] == CutKind::Feasibility && is_missed(cut))
    }

    /// Steps from x toward `{x in X : every cut's cost is at most level}` in the metric H = diag(`metric`), which is what a Polyak step does with
    /// the level for the optimum: `x − r·(F − level)/‖g‖²·H⁻¹g` with over-relaxation r, for the constraint that is furthest away. True if it got
    /// there within `steps`. X's bounds are kept by clamping, its rows are among the constraints.
    pub(super) fn approach(&mut self, x: &mut [f64], level: f64, metric: &[f64], relaxation: f64, steps: usize) -> bool {
        let first = &self.problem.first;
        for _ in 0..steps {
            let Some(missed) = self.furthest(x, level, metric) else { return true };
            // Pushed against bounds in every entry: no step can help.
            if missed.distance == f64::INFINITY {
                return false;
            }
            self.write_gradient(x, missed.whose);
            let scale = relaxation * missed.distance / (missed.amount / missed.distance);
            for (j, x) in x.iter_mut().enumerate() {
                // A variable at the bound that it is pushed against has no part in the step's length either: see `length`.
                *x = (*x - scale * self.gradient[j] / metric[j]).clamp(first.lower[j], first.upper[j]);
            }
            if let Whose::Cost(cut) | Whose::Recourse(cut) = missed.whose {
                self.now += 1;
                self.used[cut] = self.now;
            }
        }
        self.furthest(x, level, metric).is_none()
    }

    /// The constraint that is furthest away, if one is missed.
    fn furthest(&mut self, x: &[f64], level: f64, metric: &[f64]) -> Option<Missed> {
        let first = &self.problem.first;
        let mut furthest: Option<Missed> = None;
        let cost = first.value(x);
        let mut consider = |memory: &mut Self, amount: f64, size: f64, whose: Whose| {
            if amount <= HOLDS * size {
                return;
            }
            memory.write_gradient(x, whose);
            let length = memory.length(x, metric);
            let distance = if length > 0.0 { amount / length } else { f64::INFINITY };
            if furthest.as_ref().is_none_or(|furthest| distance > furthest.distance) {
                furthest = Some(Missed { amount, distance, whose });
            }
        };
        if level.is_finite()
            && let Some((cut, value)) = self.worst(x)
        {
            consider(self, cost + value - level, level.abs().max(1.0), Whose::Cost(cut));
        }
        for cut in 0..self.kinds.len() {
            if self.kinds[cut] == CutKind::Feasibility {
                consider(self, self.at(cut, x), self.intercepts[cut].abs().max(1.0), Whose::Recourse(cut));
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

    fn write_gradient(&mut self, x: &[f64], whose: Whose) {
        let first = &self.problem.first;
        let dim = first.dim();
        match whose {
            Whose::Cost(cut) => {
                for j in 0..dim {
                    self.gradient[j] = first.cost[j] + self.slopes[cut * dim + j];
                }
                first.quadratic.mul_add(1.0, x, &mut self.gradient);
            }
            Whose::Recourse(cut) => self.gradient.copy_from_slice(&self.slopes[cut * dim..(cut + 1) * dim]),
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

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
