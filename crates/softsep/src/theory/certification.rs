//! Certification of upper bounds by repeated calls of the oracle: ρ and r of eq. (certification-calls), and the number
//! of calls that follows from them.

use super::{Adaptive, Chance, Finite};

/// Certification in branch and cut, such that the probability that any certified bound is wrong is at most
/// `false_rate` (ε_false).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certification {
    /// 1 − ρ, which stays exact where ρ rounds to 1. Not positive where nothing can be certified.
    detection: f64,
    /// The constants of δ̂; without them δ̂ is 1.
    adaptive: Option<Adaptive>,
    false_rate: f64,
}

impl Certification {
    /// ρ = η̄ + (|I| − 1)·exp(−(Δ* − 2ε)/w) and δ̂ of Corollary 1.
    pub(super) fn tracked(adaptive: Adaptive, false_rate: f64) -> Self {
        Self { detection: adaptive.finite.detection(), adaptive: Some(adaptive), false_rate }
    }

    /// A transition from a scenario that is not worst finds a worst one with probability at least `detection` = 1 − ρ;
    /// nothing is known of the state that the calls start from, so that δ̂ = 1.
    pub fn untracked(detection: f64, false_rate: f64) -> Self {
        Self { detection, adaptive: None, false_rate }
    }

    /// ρ: the probability that one more transition from a scenario that is not worst misses the worst scenarios again.
    pub fn miss(&self) -> Chance {
        Chance::at_most(1.0 - self.detection)
    }

    /// 1 − ρ.
    pub fn detection(&self) -> f64 {
        self.detection
    }

    /// r = j(j + 1)k(k + 1)/ε_false·min{1, δ̂(k)} for chain j and its k-th call. Labels start at 1: the paper's
    /// algorithm starts at 0, where r = 0 would certify any bound.
    pub fn excess(&self, label: u64, calls: u64) -> f64 {
        let (j, k) = (label as f64, calls as f64);
        let missed = self.adaptive.map_or(1.0, |adaptive| adaptive.miss_probability_closed(calls).bound().min(1.0));
        j * (j + 1.0) * k * (k + 1.0) / self.false_rate * missed
    }

    /// max{0, ⌈log_(1/ρ) r⌉}: the number of further calls that must all find no worse scenario. `None` if ρ ≥ 1, so
    /// that no number of calls certifies a bound.
    pub fn calls(&self, label: u64, calls: u64) -> Option<u64> {
        let excess = self.excess(label, calls);
        // For ρ = 0 the logarithm is zero, and one call still has to be made.
        let least = if excess > 1.0 { 1.0 } else { 0.0 };
        let needed = excess.ln() / -(-self.detection.min(1.0)).ln_1p();
        (self.detection > 0.0).then(|| needed.ceil().max(least) as u64)
    }

    /// The temperature at which ρ ≤ (1 + η̄)/2, see [`Finite::certifying_temperature`]. `None` without its constants.
    pub fn temperature(&self) -> Option<f64> {
        self.adaptive.and_then(|adaptive| adaptive.finite.certifying_temperature())
    }
}

impl Finite {
    /// 1 − ρ = 1 − η̄ − (|I| − 1)·exp(−(Δ* − 2ε)/w): the least probability that a transition from a scenario that is
    /// not worst finds a worst one (eq. certification-detection). Not positive where nothing is known of it.
    pub fn detection(&self) -> f64 {
        self.mixing.gamma() - self.leak()
    }

    /// The temperature at which ρ ≤ (1 + η̄)/2: (Δ* − 2ε)/ln(2(|I| − 1)/(1 − η̄)), for an η̄ that is valid at that
    /// temperature.
    ///
    /// γ = e^(−Δ/w) is not valid: it decreases with w faster than the leak does, and the condition never holds. For
    /// independent draws from ν, γ = 1/|I| is valid (half of it for Barker). `None` for a single state, for which any
    /// temperature is valid.
    pub fn certifying_temperature(&self) -> Option<f64> {
        let needed = (2.0 * (self.states - 1.0) / self.mixing.gamma()).ln();
        (self.states > 1.0).then(|| ((self.gap - 2.0 * self.score_error) / needed).max(0.0))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::theory::Mixing;

    /// |I| = 5, Δ⋆ = 6, L' = 3, η̄ = 0.8, w = 1, c₀ = 0.5, p = 1, ε_false = 0.1, by hand: the leak is 4e⁻⁶ =
    /// 0.00991501, ρ = 0.80991501, 2c₀η̄L'/Δ⋆ = 0.4, C = 5·(2 + 2/(e·|ln 0.8|·√0.8)) = 28.432158, and δ̂(k) =
    /// 0.00991501/0.2 + 0.8^(k−1) + 0.4·C/k.
    #[test]
    fn rho_delta_r_and_the_calls_are_as_printed() {
        let mixing = Mixing::new(0.2);
        let finite = Finite { states: 5.0, gap: 6.0, score_error: 0.0, lipschitz: 3.0, mixing, temperature: 1.0 };
        let adaptive = Adaptive { finite, threshold: 0.5, power: 1.0 };
        let close = |value: f64, by_hand: f64| assert!((value / by_hand - 1.0).abs() < 1e-6, "{value}, not {by_hand}");
        let certification = adaptive.certification(0.1);
        close(certification.miss().bound(), 0.809_915_01);
        for (calls, by_hand) in [(1, 12.422_438), (10, 1.321_079), (100, 0.163_303_676), (1000, 0.060_947_907)] {
            close(adaptive.miss_probability_closed(calls).bound(), by_hand);
        }
        // δ̂(1) is above 1: r = 1·2·1·2/0.1. Then 2·3·100·101/0.1·δ̂(100), and so on.
        for (label, calls, r, more) in [(1, 1, 40.0, 18), (2, 100, 98_962.027, 55), (3, 1000, 7_321_062.6, 75)] {
            close(certification.excess(label, calls), r);
            assert_eq!(certification.calls(label, calls), Some(more), "{label} {calls}");
        }
        assert_eq!([1, 10, 100].map(|calls| adaptive.transitions(calls)), [Some(5), Some(15), Some(25)]);
        // c₀ = 6/(2·0.8·3) makes the constant inside the logarithm of g(κ) one.
        close(Adaptive::unit_threshold(&finite).unwrap(), 1.25);
        let unit = Adaptive { threshold: 1.25, ..adaptive };
        assert_eq!([1, 10, 100].map(|calls| unit.transitions(calls)), [Some(1), Some(11), Some(21)]);
    }

    #[test]
    fn without_constants_delta_is_one_and_a_sure_detection_still_takes_a_call() {
        let rho = Certification::untracked(0.1, 0.1);
        assert!((rho.excess(1, 2) - 120.0).abs() < 1e-9);
        // ln 120/|ln 0.9| = 45.44.
        assert_eq!(rho.calls(1, 2), Some(46));
        assert_eq!(Certification::untracked(1.0, 0.1).calls(1, 2), Some(1));
        assert_eq!(Certification::untracked(0.0, 0.1).calls(1, 2), None);
        // A labelled chain with r ≤ 1 needs no further call.
        assert_eq!(Certification::untracked(0.1, 5.0).calls(1, 1), Some(0));
    }
}
