//! `explicit_policy`: the second-stage decision as an affine function of ξ, written down before ξ is known.

use crate::cuts::CutPool;
use crate::error::Error;
use crate::model::{Problem, Scaling};
use crate::policy::{AffinePolicy, ProvenPolicy, best_policy_over_list};
use crate::recourse::engine;
use crate::run::Clock;
use crate::separation::{Query, Separation, Split, ascend};
use crate::settings::CallLimits;
use crate::solve::{convert_error, on_threads};

/// An affine policy that is feasible for every ξ of the set, which may be a list.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ExplicitPolicy {
    /// `y(ξ) = y₀ + Yξ`.
    pub policy: AffinePolicy,
    /// A proved upper bound on the worst-case cost of the decision under the policy, f(x) included.
    pub upper: f64,
}

/// The reason why a problem has no affine policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoPolicy {
    /// No recourse variables.
    #[error("an affine policy says what recourse variables do, and there are none here")]
    NoVariables,
    /// Costs that move with ξ.
    #[error("an affine policy needs costs that do not move with ξ, and some recourse variable here has \"cost_xi\"")]
    CostsMove,
}

impl NoPolicy {
    /// Checks whether [`explicit_policy`] accepts a problem.
    pub fn check(problem: &Problem) -> Result<(), Self> {
        if problem.recourse.dim() == 0 {
            Err(Self::NoVariables)
        } else if problem.recourse.costs_move() {
            Err(Self::CostsMove)
        } else {
            Ok(())
        }
    }
}

/// An affine policy for `x`. The search ends when the policy's bound is within `gap` of the worst scenario found,
/// relative to the cost, or when affine policies come no closer. `None` if no policy was found; a limit that is met
/// before there is one is an error.
pub fn explicit_policy(
    problem: &Problem,
    x: &[f64],
    gap: f64,
    limits: &CallLimits,
) -> Result<Option<ExplicitPolicy>, Error> {
    NoPolicy::check(problem).map_err(|reason| Error::Settings(reason.to_string()))?;
    if x.len() != problem.first.dim() {
        return Err(Error::Settings(format!(
            "x has {} entries where the problem has {}",
            x.len(),
            problem.first.dim()
        )));
    }
    let clock = limits.clock();
    let Some((scaling, scaled)) = Scaling::of(problem) else {
        return on_threads(limits.threads, || search(problem, x, gap, &clock))?;
    };
    let x = scaling.to_internal(x);
    let found = on_threads(limits.threads, || search(&scaled, &x, gap, &clock))?;
    let mut found = found.map_err(|error| convert_error(error, &scaling))?;
    if let Some(ExplicitPolicy { policy, upper }) = &mut found {
        policy.convert(&scaling.recourse, &scaling.parameters);
        *upper *= scaling.cost;
    }
    Ok(found)
}

fn search(problem: &Problem, x: &[f64], gap: f64, clock: &Clock) -> Result<Option<ExplicitPolicy>, Error> {
    clock.check()?;
    let first_cost = problem.first.value(x);
    let mut lead = engine(problem, clock)?;
    let worst = ascend(problem, lead.as_mut(), x)?.value;
    if !worst.is_finite() {
        // Some scenario has no recourse, or recourse costs −∞: no policy bounds that.
        return Ok(None);
    }
    let proved = if problem.set.is_finite_list() {
        let all = problem.set.enumerate(usize::MAX).map_err(|too_many| Error::Master(too_many.to_string()))?;
        best_policy_over_list(problem, x, &all, worst, clock)?
    } else {
        let mut split = Split::without_parts(problem);
        let query = Query::maximum(x, clock).with_bound(gap * (first_cost + worst).abs());
        split.separate(&query, &mut CutPool::new(problem))?;
        split.policy().cloned()
    };
    match proved {
        Some(ProvenPolicy { policy, value }) => Ok(Some(ExplicitPolicy { policy, upper: first_cost + value })),
        None => clock.check().map(|()| None).map_err(Error::from),
    }
}
