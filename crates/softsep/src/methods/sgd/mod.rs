//! `sgd`: projected stochastic subgradient descent with soft separation (Algorithm 1 of the paper).
//!
//! Each iteration steps a chain toward scenarios that hurt the incumbent x, takes the subgradient of the scenario where
//! the chain stands, and steps x against it. Two rules give the length of a step:
//!
//! - `sqrt`: α₀/√n, as in the paper, with the average of the iterates as its result.
//! - `level`, the default: Polyak's step toward a level between the lower bound and the best value known, taken for the
//!   cut that is furthest from it among all that were seen, several times between two calls of the chain. See
//!   [`approach`] for what that cures.
//!
//! The cuts seen give a lower bound that holds for sure; the objective is an estimate from the scenarios seen, unless
//! an exact separation is asked for.

mod approach;
mod average;
mod descent;
mod settings;
mod start;
mod steps;

use serde_json::{Map, Value};

use super::options::parse_options;
use super::record::is_stop;
use super::soft::{self, Learned, Teacher};
use super::{Entry, Method, Reaches};
use crate::error::{Error, Unsupported};
use crate::model::Problem;
use crate::run::Run;
use crate::settings::Certify;
use descent::Descent;
use settings::SgdSettings;

pub(super) const ENTRY: Entry = Entry {
    name: "sgd",
    summary: "stochastic subgradient descent with soft separation (Algorithm 1): a chain looks for scenarios that \
        hurt, x steps away from them",
    accepts: "continuous x, every set, every recourse",
    guarantees: "a lower bound for sure; the objective is an estimate, or with --certify exact (and wherever that is \
        cheap) an upper bound for sure; \
                 --certify probabilistic verifies it by random draws",
    reaches: Reaches::Estimate,
    options: settings::OPTIONS,
    build: |options: &Map<String, Value>| {
        let settings: SgdSettings = parse_options(options)?;
        Ok(Box::new(Sgd { settings }))
    },
};

/// Algorithm 1.
#[derive(Debug, Clone, Default)]
pub struct Sgd {
    settings: SgdSettings,
}

impl Method for Sgd {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn accepts(&self, problem: &Problem) -> Result<(), Unsupported> {
        soft::accepts(ENTRY.name, "a step against a subgradient does not keep integers whole", problem)
    }

    fn plan(&self, problem: &Problem) -> String {
        match soft::space(problem) {
            Ok(space) => format!("each iteration steps a chain over {space} and moves x against the slope found there"),
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

impl Teacher for Sgd {
    fn solve_telling(
        &self,
        problem: &Problem,
        certify: Certify,
        run: &mut Run,
        learned: &mut Learned,
    ) -> Result<(), Error> {
        let states = soft::states(problem, self.settings.reference, run.clock())?;
        let mut descent = Descent::new(problem, &self.settings, certify, states.as_ref(), run)?;
        let mut advanced = descent.start(run);
        while advanced.is_ok() {
            advanced = descent.iterate(run);
        }
        if advanced.as_ref().is_err_and(is_stop) && run.verdict().is_none() {
            descent.prove_what_is_left(run)?;
        }
        descent.count(run);
        *learned = descent.evidence.learned();
        advanced
    }
}
