//! The rate at which chains lose the memory of their start: Doeblin's γ with `P_x(i,·) ≥ γ·μ` for all i and x, and what
//! follows from it (Lemma 4, Examples 5 and 9).

use crate::chain::Acceptance;

/// The mixing rate of one step. Stored as γ, because η̄ = 1 − γ rounds to 1 for tiny γ, which are common.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Mixing(f64);

impl Mixing {
    /// Creates the rate from γ, which is clamped to [0, 1].
    pub fn new(gamma: f64) -> Self {
        Self(if gamma.is_nan() { 0.0 } else { gamma.clamp(0.0, 1.0) })
    }

    /// γ.
    pub fn gamma(self) -> f64 {
        self.0
    }

    /// η̄ = 1 − γ, a bound on Dobrushin's coefficient.
    pub fn dobrushin(self) -> f64 {
        1.0 - self.0
    }

    /// C*, a bound on the norm of the fundamental matrix: (1 + η̄)/(1 − η̄) = (2 − γ)/γ, as in the proof of Lemma 4
    /// before it is rounded up to 2/γ.
    pub fn fundamental(self) -> f64 {
        (2.0 - self.0) / self.0
    }

    /// |ln η̄|; infinite if one step forgets the start.
    pub fn rate(self) -> f64 {
        -(-self.0).ln_1p()
    }

    /// η̄ⁿ: the weight of the start after n steps.
    pub fn contraction_after(self, steps: f64) -> f64 {
        if steps <= 0.0 { 1.0 } else { (-self.rate() * steps).exp() }
    }

    /// The better of two bounds for the same chain.
    pub fn or(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }
}

/// Example 5 and the first part of Example 9, on any space: a fresh draw from ν, where scores differ by Δ at most.
///
/// The last line of Example 9 has e^(−Δ/w) for Barker as well; its derivation gives 1/(1 + e^(Δ/w)).
pub fn uniform_by_spread(acceptance: Acceptance, spread: f64, temperature: f64) -> Mixing {
    let unlikely = (-spread / temperature).exp();
    Mixing::new(match acceptance {
        Acceptance::Metropolis => unlikely,
        Acceptance::Barker => unlikely / (1.0 + unlikely),
    })
}

/// The same proposal, if the density of p_x with respect to ν is at most `exp(log_peak)` for all x: γ = exp(−log_peak),
/// and half of it for Barker.
///
/// The logarithm of the peak is (max − soft maximum)/w, so that any bound on the error of the soft maximum, divided by
/// w, is valid. On n states it is ln(n·p_max), at most ln n, so that γ ≥ 1/n at every temperature.
pub fn uniform_by_peak(acceptance: Acceptance, log_peak: f64) -> Mixing {
    let gamma = (-log_peak).exp();
    Mixing::new(match acceptance {
        Acceptance::Metropolis => gamma,
        Acceptance::Barker => 0.5 * gamma,
    })
}
