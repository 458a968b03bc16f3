//! The recourse as it is stated.

use super::{ConeDefinition, Quadratic, Row, Variable};

/// Variables, rows and cost of the recourse.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RecourseDefinition {
    /// The decision y (always continuous).
    pub variables: Vec<Variable>,
    /// Rows over `y`, `x` and `xi`.
    pub constraints: Vec<Row>,
    /// The quadratic part of the cost.
    pub quadratic: Quadratic,
    /// Cones over named rows.
    pub cones: Vec<ConeDefinition>,
}
