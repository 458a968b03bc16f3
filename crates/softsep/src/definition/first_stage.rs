//! The first stage as it is stated.

use super::{Quadratic, Row, Variable};

/// Variables, rows and cost of the first stage.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FirstStageDefinition {
    /// The decision x.
    pub variables: Vec<Variable>,
    /// Rows over `x`.
    pub constraints: Vec<Row>,
    /// The quadratic part of f.
    pub quadratic: Quadratic,
    /// The constant of f.
    pub constant: f64,
}
