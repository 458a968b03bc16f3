//! Best-first branch and bound on ξ: the part with the largest bound is split next.

use std::collections::BinaryHeap;

use super::node::{BoundedNode, Measures, SplitNode, bound, halves_at};
use super::{EDGE_WIDTH, MAXIMUM_TOL, MIN_WIDTH, Split};
use crate::cuts::CutPool;
use crate::error::Error;
use crate::model::Problem;
use crate::numeric::tolerances::{COST_TOL, EDGE_TOL, LP_FEASIBILITY_TOL};
use crate::policy::{Dependence, ProvenPolicy};
use crate::recourse::RecourseOutcome;
use crate::separation::bilinear::{Trial, Work};
use crate::separation::{Ascent, Claim, Query, Separation};
use crate::uncertainty::Part;

/// The parts before the first trial of a mixed-integer program; the next one comes after twice as many.
const FIRST_PARTS: u64 = 16;

/// The work of the policies of a part.
const PART: u64 = 20_000;

/// The search for the maximum at a decision.
pub(super) struct SplitSearch<'a, 'p> {
    pub(super) problem: &'p Problem,
    pub(super) has_recourse: bool,
    pub(super) range: &'a Part,
    pub(super) query: &'a Query<'a>,
    /// A search to try in turns with parts.
    pub(super) trial: Option<&'a mut Trial<'p>>,
    /// The nodes of trials, which are not among those of parts.
    pub(super) trial_nodes: u64,
    /// Whether the bound is that of a trial.
    pub(super) is_by_trial: bool,
    pub(super) ascent: Ascent<'a>,
    /// An upper bound on the maximum, valid at any time.
    pub(super) upper: f64,
    pub(super) nodes: u64,
    /// The number of policies for the whole range, which are among the nodes.
    pub(super) rounds: u64,
    /// The dependence of the policies on ξ.
    pub(super) dependence: Dependence,
    /// The best policy for the whole range.
    pub(super) policy: Option<ProvenPolicy>,
    /// Whether an earlier search found the decision on the edge of robust feasibility.
    pub(super) is_known_edge: bool,
    /// Whether this search did.
    pub(super) is_on_edge: bool,
}

impl SplitSearch<'_, '_> {
    /// Whether the query is answered: by a scenario above its level, or by a bound within its tolerance.
    pub(super) fn is_done(&self) -> bool {
        let value = self.ascent.value();
        let target = self.query.target();
        let floor = target.above.map_or(value, |above| above.max(value));
        let least = if target.tolerance > 0.0 { COST_TOL } else { MAXIMUM_TOL };
        self.ascent.is_infeasible()
            || target.above.is_some_and(|above| value > above)
            || self.upper < f64::INFINITY && self.upper - floor <= target.tolerance.max(least * (1.0 + floor.abs()))
    }

    /// Lowers `upper` until the query is answered; without parts, by policies for the whole range only.
    pub(super) fn run(&mut self, with_parts: bool) -> Result<(), Error> {
        if self.is_done() {
            return Ok(());
        }
        if self.ascent.value() == f64::NEG_INFINITY {
            // No dual is feasible: the recourse cost is −∞ wherever recourse exists.
            if self.every_scenario_has_recourse()? {
                self.upper = f64::NEG_INFINITY;
            }
            return Ok(());
        }
        if self.range.lower == self.range.upper {
            // Q is monotone in every entry: one corner is the worst scenario.
            self.ascent.climb(&self.range.lower)?;
            self.upper = self.ascent.cost();
            return Ok(());
        }
        let mut root = self.root()?;
        if root.bound == f64::INFINITY {
            self.every_scenario_has_recourse()?;
            if !self.is_done() {
                match self.policy_with_margin(EDGE_TOL)? {
                    Some(BoundedNode { node, policy, .. }) => {
                        self.upper = node.bound;
                        self.policy = policy.map(|policy| ProvenPolicy { policy, value: node.bound });
                        root = node;
                    }
                    None => self.is_on_edge = with_parts && !self.is_known_edge && self.has_relaxed_policy()?,
                }
            }
            if self.is_on_edge {
                return Ok(());
            }
        }
        if with_parts { self.branch(root) } else { Ok(()) }
    }

    /// Splits parts, the one with the largest bound first, until the query is answered.
    fn branch(&mut self, root: SplitNode) -> Result<(), Error> {
        let mut open = BinaryHeap::from([root]);
        // The largest bound of the parts that are too narrow to be split.
        let mut narrow = f64::NEG_INFINITY;
        let mut number = 0;
        let mut parts_before_trial = FIRST_PARTS;
        loop {
            if number >= parts_before_trial {
                self.try_program(parts_before_trial)?;
                parts_before_trial *= 2;
            }
            let Some(node) = open.pop() else {
                self.upper = self.upper.min(narrow.max(self.ascent.cost()));
                return Ok(());
            };
            let by_parts = node.bound.max(narrow);
            self.is_by_trial &= self.upper <= by_parts;
            self.upper = self.upper.min(by_parts);
            if self.is_done() {
                return Ok(());
            }
            self.query.clock.check()?;
            if node.bound == f64::INFINITY && self.is_within_edge(&node.part) {
                return Ok(());
            }
            let Some((left, right)) = self.halves(&node)? else {
                narrow = narrow.max(node.bound);
                continue;
            };
            self.follow_used_variables();
            let (problem, x, clock, dependence) = (self.problem, self.query.x, self.query.clock, &self.dependence);
            let typical = self.ascent.value();
            let half = |part| bound(problem, x, part, dependence, Measures::Skipped, typical, clock);
            let bounded = rayon::join(|| half(left), || half(right));
            self.nodes += 2;
            for BoundedNode { node: child, .. } in [bounded.0?, bounded.1?].into_iter().flatten() {
                number += 1;
                self.ascent.climb(&child.high)?;
                let is_point = child.part.lower == child.part.upper;
                if !is_point {
                    open.push(SplitNode { bound: child.bound.min(node.bound), number, ..child });
                }
            }
        }
    }

