//! `Kkt`: the exact separation of ellipsoids and polytopes, for linear recourse with fixed costs, as a mixed-integer
//! program by the optimality conditions of the recourse and big-M constants (Zeng and Zhao 2013, e-companion ).
//!
//! `max over ξ of Q(x, ξ)` is the maximum of bᵀy over ξ in Ξ, y and multipliers that satisfy the conditions
//! (`conditions.rs`). Complementarity takes one binary for each limit of a recourse variable or row. The steps:
//!
//! 1. Local ascents give a scenario, which often answers the query.
//! 2. A search over the rays of the duals decides whether every scenario has recourse, as in `bilinear/`. Over an
//!    ellipsoid it is over the enclosing box, and may be inconclusive.
//! 3. Linear programs compute the big-M constants (`ranges.rs`): those of multipliers once for a problem, those of
//!    values at each decision.
//! 4. No solver here combines integers with cones. The ellipsoid is approximated from outside by tangents, and the
//!    program is a relaxation: its dual bound is the claim. Its slopes give a scenario by the support of the set.
//!    Tangents are added at the program's point until both agree.
//!
//! A claim is the dual bound, raised by 1e-7 of itself (or of one) for HiGHS's tolerances.

mod conditions;
mod ranges;

use softsep_lp::{MipSolver, Model};

use super::bilinear::{Extent, RecourseExists, SearchSpace, recourse_exists};
use super::mixed_integer::{LOOSE_INTEGRALITY, MipTolerances, MixedInteger, STRICT_INTEGRALITY};
use super::search_state::{SearchState, ascend_and_bound};
use super::{Claim, Found, Query, Separation, Target};
use crate::cuts::CutPool;
use crate::error::Error;
use crate::model::Problem;
use crate::numeric::tolerances::{EXACTNESS_TOL, LP_BOUND_TOL, LP_FEASIBILITY_TOL};
use crate::run::Clock;
use crate::uncertainty::{Part, Polytope, Shape};
use conditions::{Conditions, LimitBinary, PairRanges, ParameterColumns};
use ranges::{RangedColumn, column_ranges};

/// The relative gap of the first program over an ellipsoid, whose first tangents are about as far off.
const FIRST_GAP: f64 = 1e-2;

/// The share of the distance from the ellipsoid to which the next program is solved.
const GAP_OF_EXCESS: f64 = 0.1;

/// Tangents that lower the bound by less than this share gain nothing, and the largest number of such rounds in a row:
/// HiGHS's tolerances let its points stay outside of tangents.
const MIN_GAIN: f64 = 1e-8;
const MAX_IDLE_ROUNDS: u32 = 3;

/// A bound below the worst scenario's cost by more than this share contradicts it.
const CONTRADICTION_TOL: f64 = 1e-5;

const CONTRADICTION: &str = "the solver contradicts itself about the scenario found";

/// The reason why this separation does not apply to a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotKkt {
    /// Cones or a quadratic cost make the conditions nonlinear.
    #[error("the recourse is not linear")]
    NotLinear,
    /// Costs that depend on ξ make the conditions bilinear.
    #[error("costs move with ξ")]
    CostsMove,
    /// The set is a list, or is not written out in rows.
    #[error("the set is neither an ellipsoid nor a polytope")]
    NoShape,
}

/// Separation by optimality conditions and a mixed-integer program.
pub struct Kkt<'p> {
    problem: &'p Problem,
    conditions: Conditions<'p>,
    shape: Shape,
    /// The ranges that depend on the problem alone; computed by the first search that needs them.
    dual_ranges: Option<DualRanges>,
    solver: MipSolver,
    declined: Option<&'static str>,
}

/// The ranges of duals, and the search space of rays.
#[derive(Debug, Clone)]
struct DualRanges {
    /// `None` if no dual is feasible.
    feasible: Option<FeasibleDuals>,
    rays: SearchSpace,
}

/// The ranges of the multipliers, and of the slopes in ξ.
#[derive(Debug, Clone)]
struct FeasibleDuals {
    multipliers: Vec<(f64, f64)>,
    slopes: Vec<(f64, f64)>,
}

impl<'p> Kkt<'p> {
    /// Builds a separation for `problem`. Errs where it does not apply.
    pub fn new(problem: &'p Problem) -> Result<Self, NotKkt> {
        if !problem.recourse.is_linear() {
            return Err(NotKkt::NotLinear);
        }
        if problem.recourse.costs_move() {
            return Err(NotKkt::CostsMove);
        }
        let shape = problem.set.shape(&Part::whole(problem.set.dim())).ok_or(NotKkt::NoShape)?;
        let (conditions, solver) = (Conditions::new(problem), MipSolver::default());
        Ok(Self { problem, conditions, shape, dual_ranges: None, solver, declined: None })
    }

