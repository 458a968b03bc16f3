//! Diagnostics of the chain, for methods with one.

use super::axis::Axis;
use super::chart::Chart;
use super::convergence::{ProgressAxis, figure};
use super::sentences::percent;
use super::table::{ColumnKind, TableColumn, table};
use crate::report::history::{History, HistoryPoint};
use crate::report::summary::number;
use crate::run::ChainRecord;

/// Returns the section; empty for methods without a chain.
pub(super) fn section(history: &History) -> String {
    let course: Vec<HistoryPoint> = history.points().filter(|point| point.chain.is_some()).copied().collect();
    let Some(last) = course.last().and_then(|point| point.chain) else { return String::new() };
    let line = |what: &str, value: String, meaning: &str| vec![what.to_owned(), value, meaning.to_owned()];
    let rows = [
        line(
            "Acceptance",
            percent(rounded(last.acceptance)),
            "the share of transitions that moved to another scenario",
        ),
        line(
            "Effective draws",
            number(last.effective.round()),
            "the approximate number of independent draws that the steps amount to",
        ),
        line("Steps since last move", format!("{}", last.still), "transitions since the last move"),
        line(
            "Temperature w",
            number(last.temperature),
            "scenarios whose costs differ by this are visited about equally often",
        ),
        line("Last step", number(last.step), "the distance that the decision moved in the last iteration"),
    ];
    let columns = [
        TableColumn("At the end", ColumnKind::Words),
        TableColumn("", ColumnKind::Numbers),
        TableColumn("What it is", ColumnKind::Words),
    ];
    let progress = ProgressAxis::solves(&course);
    let acceptance = draw(
        "acceptance",
        "Acceptance over recourse solves",
        &format!("{} at the end.", percent(rounded(last.acceptance))),
        &progress,
        Axis::from_zero(1.0).labelled(percent),
        &course,
        |chain| chain.acceptance,
    );
    let most =
        course.iter().filter_map(|point| point.chain).map(|chain| chain.effective).filter(|draws| draws.is_finite());
    let effective = draw(
        "effective",
        "Effective draws over recourse solves",
        &format!("{} at the end.", number(last.effective.round())),
        &progress,
        Axis::from_zero(1.05 * most.fold(0.0, f64::max)),
        &course,
        |chain| chain.effective,
    );
    format!(
        "<section>\n<h2>The chain</h2>\n{}<div class=\"charts\">\n{}{}</div>\n</section>\n",
        table("The chain at the end", &columns, &rows),
        figure("Acceptance", &acceptance),
        figure("Effective draws", &effective)
    )
}

fn draw(
    id: &str,
    title: &str,
    description: &str,
    progress: &ProgressAxis,
    y: Axis,
    course: &[HistoryPoint],
    value: fn(&ChainRecord) -> f64,
) -> String {
    Chart {
        id,
        title,
        description,
        x: progress.axis.clone(),
        x_label: progress.label,
        y,
        lines: vec![progress.line("chain", course, |point| point.chain.as_ref().map(value))],
        shade: None,
        goal: None,
    }
    .draw()
}

/// Rounds a share to a tenth of a percent.
fn rounded(share: f64) -> f64 {
    (1000.0 * share).round() / 1000.0
}
