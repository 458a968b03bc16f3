//! Numbers on the command line, each with the range that makes sense of it.

use std::time::Duration;

/// A relative gap.
pub(crate) fn gap(text: &str) -> Result<f64, String> {
    number(text)
        .filter(|gap| *gap >= 0.0)
        .ok_or_else(|| "the gap is a number that is not negative, such as 0.001".into())
}

/// A relative gap that something follows from.
pub(crate) fn positive_gap(text: &str) -> Result<f64, String> {
    number(text).filter(|gap| *gap > 0.0).ok_or_else(|| "the gap is a positive number, such as 0.001".into())
}

/// A temperature, in units of cost.
pub(crate) fn temperature(text: &str) -> Result<f64, String> {
    let temperature = number(text).filter(|temperature| *temperature > 0.0);
    temperature.ok_or_else(|| "the temperature is a positive number, in units of cost".into())
}

/// A number of samples.
pub(crate) fn samples(text: &str) -> Result<usize, String> {
    let most = 10_000_000;
    let samples = text.parse().ok().filter(|samples| (1..=most).contains(samples));
    samples.ok_or_else(|| format!("the number of samples is an integer from 1 to {most}"))
}

/// A time limit in seconds.
pub(crate) fn time_limit(text: &str) -> Result<Duration, String> {
    let seconds = number(text);
    // Thirty years: more may be beyond what clocks can count, and is meant as no limit.
    if seconds.is_some_and(|seconds| seconds > 1e9) {
        return Err("the time limit is at most 1e9 seconds; leave the option out for no limit".into());
    }
    seconds
        .filter(|seconds| *seconds > 0.0)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        // Less than a nanosecond is rounded to nothing.
        .filter(|limit| !limit.is_zero())
        .ok_or_else(|| "the time limit is a positive number of seconds, such as 60 or 0.5".into())
}

/// A duration in seconds.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    number(text).filter(|seconds| *seconds > 0.0).ok_or_else(|| "a duration is a positive number of seconds".into())
}

/// A number of iterations.
pub(crate) fn iterations(text: &str) -> Result<u64, String> {
    text.parse()
        .ok()
        .filter(|iterations| *iterations >= 1)
        .ok_or_else(|| "the number of iterations is an integer from 1 on".into())
}

/// A number of replications.
pub(crate) fn replications(text: &str) -> Result<u32, String> {
    let most = 10_000;
    let replications = text.parse().ok().filter(|replications| (1..=most).contains(replications));
    replications.ok_or_else(|| format!("the number of replications is an integer from 1 to {most}"))
}

/// A seed.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("the seed is an integer from 0 to {}", u64::MAX))
}

/// The size of an instance.
pub(crate) fn size(text: &str) -> Result<u16, String> {
    let size = text.parse().ok().filter(|size| (1..=1000).contains(size));
    size.ok_or_else(|| "the size n is an integer from 1 to 1000".into())
}

/// The number of scenarios of an instance.
pub(crate) fn scenarios(text: &str) -> Result<u32, String> {
    let scenarios = text.parse().ok().filter(|scenarios| *scenarios >= 1);
    scenarios.ok_or_else(|| format!("the number of scenarios is an integer from 1 to {}", u32::MAX))
}

/// A number of threads. More than the limit is a slip, and starting them would fail or stall the machine.
pub(crate) fn threads(text: &str) -> Result<usize, String> {
    let most = 1024;
    let threads = text.parse().ok().filter(|threads| (1..=most).contains(threads));
    threads.ok_or_else(|| format!("the number of threads is an integer from 1 to {most}"))
}

/// A probability strictly between 0 and 1.
pub(crate) fn confidence(text: &str) -> Result<f64, String> {
    let inside = |confidence: &f64| 0.0 < *confidence && *confidence < 1.0;
    number(text)
        .filter(inside)
        .ok_or_else(|| "the confidence is a number between 0 and 1, both excluded, such as 0.95".into())
}

/// A share strictly between 0 and 1.
pub(crate) fn level(text: &str) -> Result<f64, String> {
    let inside = |level: &f64| 0.0 < *level && *level < 1.0;
    number(text)
        .filter(inside)
        .ok_or_else(|| "the level is a share between 0 and 1, both excluded, such as 0.001".into())
}

/// A constant with its value. Which values make sense is for the library to say.
pub(crate) fn assumption(text: &str) -> Result<(String, f64), String> {
    let known = |name: &&str| ["rho", "eta", "margin", "lipschitz"].contains(name);
    text.split_once('=')
        .and_then(|(name, value)| Some((Some(name).filter(known)?.to_owned(), number(value)?)))
        .ok_or_else(|| "a constant is written as rho=NUMBER, eta=NUMBER, margin=NUMBER or lipschitz=NUMBER".into())
}

/// A share, both ends included.
pub(crate) fn fraction(text: &str) -> Result<f64, String> {
    number(text)
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| "the fraction is a number from 0 to 1".into())
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}