    /// The same separation with another solver of mixed-integer programs.
    pub(crate) fn with_solver(self, solver: &MipSolver) -> Self {
        Self { solver: solver.clone(), ..self }
    }

    /// Returns the reason why the last claim was missing or larger than asked for, if it was another one than the
    /// clock.
    pub fn declined(&self) -> Option<&'static str> {
        self.declined
    }

    /// Computes the ranges that depend on the problem alone. Errs with [`Error::Settings`] where a big-M constant would
    /// be infinite, at any decision.
    pub fn prepare(&mut self, clock: &Clock) -> Result<(), Error> {
        if self.dual_ranges.is_some() {
            return Ok(());
        }
        let polytope = match (&self.shape.polytope, &self.shape.ball) {
            (Some(polytope), _) => polytope.clone(),
            (None, Some(ball)) => {
                let side = |sign: f64| -> Vec<f64> {
                    let end = |(entry, center): (usize, &f64)| center + sign * ball.half_width(entry);
                    ball.center.iter().enumerate().map(end).collect()
                };
                Polytope::between(&side(-1.0), &side(1.0))
            }
            (None, None) => return Err(Error::Settings(NotKkt::NoShape.to_string())),
        };
        let feasible = self.ranges_of_duals(clock)?;
        if feasible.is_some() {
            self.check_values(clock)?;
        }
        let rays = SearchSpace::of_rays(self.problem, &polytope, clock)?;
        self.dual_ranges = Some(DualRanges { feasible, rays });
        Ok(())
    }

    /// Returns the ranges of multipliers and slopes.
    fn ranges_of_duals(&self, clock: &Clock) -> Result<Option<FeasibleDuals>, Error> {
        let mut model = Model::new();
        let first = self.conditions.write_multipliers(&mut model, &self.conditions.signs());
        let mut ranged = self.conditions.ranged_multipliers(first);
        let first_slope = model.cols();
        for mut terms in self.conditions.slopes(first) {
            let column = model.add_col(0.0, f64::NEG_INFINITY, f64::INFINITY);
            terms.push((column, -1.0));
            model.add_row(0.0, 0.0, &terms);
            ranged.push(RangedColumn { column, ends: [true, true], walls: None });
        }
        let Some(mut multipliers) = column_ranges(&model, &ranged, clock)? else { return Ok(None) };
        let slopes = multipliers.split_off(first_slope);
        let missing = self.conditions.missing_range(&multipliers).map(|name| format!("the multiplier of {name}"));
        let infinite = slopes.iter().position(|(least, most)| least.is_infinite() || most.is_infinite());
        let names = &self.problem.names.parameters;
        let slope = |entry: usize| format!("the slope of the recourse cost in \"{}\"", names[entry]);
        match missing.or_else(|| infinite.map(slope)) {
            Some(missing) => Err(refused(&missing)),
            None => Ok(Some(FeasibleDuals { multipliers, slopes })),
        }
    }

    /// Errs if the range of a value would be infinite at some decision: along a direction in which y may move for ever
    /// at no cost.
    fn check_values(&self, clock: &Clock) -> Result<(), Error> {
        let direction = |&(lower, upper): &(f64, f64)| {
            let end = |limit: f64| if limit.is_finite() { 0.0 } else { limit };
            (end(lower), end(upper))
        };
        let directions: Vec<(f64, f64)> = self.conditions.limits().iter().map(direction).collect();
        let mut model = Model::new();
        let first =
            self.conditions.write_values(&mut model, &directions, &vec![0.0; self.problem.recourse.rows()], &[]);
        self.conditions.bound_cost(&mut model, first, 0.0);
        let mut ranged = self.conditions.ranged_values(first);
        // The limits of a direction are zero.
        ranged.iter_mut().filter_map(|ranged| ranged.walls.as_mut()).flatten().for_each(|wall| wall.1 = 0.0);
        let ranges = column_ranges(&model, &ranged, clock)?.unwrap_or_default();
        match self.conditions.missing_range(&ranges) {
            Some(name) => Err(refused(&name)),
            None => Ok(()),
        }
    }

    /// Bounds the maximum, and searches a worse scenario.
    fn bound(&mut self, x: &[f64], target: &Target, clock: &Clock, state: &mut SearchState) -> Result<(), Error> {
        self.prepare(clock)?;
        let Some(DualRanges { feasible, rays }) = self.dual_ranges.clone() else { return Ok(()) };
        let recourse = &self.problem.recourse;
        let mut shift = vec![0.0; recourse.rows()];
        recourse.e.mul_add(1.0, x, &mut shift);
        match recourse_exists(&shift, &rays, &self.solver, Extent::Full, clock, state)? {
            RecourseExists::Everywhere => {}
            RecourseExists::NotAtFound => return Ok(()),
            RecourseExists::Unknown(why) => {
                self.declined = Some(why);
                return Ok(());
            }
        }
        match feasible {
            Some(FeasibleDuals { multipliers, slopes }) if recourse.dim() > 0 => {
                let most = self.cost_bound(&slopes, state)?;
                state.claim(most);
                match self.ranges_of_values(&shift, most, clock)? {
                    Some(values) => {
                        let program = KktProgram::write(self, &shift, most, &PairRanges { values, multipliers });
                        self.maximise(program, target, clock, state)
                    }
                    None => {
                        self.declined = Some(CONTRADICTION);
                        Ok(())
                    }
                }
            }
            // Without feasible duals the recourse is unbounded wherever it is feasible; without variables it costs
            // zero.
            _ => {
                state.claim(state.found.value);
                Ok(())
            }
        }
    }

    /// Returns an upper bound on the maximum, by the ranges of the slopes from the nominal scenario: Q is convex in ξ.
    fn cost_bound(&self, slopes: &[(f64, f64)], state: &mut SearchState) -> Result<f64, Error> {
        let set = &self.problem.set;
        let mut nominal = vec![0.0; set.dim()];
        set.nominal(&mut nominal);
        let (mut axis, mut end) = (vec![0.0; set.dim()], vec![0.0; set.dim()]);
        let mut rise = 0.0;
        for (entry, &(least, most)) in slopes.iter().enumerate() {
            axis[entry] = 1.0;
            let up = set.support(&axis, &mut end)? - nominal[entry];
            axis[entry] = -1.0;
            let down = set.support(&axis, &mut end)? + nominal[entry];
            axis[entry] = 0.0;
            rise += (up * most).max(-down * least).max(0.0);
        }
        let most = state.take(nominal)? + rise;
        Ok((most + EXACTNESS_TOL * most.abs().max(1.0)).max(state.found.value))
    }

    /// Returns the ranges of the values at a decision, or `None` if the solver finds no feasible point, or no range.
    fn ranges_of_values(&self, shift: &[f64], most: f64, clock: &Clock) -> Result<Option<Vec<(f64, f64)>>, Error> {
        let mut model = Model::new();
        let set = ParameterColumns::write(&mut model, self.problem.set.dim(), &self.shape);
        let first = self.conditions.write_values(&mut model, self.conditions.limits(), shift, &set.xi);
        self.conditions.bound_cost(&mut model, first, most);
        let ranges = column_ranges(&model, &self.conditions.ranged_values(first), clock)?;
        let values = ranges.map(|ranges| ranges[first..first + self.conditions.limits().len()].to_vec());
        Ok(values.filter(|values| self.conditions.missing_range(values).is_none()))
    }

    /// Bounds the maximum by mixed-integer programs with more and more tangents.
    fn maximise(
        &mut self,
        mut program: KktProgram,
        target: &Target,
        clock: &Clock,
        state: &mut SearchState,
    ) -> Result<(), Error> {
        let floor = target.above.unwrap_or(f64::NEG_INFINITY).max(state.found.value);
        let size = floor.abs().max(1.0);
        let gap = (0.5 * target.tolerance / size).clamp(LP_BOUND_TOL, 1.0);
        let mut coarse_gap = if program.set.ball.is_some() { FIRST_GAP } else { gap };
        let mut integrality = LOOSE_INTEGRALITY;
        let (mut bound, mut idle_rounds) = (f64::INFINITY, 0);
        loop {
            let start = program.start(self.problem, state)?;
            let tolerances = MipTolerances { gap: gap.max(coarse_gap), integrality, nodes: None };
            let outcome = program.at(start).search(tolerances, &self.solver, clock)?;
            state.found.nodes += outcome.nodes;
            if outcome.bound < state.found.value - CONTRADICTION_TOL * size {
                state.found.claim = Claim::Nothing;
                self.declined = Some(CONTRADICTION);
                return Ok(());
            }
            idle_rounds = if outcome.bound < bound - MIN_GAIN * size { 0 } else { idle_rounds + 1 };
            if outcome.bound < bound {
                bound = outcome.bound;
                let Claim::Surely(before) = state.found.claim else { return Ok(()) };
                state.claim(bound.min(before));
            }
            let Some(point) = outcome.point else { return Ok(()) };
            state.take_support(&program.slopes_at(&point))?;
            let is_above = target.above.is_some_and(|above| state.found.value > above);
            let enough = state.found.value.max(floor) + target.tolerance.max(EXACTNESS_TOL * size);
            if is_above || bound <= enough || !outcome.is_complete {
                return Ok(());
            }
            let excess = program.set.ball.as_ref().map_or(0.0, |ball| ball.excess(&point).0);
            let is_outside = excess > LP_FEASIBILITY_TOL * (1 + program.set.xi.len()) as f64;
            if is_outside && idle_rounds < MAX_IDLE_ROUNDS {
                program.add_tangents(&point);
                coarse_gap = GAP_OF_EXCESS * excess;
            } else if coarse_gap > gap {
                (coarse_gap, idle_rounds) = (gap, 0);
            } else if integrality > STRICT_INTEGRALITY {
                (integrality, idle_rounds) = (STRICT_INTEGRALITY, 0);
            } else {
                self.declined = Some("the solver's tolerances do not separate the bound from the worst scenario");
                return Ok(());
            }
        }
    }
}

