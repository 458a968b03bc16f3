//! Decisions of either stage: the largest entries with their bounds and costs.

use super::escape::{name, text};
use super::table::{ColumnKind, TableColumn, bar, left_out, table};
use crate::model::Problem;
use crate::report::summary::number;

/// Largest number of entries shown.
const SHOWN: usize = 20;

/// Returns the section of the first-stage decision.
pub(super) fn section(problem: &Problem, x: &[f64]) -> String {
    if x.is_empty() {
        return "<section>\n<h2>The decision</h2>\n<p>There is nothing to decide in the first stage.</p>\n</section>\n"
            .to_owned();
    }
    let first = &problem.first;
    let costs = first.quadratic.is_zero().then_some(first.cost.as_slice());
    let rows = largest("The decision", &problem.names.first, x, &first.lower, &first.upper, costs);
    format!("<section>\n<h2>The decision</h2>\n{rows}</section>\n")
}

/// A table of the nonzero entries, the largest first; `costs` is given for linear costs only, so that each entry has
/// its own.
pub(super) fn largest(
    label: &str,
    names: &[String],
    values: &[f64],
    lower: &[f64],
    upper: &[f64],
    costs: Option<&[f64]>,
) -> String {
    let mut order: Vec<usize> = (0..values.len()).filter(|&entry| values[entry] != 0.0).collect();
    let nonzeros = order.len();
    if nonzeros == 0 {
        return format!("<p>All {} entries are zero.</p>\n", values.len());
    }
    order.sort_by(|&a, &b| values[b].abs().total_cmp(&values[a].abs()));
    order.truncate(SHOWN);
    // A bar needs two finite ends.
    let has_bars = order.iter().any(|&entry| lower[entry].is_finite() && upper[entry].is_finite());
    let rows: Vec<Vec<String>> = order
        .iter()
        .map(|&entry| {
            let (value, low, high) = (values[entry], lower[entry], upper[entry]);
            let mut row = vec![name(&names[entry]), number(value)];
            row.extend(has_bars.then(|| bar(low, high, 0.0, value)));
            row.push(text(&bounds(low, high)));
            row.extend(costs.map(|costs| number(costs[entry] * value)));
            row
        })
        .collect();
    let mut columns = vec![TableColumn("Variable", ColumnKind::Words), TableColumn("Value", ColumnKind::Numbers)];
    columns.extend(has_bars.then_some(TableColumn("Within its bounds", ColumnKind::Bars)));
    columns.push(TableColumn("Bounds", ColumnKind::Numbers));
    columns.extend(costs.map(|_| TableColumn("Cost", ColumnKind::Numbers)));
    let zeros = match values.len() - nonzeros {
        0 => String::new(),
        1 => "<p class=\"note\">One more is zero.</p>\n".to_owned(),
        zeros => format!("<p class=\"note\">{zeros} more are zero.</p>\n"),
    };
    table(label, &columns, &rows) + &left_out(rows.len(), nonzeros, "are smaller") + &zeros
}

fn bounds(low: f64, high: f64) -> String {
    match (low.is_finite(), high.is_finite()) {
        (true, true) => format!("{} to {}", number(low), number(high)),
        (true, false) => format!("≥ {}", number(low)),
        (false, true) => format!("≤ {}", number(high)),
        (false, false) => "free".to_owned(),
    }
}
