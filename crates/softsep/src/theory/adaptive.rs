//! Identification with a number of transitions that adapts to the movement of the incumbent (Corollary 1), and
//! certification by repeated calls.

use super::identification::discounted_sum;
use super::{Chance, Finite};

/// Corollary 1: one transition if the incumbent moved by at most `threshold/κ^power` since the last call, and g(κ)
/// transitions otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Adaptive {
    /// The constants of Theorem 3.
    pub finite: Finite,
    /// c₀.
    pub threshold: f64,
    /// p.
    pub power: f64,
}

impl Adaptive {
    /// 2c₀η̄L'_Q/(Δ* − 4ε).
    fn scaled_rate(&self) -> Option<f64> {
        self.finite.change_rate().map(|rate| self.threshold * self.finite.mixing.dobrushin() * rate)
    }

    /// g(κ): the number of transitions after a jump of the incumbent, after κ calls. `None` if no number suffices: the
    /// gap is within the error of the scores, the chain does not mix, or the allowed movement is zero.
    pub fn transitions(&self, calls: u64) -> Option<u64> {
        let scaled_rate = self.scaled_rate()?;
        // If scores do not depend on x, or one transition forgets the start, one transition suffices.
        if self.finite.lipschitz == 0.0 || self.finite.mixing.gamma() == 1.0 {
            return Some(1);
        }
        let needed = (self.power * (calls.max(1) as f64).ln() - scaled_rate.ln()) / self.finite.mixing.rate();
        needed.is_finite().then_some(needed.ceil().max(1.0) as u64)
    }

    /// The bound after κ ≥ 1 calls, as a sum: the probability that the state is not a worst scenario of the incumbent
    /// of the last call.
    pub fn miss_probability(&self, calls: u64) -> Chance {
        let Some(scaled_rate) = self.scaled_rate().filter(|_| calls >= 1) else { return Chance::VACUOUS };
        let moved = if scaled_rate == 0.0 {
            0.0
        } else {
            scaled_rate * discounted_sum(self.finite.mixing, calls, |t| (t as f64).powf(-self.power))
        };
        Chance::at_most(
            self.finite.mixing.contraction_after((calls - 1) as f64) + moved + self.finite.accumulated_leak(calls - 1),
        )
    }

    /// δ̂(κ): the same bound in closed form, which is somewhat larger.
    pub fn miss_probability_closed(&self, calls: u64) -> Chance {
        let Some(scaled_rate) = self.scaled_rate().filter(|_| calls >= 1) else { return Chance::VACUOUS };
        let mixing = self.finite.mixing;
        let moved = if scaled_rate == 0.0 {
            0.0
        } else {
            scaled_rate * self.tail_constant() * (calls as f64).powf(-self.power)
        };
        Chance::at_most(self.finite.leak() / mixing.gamma() + mixing.contraction_after((calls - 1) as f64) + moved)
    }

    /// C with Σ η̄^(κ−1−t)·t^(−p) ≤ C·κ^(−p).
    fn tail_constant(&self) -> f64 {
        let (mixing, p) = (self.finite.mixing, self.power);
        let late = 2.0_f64.powf(p);
        let early = (2.0 * p / (std::f64::consts::E * mixing.rate())).powf(p) / mixing.dobrushin().sqrt();
        (late + early) / mixing.gamma()
    }

    /// The certification with these constants.
    pub fn certification(&self, false_rate: f64) -> Certification {
        Certification { adaptive: *self, false_rate }
    }
}

/// Certification of upper bounds in branch and cut, such that the probability that any of them is wrong is at most
/// `false_rate`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certification {
    adaptive: Adaptive,
    false_rate: f64,
}

impl Certification {
    /// ρ = η̄ + (|I| − 1)·exp(−(Δ* − 2ε)/w): the probability that one more transition from a scenario that is not worst
    /// misses the worst scenarios again.
    pub fn miss(&self) -> Chance {
        Chance::at_most(self.adaptive.finite.mixing.dobrushin() + self.adaptive.finite.leak())
    }

    /// r for chain j and its k-th call. Labels start at 1: the paper's algorithm starts at 0, where r = 0 would certify
    /// any bound.
    pub fn excess(&self, label: u64, calls: u64) -> f64 {
        let (j, k) = (label as f64, calls as f64);
        let miss = self.adaptive.miss_probability_closed(calls);
        j * (j + 1.0) * k * (k + 1.0) / self.false_rate * miss.bound().min(1.0)
    }

    /// ⌈log_(1/ρ) r⌉: the number of further calls that must all find no worse scenario. `None` if ρ ≥ 1, so that no
    /// number of calls certifies a bound.
    pub fn calls(&self, label: u64, calls: u64) -> Option<u64> {
        // ρ is close to 1 for slowly mixing chains; 1 − ρ = γ − leak avoids cancellation.
        let found = self.adaptive.finite.mixing.gamma() - self.adaptive.finite.leak();
        let needed = self.excess(label, calls).ln() / -(-found).ln_1p();
        (found > 0.0).then(|| needed.ceil().max(0.0) as u64)
    }

    /// The temperature at which ρ ≤ (1 + η̄)/2: (Δ* − 2ε)/ln(2(|I| − 1)/(1 − η̄)), for an η̄ that is valid at that
    /// temperature.
    ///
    /// γ = e^(−Δ/w) is not valid: it decreases with w faster than the leak does, and the condition never holds. For
    /// independent draws from ν, γ = 1/|I| is valid (half of it for Barker). `None` for a single state, for which any
    /// temperature is valid.
    pub fn temperature(&self) -> Option<f64> {
        let finite = &self.adaptive.finite;
        let needed = (2.0 * (finite.states - 1.0) / finite.mixing.gamma()).ln();
        (finite.states > 1.0).then(|| ((finite.gap - 2.0 * finite.score_error) / needed).max(0.0))
    }
}