fn refused(missing: &str) -> Error {
    Error::Settings(format!(
        "--separation kkt needs finite big-M constants, and {missing} has no finite range: try --separation split"
    ))
}

/// The mixed-integer program at a decision.
struct KktProgram {
    model: Model,
    /// The objective: one coefficient per column.
    value: Vec<f64>,
    set: ParameterColumns,
    slopes: Vec<Vec<(usize, f64)>>,
    binaries: Vec<LimitBinary>,
    shift: Vec<f64>,
}

impl KktProgram {
    fn write(kkt: &Kkt, shift: &[f64], most: f64, ranges: &PairRanges) -> Self {
        let (conditions, recourse) = (&kkt.conditions, &kkt.problem.recourse);
        let mut model = Model::new();
        let set = ParameterColumns::write(&mut model, kkt.problem.set.dim(), &kkt.shape);
        let values = conditions.write_values(&mut model, &ranges.values, shift, &set.xi);
        conditions.bound_cost(&mut model, values, most);
        let multipliers = conditions.write_multipliers(&mut model, &ranges.multipliers);
        let binaries = conditions.add_complementarity(&mut model, [values, multipliers], ranges);
        let mut value = vec![0.0; model.cols()];
        value[values..values + recourse.dim()].copy_from_slice(&recourse.cost);
        Self { model, value, set, slopes: conditions.slopes(multipliers), binaries, shift: shift.to_vec() }
    }

