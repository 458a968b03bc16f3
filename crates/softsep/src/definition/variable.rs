//! A decision variable as it is stated.

use super::Terms;

/// A decision variable of either stage. A bound may be infinite on its own side.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// Unique within its stage.
    pub name: String,
    /// Linear cost.
    pub cost: f64,
    /// Lower bound.
    pub lower: f64,
    /// Upper bound.
    pub upper: f64,
    /// First stage only.
    pub kind: VariableKind,
    /// Recourse only: the coefficients of the cost in ξ.
    pub cost_xi: Terms,
}

impl Variable {
    /// A continuous variable with the default bounds, 0 and infinity.
    pub fn new(name: impl Into<String>, cost: f64) -> Self {
        Self {
            name: name.into(),
            cost,
            lower: 0.0,
            upper: f64::INFINITY,
            kind: VariableKind::Continuous,
            cost_xi: Vec::new(),
        }
    }

    /// A binary variable.
    pub fn binary(name: impl Into<String>, cost: f64) -> Self {
        Self { upper: 1.0, kind: VariableKind::Binary, ..Self::new(name, cost) }
    }

    /// The same variable with other bounds.
    pub fn bounded(mut self, lower: f64, upper: f64) -> Self {
        (self.lower, self.upper) = (lower, upper);
        self
    }
}

/// The values that a first-stage variable may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VariableKind {
    /// Any real number within the bounds.
    #[default]
    Continuous,
    /// Integers within the bounds.
    Integer,
    /// 0 or 1.
    Binary,
}
