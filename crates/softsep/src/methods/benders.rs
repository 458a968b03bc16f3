//! `benders`: Benders decomposition. The master holds a cut, of optimality or of feasibility, for every scenario found,
//! beside a copy of the recourse for the first scenario (and more where that does not bound it), as `generate.rs`
//! tells.

use super::generate::{Generator, Growth, OPTIONS};
use super::{Entry, Reaches};

pub(super) const ENTRY: Entry = Entry {
    name: "benders",
    summary: "Benders decomposition: the worst scenario of each decision joins the master with its cut",
    accepts: "scenario lists of any length; where costs do not move with ξ, every set with linear recourse, and sets \
        whose extreme points can be \
              enumerated with quadratic and conic recourse (continuous x)",
    guarantees: "the optimum, with deterministic bounds after every iteration",
    reaches: Reaches::Optimum,
    options: OPTIONS,
    build: |options| Ok(Box::new(Generator::new(ENTRY.name, Growth::Cut, options)?)),
};
