//! The projection onto the bounds and one row: a continuous quadratic knapsack.
//!
//! With the row `nᵀv ≤ β` and its multiplier λ ≥ 0, the answer is `v(λ) = clamp(x − λ H⁻¹n)`, and `nᵀv(λ)` falls from
//! line to line: what is looked for is its crossing of β.

use super::region::Region;

/// Writes the projection onto the bounds and this side of the row into v. False if no λ meets the row to rounding: then
/// v means nothing.
pub(super) fn project(region: &Region, row: usize, sign: f64, x: &[f64], ease: &[f64], v: &mut [f64]) -> bool {
    let pulled = |j: usize, value: f64, lambda: f64| x[j] - lambda * sign * value * ease[j];
    // By how much the row is broken at λ, and how fast that falls.
    let miss = |lambda: f64| {
        let (mut miss, mut fall) = (-sign * region.side(row, sign), 0.0);
        for (j, value) in region.terms(row) {
            let (lower, upper) = region.bounds(j);
            let target = pulled(j, value, lambda);
            miss += sign * value * region.clamp(j, target);
            if target > lower && target < upper {
                fall += value * value * ease[j];
            }
        }
        (miss, fall)
    };
    // Beyond `last` nothing meets a bound any more, or leaves one: what has no bound ahead goes on for ever.
    let (mut last, mut last_fall) = (0.0_f64, 0.0);
    for (j, value) in region.terms(row) {
        let (lower, upper) = region.bounds(j);
        for bound in [lower, upper] {
            let meets = (x[j] - bound) / (sign * value * ease[j]);
            if meets.is_finite() {
                last = last.max(meets);
            }
        }
        let ahead = if sign * value > 0.0 { lower } else { upper };
        if ahead.is_infinite() {
            last_fall += value * value * ease[j];
        }
    }
    let (mut low, mut high) = (0.0, last);
    let over = miss(last).0;
    let mut lambda = if over > 0.0 { last + over / last_fall } else { 0.0 };
    if !lambda.is_finite() {
        return false;
    }
    if over <= 0.0 {
        // Newton's step is exact on the right line; halving keeps it in the bracket. A bracket of neighbouring numbers
        // ends it.
        for _ in 0..200 {
            let (over, fall) = miss(lambda);
            if over == 0.0 {
                break;
            }
            if over > 0.0 {
                low = lambda;
            } else {
                high = lambda;
            }
            let newton = lambda + over / fall;
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if next == lambda || next <= low || next >= high {
                break;
            }
            lambda = next;
        }
    }
    for (j, value) in region.terms(row) {
        v[j] = region.clamp(j, pulled(j, value, lambda));
    }
    // λ has so many digits only, and v fewer than it where x is far away: what the row still misses is taken from v
    // itself.
    let (left, fall) = (region.row_miss(row, sign, v).0, miss(lambda).1);
    if fall > 0.0 {
        for (j, value) in region.terms(row) {
            let (lower, upper) = region.bounds(j);
            if v[j] > lower && v[j] < upper {
                v[j] = region.clamp(j, v[j] - left / fall * sign * value * ease[j]);
            }
        }
    }
    let (left, allowed) = region.row_miss(row, sign, v);
    left.abs() <= allowed
}
