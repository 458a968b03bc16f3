//! `benders`: Benders decomposition. The master holds the cuts, of optimality or of feasibility, of the scenarios
//! found, beside a scenario copy of the recourse for the first scenario (and more where that does not bound it), see
//! `generation.rs`.

use super::generation::{Generation, GenerationSettings, Growth, OPTIONS};
use super::options::parse_options;
use super::{Entry, MethodSettings, Reaches};

pub(super) const ENTRY: Entry = Entry {
    name: "benders",
    summary: "Benders decomposition: the master gets the cuts of scenarios with high cost at each decision",
    accepts: "scenario lists of any length; where costs do not move with ξ, every set with linear recourse, and sets \
              whose extreme points can be enumerated with quadratic and conic recourse (continuous x)",
    guarantees: "the optimum with deterministic bounds; the upper one from the first exact separation on",
    reaches: Reaches::Optimum,
    options: OPTIONS,
    parse: |options| parse_options(options, OPTIONS).map(MethodSettings::Benders),
};

/// The method with its settings.
pub(super) fn benders(settings: GenerationSettings) -> Generation {
    Generation::new(ENTRY.name, Growth::Cut, settings)
}
