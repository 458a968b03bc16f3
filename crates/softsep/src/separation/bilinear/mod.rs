//! `Bilinear`: the exact separation of box, ℓ₁, budget and polyhedral sets that are too large to enumerate, for linear
//! recourse with fixed costs, as a mixed-integer program by strong duality (Zeng and Zhao 2013).
//!
//! `max over ξ of Q(x, ξ) = max over π in Π, ξ in Ξ of objective(π; x) + s(π)ᵀξ`, `s(π) = −Uᵀπ`: one product per entry
//! of ξ. The steps:
//!
//! 1. Local ascents give a scenario, and often all that was asked for.
//! 2. Ranges of the slopes over Π, once for a problem, settle entries in which Q is monotone; if that settles all, the
//!    worst case is known.
//! 3. The same search over the rays of Π tells whether some scenario has no recourse.
//! 4. Linear programs tighten all ranges for what is worth at least as much as the best scenario known (`tighten.rs`).
//! 5. A tree finds the rest (`tree.rs`). Ranges that stay infinite are not guessed: then nothing is claimed.
//!
//! A claim is the tree's dual bound, raised by 1e-7 of itself (or of one) for HiGHS's tolerances. Binaries that are
//! only nearly whole make the best point look better than it is, which the bound does not forget: the claim stays
//! valid, and the tree is searched again more strictly.

mod products;
mod program;
mod tighten;
mod tree;

use super::slopes::{SlopeRanges, useful_levels};
use super::{Claim, Found, Query, Separation, Target, ascend};
use crate::cuts::CutPool;
use crate::error::Error;
use crate::model::Problem;
use crate::recourse::{Answer, DualSet, Outcome, Recourse, RecourseError, engine};
use crate::run::Clock;
use crate::uncertainty::{Part, Polytope};
use program::{Domain, Program};
use tighten::{TOLERANCE, Tightened, Wanted, tighten};
use tree::{Care, grow};

/// A ray that gains less, its largest multiplier being one, is none: solvers' tolerances allow as much.
const GAINS: f64 = 1e-6;

/// Binaries may be so far from whole, and where that overrates the maximum, only so far.
const NEARLY_WHOLE: f64 = 1e-6;
const WHOLE: f64 = 1e-9;

/// A search that may assume the value of the scenario at hand assumes so much less, relatively, lest tolerances exclude
/// it.
const SAFE: f64 = 1e-6;

/// A claim that is this close to the scenario found, relatively, is as good as exact.
const EXACT: f64 = 1e-6;

/// Why a problem is not for this separation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotBilinear {
    /// Strong duality would need cones or curvature in the dual.
    #[error("the recourse is not linear")]
    NotLinear,
    /// Then Q is not convex in ξ.
    #[error("costs move with ξ")]
    CostsMove,
    /// A list has no shape, and an ellipsoid no corners.
    #[error("the set is not a polytope")]
    NotAPolytope,
}

/// Separation by a mixed-integer program.
pub struct Bilinear<'p> {
    problem: &'p Problem,
    polytope: Polytope,
    /// What depends on the problem alone; found when first needed.
    facts: Option<Facts>,
    declined: Option<&'static str>,
}

/// The two searches of a problem.
#[derive(Debug, Clone)]
struct Facts {
    /// Over feasible duals; `None` if there are none.
    feasible: Option<Side>,
    /// Over rays.
    rays: Side,
}

/// The ranges of slopes over some duals, and what of the set they leave.
#[derive(Debug, Clone)]
struct Side {
    slopes: Vec<(f64, f64)>,
    domain: Domain,
}

impl<'p> Bilinear<'p> {
    /// A separation for `problem`, or why there is none.
    pub fn new(problem: &'p Problem) -> Result<Self, NotBilinear> {
        if !problem.recourse.is_linear() {
            return Err(NotBilinear::NotLinear);
        }
        if problem.recourse.costs_move() {
            return Err(NotBilinear::CostsMove);
        }
        let shape = problem.set.shape(&Part::whole(problem.set.dim())).filter(|shape| shape.ball.is_none());
        let polytope = shape.and_then(|shape| shape.polytope).ok_or(NotBilinear::NotAPolytope)?;
        Ok(Self { problem, polytope, facts: None, declined: None })
    }

