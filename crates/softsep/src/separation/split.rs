//! Exact separation over sets that cannot be enumerated: branch and bound on ξ, with affine policies as bounds.
//!
//! Over any part of the set the best affine policy bounds the worst case from above, whatever the set and however the duals are bounded; ascents
//! bound it from below. Where the two differ the part is split in two. On parts that are points, or simplices, affine policies are exact, so
//! the bounds meet: after finitely many splits where the extreme points lie on levels, in the limit elsewhere.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::slopes::ends;
use super::{Ascent, Ask, Claim, Found, Separation, SlopeRanges};
use crate::error::Error;
use crate::format::Points;
use crate::model::Problem;
use crate::policy::{Affine, Decision, Dependence, Ended, Region};
use crate::recourse::{Outcome, engine};
use crate::run::Clock;
use crate::uncertainty::Part;

/// Two bounds closer than this, relative to their size, are equal: no solver here tells them apart.
const TELLABLE: f64 = 1e-9;

/// A miss of a row below this counts as none: the recourse engines' own tolerance.
const FEASIBLE: f64 = 1e-7;

/// A part narrower than this share of the set's range is not split any more.
const NARROW: f64 = 1e-7;

/// Worst scenarios of earlier decisions from which ascents start.
const KEPT: usize = 16;

/// Ascents from random directions, besides two for each entry of ξ.
const STARTS: usize = 30;

/// Coefficients of a policy that follows every entry of ξ in every recourse variable; beyond that many only variables seen in use adapt.
const FULL: usize = 30_000;

/// Branch and bound on ξ.
pub struct Split<'p> {
    problem: &'p Problem,
    /// The range of each entry of ξ that has to be searched, once known.
    range: Option<Part>,
    /// Worst scenarios of earlier decisions.
    kept: Points,
    /// Whether every scenario is known to have recourse.
    has_recourse: bool,
}

/// A part of the set and what is known there.
struct Node {
    part: Part,
    /// At most this.
    bound: f64,
    /// How the cost of the policy behind it moves with ξ, and a point where it is high.
    slope: Vec<f64>,
    high: Vec<f64>,
    /// When it was made; the first of equals is split first.
    number: u64,
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

impl<'p> Split<'p> {
    /// The problem's recourse must be linear with fixed costs, and its set convex.
    pub fn new(problem: &'p Problem) -> Self {
        Self { problem, range: None, kept: Points::new(problem.set.dim()), has_recourse: false }
    }

    /// The same for a problem that has recourse to every scenario, as elastic ones do.
    fn with_recourse(problem: &'p Problem) -> Self {
        Self { has_recourse: true, ..Self::new(problem) }
    }

    /// The range of each entry of ξ in which some worst scenario lies, whatever the decision: found once.
    fn range(&mut self, clock: &Clock) -> Result<Part, Error> {
        if let Some(range) = &self.range {
            return Ok(range.clone());
        }
        let set = &self.problem.set;
        let mut range = Part::whole(set.dim());
        let (mut axis, mut xi) = (vec![0.0; set.dim()], vec![0.0; set.dim()]);
        for entry in 0..set.dim() {
            axis[entry] = 1.0;
            range.upper[entry] = set.support(&axis, &mut xi)?;
            axis[entry] = -1.0;
            range.lower[entry] = -set.support(&axis, &mut xi)?;
            axis[entry] = 0.0;
        }
        let slopes = SlopeRanges::of(self.problem, clock)?;
        let polytope = set.shape(&range).and_then(|shape| shape.polytope.filter(|_| shape.ball.is_none()));
        if let (Some(slopes), Some(polytope)) = (slopes, polytope) {
            for (entry, (lower, upper)) in ends(&slopes.reduce(&polytope)).into_iter().enumerate() {
                // What is left begins and ends where the set or its levels do, or it is where it was up to rounding.
                let (least, most) = (range.lower[entry], range.upper[entry]);
                let mut marks = set.levels(entry).unwrap_or_default();
                marks.extend([least, most]);
                let snapped = |end: f64| {
                    let near = |mark: &&f64| (**mark - end).abs() <= TELLABLE * (most - least);
                    marks.iter().find(near).copied().unwrap_or(end).max(least).min(most)
                };
                range.lower[entry] = snapped(lower);
                range.upper[entry] = snapped(upper).max(range.lower[entry]);
            }
        }
        Ok(self.range.insert(range).clone())
    }

