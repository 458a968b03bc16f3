//! The temperature that keeps the soft maximum within a given error.

/// Returns the largest temperature whose error is at most `wanted`, to four digits and from below; `None` if there is
/// none, or if all temperatures qualify. The error must be nondecreasing in the temperature.
pub fn temperature_for(wanted: f64, error: impl Fn(f64) -> f64) -> Option<f64> {
    let fits = |temperature: f64| error(temperature) <= wanted;
    if !(wanted > 0.0) || !wanted.is_finite() {
        return None;
    }
    // On two or more states, the error of a temperature is about the temperature itself, up to a factor that grows with
    // the dimension only.
    let (mut cold, mut warm) = (wanted * 1e-12, wanted * 1e12);
    if !fits(cold) || fits(warm) {
        return None;
    }
    while warm > cold * (1.0 + 1e-4) {
        let middle = (cold * warm).sqrt();
        if fits(middle) { cold = middle } else { warm = middle }
    }
    Some(cold)
}
