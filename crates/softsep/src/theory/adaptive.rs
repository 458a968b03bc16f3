//! Identification where the number of transitions adapts to how far the incumbent jumped (Corollary 1), and
//! certification by repeated calls.

use super::identification::remembered;
use super::{Chance, Finite};

/// Corollary 1: one transition where the incumbent moved by at most `threshold/κ^power` since the last call, g(κ) of
/// them elsewhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Adaptive {
    /// What Theorem 3 needs.
    pub finite: Finite,
    /// c₀.
    pub threshold: f64,
    /// p.
    pub power: f64,
}

impl Adaptive {
    /// 2c₀η̄L'_Q/(Δ* − 4ε).
    fn restless(&self) -> Option<f64> {
        self.finite.unrest().map(|unrest| self.threshold * self.finite.mixing.dobrushin() * unrest)
    }

    /// g(κ): the transitions after a jump, the κ-th call before it. `None` if no number will do: the gap is within the
    /// error of scores, or the chain does not mix, or not even the smallest movement is allowed for.
    pub fn transitions(&self, calls: u64) -> Option<u64> {
        let restless = self.restless()?;
        // Where scores do not move with x, or one transition forgets everything, one is enough.
        if self.finite.lipschitz == 0.0 || self.finite.mixing.gamma() == 1.0 {
            return Some(1);
        }
        let needed = (self.power * (calls.max(1) as f64).ln() - restless.ln()) / self.finite.mixing.rate();
        needed.is_finite().then_some(needed.ceil().max(1.0) as u64)
    }

    /// The bound after κ ≥ 1 calls, as a sum: how likely the state is not a worst scenario of the incumbent it was last
    /// asked for.
    pub fn missed(&self, calls: u64) -> Chance {
        let Some(restless) = self.restless().filter(|_| calls >= 1) else { return Chance::VACUOUS };
        let moved = if restless == 0.0 {
            0.0
        } else {
            restless * remembered(self.finite.mixing, calls, |t| (t as f64).powf(-self.power))
        };
        Chance::at_most(self.finite.mixing.left_after((calls - 1) as f64) + moved + self.finite.lasting(calls - 1))
    }

    /// δ̂(κ): the same in closed form, and somewhat larger.
    pub fn missed_closed(&self, calls: u64) -> Chance {
        let Some(restless) = self.restless().filter(|_| calls >= 1) else { return Chance::VACUOUS };
        let mixing = self.finite.mixing;
        let moved =
            if restless == 0.0 { 0.0 } else { restless * self.tail_constant() * (calls as f64).powf(-self.power) };
        Chance::at_most(self.finite.leak() / mixing.gamma() + mixing.left_after((calls - 1) as f64) + moved)
    }

    /// C with Σ η̄^(κ−1−t)·t^(−p) ≤ C·κ^(−p).
    fn tail_constant(&self) -> f64 {
        let (mixing, p) = (self.finite.mixing, self.power);
        let late = 2.0_f64.powf(p);
        let early = (2.0 * p / (std::f64::consts::E * mixing.rate())).powf(p) / mixing.dobrushin().sqrt();
        (late + early) / mixing.gamma()
    }

    /// The certification that goes with it.
    pub fn certification(&self, false_rate: f64) -> Certification {
        Certification { adaptive: *self, false_rate }
    }
}

/// Certification of upper bounds in branch and cut, so that all of them together are wrong with probability
/// `false_rate` at most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certification {
    adaptive: Adaptive,
    false_rate: f64,
}

impl Certification {
    /// ρ = η̄ + (|I| − 1)·exp(−(Δ* − 2ε)/w): how likely one more transition from a scenario that is not worst misses
    /// the worst ones again.
    pub fn miss(&self) -> Chance {
        Chance::at_most(self.adaptive.finite.mixing.dobrushin() + self.adaptive.finite.leak())
    }

    /// r for the chain labelled j and its k-th call. Labels begin at 1: the paper's algorithm begins at 0, where r = 0
    /// would certify anything.
    pub fn excess(&self, label: u64, calls: u64) -> f64 {
        let (j, k) = (label as f64, calls as f64);
        let missed = self.adaptive.missed_closed(calls);
        j * (j + 1.0) * k * (k + 1.0) / self.false_rate * missed.bound().min(1.0)
    }

    /// ⌈log_(1/ρ) r⌉: the further calls that must all find nothing. `None` if ρ ≥ 1, so that no number of calls
    /// certifies anything.
    pub fn calls(&self, label: u64, calls: u64) -> Option<u64> {
        // ρ is close to 1 where chains mix slowly; 1 − ρ = γ − leak keeps its digits.
        let found = self.adaptive.finite.mixing.gamma() - self.adaptive.finite.leak();
        let needed = self.excess(label, calls).ln() / -(-found).ln_1p();
        (found > 0.0).then(|| needed.ceil().max(0.0) as u64)
    }

    /// The temperature at which ρ ≤ (1 + η̄)/2: (Δ* − 2ε)/ln(2(|I| − 1)/(1 − η̄)), for an η̄ that holds at that
    /// temperature.
    ///
    /// γ = e^(−Δ/w) is no such: it falls with w faster than the leak does, and the condition is never met. For fresh
    /// draws from ν, γ = 1/|I| is (half of it for Barker). `None` for a single state, where any temperature will do.
    pub fn temperature(&self) -> Option<f64> {
        let finite = &self.adaptive.finite;
        let needed = (2.0 * (finite.states - 1.0) / finite.mixing.gamma()).ln();
        (finite.states > 1.0).then(|| ((finite.gap - 2.0 * finite.score_error) / needed).max(0.0))
    }
}
