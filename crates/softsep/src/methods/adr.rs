//! `adr`: affine decision rules. The recourse is an affine function of ξ, chosen together with x in one program.
//!
//! The worst-case cost of the best policy is an upper bound on the optimum. It is conservative, since optimal recourse
//! costs no more. The exact worst-case cost of the decision is reported beside it.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};
use softsep_lp::Basis;

use super::options::parse_options;
use super::{Entry, Method, MethodSettings, NONZEROS, Reaches, scope};
use crate::certification::{cost_at, count};
use crate::certify::Certify;
use crate::cuts::WarmStart;
use crate::definition::{ScenarioList, VariableKind};
use crate::error::{Error, Unsupported};
use crate::master::{self, MasterStart, ScenarioCopies, explain_infeasible, explain_unbounded};
use crate::model::Problem;
use crate::numeric::tolerances::{FEASIBILITY_TOL, ROUNDING_RISE_TOL};
use crate::policy::{
    ConstraintMargins, Decision, Dependence, MAX_TIGHTENINGS, Miss, PolicyProgram, PolicyRegion, PolicySolution,
    PolicyStatus, Repair, ScenarioConstraints,
};
use crate::run::{Clock, Interrupt, Run, Stop, Verdict};
use crate::separation::{Claim, Exact, Query};
use crate::uncertainty::Part;

pub(super) const ENTRY: Entry = Entry {
    name: "adr",
    summary: "affine decision rules: the recourse as an affine function of ξ, chosen together with x in one program",
    accepts: "linear recourse with costs that do not move with ξ, over every set",
    guarantees: "an upper bound on the optimum, conservative, with the cost of its decision in the worst case beside \
        it",
    reaches: Reaches::UpperBound,
    options: &[],
    parse: |options| parse_options(options, &[]).map(MethodSettings::Adr),
};

/// The settings of `adr`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct AdrSettings {}

/// Affine decision rules.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Adr;

impl Method for Adr {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn accepts(&self, problem: &Problem) -> Result<(), Unsupported> {
        let refuse = |feature: String| {
            let instead = scope::advice(problem, scope::DRAW_A_LIST);
            Err(Unsupported { method: ENTRY.name, feature, instead })
        };
        if !problem.recourse.is_linear() {
            return refuse("an affine policy keeps linear rows for all ξ, not a quadratic cost or cones".into());
        }
        if problem.recourse.costs_move() {
            return refuse("costs move with ξ, so that an affine policy costs a quadratic function of ξ".into());
        }
        super::accepts_master(ENTRY.name, problem)?;
        let nonzeros = nonzeros(problem);
        if nonzeros > NONZEROS {
            return refuse(format!("its program would have some {nonzeros} nonzeros, and it takes at most {NONZEROS}"));
        }
        Ok(())
    }

    fn plan(&self, problem: &Problem) -> String {
        let coefficients = Dependence::full(problem).coefficients();
        let kind = match (is_curved(problem), problem.first.has_integers()) {
            (true, true) => "mixed-integer second-order cone",
            (true, false) => "second-order cone",
            (false, true) => "mixed-integer",
            (false, false) => "linear",
        };
        let per_point = if problem.set.is_finite_list() { ", rows for scenarios as they are needed" } else { "" };
        format!("one {kind} program for x and {coefficients} coefficients of the policy{per_point}")
    }

    fn promise(&self, _problem: &Problem) -> String {
        "an upper bound on the optimum for sure, with the worst-case cost of its decision beside it; a lower bound \
         from few scenarios, so that the gap between them may stay open"
            .into()
    }

