//! The time that a method keeps for a last bound of its incumbent.

use std::time::{Duration, Instant};

/// The largest share of a limited time that is kept.
const LARGEST_SHARE: f64 = 0.2;

/// The time kept for a proof that is expected to take some seconds is a multiple of these, and a moment more: proofs at
/// two decisions differ.
const MARGIN: f64 = 1.5;
const MOMENT: f64 = 0.2;

/// What is known of the time that a proof takes, and whether some is kept for one.
///
/// The time is measured: that of the last proof, or before any the expected recourse solves at the rate of those so
/// far. Where it is not known, or more than a fifth of all time, a fifth is kept. Without a time limit nothing is.
#[derive(Debug, Default)]
pub(super) struct Reserve {
    /// Whether time is kept.
    is_kept: bool,
    /// The recourse solves that a proof is expected to take.
    expected_solves: Option<u64>,
    /// The seconds and the recourse solves of all separations so far.
    seconds: f64,
    solves: u64,
    /// The seconds of the last proof.
    proof: Option<f64>,
}

impl Reserve {
    /// Keeps time for a proof that is expected to take so many recourse solves.
    pub(super) fn keep(&mut self, expected_solves: Option<u64>) {
        (self.is_kept, self.expected_solves) = (true, expected_solves);
    }

    /// Keeps no time any more. Returns whether some was kept.
    pub(super) fn free(&mut self) -> bool {
        std::mem::take(&mut self.is_kept)
    }

    /// Notes the time of a separation, which proved a bound or not.
    pub(super) fn measure(&mut self, seconds: f64, solves: u64, is_proof: bool) {
        self.seconds += seconds;
        self.solves += solves;
        if is_proof {
            self.proof = Some(seconds);
        }
    }

    /// The moment at which the time kept begins, of a run that starts and ends at these; `None` if none is kept.
    pub(super) fn begin(&self, start: Instant, end: Instant) -> Option<Instant> {
        let most = end.saturating_duration_since(start).mul_f64(LARGEST_SHARE);
        let kept = self.proof_seconds().map_or(most, |seconds| {
            let kept = Duration::try_from_secs_f64(MARGIN * seconds + MOMENT);
            kept.map_or(most, |kept| kept.min(most))
        });
        if self.is_kept { end.checked_sub(kept) } else { None }
    }

    /// The seconds that a proof is expected to take.
    fn proof_seconds(&self) -> Option<f64> {
        let by_rate = |expected: u64| expected as f64 * self.seconds / self.solves as f64;
        self.proof.or_else(|| self.expected_solves.filter(|_| self.solves > 0).map(by_rate))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// The seconds kept of 100.
    fn kept(reserve: &Reserve) -> Option<f64> {
        let start = Instant::now();
        let end = start + Duration::from_secs(100);
        reserve.begin(start, end).map(|begin| end.duration_since(begin).as_secs_f64())
    }

    fn is_about(seconds: Option<f64>, wanted: f64) -> bool {
        seconds.is_some_and(|seconds| (seconds - wanted).abs() < 1e-6)
    }

    #[test]
    fn the_time_kept_follows_what_proofs_take_and_is_a_fifth_at_most() {
        let mut reserve = Reserve::default();
        assert_eq!(kept(&reserve), None);
        reserve.keep(Some(2000));
        assert!(is_about(kept(&reserve), 20.0), "nothing is measured: {:?}", kept(&reserve));
        reserve.measure(1.0, 1000, false);
        assert!(is_about(kept(&reserve), 3.2), "2000 solves at 1000 a second: {:?}", kept(&reserve));
        reserve.measure(0.4, 10, true);
        assert!(is_about(kept(&reserve), 0.8), "the last proof took 0.4 s: {:?}", kept(&reserve));
        reserve.measure(70.0, 100_000, true);
        assert!(is_about(kept(&reserve), 20.0), "a proof that takes most of the time: {:?}", kept(&reserve));
        assert!(reserve.free() && !reserve.free());
        assert_eq!(kept(&reserve), None);
    }
}
