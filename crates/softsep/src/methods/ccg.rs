//! `ccg`: column-and-constraint generation (Zeng and Zhao 2013). The master holds a scenario copy of the recourse for
//! every scenario found.

use super::generation::{Generation, GenerationSettings, Growth, OPTIONS};
use super::options::parse_options;
use super::{Entry, MethodSettings, Reaches};

pub(super) const ENTRY: Entry = Entry {
    name: "ccg",
    summary: "column-and-constraint generation: the master gets a copy of the recourse for a scenario with high cost \
              at each decision",
    accepts: "scenario lists of any length; where costs do not move with ξ, every set with linear recourse, and sets \
              whose extreme points can be enumerated with quadratic and conic recourse (continuous x)",
    guarantees: "the optimum with deterministic bounds; the upper one from the first exact separation on",
    reaches: Reaches::Optimum,
    options: OPTIONS,
    parse: |options| parse_options(options, OPTIONS).map(MethodSettings::Ccg),
};

/// The method with its settings.
pub(super) fn ccg(settings: GenerationSettings) -> Generation {
    Generation::new(ENTRY.name, Growth::Copy, settings)
}
