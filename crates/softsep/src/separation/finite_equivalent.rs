//! Finite lists of scenarios with the same worst case as the whole set.

use std::borrow::Cow;

use crate::definition::ScenarioList;
use crate::model::Problem;
use crate::uncertainty::{Count, TooMany};

/// The reason why a set has no finite equivalent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoFiniteEquivalent {
    /// Q is not convex in ξ.
    #[error(
        "costs move with ξ, so that Q is not convex in ξ and the extreme points of the set do not tell its worst case"
    )]
    CostsMove,
    /// There are too many extreme points.
    #[error(transparent)]
    TooMany(#[from] TooMany),
}

/// Returns a finite list of at most `limit` scenarios with the same maximum of Q(x, ·) as the set, for every x.
///
/// A finite list is its own equivalent. The extreme points are that of any other set where Q(x, ·) is convex, since the
/// maximum is then at one of them. Q is convex in ξ if ξ is in right-hand sides only, also with cones and a quadratic
/// cost. If costs depend on ξ, Q is a minimum of functions bilinear in (y, ξ), and its maximum may be inside the set.
pub fn finite_equivalent(problem: &Problem, limit: usize) -> Result<Cow<'_, ScenarioList>, NoFiniteEquivalent> {
    let set = &problem.set;
    if !set.is_finite_list() && set.extremes() != Count::Exactly(1) && problem.recourse.costs_move() {
        return Err(NoFiniteEquivalent::CostsMove);
    }
    Ok(set.enumerate(limit)?)
}