    /// Why the last separation claimed nothing, or no more than a relaxation says, where that was not for want of time.
    pub fn declined(&self) -> Option<&'static str> {
        self.declined
    }

    fn side(&self, duals: DualSet, clock: &Clock) -> Result<Option<Side>, Error> {
        Ok(SlopeRanges::over(duals, self.problem, clock)?.map(|ranges| {
            let reduced = ranges.reduce(&self.polytope);
            let domain = match useful_levels(self.problem.set.as_ref(), &reduced) {
                Some(levels) => Domain::Levels(reduced, levels),
                None => Domain::Corners(reduced),
            };
            Side { slopes: ranges.least.into_iter().zip(ranges.most).collect(), domain }
        }))
    }

    fn facts(&mut self, clock: &Clock) -> Result<Facts, Error> {
        if let Some(facts) = &self.facts {
            return Ok(facts.clone());
        }
        let feasible = self.side(DualSet::Feasible, clock)?;
        let rays = self
            .side(DualSet::Rays, clock)?
            .ok_or_else(|| Error::Master("HiGHS finds no ray, not even zero".into()))?;
        Ok(self.facts.insert(Facts { feasible, rays }).clone())
    }

    /// Bounds the maximum, and finds a worse scenario if there is one.
    fn bound(&mut self, x: &[f64], target: &Target, clock: &Clock, at: &mut At) -> Result<(), Error> {
        let facts = self.facts(clock)?;
        let recourse = &self.problem.recourse;
        if let Some(xi) = facts.feasible.as_ref().and_then(|side| side.domain.only()) {
            let cost = at.take(xi)?;
            at.claim(cost);
            return Ok(());
        }
        let mut shift = vec![0.0; recourse.rows()];
        recourse.e.mul_add(1.0, x, &mut shift);
        let rays = Program { recourse, duals: DualSet::Rays, shift: &shift, domain: &facts.rays.domain };
        if !self.every_scenario_has_recourse(&rays, &facts.rays, clock, at)? {
            return Ok(());
        }
        match &facts.feasible {
            Some(side) if recourse.dim() > 0 => {
                let program = Program { duals: DualSet::Feasible, domain: &side.domain, ..rays };
                self.maximise(&program, side, target, clock, at)
            }
            // Without duals recourse is unbounded wherever it exists; without variables it costs nothing.
            _ => {
                at.claim(at.found.value);
                Ok(())
            }
        }
    }

    /// Looks for a scenario without recourse; false if there is one, or if that could not be settled.
    fn every_scenario_has_recourse(
        &mut self,
        program: &Program,
        side: &Side,
        clock: &Clock,
        at: &mut At,
    ) -> Result<bool, Error> {
        if let Some(xi) = side.domain.only() {
            at.take(xi)?;
            return Ok(at.found.value < f64::INFINITY);
        }
        let mut known = side.domain.known(side.slopes.clone());
        let mut bound = f64::INFINITY;
        let wanted = Wanted { least: GAINS, enough: GAINS };
        if tighten(program, &mut known, wanted, &mut bound, clock)? != Tightened::Tight {
            return Ok(true);
        }
        // Any ray that gains will do.
        let care = Care { gap: 0.5, integrality: NEARLY_WHOLE };
        let grown = match grow(program, &known, &at.found.xi, care, clock)? {
            Ok(grown) => grown,
            Err(lacks) => {
                self.declined = Some(lacks);
                return Ok(false);
            }
        };
        at.found.nodes += grown.nodes;
        if grown.bound < GAINS {
            return Ok(true);
        }
        if let Some(slopes) = grown.slopes {
            at.take_support(&slopes)?;
        }
        if at.found.value < f64::INFINITY {
            clock.check()?;
            self.declined = Some("whether every scenario has recourse is beyond the solver's tolerance");
        }
        Ok(false)
    }

    /// The maximum, of a problem in which every scenario has recourse.
    fn maximise(
        &mut self,
        program: &Program,
        side: &Side,
        target: &Target,
        clock: &Clock,
        at: &mut At,
    ) -> Result<(), Error> {
        let floor = target.above.unwrap_or(f64::NEG_INFINITY).max(at.found.value);
        let size = floor.abs().max(1.0);
        // What is worth less than the scenario at hand need not be looked at. No more is assumed than that: a program
        // that has no room for the scenario is wrong, and shows it.
        let least = at.found.value - SAFE * at.found.value.abs().max(1.0);
        let wanted = Wanted { least, enough: floor + target.tolerance.max(2.0 * TOLERANCE * size) };
        let mut known = side.domain.known(side.slopes.clone());
        let mut bound = f64::INFINITY;
        let tightened = tighten(program, &mut known, wanted, &mut bound, clock);
        if bound < f64::INFINITY {
            at.claim(bound.max(least));
        }
        match tightened? {
            Tightened::Below => {
                self.settle_below(least, at);
                return Ok(());
            }
            Tightened::Enough => return Ok(()),
            Tightened::Tight => {}
        }
        let gap = (0.5 * target.tolerance / size).clamp(TOLERANCE, 1.0);
        for integrality in [NEARLY_WHOLE, WHOLE] {
            let grown = match grow(program, &known, &at.found.xi, Care { gap, integrality }, clock)? {
                Ok(grown) => grown,
                Err(lacks) => {
                    self.declined = Some(lacks);
                    break;
                }
            };
            at.found.nodes += grown.nodes;
            if grown.bound < least {
                self.settle_below(least, at);
                break;
            }
            bound = bound.min(grown.bound);
            if bound < f64::INFINITY {
                at.claim(bound);
            }
            if let Some(slopes) = &grown.slopes {
                at.take_support(slopes)?;
            }
            if !grown.complete || bound <= at.found.value.max(floor) + target.tolerance.max(EXACT * size) {
                break;
            }
        }
        Ok(())
    }

    /// HiGHS finds nothing that is worth `least`: a claim, unless the scenario at hand is worth it.
    fn settle_below(&mut self, least: f64, at: &mut At) {
        if at.found.value <= least {
            at.claim(least);
        } else {
            at.found.claim = Claim::Nothing;
            self.declined = Some("the solver contradicts itself about the scenario found");
        }
    }
}

