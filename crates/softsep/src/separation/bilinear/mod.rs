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
//! 4. Linear programs tighten all ranges, restricted to objective values of at least the worst scenario's cost
//!    (`tighten.rs`).
//! 5. A tree search solves the mixed-integer program (`tree.rs`). If a range stays infinite, no tree is searched, and
//!    the claim is that of the relaxation.
//!
//! A claim is the tree's dual bound, raised by 1e-7 of itself (or of one) for HiGHS's tolerances. Binaries that are
//! integral up to a tolerance only may make the best point's objective value too large. The dual bound is valid all the
//! same, and the tree is searched again with a smaller tolerance.

mod milp;
mod products;
mod tighten;
mod tree;

use super::slopes::{SlopeRanges, useful_levels};
use super::{Claim, Found, Query, Separation, Target, ascend};
use crate::cuts::CutPool;
use crate::error::Error;
use crate::model::Problem;
use crate::numeric::tolerances::{EXACTNESS_TOL, LP_BOUND_TOL};
use crate::recourse::{Answer, DualSet, Outcome, Recourse, RecourseError, engine};
use crate::run::Clock;
use crate::uncertainty::{Part, Polytope};
use milp::{BilinearProgram, Domain};
use tighten::{BoundTarget, Tightened, tighten};
use tree::{MipTolerances, search_tree};

/// The smallest gain of a ray, normalised to a largest multiplier of one, that proves missing recourse: solvers'
/// tolerances explain smaller gains.
const RAY_GAIN_TOL: f64 = 1e-6;

/// The integrality tolerance of the first tree search, and of the second one where the first result is too large.
const LOOSE_INTEGRALITY: f64 = 1e-6;
const STRICT_INTEGRALITY: f64 = 1e-9;

/// A search is restricted to objective values of at least the worst scenario's cost less this share, so that tolerances
/// do not exclude that scenario.
const CUTOFF_MARGIN: f64 = 1e-6;

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
    /// The search spaces, which depend on the problem alone; computed by the first search that needs them.
    search_spaces: Option<SearchSpaces>,
    declined: Option<&'static str>,
}

/// The search spaces of a problem.
#[derive(Debug, Clone)]
struct SearchSpaces {
    /// Over feasible duals; `None` if no dual is feasible.
    feasible: Option<SearchSpace>,
    /// Over rays.
    rays: SearchSpace,
}

