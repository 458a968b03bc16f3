//! How the chain did, where the method has one.

use super::axis::Axis;
use super::chart::Chart;
use super::convergence::{Against, figure};
use super::table::{Column, Holds, table};
use super::words::percent;
use crate::report::history::{History, Moment};
use crate::report::summary::number;
use crate::run::ChainRecord;

/// The section; empty for methods without a chain.
pub(super) fn section(history: &History) -> String {
    let course: Vec<Moment> = history.moments().filter(|moment| moment.chain.is_some()).copied().collect();
    let Some(last) = course.last().and_then(|moment| moment.chain) else { return String::new() };
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
            "how many independent draws the steps are worth, about",
        ),
        line("Standing still", format!("{}", last.still), "transitions since the last move"),
        line(
            "Temperature w",
            number(last.temperature),
            "scenarios whose costs differ by this are visited about equally often",
        ),
        line("Last step", number(last.step), "how far the decision moved in the last iteration"),
    ];
    let columns = [Column("At the end", Holds::Words), Column("", Holds::Numbers), Column("What it is", Holds::Words)];
    let against = Against::solves(&course);
    let acceptance = draw(
        "acceptance",
        "Acceptance over recourse solves",
        &format!("{} at the end.", percent(rounded(last.acceptance))),
        &against,
        Axis::from_zero(1.0).labelled(percent),
        &course,
        |chain| chain.acceptance,
    );
    let most =
        course.iter().filter_map(|moment| moment.chain).map(|chain| chain.effective).filter(|draws| draws.is_finite());
    let effective = draw(
        "effective",
        "Effective draws over recourse solves",
        &format!("{} at the end.", number(last.effective.round())),
        &against,
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
    against: &Against,
    y: Axis,
    course: &[Moment],
    value: fn(&ChainRecord) -> f64,
) -> String {
    Chart {
        id,
        title,
        description,
        x: against.axis.clone(),
        x_label: against.label,
        y,
        lines: vec![against.line("chain", course, |moment| moment.chain.as_ref().map(value))],
        shade: None,
        goal: None,
    }
    .draw()
}

/// A share to a tenth of a percent.
fn rounded(share: f64) -> f64 {
    (1000.0 * share).round() / 1000.0
}
