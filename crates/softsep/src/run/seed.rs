//! Random streams: one for each purpose and label, all from one seed, so that results depend neither on the number of
//! threads nor on the order of work.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The generator of every random choice.
pub type Random = ChaCha8Rng;

/// The purpose of a stream. Streams of different purposes are independent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Purpose {
    /// The moves of a chain.
    Chain = 1,
    /// Points to start from.
    Start = 2,
    /// Estimates of constants.
    Estimate = 3,
    /// Draws that verify a decision. The choice of the decision must not depend on them.
    Verification = 4,
}

/// The stream `label` of a purpose.
pub fn stream(seed: u64, purpose: Purpose, label: u32) -> Random {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(((purpose as u64) << 32) | u64::from(label));
    random
}

/// Fills a vector with independent standard normal numbers, two at a time by Marsaglia's polar method, which needs no
/// sine or cosine.
pub fn normals(random: &mut Random, values: &mut [f64]) {
    for pair in values.chunks_mut(2) {
        let (a, b, square) = loop {
            let (a, b) = (2.0 * random.random::<f64>() - 1.0, 2.0 * random.random::<f64>() - 1.0);
            let square = a * a + b * b;
            if square < 1.0 && square > 0.0 {
                break (a, b, square);
            }
        };
        let factor = (-2.0 * square.ln() / square).sqrt();
        pair[0] = factor * a;
        if let Some(second) = pair.get_mut(1) {
            *second = factor * b;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Means over pairs (a, b) of a, a², a⁴, ab and a²b², whose variances are 1, 2, 96, 1 and 8, within six standard
    /// errors: passed by chance once in 10⁸ times. Then the share beyond 2, which is 0.0455.
    #[test]
    fn normal_numbers_are_normal_and_independent() {
        const PAIRS: usize = 200_000;
        let mut random = stream(1, Purpose::Estimate, 0);
        let (mut means, mut beyond, mut pair) = ([0.0; 5], 0.0, [0.0; 2]);
        for _ in 0..PAIRS {
            normals(&mut random, &mut pair);
            let [a, b] = pair;
            for (mean, value) in means.iter_mut().zip([a, a * a, a.powi(4), a * b, a * a * b * b]) {
                *mean += value / PAIRS as f64;
            }
            beyond += if a.abs() > 2.0 { 1.0 / PAIRS as f64 } else { 0.0 };
        }
        for (mean, (want, variance)) in
            means.into_iter().zip([(0.0, 1.0), (1.0, 2.0), (3.0, 96.0), (0.0, 1.0), (1.0, 8.0_f64)])
        {
            assert!((mean - want).abs() < 6.0 * (variance / PAIRS as f64).sqrt(), "{mean} instead of {want}");
        }
        assert!((beyond - 0.045_500_26).abs() < 6.0 * (0.0455 / PAIRS as f64).sqrt(), "{beyond}");
        let mut single = [0.0; 3];
        normals(&mut random, &mut single);
        assert!(single.iter().all(|value| *value != 0.0));
    }
}
