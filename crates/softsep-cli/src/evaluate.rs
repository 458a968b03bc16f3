//! `softsep evaluate`: the worst-case cost of a given decision.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Map, Value, json};
use softsep::model::{Broken, Violation};
use softsep::report::NamedValues;
use softsep::report::evaluation_summary;
use softsep::run::Interrupt;
use softsep::{CallLimits, Error, Evaluation, Problem};

use crate::exit::{Exit, Failure};
use crate::output::{print, print_json, say};
use crate::{decision, interrupt, numbers, policy};

const EXAMPLES: &str = "\
Examples:
  softsep evaluate depots.json --x result.json
  softsep evaluate depots.json --x plan.json --json
  softsep evaluate depots.json --x result.json --policy policy.json

where plan.json gives every first-stage variable a value: {\"open\": 1, \"capacity\": 246}";

/// The gap between a policy and the worst scenario found, relative to the cost, at which its search ends: that of
/// evaluations.
const CLOSE: f64 = 1e-4;

/// Find the worst-case cost of a decision
///
/// Prints the cost of the decision in the worst case, its scenario, and whether the cost is exact. If it is not, it is
/// a lower bound on the worst case, and an upper bound is printed where one is known. After a time limit these are the
/// bounds known by then.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Evaluate {
    /// The problem, an aro/1 JSON file
    problem: PathBuf,

    /// The decision: a result of "softsep solve", or a JSON object of names and values
    #[arg(long, value_name = "FILE")]
    x: PathBuf,

    /// Stop after this number of seconds with the bounds known by then [default: no limit]
    #[arg(long, value_name = "SECONDS", value_parser = numbers::time_limit, allow_negative_numbers = true)]
    time_limit: Option<Duration>,

    /// Threads to use; the result does not depend on it [default: all]
    #[arg(long, value_name = "N", value_parser = numbers::threads, allow_negative_numbers = true)]
    threads: Option<usize>,

    /// Write an explicit policy for the decision to this file, as JSON: every recourse variable as a constant and a
    /// slope for each parameter that it follows
    ///
    /// y(ξ) = constant + Σ slope·ξ is feasible for every ξ of the set, and the cost is never above the file's
    /// "upper_bound": once ξ is known, y is a sum. This takes recourse with costs that do not depend on ξ, over
    /// every set. The policy is computed first, and the evaluation has the rest of the time limit.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// Print a JSON object in place of the summary
    #[arg(long)]
    json: bool,
}

impl Evaluate {
    /// Evaluates and prints.
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let in_use = [self.problem.as_path(), self.x.as_path()];
        let policy = self.policy.as_ref().map(|policy| policy::target(policy, &in_use)).transpose()?;
        let problem = softsep::read(&self.problem).map_err(|error| Failure::of(error.into(), &self.problem))?;
        if policy.is_some() {
            policy::check(&problem, &self.problem)?;
        }
        let x = decision::read(&problem, &self.x)?;
        let interrupt = interrupt::flag(|| say("interrupted: stopping; Ctrl-C again to leave at once"))?;
        let limits = |time_limit| CallLimits { time_limit, threads: self.threads, interrupt: Arc::clone(&interrupt) };
        let start = Instant::now();
        // Before the evaluation, which may search for as long as it is allowed to.
        let explicit = policy.map_or(Ok(None), |target| {
            let request = policy::PolicyRequest {
                problem: &problem,
                file: &self.problem,
                x: Some(&x),
                gap: CLOSE,
                limits: limits(self.time_limit),
            };
            request.write(&target)
        });
        let left = self.time_limit.map(|limit| limit.saturating_sub(start.elapsed()));
        let start = Instant::now();
        let evaluation = softsep::evaluate(&problem, &x, &limits(left)).map_err(|error| self.failure(error))?;
        if self.json {
            print_json(&json_of(&problem, &evaluation, start.elapsed()))?;
        } else {
            print(&evaluation_summary(&problem, &evaluation))?;
        }
        if let Some(line) = explicit? {
            say(&line);
        }
        Ok(if interrupt.load(Ordering::Relaxed) { Exit::Interrupted } else { Exit::Done })
    }

    /// A stop that leaves nothing at all, not even one scenario.
    fn failure(&self, error: Error) -> Failure {
        let file = self.problem.display();
        match error {
            Error::Interrupted(Interrupt::Interrupted) => {
                Failure::interrupted(format!("{file}: interrupted before the worst case was found"))
            }
            Error::Interrupted(stop) => {
                Failure::failed(format!("{file}: {stop} before the worst case was found; allow more time"))
            }
            error => Failure::of(error, &self.problem),
        }
    }
}

/// The evaluation for programs. Keys that do not apply are left out; the objective is null where it is infinite.
fn json_of(problem: &Problem, evaluation: &Evaluation, time: Duration) -> Value {
    let names = &problem.names;
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put("status", json!(evaluation.status()));
    // JSON has no infinity; a number that is none becomes null.
    put("objective", evaluation.objective.into());
    put("exact", evaluation.exact.into());
    put("upper_bound", json!(evaluation.upper));
    put("how", evaluation.how.as_str().into());
    put("first_cost", evaluation.first_cost.into());
    put("xi", json!(NamedValues::new(&names.parameters, &evaluation.xi)));
    if let Some(worst) = &evaluation.worst_case {
        put("recourse_cost", worst.cost.into());
        if worst.y.len() == names.recourse.len() {
            put("y", json!(NamedValues::new(&names.recourse, &worst.y)));
        }
    }
    if !evaluation.contradiction.is_empty() {
        let rows: Vec<&String> = evaluation.contradiction.iter().map(|&row| &names.recourse_rows[row]).collect();
        put("rows", json!(rows));
    }
    if let Some(violation) = &evaluation.violation {
        put("violation", json_of_violation(problem, violation));
    }
    put("recourse_solves", evaluation.recourse_solves.into());
    put("seconds", time.as_secs_f64().into());
    object.into()
}

/// The constraint of the first stage that the decision breaks most; a bound that is infinite is null.
fn json_of_violation(problem: &Problem, violation: &Violation) -> Value {
    let (kind, name) = match violation.place {
        Broken::Bound(j) => ("bound", &problem.names.first[j]),
        Broken::Integrality(j) => ("integrality", &problem.names.first[j]),
        Broken::Row(row) => ("row", &problem.names.first_rows[row]),
    };
    json!({
        "kind": kind, "name": name, "amount": violation.amount,
        "activity": violation.activity, "lower": violation.lower, "upper": violation.upper,
    })
}
