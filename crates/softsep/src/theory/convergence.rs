//! Bounds on the distance of the averages of Algorithm 1 from the optimum: of the soft problem at a fixed temperature
//! (Proposition 1, Theorems 1 and 4), of the problem itself with a temperature that falls (Proposition 2).

use super::{kernel_rows, temperature_at};
use crate::chain::Acceptance;

/// A bound `inverse/α₀ + constant + linear·α₀` for the steps α_k = α₀/√k.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepBound {
    /// The coefficient of 1/α₀.
    pub inverse: f64,
    /// The part that does not depend on α₀.
    pub constant: f64,
    /// The coefficient of α₀.
    pub linear: f64,
}

impl StepBound {
    /// The bound for this α₀.
    pub fn at(&self, first_step: f64) -> f64 {
        self.inverse / first_step + self.constant + self.linear * first_step
    }

    /// The α₀ with the least bound.
    pub fn best_first_step(&self) -> f64 {
        (self.inverse / self.linear).sqrt()
    }

    /// The least bound over all α₀.
    pub fn least(&self) -> f64 {
        self.constant + 2.0 * (self.inverse * self.linear).sqrt()
    }
}

/// L_p: the sum of absolute differences of p_x and p_x' is at most this times ‖x − x'‖ (Lemma "Lipschitz continuity of
/// the target distribution"). Half of it would do, as a mean absolute deviation is at most half the range; the
/// constants of Proposition 1 are written with this one.
pub fn law_modulus(lipschitz: f64, temperature: f64) -> f64 {
    2.0 * lipschitz / temperature
}

/// The constants of Theorem 1, and of Theorem 4 on any state space. Norms are Euclidean.
///
/// Theorem 4 is Theorem 1 with operators in place of matrices: L_P in total variation is half of the sum of absolute
/// differences, and C* = (1 + η̄)/(1 − η̄) as here ([`super::Mixing::fundamental`]). It is stated for Metropolis; its
/// proof takes either rule. The scores are exact (ε = 0).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DescentConstants {
    /// L_f: the Lipschitz constant of f.
    pub lipschitz_f: f64,
    /// L'_Q: the Lipschitz constant of Q in x.
    pub lipschitz_q: f64,
    /// D: the diameter of X.
    pub diameter: f64,
    /// C*: a bound on the fundamental matrix.
    pub fundamental: f64,
    /// w.
    pub temperature: f64,
    /// The acceptance rule, which determines L_P.
    pub acceptance: Acceptance,
}

impl DescentConstants {
    /// B_Z = 2C*·D·L'_Q.
    pub fn poisson_size(&self) -> f64 {
        2.0 * self.fundamental * self.diameter * self.lipschitz_q
    }

    /// L_Z = C*(2L'_Q + D·L'_Q·L_p) + 2C*²·D·L'_Q·(L_P + L_p).
    pub fn poisson_modulus(&self) -> f64 {
        let (reach, l_p) = (self.diameter * self.lipschitz_q, law_modulus(self.lipschitz_q, self.temperature));
        self.fundamental * (2.0 * self.lipschitz_q + reach * l_p)
            + 2.0 * self.fundamental.powi(2) * reach * (self.kernel() + l_p)
    }

    /// C₀ = 4B_Z·α₁.
    pub fn c0(&self, first_step: f64) -> f64 {
        4.0 * self.poisson_size() * first_step
    }

    /// C₁ = 2(L'_Q + L_f)(L_P·B_Z + L_Z).
    pub fn c1(&self) -> f64 {
        2.0 * self.steepness() * self.drift()
    }

    /// Theorem 1 for the step-size average after n steps: a bound on `E F_w(average) − min F_w`. The steps must be
    /// nonincreasing.
    ///
    /// The displayed bound is for this average only; [`Self::linear_average`] is the bound that the proof gives for the
    /// other.
    pub fn step_size_average(&self, start_distance: f64, steps: u64, step: impl Fn(u64) -> f64) -> f64 {
        let (mut sum, mut squares) = (0.0, 0.0);
        for k in 1..=steps {
            let alpha = step(k);
            sum += alpha;
            squares += alpha * alpha;
        }
        let square_term = (self.c1() + 3.0 * self.steepness().powi(2)) * squares;
        (start_distance.powi(2) + self.c0(step(1)) + square_term) / (2.0 * sum)
    }

    /// Theorem 1 for the linear average `Σ k·x_k / Σ k`.
    pub fn linear_average(&self, steps: u64, step: impl Fn(u64) -> f64) -> f64 {
        let (mut now, mut next) = (0.0, 0.0);
        for k in 1..=steps {
            let alpha = step(k);
            now += k as f64 * alpha;
            if k < steps {
                next += (k + 1) as f64 * alpha;
            }
        }
        let n = steps as f64;
        let bracket = self.diameter.powi(2) * n / (2.0 * step(steps))
            + 2.0 * n * self.poisson_size()
            + 1.5 * self.steepness().powi(2) * now
            + self.steepness() * self.drift() * next;
        2.0 / (n * (n + 1.0)) * bracket
    }

