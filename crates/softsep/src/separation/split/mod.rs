//! Exact separation over sets that cannot be enumerated: branch and bound on ξ, with affine policies as bounds.
//!
//! On any part of the set the cost of the best affine policy is an upper bound on the worst case, for every set and
//! whether or not the duals are bounded. Ascents give lower bounds. A part on which the two differ is split in two. On
//! points and simplices affine policies are exact, so that the bounds meet: after finitely many splits where the
//! extreme points lie on levels, in the limit elsewhere.
//!
//! At a decision on the edge of robust feasibility the parts around a scenario that leaves no slack have no policy
//! however small they are. The first answer there has no bound and comes at once, so that the caller may move the
//! decision inside; where it asks again, the parts are searched.

mod node;
mod root;
mod search;

use softsep_lp::MipSolver;

use self::search::SplitSearch;
use super::bilinear::Trial;
use super::slopes::ends;
use super::{Ascent, Claim, Found, Query, Separation, SlopeRanges};
use crate::cuts::CutPool;
use crate::definition::ScenarioList;
use crate::error::Error;
use crate::model::Problem;
use crate::numeric::tolerances::COORDINATE_TOL;
use crate::policy::{Dependence, ProvenPolicy};
use crate::recourse::engine;
use crate::run::Clock;
use crate::uncertainty::Part;

/// The distance of the bound from the worst scenario's cost, relative to it, that ends a search for the maximum with
/// tolerance zero. Policies keep a margin to their rows, and come little closer.
const MAXIMUM_TOL: f64 = 1e-7;

/// The smallest width of a part that is split, as a share of the set's range.
const MIN_WIDTH: f64 = 1e-7;

/// The width of a part without a policy, as a share of the set's range, at which the search ends without a bound: the
/// scenarios within it leave no slack, and an ellipsoid has more and more such parts.
const EDGE_WIDTH: f64 = 1e-4;

/// The largest number of worst scenarios of earlier decisions from which ascents start.
const MAX_KEPT: usize = 16;

/// The number of ascents from random directions, besides two for each entry of ξ.
const RANDOM_STARTS: usize = 30;

/// Scenarios of the cut pool that ascents start from: those with the largest cuts at the decision.
const POOL_STARTS: usize = 16;

/// Branch and bound on ξ.
pub struct Split<'p> {
    problem: &'p Problem,
    /// The range of each entry of ξ that has to be searched; computed by the first call.
    range: Option<Part>,
    /// Worst scenarios of earlier decisions.
    kept: ScenarioList,
    /// Whether every scenario is known to have recourse.
    has_recourse: bool,
    /// Whether the set is split into parts with policies of their own.
    with_parts: bool,
    /// The best policy at the last decision for the whole search range.
    policy: Option<ProvenPolicy>,
    /// How the last claim was proved, in words.
    proof: Option<String>,
    /// The last decision found on the edge of robust feasibility.
    edge: Option<Vec<f64>>,
    /// A search to try where many parts are open.
    trial: Option<Trial<'p>>,
}

impl<'p> Split<'p> {
    /// A separation for a problem whose recourse costs do not depend on ξ and whose set is convex.
    pub fn new(problem: &'p Problem) -> Self {
        Self {
            problem,
            range: None,
            kept: ScenarioList::new(problem.set.dim()),
            has_recourse: false,
            with_parts: true,
            policy: None,
            proof: None,
            edge: None,
            trial: None,
        }
    }

    /// The same separation, with a mixed-integer program to try in turns with the parts, where it applies.
    pub(super) fn with_trial(self, solver: &MipSolver) -> Self {
        Self { trial: Trial::new(self.problem, solver), ..self }
    }

    /// A separation whose bound is that of one affine policy, without splits. The policy is feasible on the whole set,
    /// including scenarios that cannot be worst.
    pub fn without_parts(problem: &'p Problem) -> Self {
        Self { with_parts: false, ..Self::new(problem) }
    }

    /// Returns the best policy at the last decision for the whole search range, and its largest cost.
    pub fn policy(&self) -> Option<&ProvenPolicy> {
        self.policy.as_ref()
    }

    /// A separation for a problem with recourse at every scenario, as elastic ones have.
    fn with_recourse(problem: &'p Problem) -> Self {
        Self { has_recourse: true, ..Self::new(problem) }
    }

