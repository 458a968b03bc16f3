//! Exact separation over sets that cannot be enumerated: branch and bound on ξ, with affine policies as bounds.
//!
//! Over any part of the set the best affine policy bounds the worst case from above, whatever the set and however the
//! duals are bounded; ascents bound it from below. Where the two differ the part is split in two. On parts that are
//! points, or simplices, affine policies are exact, so the bounds meet: after finitely many splits where the extreme
//! points lie on levels, in the limit elsewhere.

mod part;
mod root;
mod search;

use self::search::Search;
use super::slopes::ends;
use super::{Ascent, Claim, Found, Query, Separation, SlopeRanges};
use crate::cuts::CutPool;
use crate::definition::ScenarioList;
use crate::error::Error;
use crate::model::Problem;
use crate::policy::{Dependence, ProvenPolicy};
use crate::recourse::engine;
use crate::run::Clock;
use crate::uncertainty::Part;

/// Two numbers closer than this, relative to their size, are equal: no solver here tells them apart.
const TELLABLE: f64 = 1e-9;

/// Where the maximum is asked for and no tolerance is given, a bound this close to the worst scenario met, relative to
/// it, has met it: policies take some room for their rows, and come little closer.
const MET: f64 = 1e-7;

/// A miss of a row below this counts as none: the recourse engines' own tolerance.
const FEASIBLE: f64 = 1e-7;

/// A part narrower than this share of the set's range is not split any more.
const NARROW: f64 = 1e-7;

/// Worst scenarios of earlier decisions from which ascents start.
const KEPT: usize = 16;

/// Ascents from random directions, besides two for each entry of ξ.
const STARTS: usize = 30;

/// Branch and bound on ξ.
pub struct Split<'p> {
    problem: &'p Problem,
    /// The range of each entry of ξ that has to be searched, once known.
    range: Option<Part>,
    /// Worst scenarios of earlier decisions.
    kept: ScenarioList,
    /// Whether every scenario is known to have recourse.
    has_recourse: bool,
    /// Whether parts are bounded by policies of their own, or one policy for the whole set is all that is wanted.
    with_parts: bool,
    /// The best policy at the last decision for all that was searched.
    policy: Option<ProvenPolicy>,
    /// How the last claim came about.
    proof: Option<String>,
}

impl<'p> Split<'p> {
    /// The costs of the problem's recourse must not move with ξ, and its set must be convex.
    pub fn new(problem: &'p Problem) -> Self {
        Self {
            problem,
            range: None,
            kept: ScenarioList::new(problem.set.dim()),
            has_recourse: false,
            with_parts: true,
            policy: None,
            proof: None,
        }
    }

    /// The bound by one affine policy, without parts: as close as affine policies come. The policy is feasible on the
    /// whole set, also where Q cannot be worst and a search need not look.
    pub fn without_parts(problem: &'p Problem) -> Self {
        Self { with_parts: false, ..Self::new(problem) }
    }

    /// The best policy at the last decision for all of the set that was searched, and what it costs at most.
    pub fn policy(&self) -> Option<&ProvenPolicy> {
        self.policy.as_ref()
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
        if !self.with_parts {
            return Ok(self.range.insert(range).clone());
        }
        let (mut axis, mut xi) = (vec![0.0; set.dim()], vec![0.0; set.dim()]);
        for entry in 0..set.dim() {
            axis[entry] = 1.0;
            range.upper[entry] = set.support(&axis, &mut xi)?;
            axis[entry] = -1.0;
            range.lower[entry] = -set.support(&axis, &mut xi)?;
            axis[entry] = 0.0;
        }
        // Ranges of slopes are known where the duals are a polyhedron.
        let slopes = if self.problem.recourse.is_linear() { SlopeRanges::of(self.problem, clock)? } else { None };
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
        let mut kept = ScenarioList::new(xi.len());
        self.kept.iter().skip(from).for_each(|xi| kept.push(xi));
        kept.push(xi);
        self.kept = kept;
    }
}

impl Separation for Split<'_> {
    fn separate(&mut self, query: &Query, _pool: &mut CutPool) -> Result<Found, Error> {
        let (x, clock) = (query.x, query.clock);
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
            target: query.target(),
            ascent,
            clock,
            best: f64::INFINITY,
            nodes: 0,
            rounds: 0,
            dependence: Dependence::none(self.problem),
            policy: None,
        };
        match search.run(self.with_parts) {
            Ok(()) | Err(Error::Interrupted(_)) => {}
            Err(error) => return Err(error),
        }
        let (best, nodes) = (search.best.max(search.ascent.cost()), search.nodes);
        let coefficients = search.dependence.coefficients();
        self.proof = search.policy.as_ref().map(|_| match nodes - search.rounds {
            0 => format!("one affine policy with {coefficients} coefficients, the largest of {}", search.rounds),
            parts => format!("affine policies with up to {coefficients} coefficients on {parts} parts of the set"),
        });
        self.policy = search.policy;
        let worst = search.ascent.worst().to_vec();
        let found = match search.ascent.found() {
            // A bound outlives the clock: the worst scenario's cut takes one solve more.
            Err(Error::Interrupted(_)) => {
                let mut lead = engine(self.problem, &clock.grace())?;
                let mut ascent = Ascent::new(self.problem, lead.as_mut(), x);
                ascent.climb(&worst)?;
                ascent.found()?
            }
            found => found?,
        };
        let found = Found { nodes, exact: 1, ..found };
        self.keep(&found.xi);
        Ok(match found.claim {
            Claim::Nothing if best < f64::INFINITY => Found { claim: Claim::Surely(best), ..found },
            _ => found,
        })
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn proof(&self) -> Option<String> {
        self.proof.clone()
    }
}
