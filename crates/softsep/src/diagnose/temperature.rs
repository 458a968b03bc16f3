//! The temperature that keeps the soft maximum close enough.

/// The largest temperature whose error is within `wanted`, to four digits and from below; `None` if none is, or all are. The error must not fall
/// as the temperature grows.
pub fn temperature_for(wanted: f64, error: impl Fn(f64) -> f64) -> Option<f64> {
    let fits = |temperature: f64| error(temperature) <= wanted;
    if !(wanted > 0.0) || !wanted.is_finite() {
        return None;
    }
    // On two states and more the error of a temperature is about the temperature itself, up to a factor that only grows with the dimension.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::{MetricSpace, finite_error};

    #[test]
    fn temperatures_are_as_warm_as_the_error_allows() {
        let of_states = temperature_for(3.0, |w| finite_error(100.0, w)).unwrap_or(0.0);
        assert!(of_states <= 3.0 / 100.0_f64.ln() && of_states > 2.999 / 100.0_f64.ln());
        let body = MetricSpace::body(8, 2.0, 5.0);
        let found = temperature_for(0.3, |w| body.error(w)).unwrap_or(0.0);
        assert!(body.error(found) <= 0.3 && body.error(1.001 * found) > 0.3);
        // Where scores do not differ by that much, any temperature will do; a gap of zero allows none.
        assert_eq!(temperature_for(0.3, |w| w.min(0.2)), None);
        assert_eq!(temperature_for(0.0, |w| w), None);
    }
}
