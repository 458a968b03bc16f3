//! Methods: iterative algorithms for the whole problem.
//!
//! A method owns its loop, holds a [`Separation`](crate::separation::Separation) without knowing which, and writes
//! bounds and incumbents into the [`Run`]; it returns why it ended. Adding one: see CONTRIBUTING.md; every method
//! passes `testing::check_method`.

mod adr;
mod auto;
mod benders;
mod branch_and_cut;
mod bundle;
mod ccg;
mod extensive;
mod generation;
mod method_settings;
mod options;
mod relaxation;
mod scope;
mod sgd;
mod soft_options;
mod unbounded;

use serde_json::{Map, Value};

use crate::certify::Certify;
use crate::cuts::WarmStart;
use crate::definition::nearest;
use crate::error::{Error, Unsupported};
use crate::model::Problem;
use crate::run::{Run, Stop};

pub use adr::AdrSettings;
pub use branch_and_cut::{BranchAndCutSettings, Root, TreeKind};
pub use bundle::{BundleSettings, Stabilisation};
pub use extensive::ExtensiveSettings;
pub use generation::GenerationSettings;
pub use method_settings::{CustomMethod, MethodSettings};
pub use sgd::{Averaging, Preconditioner, SgdSettings, Start, Steps, StopRule};

/// A way to solve a problem.
///
/// A method of another crate goes into [`MethodSettings::custom`]. `testing::check_method` checks the contract of
/// methods with a name.
pub trait Method: Send + Sync {
    /// Its name, as on the command line.
    fn name(&self) -> &'static str;

    /// Errs if the method does not apply to the problem. Called before `solve`.
    fn accepts(&self, problem: &Problem) -> Result<(), Unsupported>;

    /// A sentence about the steps of the method on the problem, for `softsep check`.
    fn plan(&self, problem: &Problem) -> String;

    /// A sentence about the guarantees of a result on the problem, for `softsep check`.
    fn promise(&self, problem: &Problem) -> String;

    /// Solves, writing bounds and incumbents into `run`, and returns why it ended. `warm` holds cuts and scenarios of
    /// earlier methods, and afterwards those of this one too.
    ///
    /// Errs with [`Error::Interrupted`] where the clock stops a computation on the way; the ledger's result is valid
    /// all the same.
    fn solve(&self, problem: &Problem, certify: Certify, warm: &mut WarmStart, run: &mut Run) -> Result<Stop, Error>;
}

/// Runs a method. Bounds in the ledger that contradict one another are dropped together with all cuts, and make the run
/// a failure; so does a verdict that a bound contradicts.
pub(crate) fn run_method(
    method: &dyn Method,
    problem: &Problem,
    certify: Certify,
    warm: &mut WarmStart,
    run: &mut Run,
) -> Result<Stop, Error> {
    let ended = method.solve(problem, certify, warm, run);
    if let Some(verdict) = run.drop_contradicted_verdict() {
        *warm = WarmStart::cold(problem);
        return Err(Error::Master(format!(
            "the problem was reported as {verdict} although a bound of it is known: the solvers contradict one \
             another, most likely over numbers of very different sizes"
        )));
    }
    match run.drop_contradiction() {
        Some(amount) if run.verdict().is_none() => {
            *warm = WarmStart::cold(problem);
            Err(Error::Master(format!(
                "a lower bound stands {amount} above an upper one: the solvers contradict one another, most likely \
                 over numbers of very different sizes"
            )))
        }
        _ => ended,
    }
}

/// Scenarios that a method hands to the next one.
const HANDED_OVER: usize = 8;

/// Puts the scenarios with the largest cuts at the incumbent into the warm start of the next method.
fn hand_over(warm: &mut WarmStart, run: &Run) {
    if let Some(incumbent) = run.incumbent() {
        warm.scenarios = warm.cuts.worst_scenarios(&incumbent.x, HANDED_OVER);
    }
}