    fn solve(&self, problem: &Problem, certify: Certify, warm: &mut WarmStart, run: &mut Run) -> Result<Stop, Error> {
        let dependence = Dependence::full(problem);
        let mut nominal = ScenarioList::new(problem.set.dim());
        let mut xi = vec![0.0; problem.set.dim()];
        problem.set.nominal(&mut xi);
        nominal.push(&xi);
        if let Some(stop) = self.bound_from_below(problem, &nominal, run)? {
            return Ok(stop);
        }
        let solved = match over_set(problem, &dependence, &xi, &ConstraintMargins::default(), run)? {
            ControlFlow::Continue(solved) => solved,
            ControlFlow::Break(stop) => return Ok(stop),
        };
        match solved.status {
            PolicyStatus::Optimal => match proven(problem, &dependence, &xi, solved, run)? {
                // A list is scanned in its time; a search for the worst case at the edge of feasibility may not end.
                ControlFlow::Continue((solved, None)) if !problem.set.is_finite_list() => {
                    run.say("the best affine policy misses a row by more than rounding: its cost is no bound");
                    let x = &solved.x;
                    if problem.first.violation(x).is_none_or(|violation| violation.amount <= FEASIBILITY_TOL) {
                        let value = cost_at(problem, x, &xi, run)?;
                        run.consider_nominal(x, value, &xi);
                    }
                    Ok(Stop::Stalled)
                }
                ControlFlow::Continue((solved, value)) => self.record(problem, &solved, value, certify, warm, run),
                ControlFlow::Break(stop) => Ok(stop),
            },
            PolicyStatus::Infeasible => {
                run.say("no affine policy is feasible for every ξ; other recourse may be");
                Ok(Stop::Stalled)
            }
            PolicyStatus::Unbounded => {
                // If the objective is unbounded under a policy, it is unbounded under optimal recourse and in every
                // relaxation.
                let copies = ScenarioCopies::new(problem, vec![&xi], run.clock())?;
                let verdict = run.clock().with_grace(|clock| explain_unbounded(&copies, clock), Error::is_interrupt)?;
                Ok(run.prove(Verdict::Unbounded(verdict)))
            }
            PolicyStatus::Stopped(interrupt) => Ok(interrupt.into()),
            PolicyStatus::Failed(why) => {
                Err(Error::Master(format!("the program of affine policies could not be solved: {why}")))
            }
        }
    }
}

impl Adr {
    /// Writes the lower bound from some scenarios into the ledger. Returns a stop if these alone make the problem
    /// infeasible.
    fn bound_from_below(
        &self,
        problem: &Problem,
        scenarios: &ScenarioList,
        run: &mut Run,
    ) -> Result<Option<Stop>, Error> {
        let copies = ScenarioCopies::new(problem, scenarios.iter().collect(), run.clock())?;
        let solved = copies.solve(&MasterStart::Cold, 0.1 * run.limits().gap, run.limits().seed, run.clock())?;
        if solved.status == master::MasterStatus::Infeasible {
            let verdict = run.clock().with_grace(|clock| explain_infeasible(&copies, clock), Error::is_interrupt)?;
            return Ok(Some(run.prove(Verdict::Infeasible(verdict))));
        }
        if let Some(lower) = solved.lower {
            run.lower(lower);
        }
        Ok(None)
    }

    /// Writes an upper bound of the decision and its cost at the worst scenario found into the ledger. The bound is
    /// that of the policy, or without one that of an exact separation.
    fn record(
        &self,
        problem: &Problem,
        solved: &PolicySolution,
        policy_value: Option<f64>,
        certify: Certify,
        warm: &mut WarmStart,
        run: &mut Run,
    ) -> Result<Stop, Error> {
        let x = &solved.x;
        if let Some(violation) = problem.first.violation(x).filter(|violation| violation.amount > FEASIBILITY_TOL) {
            return Err(Error::Master(format!(
                "the decision of the policy breaks the first stage by {:.1e}",
                violation.amount
            )));
        }
        match policy_value {
            Some(value) => run.say_cost("the best affine policy costs at most", value, " in the worst case"),
            None => {
                run.say("the best affine policy misses a row by more than rounding; its decision is evaluated alone")
            }
        }
        let first_cost = problem.first.value(x);
        let tolerance = 0.1 * run.limits().gap * policy_value.unwrap_or(solved.value).abs();
        let DecisionCost { value, worst, at_most, stopped } = decision_cost(problem, x, tolerance, warm, run)?;
        match (certify, policy_value.or(at_most)) {
            // Without the policy the decision may have no recourse to some scenario, and before a separation nothing is
            // known of it.
            _ if value == f64::INFINITY || stopped.is_some() && policy_value.is_none() => {}
            // The two numbers come from two solvers; the bound is the larger.
            (Certify::Free | Certify::Exact | Certify::Probabilistic(_), Some(at_most)) => {
                run.upper(x, first_cost, value, at_most.max(value), &worst);
            }
            _ if stopped.is_some() => _ = run.consider_nominal(x, value, &worst),
            _ => _ = run.consider(x, value, &worst),
        }
        if let Some(interrupt) = stopped {
            return Ok(interrupt.into());
        }
        let mut scenarios = ScenarioList::new(worst.len());
        scenarios.push(&worst);
        match self.bound_from_below(problem, &scenarios, run)? {
            Some(stop) => Ok(stop),
            None => Ok(run.tick().unwrap_or(Stop::Stalled)),
        }
    }
}

