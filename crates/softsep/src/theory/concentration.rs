//! Concentration of ν near the worst states: the ratio `ν(scores below max − Δ̃/2) / ν(scores within Δ̃/4 of max)` in
//! Theorem 2, bounded for all x.

use std::f64::consts::PI;

use super::cap;

/// The ratio on finitely many states of equal weight: at most all but one.
pub fn finite_ratio(states: f64) -> f64 {
    (states - 1.0).max(0.0)
}

/// Example 10: the ratio on a convex body of full dimension with the uniform law, max(1, 4L'_ξ·D/Δ̃)^dim.
pub fn body_ratio(dim: usize, diameter: f64, lipschitz: f64, slack: f64) -> f64 {
    (4.0 * lipschitz * diameter / slack).max(1.0).powf(dim as f64)
}

/// The ratio on the unit sphere of `dim ≥ 2` coordinates, which the paper omits: one over the weight of the cap with
/// chord Δ̃/(4L).
pub fn sphere_ratio(dim: usize, lipschitz: f64, slack: f64) -> f64 {
    let half_chord = slack / (8.0 * lipschitz);
    let angle = if half_chord >= 1.0 { PI } else { 2.0 * half_chord.asin() };
    1.0 / cap(dim, angle)
}