    /// Keeps a scenario for later decisions, the newest in place of the oldest.
    fn keep(&mut self, xi: &[f64]) {
        if self.kept.iter().any(|kept| kept == xi) {
            return;
        }
        let from = (self.kept.len() + 1).saturating_sub(KEPT);
        let mut kept = Points::new(xi.len());
        self.kept.iter().skip(from).for_each(|xi| kept.push(xi));
        kept.push(xi);
        self.kept = kept;
    }
}

impl Separation for Split<'_> {
    fn separate(&mut self, x: &[f64], ask: &Ask, clock: &Clock) -> Result<Found, Error> {
        let range = self.range(clock)?;
        let mut lead = engine(self.problem, clock)?;
        let mut ascent = Ascent::new(self.problem, lead.as_mut(), x);
        for xi in self.kept.iter() {
            ascent.climb(xi)?;
        }
        ascent.climb_from_axes()?;
        // The more is seen of what the recourse does, the better the policies: many starts, always the same ones.
        ascent.climb_at_random(STARTS + 2 * self.problem.set.dim(), 0)?;
        let mut search = Search {
            problem: self.problem,
            has_recourse: self.has_recourse,
            range: &range,
            x,
            ask: *ask,
            ascent,
            clock,
            best: f64::INFINITY,
            nodes: 0,
        };
        match search.run() {
            Ok(()) | Err(Error::Stopped(_)) => {}
            Err(error) => return Err(error),
        }
        let (best, nodes) = (search.best.max(search.ascent.cost()), search.nodes);
        let found = Found { nodes, ..search.ascent.found()? };
        self.keep(&found.xi);
        Ok(match found.claim {
            Claim::Nothing if best < f64::INFINITY => Found { claim: Claim::Surely(best), ..found },
            _ => found,
        })
    }
}

/// One search for the maximum at one decision.
struct Search<'a> {
    problem: &'a Problem,
    has_recourse: bool,
    range: &'a Part,
    x: &'a [f64],
    ask: Ask,
    ascent: Ascent<'a>,
    clock: &'a Clock,
    /// The maximum is at most this, at any time.
    best: f64,
    nodes: u64,
}

