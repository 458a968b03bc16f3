//! A scenario compared with the nominal one and the set, and the recourse in it.

use std::fmt::Write;

use super::decision::largest;
use super::escape::name;
use super::table::{ColumnKind, TableColumn, bar, left_out, table};
use crate::model::Problem;
use crate::outcome::WorstCase;
use crate::report::summary::number;

/// Largest number of parameters shown; the others are closer to their nominal values.
const SHOWN: usize = 30;

/// Returns the section of the incumbent's worst case, with the recourse in it.
pub(super) fn worst_case(problem: &Problem, worst: &WorstCase) -> String {
    let mut html = String::from("<section>\n<h2>The worst case</h2>\n");
    let _ = writeln!(
        html,
        "<p>The scenario with the highest cost of this decision among all evaluated ones. Recourse costs \
         <strong>{}</strong> there.{}</p>",
        number(worst.cost),
        row_in_list(problem, &worst.xi)
    );
    html.push_str(&parameters(problem, &worst.xi));
    if !worst.y.is_empty() {
        html.push_str("<h3>Recourse in the worst case</h3>\n");
        let mut costs = vec![0.0; problem.recourse.dim()];
        problem.recourse.cost_at(&worst.xi, &mut costs);
        let costs = problem.recourse.quadratic.is_zero().then_some(costs.as_slice());
        let (lower, upper) = (&problem.recourse.lower, &problem.recourse.upper);
        html.push_str(&largest("Recourse in the worst case", &problem.names.recourse, &worst.y, lower, upper, costs));
    }
    html.push_str("</section>\n");
    html
}

/// A table of the parameters, those furthest from their nominal values first.
pub(super) fn parameters(problem: &Problem, xi: &[f64]) -> String {
    if xi.is_empty() {
        return "<p>There is nothing uncertain in this problem.</p>\n".to_owned();
    }
    let mut nominal = vec![0.0; xi.len()];
    problem.set.nominal(&mut nominal);
    let mut order: Vec<usize> = (0..xi.len()).collect();
    // A stable sort keeps equally distant parameters in the order of the file.
    order.sort_by(|&a, &b| (xi[b] - nominal[b]).abs().total_cmp(&(xi[a] - nominal[a]).abs()));
    order.truncate(SHOWN);
    let ranges = ranges(problem, &order);
    let rows: Vec<Vec<String>> = order
        .iter()
        .zip(&ranges)
        .map(|(&entry, &range)| {
            let change = xi[entry] - nominal[entry];
            let (ends, picture) = match range {
                Some((low, high)) => {
                    (format!("{} to {}", number(low), number(high)), bar(low, high, nominal[entry], xi[entry]))
                }
                None => ("not known".to_owned(), String::new()),
            };
            vec![
                name(&problem.names.parameters[entry]),
                number(xi[entry]),
                number(nominal[entry]),
                if change > 0.0 { format!("+{}", number(change)) } else { number(change) },
                picture,
                ends,
            ]
        })
        .collect();
    let columns = [
        TableColumn("Parameter", ColumnKind::Words),
        TableColumn("Here", ColumnKind::Numbers),
        TableColumn("Nominal", ColumnKind::Numbers),
        TableColumn("Change", ColumnKind::Numbers),
        TableColumn("From nominal, within the set", ColumnKind::Bars),
        TableColumn("Range in the set", ColumnKind::Numbers),
    ];
    table("The scenario", &columns, &rows)
        + &left_out(rows.len(), xi.len(), "parameters are nearer to their nominal values")
}

/// The range of each given parameter in the set; `None` if the set could not compute it.
fn ranges(problem: &Problem, entries: &[usize]) -> Vec<Option<(f64, f64)>> {
    let set = &problem.set;
    if set.is_finite_list()
        && let Ok(points) = set.enumerate(usize::MAX)
    {
        // One pass over the list, which may be long.
        let mut found = vec![(f64::INFINITY, f64::NEG_INFINITY); entries.len()];
        for point in points.iter() {
            for (range, &entry) in found.iter_mut().zip(entries) {
                *range = (range.0.min(point[entry]), range.1.max(point[entry]));
            }
        }
        return found.into_iter().map(Some).collect();
    }
    let (mut axis, mut end) = (vec![0.0; set.dim()], vec![0.0; set.dim()]);
    let mut end_of_range = |entry: usize, sign: f64| {
        axis[entry] = sign;
        let reached = set.support(&axis, &mut end).ok();
        axis[entry] = 0.0;
        reached
    };
    entries.iter().map(|&entry| Some((-end_of_range(entry, -1.0)?, end_of_range(entry, 1.0)?))).collect()
}

/// A sentence with the row of a list that the scenario is; empty for other sets.
fn row_in_list(problem: &Problem, xi: &[f64]) -> String {
    let row = || {
        let points = problem.set.is_finite_list().then(|| problem.set.enumerate(usize::MAX).ok())??;
        let row = points.iter().position(|point| point == xi)?;
        Some((row + 1, points.len()))
    };
    row().map_or(String::new(), |(row, rows)| format!(" It is row {row} of the {rows} in the list."))
}
