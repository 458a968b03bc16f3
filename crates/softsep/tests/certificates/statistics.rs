//! Binomial tests with exact tails.

/// The false-alarm rate of a test over random seeds.
const FALSE_ALARM: f64 = 1e-6;

/// ln of the binomial probabilities of 0, 1, …, n.
fn log_law(n: u64, p: f64) -> Vec<f64> {
    let mut law = vec![n as f64 * (-p).ln_1p()];
    for k in 0..n {
        let ratio = (n - k) as f64 / (k + 1) as f64;
        law.push(law[k as usize] + ratio.ln() + p.ln() - (-p).ln_1p());
    }
    law
}

/// The probability of `from..=to` among `n`.
fn between(from: u64, to: u64, n: u64, p: f64) -> f64 {
    log_law(n, p)[from as usize..=to as usize].iter().map(|log| log.exp()).sum()
}

/// Fails if `count` of `n` is more than a probability of `p` explains.
pub(crate) fn at_most(count: u64, n: u64, p: f64, what: &str) {
    let chance = between(count, n, n, p);
    assert!(
        chance > FALSE_ALARM,
        "{what}: {count} of {n}, where the probability is {p} at most (a chance of {chance:.1e})"
    );
}

/// Fails if `count` of `n` is more or less than a probability of `p` explains.
pub(crate) fn is(count: u64, n: u64, p: f64, what: &str) {
    at_most(count, n, p, what);
    let chance = between(0, count, n, p);
    assert!(chance > FALSE_ALARM, "{what}: {count} of {n}, where the probability is {p} (a chance of {chance:.1e})");
}

#[test]
fn tails_are_those_of_the_binomial_law() {
    assert!((between(0, 0, 3, 0.5) - 0.125).abs() < 1e-15);
    assert!((between(2, 3, 3, 0.25) - (3.0 * 0.0625 * 0.75 + 0.015625)).abs() < 1e-15);
    assert!((between(0, 400, 400, 0.03) - 1.0).abs() < 1e-12);
    is(12, 400, 0.03, "the mean");
    // Five times as many as expected, and none where 30 are.
    assert!(between(60, 400, 400, 0.03) < FALSE_ALARM && between(0, 0, 1000, 0.03) < FALSE_ALARM);
}
