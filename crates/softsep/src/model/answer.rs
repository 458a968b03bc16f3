//! The answer of a recourse engine.

use super::Problem;
use super::cut::{Cut, CutKind};

/// Outcome of a recourse solve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RecourseOutcome {
    /// Q(x, ξ) is finite.
    #[default]
    Solved,
    /// No y is feasible: Q = +∞.
    Infeasible,
    /// The cost falls without limit: Q = −∞.
    Unbounded,
}

/// Answer of a recourse solve at (x, ξ). The caller owns it and passes it to many solves.
///
/// - `Solved`: `value = intercept + slope_xᵀx`, and `Q(x', ξ) ≥ intercept + slope_xᵀx'` for every x'. `slope_xi` is a
///   subgradient in ξ where costs are fixed (then `Q(x', ξ') ≥ value + slope_xᵀ(x'−x) + slope_xiᵀ(ξ'−ξ)` everywhere),
///   and the derivative of the Lagrangian in ξ where they depend on ξ.
/// - `Infeasible`: value is ∞, and `intercept + slope_xᵀx' ≤ 0` is necessary for recourse at (x', ξ). The left-hand
///   side is positive at x, and `slope_xi` is its slope in ξ.
/// - `Unbounded`: value is −∞, and the slopes are zero.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Answer {
    /// Outcome of the solve.
    pub outcome: RecourseOutcome,
    /// Q(x, ξ) from below: the objective value of a dual.
    pub value: f64,
    /// Q(x, ξ) from above: the cost of a recourse decision. Equal to `value` if a known basis answered; solvers may
    /// return two numbers that differ by a tolerance.
    pub cost: f64,
    /// Value of the cut at x' = 0.
    pub intercept: f64,
    /// Slope of the cut in x.
    pub slope_x: Vec<f64>,
    /// Slope in ξ.
    pub slope_xi: Vec<f64>,
}

impl Answer {
    /// An answer with buffers of the sizes of `problem`.
    pub fn new(problem: &Problem) -> Self {
        Self { slope_x: vec![0.0; problem.first.dim()], slope_xi: vec![0.0; problem.set.dim()], ..Self::default() }
    }

    /// Returns the cut, or `None` if the recourse was unbounded.
    pub fn cut(&self) -> Option<Cut> {
        let kind = match self.outcome {
            RecourseOutcome::Solved => CutKind::Optimality,
            RecourseOutcome::Infeasible => CutKind::Feasibility,
            RecourseOutcome::Unbounded => return None,
        };
        Some(Cut { kind, intercept: self.intercept, slope: self.slope_x.clone() })
    }
}
