//! `evaluate`: the worst-case cost of a given decision.

use crate::cuts::CutPool;
use crate::error::Error;
use crate::model::{Problem, Scaling, Violation};
use crate::numeric::tolerances::{EXACTNESS_TOL, FEASIBILITY_TOL, RAY_SUPPORT_TOL};
use crate::outcome::{Status, WorstCase};
use crate::recourse::{self, Answer, engine};
use crate::run::Clock;
use crate::separation::{
    Claim, Effort, Exact, Found, Proof, Query, Separation, SeparationContext, SeparationKind, SoftSettings, ascend,
    build_separation,
};
use crate::settings::CallLimits;
use crate::solve::{convert_error, on_threads, worst_case};

/// The cost of a decision.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Evaluation {
    /// f(x).
    pub first_cost: f64,
    /// f(x) plus the worst recourse cost found: ∞ if some scenario has no recourse, −∞ if recourse is unbounded
    /// at every scenario tried.
    pub objective: f64,
    /// A proved upper bound on the worst-case cost; `None` where there is none.
    pub upper: Option<f64>,
    /// The scenario of the objective.
    pub xi: Vec<f64>,
    /// The recourse to it, where there is one.
    pub worst_case: Option<WorstCase>,
    /// Rows of the recourse that contradict one another at `xi`, where there is no recourse.
    pub contradiction: Vec<usize>,
    /// Whether the objective is the worst case, up to the solvers' tolerances; else it bounds it from below.
    pub exact: bool,
    /// The search that found it, in words.
    pub how: String,
    /// Recourse problems solved.
    pub recourse_solves: u64,
    /// The largest violation of X, if the decision is not in X.
    pub violation: Option<Violation>,
}

impl Evaluation {
    /// Infeasible, if the decision is not in X or some scenario has no recourse; unbounded, if recourse is at every
    /// scenario tried; else feasible.
    pub fn status(&self) -> Status {
        match self.objective {
            _ if self.violation.is_some() => Status::Infeasible,
            f64::INFINITY => Status::Infeasible,
            f64::NEG_INFINITY => Status::Unbounded,
            _ => Status::Feasible,
        }
    }
}

/// A bound within this of the worst scenario found makes it exact at any cost, also zero: sums are rounded.
const ROUNDING: f64 = 1e-12;

/// The distance of a bound from the worst scenario found, relative to the cost, at which a search for it ends.
const CLOSE: f64 = 1e-4;

/// The gap that soft separation is made for, and its seed: one for all, so that a decision has one cost.
const GAP: f64 = 1e-6;
const SEED: u64 = 1;

/// Evaluates `x`: exactly where every scenario can be evaluated; elsewhere between the worst scenario found and an
/// upper bound, where there is one. A run that meets a limit returns the best values known by then.
pub fn evaluate(problem: &Problem, x: &[f64], limits: &CallLimits) -> Result<Evaluation, Error> {
    if x.len() != problem.first.dim() {
        return Err(Error::Settings(format!(
            "x has {} entries where the problem has {}",
            x.len(),
            problem.first.dim()
        )));
    }
    let Some((scaling, scaled)) = Scaling::of(problem) else { return evaluate_as_written(problem, x, limits) };
    let evaluation = evaluate_as_written(&scaled, &scaling.to_internal(x), limits);
    let mut evaluation = evaluation.map_err(|error| convert_error(error, &scaling))?;
    evaluation.first_cost *= scaling.cost;
    evaluation.objective *= scaling.cost;
    evaluation.upper = evaluation.upper.map(|upper| upper * scaling.cost);
    Scaling::convert(&mut evaluation.xi, &scaling.parameters);
    if let Some(worst_case) = &mut evaluation.worst_case {
        scaling.convert_worst_case(&mut worst_case.xi, &mut worst_case.cost, &mut worst_case.y);
    }
    evaluation.violation = evaluation.violation.and_then(|_| problem.first.violation(x));
    Ok(evaluation)
}

