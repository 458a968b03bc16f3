//! The von Mises–Fisher law on the unit sphere of r ≥ 2 dimensions: density `exp(κ·⟨μ, u⟩)/M(κ)` with respect to the
//! uniform law.

use rand::RngExt;

use super::variates::{exponential, gamma, on_sphere};
use crate::run::Random;

/// Returns `ln M(κ) − κ`, where `M(κ)` is the mean of `exp(κ·u₁)` over the unit sphere of `dim ≥ 2` dimensions.
///
/// With `u₁ = tanh s`, M is the integral of `exp(κ·tanh s)·sech(s)^(dim − 1)` divided by the integral for κ = 0. Both
/// integrands are smooth with one peak, whose width depends only on the dimension, and decay exponentially. The
/// trapezoidal rule around the peak is therefore exact up to rounding, its terms are positive, and no Bessel or gamma
/// function is needed.
pub(crate) fn log_mean_minus_kappa(concentration: f64, dim: usize) -> f64 {
    log_integral(concentration, dim) - log_integral(0.0, dim)
}

/// The logarithm of the integral of `exp(−κ(1 − tanh s))·sech(s)^m`, up to a term that depends only on m.
fn log_integral(concentration: f64, dim: usize) -> f64 {
    let m = (dim - 1) as f64;
    // 1 − tanh s, and ln cosh s + ln 2, without cancellation.
    let height = |s: f64| {
        let decay = (-2.0 * s.abs()).exp();
        let short = 2.0 * if s > 0.0 { decay } else { 1.0 } / (1.0 + decay);
        -concentration * short - m * (s.abs() + decay.ln_1p())
    };
    // At the peak, t = tanh s solves κ(1 − t²) = m·t.
    let root = m.hypot(2.0 * concentration);
    let t = 2.0 * concentration / (m + root);
    let short = (m + m * m / (root + 2.0 * concentration)) / (m + root);
    let peak = 0.5 * ((1.0 + t) / short).ln();
    let curvature = short * (1.0 + t) * (2.0 * concentration * t + m);
    let step = 0.125 / curvature.sqrt();
    let top = height(peak);
    let mut sum = 1.0;
    for direction in [-step, step] {
        let mut away = 1.0;
        loop {
            let term = (height(peak + away * direction) - top).exp();
            sum += term;
            away += 1.0;
            // The terms decay at least as fast as a geometric series whose sum is within a factor of 100 of this term.
            if !(term > 1e-19) {
                break;
            }
        }
    }
    top + (sum * step).ln()
}

/// Draws a point of the law with mean direction `mean`, a unit vector of at least two entries.
///
/// The cosine W with the mean direction is drawn by the rejection method of Wood (1994). Its proposal is `W = (1 − (1 +
/// b)Z)/(1 − (1 − b)Z)` with Z from a symmetric beta law, drawn as g/(g + h) from two gamma numbers g and h. With `4κb
/// = (r − 1)(1 − b²)` the acceptance probability becomes `exp((r − 1)(ln(1 + s) − s))` with `s = (1 − b)/2·(g − h)/(h +
/// b·g)`. This form does not contain κ, and there is no cancellation for large κ. About seven proposals in ten are
/// accepted, for any κ and r.
pub(crate) fn draw(mean: &[f64], concentration: f64, random: &mut Random, point: &mut [f64]) {
    let halves = mean.len() - 1;
    let m = halves as f64;
    let b = m / (2.0 * concentration + m.hypot(2.0 * concentration));
    let (cosine, sine) = loop {
        let (g, h) = (gamma(halves, random), gamma(halves, random));
        let below = h + b * g;
        let s = 0.5 * (1.0 - b) * (g - h) / below;
        if below > 0.0 && -exponential(random) <= m * (s.ln_1p() - s) {
            break ((h - b * g) / below, 2.0 * (b * g * h).sqrt() / below);
        }
    };
    if halves == 1 {
        // The law is symmetric about the mean direction.
        let side = if random.random::<bool>() { sine } else { -sine };
        point[0] = cosine * mean[0] - side * mean[1];
        point[1] = cosine * mean[1] + side * mean[0];
        return;
    }
    // The point is (±cosine, sine·v) with v uniform on the sphere of one dimension less, reflected such that the first
    // axis is mapped to the mean direction. The sign keeps the vector of the reflection away from zero.
    let sign = if mean[0] < 0.0 { -1.0 } else { 1.0 };
    on_sphere(random, &mut point[1..]);
    point.iter_mut().for_each(|entry| *entry *= sine);
    point[0] = -sign * cosine;
    let along = (super::dot(mean, point) + sign * point[0]) / (1.0 + mean[0].abs());
    for (entry, mean) in point.iter_mut().zip(mean) {
        *entry -= along * mean;
    }
    point[0] -= along * sign;
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONCENTRATIONS: [f64; 14] = [1e-9, 1e-4, 0.1, 0.7, 1.0, 3.0, 10.0, 47.0, 150.0, 999.0, 1e4, 1e5, 1e6, 1e8];

    /// The series of 0F1(; r/2; κ²/4); all its terms are positive.
    fn by_series(concentration: f64, dim: usize) -> f64 {
        let (mut term, mut sum, mut k) = (1.0_f64, 1.0_f64, 0.0);
        while term > 1e-18 * sum {
            term *= concentration * concentration / (4.0 * (k + 1.0) * (k + dim as f64 / 2.0));
            k += 1.0;
            sum += term;
        }
        sum.ln() - concentration
    }

    #[test]
    fn the_normalising_constant_is_that_of_the_series() {
        for dim in [2, 3, 4, 7, 30, 300, 1000] {
            assert_eq!(log_mean_minus_kappa(0.0, dim), 0.0);
            for concentration in [1e-6, 0.01, 0.5, 1.0, 2.0, 10.0, 40.0, 200.0, 600.0] {
                let (found, wanted) = (log_mean_minus_kappa(concentration, dim), by_series(concentration, dim));
                assert!(
                    (found - wanted).abs() < 2e-12 * (1.0 + concentration),
                    "{dim} {concentration}: {found} {wanted}"
                );
            }
        }
    }

    #[test]
    fn the_normalising_constant_has_its_closed_form_in_three_dimensions() {
        for concentration in CONCENTRATIONS {
            let wanted = (-(-2.0 * concentration).exp_m1() / (2.0 * concentration)).ln();
            let found = log_mean_minus_kappa(concentration, 3);
            assert!((found - wanted).abs() < 1e-12, "{concentration}: {found} {wanted}");
        }
    }

    /// The recurrence of Bessel functions: M_r = M_(r+2) + κ²/(r(r + 2))·M_(r+4).
    #[test]
    fn the_normalising_constants_of_neighbouring_dimensions_agree() {
        for dim in [2, 3, 5, 10, 33, 100, 301, 996] {
            for concentration in CONCENTRATIONS {
                let r = dim as f64;
                let [first, second, third] = [0, 2, 4].map(|more| log_mean_minus_kappa(concentration, dim + more));
                let shared =
                    (second - first).exp() + (2.0 * concentration.ln() - (r * (r + 2.0)).ln() + third - first).exp();
                assert!((shared - 1.0).abs() < 2e-11, "{dim} {concentration}: {shared}");
            }
        }
    }
}
