//! Caps of the unit sphere, and the largest density of a soft law on it (appendix to Example 9).
//!
//! The sphere is that of the coordinates u in ξ = ξ̄ + Au, so that its dimension is that of u; the paper writes d_ξ.
//! Two points (`dim` = 1) are a finite set and not covered here.

use std::f64::consts::{FRAC_PI_2, PI};

/// The fraction of the unit sphere of `dim ≥ 2` coordinates within the angle θ of a point: ∫₀^θ sin^(dim−2) / ∫₀^π
/// sin^(dim−2).
pub fn cap(dim: usize, angle: f64) -> f64 {
    let angle = angle.clamp(0.0, PI);
    if angle > FRAC_PI_2 {
        return 1.0 - cap(dim, PI - angle);
    }
    // With s = sin² t this is half of a regularised incomplete beta function.
    let sine = angle.sin();
    0.5 * beta_share(sine * sine, angle.cos(), dim)
}

/// The best bound on ln ‖dp_x/dν‖∞ for scores that change by at most L = `lipschitz` per unit of distance. No score is
/// below the largest by more than L times the chord; if all are by just that, the density's peak is one over ∫₀^π
/// exp(−2(L/w)·sin(t/2))·sin^(dim−2) t dt / ∫₀^π sin^(dim−2). It holds at every temperature.
///
/// Truncating the integral makes the bound larger, so that it stays valid; the rest is computed by Simpson's rule.
pub fn log_peak(dim: usize, lipschitz: f64, temperature: f64) -> f64 {
    const PANELS: usize = 4096;
    let (d, steep) = (dim as f64, lipschitz / temperature);
    // Beyond the end, the integrand is below that of a gamma law of dim − 1 degrees and rate 2·steep/π, far in its
    // tail.
    let end = (FRAC_PI_2 * (d + 12.0 * d.sqrt() + 40.0) / steep).min(PI);
    let log_height = |t: f64| {
        let around = if dim == 2 { 0.0 } else { (d - 2.0) * t.sin().max(0.0).ln() };
        around - 2.0 * steep * (0.5 * t).sin()
    };
    let step = end / PANELS as f64;
    let heights: Vec<f64> = (0..=PANELS).map(|k| log_height(k as f64 * step)).collect();
    let most = heights.iter().fold(f64::NEG_INFINITY, |most, &height| most.max(height));
    let weight = |k: usize| match k {
        0 | PANELS => 1.0,
        k if k % 2 == 1 => 4.0,
        _ => 2.0,
    };
    let sum: f64 = heights.iter().enumerate().map(|(k, height)| weight(k) * (height - most).exp()).sum();
    (log_sine_integral(dim) - most - (sum * step / 3.0).ln()).max(0.0)
}

/// ln ∫₀^π sin^(dim−2), by Wallis's recurrence.
fn log_sine_integral(dim: usize) -> f64 {
    let power = dim.saturating_sub(2);
    let first: f64 = if power.is_multiple_of(2) { PI } else { 2.0 };
    (power % 2 + 2..=power).step_by(2).fold(first.ln(), |log, k| log + ((k as f64 - 1.0) / k as f64).ln())
}

/// The regularised incomplete beta function I_s((dim−1)/2, ½) for s = sin² t. cos t is given as well, so that neither
/// end loses digits.
fn beta_share(s: f64, cosine: f64, dim: usize) -> f64 {
    if s <= 0.0 {
        return 0.0;
    }
    let (a, b) = (0.5 * (dim as f64 - 1.0), 0.5);
    let front = (a * s.ln() - log_sine_integral(dim)).exp() * cosine;
    // The fraction converges fast below the mean, and that of the complement above it.
    if s * (a + b + 2.0) < a + 1.0 {
        front * beta_fraction(s, a, b) / a
    } else {
        1.0 - front * beta_fraction(cosine * cosine, b, a) / b
    }
}

/// The continued fraction of the incomplete beta function, by Lentz's method.
fn beta_fraction(s: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let kept = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut upper = 1.0;
    let mut lower = 1.0 / kept(1.0 - (a + b) * s / (a + 1.0));
    let mut fraction = lower;
    for m in 1..10_000 {
        let m = f64::from(m);
        let even = m * (b - m) * s / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * s / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = fraction;
        for term in [even, odd] {
            lower = 1.0 / kept(1.0 + term * lower);
            upper = kept(1.0 + term / upper);
            fraction *= lower * upper;
        }
        if (fraction - before).abs() <= 1e-16 * fraction.abs() {
            break;
        }
    }
    fraction
}
