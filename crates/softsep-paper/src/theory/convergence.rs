//! How near the averages of Algorithm 1 come to the optimum of the soft problem (Proposition 1, Theorem 1).

use softsep::internals::chain::Acceptance;
use softsep::internals::theory::kernel_rows;

/// L_p: the sum of absolute differences of p_x and p_x' is at most this times ‖x − x'‖ (Lemma "Lipschitz continuity of
/// the target distribution"). Half of it would do, as a mean absolute deviation is at most half the range; the
/// constants of Proposition 1 are written with this one.
pub fn law_modulus(lipschitz: f64, temperature: f64) -> f64 {
    2.0 * lipschitz / temperature
}

/// The constants of Theorem 1. Norms are Euclidean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Descent {
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

impl Descent {
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