/// The ranges of slopes over a set of duals, and the part of the uncertainty set that can hold the maximum.
#[derive(Debug, Clone)]
struct SearchSpace {
    slopes: Vec<(f64, f64)>,
    domain: Domain,
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
        Ok(Self { problem, polytope, search_spaces: None, declined: None })
    }

    /// Returns the reason why the last claim was missing or that of a relaxation, if it was another one than the clock.
    pub fn declined(&self) -> Option<&'static str> {
        self.declined
    }

    fn search_space(&self, duals: DualSet, clock: &Clock) -> Result<Option<SearchSpace>, Error> {
        Ok(SlopeRanges::over(duals, self.problem, clock)?.map(|ranges| {
            let reduced = ranges.reduce(&self.polytope);
            let domain = match useful_levels(self.problem.set.as_ref(), &reduced) {
                Some(levels) => Domain::Levels(reduced, levels),
                None => Domain::Corners(reduced),
            };
            SearchSpace { slopes: ranges.least.into_iter().zip(ranges.most).collect(), domain }
        }))
    }

    fn search_spaces(&mut self, clock: &Clock) -> Result<SearchSpaces, Error> {
        if let Some(search_spaces) = &self.search_spaces {
            return Ok(search_spaces.clone());
        }
        let feasible = self.search_space(DualSet::Feasible, clock)?;
        let rays = self
            .search_space(DualSet::Rays, clock)?
            .ok_or_else(|| Error::Master("HiGHS finds no ray, not even zero".into()))?;
        Ok(self.search_spaces.insert(SearchSpaces { feasible, rays }).clone())
    }

    /// Bounds the maximum, and searches a worse scenario.
    fn bound(&mut self, x: &[f64], target: &Target, clock: &Clock, state: &mut SearchState) -> Result<(), Error> {
        let search_spaces = self.search_spaces(clock)?;
        let recourse = &self.problem.recourse;
        if let Some(xi) = search_spaces.feasible.as_ref().and_then(|space| space.domain.only()) {
            let cost = state.take(xi)?;
            state.claim(cost);
            return Ok(());
        }
        let mut shift = vec![0.0; recourse.rows()];
        recourse.e.mul_add(1.0, x, &mut shift);
        let rays =
            BilinearProgram { recourse, duals: DualSet::Rays, shift: &shift, domain: &search_spaces.rays.domain };
        if !self.every_scenario_has_recourse(&rays, &search_spaces.rays, clock, state)? {
            return Ok(());
        }
        match &search_spaces.feasible {
            Some(space) if recourse.dim() > 0 => {
                let program = BilinearProgram { duals: DualSet::Feasible, domain: &space.domain, ..rays };
                self.maximise(&program, space, target, clock, state)
            }
            // Without feasible duals the recourse is unbounded wherever it is feasible; without variables it costs
            // zero.
            _ => {
                state.claim(state.found.value);
                Ok(())
            }
        }
    }

    /// Searches a scenario without recourse. Returns false if there is one, or if the search was inconclusive.
    fn every_scenario_has_recourse(
        &mut self,
        program: &BilinearProgram,
        space: &SearchSpace,
        clock: &Clock,
        state: &mut SearchState,
    ) -> Result<bool, Error> {
        if let Some(xi) = space.domain.only() {
            state.take(xi)?;
            return Ok(state.found.value < f64::INFINITY);
        }
        let mut bounds = space.domain.initial_bounds(space.slopes.clone());
        let mut bound = f64::INFINITY;
        let bound_target = BoundTarget { least: RAY_GAIN_TOL, enough: RAY_GAIN_TOL };
        if tighten(program, &mut bounds, bound_target, &mut bound, clock)? != Tightened::Tight {
            return Ok(true);
        }
        // Any ray with a positive gain suffices.
        let tolerances = MipTolerances { gap: 0.5, integrality: LOOSE_INTEGRALITY };
        let outcome = match search_tree(program, &bounds, &state.found.xi, tolerances, clock)? {
            Ok(outcome) => outcome,
            Err(missing_bound) => {
                self.declined = Some(missing_bound);
                return Ok(false);
            }
        };
        state.found.nodes += outcome.nodes;
        if outcome.bound < RAY_GAIN_TOL {
            return Ok(true);
        }
        if let Some(slopes) = outcome.slopes {
            state.take_support(&slopes)?;
        }
        if state.found.value < f64::INFINITY {
            clock.check()?;
            self.declined = Some("whether every scenario has recourse is beyond the solver's tolerance");
        }
        Ok(false)
    }

    /// Bounds the maximum for a problem in which every scenario has recourse.
    fn maximise(
        &mut self,
        program: &BilinearProgram,
        space: &SearchSpace,
        target: &Target,
        clock: &Clock,
        state: &mut SearchState,
    ) -> Result<(), Error> {
        let floor = target.above.unwrap_or(f64::NEG_INFINITY).max(state.found.value);
        let size = floor.abs().max(1.0);
        // Objective values below the worst scenario's cost are excluded, and no larger ones: if the program then
        // excludes the scenario itself, the solver's answer is wrong.
        let least = state.found.value - CUTOFF_MARGIN * state.found.value.abs().max(1.0);
        let bound_target = BoundTarget { least, enough: floor + target.tolerance.max(2.0 * LP_BOUND_TOL * size) };
        let mut bounds = space.domain.initial_bounds(space.slopes.clone());
        let mut bound = f64::INFINITY;
        let tightened = tighten(program, &mut bounds, bound_target, &mut bound, clock);
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
        let gap = (0.5 * target.tolerance / size).clamp(LP_BOUND_TOL, 1.0);
        for integrality in [LOOSE_INTEGRALITY, STRICT_INTEGRALITY] {
            let outcome =
                match search_tree(program, &bounds, &state.found.xi, MipTolerances { gap, integrality }, clock)? {
                    Ok(outcome) => outcome,
                    Err(missing_bound) => {
                        self.declined = Some(missing_bound);
                        break;
                    }
                };
            state.found.nodes += outcome.nodes;
            if outcome.bound < least {
                self.settle_below(least, state);
                break;
            }
            bound = bound.min(outcome.bound);
            if bound < f64::INFINITY {
                state.claim(bound);
            }
            if let Some(slopes) = &outcome.slopes {
                state.take_support(slopes)?;
            }
            if !outcome.is_complete
                || bound <= state.found.value.max(floor) + target.tolerance.max(EXACTNESS_TOL * size)
            {
                break;
            }
        }
        Ok(())
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

/// The recourse engine at the decision, and the answer so far.
struct SearchState<'a> {
    problem: &'a Problem,
    x: &'a [f64],
    engine: &'a mut dyn Recourse,
    answer: Answer,
    found: Found,
    clock: &'a Clock,
}

