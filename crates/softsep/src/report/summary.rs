//! Text summaries of a few lines.

use std::fmt::Write;

use super::certificate::certificate_in_words;
use crate::definition::one_line;
use crate::evaluate::Evaluation;
use crate::model::{Broken, Problem};
use crate::outcome::{Outcome, Status};
use crate::run::{Certificate, Stop, Verdict};

/// Largest number of entries of a vector in a summary; the result file has all.
const SHOWN: usize = 12;

/// Returns the summary of a run.
pub fn solve_summary(problem: &Problem, outcome: &Outcome) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "status       {} ({})", status_words(outcome), stop_words(outcome.stop));
    if let Some(failure) = &outcome.failure {
        let _ = writeln!(text, "failure      {}", one_line(&failure.to_string()));
    }
    if let Some(objective) = outcome.objective() {
        let _ = writeln!(text, "objective    {}", number(objective));
    }
    if let Some(cost) = outcome.bounds.nominal_cost() {
        let _ = writeln!(text, "nominal cost {}", number(cost));
    }
    if outcome.verdict.is_none() {
        let bound = |bound: Option<f64>| bound.map_or("not known".to_owned(), number);
        let _ = writeln!(text, "lower bound  {}", bound(outcome.bounds.lower()));
        let _ = writeln!(text, "upper bound  {}", bound(outcome.bounds.reported_upper()));
        let _ = writeln!(text, "gap          {}", gap_words(outcome));
        for (line, words) in certificate_in_words(outcome).iter().enumerate() {
            let _ = writeln!(text, "{:<12} {words}", if line == 0 { "certificate" } else { "" });
        }
    }
    if let Some(best) = outcome.bounds.best() {
        let _ = writeln!(text, "decision     {}", nonzeros(&problem.names.first, &best.x));
    }
    if let Some(worst) = &outcome.worst_case {
        let _ = writeln!(text, "worst case   {}", entries(&problem.names.parameters, &worst.xi));
        let _ = writeln!(text, "             recourse costs {}", number(worst.cost));
    }
    match &outcome.verdict {
        Some(Verdict::Infeasible(infeasible)) => {
            let _ = writeln!(text, "why          {}", infeasible.why);
            for xi in infeasible.xi.iter().take(SHOWN) {
                let _ = writeln!(text, "ξ            {}", entries(&problem.names.parameters, xi));
            }
            if infeasible.xi.len() > SHOWN {
                let _ = writeln!(text, "             … {} more", infeasible.xi.len() - SHOWN);
            }
        }
        Some(Verdict::Unbounded(unbounded)) => {
            let names = unbounded.first.iter().map(|&j| &problem.names.first[j]);
            let names: Vec<_> =
                names.chain(unbounded.recourse.iter().map(|&j| &problem.names.recourse[j])).cloned().collect();
            let _ = writeln!(text, "why          the cost is unbounded below along {}", listed(&names));
        }
        None => {}
    }
    let _ = writeln!(
        text,
        "effort       {:.2} s, method {}, iterations {}, recourse solves {}",
        outcome.seconds, outcome.method, outcome.iterations, outcome.recourse_solves
    );
    text
}

/// Returns the summary of an evaluated decision.
pub fn evaluation_summary(problem: &Problem, evaluation: &Evaluation) -> String {
    let mut text = String::new();
    let status = match (evaluation.status(), &evaluation.violation) {
        (Status::Infeasible, Some(_)) => "infeasible, the decision is not in the first stage's feasible set",
        (Status::Infeasible, None) => "infeasible, some scenario has no recourse",
        (Status::Unbounded, _) => "unbounded",
        _ => "feasible",
    };
    let _ = writeln!(text, "status       {status}");
    if let Some(violation) = &evaluation.violation {
        let what = match violation.place {
            Broken::Bound(j) => format!("\"{}\" leaves its bounds", one_line(&problem.names.first[j])),
            Broken::Integrality(j) => format!("\"{}\" is not integral", one_line(&problem.names.first[j])),
            Broken::Row(row) => format!("row \"{}\" is violated", one_line(&problem.names.first_rows[row])),
        };
        let _ = writeln!(
            text,
            "why          {what} ({} is not between {} and {})",
            number(violation.activity),
            number(violation.lower),
            number(violation.upper)
        );
    }
    let kind = match (evaluation.exact, evaluation.upper) {
        (true, _) => "exact".to_owned(),
        (false, Some(upper)) => format!("the worst case is not below this, and not above {}", number(upper)),
        (false, None) => "a lower bound on the worst case, not exact".to_owned(),
    };
    if evaluation.objective == f64::INFINITY {
        let _ = writeln!(text, "objective    infinite: there is a scenario without recourse");
        let rows: Vec<_> =
            evaluation.contradiction.iter().map(|&row| problem.names.recourse_rows[row].clone()).collect();
        let _ = writeln!(text, "why          these rows contradict one another there: {}", listed(&rows));
    } else if evaluation.objective == f64::NEG_INFINITY {
        let _ = writeln!(text, "objective    minus infinity: the recourse cost is unbounded below");
    } else {
        let _ = writeln!(text, "objective    {} ({kind})", number(evaluation.objective));
    }
    let _ = writeln!(text, "first stage  {}", number(evaluation.first_cost));
    if let Some(worst) = &evaluation.worst_case {
        let _ = writeln!(text, "recourse     {}", number(worst.cost));
    }
    let _ = writeln!(text, "worst case   {}", entries(&problem.names.parameters, &evaluation.xi));
    let _ = writeln!(text, "how          {}", evaluation.how);
    text
}

