//! The search itself: parts by their bounds, the largest first.

use std::collections::BinaryHeap;

use super::part::{Bounded, Node, Prices, bound, halves_at};
use super::{FEASIBLE, MET, NARROW, Split, TELLABLE};
use crate::cuts::CutPool;
use crate::error::Error;
use crate::model::Problem;
use crate::policy::{Dependence, ProvenPolicy};
use crate::recourse::Outcome;
use crate::run::Clock;
use crate::separation::{Ascent, Claim, Query, Separation, Target};
use crate::uncertainty::Part;

/// One search for the maximum at one decision.
pub(super) struct Search<'a> {
    pub(super) problem: &'a Problem,
    pub(super) has_recourse: bool,
    pub(super) range: &'a Part,
    pub(super) x: &'a [f64],
    pub(super) target: Target,
    pub(super) ascent: Ascent<'a>,
    pub(super) clock: &'a Clock,
    /// The maximum is at most this, at any time.
    pub(super) best: f64,
    pub(super) nodes: u64,
    /// Policies for the whole set among them.
    pub(super) rounds: u64,
    /// What of ξ the policies follow by now.
    pub(super) dependence: Dependence,
    /// The best policy for the whole set.
    pub(super) policy: Option<ProvenPolicy>,
}

impl Search<'_> {
    /// Whether there is nothing more to do: a scenario beyond what was asked for, or a bound close enough to the worst
    /// one met.
    pub(super) fn is_done(&self) -> bool {
        let value = self.ascent.value();
        let floor = self.target.above.map_or(value, |above| above.max(value));
        let least = if self.target.tolerance > 0.0 { TELLABLE } else { MET };
        self.ascent.is_infeasible()
            || self.target.above.is_some_and(|above| value > above)
            || self.best < f64::INFINITY && self.best - floor <= self.target.tolerance.max(least * (1.0 + floor.abs()))
    }

    /// Lowers `best` until it is done, or by one policy for the whole set if parts are not wanted.
    pub(super) fn run(&mut self, with_parts: bool) -> Result<(), Error> {
        if self.is_done() {
            return Ok(());
        }
        if self.ascent.value() == f64::NEG_INFINITY {
            // There is no dual: recourse costs −∞ wherever it exists.
            if self.every_scenario_has_recourse()? {
                self.best = f64::NEG_INFINITY;
            }
            return Ok(());
        }
        if self.range.lower == self.range.upper {
            // Q rises or falls with every entry whatever the rest does: one corner is the worst.
            self.ascent.climb(&self.range.lower)?;
            self.best = self.ascent.cost();
            return Ok(());
        }
        let root = self.root()?;
        if root.bound == f64::INFINITY {
            self.every_scenario_has_recourse()?;
        }
        if !with_parts {
            return Ok(());
        }
        let mut open = BinaryHeap::from([root]);
        // Parts too narrow to split keep their bounds.
        let mut narrow = f64::NEG_INFINITY;
        let mut number = 0;
        loop {
            let Some(node) = open.pop() else {
                self.best = self.best.min(narrow.max(self.ascent.cost()));
                return Ok(());
            };
            self.best = self.best.min(node.bound.max(narrow));
            if self.is_done() {
                return Ok(());
            }
            self.clock.check()?;
            let Some((left, right)) = self.halves(&node)? else {
                narrow = narrow.max(node.bound);
                continue;
            };
            self.follow_what_is_used();
            let (problem, x, clock, dependence) = (self.problem, self.x, self.clock, &self.dependence);
            let typical = self.ascent.value();
            let half = |part| bound(problem, x, part, dependence, Prices::Unwanted, typical, clock);
            let bounded = rayon::join(|| half(left), || half(right));
            self.nodes += 2;
            for Bounded { node: child, .. } in [bounded.0?, bounded.1?].into_iter().flatten() {
                number += 1;
                self.ascent.climb(&child.high)?;
                let is_point = child.part.lower == child.part.upper;
                if !is_point {
                    open.push(Node { bound: child.bound.min(node.bound), number, ..child });
                }
            }
        }
    }

    /// Where no affine policy is feasible there may be scenarios without recourse: the elastic recourse says where.
    /// False if one was found, or if that is not settled, as it never is where there are cones: the elastic recourse
    /// has none.
    fn every_scenario_has_recourse(&mut self) -> Result<bool, Error> {
        if self.has_recourse {
            return Ok(true);
        }
        let elastic = self.problem.elastic();
        let query = Query::maximum(self.x, self.clock).above(FEASIBLE).with_bound(FEASIBLE);
        let found = Split::with_recourse(&elastic).separate(&query, &mut CutPool::new(&elastic))?;
        self.nodes += found.nodes;
        if found.value > FEASIBLE {
            self.ascent.climb(&found.xi)?;
        }
        let is_settled = self.problem.recourse.cones.is_empty();
        Ok(is_settled && matches!(found.claim, Claim::Surely(at_most) if at_most <= 2.0 * FEASIBLE))
    }

    /// Splits a part where its policy and the recourse disagree most across it; `None` if it is too narrow.
    fn halves(&mut self, node: &Node) -> Result<Option<(Part, Part)>, Error> {
        let range = self.range;
        let inside: Vec<f64> =
            (0..node.high.len()).map(|e| node.high[e].max(node.part.lower[e]).min(node.part.upper[e])).collect();
        let answer = self.ascent.look(&inside)?;
        let width = |entry: usize| node.part.upper[entry] - node.part.lower[entry];
        let share = |entry: usize| width(entry) / (range.upper[entry] - range.lower[entry]);
        let disagreement = |entry: usize| match answer.outcome {
            Outcome::Solved => width(entry) * (node.slope[entry] - answer.slope_xi[entry]).abs(),
            Outcome::Infeasible => width(entry) * answer.slope_xi[entry].abs(),
            Outcome::Unbounded => 0.0,
        };
        let wide = (0..inside.len()).filter(|&entry| width(entry) > 0.0 && share(entry) > NARROW);
        let best = wide.max_by(|&a, &b| {
            disagreement(a).total_cmp(&disagreement(b)).then(share(a).total_cmp(&share(b))).then(b.cmp(&a))
        });
        Ok(best.map(|entry| halves_at(self.problem, range, &node.part, entry)))
    }
}
