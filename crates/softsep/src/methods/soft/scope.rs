//! What methods with soft separation take, and what they promise.

use crate::error::Unsupported;
use crate::model::Problem;
use crate::separation::Exact;
use crate::uncertainty::{SetError, StateSpec, States};

/// The states that a chain would walk on, as far as the problem's class tells.
fn roughly(problem: &Problem) -> Result<Box<dyn States + '_>, SetError> {
    problem.set.states(&StateSpec { convex: !problem.recourse.costs_move(), ..StateSpec::default() })
}

/// Continuous x, and a set with states; `integers` says why integers are not for the method.
pub(in crate::methods) fn accepts(method: &'static str, integers: &str, problem: &Problem) -> Result<(), Unsupported> {
    let refuse = |feature: String, instead: &str| Err(Unsupported { method, feature, instead: instead.into() });
    if problem.first.has_integers() {
        return refuse(integers.into(), "relax the integers, or try --method branch-and-cut");
    }
    accepts_states(method, problem)
}

/// A set with states.
pub(in crate::methods) fn accepts_states(method: &'static str, problem: &Problem) -> Result<(), Unsupported> {
    match roughly(problem) {
        Ok(_) => Ok(()),
        Err(error) => Err(Unsupported { method, feature: error.to_string(), instead: "try --method ccg".into() }),
    }
}

/// What the chain walks on, in words, or why there is nothing.
pub(in crate::methods) fn space(problem: &Problem) -> Result<String, String> {
    roughly(problem).map(|states| states.space().to_string()).map_err(|error| error.to_string())
}

/// What a result would promise.
pub(in crate::methods) fn promise(problem: &Problem) -> String {
    let exact = match Exact::choose(problem) {
        Ok(Exact::Scan(_)) => {
            "its decision is bounded from above for sure at the end, by a scan of every scenario where that is cheap"
        }
        Ok(_) => "--certify exact bounds its decision from above for sure",
        Err(_) => "no exact separation is there to bound its decision from above",
    };
    format!("a lower bound for sure; the objective is an estimate from the scenarios seen; {exact}")
}
