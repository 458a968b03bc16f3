//! Projection onto the bounds and one row: a continuous quadratic knapsack problem.
//!
//! With the row `nᵀv ≤ β` and its multiplier λ ≥ 0, the solution is `v(λ) = clamp(x − λ H⁻¹n)`, where `nᵀv(λ)` is
//! piecewise linear and nonincreasing in λ. The search finds its crossing of β.

use super::polyhedron::FirstStagePolyhedron;

/// Writes the projection onto the bounds and this side of the row into v. Returns false, and leaves v undefined, if no
/// λ meets the row up to rounding.
pub(super) fn project(
    polyhedron: &FirstStagePolyhedron,
    row: usize,
    sign: f64,
    x: &[f64],
    inverse_metric: &[f64],
    v: &mut [f64],
) -> bool {
    let knapsack = Knapsack { polyhedron, row, sign, x, inverse_metric };
    let Some(lambda) = knapsack.multiplier() else { return false };
    for (j, value) in polyhedron.terms(row) {
        v[j] = polyhedron.clamp(j, knapsack.target(j, value, lambda));
    }
    knapsack.remove_residual(lambda, v);
    let (residual, allowed) = polyhedron.row_violation(row, sign, v);
    residual.abs() <= allowed
}

/// One side of a row, and the point to project.
struct Knapsack<'a> {
    polyhedron: &'a FirstStagePolyhedron,
    row: usize,
    sign: f64,
    x: &'a [f64],
    inverse_metric: &'a [f64],
}

impl Knapsack<'_> {
    /// Returns the entry of `x − λ H⁻¹n` for a variable with this coefficient in the row.
    fn target(&self, j: usize, value: f64, lambda: f64) -> f64 {
        self.x[j] - lambda * self.sign * value * self.inverse_metric[j]
    }

    /// Returns the violation of the row at λ, and the rate at which it decreases.
    fn violation(&self, lambda: f64) -> (f64, f64) {
        let (mut violation, mut decrease_rate) = (-self.sign * self.polyhedron.side(self.row, self.sign), 0.0);
        for (j, value) in self.polyhedron.terms(self.row) {
            let (lower, upper) = self.polyhedron.bounds(j);
            let target = self.target(j, value, lambda);
            violation += self.sign * value * self.polyhedron.clamp(j, target);
            if target > lower && target < upper {
                decrease_rate += value * value * self.inverse_metric[j];
            }
        }
        (violation, decrease_rate)
    }

    /// Returns the last λ at which a variable reaches or leaves a bound, and the rate at which the violation decreases
    /// beyond it. Only variables without a bound ahead move there.
    fn last_breakpoint(&self) -> (f64, f64) {
        let (mut last, mut decrease_rate) = (0.0_f64, 0.0);
        for (j, value) in self.polyhedron.terms(self.row) {
            let (lower, upper) = self.polyhedron.bounds(j);
            for bound in [lower, upper] {
                let breakpoint = (self.x[j] - bound) / (self.sign * value * self.inverse_metric[j]);
                if breakpoint.is_finite() {
                    last = last.max(breakpoint);
                }
            }
            let ahead = if self.sign * value > 0.0 { lower } else { upper };
            if ahead.is_infinite() {
                decrease_rate += value * value * self.inverse_metric[j];
            }
        }
        (last, decrease_rate)
    }

    /// Returns the λ at which the violation is zero, or `None` if there is none.
    fn multiplier(&self) -> Option<f64> {
        let (last, decrease_rate) = self.last_breakpoint();
        let violation = self.violation(last).0;
        let lambda = if violation > 0.0 { last + violation / decrease_rate } else { 0.0 };
        if !lambda.is_finite() {
            return None;
        }
        Some(if violation <= 0.0 { self.search(lambda, last) } else { lambda })
    }

    /// Finds the zero of the violation between 0 and `high` from `lambda`. A Newton step is exact on the right linear
    /// piece, and bisection keeps it in the bracket. The loop ends when the ends of the bracket are neighbouring
    /// numbers.
    fn search(&self, mut lambda: f64, mut high: f64) -> f64 {
        let mut low = 0.0;
        for _ in 0..200 {
            let (violation, decrease_rate) = self.violation(lambda);
            if violation == 0.0 {
                break;
            }
            if violation > 0.0 {
                low = lambda;
            } else {
                high = lambda;
            }
            let newton = lambda + violation / decrease_rate;
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if next == lambda || next <= low || next >= high {
                break;
            }
            lambda = next;
        }
        lambda
    }

    /// Removes the residual of the row from v directly, since λ has a limited number of digits, and v has fewer where x
    /// is far away.
    fn remove_residual(&self, lambda: f64, v: &mut [f64]) {
        let residual = self.polyhedron.row_violation(self.row, self.sign, v).0;
        let decrease_rate = self.violation(lambda).1;
        if decrease_rate > 0.0 {
            for (j, value) in self.polyhedron.terms(self.row) {
                let (lower, upper) = self.polyhedron.bounds(j);
                if v[j] > lower && v[j] < upper {
                    let step = residual / decrease_rate * self.sign * value * self.inverse_metric[j];
                    v[j] = self.polyhedron.clamp(j, v[j] - step);
                }
            }
        }
    }
}
