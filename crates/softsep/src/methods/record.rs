//! What a master's decision costs, written into the ledger.

use std::borrow::Cow;

use crate::definition::ScenarioList;
use crate::error::Error;
use crate::model::Problem;
use crate::numeric::tolerances::FEASIBILITY_TOL;
use crate::run::{Clock, Run};
use crate::separation::{Ask, Claim, Found, Scan, Separation};
use crate::settings::Certify;

/// Whether an error only says that the clock has stopped.
pub(super) fn is_stop(error: &Error) -> bool {
    matches!(error, Error::Stopped(_))
}

/// Separates at a decision and writes down what it costs. A decision outlives the clock: where there is no time to
/// separate any more, and there is no other, it is kept with what one scenario says, as an estimate. `None` then, and
/// for a decision that is not in X.
pub(super) fn record(
    problem: &Problem,
    x: &[f64],
    one: &[f64],
    separation: &mut dyn Separation,
    ask: &Ask,
    certify: Certify,
    run: &mut Run,
) -> Result<Option<Found>, Error> {
    if let Some(violation) = problem.first.violation(x).filter(|violation| violation.amount > FEASIBILITY_TOL) {
        run.say(&format!("the master's decision breaks the first stage by {:.1e} and is dropped", violation.amount));
        return Ok(None);
    }
    let first_cost = problem.first.value(x);
    let separated = run.clock().with_grace(|clock| separation.separate(x, ask, clock), is_stop);
    match separated {
        Ok(found) => {
            run.count_solves(found.solves);
            run.count_nodes(found.nodes);
            // A search that ended at the first scenario beyond what was asked for estimates nothing.
            let ended_early = ask.beyond.is_some_and(|beyond| found.value > beyond);
            match found.claim {
                Claim::Surely(at_most) if certify != Certify::None => {
                    run.upper(x, first_cost + found.value, first_cost + at_most, &found.xi);
                }
                Claim::Nothing if ended_early && run.bounds().best().is_some() => {}
                _ => run.estimate(x, first_cost + found.value, &found.xi),
            }
            Ok(Some(found))
        }
        Err(Error::Stopped(_)) if run.bounds().best().is_some() => Ok(None),
        Err(Error::Stopped(_)) => {
            let found = at_one(problem, x, one)?;
            run.estimate(x, first_cost + found.value, &found.xi);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// What a decision costs at one scenario, clock or no clock.
pub(super) fn at_one(problem: &Problem, x: &[f64], xi: &[f64]) -> Result<Found, Error> {
    let mut list = ScenarioList::new(xi.len());
    list.push(xi);
    Scan::new(problem, Cow::Owned(list))?.separate(x, &Ask::MAXIMUM, &Clock::unlimited())
}
