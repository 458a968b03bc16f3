//! When a finite list of scenarios can stand for the whole set.

use std::borrow::Cow;

use crate::definition::ScenarioList;
use crate::model::Problem;
use crate::uncertainty::{Count, TooMany};

/// Why no finite list of scenarios stands for a set.
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

/// The finite list of scenarios that can stand for the whole set in this problem, or why there is none.
///
/// A finite list stands for itself. Of any other set the extreme points do where Q(x, ·) is convex: then its maximum is
/// at one of them. Q is convex in ξ when ξ moves right-hand sides only, whatever the cones and the quadratic cost; when
/// it moves costs, Q is a minimum of functions bilinear in (y, ξ), and its maximum may be inside the set.
pub fn finite_equivalent(problem: &Problem, limit: usize) -> Result<Cow<'_, ScenarioList>, NoFiniteEquivalent> {
    let set = &problem.set;
    if !set.is_finite_list() && set.extremes() != Count::Exactly(1) && problem.recourse.costs_move() {
        return Err(NoFiniteEquivalent::CostsMove);
    }
    Ok(set.enumerate(limit)?)
}
