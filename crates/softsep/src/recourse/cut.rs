//! A valid inequality in x that one recourse solve proves.

/// `intercept + slopeᵀx` bounds Q(·, ξ) from below (and with it the worst case), or must not be positive where recourse
/// is to exist.
#[derive(Debug, Clone, PartialEq)]
pub struct Cut {
    /// What the inequality says.
    pub kind: CutKind,
    /// Its value at x = 0.
    pub intercept: f64,
    /// Its slope in x.
    pub slope: Vec<f64>,
}

/// What a cut says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CutKind {
    /// `θ ≥ intercept + slopeᵀx`.
    Optimality,
    /// `0 ≥ intercept + slopeᵀx`.
    Feasibility,
}

impl Cut {
    /// The cut's value at x.
    pub fn at(&self, x: &[f64]) -> f64 {
        self.intercept + self.slope.iter().zip(x).map(|(s, x)| s * x).sum::<f64>()
    }
}
