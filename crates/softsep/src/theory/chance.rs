//! Upper bounds on probabilities, which may say nothing.

/// An upper bound on the probability of something bad.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Chance(f64);

impl Chance {
    /// The bound that says nothing.
    pub const VACUOUS: Self = Self(f64::INFINITY);

    /// A probability is at most this. What is no number says nothing.
    pub fn at_most(bound: f64) -> Self {
        if bound.is_nan() { Self::VACUOUS } else { Self(bound.max(0.0)) }
    }

    /// The number as the formula gives it, above 1 where it says nothing.
    pub fn bound(self) -> f64 {
        self.0
    }

    /// The bound, if it says something: a probability is below 1 only if it is shown to be.
    pub fn informative(self) -> Option<f64> {
        (self.0 < 1.0).then_some(self.0)
    }

    /// The smaller of two bounds on the same probability.
    pub fn or(self, other: Self) -> Self {
        Self(self.0.min(other.0))
    }
}