impl SearchState<'_> {
    /// Solves the recourse at a scenario, keeps the scenario if it is worse, and returns its cost.
    ///
    /// Where the clock has stopped, the solve gets a moment more, so that the result of a stopped tree is used.
    fn take(&mut self, xi: Vec<f64>) -> Result<f64, Error> {
        match self.engine.solve(&xi, &mut self.answer) {
            Err(RecourseError::Interrupted(_)) => {
                let mut engine = engine(self.problem, &self.clock.grace())?;
                engine.at(self.x);
                engine.solve(&xi, &mut self.answer)?;
            }
            solved => solved?,
        }
        if self.answer.value > self.found.value {
            self.found.value = self.answer.value;
            self.found.cut = self.answer.cut();
            self.found.xi = xi;
            match self.found.claim {
                Claim::Surely(bound) => self.claim(bound),
                Claim::Nothing if self.answer.outcome == Outcome::Infeasible => self.claim(f64::INFINITY),
                Claim::Nothing => {}
            }
        }
        Ok(self.answer.cost)
    }

    /// As [`Self::take`], at the maximiser of these slopes: Q there is at least the objective value of their dual.
    fn take_support(&mut self, slopes: &[f64]) -> Result<f64, Error> {
        let mut xi = vec![0.0; slopes.len()];
        self.problem.set.support(slopes, &mut xi)?;
        self.take(xi)
    }

    /// Claims that the maximum is at most `bound`, or the cost of the worst scenario if that is larger.
    fn claim(&mut self, bound: f64) {
        self.found.claim = Claim::Surely(bound.max(self.found.value));
    }
}

impl Separation for Bilinear<'_> {
    fn separate(&mut self, query: &Query, _pool: &mut CutPool) -> Result<Found, Error> {
        let (x, clock) = (query.x, query.clock);
        self.declined = None;
        let mut engine = engine(self.problem, clock)?;
        let found = ascend(self.problem, engine.as_mut(), x)?;
        if found.value == f64::INFINITY || query.is_met_by(found.value) {
            return Ok(found);
        }
        let answer = Answer::new(self.problem);
        let mut state = SearchState { problem: self.problem, x, engine: engine.as_mut(), answer, found, clock };
        match self.bound(x, &query.target(), clock, &mut state) {
            // The claim made before the clock stopped is valid.
            Ok(()) | Err(Error::Interrupted(_)) => {}
            Err(error) => return Err(error),
        }
        let mut found = state.found;
        (found.solves, found.exact) = (engine.work().solves, 1);
        Ok(found)
    }

    fn is_exact(&self) -> bool {
        true
    }
}
