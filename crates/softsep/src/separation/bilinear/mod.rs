//! `Bilinear`: the exact separation of box, ℓ₁, budget and polyhedral sets that are too large to enumerate, for linear
//! recourse with fixed costs, as a mixed-integer program by strong duality (Zeng and Zhao 2013).
//!
//! `max over ξ of Q(x, ξ) = max over π in Π, ξ in Ξ of objective(π; x) + s(π)ᵀξ`, `s(π) = −Uᵀπ`: one product per entry
//! of ξ. The steps:
//!
//! 1. Local ascents give a scenario, which often answers the query.
//! 2. Ranges of the slopes over Π, computed once for a problem, fix the entries in which Q is monotone. If they fix all
//!    entries, the worst case is known.
//! 3. The same search over the rays of Π decides whether some scenario has no recourse.
//! 4. A tree search solves the mixed-integer program (`../mixed_integer.rs`) with these ranges, up to a number of
//!    nodes.
//! 5. Where that is not enough, linear programs tighten all ranges, restricted to objective values of at least the
//!    worst scenario's cost (`tighten.rs`), and a tree search solves the program with the products of `products.rs`. If
//!    a range stays infinite, no tree is searched, and the claim is that of the relaxation.
//!
//! The third step is left out where every scenario is known to have recourse.
//!
//! A claim is the tree's dual bound, raised by 1e-7 of itself (or of one) for HiGHS's tolerances. Binaries that are
//! integral up to a tolerance only may make the best point's objective value too large. The dual bound is valid all the
//! same, and the tree is searched again with a smaller tolerance.

mod milp;
mod products;
mod tighten;
mod trial;

use softsep_lp::MipSolver;

use super::mixed_integer::{LOOSE_INTEGRALITY, MipTolerances, STRICT_INTEGRALITY};
use super::search_state::{SearchState, ascend_and_bound};
use super::slopes::{SlopeRanges, useful_levels};
use super::{Claim, Found, Query, Separation, Target};
use crate::cuts::CutPool;
use crate::error::Error;
use crate::model::Problem;
use crate::numeric::tolerances::{COORDINATE_TOL, EXACTNESS_TOL, LP_BOUND_TOL};
use crate::recourse::{DualSet, absorbs_scenarios};
use crate::run::Clock;
use crate::uncertainty::{Part, Polytope};
use milp::{BilinearProgram, Domain, Formulation, MilpModel, VariableBounds};
use tighten::{BOTH, BoundTarget, Tightened, tighten};
pub(super) use trial::{Trial, Tried, Work};

/// The smallest gain of a ray, normalised to a largest multiplier of one, that proves missing recourse: solvers'
/// tolerances explain smaller gains.
const RAY_GAIN_TOL: f64 = 1e-6;

/// A search is restricted to objective values of at least the worst scenario's cost less this share, so that tolerances
/// do not exclude that scenario.
const CUTOFF_MARGIN: f64 = 1e-6;

/// The nodes of the first tree search. Its relaxation is small and weak; where these do not suffice, the tighter one of
/// the second search is worth its time.
const FIRST_NODES: u64 = 2000;

/// How far a search goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// All trees, without a limit on nodes in the last one.
    Full,
    /// Trees without products, with at most so many nodes each.
    Trial(u64),
}

impl Extent {
    /// The relaxations that tighten the bounds of a decision, in this order.
    fn relaxations(self) -> &'static [bool] {
        match self {
            Self::Full => BOTH,
            Self::Trial(_) => &[false],
        }
    }

    /// The nodes of a tree that would have no limit in a full search.
    fn nodes(self) -> Option<u64> {
        match self {
            Self::Full => None,
            Self::Trial(nodes) => Some(nodes),
        }
    }
}

/// The reason why this separation does not apply to a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotBilinear {
    /// Cones or a quadratic cost make the dual nonlinear.
    #[error("the recourse is not linear")]
    NotLinear,
    /// Costs that depend on ξ make Q nonconvex in ξ.
    #[error("costs move with ξ")]
    CostsMove,
    /// The set is a list or an ellipsoid.
    #[error("the set is not a polytope")]
    NotAPolytope,
}

/// Separation by a mixed-integer program.
pub struct Bilinear<'p> {
    problem: &'p Problem,
    polytope: Polytope,
    /// The search spaces, which depend on the problem alone; computed by the first search that needs them. The first is
    /// `None` within if no dual is feasible.
    feasible: Option<Option<SearchSpace>>,
    rays: Option<SearchSpace>,
    /// Whether recourse at the nominal scenario means recourse everywhere, once asked.
    absorbs_scenarios: Option<bool>,
    solver: MipSolver,
    declined: Option<&'static str>,
}

/// The scenarios and bounds that end a search.
struct Goal {
    above: Option<f64>,
    /// The larger of `above` and the cost of the worst scenario before the search.
    floor: f64,
    tolerance: f64,
    /// The size of the floor.
    size: f64,
}

