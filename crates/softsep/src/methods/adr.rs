//! `adr`: affine decision rules. The recourse is an affine function of ξ, chosen together with x in one program.
//!
//! What the best rule costs in the worst case is an upper bound on the optimum: conservative, because a recourse that
//! may react in any way can only do better. How much better shows the exact cost of the decision, which is reported
//! beside it.

use serde::{Deserialize, Serialize};
use softsep_lp::Basis;

use super::options::parse_options;
use super::{Entry, Method, MethodSettings, NONZEROS, Reaches};
use crate::certification::{cost_at, count};
use crate::certify::Certify;
use crate::cuts::WarmStart;
use crate::definition::{ScenarioList, VariableKind};
use crate::error::{Error, Unsupported};
use crate::master::{self, MasterStart, ScenarioCopies, explain_infeasible, explain_unbounded};
use crate::model::Problem;
use crate::numeric::tolerances::FEASIBILITY_TOL;
use crate::policy::{
    Decision, Dependence, PolicyProgram, PolicyRegion, PolicySolution, PolicyStatus, ProvenPolicy, Repair,
    ScenarioConstraints,
};
use crate::run::{Run, Stop, Verdict};
use crate::separation::{Claim, Exact, Query};
use crate::uncertainty::Part;

pub(super) const ENTRY: Entry = Entry {
    name: "adr",
    summary: "affine decision rules: the recourse as an affine function of ξ, chosen together with x in one program",
    accepts: "linear recourse with costs that do not move with ξ, over every set; integer x but for ellipsoids",
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
        let refuse =
            |feature: String, instead: &str| Err(Unsupported { method: ENTRY.name, feature, instead: instead.into() });
        if !problem.recourse.is_linear() {
            return refuse(
                "an affine rule keeps linear rows for all ξ, not a quadratic cost or cones".into(),
                "try --method ccg",
            );
        }
        if problem.recourse.costs_move() {
            return refuse(
                "costs move with ξ, so that an affine rule costs a quadratic function of ξ".into(),
                "try --method ccg",
            );
        }
        super::accepts_master(ENTRY.name, problem)?;
        if problem.first.has_integers() && is_curved(problem) {
            return refuse(
                "over an ellipsoid the rules are a cone program, and no solver here combines that with integers".into(),
                "relax the integers, or try --method ccg",
            );
        }
        let nonzeros = nonzeros(problem);
        if nonzeros > NONZEROS {
            return refuse(
                format!("its program would have some {nonzeros} nonzeros, and it takes at most {NONZEROS}"),
                "try --method ccg",
            );
        }
        Ok(())
    }

    fn plan(&self, problem: &Problem) -> String {
        let coefficients = Dependence::full(problem).coefficients();
        let kind = match (is_curved(problem), problem.first.has_integers()) {
            (true, _) => "second-order cone",
            (false, true) => "mixed-integer",
            (false, false) => "linear",
        };
        let per_point = if problem.set.is_finite_list() { ", rows for scenarios as they are needed" } else { "" };
        format!("one {kind} program for x and {coefficients} coefficients of the rule{per_point}")
    }

    fn promise(&self, _problem: &Problem) -> String {
        "an upper bound on the optimum for sure, with the worst-case cost of its decision beside it; a lower bound \
         from few scenarios, so that the \
         gap between them may stay open"
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
        let solved = match problem.set.shape(&Part::whole(problem.set.dim())) {
            Some(shape) => best(problem, PolicyRegion::Shape(&shape), &dependence, None, run)?,
            None => over_list(problem, &dependence, &xi, run)?,
        };
        match solved.status {
            PolicyStatus::Optimal => {
                let solved = for_sure(problem, solved, run)?;
                self.record(problem, &solved, certify, warm, run)
            }
            PolicyStatus::Infeasible => {
                run.say("no affine policy is feasible for every ξ; other recourse may be");
                Ok(Stop::Stalled)
            }
            PolicyStatus::Unbounded => {
                // What falls without end under a rule does so under any recourse, and in every relaxation.
                let copies = ScenarioCopies::new(problem, vec![&xi], run.clock())?;
                let verdict = run.clock().with_grace(|clock| explain_unbounded(&copies, clock), Error::is_stop)?;
                Ok(run.prove(Verdict::Unbounded(verdict)))
            }
            PolicyStatus::Stopped(stop) => Ok(stop),
            PolicyStatus::Failed(why) => {
                Err(Error::Master(format!("the program of affine rules could not be solved: {why}")))
            }
        }
    }
}

