//! Decisions inside the robust feasible set.
//!
//! A master's decision violates rows by the solver's tolerance. Where it lies on the edge of robust feasibility, some
//! scenario has no recourse there, by that tolerance, and no upper bound on its cost can be proved; nor do cuts move
//! it, since the master satisfies them within its tolerance. A decision that keeps a margin costs little more, and has
//! a bound.

use super::record::separate_and_record;
use crate::certify::Certify;
use crate::cuts::CutPool;
use crate::error::Error;
use crate::master::{MasterStart, ScenarioCopies};
use crate::model::Problem;
use crate::numeric::tolerances::{EDGE_TOL, cost_tol};
use crate::run::Run;
use crate::separation::{Claim, Query, Separation};

/// The slack of feasibility cuts, as a share of their size, up to which their scenarios may leave no recourse nearby.
const NEAR: f64 = 1e-3;

/// Scenarios of optimality cuts that the first master holds.
const COSTLY: usize = 8;

/// Masters solved, each with one more scenario.
const ROUNDS: usize = 20;

/// The margins, as shares of the size of rows. Most masters violate their rows by little more than rounding, and a
/// small margin is then enough; the last is above all that solvers may violate.
const MARGINS: [f64; 4] = [0.003 * EDGE_TOL, 0.03 * EDGE_TOL, 0.3 * EDGE_TOL, EDGE_TOL];

/// The share of the gap that is left to the master, and the one that is left to the bound.
const MASTER_SHARE: f64 = 0.1;
const BOUND_SHARE: f64 = 0.25;

/// Looks for a decision that keeps a margin, and writes an upper bound on its cost into the ledger. `x` is a decision
/// on the edge. Returns whether that closes the gap.
pub(crate) fn bound_inside(
    problem: &Problem,
    x: &[f64],
    separation: &mut dyn Separation,
    pool: &mut CutPool,
    certify: Certify,
    run: &mut Run,
) -> Result<bool, Error> {
    if !separation.is_exact() || certify == Certify::None || run.clock().check().is_err() {
        return Ok(false);
    }
    let mut nominal = vec![0.0; problem.set.dim()];
    problem.set.nominal(&mut nominal);
    let mut scenarios = pool.scenarios_at_edge(x, NEAR);
    scenarios.extend(pool.worst_scenarios(x, COSTLY));
    scenarios.push(nominal);
    for margin in MARGINS {
        if bound_with_margin(problem, margin, &mut scenarios, separation, pool, certify, run)? {
            run.say("the decision is on the edge of robust feasibility: one that keeps a margin has a bound");
            return Ok(run.bounds().meet(run.limits().gap));
        }
    }
    Ok(false)
}

/// Solves a master over scenarios, with a margin in every row of the recourse, and separates at its decision, until an
/// upper bound is found; scenarios that are found instead join the master. Returns whether a bound was found.
fn bound_with_margin(
    problem: &Problem,
    margin: f64,
    scenarios: &mut Vec<Vec<f64>>,
    separation: &mut dyn Separation,
    pool: &mut CutPool,
    certify: Certify,
    run: &mut Run,
) -> Result<bool, Error> {
    let inner = problem.with_margin(margin);
    for _ in 0..ROUNDS {
        let clock = run.clock().clone();
        let gap = run.limits().gap;
        let copies = ScenarioCopies::new(&inner, scenarios.iter().map(Vec::as_slice).collect(), &clock)?;
        let solved = copies.solve(&MasterStart::Cold, MASTER_SHARE * gap, run.limits().seed, &clock)?;
        run.count_nodes(solved.nodes);
        let (Some(x), Some(theta)) = (solved.x, solved.theta) else { return Ok(false) };
        let tolerance = BOUND_SHARE * gap * (problem.first.value(&x) + theta).abs();
        let query =
            Query::maximum(&x, &clock).above(theta + tolerance).with_bound(tolerance).with_size(run.objective_size());
        let Some(found) = separate_and_record(problem, &query, &scenarios[0], separation, pool, certify, run)? else {
            return Ok(false);
        };
        if matches!(found.claim, Claim::Surely(at_most) if at_most.is_finite()) {
            return Ok(true);
        }
        if found.value <= theta + cost_tol(theta) || clock.check().is_err() {
            return Ok(false);
        }
        scenarios.push(found.xi);
    }
    Ok(false)
}
