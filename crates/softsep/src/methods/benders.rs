//! `benders`: Benders decomposition. The master holds a cut, of optimality or of feasibility, for every scenario found,
//! beside a copy of the recourse for the first scenario (and more where that does not bound it), as `generate.rs` tells.

use serde_json::{Map, Value};

use super::generate::{Growth, accepts, generate, plan, promise};
use super::{Entry, Method};
use crate::error::{Error, Unsupported};
use crate::model::Problem;
use crate::run::Run;
use crate::settings::Certify;

pub(super) const ENTRY: Entry = Entry {
    name: "benders",
    summary: "Benders decomposition: the worst scenario of each decision joins the master with its cut",
    accepts: "scenario lists of any length, and sets whose extreme points can be enumerated where costs do not move with ξ; linear recourse with \
              continuous or integer x, quadratic and conic ones with continuous x",
    guarantees: "the optimum, with deterministic bounds after every iteration",
    reaches_optimum: true,
    options: &[],
    build: |options: &Map<String, Value>| match options.keys().next() {
        None => Ok(Box::new(Benders)),
        Some(key) => Err(format!("it has no option \"{key}\"")),
    },
};

/// Benders decomposition.
#[derive(Debug, Clone, Copy, Default)]
pub struct Benders;

impl Method for Benders {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn accepts(&self, problem: &Problem) -> Result<(), Unsupported> {
        accepts(ENTRY.name, problem)
    }

    fn plan(&self, problem: &Problem) -> String {
        plan(problem, Growth::Cut)
    }

    fn promise(&self, problem: &Problem) -> String {
        promise(problem)
    }

    fn solve(&self, problem: &Problem, certify: Certify, run: &mut Run) -> Result<(), Error> {
        generate(problem, Growth::Cut, certify, run)
    }
}