impl Adr {
    /// Notes what the problem costs at least, from some of its scenarios. Where these alone cannot be served, nothing
    /// can be.
    fn bound_from_below(
        &self,
        problem: &Problem,
        scenarios: &ScenarioList,
        run: &mut Run,
    ) -> Result<Option<Stop>, Error> {
        let copies = ScenarioCopies::new(problem, scenarios.iter().collect(), run.clock())?;
        let solved = copies.solve(&MasterStart::Cold, 0.1 * run.limits().gap, run.limits().seed, run.clock())?;
        if solved.status == master::MasterStatus::Infeasible {
            let verdict = run.clock().with_grace(|clock| explain_infeasible(&copies, clock), Error::is_stop)?;
            return Ok(Some(run.prove(Verdict::Infeasible(verdict))));
        }
        if let Some(lower) = solved.lower {
            run.lower(lower);
        }
        Ok(None)
    }

    /// Writes down what the rule promises, and what its decision costs at the worst scenario that can be found.
    fn record(
        &self,
        problem: &Problem,
        solved: &PolicySolution,
        certify: Certify,
        warm: &mut WarmStart,
        run: &mut Run,
    ) -> Result<Stop, Error> {
        let x = &solved.x;
        if let Some(violation) = problem.first.violation(x).filter(|violation| violation.amount > FEASIBILITY_TOL) {
            return Err(Error::Master(format!(
                "the decision of the rule breaks the first stage by {:.1e}",
                violation.amount
            )));
        }
        run.say(&format!("the best affine rule costs at most {} in the worst case", solved.value));
        let first_cost = problem.first.value(x);
        let tolerance = 0.1 * run.limits().gap * solved.value.abs();
        let mut separation =
            Exact::choose(problem).map_err(|reason| Error::Master(reason.to_string()))?.build(problem)?;
        let clock = run.clock().clone();
        let query = Query::maximum(x, &clock).with_bound(tolerance);
        let separated = clock.with_grace(|clock| separation.separate(&query.on(clock), &mut warm.cuts), Error::is_stop);
        let (value, worst, stopped) = match separated {
            Ok(found) => {
                count(&found, run);
                if let Claim::Surely(at_most) = found.claim {
                    run.say(&format!(
                        "its decision alone, with the best recourse, costs at most {}",
                        first_cost + at_most
                    ));
                }
                (first_cost + found.value, found.xi, None)
            }
            // There is no time left to separate; the bound of the policy holds all the same.
            Err(Error::Stopped(stop)) => {
                let mut nominal = vec![0.0; problem.set.dim()];
                problem.set.nominal(&mut nominal);
                (cost_at(problem, x, &nominal, run)?, nominal, Some(stop))
            }
            Err(error) => return Err(error),
        };
        match certify {
            Certify::None => _ = run.consider(x, value, &worst),
            // The two numbers come from two solvers; the bound is the larger.
            Certify::Free | Certify::Exact | Certify::Probabilistic(_) => {
                run.upper(x, value, solved.value.max(value), &worst)
            }
        }
        if let Some(stop) = stopped {
            return Ok(stop);
        }
        let mut scenarios = ScenarioList::new(worst.len());
        scenarios.push(&worst);
        match self.bound_from_below(problem, &scenarios, run)? {
            Some(stop) => Ok(stop),
            None => Ok(run.tick().unwrap_or(Stop::Stalled)),
        }
    }
}

