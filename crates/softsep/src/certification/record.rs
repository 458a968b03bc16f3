//! Separation at a decision, with its answer written into the ledger.

use std::time::Instant;

use super::cost_at;
use crate::certify::Certify;
use crate::cuts::CutPool;
use crate::error::Error;
use crate::master::{MasterStart, ScenarioCopies};
use crate::model::Problem;
use crate::numeric::tolerances::FEASIBILITY_TOL;
use crate::recourse::engine;
use crate::run::Run;
use crate::separation::{Claim, Exact, Found, Query, Separation, SeparationKind, Split, ascend};

/// The relative gap of a decision for the nominal scenario after a time limit, and the largest number of nonzeros of
/// its program: a moment has to be enough for it.
const LATE_GAP: f64 = 0.05;
const LATE_NONZEROS: usize = 100_000;

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
    let begin = Instant::now();
    let separated = query.clock.with_grace(|clock| separation.separate(&query.on(clock), pool), Error::is_interrupt);
    match separated {
        Ok(found) => {
            count(&found, run);
            run.time_separation(begin.elapsed().as_secs_f64(), found.solves, found.claim != Claim::Nothing);
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

/// Gives a run over integers that its time limit has ended without a decision one that is good for the nominal
/// scenario, with its cost at the scenarios that ascents find, if a moment is enough for that.
pub(crate) fn decide_late(problem: &Problem, run: &mut Run) -> Result<(), Error> {
    let (first, recourse) = (&problem.first, &problem.recourse);
    let nonzeros = first.rows.nonzeros() + recourse.g.nonzeros() + recourse.e.nonzeros();
    let is_mixed_integer = first.has_integers() && recourse.is_linear() && first.quadratic.is_zero();
    if run.incumbent().is_some() || run.verdict().is_some() || !is_mixed_integer || nonzeros > LATE_NONZEROS {
        return Ok(());
    }
    let clock = run.clock().grace();
    let mut nominal = vec![0.0; problem.set.dim()];
    problem.set.nominal(&mut nominal);
    let master = ScenarioCopies::new(problem, vec![&nominal], &clock)?;
    let Some(x) = master.solve(&MasterStart::Cold, LATE_GAP, run.limits().seed, &clock)?.x else { return Ok(()) };
    if first.violation(&x).is_some_and(|violation| violation.amount > FEASIBILITY_TOL) {
        return Ok(());
    }
    let mut engine = engine(problem, &clock)?;
    let found = ascend(problem, engine.as_mut(), &x)?;
    run.count_solves(engine.work().solves);
    if found.value.is_finite() {
        run.consider(&x, first.value(&x) + found.value, &found.xi);
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
