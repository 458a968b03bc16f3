//! Separation: for a decision x, a scenario that hurts it, and what is known about the worst one.

mod ascent;
mod scan;

pub use ascent::ascend;
pub use scan::scan;

/// The worst scenario found for a decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The scenario.
    pub xi: Vec<f64>,
    /// Q there: ∞ where recourse is infeasible, −∞ where it is unbounded.
    pub value: f64,
    /// Recourse solves that it took.
    pub solves: u64,
}
