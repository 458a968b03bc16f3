//! The page: head, status, key figures, and the sections in order.

use std::fmt::Write;

use super::escape::text;
use super::sentences::{meaning, percent};
use super::{chain, convergence, decision, run_details, scenario, verdict};
use crate::model::Problem;
use crate::outcome::{Outcome, Status};
use crate::report::history::History;
use crate::report::summary::{gap_words, number, status_words, stop_words};
use crate::run::Certificate;
use crate::settings::Settings;

/// The style sheet of all pages, with light and dark mode.
pub const STYLE: &str = include_str!("style.css");

/// The content of a report page.
#[derive(Debug, Clone, Copy)]
pub struct HtmlReport<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// The name of the problem's file, for the command that reproduces the run.
    pub file: Option<&'a str>,
    /// The settings of the run.
    pub settings: &'a Settings,
    /// The outcome of the run.
    pub outcome: &'a Outcome,
    /// The history of the run.
    pub history: &'a History,
}

impl HtmlReport<'_> {
    /// Returns the page. It depends on the run only, not on the time of writing.
    pub fn page(&self) -> String {
        let Self { problem, file, settings, outcome, history } = *self;
        let title = if problem.name.is_empty() { "A problem without a name".to_owned() } else { text(&problem.name) };
        let mut html = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
             <meta name=\"color-scheme\" content=\"light dark\"/>\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n\
             <title>{title} – softsep</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n"
        );
        self.header(&title, &mut html);
        if outcome.verdict.is_none() {
            self.figures(&mut html);
            html.push_str("<section>\n<h2>What this means</h2>\n");
            for paragraph in meaning(outcome) {
                let _ = writeln!(html, "<p>{}</p>", text(&paragraph));
            }
            html.push_str("</section>\n");
            html.push_str(&convergence::section(outcome, history, settings.gap));
        }
        if let Some(proven) = &outcome.verdict {
            html.push_str(&verdict::section(problem, proven));
        }
        if let Some(best) = outcome.bounds.best() {
            html.push_str(&decision::section(problem, &best.x));
        }
        if let Some(worst) = &outcome.worst_case {
            html.push_str(&scenario::worst_case(problem, worst));
        }
        html.push_str(&chain::section(history));
        html.push_str(&run_details::section(file, settings, outcome, history));
        html.push_str("</main>\n</body>\n</html>\n");
        html
    }

    fn header(&self, title: &str, html: &mut String) {
        let is_likely = self.outcome.bounds.certificate() == Certificate::Probabilistic;
        let (word, class) = match self.outcome.status {
            Status::Optimal if is_likely => ("Optimal", "fair"),
            Status::Optimal => ("Optimal", "good"),
            Status::Feasible => ("Feasible", "fair"),
            Status::Infeasible => ("Infeasible", "bad"),
            Status::Unbounded => ("Unbounded", "bad"),
            Status::Unknown => ("Unknown", "fair"),
        };
        let details = match self.outcome.status {
            Status::Optimal if is_likely => "if the upper bound holds, which is likely but not proven".to_owned(),
            Status::Infeasible => "no decision has a recourse in every scenario".to_owned(),
            Status::Unbounded => "the cost is unbounded below".to_owned(),
            _ => status_words(self.outcome).split_once(", ").map_or(String::new(), |(_, details)| details.to_owned()),
        };
        let stop = stop_words(self.outcome.stop);
        let words = if details.is_empty() { stop.to_owned() } else { format!("{details}; {stop}") };
        let _ = write!(
            html,
            "<header>\n<p class=\"kicker\">softsep report</p>\n<h1><bdi>{title}</bdi></h1>\n\
             <p class=\"status\"><span class=\"badge {class}\">{word}</span> <span>{words}</span></p>\n<dl \
             class=\"facts\">\n"
        );
        for fact in self.problem.facts() {
            // Lines of the log: a head of one column, then the text.
            let (head, words) = fact.split_once("  ").unwrap_or(("", &fact));
            let _ = writeln!(html, "<div><dt>{}</dt><dd>{}</dd></div>", text(head), text(words.trim()));
        }
        html.push_str("</dl>\n</header>\n");
    }

    fn figures(&self, html: &mut String) {
        let bounds = &self.outcome.bounds;
        let known = |value: Option<f64>| value.map_or("not known".to_owned(), number);
        let best = bounds.best();
        let cost = match best {
            None => "no decision was found",
            Some(best) if !best.is_separated => "the worst case of the decision was not searched for",
            Some(best) if best.upper.is_none() => "an estimate: the cost at the worst scenario found",
            Some(best) if best.upper.is_some_and(|upper| number(upper) == number(best.value)) => {
                "the cost of the decision in the worst case"
            }
            Some(_) => "the cost of the decision at the worst scenario found",
        };
        let split = best.zip(self.outcome.worst_case.as_ref()).map_or(String::new(), |(best, worst)| {
            format!(" ({} now, {} for recourse)", number(self.problem.first.value(&best.x)), number(worst.cost))
        });
        let lower = if bounds.lower().is_some() {
            "no decision costs less in its worst case"
        } else {
            "the optimum may be unbounded"
        };
        let (certificate, upper) = match bounds.certificate() {
            Certificate::Deterministic => ("deterministic", "the decision costs no more in any scenario"),
            Certificate::Probabilistic => ("probabilistic", "likely to hold, under assumptions"),
            Certificate::None if best.is_none() => ("none", "there is no decision to bound yet"),
            Certificate::None => ("none", "the worst case may cost more than the objective"),
        };
        let figures = [
            ("Objective", known(bounds.objective()), format!("{cost}{split}")),
            ("Lower bound", known(bounds.lower()), lower.to_owned()),
            ("Upper bound", known(bounds.reported_upper()), upper.to_owned()),
            ("Gap", gap_words(self.outcome), format!("{} was asked for", percent(self.settings.gap))),
            ("Certificate", certificate.to_owned(), "how the bounds are known".to_owned()),
        ];
        html.push_str("<dl class=\"figures\">\n");
        for (what, value, note) in figures {
            let is_number = value.starts_with(|first: char| first.is_ascii_digit() || first == '-');
            let class = if is_number { "value" } else { "value words" };
            let _ = writeln!(
                html,
                "<div><dt>{what}</dt><dd class=\"{class}\">{value}</dd><dd class=\"note\">{note}</dd></div>"
            );
        }
        html.push_str("</dl>\n");
    }
}