impl Search<'_> {
    /// Whether there is nothing more to do: a scenario beyond what was asked for, or a bound close enough to the worst one met.
    fn is_done(&self) -> bool {
        let value = self.ascent.value();
        let floor = self.ask.beyond.map_or(value, |beyond| beyond.max(value));
        self.ascent.is_infeasible()
            || self.ask.beyond.is_some_and(|beyond| value > beyond)
            || self.best < f64::INFINITY && self.best - floor <= self.ask.tolerance.max(TELLABLE * (1.0 + floor.abs()))
    }

    /// Lowers `best` until it is done.
    fn run(&mut self) -> Result<(), Error> {
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
            let dependence = Dependence::of(self.problem, |j| self.ascent.used()[j]);
            let (problem, x, clock) = (self.problem, self.x, self.clock);
            let bounded =
                rayon::join(|| bound(problem, x, left, &dependence, clock), || bound(problem, x, right, &dependence, clock));
            self.nodes += 2;
            for child in [bounded.0?, bounded.1?].into_iter().flatten() {
                number += 1;
                self.ascent.climb(&child.high)?;
                let is_point = child.part.lower == child.part.upper;
                if !is_point {
                    open.push(Node { bound: child.bound.min(node.bound), number, ..child });
                }
            }
        }
    }

    /// The whole set: first with the recourse variables seen in use, and with those in use where the policy is worst, as long as that helps; then
    /// with all, if they are not too many.
    fn root(&mut self) -> Result<Node, Error> {
        let problem = self.problem;
        let full = Dependence::full(problem);
        let mut root: Option<Node> = None;
        loop {
            let dependence = Dependence::of(problem, |j| self.ascent.used()[j]);
            let before = self.best;
            self.take_root(&dependence, &mut root)?;
            let grown = Dependence::of(problem, |j| self.ascent.used()[j]) != dependence;
            let is_slow = !(before - self.best > 0.1 * (self.best - self.ascent.value()));
            if self.is_done() || dependence == full || !grown || is_slow {
                break;
            }
        }
        if !self.is_done() && full.coefficients() <= FULL {
            self.take_root(&full, &mut root)?;
        }
        let nothing = || Node {
            part: self.range.clone(),
            bound: f64::INFINITY,
            slope: vec![0.0; problem.set.dim()],
            high: self.ascent.worst().to_vec(),
            number: 0,
        };
        Ok(root.unwrap_or_else(nothing))
    }

    /// Bounds the whole set by policies of one kind.
    fn take_root(&mut self, dependence: &Dependence, root: &mut Option<Node>) -> Result<(), Error> {
        let node = bound(self.problem, self.x, self.range.clone(), dependence, self.clock)?;
        self.nodes += 1;
        if let Some(node) = node {
            self.ascent.climb(&node.high)?;
            self.best = self.best.min(node.bound);
            if root.as_ref().is_none_or(|root| node.bound < root.bound) {
                *root = Some(node);
            }
        }
        Ok(())
    }

    /// Where no affine policy is feasible there may be scenarios without recourse: the elastic recourse says where. False if one was found, or if
    /// that is not settled.
    fn every_scenario_has_recourse(&mut self) -> Result<bool, Error> {
        if self.has_recourse {
            return Ok(true);
        }
        let elastic = self.problem.elastic();
        let ask = Ask { beyond: Some(FEASIBLE), tolerance: FEASIBLE };
        let found = Split::with_recourse(&elastic).separate(self.x, &ask, self.clock)?;
        self.nodes += found.nodes;
        if found.value > FEASIBLE {
            self.ascent.climb(&found.xi)?;
        }
        Ok(matches!(found.claim, Claim::Surely(at_most) if at_most <= 2.0 * FEASIBLE))
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
        let best =
            wide.max_by(|&a, &b| disagreement(a).total_cmp(&disagreement(b)).then(share(a).total_cmp(&share(b))).then(b.cmp(&a)));
        Ok(best.map(|entry| halves_at(self.problem, range, &node.part, entry)))
    }
}

fn halves_at(problem: &Problem, range: &Part, part: &Part, entry: usize) -> (Part, Part) {
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

/// The best affine policy on a part; `None` if the part is empty. Its bound is infinite where no such policy is feasible.
fn bound(problem: &Problem, x: &[f64], part: Part, dependence: &Dependence, clock: &Clock) -> Result<Option<Node>, Error> {
    let Some(shape) = problem.set.shape(&part) else {
        return Err(Error::Master("a list of scenarios has no parts to search: scan it".into()));
    };
    if shape.is_plainly_empty(TELLABLE) {
        return Ok(None);
    }
    let solved = Affine::new(problem, Region::Shape(&shape), dependence, Decision::Fixed(x)).solve(clock)?;
    let bound = match solved.ended {
        Ended::Optimal => solved.value,
        // Q is finite somewhere, so its dual is feasible, and no policy can cost −∞ but on an empty part. A solver's word for that is not enough.
        Ended::Unbounded if shape.ball.is_none() && shape.furthest(&solved.cost_slope)?.is_none() => return Ok(None),
        Ended::Unbounded | Ended::Infeasible | Ended::Failed(_) => f64::INFINITY,
        Ended::Stopped(stop) => return Err(stop.into()),
    };
    let slope = solved.cost_slope;
    let mut high = vec![0.0; problem.set.dim()];
    match shape.furthest(&slope)?.filter(|_| shape.ball.is_none()) {
        Some(point) => high = point,
        None => {
            problem.set.support(&slope, &mut high)?;
        }
    }
    Ok(Some(Node { part, bound, slope, high, number: 0 }))
}