pub(super) fn status_words(outcome: &Outcome) -> &'static str {
    match outcome.status {
        Status::Optimal if outcome.bounds.certificate() == Certificate::Probabilistic => {
            "optimal, if the certificate holds"
        }
        Status::Optimal => "optimal",
        Status::Feasible if outcome.bounds.reported_upper().is_none() => "feasible, with no upper bound",
        Status::Feasible => "feasible, the gap asked for is not met",
        Status::Infeasible => "infeasible",
        Status::Unbounded => "unbounded",
        Status::Unknown if outcome.x().is_some() => "unknown, the worst case of the decision was not searched for",
        Status::Unknown => "unknown, no decision found yet",
    }
}

pub(super) fn gap_words(outcome: &Outcome) -> String {
    match outcome.bounds.gap() {
        None => "not known".to_owned(),
        Some(gap) => format!("{:.4} %", 100.0 * gap),
    }
}

pub(super) fn stop_words(stop: Stop) -> &'static str {
    match stop {
        Stop::Gap => "the gap asked for is met",
        Stop::TimeLimit => "the time limit is reached",
        Stop::IterationLimit => "the iteration limit is reached",
        Stop::Interrupted => "interrupted",
        Stop::Proved => "proved",
        Stop::Stalled => "no further progress",
        Stop::Failed => "a computation failed",
    }
}

/// Formats a number with as many digits as needed, at most ten significant ones.
pub(super) fn number(value: f64) -> String {
    if value != 0.0 && !(1e-4..1e15).contains(&value.abs()) {
        return format!("{value:.6e}");
    }
    let digits = (9 - value.abs().max(1.0).log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

pub(super) fn entries(names: &[String], values: &[f64]) -> String {
    shown(names.iter().zip(values.iter().copied()), names.len())
}

/// The nonzero entries, the largest first.
fn nonzeros(names: &[String], values: &[f64]) -> String {
    let mut pairs: Vec<(&String, f64)> =
        names.iter().zip(values.iter().copied()).filter(|(_, value)| *value != 0.0).collect();
    if pairs.is_empty() {
        return if names.is_empty() { "nothing to decide".into() } else { "all zero".into() };
    }
    pairs.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let count = pairs.len();
    shown(pairs.into_iter(), count)
}

fn shown<'n>(pairs: impl Iterator<Item = (&'n String, f64)>, count: usize) -> String {
    let mut parts: Vec<String> =
        pairs.take(SHOWN).map(|(name, value)| format!("{} = {}", one_line(name), number(value))).collect();
    if count > SHOWN {
        parts.push(format!("… {} more", count - SHOWN));
    }
    parts.join(", ")
}

fn listed(names: &[String]) -> String {
    let mut parts: Vec<String> = names.iter().take(SHOWN).map(|name| format!("\"{}\"", one_line(name))).collect();
    if names.len() > SHOWN {
        parts.push(format!("… {} more", names.len() - SHOWN));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_are_rounded_and_tiny_ones_are_in_scientific_notation() {
        assert_eq!(number(33680.0), "33680");
        assert_eq!(number(0.1 + 0.2), "0.3");
        assert_eq!(number(1234567.891), "1234567.891");
        assert_eq!(number(-1e-9), "-1.000000e-9");
    }
}