/// The option of every method that separates.
const SEPARATION_OPTION: OptionInfo = OptionInfo {
    name: "separation",
    default: "auto",
    help: "the separation that finds scenarios: soft (known scenarios, ascents, chains; proves nothing), scan (every \
           scenario or extreme point), split (branch and bound on ξ with affine policies as bounds), bilinear (a \
           mixed-integer program by strong duality), kkt (one by optimality conditions and big-M constants, over \
           ellipsoids too), cascade (soft first, an exact one where that finds nothing), or auto (a cascade where a \
           bound is wanted or cheap, else soft)",
};

/// The option of methods that have the paper's algorithm beside their own default.
const PRESET_OPTION: OptionInfo = OptionInfo {
    name: "preset",
    default: "none",
    help: "the settings to start from: paper (the paper's algorithm as printed: 1 for sgd, 2 and 3 for \
           branch-and-cut); the other options change single ones",
};

/// One option of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct OptionInfo {
    /// The name.
    pub name: &'static str,
    /// The default value.
    pub default: &'static str,
    /// The help text.
    pub help: &'static str,
}

/// Reads the options of a method.
type Parse = fn(&Map<String, Value>) -> Result<MethodSettings, String>;

/// The result of a method without a time limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reaches {
    /// The optimum, with bounds that meet there.
    Optimum,
    /// An upper bound.
    UpperBound,
    /// The optimum where every scenario can be scanned; elsewhere a lower bound and an estimate that is close to it.
    Estimate,
}

/// A line of the registry.
#[non_exhaustive]
pub struct Entry {
    /// The name.
    pub name: &'static str,
    /// One sentence about the algorithm.
    pub summary: &'static str,
    /// The problems that it accepts.
    pub accepts: &'static str,
    /// The guarantees of its result.
    pub guarantees: &'static str,
    /// Its result without a time limit.
    pub reaches: Reaches,
    /// The options.
    pub options: &'static [OptionInfo],
    parse: Parse,
}

/// Nonzeros that one program may have; some 5 GB of memory in HiGHS.
const NONZEROS: usize = 30_000_000;

/// All methods.
pub const METHODS: &[Entry] = &[
    auto::ENTRY,
    bundle::ENTRY,
    branch_and_cut::ENTRY,
    sgd::ENTRY,
    ccg::ENTRY,
    benders::ENTRY,
    adr::ENTRY,
    extensive::ENTRY,
];

impl Entry {
    /// Looks a method up by name.
    pub fn find(name: &str) -> Result<&'static Entry, Error> {
        METHODS.iter().find(|entry| entry.name == name).ok_or_else(|| {
            let known: Vec<&str> = METHODS.iter().map(|entry| entry.name).collect();
            let hint = nearest(name, known.iter().copied());
            Error::Settings(format!("there is no method \"{name}\"{hint}; the methods are {}", known.join(", ")))
        })
    }

    /// Reads the options of the method.
    pub fn parse(&self, options: &Map<String, Value>) -> Result<MethodSettings, Error> {
        (self.parse)(options).map_err(|why| Error::Settings(format!("method \"{}\": {why}", self.name)))
    }
}

/// The feature of a problem that no master supports, whatever the set, and a change that removes it.
fn not_for_masters(problem: &Problem) -> Option<(&'static str, &'static str)> {
    if !problem.first.has_integers() {
        None
    } else if !problem.recourse.is_linear() {
        Some((
            "an integer first stage with quadratic or conic recourse has no solver here",
            "relax the integers, or write the recourse with linear rows",
        ))
    } else if !problem.first.quadratic.is_zero() {
        Some((
            "HiGHS cannot combine integers with a quadratic cost",
            "relax the integers, or replace the quadratic cost by linear pieces",
        ))
    } else {
        None
    }
}

/// Errs if the problem has a feature that no master supports.
fn accepts_master(method: &'static str, problem: &Problem) -> Result<(), Unsupported> {
    match not_for_masters(problem) {
        Some((feature, change)) => {
            Err(Unsupported { method, feature: feature.into(), instead: scope::advice(problem, change) })
        }
        None => Ok(()),
    }
}
