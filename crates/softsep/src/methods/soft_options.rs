//! The options of soft separation, the same in every method whose separation may be soft; [`SoftSettings`] reads them.
//!
//! [`SoftSettings`]: crate::separation::SoftSettings

use super::OptionInfo;

const fn option(name: &'static str, default: &'static str, help: &'static str) -> OptionInfo {
    OptionInfo { name, default, help }
}

/// The options of chains, and of the search that verifies incumbents.
pub(super) const SOFT_OPTIONS: &[OptionInfo] = &[
    option(
        "proposal",
        "auto",
        "the law of a chain's candidates: uniform, weighted (by --weights), adaptive (tilted along the recourse's \
         slope), hit-and-run, geodesic, tangent, langevin, hamiltonian, local (nearby scenarios), or auto",
    ),
    option(
        "weights",
        "none",
        "for --proposal weighted: a file with a weight for each scenario of a list, one on each line, higher where you \
         expect a high cost",
    ),
    option("acceptance", "metropolis", "the rule by which a candidate is accepted: metropolis or barker"),
    option(
        "temperature",
        "auto",
        "the temperature w of a chain, in units of the objective: scenarios whose costs differ by less are about as \
         likely to be visited; auto is a small share of the gap asked for, adaptive falls with the calls as in \
         Proposition 2",
    ),
    option(
        "margin",
        "auto",
        "for --temperature adaptive: the difference between the costs of the worst and the next scenario (Δ⋆); auto \
         takes 0.1 % of the objective. For --stop bounds of sgd: the largest difference assumed between the costs of \
         the worst and the chain's scenario (Δ̃)",
    ),
    option(
        "kappa",
        "auto",
        "the concentration κ of the adaptive proposal; auto grows with the dimension, and further while few candidates \
         are accepted",
    ),
    option("share", "0.05", "the share of candidates that the adaptive and the weighted proposal draw uniformly"),
    option(
        "score",
        "exact",
        "the scores of a chain: exact (Q), or moreau:TAU for the Moreau envelope of Q with parameter TAU",
    ),
    option(
        "reference",
        "sphere",
        "the measure called uniform on the boundary of an ellipsoid: sphere (before the map A) or surface (by area)",
    ),
    option(
        "schedule",
        "tempering",
        "the temperatures of the search that verifies a decision: tempering (chains at several temperatures, which \
         exchange states) or annealing (the temperature falls)",
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
