//! The soft maximum (Mellowmax) of scores, its law, and its distance from the maximum.

/// `w·ln Σ ν(i)·exp(score(i)/w)` for weights ν that sum to one; equal weights if `None`. Returns −∞ without scores.
pub fn mellowmax(scores: &[f64], weights: Option<&[f64]>, temperature: f64) -> f64 {
    let most = largest(scores);
    if !most.is_finite() {
        return most;
    }
    let tilted = |score: f64| ((score - most) / temperature).exp();
    let mean = match weights {
        Some(weights) => scores.iter().zip(weights).map(|(&score, weight)| weight * tilted(score)).sum::<f64>(),
        None => scores.iter().map(|&score| tilted(score)).sum::<f64>() / scores.len() as f64,
    };
    // A mean of numbers up to one; rounding must not raise the soft maximum above the maximum.
    most + temperature * mean.min(1.0).ln()
}

/// The soft adversarial law `p(i) ∝ ν(i)·exp(score(i)/w)`; if some scores are infinite, their states share all mass.
pub fn soft_law(scores: &[f64], weights: Option<&[f64]>, temperature: f64) -> Vec<f64> {
    let most = largest(scores);
    let tilted = |score: f64| if score == most { 1.0 } else { ((score - most) / temperature).exp() };
    let mut law: Vec<f64> = match weights {
        Some(weights) => scores.iter().zip(weights).map(|(&score, weight)| weight * tilted(score)).collect(),
        None => scores.iter().map(|&score| tilted(score)).collect(),
    };
    let sum: f64 = law.iter().sum();
    law.iter_mut().for_each(|share| *share /= sum);
    law
}

fn largest(scores: &[f64]) -> f64 {
    scores.iter().fold(f64::NEG_INFINITY, |most, &score| most.max(score))
}

/// Lemma 2: an upper bound on maximum minus soft maximum on finitely many states of equal weight. The soft maximum is
/// never above the maximum.
pub fn finite_error(states: f64, temperature: f64) -> f64 {
    temperature * states.max(1.0).ln()
}

/// The constants of the general bound (the proposition of EC.4, "General Mellowmax Approximation") for scores on a
/// metric space of states.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetricSpace {
    /// L: the Lipschitz constant of the scores.
    pub lipschitz: f64,
    /// D: the largest distance between two states.
    pub diameter: f64,
    /// d: a ball of radius r has mass at least `mass·(r/D)^d`.
    pub dim: f64,
    /// c, at most 1.
    pub mass: f64,
}

impl MetricSpace {
    /// A convex body of full dimension with the uniform law. Mass 1 is valid: shrink the body toward a point.
    pub fn body(dim: usize, diameter: f64, lipschitz: f64) -> Self {
        Self { lipschitz, diameter, dim: dim as f64, mass: 1.0 }
    }

    /// The unit sphere of `dim` coordinates with the uniform law and geodesic distances.
    ///
    /// Mass 1 is valid here too: the ratio of a cap's weight to θ^(dim−1) has the ratio of derivatives (sin
    /// θ/θ)^(dim−2), which decreases. The ratio itself therefore decreases, and is smallest for the entire sphere.
    pub fn sphere(dim: usize, lipschitz: f64) -> Self {
        Self { lipschitz, diameter: std::f64::consts::PI, dim: dim.saturating_sub(1) as f64, mass: 1.0 }
    }

    /// An upper bound on maximum minus soft maximum: the minimum over `0 < r ≤ D` of `L·r + w·ln(1/c) + d·w·ln(D/r)`,
    /// attained at `r = min(D, d·w/L)`. The paper gives the closed form for `d·w ≤ L·D` only; for larger w the minimum
    /// is at r = D.
    ///
    /// No score is more than L·D below another, so that L·D is a bound as well; it matters if c < 1.
    pub fn error(&self, temperature: f64) -> f64 {
        let Self { lipschitz, diameter, dim, mass } = *self;
        let (range, spread) = (lipschitz * diameter, dim * temperature);
        let by_balls = temperature * (1.0 / mass).ln()
            + if spread <= range { spread * (1.0 + (range / spread).ln()) } else { range };
        by_balls.min(range)
    }
}
