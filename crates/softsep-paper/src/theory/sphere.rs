//! The paper's own bounds on caps of the unit sphere and on the peak of a soft law (appendix to the example of uniform
//! mixing). `softsep::internals::theory` has the sharper ones that the solver uses.

use std::f64::consts::{FRAC_PI_2, PI};

/// The paper's lower bound of `softsep::internals::theory::cap` for θ ≤ π/2: c·θ^(dim−1) with c = (2/π)^(dim−2) /
/// ((dim−1)·∫₀^π sin^(dim−2)).
pub fn cap_below(dim: usize, angle: f64) -> f64 {
    log_cap_below(dim, angle.min(FRAC_PI_2)).exp()
}

fn log_cap_below(dim: usize, angle: f64) -> f64 {
    let d = dim as f64;
    (d - 2.0) * (2.0 / PI).ln() - (d - 1.0).ln() - log_sine_integral(dim) + (d - 1.0) * angle.ln()
}

/// The paper's bound on ln ‖dp_x/dν‖∞ for scores that change by at most `lipschitz` per unit of distance: a cap around
/// the best state, of the angle θ = (dim−1)w/L. That asks for θ ≤ π/2, which is w ≤ πL/(2(dim−1)); for warmer laws the
/// bound on caps ends at π/2, and that angle is best.
pub fn log_peak_paper(dim: usize, lipschitz: f64, temperature: f64) -> f64 {
    let angle = ((dim as f64 - 1.0) * temperature / lipschitz).min(FRAC_PI_2);
    lipschitz * angle / temperature - log_cap_below(dim, angle)
}

/// ln ∫₀^π sin^(dim−2), by Wallis's recurrence.
fn log_sine_integral(dim: usize) -> f64 {
    let power = dim.saturating_sub(2);
    let first: f64 = if power.is_multiple_of(2) { PI } else { 2.0 };
    (power % 2 + 2..=power).step_by(2).fold(first.ln(), |log, k| log + ((k as f64 - 1.0) / k as f64).ln())
}
