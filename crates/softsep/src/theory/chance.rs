//! Upper bounds on probabilities, which may be vacuous.

/// An upper bound on the probability of a failure.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Chance(f64);

impl Chance {
    /// The vacuous bound.
    pub const VACUOUS: Self = Self(f64::INFINITY);

    /// The bound with this value; NaN gives the vacuous bound.
    pub fn at_most(bound: f64) -> Self {
        if bound.is_nan() { Self::VACUOUS } else { Self(bound.max(0.0)) }
    }

    /// The value of the formula; a value of at least 1 is vacuous.
    pub fn bound(self) -> f64 {
        self.0
    }

    /// The bound if it is below 1, otherwise `None`.
    pub fn informative(self) -> Option<f64> {
        (self.0 < 1.0).then_some(self.0)
    }

    /// The smaller of two bounds on the same probability.
    pub fn or(self, other: Self) -> Self {
        Self(self.0.min(other.0))
    }
}
