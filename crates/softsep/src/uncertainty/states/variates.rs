//! Random numbers of the elementary laws that the samplers use.

use rand::RngExt;

use crate::run::{Random, normals};

/// A standard normal number.
pub(super) fn normal(random: &mut Random) -> f64 {
    let mut value = [0.0];
    normals(random, &mut value);
    value[0]
}

/// An exponential number with mean one.
pub(super) fn exponential(random: &mut Random) -> f64 {
    // `random` is in [0, 1); the logarithm needs (0, 1].
    -(1.0 - random.random::<f64>()).ln()
}

/// A gamma number of shape `halves`/2, with `halves ≥ 1`: half the square of a normal number for shape one half,
/// otherwise by Marsaglia and Tsang (2000).
pub(super) fn gamma(halves: usize, random: &mut Random) -> f64 {
    if halves <= 1 {
        return 0.5 * normal(random).powi(2);
    }
    let d = 0.5 * halves as f64 - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(random);
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && -exponential(random) < 0.5 * x * x + d * (1.0 - v + v.ln()) {
            return d * v;
        }
    }
}

/// A uniform point of the unit sphere.
pub(super) fn on_sphere(random: &mut Random, point: &mut [f64]) {
    let mut norm = 0.0;
    while norm == 0.0 && !point.is_empty() {
        normals(random, point);
        norm = super::norm(point);
    }
    point.iter_mut().for_each(|entry| *entry /= norm);
}