impl Goal {
    fn of(target: &Target, state: &SearchState) -> Self {
        let floor = target.above.unwrap_or(f64::NEG_INFINITY).max(state.found.value);
        Self { above: target.above, floor, tolerance: target.tolerance, size: floor.abs().max(1.0) }
    }

    /// The objective value below which a solver contradicts the worst scenario found.
    fn least(&self, state: &SearchState) -> f64 {
        state.found.value - CUTOFF_MARGIN * state.found.value.abs().max(1.0)
    }

    fn is_met(&self, bound: f64, state: &SearchState) -> bool {
        self.is_exceeded(state) || self.allows(bound, state)
    }

    /// Whether the worst scenario found answers the query.
    fn is_exceeded(&self, state: &SearchState) -> bool {
        self.above.is_some_and(|above| state.found.value > above)
    }

    /// Whether a bound is close enough.
    fn allows(&self, bound: f64, state: &SearchState) -> bool {
        bound <= state.found.value.max(self.floor) + self.tolerance.max(EXACTNESS_TOL * self.size)
    }

    /// Whether no scenario answers the query, or the claim is as close as the query asks for as well.
    fn is_close(&self, state: &SearchState) -> bool {
        !self.is_exceeded(state) || matches!(state.found.claim, Claim::Surely(bound) if self.allows(bound, state))
    }
}

/// The ranges of slopes over a set of duals, and the part of the uncertainty set that can hold the maximum.
#[derive(Debug, Clone)]
pub(super) struct SearchSpace {
    slopes: Vec<(f64, f64)>,
    domain: Domain,
    /// Bounds that hold at every decision.
    bounds: VariableBounds,
}

impl SearchSpace {
    /// Over a polytope that contains the set. Returns `None` if no dual is feasible.
    pub(super) fn new(
        duals: DualSet,
        problem: &Problem,
        polytope: &Polytope,
        clock: &Clock,
    ) -> Result<Option<Self>, Error> {
        Ok(SlopeRanges::over(duals, problem, clock)?.map(|ranges| {
            let reduced = ranges.reduce(polytope);
            let domain = match useful_levels(problem.set.as_ref(), &reduced) {
                Some(levels) => Domain::Levels(reduced, levels),
                None => Domain::Corners(reduced),
            };
            let slopes: Vec<(f64, f64)> = ranges.least.into_iter().zip(ranges.most).collect();
            Self { bounds: domain.initial_bounds(slopes.clone()), slopes, domain }
        }))
    }

    /// Tightens the bounds of complementary pairs, so that they hold at every decision.
    fn tighten(&mut self, problem: &Problem, clock: &Clock) -> Result<(), Error> {
        if self.bounds.pairs.is_empty() {
            return Ok(());
        }
        let (recourse, shift) = (&problem.recourse, vec![0.0; problem.recourse.rows()]);
        let program = BilinearProgram { recourse, duals: DualSet::Feasible, shift: &shift, domain: &self.domain };
        let mut bound = f64::INFINITY;
        let everything = BoundTarget { least: f64::NEG_INFINITY, enough: f64::NEG_INFINITY };
        tighten(&program, &[false], &mut self.bounds, everything, &mut bound, clock).map(|_| ())
    }

    /// The space of the rays, which are never none.
    pub(super) fn of_rays(problem: &Problem, polytope: &Polytope, clock: &Clock) -> Result<Self, Error> {
        Self::new(DualSet::Rays, problem, polytope, clock)?
            .ok_or_else(|| Error::Master("HiGHS finds no ray, not even zero".into()))
    }
}

/// Whether every scenario of a set has recourse at a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecourseExists {
    /// Every scenario has recourse.
    Everywhere,
    /// The worst scenario found has none.
    NotAtFound,
    /// The search was inconclusive, for this reason.
    Unknown(&'static str),
}

