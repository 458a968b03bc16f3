//! How likely a chain that follows moving incumbents misses the worst scenarios (Theorems 2 and 3).

use super::{Chance, Mixing};

/// How fast incumbents move: `‖X_n − X_(n−1)‖ ≤ size·n^(−power)`; the size is the paper's c·C_α.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Movement {
    /// The first step's size.
    pub size: f64,
    /// p > 0.
    pub power: f64,
}

impl Movement {
    /// The most that the incumbent moves at step n.
    pub fn at(&self, step: u64) -> f64 {
        self.size * (step as f64).powf(-self.power)
    }
}

/// Theorem 2: any space of states.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct General {
    /// Δ̃: scenarios this close to the worst will do.
    pub slack: f64,
    /// ε: how far scores are from Q.
    pub score_error: f64,
    /// L'_Q.
    pub lipschitz: f64,
    /// L_P in total variation.
    pub kernel: f64,
    /// η̄, as γ.
    pub mixing: Mixing,
    /// How the incumbents move.
    pub movement: Movement,
    /// The ratio of far and near states (see [`super::body_ratio`] and its kin), taken at Δ̃ − 2ε.
    pub ratio: f64,
    /// w.
    pub temperature: f64,
}

impl General {
    /// f(n) = ⌈(p + 1)·ln n/|ln η̄|⌉, the steps back from which the chain is compared with a frozen one; `None` where n
    /// is too small for the theorem, which asks for f(n) < n/2 and for little movement in so many steps.
    ///
    /// At least one step is looked back: where η̄ = 0 the formula gives none, and then the proof compares the state
    /// with itself.
    pub fn window(&self, n: u64) -> Option<u64> {
        if !(self.mixing.gamma() > 0.0) || !(self.slack > 2.0 * self.score_error) {
            return None;
        }
        let window = ((self.movement.power + 1.0) * (n as f64).ln() / self.mixing.rate()).ceil().max(1.0);
        let fits = window < 0.5 * n as f64
            && 4.0 * self.lipschitz * self.moved(window, n) <= self.slack - 2.0 * self.score_error;
        fits.then_some(window as u64)
    }

    /// A bound on the probability that `I_n` is not within Δ̃ of the worst at `X_(n−1)`; `None` where the theorem does
    /// not speak of this n.
    pub fn missed(&self, n: u64) -> Option<Chance> {
        let window = self.window(n)? as f64;
        let forgetting = self.mixing.left_after(window);
        let drift = self.kernel * self.moved(window, n) / self.mixing.gamma();
        Some(Chance::at_most(forgetting + drift + self.unlikely()))
    }

    /// The third term, which no number of steps makes smaller: how likely the soft law itself is off.
    pub fn unlikely(&self) -> f64 {
        let unlikely = self.ratio.ln() - (self.slack - 2.0 * self.score_error) / (4.0 * self.temperature);
        unlikely.exp()
    }

    /// 2^p·c·C_α·f(n)·n^(−p): how far the incumbent can have come in the window.
    fn moved(&self, window: f64, n: u64) -> f64 {
        2.0_f64.powf(self.movement.power) * window * self.movement.at(n)
    }
}

/// Theorem 3: finitely many states, where the worst scenarios are ahead of all others by a gap at every incumbent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Finite {
    /// |I|; a floating-point number as there may be more than any integer holds.
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
    /// (|I| − 1)·exp(−(Δ* − 2ε)/w): the most likely that a chain at a worst scenario leaves it in one step.
    pub fn leak(&self) -> f64 {
        if self.states <= 1.0 {
            return 0.0;
        }
        ((self.states - 1.0).ln() - (self.gap - 2.0 * self.score_error) / self.temperature).exp()
    }

    /// 2L'_Q/(Δ* − 4ε): per unit that the incumbent moves, how likely the worst scenarios change. `None` if there is no
    /// gap left.
    pub fn unrest(&self) -> Option<f64> {
        let gap = self.gap - 4.0 * self.score_error;
        (gap > 0.0).then_some(2.0 * self.lipschitz / gap)
    }

    /// The first form, for n ≥ 2: a bound on the probability that `I_n` is not a worst scenario of `X_(n−1)`. `start`
    /// bounds that of `I_1` and `X_0`; 1 always does.
    pub fn tracked(&self, n: u64, start: f64, movement: Movement) -> Chance {
        let Some(unrest) = self.unrest().filter(|_| n >= 2) else { return Chance::VACUOUS };
        Chance::at_most(
            self.mixing.left_after((n - 1) as f64) * start
                + self.mixing.dobrushin() * unrest * remembered(self.mixing, n, |t| movement.at(t))
                + self.lasting(n - 1),
        )
    }

    /// n₀: from here on incumbents move too little for the worst scenarios to change.
    pub fn settles_at(&self, movement: Movement) -> Option<u64> {
        let ratio = self.unrest()? * movement.size;
        let last = ratio.powf(1.0 / movement.power).ceil();
        // A float beyond the integers becomes the largest of them.
        Some((last as u64).saturating_add(1).max(2))
    }

    /// The second form, for n ≥ n₀. The recursion starts at n₀ and gathers n − n₀ leaks; the paper rounds that up to n
    /// − 1.
    pub fn settled(&self, n: u64, movement: Movement) -> Chance {
        match self.settles_at(movement) {
            Some(first) if n >= first => {
                Chance::at_most(self.mixing.left_after((n - first) as f64) + self.lasting(n - first))
            }
            _ => Chance::VACUOUS,
        }
    }

    /// The better of both forms, from an arbitrary start.
    pub fn missed(&self, n: u64, movement: Movement) -> Chance {
        self.tracked(n, 1.0, movement).or(self.settled(n, movement))
    }

    /// An n after which an incumbent that stands still is missed with at most this probability, from any start; `None`
    /// if the leak alone is more likely.
    pub fn steps_until(&self, chance: f64) -> Option<u64> {
        // η̄ᵐ + (1 − η̄ᵐ)·lasting ≤ chance for m = n − 1 ≥ 1.
        let lasting = self.leak() / self.mixing.gamma();
        let needed = ((1.0 - lasting) / (chance - lasting)).ln() / self.mixing.rate();
        (lasting < chance.min(1.0)).then(|| (needed.ceil().max(1.0) as u64).saturating_add(1))
    }

    /// (1 − η̄ⁿ)/(1 − η̄)·leak: what so many steps leave behind for good.
    pub(super) fn lasting(&self, steps: u64) -> f64 {
        let gathered = if self.mixing.gamma() > 0.0 {
            (1.0 - self.mixing.left_after(steps as f64)) / self.mixing.gamma()
        } else {
            steps as f64
        };
        gathered * self.leak()
    }
}

/// Σ over t from 1 to n − 1 of η̄^(n−1−t)·moved(t).
pub(super) fn remembered(mixing: Mixing, n: u64, moved: impl Fn(u64) -> f64) -> f64 {
    (1..n).fold(0.0, |sum, t| mixing.dobrushin() * sum + moved(t))
}
