//! `evaluate`: what a given decision costs in the worst case.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::error::Error;
use crate::model::{Problem, Violation};
use crate::outcome::WorstCase;
use crate::recourse::{self, Answer, engine};
use crate::run::Clock;
use crate::separation::{Ask, Claim, Scan, Separation, ascend, stand_in};
use crate::solve::{on_threads, worst_case};

/// The cost of a decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// f(x).
    pub first_cost: f64,
    /// f(x) plus the worst recourse cost found: ∞ if some scenario has no recourse, −∞ if recourse is unbounded everywhere looked.
    pub objective: f64,
    /// The scenario behind it.
    pub xi: Vec<f64>,
    /// The recourse to it, where there is one.
    pub worst_case: Option<WorstCase>,
    /// Rows of the recourse that contradict one another at `xi`, where there is no recourse.
    pub contradiction: Vec<usize>,
    /// Whether the objective is the exact worst case; else it bounds it from below.
    pub exact: bool,
    /// How it was found, in words.
    pub how: String,
    /// Recourse problems solved.
    pub recourse_solves: u64,
    /// How the decision leaves X, if it does.
    pub violation: Option<Violation>,
}

/// Extreme points that an evaluation enumerates at most; a scenario list is always scanned whole.
const ENUMERATED: usize = 200_000;

/// How far a decision may leave X and still count as a member: what solvers return.
const MEMBER: f64 = 1e-6;

/// Evaluates `x`: exactly wherever the worst case can be enumerated, and otherwise by ascent, which bounds it from below.
pub fn evaluate(
    problem: &Problem,
    x: &[f64],
    time_limit: Option<Duration>,
    threads: Option<usize>,
    interrupt: &Arc<AtomicBool>,
) -> Result<Evaluation, Error> {
    if x.len() != problem.first.dim() {
        return Err(Error::Settings(format!("x has {} entries where the problem has {}", x.len(), problem.first.dim())));
    }
    let clock = Clock::new(time_limit, Arc::clone(interrupt));
    on_threads(threads, || {
        let (found, how) = match stand_in(problem, ENUMERATED) {
            Ok(points) => {
                let what = if problem.set.is_finite_list() { "scenarios" } else { "extreme points" };
                let how = format!("every one of the {} {what} was bounded or solved", points.len());
                (Scan::new(problem, points)?.separate(x, &Ask::MAXIMUM, &clock)?, how)
            }
            Err(reason) => {
                let mut engine = engine(problem, &clock)?;
                let found = ascend(problem, engine.as_mut(), x)?;
                let how = match found.claim {
                    Claim::Surely(_) => "a scenario without recourse was found, and nothing can be worse".to_owned(),
                    Claim::Nothing => format!("local ascents, which bound the worst case from below: {reason}"),
                };
                (found, how)
            }
        };
        let exact = matches!(found.claim, Claim::Surely(_));
        let first_cost = problem.first.value(x);
        Ok(Evaluation {
            first_cost,
            objective: first_cost + found.value,
            worst_case: worst_case(problem, x, &found.xi)?,
            contradiction: if found.value == f64::INFINITY { contradiction(problem, x, &found.xi)? } else { Vec::new() },
            xi: found.xi,
            exact,
            how,
            recourse_solves: found.solves,
            violation: problem.first.violation(x).filter(|violation| violation.amount > MEMBER),
        })
    })?
}

/// The rows in the Farkas ray at (x, ξ).
fn contradiction(problem: &Problem, x: &[f64], xi: &[f64]) -> Result<Vec<usize>, Error> {
    let mut engine = engine(problem, &Clock::unlimited())?;
    let mut answer = Answer::new(problem);
    engine.at(x);
    engine.solve(xi, &mut answer)?;
    let mut ray = vec![0.0; problem.recourse.rows()];
    if answer.outcome == recourse::Outcome::Infeasible {
        engine.dual(&mut ray);
    }
    Ok((0..ray.len()).filter(|&row| ray[row].abs() > 1e-6).collect())
}
