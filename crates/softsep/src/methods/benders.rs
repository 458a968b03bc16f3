//! `benders`: Benders decomposition. The master holds a cut, of optimality or of feasibility, for every scenario found,
//! beside a copy of the recourse for the first scenario (and more where that does not bound it), as `generate.rs` tells.

use super::generate::{GenerateSettings, Generator, Growth, OPTIONS};
use super::{Entry, Method, parse_options};
use crate::error::{Error, Unsupported};
use crate::model::Problem;
use crate::run::Run;
use crate::settings::Certify;

pub(super) const ENTRY: Entry = Entry {
    name: "benders",
    summary: "Benders decomposition: the worst scenario of each decision joins the master with its cut",
    accepts: "scenario lists of any length; where costs do not move with ξ, every set with linear recourse, and sets whose extreme points can be \
              enumerated with quadratic and conic recourse (continuous x)",
    guarantees: "the optimum, with deterministic bounds after every iteration",
    reaches_optimum: true,
    options: OPTIONS,
    build: |options| Ok(Box::new(Benders { settings: parse_options(options)? })),
};

/// Benders decomposition.
#[derive(Debug, Clone, Copy, Default)]
pub struct Benders {
    settings: GenerateSettings,
}

impl Benders {
    fn generator(&self) -> Generator {
        Generator { method: ENTRY.name, growth: Growth::Cut, wish: self.settings.separation }
    }
}

impl Method for Benders {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn accepts(&self, problem: &Problem) -> Result<(), Unsupported> {
        self.generator().accepts(problem)
    }

    fn plan(&self, problem: &Problem) -> String {
        self.generator().plan(problem)
    }

    fn promise(&self, problem: &Problem) -> String {
        self.generator().promise(problem)
    }

    fn solve(&self, problem: &Problem, certify: Certify, run: &mut Run) -> Result<(), Error> {
        self.generator().run(problem, certify, run)
    }
}
