//! Random streams: one seed, and for each purpose and label a stream of its own, so that no thread and no order of work shows in a result.

use rand::SeedableRng;
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
