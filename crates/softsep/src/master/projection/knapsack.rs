//! Projection onto the bounds and one row: a continuous quadratic knapsack problem.
//!
//! With the row `nᵀv ≤ β` and its multiplier λ ≥ 0, the solution is `v(λ) = clamp(x − λ H⁻¹n)`, where `nᵀv(λ)` is
//! piecewise linear and nonincreasing in λ. The search finds its crossing of β.

use super::polyhedron::Polyhedron;

/// Writes the projection onto the bounds and this side of the row into v. Returns false, and leaves v undefined, if no
/// λ meets the row up to rounding.
pub(super) fn project(
    polyhedron: &Polyhedron,
    row: usize,
    sign: f64,
    x: &[f64],
    inverse_metric: &[f64],
    v: &mut [f64],
) -> bool {
    let point_at = |j: usize, value: f64, lambda: f64| x[j] - lambda * sign * value * inverse_metric[j];
    // Violation of the row at λ, and the rate at which it decreases.
    let violation_at = |lambda: f64| {
        let (mut violation_at, mut decrease_rate) = (-sign * polyhedron.side(row, sign), 0.0);
        for (j, value) in polyhedron.terms(row) {
            let (lower, upper) = polyhedron.bounds(j);
            let target = point_at(j, value, lambda);
            violation_at += sign * value * polyhedron.clamp(j, target);
            if target > lower && target < upper {
                decrease_rate += value * value * inverse_metric[j];
            }
        }
        (violation_at, decrease_rate)
    };
    // Above the last breakpoint no variable reaches or leaves a bound, and only those without a bound ahead move.
    let (mut last_breakpoint, mut last_decrease_rate) = (0.0_f64, 0.0);
    for (j, value) in polyhedron.terms(row) {
        let (lower, upper) = polyhedron.bounds(j);
        for bound in [lower, upper] {
            let breakpoint = (x[j] - bound) / (sign * value * inverse_metric[j]);
            if breakpoint.is_finite() {
                last_breakpoint = last_breakpoint.max(breakpoint);
            }
        }
        let ahead = if sign * value > 0.0 { lower } else { upper };
        if ahead.is_infinite() {
            last_decrease_rate += value * value * inverse_metric[j];
        }
    }
    let (mut low, mut high) = (0.0, last_breakpoint);
    let excess = violation_at(last_breakpoint).0;
    let mut lambda = if excess > 0.0 { last_breakpoint + excess / last_decrease_rate } else { 0.0 };
    if !lambda.is_finite() {
        return false;
    }
    if excess <= 0.0 {
        // A Newton step is exact on the right linear piece, and bisection keeps it in the bracket. The loop ends when
        // the ends of the bracket are neighbouring numbers.
        for _ in 0..200 {
            let (excess, decrease_rate) = violation_at(lambda);
            if excess == 0.0 {
                break;
            }
            if excess > 0.0 {
                low = lambda;
            } else {
                high = lambda;
            }
            let newton = lambda + excess / decrease_rate;
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if next == lambda || next <= low || next >= high {
                break;
            }
            lambda = next;
        }
    }
    for (j, value) in polyhedron.terms(row) {
        v[j] = polyhedron.clamp(j, point_at(j, value, lambda));
    }
    // λ has a limited number of digits, and v has fewer where x is far away. The residual of the row is removed from v
    // directly.
    let (residual, decrease_rate) = (polyhedron.row_violation(row, sign, v).0, violation_at(lambda).1);
    if decrease_rate > 0.0 {
        for (j, value) in polyhedron.terms(row) {
            let (lower, upper) = polyhedron.bounds(j);
            if v[j] > lower && v[j] < upper {
                v[j] = polyhedron.clamp(j, v[j] - residual / decrease_rate * sign * value * inverse_metric[j]);
            }
        }
    }
    let (residual, allowed) = polyhedron.row_violation(row, sign, v);
    residual.abs() <= allowed
}
