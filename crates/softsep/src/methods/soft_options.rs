//! The options of soft separation, the same in every method whose separation may be soft; [`SoftSettings`] reads them.
//!
//! [`SoftSettings`]: crate::separation::SoftSettings

use super::OptionInfo;

const fn option(name: &'static str, default: &'static str, help: &'static str) -> OptionInfo {
    OptionInfo { name, default, help }
}

/// How chains move, and how incumbents are verified.
pub(super) const SOFT_OPTIONS: &[OptionInfo] = &[
    option(
        "proposal",
        "auto",
        "where a chain may go next: uniform, weighted (by --weights), adaptive (leaning along the recourse's slope), \
         hit-and-run, geodesic, tangent, langevin, hamiltonian, local (nearby scenarios), or auto",
    ),
    option(
        "weights",
        "none",
        "for --proposal weighted: a file with a weight for each scenario of a list, one on each line, higher where \
         you expect a high cost",
    ),
    option("acceptance", "metropolis", "when the chain goes there: metropolis or barker"),
    option(
        "temperature",
        "auto",
        "w, in units of the objective: the chain hardly tells scenarios apart that cost so little more or less; auto \
         is a small share of the gap asked for, adaptive falls with the calls as in Proposition 2",
    ),
    option(
        "margin",
        "auto",
        "for --temperature adaptive: by how much the worst scenario is worse than the next (Δ⋆); auto takes 0.1 % of \
         the objective. For --stop bounds of sgd: by how much it may be worse than the chain's (Δ̃)",
    ),
    option(
        "kappa",
        "auto",
        "how much the adaptive proposal leans; auto grows with the dimension, and more where few candidates are taken",
    ),
    option("share", "0.05", "how often the adaptive and the weighted proposal draw uniformly instead"),
    option("score", "exact", "what the chain climbs: exact, or moreau:TAU for the Moreau envelope with parameter TAU"),
    option(
        "reference",
        "sphere",
        "on the boundary of an ellipsoid, what uniform means: sphere (before the map A) or surface (by area)",
    ),
    option(
        "schedule",
        "tempering",
        "the temperatures of the search that verifies a decision: tempering (chains at several temperatures, which \
         swap) or annealing (the temperature falls)",
    ),
];

/// The amount of chains, for methods that step the same chains in every call.
pub(super) const CHAIN_OPTIONS: &[OptionInfo] =
    &[option("transitions", "1", "transitions of each chain per call"), option("chains", "1", "chains side by side")];

/// Several lists of options as one; N is the sum of their lengths.
pub(super) const fn joined<const N: usize>(lists: &[&[OptionInfo]]) -> [OptionInfo; N] {
    let mut all = [option("", "", ""); N];
    let (mut list, mut next) = (0, 0);
    while list < lists.len() {
        let mut index = 0;
        while index < lists[list].len() {
            all[next] = lists[list][index];
            (next, index) = (next + 1, index + 1);
        }
        list += 1;
    }
    all
}