/// Searches a scenario without recourse, over a polytope that contains the set: a ray of the duals that gains.
pub(super) fn recourse_exists(
    shift: &[f64],
    space: &SearchSpace,
    solver: &MipSolver,
    extent: Extent,
    clock: &Clock,
    state: &mut SearchState,
) -> Result<RecourseExists, Error> {
    let program =
        BilinearProgram { recourse: &state.problem.recourse, duals: DualSet::Rays, shift, domain: &space.domain };
    if let Some(xi) = space.domain.only() {
        // No scenario has less recourse than this one, which is a member unless the polytope is larger than the set.
        if state.has_recourse(&xi)? {
            return Ok(RecourseExists::Everywhere);
        }
        if state.problem.set.contains(&xi, COORDINATE_TOL) {
            state.take(xi)?;
            return Ok(RecourseExists::NotAtFound);
        }
    }
    let mut bounds = space.domain.initial_bounds(space.slopes.clone());
    let mut bound = f64::INFINITY;
    let bound_target = BoundTarget { least: RAY_GAIN_TOL, enough: RAY_GAIN_TOL };
    if tighten(&program, extent.relaxations(), &mut bounds, bound_target, &mut bound, clock)? != Tightened::Tight {
        return Ok(RecourseExists::Everywhere);
    }
    let milp = program.write(&bounds, Formulation::MixedInteger { products: extent == Extent::Full });
    if let Some(missing_bound) = milp.missing_bound {
        return Ok(RecourseExists::Unknown(missing_bound));
    }
    // Any ray with a positive gain suffices.
    let tolerances = MipTolerances { gap: 0.5, integrality: LOOSE_INTEGRALITY, nodes: extent.nodes() };
    let outcome = milp.starting_at(&state.found.xi).search(tolerances, solver, clock)?;
    state.found.nodes += outcome.nodes;
    if outcome.bound < RAY_GAIN_TOL {
        return Ok(RecourseExists::Everywhere);
    }
    if let Some(point) = outcome.point {
        state.take_support(&milp.slopes_at(&point))?;
    }
    if state.found.value == f64::INFINITY {
        return Ok(RecourseExists::NotAtFound);
    }
    clock.check()?;
    Ok(RecourseExists::Unknown("whether every scenario has recourse is beyond the solver's tolerance"))
}

impl<'p> Bilinear<'p> {
    /// Builds a separation for `problem`. Errs where it does not apply.
    pub fn new(problem: &'p Problem) -> Result<Self, NotBilinear> {
        if !problem.recourse.is_linear() {
            return Err(NotBilinear::NotLinear);
        }
        if problem.recourse.costs_move() {
            return Err(NotBilinear::CostsMove);
        }
        let shape = problem.set.shape(&Part::whole(problem.set.dim())).filter(|shape| shape.ball.is_none());
        let polytope = shape.and_then(|shape| shape.polytope).ok_or(NotBilinear::NotAPolytope)?;
        let solver = MipSolver::default();
        Ok(Self { problem, polytope, feasible: None, rays: None, absorbs_scenarios: None, solver, declined: None })
    }

    /// The same separation with another solver of mixed-integer programs.
    pub(crate) fn with_solver(self, solver: &MipSolver) -> Self {
        Self { solver: solver.clone(), ..self }
    }

