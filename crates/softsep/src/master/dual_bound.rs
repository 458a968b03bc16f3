//! Lower bounds of linear masters, proved by the duals of HiGHS.
//!
//! The dual tolerance of HiGHS is absolute: a basis whose duals have the wrong sign by 1e-7 is optimal to it. Where
//! duals are of that size themselves its objective can be above the optimum by any amount.

use softsep_lp::{Basis, DualBound, Lp, Model, Status, Toggle};

use crate::error::Error;
use crate::numeric::tolerances::{COST_TOL, LP_FEASIBILITY_TOL, STRICT_DUAL_TOL};
use crate::run::Clock;

/// Pivots per row and column after which a solve with the strict tolerance ends: it may cycle.
const MAX_PIVOTS_PER_LINE: u32 = 20;

/// Returns `objective` if the multipliers `dual` prove it up to [`COST_TOL`] or rounding.
pub(super) fn confirmed_objective(model: &Model, dual: &[f64], objective: f64) -> Option<f64> {
    confirmed(objective, model.dual_bound(dual))
}

/// Returns `objective` if the bound is below it by no more than [`COST_TOL`] or its own rounding.
pub(crate) fn confirmed(objective: f64, bound: Option<DualBound>) -> Option<f64> {
    bound
        .is_some_and(|bound| objective - bound.value <= bound.rounding.max(COST_TOL * objective.abs()))
        .then_some(objective)
}

/// Returns a proved lower bound on the optimum of `model`, a linear program without integers for which `lp` has found
/// an optimum, and the status of `lp`: see [`proved_objective`]. The least dual tolerance stays set if it succeeds.
pub(super) fn proved_lower(lp: &mut Lp, model: &Model, clock: &Clock) -> Result<(Option<f64>, Status), Error> {
    let mut dual = Vec::new();
    proved_objective(lp, &mut dual, &mut |dual| model.dual_bound(dual), clock)
}

/// Returns a proved lower bound on the optimum of the linear program that `lp` has solved, and the status of `lp`.
///
/// The bound is the objective of `lp` if `bound_of` its duals proves that up to [`COST_TOL`]. If it does not, `lp` is
/// solved again with the least dual tolerance of HiGHS, which stays set if that succeeds; the bound is then the one
/// that the duals prove, if any. `dual` has the duals of the last optimum.
pub(crate) fn proved_objective(
    lp: &mut Lp,
    dual: &mut Vec<f64>,
    bound_of: &mut dyn FnMut(&[f64]) -> Option<DualBound>,
    clock: &Clock,
) -> Result<(Option<f64>, Status), Error> {
    dual.resize(lp.rows(), 0.0);
    lp.dual(dual)?;
    let bound = bound_of(dual);
    if let Some(lower) = confirmed(lp.objective(), bound) {
        return Ok((Some(lower), Status::Optimal));
    }
    let mut basis = Basis::default();
    if lp.has_basis() {
        lp.basis(&mut basis)?;
    }
    lp.set_presolve(Toggle::Off)?;
    lp.set_dual_tolerance(STRICT_DUAL_TOL)?;
    lp.set_iteration_limit(Some(MAX_PIVOTS_PER_LINE.saturating_mul((lp.rows() + lp.cols()) as u32)))?;
    lp.set_time_limit(clock.left())?;
    let mut status = lp.solve()?;
    lp.set_iteration_limit(None)?;
    if status == Status::Optimal {
        lp.dual(dual)?;
        let stricter = bound_of(dual);
        return Ok((confirmed(lp.objective(), stricter).or(larger(bound, stricter)), status));
    }
    // The first optimum is still one within the tolerances of HiGHS.
    lp.set_dual_tolerance(LP_FEASIBILITY_TOL)?;
    if !basis.is_empty() && lp.set_basis(&basis).is_ok() {
        status = lp.solve()?;
    }
    Ok((larger(bound, None), status))
}

/// The larger of two bounds, less its rounding error.
fn larger(one: Option<DualBound>, other: Option<DualBound>) -> Option<f64> {
    one.into_iter().chain(other).map(|bound| bound.value - bound.rounding).reduce(f64::max)
}
