//! `sgd`: projected stochastic subgradient descent with soft separation (Algorithm 1 of the paper).
//!
//! Each iteration makes a transition of a chain toward scenarios with high recourse cost at x, takes the subgradient at
//! the chain's scenario, and steps x against it. Two rules give the length of a step:
//!
//! - `sqrt`: α₀/√n, as in the paper, with the average of the iterates as its result.
//! - `level`, the default: Polyak's step toward a level between the lower bound and the incumbent's cost, taken for the
//!   cut of the pool that is furthest from it, several times between two transitions. See [`approach`] for the reason.
//!
//! The cuts give a valid lower bound; the objective is an estimate from the scenarios found, unless a proof is asked
//! for.
//!
//! [`SgdSettings::paper`] is Algorithm 1 as printed.

mod approach;
mod average;
mod descent;
mod preconditioner;
mod settings;
mod start;
mod steps;
mod stop_rule;

pub use self::average::Averaging;
use self::descent::Descent;
pub use self::preconditioner::Preconditioner;
pub use self::settings::{SgdSettings, Start, Steps};
pub use self::stop_rule::StopRule;
use super::options::parse_with_presets;
use super::{Certify, Entry, Method, MethodSettings, Reaches, scope};
use crate::cuts::WarmStart;
use crate::error::{Error, Unsupported};
use crate::model::Problem;
use crate::run::{Run, Stop};

pub(super) const ENTRY: Entry = Entry {
    name: "sgd",
    summary: "stochastic subgradient descent with soft separation (Algorithm 1): a chain finds scenarios with high \
              cost, x moves along their subgradients",
    accepts: "continuous x, every set, every recourse",
    guarantees: "a lower bound for sure; the objective is an estimate, or with --certify exact (and wherever that is \
                 cheap) an upper bound for sure; --certify probabilistic verifies it by random draws",
    reaches: Reaches::Estimate,
    options: settings::OPTIONS,
    parse: |options| {
        parse_with_presets(options, settings::OPTIONS, &[("paper", SgdSettings::paper())]).map(MethodSettings::Sgd)
    },
};

/// Algorithm 1.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sgd {
    settings: SgdSettings,
}

impl Sgd {
    /// The method with its settings.
    pub(crate) fn new(settings: SgdSettings) -> Self {
        Self { settings }
    }
}

impl Method for Sgd {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn accepts(&self, problem: &Problem) -> Result<(), Unsupported> {
        let SgdSettings { steps, stop, preconditioner, .. } = &self.settings;
        if *steps == Steps::Level && (*stop, *preconditioner) != (StopRule::default(), Preconditioner::default()) {
            return Err(Unsupported {
                method: ENTRY.name,
                feature: "--stop and --preconditioner are for --steps sqrt".into(),
                instead: "add --steps sqrt, or leave them out".into(),
            });
        }
        let reason = "a step against a subgradient does not keep integers integral";
        scope::accepts_continuous(ENTRY.name, reason, &self.settings.separation, problem)
    }

    fn plan(&self, problem: &Problem) -> String {
        scope::space(problem).map_or_else(
            |reason| reason,
            |space| format!("each iteration steps a chain over {space} and moves x against the slope found there"),
        )
    }

    fn promise(&self, problem: &Problem) -> String {
        scope::promise(problem)
    }

    fn solve(&self, problem: &Problem, certify: Certify, warm: &mut WarmStart, run: &mut Run) -> Result<Stop, Error> {
        let mut descent = Descent::new(problem, &self.settings, certify, &mut warm.cuts, run)?;
        let ended = descent.run(run);
        if matches!(&ended, Ok(_) | Err(Error::Interrupted(_))) {
            descent.finish(run)?;
        }
        drop(descent);
        super::hand_over(warm, run);
        ended
    }
}
