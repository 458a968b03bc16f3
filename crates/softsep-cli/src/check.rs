//! `softsep check`: whether a file is a problem, its contents, and the methods that apply to it.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value, json};
use softsep::internals::definition::one_line;
use softsep::methods::{Entry, METHODS};
use softsep::uncertainty::Count;
use softsep::{Error, Problem, ReadError, Unsupported};

use crate::exit::{Exit, Failure};
use crate::output::{print, print_json};
use crate::scale::{CoefficientRanges, Range};

const EXAMPLES: &str = "\
Examples:
  softsep check depots.json
  softsep check depots.json --json | jq .methods

A file with faults gives one line for each of them, and exit code 2.";

/// Check a problem without solving it
///
/// Lists every fault of the file. Of a valid problem it prints the sizes, the ranges of the coefficients, and for each
/// method its steps on the problem and the guarantee of its result, or the reason why it does not apply.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Check {
    /// The problem, an aro/1 JSON file
    problem: PathBuf,

    /// Print a JSON object in place of the text
    #[arg(long)]
    json: bool,
}

/// The applicability of a method to the problem.
struct Applicability {
    method: &'static str,
    /// Its plan and the guarantee of its result, or the reason why it does not apply.
    plan: Result<(String, String), Unsupported>,
}

impl Check {
    /// Checks and prints.
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let problem = match softsep::read(&self.problem) {
            Ok(problem) => problem,
            Err(error) => {
                if self.json {
                    print_json(&json_of_faults(&error))?;
                }
                return Err(Failure::of(error.into(), &self.problem));
            }
        };
        let verdicts: Result<Vec<Applicability>, Error> =
            METHODS.iter().map(|entry| verdict_of(entry, &problem)).collect();
        let verdicts = verdicts.map_err(|error| Failure::of(error, &self.problem))?;
        let scale = CoefficientRanges::of(&problem);
        if self.json {
            print_json(&json_of(&problem, &scale, &verdicts))?;
        } else {
            print(&text_of(&problem, &scale, &verdicts))?;
        }
        Ok(Exit::Done)
    }
}

/// Checks whether a method with its default options accepts the problem.
fn verdict_of(entry: &'static Entry, problem: &Problem) -> Result<Applicability, Error> {
    let method = entry.parse(&Map::new())?.build();
    Ok(Applicability {
        method: entry.name,
        plan: method.accepts(problem).map(|()| (method.plan(problem), method.promise(problem))),
    })
}

fn text_of(problem: &Problem, scale: &CoefficientRanges, verdicts: &[Applicability]) -> String {
    let mut lines = Vec::new();
    if !problem.name.is_empty() {
        lines.push(format!("problem      {}", one_line(&problem.name)));
    }
    lines.extend(problem.facts());
    lines.push("\ncoefficients (absolute values of nonzeros, each row scaled as the solvers see it)".to_owned());
    for (what, range) in scale.parts() {
        lines.push(match range {
            Some(Range { smallest, largest }) => format!("  {what:<16}  {} to {}", short(smallest), short(largest)),
            None => format!("  {what:<16}  all zero"),
        });
        if let Some(range) = range.filter(Range::is_wide) {
            let ratio = range.largest / range.smallest;
            lines.push(format!(
                "  {:<16}  hint: a factor of {ratio:.0e} lies between them; choose units that bring them closer",
                ""
            ));
        }
    }
    lines.push("\nmethods".to_owned());
    lines.extend(verdicts.iter().map(|verdict| match &verdict.plan {
        Ok((plan, promise)) => format!("  {:<16}  applies: {plan}\n  {:<16}  promises: {promise}", verdict.method, ""),
        Err(refusal) => format!("  {:<16}  does not apply: {}; {}", verdict.method, refusal.feature, refusal.instead),
    }));
    lines.join("\n") + "\n"
}

/// A number with at most four decimals, or four significant digits if it is very small or large.
fn short(value: f64) -> String {
    if (1e-3..1e6).contains(&value) { format!("{}", (value * 1e4).round() / 1e4) } else { format!("{value:.3e}") }
}

fn json_of(problem: &Problem, scale: &CoefficientRanges, verdicts: &[Applicability]) -> Value {
    let (first, recourse) = (&problem.first, &problem.recourse);
    let ranges = scale.parts().map(|(what, range)| {
        let value =
            range.map(|range| json!({"smallest": range.smallest, "largest": range.largest, "wide": range.is_wide()}));
        (what.replace([' ', '-'], "_"), json!(value))
    });
    let methods = verdicts.iter().map(|verdict| match &verdict.plan {
        Ok((plan, promise)) => json!({"name": verdict.method, "applies": true, "plan": plan, "promise": promise}),
        Err(refusal) => {
            json!({"name": verdict.method, "applies": false, "feature": refusal.feature, "instead": refusal.instead})
        }
    });
    json!({
        "valid": true,
        "name": problem.name,
        "first_stage": {
            "variables": first.dim(),
            "integers": first.has_integers(),
            "rows": first.rows.rows(),
            "quadratic": !first.quadratic.is_zero(),
        },
        "uncertainty": {
            "kind": problem.set.kind(),
            "parameters": problem.set.dim(),
            "extreme_points": json_of_count(problem.set.extremes()),
        },
        "recourse": {
            "variables": recourse.dim(),
            "rows": recourse.rows(),
            "nonzeros": recourse.g.nonzeros(),
            "quadratic": !recourse.quadratic.is_zero(),
            "costs_move": recourse.costs_move(),
            "cones": recourse.cones.len(),
        },
        "coefficients": Map::from_iter(ranges),
        "methods": methods.collect::<Vec<_>>(),
    })
}

/// The number where it is known; null where it is not, or is infinite.
fn json_of_count(count: Count) -> Value {
    match count {
        Count::Exactly(count) => u64::try_from(count).map_or(json!(count as f64), Value::from),
        Count::MoreThan(_) | Count::Infinite => Value::Null,
    }
}

fn json_of_faults(error: &ReadError) -> Value {
    let faults = error.complaints.iter().map(|complaint| json!({"place": complaint.place, "what": complaint.what}));
    json!({"valid": false, "faults": faults.collect::<Vec<_>>()})
}