/// The cost of a decision with the best recourse, f(x) included.
struct DecisionCost {
    /// The cost at `worst`.
    value: f64,
    /// The worst scenario found, or the nominal one where there was no time to separate.
    worst: Vec<f64>,
    /// The bound of the separation.
    at_most: Option<f64>,
    /// The limit that left no time to separate.
    stopped: Option<Interrupt>,
}

/// Separates exactly at a decision. Where there is no time left for it, the cost is that at the nominal scenario.
fn decision_cost(
    problem: &Problem,
    x: &[f64],
    tolerance: f64,
    warm: &mut WarmStart,
    run: &mut Run,
) -> Result<DecisionCost, Error> {
    let mut separation = Exact::choose(problem).map_err(|reason| Error::Master(reason.to_string()))?.build(problem)?;
    let clock = run.clock().clone();
    let query = Query::maximum(x, &clock).with_bound(tolerance);
    match clock.with_grace(|clock| separation.separate(&query.on(clock), &mut warm.cuts), Error::is_interrupt) {
        Ok(found) => {
            count(&found, run);
            let first_cost = problem.first.value(x);
            let at_most = match found.claim {
                Claim::Surely(bound) => Some(first_cost + bound),
                _ => None,
            };
            if let Some(bound) = at_most {
                run.say_cost("its decision alone, with the best recourse, costs at most", bound, "");
            }
            Ok(DecisionCost { value: first_cost + found.value, worst: found.xi, at_most, stopped: None })
        }
        Err(Error::Interrupted(interrupt)) => {
            let mut nominal = vec![0.0; problem.set.dim()];
            problem.set.nominal(&mut nominal);
            let value = cost_at(problem, x, &nominal, run)?;
            Ok(DecisionCost { value, worst: nominal, at_most: None, stopped: Some(interrupt) })
        }
        Err(error) => Err(error),
    }
}

/// Returns the best policy over the set whose constraints are tightened.
fn over_set(
    problem: &Problem,
    dependence: &Dependence,
    nominal: &[f64],
    tightening: &ConstraintMargins,
    run: &mut Run,
) -> Result<ControlFlow<Stop, PolicySolution>, Error> {
    match problem.set.shape(&Part::whole(problem.set.dim())) {
        Some(shape) => {
            let region = PolicyRegion::Shape(&shape);
            Ok(ControlFlow::Continue(best_policy(problem, region, dependence, None, tightening, run)?))
        }
        None => over_list(problem, dependence, nominal, tightening, run),
    }
}

/// Returns a policy with its proven cost: that of the solver, or one chosen anew with the constraints that it misses
/// tightened. Without a proof, the policy of the solver alone.
fn proven(
    problem: &Problem,
    dependence: &Dependence,
    nominal: &[f64],
    solved: PolicySolution,
    run: &mut Run,
) -> Result<ControlFlow<Stop, (PolicySolution, Option<f64>)>, Error> {
    let mut misses = match repaired_value(problem, &solved, run)? {
        Ok(value) => return Ok(ControlFlow::Continue((solved, Some(value)))),
        Err(misses) => misses,
    };
    let mut tightening = ConstraintMargins::default();
    for _ in 0..MAX_TIGHTENINGS {
        if !tightening.grow(problem, &misses) {
            break;
        }
        let again = match over_set(problem, dependence, nominal, &tightening, run)? {
            ControlFlow::Continue(again) if again.status == PolicyStatus::Optimal => again,
            ControlFlow::Continue(_) => break,
            ControlFlow::Break(stop) => return Ok(ControlFlow::Break(stop)),
        };
        match repaired_value(problem, &again, run)? {
            Ok(value) => return Ok(ControlFlow::Continue((again, Some(value)))),
            Err(missed) => misses = missed,
        }
    }
    Ok(ControlFlow::Continue((solved, None)))
}

/// Repairs the policy at its decision, so that it is feasible to the last digit, and returns its cost, or the
/// constraints that it misses.
fn repaired_value(problem: &Problem, solved: &PolicySolution, run: &Run) -> Result<Result<f64, Vec<Miss>>, Error> {
    let repair = |clock: &Clock| match problem.set.shape(&Part::whole(problem.set.dim())) {
        Some(shape) => Ok(Repair::over_shape(problem, &solved.x, &shape).run(&solved.policy, clock)?),
        None => {
            let all = problem.set.enumerate(usize::MAX).map_err(|too_many| Error::Master(too_many.to_string()))?;
            Ok(Repair::over_list(problem, &solved.x, &all).run(&solved.policy, clock)?)
        }
    };
    let proved = run.clock().with_grace(repair, Error::is_interrupt)?;
    Ok(proved.map(|proved| problem.first.value(&solved.x) + proved.value))
}

