//! Recourse engines: the value of Q at (x, ξ), its slopes, and the cut they prove.
//!
//! An engine is built once for a problem and then asked many times; it keeps its solver, its bases and its buffers.
//! Adding one: see CONTRIBUTING.md; every engine passes [`crate::testing::check_engine`].

mod conic;
mod cut;
mod dual;
mod fixed;
mod linear;
mod program;

pub use conic::Conic;
pub(crate) use conic::{ConicProgram, ConicStatus};
pub use cut::{Cut, CutKind};
pub(crate) use dual::{DualColumns, DualSet};
pub use fixed::Fixed;
pub(crate) use linear::recourse_basis;
pub use linear::{DualChoice, Interval, Linear, BasisPolicy, BasisResponse, BasisPolicies};
pub(crate) use program::{Program, merged};

use crate::model::Problem;
use crate::run::{Clock, Stop};

/// How a recourse solve ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Outcome {
    /// Q(x, ξ) is finite.
    #[default]
    Solved,
    /// No y is feasible: Q = +∞.
    Infeasible,
    /// The cost falls without end: Q = −∞.
    Unbounded,
}

/// What a recourse solve says about (x, ξ). The caller owns it and uses it again.
///
/// - `Solved`: `value = intercept + slope_xᵀx`, and `Q(x', ξ) ≥ intercept + slope_xᵀx'` for every x'. `slope_xi` is a
///   subgradient in ξ where costs are fixed (then `Q(x', ξ') ≥ value + slope_xᵀ(x'−x) + slope_xiᵀ(ξ'−ξ)` everywhere),
///   and the derivative of the Lagrangian in ξ where they move.
/// - `Infeasible`: value is ∞, and `intercept + slope_xᵀx' ≤ 0` is necessary for recourse at (x', ξ); it is positive at
///   x. `slope_xi` is how it moves with ξ.
/// - `Unbounded`: value is −∞, the slopes are zero.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// How the solve ended.
    pub outcome: Outcome,
    /// Q(x, ξ), from below: the value of a dual.
    pub value: f64,
    /// Q(x, ξ), from above: what the decision found costs. A known basis gives one number for both; solvers may give
    /// two, a tolerance apart.
    pub cost: f64,
    /// The cut's value at x' = 0.
    pub intercept: f64,
    /// The cut's slope in x.
    pub slope_x: Vec<f64>,
    /// The slope in ξ.
    pub slope_xi: Vec<f64>,
}

impl Answer {
    /// Buffers of the right sizes.
    pub fn new(problem: &Problem) -> Self {
        Self { slope_x: vec![0.0; problem.first.dim()], slope_xi: vec![0.0; problem.set.dim()], ..Self::default() }
    }

    /// The cut, copied out; `None` if recourse was unbounded.
    pub fn cut(&self) -> Option<Cut> {
        let kind = match self.outcome {
            Outcome::Solved => CutKind::Optimality,
            Outcome::Infeasible => CutKind::Feasibility,
            Outcome::Unbounded => return None,
        };
        Some(Cut { kind, intercept: self.intercept, slope: self.slope_x.clone() })
    }
}

/// Where an engine starts its next solve from; cheap to copy, free to cross threads.
#[derive(Debug, Clone, Default)]
pub struct RecourseBasis(pub(crate) Option<std::sync::Arc<softsep_lp::Basis>>);

impl RecourseBasis {
    /// Whether there is nothing to start from.
    pub fn is_cold(&self) -> bool {
        self.0.is_none()
    }
}

/// Counts of one engine's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RecourseWork {
    /// Answers given.
    pub solves: u64,
    /// Answers that a known basis gave without the solver.
    pub reused: u64,
    /// Answers that a few pivots from a known basis gave without the solver.
    pub pivoted: u64,
    /// Pivots or interior-point iterations of the solver.
    pub iterations: u64,
    /// Solves that needed a rung of the recovery ladder.
    pub recovered: u64,
}

/// An engine. `at` folds x into the right-hand side once; `solve` then only changes ξ.
pub trait Recourse: Send {
    /// Moves to the first-stage decision `x`.
    fn at(&mut self, x: &[f64]);

    /// Solves the recourse at the current x and `xi`.
    fn solve(&mut self, xi: &[f64], answer: &mut Answer) -> Result<(), RecourseError>;

    /// The optimal y of the last solve, or after `Unbounded` a ray along which the cost falls; zeros after
    /// `Infeasible`.
    fn decision(&mut self, y: &mut [f64]);

    /// The optimal dual of the last solve, one entry per row, or after `Infeasible` the Farkas ray. The Lagrangian is
    /// `cost(y) − πᵀ(Gy + Ex + Uξ − …)`: π ≥ 0 on a row held at its lower bound, π ≤ 0 at its upper one, π in the dual
    /// cone in a cone.
    fn dual(&mut self, pi: &mut [f64]);

    /// What the next solve would start from.
    fn warm_start(&self) -> RecourseBasis;

    /// Starts the next solve from `warm` and forgets all else, so that the answers to come depend on it and on their
    /// questions alone.
    fn start_from(&mut self, warm: &RecourseBasis) -> Result<(), RecourseError>;

    /// Keeps in mind where another engine ended. Solves may begin there; what they answer is as optimal as ever.
    fn hint(&mut self, _ended: &RecourseBasis) {}

    /// What has been done so far.
    fn work(&self) -> RecourseWork;
}

/// The engine for a problem: simplex where the recourse is linear, interior point where it is quadratic or conic, rows
/// alone where it has no variables.
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

/// A recourse solve that gave no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RecourseError {
    /// Every rung of the recovery ladder failed.
    #[error("the recourse could not be solved at x = {x:?}, ξ = {xi:?}: {why}")]
    Numerical {
        /// The decision.
        x: Vec<f64>,
        /// The scenario.
        xi: Vec<f64>,
        /// What the solver said last.
        why: String,
    },
    /// The time limit passed or an interrupt came during a solve.
    #[error(transparent)]
    Stopped(#[from] Stop),
    /// The engine cannot take this problem.
    #[error("{0}")]
    Unsupported(String),
    /// HiGHS refused a call.
    #[error(transparent)]
    Lp(#[from] softsep_lp::LpError),
}
