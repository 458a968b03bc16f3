//! Numbers on the command line, each with the range that makes sense of it.

use std::time::Duration;

/// A relative gap.
pub(crate) fn gap(text: &str) -> Result<f64, String> {
    number(text).filter(|gap| *gap >= 0.0).ok_or_else(|| "the gap is a number that is not negative, such as 0.001".into())
}

/// A time limit in seconds.
pub(crate) fn time_limit(text: &str) -> Result<Duration, String> {
    number(text)
        .filter(|seconds| *seconds > 0.0)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        // Less than a nanosecond is rounded to nothing.
        .filter(|limit| !limit.is_zero())
        .ok_or_else(|| "the time limit is a positive number of seconds, such as 60 or 0.5".into())
}

/// A number of iterations.
pub(crate) fn iterations(text: &str) -> Result<u64, String> {
    text.parse()
        .ok()
        .filter(|iterations| *iterations >= 1)
        .ok_or_else(|| "the number of iterations is a whole number from 1 on".into())
}

/// A number of threads. More than the limit is a slip, and starting them would fail or stall the machine.
pub(crate) fn threads(text: &str) -> Result<usize, String> {
    let most = 1024;
    let threads = text.parse().ok().filter(|threads| (1..=most).contains(threads));
    threads.ok_or_else(|| format!("the number of threads is a whole number from 1 to {most}"))
}

/// A probability strictly between 0 and 1.
pub(crate) fn confidence(text: &str) -> Result<f64, String> {
    let inside = |confidence: &f64| 0.0 < *confidence && *confidence < 1.0;
    number(text).filter(inside).ok_or_else(|| "the confidence is a number between 0 and 1, both excluded, such as 0.95".into())
}

/// A share, both ends included.
pub(crate) fn fraction(text: &str) -> Result<f64, String> {
    number(text).filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| "the fraction is a number from 0 to 1".into())
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}
