//! Methods: who solves a problem, and what they promise.
//!
//! A method owns its loop and writes what it learns into the [`Run`]; it returns when it is done or stopped. Adding one: see
//! CONTRIBUTING.md; every method passes [`crate::testing::check_method`].

mod auto;
mod extensive;

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::error::{Error, Unsupported};
use crate::format::{Points, nearest};
use crate::model::Problem;
use crate::run::Run;
use crate::settings::Certify;
use crate::uncertainty::{Count, TooMany};

pub use extensive::Extensive;

/// A way to solve a problem.
pub trait Method: Send + Sync {
    /// Its name, as on the command line.
    fn name(&self) -> &'static str;

    /// Whether it can take the problem; asked before `solve`.
    fn accepts(&self, problem: &Problem) -> Result<(), Unsupported>;

    /// What it would do with the problem, in words, for `softsep check`.
    fn plan(&self, problem: &Problem) -> String;

    /// Solves, writing what it learns into `run`.
    fn solve(&self, problem: &Problem, certify: Certify, run: &mut Run) -> Result<(), Error>;
}

/// One option of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptionInfo {
    /// Its name.
    pub name: &'static str,
    /// Its default.
    pub default: &'static str,
    /// What it does.
    pub help: &'static str,
}

/// Makes a method of its options.
type Build = fn(&Map<String, Value>) -> Result<Box<dyn Method>, String>;

/// A line of the registry.
pub struct Entry {
    /// The name.
    pub name: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// What it takes.
    pub accepts: &'static str,
    /// What it promises.
    pub guarantees: &'static str,
    /// Its options.
    pub options: &'static [OptionInfo],
    build: Build,
}

/// All methods.
pub const METHODS: &[Entry] = &[auto::ENTRY, extensive::ENTRY];

impl Entry {
    /// Looks a method up by name.
    pub fn find(name: &str) -> Result<&'static Entry, Error> {
        METHODS.iter().find(|entry| entry.name == name).ok_or_else(|| {
            let known: Vec<&str> = METHODS.iter().map(|entry| entry.name).collect();
            let hint = nearest(name, known.iter().copied());
            Error::Settings(format!("there is no method \"{name}\"{hint}; the methods are {}", known.join(", ")))
        })
    }

    /// Builds the method with its options.
    pub fn build(&self, options: &Map<String, Value>) -> Result<Box<dyn Method>, Error> {
        (self.build)(options).map_err(|why| Error::Settings(format!("method \"{}\": {why}", self.name)))
    }
}

/// Parses a method's options into its settings.
fn parse_options<S: serde::de::DeserializeOwned>(options: &Map<String, Value>) -> Result<S, String> {
    serde_json::from_value(Value::Object(options.clone())).map_err(|error| error.to_string())
}

/// Why no finite list of scenarios stands for a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoList {
    /// Q is not convex in ξ.
    #[error("costs move with ξ, so that Q is not convex in ξ and the extreme points of the set do not tell its worst case")]
    CostsMove,
    /// There are too many extreme points.
    #[error(transparent)]
    TooMany(#[from] TooMany),
}

/// The finite list of scenarios that can stand for the whole set in this problem, or why there is none.
///
/// A finite list stands for itself. Of any other set the extreme points do where Q(x, ·) is convex: then its maximum is at one of them.
/// Q is convex in ξ when ξ moves right-hand sides only, whatever the cones and the quadratic cost; when it moves costs, Q is a minimum of
/// functions bilinear in (y, ξ), and its maximum may be inside the set.
pub(crate) fn stand_in(problem: &Problem, limit: usize) -> Result<Cow<'_, Points>, NoList> {
    let set = &problem.set;
    if !set.is_finite_list() && set.extremes() != Count::Exactly(1) && problem.recourse.costs_move() {
        return Err(NoList::CostsMove);
    }
    Ok(set.enumerate(limit)?)
}
