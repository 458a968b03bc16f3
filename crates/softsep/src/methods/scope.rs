//! The problems that methods with soft separation accept, and the guarantees of their results.

use super::Certify;
use crate::error::{Error, Unsupported};
use crate::model::Problem;
use crate::run::Run;
use crate::separation::soft::chain_space;
use crate::separation::{Exact, Proof, Separation, SeparationContext, SeparationKind, SoftSettings, build_separation};

/// Builds the separation of a method that proves its result only where that is asked for or cheap.
pub(super) fn separation<'p>(
    problem: &'p Problem,
    kind: &SeparationKind,
    soft: SoftSettings,
    certify: Certify,
    run: &Run,
) -> Result<Box<dyn Separation + 'p>, Error> {
    let proof = match certify {
        Certify::Exact => Proof::Required,
        Certify::Free => Proof::IfCheap,
        // Where draws are asked for, a scan does not replace them.
        Certify::Probabilistic(_) | Certify::None => Proof::Unwanted,
    };
    if certify == Certify::Exact && *kind == SeparationKind::Auto {
        Exact::choose(problem).map_err(|reason| Error::Settings(format!("--certify exact: {reason}")))?;
    }
    let (limits, clock) = (run.limits(), run.clock());
    let context = SeparationContext::new(soft, proof, limits.gap, limits.seed, clock).with_solver(run.solver());
    build_separation(kind, problem, &context)
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
            instead: match is_searchable(problem) {
                true => "relax the integers, or try --method branch-and-cut".into(),
                false => advice(problem, DRAW_A_LIST),
            },
        });
    }
    accepts(method, separation, problem)
}

/// Refuses sets that the separation cannot search.
pub(super) fn accepts(method: &'static str, separation: &SeparationKind, problem: &Problem) -> Result<(), Unsupported> {
    let refuse = |feature: String, instead: String| Unsupported { method, feature, instead };
    match separation {
        SeparationKind::Custom(_) => Ok(()),
        SeparationKind::Auto | SeparationKind::Soft => {
            chain_space(problem).map(|_| ()).map_err(|error| refuse(error.to_string(), advice(problem, DRAW_A_LIST)))
        }
        exact => Exact::of_kind(exact, problem).map(|_| ()).map_err(|reason| {
            let instead = match is_searchable(problem) {
                true => "leave --separation out".into(),
                false => advice(problem, DRAW_A_LIST),
            };
            refuse(reason.to_string(), instead)
        }),
    }
}

/// The advice where no method takes a set: methods with a scan take every list.
pub(super) const DRAW_A_LIST: &str = "draw a list of scenarios from the set and solve that";

/// Whether chains can search the set.
pub(super) fn is_searchable(problem: &Problem) -> bool {
    chain_space(problem).is_ok()
}

/// Whether `ccg` takes the problem with its default settings.
pub(super) fn has_proof(problem: &Problem) -> bool {
    super::not_for_masters(problem).is_none() && Exact::choose(problem).is_ok()
}

/// The advice of a refusal: a method that takes the problem with its default settings, or else a change of the problem.
pub(super) fn advice(problem: &Problem, change: &str) -> String {
    let soft = if problem.first.has_integers() { "branch-and-cut" } else { "bundle" };
    if has_proof(problem) {
        "try --method ccg".into()
    } else if is_searchable(problem) {
        format!("try --method {soft}")
    } else {
        change.into()
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
        Err(_) => "no exact separation applies that bounds its decision from above",
    };
    format!("a lower bound for sure; the objective is an estimate from the scenarios seen; {exact}")
}