    /// Returns the reason why the last claim was missing or that of a relaxation, if it was another one than the clock.
    pub fn declined(&self) -> Option<&'static str> {
        self.declined
    }

    fn feasible(&mut self, clock: &Clock) -> Result<Option<SearchSpace>, Error> {
        if let Some(feasible) = &self.feasible {
            return Ok(feasible.clone());
        }
        let mut feasible = SearchSpace::new(DualSet::Feasible, self.problem, &self.polytope, clock)?;
        if let Some(space) = &mut feasible {
            space.tighten(self.problem, clock)?;
        }
        Ok(self.feasible.insert(feasible).clone())
    }

    fn rays(&mut self, clock: &Clock) -> Result<SearchSpace, Error> {
        match &self.rays {
            Some(rays) => Ok(rays.clone()),
            None => Ok(self.rays.insert(SearchSpace::of_rays(self.problem, &self.polytope, clock)?).clone()),
        }
    }

    /// Bounds the maximum, and searches a worse scenario.
    fn bound(
        &mut self,
        x: &[f64],
        target: &Target,
        extent: Extent,
        clock: &Clock,
        state: &mut SearchState,
    ) -> Result<(), Error> {
        let feasible = self.feasible(clock)?;
        let recourse = &self.problem.recourse;
        if let Some(xi) = feasible.as_ref().and_then(|space| space.domain.only()) {
            let cost = state.take(xi)?;
            state.claim(cost);
            return Ok(());
        }
        let mut shift = vec![0.0; recourse.rows()];
        recourse.e.mul_add(1.0, x, &mut shift);
        if !self.has_recourse_everywhere(state)? {
            let rays = self.rays(clock)?;
            match recourse_exists(&shift, &rays, &self.solver, extent, clock, state)? {
                RecourseExists::Everywhere => {}
                RecourseExists::NotAtFound => return Ok(()),
                RecourseExists::Unknown(why) => {
                    self.declined = Some(why);
                    return Ok(());
                }
            }
        }
        match &feasible {
            Some(space) if recourse.dim() > 0 => {
                let duals = DualSet::Feasible;
                let program = BilinearProgram { recourse, duals, shift: &shift, domain: &space.domain };
                self.maximise(&program, space, target, extent, clock, state)?;
                // The scenario answers the query, and the tree that found it stopped at a bound that need not be close.
                if !Goal::of(target, state).is_close(state) {
                    state.found.claim = Claim::Nothing;
                }
                Ok(())
            }
            // Without feasible duals the recourse is unbounded wherever it is feasible; without variables it costs
            // zero.
            _ => {
                state.claim(state.found.value);
                Ok(())
            }
        }
    }

    /// Whether every scenario is known to have recourse without a search.
    fn has_recourse_everywhere(&mut self, state: &mut SearchState) -> Result<bool, Error> {
        let absorbs = match self.absorbs_scenarios {
            Some(absorbs) => absorbs,
            None => *self.absorbs_scenarios.insert(absorbs_scenarios(self.problem)?),
        };
        let mut nominal = vec![0.0; self.problem.set.dim()];
        self.problem.set.nominal(&mut nominal);
        Ok(absorbs && state.has_recourse(&nominal)?)
    }

    /// Bounds the maximum for a problem in which every scenario has recourse.
    fn maximise(
        &mut self,
        program: &BilinearProgram,
        space: &SearchSpace,
        target: &Target,
        extent: Extent,
        clock: &Clock,
        state: &mut SearchState,
    ) -> Result<(), Error> {
        let goal = Goal::of(target, state);
        let mut bound = f64::INFINITY;
        let plain = program.write(&space.bounds, Formulation::MixedInteger { products: false });
        let first_nodes = extent.nodes().unwrap_or(FIRST_NODES);
        let is_over = plain.missing_bound.is_none()
            && self.search_tree(&plain, Some(first_nodes), &goal, &mut bound, clock, state)?;
        if is_over || extent != Extent::Full {
            return Ok(());
        }
        // Objective values below the worst scenario's cost are excluded, and no larger ones: if the program then
        // excludes the scenario itself, the solver's answer is wrong.
        let least = goal.least(state);
        let bound_target =
            BoundTarget { least, enough: goal.floor + goal.tolerance.max(2.0 * LP_BOUND_TOL * goal.size) };
        let mut bounds = space.bounds.clone();
        let tightened = tighten(program, BOTH, &mut bounds, bound_target, &mut bound, clock);
        if bound < f64::INFINITY {
            state.claim(bound.max(least));
        }
        match tightened? {
            Tightened::Below => {
                self.settle_below(least, state);
                return Ok(());
            }
            Tightened::Enough => return Ok(()),
            Tightened::Tight => {}
        }
        let milp = program.write(&bounds, Formulation::MixedInteger { products: true });
        if let Some(missing_bound) = milp.missing_bound {
            self.declined = Some(missing_bound);
            return Ok(());
        }
        self.search_tree(&milp, None, &goal, &mut bound, clock, state).map(|_| ())
    }

    /// Lowers `bound`, the claim, by a tree search with at most so many nodes. Returns whether the search is over: the
    /// goal is met, or the clock has stopped.
    fn search_tree(
        &mut self,
        milp: &MilpModel,
        nodes: Option<u64>,
        goal: &Goal,
        bound: &mut f64,
        clock: &Clock,
        state: &mut SearchState,
    ) -> Result<bool, Error> {
        for integrality in [LOOSE_INTEGRALITY, STRICT_INTEGRALITY] {
            let least = goal.least(state);
            // A bound at the query's level is enough, and the tree starts from the worst scenario, which is below it.
            let below = if state.found.value.is_finite() { goal.floor - state.found.value } else { 0.0 };
            let gap = ((below.max(0.0) + 0.5 * goal.tolerance) / goal.size).clamp(LP_BOUND_TOL, 1.0);
            let tolerances = MipTolerances { gap, integrality, nodes };
            let outcome = milp.starting_at(&state.found.xi).search(tolerances, &self.solver, clock)?;
            state.found.nodes += outcome.nodes;
            if outcome.bound < least {
                self.settle_below(least, state);
                return Ok(true);
            }
            *bound = bound.min(outcome.bound);
            if *bound < f64::INFINITY {
                state.claim(*bound);
            }
            if let Some(point) = &outcome.point {
                state.take_support(&milp.slopes_at(point))?;
            }
            if goal.is_met(*bound, state) || clock.check().is_err() {
                return Ok(true);
            }
            if !outcome.is_complete {
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// Claims `least` where HiGHS found no point with this objective value, unless the worst scenario contradicts it.
    fn settle_below(&mut self, least: f64, state: &mut SearchState) {
        if state.found.value <= least {
            state.claim(least);
        } else {
            state.found.claim = Claim::Nothing;
            self.declined = Some("the solver contradicts itself about the scenario found");
        }
    }
}

impl Separation for Bilinear<'_> {
    fn separate(&mut self, query: &Query, _pool: &mut CutPool) -> Result<Found, Error> {
        self.declined = None;
        ascend_and_bound(self.problem, query, |state| {
            self.bound(query.x, &query.target(), Extent::Full, query.clock, state)
        })
    }

    fn is_exact(&self) -> bool {
        true
    }
}
