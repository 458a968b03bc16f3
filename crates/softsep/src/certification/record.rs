//! Separation at a decision, with its answer written into the ledger.

use super::cost_at;
use crate::certify::Certify;
use crate::cuts::CutPool;
use crate::error::Error;
use crate::model::Problem;
use crate::numeric::tolerances::FEASIBILITY_TOL;
use crate::run::Run;
use crate::separation::{Claim, Exact, Found, Query, Separation, SeparationKind, Split};

/// Separates at a decision, inserts the cut, and writes the cost of the decision into the ledger.
///
/// A decision outlives the clock: where there is no time left to separate, and there is no incumbent, it is kept with
/// its nominal cost. Returns `None` then, and for a decision that is not in X.
pub(crate) fn separate_and_record(
    problem: &Problem,
    query: &Query,
    separation: &mut dyn Separation,
    pool: &mut CutPool,
    certify: Certify,
    run: &mut Run,
) -> Result<Option<Found>, Error> {
    let x = query.x;
    if let Some(violation) = problem.first.violation(x).filter(|violation| violation.amount > FEASIBILITY_TOL) {
        run.say(&format!("the master's decision violates the first stage by {:.1e} and is dropped", violation.amount));
        return Ok(None);
    }
    let first_cost = problem.first.value(x);
    let separated = query.clock.with_grace(|clock| separation.separate(&query.on(clock), pool), Error::is_interrupt);
    match separated {
        Ok(found) => {
            count(&found, run);
            if let Some(cut) = &found.cut {
                pool.insert(cut, &found.xi);
            }
            let value = first_cost + found.value;
            match found.claim {
                Claim::Surely(at_most) if certify != Certify::None => {
                    run.upper(x, first_cost, value, first_cost + at_most, &found.xi);
                }
                _ => _ = run.consider(x, value, &found.xi),
            }
            raise_incumbent(problem, pool, run);
            Ok(Some(found))
        }
        Err(Error::Interrupted(_)) => keep_unseparated(problem, x, run).map(|()| None),
        Err(error) => Err(error),
    }
}

/// Keeps a decision that there is no time to separate, with its nominal cost, if there is no incumbent.
pub(crate) fn keep_unseparated(problem: &Problem, x: &[f64], run: &mut Run) -> Result<(), Error> {
    if run.incumbent().is_none() {
        let mut nominal = vec![0.0; problem.set.dim()];
        problem.set.nominal(&mut nominal);
        let value = cost_at(problem, x, &nominal, run)?;
        run.consider_nominal(x, value, &nominal);
    }
    Ok(())
}

/// Raises the incumbent's cost to the value of the pool's largest cut there: a search that ended early may have missed
/// worse scenarios.
fn raise_incumbent(problem: &Problem, pool: &CutPool, run: &mut Run) {
    let Some(incumbent) = run.incumbent() else { return };
    if !pool.admits(&incumbent.x) {
        run.withdraw_incumbent();
    } else if let Some((cut, value)) = pool.largest_at(&incumbent.x) {
        let value = problem.first.value(&incumbent.x) + value;
        run.raise_incumbent(value, pool.scenario(cut));
    }
}

/// The separation for the moment after a time limit, where an exact one would be too slow: of a set that is no list,
/// one affine policy bounds the cost without a search. `None` where there is no such policy.
pub(crate) fn late_separation(problem: &Problem) -> Option<Split<'_>> {
    Exact::of_kind(&SeparationKind::Split, problem).is_ok().then(|| Split::without_parts(problem))
}

/// Adds the work of a separation to the ledger's counters.
pub(crate) fn count(found: &Found, run: &mut Run) {
    run.count_solves(found.solves);
    run.count_nodes(found.nodes);
    run.count_exact(found.exact);
}
