//! Recourse engines: the value of Q at (x, ξ), its slopes, and the cut that they prove.
//!
//! An engine is built once for a problem and solves many (x, ξ). It keeps its solver, its bases and its buffers.
//! CONTRIBUTING.md explains how to add one. Every engine passes [`crate::testing::check_engine`].

pub(crate) mod conic;
mod cut;
mod dual;
pub(crate) mod fixed;
pub(crate) mod linear;
mod program;
mod tangents;

pub(crate) use conic::Conic;
pub(crate) use conic::{ConicProgram, ConicStatus};
pub use cut::{Cut, CutKind};
pub(crate) use dual::{DualColumns, DualSet};
pub(crate) use fixed::Fixed;
pub(crate) use linear::recourse_basis;
pub(crate) use linear::{BasisPolicies, BasisPolicy, BasisResponse, Interval, Linear};
pub(crate) use program::{ProgramBuilder, merged};
pub(crate) use tangents::{TangentCone, TangentProgram};

use crate::model::Problem;
use crate::run::{Clock, Interrupt};

/// Outcome of a recourse solve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Outcome {
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
pub struct Answer {
    /// Outcome of the solve.
    pub outcome: Outcome,
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
            Outcome::Solved => CutKind::Optimality,
            Outcome::Infeasible => CutKind::Feasibility,
            Outcome::Unbounded => return None,
        };
        Some(Cut { kind, intercept: self.intercept, slope: self.slope_x.clone() })
    }
}

/// Warm start of an engine: the basis that its next solve starts from. Cheap to clone, and free to cross threads.
#[derive(Debug, Clone, Default)]
pub struct RecourseBasis(pub(crate) Option<std::sync::Arc<softsep_lp::Basis>>);

impl RecourseBasis {
    /// Returns whether there is no basis.
    pub fn is_cold(&self) -> bool {
        self.0.is_none()
    }
}

/// Counters of one engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RecourseWork {
    /// Solves.
    pub solves: u64,
    /// Solves that a known basis answered without the solver.
    pub reused: u64,
    /// Solves that a few pivots from a known basis answered without the solver.
    pub pivoted: u64,
    /// Simplex pivots or interior-point iterations.
    pub iterations: u64,
    /// Solves that needed a later rung of the ladder.
    pub recovered: u64,
}

/// A recourse engine. `at` adds x to the right-hand side once; after that `solve` only changes ξ.
pub trait Recourse: Send {
    /// Sets the first-stage decision to `x`.
    fn at(&mut self, x: &[f64]);

    /// Solves the recourse at the current x and `xi`.
    fn solve(&mut self, xi: &[f64], answer: &mut Answer) -> Result<(), RecourseError>;

    /// Writes the optimal y of the last solve. After `Unbounded` it is a ray along which the cost falls, after
    /// `Infeasible` it is zero.
    fn decision(&mut self, y: &mut [f64]);

    /// Writes the optimal dual of the last solve, one entry per row. After `Infeasible` it is the Farkas ray.
    ///
    /// The Lagrangian is `cost(y) − πᵀ(Gy + Ex + Uξ − …)`: π ≥ 0 on a row at its lower bound, π ≤ 0 on a row at its
    /// upper bound, and π is in the dual cone on the rows of a cone.
    fn dual(&mut self, pi: &mut [f64]);

    /// Returns the basis that the next solve would start from.
    fn warm_start(&self) -> RecourseBasis;

    /// Starts the next solve from `warm` and drops all other state, so that the following answers depend only on `warm`
    /// and on the (x, ξ) solved since.
    fn start_from(&mut self, warm: &RecourseBasis) -> Result<(), RecourseError>;

    /// Adds the final basis of another engine as a possible starting point. Answers stay optimal.
    fn hint(&mut self, _ended: &RecourseBasis) {}

    /// Returns the counters.
    fn work(&self) -> RecourseWork;
}

/// Returns the engine for a problem: simplex where the recourse is linear, interior point where it is quadratic or
/// conic, and row checks where it has no variables.
pub fn engine(problem: &Problem, clock: &Clock) -> Result<Box<dyn Recourse>, RecourseError> {
    let recourse = &problem.recourse;
    if recourse.dim() == 0 && recourse.cones.is_empty() {
        Ok(Box::new(Fixed::new(problem)?))
    } else if recourse.is_linear() && recourse.dim() > 0 {
        Ok(Box::new(Linear::new(problem, clock)?))
    } else {
        Ok(Box::new(Conic::new(problem, clock)?))
    }
}

/// Error of a recourse solve.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RecourseError {
    /// Every rung of the ladder failed.
    #[error("the recourse could not be solved at x = {x:?}, ξ = {xi:?}: {why}")]
    Numerical {
        /// The decision.
        x: Vec<f64>,
        /// The scenario.
        xi: Vec<f64>,
        /// Reason of the last failure.
        why: String,
    },
    /// The time limit passed or an interrupt came during a solve.
    #[error(transparent)]
    Interrupted(#[from] Interrupt),
    /// The engine does not support this problem.
    #[error("{0}")]
    Unsupported(String),
    /// HiGHS rejected a call.
    #[error(transparent)]
    Lp(#[from] softsep_lp::LpError),
}
