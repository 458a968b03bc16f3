//! Identification with a number of transitions that adapts to the movement of the incumbent: Corollary 1, with g(κ) of
//! eq. (transition-budget).

use super::identification::discounted_sum;
use super::{Certification, Chance, Finite};

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
        // If scores do not depend on x, or one transition is independent of the start, one transition suffices.
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

    /// The certification with these constants: ρ and δ̂ as printed.
    pub fn certification(&self, false_rate: f64) -> Certification {
        Certification::tracked(*self, false_rate)
    }

    /// c₀ at which the constant inside the logarithm of g(κ) is 1, (Δ* − 4ε)/(2η̄L'_Q): a smaller one allows less
    /// movement with one transition, a larger one makes δ̂ larger. `None` where no movement matters, because scores do
    /// not depend on x or one transition forgets the start, and where Δ* ≤ 4ε.
    pub fn unit_threshold(finite: &Finite) -> Option<f64> {
        let threshold = (finite.mixing.dobrushin() * finite.change_rate()?).recip();
        threshold.is_finite().then_some(threshold)
    }
}
