//! The warm start that one method hands to the next.

use super::CutPool;
use crate::model::Problem;

/// Cuts and scenarios of earlier runs on the same recourse. Both are hints: cuts are valid for every x, and no result
/// depends on which scenarios are listed, only the work to get there does.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WarmStart {
    /// Valid cuts with the scenarios that proved them.
    pub cuts: CutPool,
    /// Scenarios with high recourse cost at good decisions, the worst first.
    pub scenarios: Vec<Vec<f64>>,
}

impl WarmStart {
    /// No cuts and no scenarios.
    pub fn cold(problem: &Problem) -> Self {
        Self { cuts: CutPool::new(problem), scenarios: Vec::new() }
    }
}
