//! softsep solves two-stage adaptive robust optimization problems: choose x now, an adversary picks the worst ξ in an
//! uncertainty set, then the recourse decision y responds to ξ:
//!
//! ```text
//! min over x in X of  f(x) + max over ξ in Ξ of  Q(x, ξ),     Q(x, ξ) = min over y of { bᵀy : G y + E x + U ξ − h ∈ K }
//! ```
//!
//! A [`Problem`] comes from an `aro/1` file ([`read`]) or is made of a [`ProblemDefinition`] in code
//! ([`Problem::new`]); [`solve`] finds a decision with bounds that say how they are known, [`evaluate`] gives the
//! worst-case cost of a given decision, and [`explicit_rule`] writes the recourse down as an affine function of ξ.
//!
//! ```
//! use softsep::definition::{Row, Variable};
//! use softsep::uncertainty::SetDefinition;
//! use softsep::{Problem, ProblemDefinition, Settings, solve};
//!
//! // Order x at 5 each now; demand d is anywhere in [10, 30]; a shortage costs 9 each later.
//! let mut definition = ProblemDefinition::default();
//! definition.first_stage.variables.push(Variable::new("order", 5.0));
//! definition.uncertainty.parameters.push("demand".into());
//! definition.uncertainty.set = SetDefinition::Box { lower: vec![10.0], upper: vec![30.0] };
//! definition.recourse.variables.push(Variable::new("short", 9.0));
//! let mut cover = Row::new("cover");
//! cover.y = vec![("short".into(), 1.0)];
//! cover.x = vec![("order".into(), 1.0)];
//! cover.xi = vec![("demand".into(), -1.0)];
//! cover.lower = 0.0;
//! definition.recourse.constraints.push(cover);
//!
//! let problem = Problem::new(&definition)?;
//! let outcome = solve(&problem, &Settings::default())?;
//! assert_eq!(outcome.bounds.upper(), Some(150.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
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
mod report;
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

use uncertainty::SetDefinition;

pub use certify::{Assumed, Certify, Wanted};
pub use error::{Error, ReadError, Unsupported};
pub use evaluate::{Evaluation, evaluate};
pub use explicit::{NoRule, Rule, explicit_rule};
pub use format::WriteError;
pub use model::{Problem, ProblemDefinition};
pub use modelling::{Constraint, Expr, FirstStageVar, Key, Model, RecourseVar, Solution, UncertainParam};
pub use outcome::{Outcome, Status, WorstCase};
pub use settings::Settings;
pub use solve::{solve, solve_with};

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
