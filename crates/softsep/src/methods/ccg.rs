//! `ccg`: column-and-constraint generation (Zeng and Zhao 2013). The master holds a copy of the recourse for every scenario found.

use serde_json::{Map, Value};

use super::generate::{Growth, accepts, generate, plan, promise};
use super::{Entry, Method};
use crate::error::{Error, Unsupported};
use crate::model::Problem;
use crate::run::Run;
use crate::settings::Certify;

pub(super) const ENTRY: Entry = Entry {
    name: "ccg",
    summary: "column-and-constraint generation: the worst scenario of each decision joins the master with a copy of the recourse",
    accepts: "scenario lists of any length, and sets whose extreme points can be enumerated where costs do not move with ξ; linear recourse with \
              continuous or integer x, quadratic and conic ones with continuous x",
    guarantees: "the optimum, with deterministic bounds after every iteration",
    reaches_optimum: true,
    options: &[],
    build: |options: &Map<String, Value>| match options.keys().next() {
        None => Ok(Box::new(Ccg)),
        Some(key) => Err(format!("it has no option \"{key}\"")),
    },
};

/// Column-and-constraint generation.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ccg;

impl Method for Ccg {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn accepts(&self, problem: &Problem) -> Result<(), Unsupported> {
        accepts(ENTRY.name, problem)
    }

    fn plan(&self, problem: &Problem) -> String {
        plan(problem, Growth::Copy)
    }

    fn promise(&self, problem: &Problem) -> String {
        promise(problem)
    }

    fn solve(&self, problem: &Problem, certify: Certify, run: &mut Run) -> Result<(), Error> {
        generate(problem, Growth::Copy, certify, run)
    }
}