    /// Tries to answer the query by a mixed-integer program, after so many parts.
    fn try_program(&mut self, parts: u64) -> Result<(), Error> {
        let Some(trial) = self.trial.as_mut().filter(|_| self.ascent.value().is_finite()) else { return Ok(()) };
        let Some(tried) = trial.search(self.query, self.ascent.worst(), Work(parts * PART))? else { return Ok(()) };
        self.trial_nodes += tried.found.nodes;
        self.ascent.climb(&tried.found.xi)?;
        if let Claim::Surely(bound) = tried.found.claim
            && bound < self.upper
        {
            self.upper = bound.max(self.ascent.cost());
            self.is_by_trial = true;
        }
        Ok(())
    }

    /// Searches a scenario without recourse, by the maximum of the elastic recourse: there may be one where no affine
    /// policy is feasible. Returns false if one was found, or if the search was inconclusive, as it always is with
    /// cones, which the elastic recourse leaves out.
    fn every_scenario_has_recourse(&mut self) -> Result<bool, Error> {
        if self.has_recourse {
            return Ok(true);
        }
        let elastic = self.problem.elastic();
        let query =
            Query::maximum(self.query.x, self.query.clock).above(LP_FEASIBILITY_TOL).with_bound(LP_FEASIBILITY_TOL);
        let found = Split::with_recourse(&elastic).separate(&query, &mut CutPool::new(&elastic))?;
        self.nodes += found.nodes;
        if found.value > LP_FEASIBILITY_TOL {
            self.ascent.climb(&found.xi)?;
        }
        let is_settled = self.problem.recourse.cones.is_empty();
        Ok(is_settled && matches!(found.claim, Claim::Surely(at_most) if at_most <= 2.0 * LP_FEASIBILITY_TOL))
    }

    /// Whether a part without a policy is so small that only a decision on the edge of robust feasibility explains it.
    /// Parts that end at levels become points, which the recourse itself decides.
    fn is_within_edge(&self, part: &Part) -> bool {
        (0..part.lower.len()).all(|entry| {
            let width = self.range.upper[entry] - self.range.lower[entry];
            part.upper[entry] - part.lower[entry] <= EDGE_WIDTH * width && self.problem.set.levels(entry).is_none()
        })
    }

    /// Whether a policy for the whole range satisfies all rows up to a small margin.
    fn has_relaxed_policy(&self) -> Result<bool, Error> {
        Ok(self.policy_with_margin(-EDGE_TOL)?.is_some())
    }

    /// Returns the best policy for the whole range that keeps a margin to all rows but equations, or satisfies them up
    /// to a negative one; `None` if there is none. With a positive margin its cost is a bound: where the solver's
    /// tolerance left a policy without repair, and not the decision without recourse, it has one.
    fn policy_with_margin(&self, margin: f64) -> Result<Option<BoundedNode>, Error> {
        let moved = self.problem.with_margin(margin);
        let dependence = Dependence::full(&moved);
        let range = self.range.clone();
        let Query { x, clock, .. } = *self.query;
        let bounded = bound(&moved, x, range, &dependence, Measures::Skipped, self.ascent.value(), clock)?;
        Ok(bounded.filter(|bounded| bounded.policy.is_some()))
    }

    /// Splits a part at the entry with the largest difference, times its width, between the slopes of policy and
    /// recourse. Returns `None` if the part is too narrow.
    fn halves(&mut self, node: &SplitNode) -> Result<Option<(Part, Part)>, Error> {
        let range = self.range;
        let inside: Vec<f64> =
            (0..node.high.len()).map(|e| node.high[e].max(node.part.lower[e]).min(node.part.upper[e])).collect();
        let answer = self.ascent.evaluate(&inside)?;
        let width = |entry: usize| node.part.upper[entry] - node.part.lower[entry];
        let share = |entry: usize| width(entry) / (range.upper[entry] - range.lower[entry]);
        let disagreement = |entry: usize| match answer.outcome {
            RecourseOutcome::Solved => width(entry) * (node.slope[entry] - answer.slope_xi[entry]).abs(),
            RecourseOutcome::Infeasible => width(entry) * answer.slope_xi[entry].abs(),
            RecourseOutcome::Unbounded => 0.0,
        };
        let wide = (0..inside.len()).filter(|&entry| width(entry) > 0.0 && share(entry) > MIN_WIDTH);
        let best = wide.max_by(|&a, &b| {
            disagreement(a).total_cmp(&disagreement(b)).then(share(a).total_cmp(&share(b))).then(b.cmp(&a))
        });
        Ok(best.map(|entry| halves_at(self.problem, range, &node.part, entry)))
    }
}
