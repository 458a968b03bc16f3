//! The contract of recourse engines, and the engine that a problem brings along.
//!
//! It is in this layer and not with the engines of `recourse`, since a [`Problem`] may have an engine of another crate.

use std::fmt;
use std::sync::Arc;

use super::Problem;
pub use super::answer::{Answer, RecourseOutcome};
pub use super::cut::{Cut, CutKind};
use crate::run::{Clock, Interrupt};

/// Warm start of an engine: the basis that its next solve starts from. Cheap to clone, and free to cross threads.
#[derive(Debug, Clone, Default)]
pub struct RecourseBasis(pub(crate) Option<Arc<softsep_lp::Basis>>);

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
    /// Solves whose dual is that of the solver although [`DualChoice`](crate::recourse::DualChoice) asked for another
    /// one: the program that selects it failed, or its dual was not optimal to the tolerance of the engine.
    pub unselected: u64,
}

/// A recourse engine. `at` adds x to the right-hand side once; after that `solve` only changes ξ.
///
/// An engine of another crate is given to a problem by an [`EngineFactory`] ([`Problem::with_engine`]).
/// [`testing::check_engine`](crate::testing::check_engine) checks the contract against another engine, such as the
/// [built-in one](crate::recourse::built_in_engine).
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

/// Builds the engines of a problem, outside of this crate.
///
/// An engine evaluates the Q that the rows of the problem state. Its answers are trusted: a value below Q, or a slope
/// that is none, makes bounds invalid. Every part of the library that solves the recourse at single (x, ξ) calls it:
/// soft separation, scans, ascents, incumbents, draws, the worst case of a result. The following read the rows, and go
/// on reading them:
///
/// - the master problem of `ccg` and the program of `extensive`, which hold scenario copies;
/// - affine policies: `adr`, explicit policies, and the bounds of the exact separation `split`;
/// - the exact separation `bilinear`, and the bounds by which a scan skips scenarios;
/// - recourse derived from Q: the Moreau score of chains, and the elastic recourse of searches for a scenario without
///   recourse.
///
/// ```
/// use softsep::recourse::{EngineFactory, Recourse, RecourseError, built_in_engine};
/// use softsep::run::Clock;
/// use softsep::{Model, Problem, Settings, solve};
///
/// /// Engines of the crate; a program would return its own here.
/// #[derive(Debug)]
/// struct Ours;
///
/// impl EngineFactory for Ours {
///     fn build(&self, problem: &Problem, clock: &Clock) -> Result<Box<dyn Recourse>, RecourseError> {
///         built_in_engine(problem, clock)
///     }
/// }
///
/// let mut m = Model::new("order");
/// let (order, demand) = (m.first_stage("order", 0.0..), m.uncertain("demand", 10.0..=30.0));
/// let short = m.recourse("short", 0.0..);
/// m.minimize(5.0 * order + 9.0 * short);
/// m.add("cover", (order + short).ge(demand));
/// let problem = m.problem()?.with_engine(Ours);
/// assert_eq!(solve(&problem, &Settings::default())?.x(), Some(&[30.0][..]));
/// # Ok::<(), softsep::Error>(())
/// ```
pub trait EngineFactory: fmt::Debug + Send + Sync {
    /// Builds an engine for `problem`, the one that it was given to or its continuous relaxation. An engine whose
    /// solves take long stops them by the clock, with [`RecourseError::Interrupted`].
    fn build(&self, problem: &Problem, clock: &Clock) -> Result<Box<dyn Recourse>, RecourseError>;
}

impl Problem {
    /// The same problem, whose recourse is solved by engines of this factory.
    ///
    /// The [`definition`](Problem::definition) and the files of a problem do not hold the factory: they state Q, and
    /// not a way to evaluate it.
    pub fn with_engine(self, factory: impl EngineFactory + 'static) -> Self {
        Self { engine: Some(Arc::new(factory)), ..self }
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
