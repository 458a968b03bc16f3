//! Benders cuts: valid inequalities in x that a recourse solve proves.

/// A cut. An optimality cut bounds Q(·, ξ), and with it the worst case, from below by `intercept + slopeᵀx`. A
/// feasibility cut requires `intercept + slopeᵀx ≤ 0` for recourse to exist.
#[derive(Debug, Clone, PartialEq)]
pub struct Cut {
    /// Optimality or feasibility.
    pub kind: CutKind,
    /// Value at x = 0.
    pub intercept: f64,
    /// Slope in x.
    pub slope: Vec<f64>,
}

/// Kind of a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CutKind {
    /// `θ ≥ intercept + slopeᵀx`.
    Optimality,
    /// `0 ≥ intercept + slopeᵀx`.
    Feasibility,
}

impl Cut {
    /// Returns the value at x.
    pub fn at(&self, x: &[f64]) -> f64 {
        self.intercept + self.slope.iter().zip(x).map(|(s, x)| s * x).sum::<f64>()
    }
}