    /// Returns the range of each entry of ξ that holds a worst scenario for every decision; computed once.
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
        // Ranges of slopes are computed where the duals are a polyhedron.
        let slopes = if self.problem.recourse.is_linear() { SlopeRanges::of(self.problem, clock)? } else { None };
        let polytope = set.shape(&range).and_then(|shape| shape.polytope.filter(|_| shape.ball.is_none()));
        if let (Some(slopes), Some(polytope)) = (slopes, polytope) {
            for (entry, (lower, upper)) in ends(&slopes.reduce(&polytope)).into_iter().enumerate() {
                // Ends that differ from those of the set or from levels by rounding are replaced by these.
                let (least, most) = (range.lower[entry], range.upper[entry]);
                let mut marks = set.levels(entry).unwrap_or_default();
                marks.extend([least, most]);
                let snapped = |end: f64| {
                    let near = |mark: &&f64| (**mark - end).abs() <= COORDINATE_TOL * (most - least);
                    marks.iter().find(near).copied().unwrap_or(end).max(least).min(most)
                };
                range.lower[entry] = snapped(lower);
                range.upper[entry] = snapped(upper).max(range.lower[entry]);
            }
        }
        Ok(self.range.insert(range).clone())
    }

    /// Keeps a scenario as a start for later decisions. A full list drops its oldest one.
    fn keep(&mut self, xi: &[f64]) {
        if self.kept.iter().any(|kept| kept == xi) {
            return;
        }
        let from = (self.kept.len() + 1).saturating_sub(MAX_KEPT);
        let mut kept = ScenarioList::new(xi.len());
        self.kept.iter().skip(from).for_each(|xi| kept.push(xi));
        kept.push(xi);
        self.kept = kept;
    }
}

impl Separation for Split<'_> {
    fn separate(&mut self, query: &Query, pool: &mut CutPool) -> Result<Found, Error> {
        let (x, clock) = (query.x, query.clock);
        let range = self.range(clock)?;
        let mut lead = engine(self.problem, clock)?;
        let mut ascent = Ascent::new(self.problem, lead.as_mut(), x);
        for xi in self.kept.iter() {
            ascent.climb(xi)?;
        }
        let known = pool.worst_scenarios(x, POOL_STARTS);
        for xi in &known {
            ascent.climb(xi)?;
        }
        // Policies depend on the recourse variables that ascents see in use. Where earlier searches have left few
        // scenarios to start from there are many other starts, always the same ones.
        if known.len() < POOL_STARTS {
            ascent.climb_from_axes()?;
            ascent.climb_at_random(RANDOM_STARTS + 2 * self.problem.set.dim(), 0)?;
        }
        let mut search = SplitSearch {
            problem: self.problem,
            has_recourse: self.has_recourse,
            range: &range,
            query,
            trial: self.trial.as_mut(),
            trial_nodes: 0,
            is_by_trial: false,
            ascent,
            upper: f64::INFINITY,
            nodes: 0,
            rounds: 0,
            dependence: Dependence::none(self.problem),
            policy: None,
            is_known_edge: self.edge.as_deref() == Some(x),
            is_on_edge: false,
        };
        match search.run(self.with_parts) {
            Ok(()) | Err(Error::Interrupted(_)) => {}
            Err(error) => return Err(error),
        }
        if search.is_on_edge {
            self.edge = Some(x.to_vec());
        }
        let (upper, nodes) = (search.upper.max(search.ascent.cost()), search.nodes + search.trial_nodes);
        let coefficients = search.dependence.coefficients();
        let by_policies = |_: &ProvenPolicy| match search.nodes - search.rounds {
            0 => format!("one affine policy with {coefficients} coefficients, the largest of {}", search.rounds),
            parts => format!("affine policies with up to {coefficients} coefficients on {parts} parts of the set"),
        };
        self.proof = match search.is_by_trial {
            true => Some(format!("a mixed-integer program with {} nodes", search.trial_nodes)),
            false => search.policy.as_ref().map(by_policies),
        };
        self.policy = search.policy;
        let worst = search.ascent.worst().to_vec();
        let found = match search.ascent.found() {
            // The bound is valid after the clock has stopped. The cut of the worst scenario takes one more solve.
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
            // A bound that a solver's tolerance puts below the scenario is lifted to it.
            Claim::Nothing if upper < f64::INFINITY => Found { claim: Claim::Surely(upper.max(found.value)), ..found },
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
