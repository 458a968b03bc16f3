//! Random streams: one seed, and for each purpose and label a stream of its own, so that no thread and no order of work shows in a result.

use std::f64::consts::TAU;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The generator of every random choice.
pub type Random = ChaCha8Rng;

/// What a stream is for. Streams of different purposes never meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The moves of a chain.
    Chain = 1,
    /// Points to start from.
    Start = 2,
    /// Estimates of constants.
    Estimate = 3,
}

/// The stream `label` of a purpose.
pub fn stream(seed: u64, purpose: Purpose, label: u32) -> Random {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(((purpose as u64) << 32) | u64::from(label));
    random
}

/// Fills a vector with independent standard normal numbers (Box and Muller, two at a time).
pub fn normals(random: &mut Random, values: &mut [f64]) {
    for pair in values.chunks_mut(2) {
        // `random` is in [0, 1); the logarithm needs (0, 1].
        let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
        let (sine, cosine) = (TAU * random.random::<f64>()).sin_cos();
        pair[0] = radius * cosine;
        if let Some(second) = pair.get_mut(1) {
            *second = radius * sine;
        }
    }
}
