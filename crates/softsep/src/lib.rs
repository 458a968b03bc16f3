//! softsep solves two-stage adaptive robust optimization problems: choose x now, an adversary picks the worst ξ in an
//! uncertainty set, then the recourse decision y responds to ξ.
//!
//! # The mathematics
//!
//! ```text
//! min over x in X of  f(x) + max over ξ in Ξ of  Q(x, ξ)
//! Q(x, ξ) = min over y of { bᵀy : G y + E x + U ξ − h ∈ K }
//! ```
//!
//! X is given by linear rows and integrality, f is linear or convex quadratic. Ξ is a list of scenarios, a box, an ℓ1
//! ball, a budget set, an ellipsoid, a polyhedron, or a set of your own. The recourse is linear, or has a convex
//! quadratic cost and cones K. Its costs may move with ξ.
//!
//! # A first model
//!
//! A [`Model`] has handles for variables, and operators for costs and rows:
//!
//! ```
//! use softsep::{Model, Settings, Status};
//!
//! // Order at 5 each now; demand is anywhere in [10, 30]; a shortage costs 9 each later.
//! let mut m = Model::new("order");
//! let order = m.first_stage("order", 0.0..);
//! let demand = m.uncertain("demand", 10.0..=30.0);
//! let short = m.recourse("short", 0.0..);
//! m.minimize(5.0 * order + 9.0 * short);
//! m.add("cover", (order + short).ge(demand));
//!
//! let result = m.solve(&Settings::default())?;
//! assert_eq!(result.status(), Status::Optimal);
//! assert_eq!((result[order], result.objective()), (30.0, Some(150.0)));
//! # Ok::<(), softsep::Error>(())
//! ```
//!
//! A problem may also come from an `aro/1` file ([`read`]), or from a [`ProblemDefinition`], the same by names
//! ([`Problem::new`]); [`solve`] then takes the [`Problem`]. A definition has everything; a model has no operators for
//! quadratic costs and cones, and gives access to its definition for them ([`Model::definition_mut`]).
//!
//! # Reading a result
//!
//! A [`Solution`] is read by handle or name: `result[order]` is part of the decision, `result[demand]` of its worst
//! case found, `result[short]` of the optimal recourse there. Behind it is the [`Outcome`]: its [`Status`], why the run
//! ended ([`Stop`](run::Stop)), and the [`Bounds`](run::Bounds), which say how each is known. A bound with the
//! certificate `Deterministic` holds for sure, up to the solvers' tolerances; an objective without an upper bound is an
//! estimate from the scenarios seen. [`evaluate`](evaluate()) gives the worst-case cost of any decision, and
//! [`explicit_policy`] an affine policy y(ξ) that is feasible for every ξ. [`report`] makes summaries, result files and
//! HTML pages of outcomes.
//!
//! # Choosing a method
//!
//! [`Settings`] hold the [method](MethodSettings) with its own settings. The default chooses a method by the class and
//! size of the problem, and shows the reason to an observer ([`solve_with`]).
//!
//! | method | for | ends with |
//! |---|---|---|
//! | [`Ccg`](MethodSettings::Ccg), [`Benders`](MethodSettings::Benders) | lists; linear recourse | a proved optimum |
//! | [`Bundle`](MethodSettings::Bundle) | large sets, continuous x | a close estimate; proved with [`Certify::Exact`] |
//! | [`BranchAndCut`](MethodSettings::BranchAndCut) | large sets, mixed-integer x | the same |
//! | [`Sgd`](MethodSettings::Sgd) | the paper's Algorithm 1 | an estimate |
//! | [`Extensive`](MethodSettings::Extensive) | few scenarios or extreme points | the optimum, proved |
//! | [`Adr`](MethodSettings::Adr) | a quick upper bound | affine policies, conservative |
//!
//! ```
//! use softsep::{GenerationSettings, MethodSettings, SeparationKind, Settings};
//!
//! let scan = GenerationSettings::default().with_separation(SeparationKind::Scan);
//! let settings = Settings::default().method(MethodSettings::Ccg(scan)).gap(1e-6).seed(7);
//! # assert_eq!(settings.method.name(), "ccg");
//! ```
//!
//! # Extending
//!
//! Methods depend neither on the set nor on the separation that they drive, so that each part can be replaced from
//! outside:
//!
//! - [`Uncertainty`](uncertainty::Uncertainty), a set of your own, goes into
//!   [`SetDefinition::custom`](SetDefinition::custom);
//! - [`Separation`](separation::Separation) and its [factory](separation::SeparationFactory) go into
//!   [`SeparationKind::custom`](SeparationKind::custom): a [`Query`](separation::Query) comes in, a scenario with a
//!   cut and a [`Claim`](separation::Claim) goes [out](separation::Found), and cuts met on the way go into the
//!   [pool](cuts::CutPool);
//! - [`Method`](methods::Method) goes into [`MethodSettings::custom`](MethodSettings::custom), and writes its bounds
//!   and incumbents into the [`Run`](run::Run);
//! - [`Recourse`](recourse::Recourse), an engine that answers with value, slopes and cut at (x, ξ), and its
//!   [factory](recourse::EngineFactory) go into a problem ([`Problem::with_engine`]), whose rows go on stating Q;
//! - [`Proposal`](proposal::Proposal), a law of moves of chains over scenarios, and its
//!   [factory](proposal::ProposalFactory) go into [`ProposalKind::custom`](proposal::ProposalKind::custom).
//!
//! `examples/custom.rs` has a set and a separation; `tests/custom_engine.rs`, `tests/custom_proposal.rs` and
//! `tests/custom_set.rs` have an engine, a proposal and a method. The feature `testing` has suites that check whether a
//! part keeps its contract.
#![forbid(unsafe_code)]