/// Whether the set is an ellipsoid, of any rank.
fn is_curved(problem: &Problem) -> bool {
    problem.set.shape(&Part::whole(problem.set.dim())).is_some_and(|shape| shape.ball.is_some())
}

/// An estimate of how large the program is: each row of the recourse and each bound of a variable in use is dualised.
fn nonzeros(problem: &Problem) -> usize {
    let (recourse, dim) = (&problem.recourse, problem.set.dim() + 1);
    let bounds = (0..recourse.dim())
        .map(|j| usize::from(recourse.lower[j].is_finite()) + usize::from(recourse.upper[j].is_finite()))
        .sum::<usize>();
    (recourse.g.nonzeros() + 4 * recourse.rows() + 4 * bounds + recourse.dim()).saturating_mul(dim)
}

/// Returns the best policy over a region, with integral integers.
fn best_policy(
    problem: &Problem,
    region: PolicyRegion,
    dependence: &Dependence,
    start: Option<&Basis>,
    tightening: &ConstraintMargins,
    run: &mut Run,
) -> Result<PolicySolution, Error> {
    let gap = 0.1 * run.limits().gap;
    let policies =
        |decision| PolicyProgram::new(problem, region, dependence, decision).with_gap(gap).with_tightening(tightening);
    let solved = policies(Decision::Free).starting_from(start).solve(run.clock())?;
    let Some(rounded_integers) = rounded_integers(problem, &solved) else { return Ok(clamped(problem, solved)) };
    let fixed = policies(Decision::FixedIntegers(&rounded_integers)).solve(run.clock())?;
    let slack = gap.max(ROUNDING_RISE_TOL) * solved.value.abs().max(1.0);
    if fixed.status == PolicyStatus::Optimal && fixed.value <= solved.value + slack {
        return Ok(clamped(problem, fixed));
    }
    // With a large coefficient a column that is integral up to a tolerance is better than the integer itself. The
    // program is solved again with HiGHS's smallest tolerance.
    let strict = policies(Decision::Free).with_strict_integrality().solve(run.clock())?;
    Ok(match self::rounded_integers(problem, &strict) {
        None => clamped(problem, strict),
        Some(rounded_integers) => {
            clamped(problem, policies(Decision::FixedIntegers(&rounded_integers)).solve(run.clock())?)
        }
    })
}

/// Returns the decision with its integers rounded, or `None` if they are integral.
fn rounded_integers(problem: &Problem, solved: &PolicySolution) -> Option<Vec<f64>> {
    let is_integer = |j: usize| problem.first.kind[j] != VariableKind::Continuous;
    let rounded = solved.x.iter().enumerate().map(|(j, &x)| if is_integer(j) { x.round() } else { x }).collect();
    (rounded != solved.x).then_some(rounded)
}

/// Returns the solution with its decision clamped to its bounds, which solvers violate by their tolerances.
fn clamped(problem: &Problem, solved: PolicySolution) -> PolicySolution {
    let (lower, upper) = (&problem.first.lower, &problem.first.upper);
    let x = solved.x.iter().zip(lower.iter().zip(upper)).map(|(x, (lower, upper))| x.clamp(*lower, *upper)).collect();
    PolicySolution { x, ..solved }
}

/// Returns the best policy over a list: rows are added for the scenarios at which the last policy violates them, until
/// there are none.
fn over_list(
    problem: &Problem,
    dependence: &Dependence,
    nominal: &[f64],
    tightening: &ConstraintMargins,
    run: &mut Run,
) -> Result<ControlFlow<Stop, PolicySolution>, Error> {
    let all = problem.set.enumerate(usize::MAX).map_err(|too_many| Error::Master(too_many.to_string()))?;
    let mut rows = ScenarioConstraints::new(problem, &all, nominal);
    let mut basis = None;
    loop {
        let mut solved = best_policy(problem, rows.region(), dependence, basis.as_ref(), tightening, run)?;
        basis = solved.basis.take();
        // A program that did not end optimal has no decision.
        let promised = match solved.status {
            PolicyStatus::Optimal => solved.value - problem.first.value(&solved.x),
            _ => f64::INFINITY,
        };
        if !rows.grow(&solved, &solved.x, promised, run.clock())? {
            return Ok(ControlFlow::Continue(solved));
        }
        if let Some(stop) = run.tick() {
            return Ok(ControlFlow::Break(stop));
        }
    }
}
