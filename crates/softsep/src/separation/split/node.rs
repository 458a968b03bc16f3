//! The nodes of the search: a part of the set, its bound by the best affine policy, and its two halves.

use std::cmp::Ordering;

use crate::error::Error;
use crate::model::Problem;
use crate::numeric::tolerances::COORDINATE_TOL;
use crate::policy::{AffinePolicy, Decision, Dependence, PolicyProgram, PolicyRegion, PolicyStatus, ReducedMeasures};
use crate::run::Clock;
use crate::uncertainty::Part;

/// A part of the set with its bound.
pub(super) struct SplitNode {
    pub(super) part: Part,
    /// An upper bound on the maximum over the part.
    pub(super) bound: f64,
    /// The slope in ξ of the policy's cost.
    pub(super) slope: Vec<f64>,
    /// A point with a high cost of the policy.
    pub(super) high: Vec<f64>,
    /// The number of the node in the order of creation. Of nodes with equal bounds the earliest is split first.
    pub(super) number: u64,
}

impl Ord for SplitNode {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bound.total_cmp(&other.bound).then(other.number.cmp(&self.number))
    }
}

impl PartialOrd for SplitNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for SplitNode {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for SplitNode {}

/// Splits a part in two at an entry: between two levels where there are some, else in the middle.
pub(super) fn halves_at(problem: &Problem, range: &Part, part: &Part, entry: usize) -> (Part, Part) {
    let (low, high) = (part.lower[entry], part.upper[entry]);
    let (mut left, mut right) = (part.clone(), part.clone());
    let levels = problem.set.levels(entry).unwrap_or_default();
    let slack = COORDINATE_TOL * (range.upper[entry] - range.lower[entry]);
    let within: Vec<f64> = levels.into_iter().filter(|&level| low - slack <= level && level <= high + slack).collect();
    if within.len() >= 2 {
        // Every extreme point is at a level, so that the gap between two levels is left out.
        left.upper[entry] = within[within.len() / 2 - 1];
        right.lower[entry] = within[within.len() / 2];
    } else {
        left.upper[entry] = low.midpoint(high);
        right.lower[entry] = left.upper[entry];
    }
    (left, right)
}

/// A node, and the solution that gave its bound.
pub(super) struct BoundedNode {
    pub(super) node: SplitNode,
    /// The policy, if one was found.
    pub(super) policy: Option<AffinePolicy>,
    /// The reduced measures of coefficients outside of the policy, if computed.
    pub(super) measures: Option<ReducedMeasures>,
}

/// Whether to compute reduced measures: the gains by further coefficients of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measures {
    Computed,
    Skipped,
}

/// Bounds a part by the best affine policy. `typical` is the size of the recourse cost, for scaling. Returns `None` if
/// the part is empty; the bound is infinite where no policy is feasible.
pub(super) fn bound(
    problem: &Problem,
    x: &[f64],
    part: Part,
    dependence: &Dependence,
    measures: Measures,
    typical: f64,
    clock: &Clock,
) -> Result<Option<BoundedNode>, Error> {
    let Some(shape) = problem.set.shape(&part) else {
        return Err(Error::Master("a list of scenarios has no parts to search: scan it".into()));
    };
    if shape.is_plainly_empty(COORDINATE_TOL) {
        return Ok(None);
    }
    let mut program = PolicyProgram::new(problem, PolicyRegion::Shape(&shape), dependence, Decision::Fixed(x))
        .with_size(typical.abs().max(1.0));
    if measures == Measures::Computed {
        program = program.with_reduced_measures();
    }
    let solved = program.solve(clock)?;
    let is_found = solved.status == PolicyStatus::Optimal;
    match solved.status {
        // Q is finite somewhere, so that its dual is feasible, and policies have cost −∞ on empty parts only. That the
        // part is empty is checked here, since a solver's status may be wrong.
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
    let node = SplitNode { part, bound: if is_found { solved.value } else { f64::INFINITY }, slope, high, number: 0 };
    Ok(Some(BoundedNode { node, policy: is_found.then_some(solved.policy), measures: solved.measures }))
}