    fn at(&self, start: Vec<(usize, f64)>) -> MixedInteger<'_> {
        MixedInteger { model: &self.model, value: &self.value, has_binaries: !self.binaries.is_empty(), start }
    }

    /// Returns the binaries at the worst scenario found.
    fn start(&self, problem: &Problem, state: &mut SearchState) -> Result<Vec<(usize, f64)>, Error> {
        let recourse = &problem.recourse;
        let mut values = vec![0.0; recourse.dim()];
        state.engine.solve(&state.found.xi, &mut state.answer)?;
        state.engine.decision(&mut values);
        let mut activities = self.shift.clone();
        recourse.u.mul_add(1.0, &state.found.xi, &mut activities);
        recourse.g.mul_add(1.0, &values, &mut activities);
        values.extend(activities);
        let is_at = |value: f64, limit: f64| (value - limit).abs() <= LP_FEASIBILITY_TOL * limit.abs().max(1.0);
        let at_limit = |binary: &LimitBinary| (binary.column, f64::from(is_at(values[binary.pair], binary.limit)));
        Ok(self.binaries.iter().map(at_limit).collect())
    }

    /// Returns the slopes at a point of the program.
    fn slopes_at(&self, point: &[f64]) -> Vec<f64> {
        self.slopes.iter().map(|terms| terms.iter().map(|&(column, value)| value * point[column]).sum()).collect()
    }

    fn add_tangents(&mut self, point: &[f64]) {
        if let Some(ball) = &self.set.ball {
            ball.add_tangents(&mut self.model, point);
        }
    }
}

impl Separation for Kkt<'_> {
    fn separate(&mut self, query: &Query, _pool: &mut CutPool) -> Result<Found, Error> {
        self.declined = None;
        ascend_and_bound(self.problem, query, |state| self.bound(query.x, &query.target(), query.clock, state))
    }

    fn is_exact(&self) -> bool {
        true
    }
}