    /// [`Self::step_size_average`] for the steps α₀/√k.
    pub fn step_size_bound(&self, start_distance: f64, steps: u64) -> StepBound {
        let (mut sum, mut squares) = (0.0, 0.0);
        for k in 1..=steps {
            sum += (k as f64).sqrt().recip();
            squares += (k as f64).recip();
        }
        StepBound {
            inverse: 0.5 * start_distance.powi(2) / sum,
            constant: 0.5 * self.c0(1.0) / sum,
            linear: 0.5 * (self.c1() + 3.0 * self.steepness().powi(2)) * squares / sum,
        }
    }

    /// [`Self::linear_average`] for the steps α₀/√k.
    pub fn linear_bound(&self, steps: u64) -> StepBound {
        let n = steps as f64;
        let (mut now, mut next) = (0.0, 0.0);
        for k in 1..=steps {
            let root = (k as f64).sqrt();
            now += root;
            next += if k < steps { (k + 1) as f64 / root } else { 0.0 };
        }
        let share = 2.0 / (n * (n + 1.0));
        StepBound {
            inverse: share * 0.5 * self.diameter.powi(2) * n * n.sqrt(),
            constant: share * 2.0 * n * self.poisson_size(),
            linear: share * self.steepness() * (1.5 * self.steepness() * now + self.drift() * next),
        }
    }

    fn steepness(&self) -> f64 {
        self.lipschitz_f + self.lipschitz_q
    }

    fn kernel(&self) -> f64 {
        kernel_rows(self.acceptance, self.lipschitz_q, self.temperature)
    }

    /// L_P·B_Z + L_Z.
    fn drift(&self) -> f64 {
        self.kernel() * self.poisson_size() + self.poisson_modulus()
    }
}

/// Proposition 2: the linear average with the temperatures of [`temperature_at`], on finitely many states. The
/// proposition states a rate; this is the bound that its proof gives, if the gap Δ* holds at every incumbent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cooling {
    /// The constants of Theorem 1; C* holds at every temperature, and the temperature is not used.
    pub descent: DescentConstants,
    /// |I|.
    pub states: f64,
    /// Δ*.
    pub gap: f64,
    /// Δ.
    pub spread: f64,
}

impl Cooling {
    /// The most that P·Z changes per unit of x and per unit of 1/w, between temperatures of which the larger one is w:
    /// Z solves the Poisson equation. The proof rounds the former up for w ≤ 1.
    pub fn poisson_moduli(&self, temperature: f64) -> [f64; 2] {
        let DescentConstants { lipschitz_q, diameter, fundamental, acceptance, .. } = self.descent;
        let (of_law, of_kernel) = (fundamental + 1.0 + 2.0 * fundamental.powi(2), 2.0 * fundamental.powi(2));
        let reach = diameter * lipschitz_q;
        let rows = kernel_rows(acceptance, lipschitz_q, temperature);
        let by_x = 2.0 * (fundamental + 1.0) * lipschitz_q
            + of_law * reach * law_modulus(lipschitz_q, temperature)
            + of_kernel * reach * rows;
        // An acceptance ratio changes by Δ per unit of 1/w where it changes by 2L'_Q/w per unit of x.
        let rows_by_inverse = kernel_rows(acceptance, 0.5 * self.spread, 1.0);
        [by_x, of_law * reach * 2.0 * self.spread + of_kernel * reach * rows_by_inverse]
    }

    /// The bound after n steps α₀/√k on `E F(average) − min F`.
    pub fn linear_bound(&self, steps: u64) -> StepBound {
        let (n, steepness) = (steps as f64, self.descent.steepness());
        let inverse_temperature = |k: u64| temperature_at(k, self.gap, self.states).recip();
        let (mut moved, mut rest) = (0.0, 2.0 * n * self.descent.poisson_size());
        for k in 1..=steps {
            let root = (k as f64).sqrt();
            moved += 1.5 * steepness.powi(2) * root;
            // The cost that the soft law loses on states that are not the worst.
            rest += k as f64 * self.spread * (self.states - 1.0) * (-self.gap * inverse_temperature(k - 1)).exp();
            if k < steps {
                let [by_x, by_inverse] = self.poisson_moduli(temperature_at(k - 1, self.gap, self.states));
                moved += (k + 1) as f64 * by_x * steepness / root;
                rest += (k + 1) as f64 * by_inverse * (inverse_temperature(k) - inverse_temperature(k - 1));
            }
        }
        let share = 2.0 / (n * (n + 1.0));
        let inverse = share * 0.5 * self.descent.diameter.powi(2) * n * n.sqrt();
        StepBound { inverse, constant: share * rest, linear: share * moved }
    }
}
