//! `bundle`: cutting planes with soft separation and a stabilised master.
//!
//! Every answer of the recourse is a valid cut, whatever found the scenario. The master over the cuts gives a lower
//! bound and a decision that is too hopeful; the next question is asked near the best decision known, where the cuts
//! promise enough. A hunt looks for scenarios that hurt there.

mod level;
mod search;
mod settings;

use serde_json::{Map, Value};

use super::options::parse_options;
use super::record::is_stop;
use super::soft::{self, Learned, Teacher};
use super::{Entry, Method, Reaches};
use crate::error::{Error, Unsupported};
use crate::model::Problem;
use crate::run::Run;
use crate::settings::Certify;
use crate::uncertainty::ReferenceMeasure;
use search::Search;
use settings::{BundleSettings, Stabilisation};

pub(super) const ENTRY: Entry = Entry {
    name: "bundle",
    summary: "cutting planes with soft separation: ascents and a chain look for scenarios that hurt, a stabilised \
        master moves x",
    accepts: "continuous x, every set, every recourse",
    guarantees: "a lower bound for sure; the objective is an estimate, or with --certify exact (and wherever that is \
        cheap) an upper bound for sure; \
                 --certify probabilistic verifies it by random draws",
    reaches: Reaches::Estimate,
    options: settings::OPTIONS,
    build: |options: &Map<String, Value>| {
        let settings: BundleSettings = parse_options(options)?;
        Ok(Box::new(Bundle { settings }))
    },
};

/// Cutting planes with soft separation.
#[derive(Debug, Clone, Default)]
pub struct Bundle {
    settings: BundleSettings,
}

impl Method for Bundle {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn accepts(&self, problem: &Problem) -> Result<(), Unsupported> {
        soft::accepts(ENTRY.name, "a point between two decisions does not keep integers whole", problem)
    }

    fn plan(&self, problem: &Problem) -> String {
        match soft::space(problem) {
            Ok(space) => {
                format!(
                    "each iteration climbs toward bad scenarios, steps a chain over {space} and adds their cuts to a \
                     master"
                )
            }
            Err(why) => why,
        }
    }

    fn promise(&self, problem: &Problem) -> String {
        soft::promise(problem)
    }

    fn solve(&self, problem: &Problem, certify: Certify, run: &mut Run) -> Result<(), Error> {
        self.search(problem, certify, run).1
    }
}

impl Bundle {
    /// One that asks half-way between the best decision and the master's. The last digits take it longer, but a step
    /// takes less time where X has many rows.
    pub(super) fn in_out() -> Self {
        Self { settings: BundleSettings { stabilisation: Stabilisation::InOut, ..BundleSettings::default() } }
    }
}

impl Teacher for Bundle {
    fn solve_telling(
        &self,
        problem: &Problem,
        certify: Certify,
        run: &mut Run,
        learned: &mut Learned,
    ) -> Result<(), Error> {
        let states = soft::states(problem, ReferenceMeasure::default(), run.clock())?;
        let mut search = Search::new(problem, &self.settings, certify, states.as_ref(), run)?;
        let mut advanced = search.start(run);
        while advanced.is_ok() {
            advanced = search.iterate(run);
        }
        if advanced.as_ref().is_err_and(is_stop) && run.verdict().is_none() {
            search.prove_what_is_left(run)?;
        }
        search.count(run);
        *learned = search.learned();
        advanced
    }
}
