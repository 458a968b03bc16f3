//! `bundle`: cutting planes with any separation and a stabilised master.
//!
//! Every answer of the recourse is a valid cut, for any scenario. The master over the cuts gives a lower bound and a
//! decision that is too optimistic; the next separation is near the incumbent, where the cuts allow a level between the
//! lower bound and the incumbent's cost.

mod level;
mod search;
mod settings;

use self::search::BundleSearch;
pub use self::settings::{BundleSettings, Stabilisation};
use super::options::parse_options;
use super::{Certify, Entry, Method, MethodSettings, Reaches, scope};
use crate::cuts::WarmStart;
use crate::error::{Error, Unsupported};
use crate::model::Problem;
use crate::run::{Run, Stop};

pub(super) const ENTRY: Entry = Entry {
    name: "bundle",
    summary: "cutting planes with soft separation: ascents and a chain find scenarios with high cost, a \
              stabilised master moves x",
    accepts: "continuous x, every set, every recourse",
    guarantees: "a lower bound for sure; the objective is an estimate, or with --certify exact (and wherever that is \
                 cheap) an upper bound for sure; --certify probabilistic verifies it by random draws",
    reaches: Reaches::Estimate,
    options: settings::OPTIONS,
    parse: |options| parse_options(options, settings::OPTIONS).map(MethodSettings::Bundle),
};

/// Cutting planes with a stabilised master.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bundle {
    settings: BundleSettings,
}

impl Bundle {
    /// The method with its settings.
    pub(crate) fn new(settings: BundleSettings) -> Self {
        Self { settings }
    }
}

impl Method for Bundle {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn accepts(&self, problem: &Problem) -> Result<(), Unsupported> {
        let reason = "a point between two decisions does not keep integers integral";
        scope::accepts_continuous(ENTRY.name, reason, &self.settings.separation, problem)
    }

    fn plan(&self, problem: &Problem) -> String {
        scope::space(problem).map_or_else(
            |reason| reason,
            |space| {
                format!(
                    "each iteration ascends to scenarios with high cost, steps a chain over {space} and adds their \
                     cuts to a master"
                )
            },
        )
    }

    fn promise(&self, problem: &Problem) -> String {
        scope::promise(problem)
    }

    fn solve(&self, problem: &Problem, certify: Certify, warm: &mut WarmStart, run: &mut Run) -> Result<Stop, Error> {
        let mut search = BundleSearch::new(problem, &self.settings, certify, &mut warm.cuts, run)?;
        let ended = search.run(run);
        if matches!(&ended, Ok(_) | Err(Error::Interrupted(_))) {
            search.certify_at_end(run)?;
        }
        drop(search);
        super::hand_over(warm, run);
        ended
    }
}
