//! The problems that methods with soft separation accept, and what they promise.

use super::Certify;
use crate::error::Unsupported;
use crate::model::Problem;
use crate::separation::soft::chain_space;
use crate::separation::{Exact, Proof, SeparationKind};

/// The proof that a method's separation includes: one that was asked for, or one that is cheap.
pub(super) fn proof(certify: Certify) -> Proof {
    match certify {
        Certify::Exact => Proof::Required,
        Certify::Free | Certify::Probabilistic(_) => Proof::IfCheap,
        Certify::None => Proof::Unwanted,
    }
}

/// Refuses integers, for the reason given, and sets that the separation cannot search.
pub(super) fn accepts_continuous(
    method: &'static str,
    reason: &str,
    separation: &SeparationKind,
    problem: &Problem,
) -> Result<(), Unsupported> {
    if problem.first.has_integers() {
        return Err(Unsupported {
            method,
            feature: reason.into(),
            instead: "relax the integers, or try --method branch-and-cut".into(),
        });
    }
    accepts(method, separation, problem)
}

/// Refuses sets that the separation cannot search.
pub(super) fn accepts(method: &'static str, separation: &SeparationKind, problem: &Problem) -> Result<(), Unsupported> {
    let refuse = |feature: String, instead: &str| Unsupported { method, feature, instead: instead.into() };
    match separation {
        SeparationKind::Custom(_) => Ok(()),
        SeparationKind::Auto | SeparationKind::Soft => {
            chain_space(problem).map(|_| ()).map_err(|error| refuse(error.to_string(), "try --method ccg"))
        }
        exact => Exact::of_kind(exact, problem)
            .map(|_| ())
            .map_err(|reason| refuse(reason.to_string(), "leave --separation out")),
    }
}

/// The space that chains move on, in words, or why there is none.
pub(super) fn space(problem: &Problem) -> Result<String, String> {
    chain_space(problem).map(|space| space.to_string()).map_err(|error| error.to_string())
}

/// The promise of a result, in words.
pub(super) fn promise(problem: &Problem) -> String {
    let exact = match Exact::choose(problem) {
        Ok(Exact::Scan(_)) => {
            "its decision is bounded from above for sure at the end, by a scan of every scenario where that is cheap"
        }
        Ok(_) => "--certify exact bounds its decision from above for sure",
        Err(_) => "no exact separation is there to bound its decision from above",
    };
    format!("a lower bound for sure; the objective is an estimate from the scenarios seen; {exact}")
}
