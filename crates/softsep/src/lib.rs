//! softsep solves two-stage adaptive robust optimization problems: choose x now, an adversary picks the worst ξ in an
//! uncertainty set, then recourse y repairs what it can:
//!
//! ```text
//! min over x in X of  f(x) + max over ξ in Ξ of  Q(x, ξ),     Q(x, ξ) = min over y of { bᵀy : G y + E x + U ξ − h ∈ K }
//! ```
//!
//! A problem comes from an `aro/1` file ([`read`]) or is built in code ([`Problem::new`]); [`solve`] finds a decision
//! with bounds that say how they are known, [`evaluate`] tells what a given decision costs in the worst case, and
//! [`explicit_rule`] writes the recourse down as an affine function of ξ.
//!
//! ```
//! use softsep::format::{ProblemFile, Row, SetFile, Variable};
//! use softsep::run::Silent;
//! use softsep::{Problem, Settings, solve};
//!
//! // Order x at 5 each now; demand d is anywhere in [10, 30]; what is short costs 9 each later.
//! let mut file = ProblemFile::default();
//! file.first_stage.variables.push(Variable::new("order", 5.0));
//! file.uncertainty.parameters.push("demand".into());
//! file.uncertainty.set = SetFile::Box { lower: vec![10.0], upper: vec![30.0] };
//! file.recourse.variables.push(Variable::new("short", 9.0));
//! let mut cover = Row::new("cover");
//! cover.y = vec![("short".into(), 1.0)];
//! cover.x = vec![("order".into(), 1.0)];
//! cover.xi = vec![("demand".into(), -1.0)];
//! cover.lower = 0.0;
//! file.recourse.constraints.push(cover);
//!
//! let problem = Problem::new(&file)?;
//! let outcome = solve(&problem, &Settings::default(), &mut Silent, &Default::default())?;
//! assert_eq!(outcome.bounds.upper(), Some(150.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod certification;
pub mod chain;
pub mod cuts;
pub mod diagnose;
mod error;
mod evaluate;
mod explicit;
pub mod format;
mod master;
pub mod methods;
pub mod model;
pub mod numeric;
mod outcome;
pub mod policy;
pub mod proposal;
pub mod recourse;
pub mod report;
pub mod run;
pub mod separation;
mod settings;
mod solve;
#[cfg(feature = "testing")]
pub mod testing;
pub mod theory;
mod tree;
pub mod uncertainty;

use std::path::Path;

pub use error::{Error, Unsupported};
pub use evaluate::{Evaluation, evaluate};
pub use explicit::{NoRule, Rule, explicit_rule};
pub use format::{ProblemFile, ReadError};
pub use model::Problem;
pub use outcome::{Outcome, WorstCase};
pub use settings::{Assumed, Certify, Settings, Wanted};
pub use solve::solve;

/// The version of this library.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Reads an `aro/1` file and checks it whole. The error holds everything that is wrong with it, one line each.
pub fn read(path: impl AsRef<Path>) -> Result<Problem, ReadError> {
    let path = path.as_ref();
    let loaded = format::load(path)?;
    Problem::from_loaded(loaded).map_err(|complaints| ReadError { file: path.display().to_string(), complaints })
}
