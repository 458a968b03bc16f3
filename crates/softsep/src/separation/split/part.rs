//! A part of the set: its bound by the best affine policy, and its two halves.

use std::cmp::Ordering;

use super::TELLABLE;
use crate::error::Error;
use crate::model::Problem;
use crate::policy::{AffinePolicy, Decision, Dependence, PolicyProgram, PolicyRegion, PolicyStatus, ReducedMeasures};
use crate::run::Clock;
use crate::uncertainty::Part;

/// A part of the set and what is known there.
pub(super) struct Node {
    pub(super) part: Part,
    /// At most this.
    pub(super) bound: f64,
    /// How the cost of the policy behind it moves with ξ, and a point where it is high.
    pub(super) slope: Vec<f64>,
    pub(super) high: Vec<f64>,
    /// When it was made; the first of equals is split first.
    pub(super) number: u64,
}

impl Ord for Node {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bound.total_cmp(&other.bound).then(other.number.cmp(&self.number))
    }
}

impl PartialOrd for Node {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Node {}

/// Cuts a part in two at an entry: between two levels where there are some, else in the middle.
pub(super) fn halves_at(problem: &Problem, range: &Part, part: &Part, entry: usize) -> (Part, Part) {
    let (low, high) = (part.lower[entry], part.upper[entry]);
    let (mut left, mut right) = (part.clone(), part.clone());
    let levels = problem.set.levels(entry).unwrap_or_default();
    let slack = TELLABLE * (range.upper[entry] - range.lower[entry]);
    let within: Vec<f64> = levels.into_iter().filter(|&level| low - slack <= level && level <= high + slack).collect();
    if within.len() >= 2 {
        // Every extreme point is at a level: there is nothing to be found between two.
        left.upper[entry] = within[within.len() / 2 - 1];
        right.lower[entry] = within[within.len() / 2];
    } else {
        left.upper[entry] = low.midpoint(high);
        right.lower[entry] = left.upper[entry];
    }
    (left, right)
}

/// A bounded part, and what is behind the bound.
pub(super) struct Bounded {
    pub(super) node: Node,
    /// The policy, where one was found.
    pub(super) policy: Option<AffinePolicy>,
    /// What it would gain by following more of ξ, where that was wanted.
    pub(super) measures: Option<ReducedMeasures>,
}

/// Whether it is wanted what a policy would gain by following more of ξ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prices {
    Wanted,
    Unwanted,
}

/// The best affine policy on a part, where the recourse costs about `typical`; `None` if the part is empty. Its bound
/// is infinite where no such policy is feasible.
pub(super) fn bound(
    problem: &Problem,
    x: &[f64],
    part: Part,
    dependence: &Dependence,
    prices: Prices,
    typical: f64,
    clock: &Clock,
) -> Result<Option<Bounded>, Error> {
    let Some(shape) = problem.set.shape(&part) else {
        return Err(Error::Master("a list of scenarios has no parts to search: scan it".into()));
    };
    if shape.is_plainly_empty(TELLABLE) {
        return Ok(None);
    }
    let mut program = PolicyProgram::new(problem, PolicyRegion::Shape(&shape), dependence, Decision::Fixed(x))
        .with_size(typical.abs().max(1.0));
    if prices == Prices::Wanted {
        program = program.with_reduced_measures();
    }
    let solved = program.solve(clock)?;
    let is_found = solved.status == PolicyStatus::Optimal;
    match solved.status {
        // Q is finite somewhere, so its dual is feasible, and no policy can cost −∞ but on an empty part. A solver's
        // word for that is not enough.
        PolicyStatus::Unbounded if shape.ball.is_none() && shape.furthest(&vec![0.0; problem.set.dim()])?.is_none() => {
            return Ok(None);
        }
        PolicyStatus::Stopped(stop) => return Err(stop.into()),
        PolicyStatus::Optimal | PolicyStatus::Unbounded | PolicyStatus::Infeasible | PolicyStatus::Failed(_) => {}
    }
    let mut high = vec![0.0; problem.set.dim()];
    problem.set.nominal(&mut high);
    let slope = if is_found { solved.policy.cost_slope(problem, &high) } else { vec![0.0; problem.set.dim()] };
    match shape.furthest(&slope)?.filter(|_| shape.ball.is_none()) {
        Some(point) => high = point,
        None => {
            problem.set.support(&slope, &mut high)?;
        }
    }
    let node = Node { part, bound: if is_found { solved.value } else { f64::INFINITY }, slope, high, number: 0 };
    Ok(Some(Bounded { node, policy: is_found.then_some(solved.policy), measures: solved.measures }))
}