/// The engine at the decision, and what has been found there so far.
struct At<'a> {
    problem: &'a Problem,
    x: &'a [f64],
    engine: &'a mut dyn Recourse,
    answer: Answer,
    found: Found,
    clock: &'a Clock,
}

impl At<'_> {
    /// Solves at a scenario, keeps it if it is worse, and returns what it costs.
    ///
    /// What a tree found when the clock stopped it is still worth a moment.
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

    /// The same at the member that is best for some slopes: Q is worth at least as much there as the dual that they
    /// belong to.
    fn take_support(&mut self, slopes: &[f64]) -> Result<f64, Error> {
        let mut xi = vec![0.0; slopes.len()];
        self.problem.set.support(slopes, &mut xi)?;
        self.take(xi)
    }

    /// Notes that the maximum is at most `bound`, or what the scenario found costs.
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
        let mut at = At { problem: self.problem, x, engine: engine.as_mut(), answer, found, clock };
        match self.bound(x, &query.target(), clock, &mut at) {
            // What was found before the clock stopped holds.
            Ok(()) | Err(Error::Interrupted(_)) => {}
            Err(error) => return Err(error),
        }
        let mut found = at.found;
        (found.solves, found.exact) = (engine.work().solves, 1);
        Ok(found)
    }

    fn is_exact(&self) -> bool {
        true
    }
}
