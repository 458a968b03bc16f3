//! A linear row as it is stated.

use super::Terms;

/// A row `lower ≤ Σ terms ≤ upper` of either stage or of a polyhedral set. The owner decides which terms it may have.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Unique within its list.
    pub name: String,
    /// Terms in the recourse variables.
    pub y: Terms,
    /// Terms in the first-stage variables.
    pub x: Terms,
    /// Terms in the uncertain parameters.
    pub xi: Terms,
    /// Lower bound, or −∞.
    pub lower: f64,
    /// Upper bound, or ∞.
    pub upper: f64,
    /// For a row named in a cone, which has no bounds: `Σ terms − offset` is the cone's entry.
    pub offset: Option<f64>,
}

impl Row {
    /// A row without terms or bounds.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            y: Vec::new(),
            x: Vec::new(),
            xi: Vec::new(),
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
            offset: None,
        }
    }
}
