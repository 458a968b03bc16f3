//! The probability that a chain misses the worst scenarios of moving incumbents (Theorems 2 and 3).

use super::{Chance, Mixing};

/// A bound on the movement of incumbents: `‖X_n − X_(n−1)‖ ≤ size·n^(−power)`; the size is the paper's c·C_α.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Movement {
    /// The size of the first step.
    pub size: f64,
    /// p > 0.
    pub power: f64,
}

impl Movement {
    /// The largest movement of the incumbent at step n.
    pub fn at(&self, step: u64) -> f64 {
        self.size * (step as f64).powf(-self.power)
    }
}

/// Theorem 2: any state space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct General {
    /// Δ̃: scenarios within this distance of the worst cost count as found.
    pub slack: f64,
    /// ε: the error of the scores relative to Q.
    pub score_error: f64,
    /// L'_Q.
    pub lipschitz: f64,
    /// L_P in total variation.
    pub kernel: f64,
    /// η̄, as γ.
    pub mixing: Mixing,
    /// The movement of the incumbents.
    pub movement: Movement,
    /// The ratio of far and near states (see [`super::body_ratio`] and its variants), at Δ̃ − 2ε.
    pub ratio: f64,
    /// w.
    pub temperature: f64,
}

impl General {
    /// f(n) = ⌈(p + 1)·ln n/|ln η̄|⌉: the number of steps over which the chain is compared with one at a fixed
    /// incumbent. `None` if n is too small for the theorem, which requires f(n) < n/2 and little movement within the
    /// window.
    ///
    /// The window is at least one step: for η̄ = 0 the formula gives zero, and the proof would compare the state with
    /// itself.
    pub fn window(&self, n: u64) -> Option<u64> {
        if !(self.mixing.gamma() > 0.0) || !(self.slack > 2.0 * self.score_error) {
            return None;
        }
        let window = ((self.movement.power + 1.0) * (n as f64).ln() / self.mixing.rate()).ceil().max(1.0);
        let fits = window < 0.5 * n as f64
            && 4.0 * self.lipschitz * self.moved(window, n) <= self.slack - 2.0 * self.score_error;
        fits.then_some(window as u64)
    }

    /// A bound on the probability that `I_n` is not within Δ̃ of the worst cost at `X_(n−1)`; `None` if the theorem
    /// does not apply to this n.
    pub fn miss_probability(&self, n: u64) -> Option<Chance> {
        let window = self.window(n)? as f64;
        let forgetting = self.mixing.contraction_after(window);
        let drift = self.kernel * self.moved(window, n) / self.mixing.gamma();
        Some(Chance::at_most(forgetting + drift + self.stationary_miss()))
    }

    /// The third term, which is independent of the number of steps: the probability that the soft law itself misses.
    pub fn stationary_miss(&self) -> f64 {
        let unlikely = self.ratio.ln() - (self.slack - 2.0 * self.score_error) / (4.0 * self.temperature);
        unlikely.exp()
    }

    /// 2^p·c·C_α·f(n)·n^(−p): the largest movement of the incumbent within the window.
    fn moved(&self, window: f64, n: u64) -> f64 {
        2.0_f64.powf(self.movement.power) * window * self.movement.at(n)
    }
}

/// Theorem 3: finitely many states, with a gap between the worst scenarios and all others at every incumbent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Finite {
    /// |I|, as a floating-point number because it may exceed the range of integers.
    pub states: f64,
    /// Δ*, above 4ε.
    pub gap: f64,
    /// ε.
    pub score_error: f64,
    /// L'_Q.
    pub lipschitz: f64,
    /// η̄, as γ.
    pub mixing: Mixing,
    /// w.
    pub temperature: f64,
}

impl Finite {
    /// (|I| − 1)·exp(−(Δ* − 2ε)/w): a bound on the probability that a chain at a worst scenario leaves it in one step.
    pub fn leak(&self) -> f64 {
        if self.states <= 1.0 {
            return 0.0;
        }
        ((self.states - 1.0).ln() - (self.gap - 2.0 * self.score_error) / self.temperature).exp()
    }

    /// 2L'_Q/(Δ* − 4ε): a bound on the probability that the worst scenarios change, per unit of movement of the
    /// incumbent. `None` if Δ* ≤ 4ε.
    pub fn change_rate(&self) -> Option<f64> {
        let gap = self.gap - 4.0 * self.score_error;
        (gap > 0.0).then_some(2.0 * self.lipschitz / gap)
    }

    /// The first form, for n ≥ 2: a bound on the probability that `I_n` is not a worst scenario of `X_(n−1)`. `start`
    /// bounds the probability for `I_1` and `X_0`; 1 is always valid.
    pub fn tracked(&self, n: u64, start: f64, movement: Movement) -> Chance {
        let Some(rate) = self.change_rate().filter(|_| n >= 2) else { return Chance::VACUOUS };
        Chance::at_most(
            self.mixing.contraction_after((n - 1) as f64) * start
                + self.mixing.dobrushin() * rate * discounted_sum(self.mixing, n, |t| movement.at(t))
                + self.accumulated_leak(n - 1),
        )
    }

    /// n₀: the first n from which the movement of incumbents is too small to change the worst scenarios.
    pub fn settles_at(&self, movement: Movement) -> Option<u64> {
        let ratio = self.change_rate()? * movement.size;
        let last = ratio.powf(1.0 / movement.power).ceil();
        // The conversion of a float saturates at the largest integer.
        Some((last as u64).saturating_add(1).max(2))
    }

    /// The second form, for n ≥ n₀. The recursion starts at n₀ and accumulates n − n₀ leaks; the paper rounds that up
    /// to n − 1.
    pub fn settled(&self, n: u64, movement: Movement) -> Chance {
        match self.settles_at(movement) {
            Some(first) if n >= first => {
                Chance::at_most(self.mixing.contraction_after((n - first) as f64) + self.accumulated_leak(n - first))
            }
            _ => Chance::VACUOUS,
        }
    }

    /// The better of both forms, from an arbitrary start.
    pub fn miss_probability(&self, n: u64, movement: Movement) -> Chance {
        self.tracked(n, 1.0, movement).or(self.settled(n, movement))
    }

    /// A number of steps after which the worst scenarios of a fixed incumbent are missed with at most this probability,
    /// from any start; `None` if the leak alone exceeds it.
    pub fn steps_until(&self, chance: f64) -> Option<u64> {
        // η̄ᵐ + (1 − η̄ᵐ)·leak/γ ≤ chance for m = n − 1 ≥ 1.
        let leak = self.leak() / self.mixing.gamma();
        let needed = ((1.0 - leak) / (chance - leak)).ln() / self.mixing.rate();
        (leak < chance.min(1.0)).then(|| (needed.ceil().max(1.0) as u64).saturating_add(1))
    }

    /// (1 − η̄ⁿ)/(1 − η̄)·leak: the contribution of the leak over n steps.
    pub(super) fn accumulated_leak(&self, steps: u64) -> f64 {
        let gathered = if self.mixing.gamma() > 0.0 {
            (1.0 - self.mixing.contraction_after(steps as f64)) / self.mixing.gamma()
        } else {
            steps as f64
        };
        gathered * self.leak()
    }
}

/// Σ over t from 1 to n − 1 of η̄^(n−1−t)·moved(t).
pub(super) fn discounted_sum(mixing: Mixing, n: u64, moved: impl Fn(u64) -> f64) -> f64 {
    (1..n).fold(0.0, |sum, t| mixing.dobrushin() * sum + moved(t))
}