fn evaluate_as_written(problem: &Problem, x: &[f64], limits: &CallLimits) -> Result<Evaluation, Error> {
    let clock = limits.clock();
    on_threads(limits.threads, || {
        let first_cost = problem.first.value(x);
        let (found, how) = worst_of(problem, x, first_cost, &clock)?;
        let objective = first_cost + found.value;
        let upper = match found.claim {
            Claim::Surely(at_most) => Some(first_cost + at_most),
            Claim::Nothing => None,
        };
        Ok(Evaluation {
            first_cost,
            objective,
            upper: upper.filter(|upper| upper.is_finite()),
            // Where a solver fails at the scenario found, the rest of the result holds all the same.
            worst_case: worst_case(problem, x, &found.xi).unwrap_or_else(|_| {
                let cost = found.value;
                cost.is_finite().then(|| WorstCase { xi: found.xi.clone(), cost, y: Vec::new() })
            }),
            contradiction: match found.value {
                f64::INFINITY => contradiction(problem, x, &found.xi).unwrap_or_default(),
                _ => Vec::new(),
            },
            xi: found.xi,
            exact: upper.is_some_and(|upper| {
                upper == objective || upper - objective <= (EXACTNESS_TOL * upper.abs()).max(ROUNDING)
            }),
            how,
            recourse_solves: found.solves,
            violation: problem.first.violation(x).filter(|violation| violation.amount > FEASIBILITY_TOL),
        })
    })?
}

/// The worst scenario, and how it was found.
fn worst_of(problem: &Problem, x: &[f64], first_cost: f64, clock: &Clock) -> Result<(Found, String), Error> {
    let separation = match Exact::choose(problem) {
        Ok(separation) => separation,
        Err(reason) => return without_proof(problem, x, &reason.to_string(), clock),
    };
    let plan = separation.plan(problem);
    let is_search = !matches!(separation, Exact::Scan(_));
    let separated = separation.build(problem).and_then(|mut separation| {
        // The tolerance is relative to the cost.
        let tolerance = if is_search { CLOSE * (first_cost + by_ascent(problem, x, clock)?.value).abs() } else { 0.0 };
        let query = Query::maximum(x, clock).with_bound(tolerance);
        separation.separate(&query, &mut CutPool::new(problem))
    });
    match separated {
        Ok(found) => Ok((found, plan)),
        Err(Error::Interrupted(stop)) => {
            let found = by_ascent(problem, x, &clock.grace())?;
            Ok((found, format!("{stop}: local ascents, which bound the worst case from below")))
        }
        Err(error) => without_proof(problem, x, &format!("the exact separation failed ({error})"), clock),
    }
}

/// The worst scenario of a search without a bound, for this reason, and how it was found.
fn without_proof(problem: &Problem, x: &[f64], reason: &str, clock: &Clock) -> Result<(Found, String), Error> {
    let (found, search) = by_soft_separation(problem, x, clock)?;
    let how = match found.claim {
        Claim::Surely(_) => "a scenario without recourse was found, and nothing can be worse".to_owned(),
        Claim::Nothing => format!("{search}, which bounds the worst case from below: {reason}"),
    };
    Ok((found, how))
}

/// The worst scenario of a thorough soft separation, or of ascents where the clock stops it, and how it was found.
fn by_soft_separation(problem: &Problem, x: &[f64], clock: &Clock) -> Result<(Found, &'static str), Error> {
    let ascents = "local ascents";
    let context = SeparationContext::new(SoftSettings::default(), Proof::Unwanted, GAP, SEED, clock);
    let searched = build_separation(&SeparationKind::Soft, problem, &context).and_then(|mut separation| {
        let query = Query::scenario(x, clock).with_effort(Effort::Thorough);
        separation.separate(&query, &mut CutPool::new(problem))
    });
    match searched {
        Ok(found) => Ok((found, "a tempered search")),
        Err(Error::Interrupted(_)) => Ok((by_ascent(problem, x, &clock.grace())?, ascents)),
        // A set without states has no chains.
        Err(Error::Set(_)) => Ok((by_ascent(problem, x, clock)?, ascents)),
        Err(error) => Err(error),
    }
}

fn by_ascent(problem: &Problem, x: &[f64], clock: &Clock) -> Result<Found, Error> {
    let mut engine = engine(problem, clock)?;
    ascend(problem, engine.as_mut(), x)
}

/// The rows in the Farkas ray at (x, ξ).
fn contradiction(problem: &Problem, x: &[f64], xi: &[f64]) -> Result<Vec<usize>, Error> {
    let mut engine = engine(problem, &Clock::unlimited())?;
    let mut answer = Answer::new(problem);
    engine.at(x);
    engine.solve(xi, &mut answer)?;
    let mut ray = vec![0.0; problem.recourse.rows()];
    if answer.outcome == recourse::RecourseOutcome::Infeasible {
        engine.dual(&mut ray);
    }
    Ok((0..ray.len()).filter(|&row| ray[row].abs() > RAY_SUPPORT_TOL).collect())
}
