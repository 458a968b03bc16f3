//! A problem as it is stated.

use crate::definition::{FirstStageDefinition, RecourseDefinition};
use crate::uncertainty::UncertaintyDefinition;

/// A two-stage problem by names, as its author states it. [`Problem::new`](super::Problem::new) checks it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProblemDefinition {
    /// The title of the problem.
    pub name: String,
    /// The here-and-now decision.
    pub first_stage: FirstStageDefinition,
    /// The adversary.
    pub uncertainty: UncertaintyDefinition,
    /// The wait-and-see decision.
    pub recourse: RecourseDefinition,
}