/// The rule made feasible to the last digit at its decision, with what it then costs.
fn for_sure(problem: &Problem, solved: PolicySolution, run: &Run) -> Result<PolicySolution, Error> {
    let proved = match problem.set.shape(&Part::whole(problem.set.dim())) {
        Some(shape) => Repair::over_shape(problem, &solved.x, &shape).run(&solved.policy, run.clock())?,
        None => {
            let all = problem.set.enumerate(usize::MAX).map_err(|too_many| Error::Master(too_many.to_string()))?;
            Repair::over_list(problem, &solved.x, &all).run(&solved.policy, run.clock())?
        }
    };
    match proved {
        Some(ProvenPolicy { policy, value }) => {
            Ok(PolicySolution { value: problem.first.value(&solved.x) + value, policy, ..solved })
        }
        None => Err(Error::Master(
            "the best affine rule misses a row by more than rounding, and could not be repaired".into(),
        )),
    }
}

/// Whether the set has a curved side, whatever its rank.
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

/// The best rule over a region, its integers whole.
fn best(
    problem: &Problem,
    region: PolicyRegion,
    dependence: &Dependence,
    start: Option<&Basis>,
    run: &mut Run,
) -> Result<PolicySolution, Error> {
    let gap = 0.1 * run.limits().gap;
    let rules = |decision| PolicyProgram::new(problem, region, dependence, decision).with_gap(gap);
    let solved = rules(Decision::Free).starting_from(start).solve(run.clock())?;
    let Some(whole) = whole(problem, &solved) else { return Ok(within(problem, solved)) };
    let around = rules(Decision::FixedIntegers(&whole)).solve(run.clock())?;
    let room = gap.max(1e-6) * solved.value.abs().max(1.0);
    if around.status == PolicyStatus::Optimal && around.value <= solved.value + room {
        return Ok(within(problem, around));
    }
    // A large coefficient lets an integer that is almost whole stand in for the whole one. Once more, as strictly as
    // HiGHS can.
    let strict = rules(Decision::Free).with_strict_integrality().solve(run.clock())?;
    Ok(match self::whole(problem, &strict) {
        None => within(problem, strict),
        Some(whole) => within(problem, rules(Decision::FixedIntegers(&whole)).solve(run.clock())?),
    })
}

/// The decision with its integers rounded, if they are not whole.
fn whole(problem: &Problem, solved: &PolicySolution) -> Option<Vec<f64>> {
    let is_integer = |j: usize| problem.first.kind[j] != VariableKind::Continuous;
    let rounded = solved.x.iter().enumerate().map(|(j, &x)| if is_integer(j) { x.round() } else { x }).collect();
    (rounded != solved.x).then_some(rounded)
}

/// The same with the decision within its bounds, which solvers miss by their tolerances.
fn within(problem: &Problem, solved: PolicySolution) -> PolicySolution {
    let (lower, upper) = (&problem.first.lower, &problem.first.upper);
    let x = solved.x.iter().zip(lower.iter().zip(upper)).map(|(x, (lower, upper))| x.clamp(*lower, *upper)).collect();
    PolicySolution { x, ..solved }
}

/// The best rule over a list: each row is written for the scenarios at which a rule missed it, until none is missed.
fn over_list(
    problem: &Problem,
    dependence: &Dependence,
    nominal: &[f64],
    run: &mut Run,
) -> Result<PolicySolution, Error> {
    let all = problem.set.enumerate(usize::MAX).map_err(|too_many| Error::Master(too_many.to_string()))?;
    let mut rows = ScenarioConstraints::new(problem, &all, nominal);
    let mut basis = None;
    loop {
        let mut solved = best(problem, rows.region(), dependence, basis.as_ref(), run)?;
        basis = solved.basis.take();
        let promised = solved.value - problem.first.value(&solved.x);
        if !rows.grow(&solved, &solved.x, promised, run.clock())? {
            return Ok(solved);
        }
        if let Some(stop) = run.tick() {
            return Err(stop.into());
        }
    }
}
