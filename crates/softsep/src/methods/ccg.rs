//! `ccg`: column-and-constraint generation (Zeng and Zhao 2013). The master holds a copy of the recourse for every
//! scenario found.

use super::generate::{Generator, Growth, OPTIONS};
use super::{Entry, Reaches};

/// Each scenario brings a copy of the recourse.
pub(super) const GROWTH: Growth = Growth::Copy;

pub(super) const ENTRY: Entry = Entry {
    name: "ccg",
    summary: "column-and-constraint generation: the worst scenario of each decision joins the master with a copy of \
        the recourse",
    accepts: "scenario lists of any length; where costs do not move with ξ, every set with linear recourse, and sets \
        whose extreme points can be \
              enumerated with quadratic and conic recourse (continuous x)",
    guarantees: "the optimum, with deterministic bounds after every iteration",
    reaches: Reaches::Optimum,
    options: OPTIONS,
    build: |options| Ok(Box::new(Generator::new(ENTRY.name, GROWTH, options)?)),
};