mod certification;
mod certify;
mod chain;
pub mod cuts;
pub mod definition;
mod diagnose;
mod error;
mod evaluate;
mod explicit;
mod format;
#[doc(hidden)]
pub mod internals;
mod master;
pub mod methods;
pub mod model;
mod modelling;
mod numeric;
mod outcome;
mod policy;
pub mod proposal;
pub mod recourse;
pub mod report;
pub mod run;
pub mod separation;
mod settings;
mod solve;
#[cfg(feature = "testing")]
pub mod testing;
mod theory;
mod tree;
pub mod uncertainty;

use std::path::Path;

pub use certify::{Assumed, Certify, ChainConstants, ProbabilisticTarget};
pub use definition::Complaints;
pub use error::{Error, ReadError, Unsupported};
pub use evaluate::{Evaluation, evaluate};
pub use explicit::{ExplicitPolicy, NoPolicy, explicit_policy};
pub use format::WriteError;
pub use methods::{
    AdrSettings, BranchAndCutSettings, BundleSettings, ExtensiveSettings, GenerationSettings, MethodSettings,
    SgdSettings,
};
pub use model::{Problem, ProblemDefinition};
pub use modelling::{Constraint, Expr, FirstStageVar, Key, Model, RecourseVar, Solution, UncertainParam};
pub use outcome::{Outcome, Status, WorstCase};
pub use policy::AffinePolicy;
pub use separation::SeparationKind;
pub use settings::{CallLimits, Settings, Solver};
pub use solve::{solve, solve_with};
pub use uncertainty::{SetDefinition, Sides};

/// The README's program, as a doc-test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The version of this library.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Reads an `aro/1` file and checks all of it. The error holds every fault, one line each.
pub fn read(path: impl AsRef<Path>) -> Result<Problem, ReadError> {
    let path = path.as_ref();
    let loaded = format::load(path)?;
    loaded.check().map_err(|complaints| ReadError { file: path.display().to_string(), complaints })
}

/// Writes a problem to an `aro/1` file, whose reading gives an equal problem. Scenarios that came from a CSV file are
/// written into the problem itself. A set that a program implements is refused.
pub fn write(problem: &Problem, path: impl AsRef<Path>) -> Result<(), WriteError> {
    let path = path.as_ref();
    let mut definition = problem.definition();
    if let SetDefinition::Scenarios { file, .. } = &mut definition.uncertainty.set {
        *file = None;
    }
    std::fs::write(path, format::write(&definition)?)
        .map_err(|error| WriteError::File { file: path.display().to_string(), why: error.to_string() })
}
