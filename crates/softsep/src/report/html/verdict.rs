//! The reason why a problem has no optimum.

use std::fmt::Write;

use super::escape::{name, text};
use super::scenario::parameters;
use super::sentences::sentence;
use crate::model::Problem;
use crate::run::{Infeasible, Stage, Unbounded, Verdict};

/// Largest number of names listed.
const SHOWN: usize = 40;

/// Largest number of scenarios shown; the result file has all.
const SCENARIOS_SHOWN: usize = 4;

/// Returns the section: the verdict, the scenario, and the rows or variables involved.
pub(super) fn section(problem: &Problem, verdict: &Verdict) -> String {
    match verdict {
        Verdict::Infeasible(infeasible) => infeasible_section(problem, infeasible),
        Verdict::Unbounded(unbounded) => unbounded_section(problem, unbounded),
    }
}

fn infeasible_section(problem: &Problem, infeasible: &Infeasible) -> String {
    let names = &problem.names;
    let what = match infeasible.stage {
        Stage::First => "No decision satisfies the first stage.",
        Stage::Recourse => "Every decision leaves some scenario without recourse.",
    };
    let mut html =
        format!("<section>\n<h2>Why there is no decision</h2>\n<p>{what} {}</p>\n", text(&sentence(&infeasible.why)));
    let mut rows = |head: &str, names: Vec<&String>| {
        if !names.is_empty() {
            let _ = write!(html, "<h3>{head}</h3>\n{}", list(&names));
        }
    };
    rows(
        "Rows of the first stage that are involved",
        infeasible.first_rows.iter().map(|&row| &names.first_rows[row]).collect(),
    );
    rows(
        "Rows of the recourse that are involved",
        infeasible.recourse_rows.iter().map(|&row| &names.recourse_rows[row]).collect(),
    );
    let head = match infeasible.xi.len() {
        1 => "A scenario without recourse",
        _ => "A scenario among those that have no recourse together",
    };
    for xi in infeasible.xi.iter().take(SCENARIOS_SHOWN) {
        let _ = write!(html, "<h3>{head}</h3>\n{}", parameters(problem, xi));
    }
    if infeasible.xi.len() > SCENARIOS_SHOWN {
        let _ = writeln!(html, "<p>… {} more</p>", infeasible.xi.len() - SCENARIOS_SHOWN);
    }
    html.push_str("</section>\n");
    html
}

fn unbounded_section(problem: &Problem, unbounded: &Unbounded) -> String {
    let names = &problem.names;
    let mut html = String::from(
        "<section>\n<h2>Why there is no optimum</h2>\n<p>The cost is unbounded below along these variables. Bound \
         them, or check the signs of their costs.</p>\n",
    );
    let mut variables = |head: &str, names: Vec<&String>| {
        if !names.is_empty() {
            let _ = write!(html, "<h3>{head}</h3>\n{}", list(&names));
        }
    };
    variables("First stage", unbounded.first.iter().map(|&entry| &names.first[entry]).collect());
    variables("Recourse", unbounded.recourse.iter().map(|&entry| &names.recourse[entry]).collect());
    html.push_str("</section>\n");
    html
}

fn list(names: &[&String]) -> String {
    let mut html = String::from("<ul class=\"names\">\n");
    for shown in names.iter().take(SHOWN) {
        let _ = writeln!(html, "<li>{}</li>", name(shown));
    }
    if names.len() > SHOWN {
        let _ = writeln!(html, "<li>… {} more</li>", names.len() - SHOWN);
    }
    html.push_str("</ul>\n");
    html
}
