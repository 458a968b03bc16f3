//! The charts of a study.

use crate::instances::Uncertain;

use super::chart::{Chart, ChartPoint, LineStyle, Panel, Series, Unit, XAxis};
use super::printed::{self, PrintedTime};
use super::results::{Results, Timing, quartiles};
use super::setup::{COARSE, FINE, MethodSetup};
use super::study::{Exhibit, Study, StudyRow};
use super::words::grouped;

/// The chart of a study.
pub(super) fn chart(study: &Study, results: &Results) -> Chart {
    let title = format!("{}: {}", study.exhibit.title(), study.exhibit.caption());
    let panels = match study.exhibit {
        Exhibit::Table(_) => table_panels(study, results),
        Exhibit::Figure(number) => {
            let many = if study.replications == 1 {
                "one replication".to_owned()
            } else {
                format!("median and quartiles of {}", study.replications)
            };
            let mut panels = vec![curves(study, results, many, 1..=study.replications)];
            if number == 3 {
                // As in the paper: medians do not show rebounds.
                panels.push(curves(study, results, "the first replication".into(), 1..=1));
            }
            panels
        }
    };
    Chart { title, panels }
}

/// The position of a row on the horizontal axis.
fn position(row: &StudyRow) -> f64 {
    match row.uncertainty {
        Uncertain::Ellipsoid => row.n as f64,
        Uncertain::Scenarios(count) => count as f64,
        Uncertain::Budget { gamma } | Uncertain::Polyhedron { gamma } => gamma,
        Uncertain::TotalBudget { total } => total,
    }
}

/// The colour and the mark of a method.
fn class(setup: MethodSetup) -> usize {
    match setup {
        MethodSetup::Algorithm1 | MethodSetup::Algorithm3 | MethodSetup::Reference => 0,
        MethodSetup::CcgPaper => 4,
        MethodSetup::Ccg => 1,
        MethodSetup::Adr => 3,
        MethodSetup::Bundle | MethodSetup::BranchAndCut => 2,
    }
}

/// Times against n on ellipsoids, else against |I| or Γ with a panel for each n.
fn table_panels(study: &Study, results: &Results) -> Vec<Panel> {
    let is_ellipsoid = |row: &StudyRow| row.uncertainty == Uncertain::Ellipsoid;
    let mut sizes: Vec<Option<usize>> = study.rows.iter().map(|row| Some(row.n)).collect();
    sizes.dedup();
    if study.rows.iter().all(is_ellipsoid) {
        sizes = vec![None];
    }
    match sizes.as_slice() {
        // A single panel leaves space for the finer goal, which a good start does not meet already.
        [n] => vec![table_panel(study, results, *n, false), table_panel(study, results, *n, true)],
        sizes => sizes.iter().map(|n| table_panel(study, results, *n, false)).collect(),
    }
}

/// The panel of the rows of size n, or of all rows, for the goal of 0.1 % or of 0.01 %.
fn table_panel(study: &Study, results: &Results, n: Option<usize>, is_fine: bool) -> Panel {
    let is_shown = |row: &StudyRow| n.is_none_or(|n| row.n == n);
    let rows: Vec<(usize, &StudyRow)> = study.rows.iter().enumerate().filter(|(_, row)| is_shown(row)).collect();
    let tick = |row: &StudyRow| match row.uncertainty {
        Uncertain::Scenarios(count) => (position(row), grouped(count as u64)),
        _ => (position(row), position(row).to_string()),
    };
    let (label, is_log) = match rows.first().map(|(_, row)| row.uncertainty) {
        Some(Uncertain::Scenarios(_)) => ("|I|, the length of the list", true),
        Some(Uncertain::Budget { .. }) => ("Γ", false),
        _ => ("n, the number of sites", true),
    };
    let goal = if is_fine { "0.01 %" } else { "0.1 %" };
    Panel {
        title: format!("time to {goal}{}", n.map_or(String::new(), |n| format!(", n = {n}"))),
        x: XAxis { label, is_log, ticks: rows.iter().map(|(_, row)| tick(row)).collect() },
        unit: Unit::Seconds,
        goals: Vec::new(),
        series: time_series(study, results, &rows, is_fine),
    }
}

/// Our times for each method, and beside them the printed ones, which are for the goal of 0.1 % only.
fn time_series(study: &Study, results: &Results, rows: &[(usize, &StudyRow)], is_fine: bool) -> Vec<Series> {
    let mut series = Vec::new();
    // The gap of affine decision rules does not shrink with time.
    let is_shown = |setup: MethodSetup| !is_fine || setup != MethodSetup::Adr;
    for (setup_index, setup) in study.setups.iter().enumerate().filter(|(_, setup)| is_shown(**setup)) {
        let ours = rows.iter().filter_map(|(row_index, row)| {
            let runs = results.measured(*row_index, setup_index);
            let timing = match is_fine {
                true => Timing::of(study, runs, |run| run.fine),
                false => Timing::of_setup(study, *setup, runs),
            };
            point(position(row), timing)
        });
        let (name, class) = (format!("{}, here", setup.title()), class(*setup));
        series.push(Series { name, class, style: LineStyle::Ours, points: ours.collect() });
        // Two methods stand beside the same printed times, which are shown once.
        let is_first = !study.setups[..setup_index].iter().any(|earlier| earlier.column() == setup.column());
        if let Some(column) = setup.column().filter(|_| !is_fine && is_first) {
            let printed = rows
                .iter()
                .filter_map(|(_, row)| row.printed.map(|printed| paper_point(position(row), printed[column])));
            let name = format!("{}, paper", if column == 1 { "C&CG" } else { setup.title() });
            series.push(Series { name, class, style: LineStyle::Printed, points: printed.collect() });
        }
    }
    series.retain(|series| !series.points.is_empty());
    series
}

fn point(x: f64, timing: Timing) -> Option<ChartPoint> {
    match timing {
        Timing::Took { mean, .. } => Some(ChartPoint { x, y: mean, band: None, is_over: false }),
        Timing::Over { after } => Some(ChartPoint { x, y: after, band: None, is_over: true }),
        Timing::Never | Timing::Unknown => None,
    }
}

fn paper_point(x: f64, time: PrintedTime) -> ChartPoint {
    match time {
        PrintedTime::Took(mean, _) => ChartPoint { x, y: mean, band: None, is_over: false },
        PrintedTime::Over => ChartPoint { x, y: printed::LIMIT, band: None, is_over: true },
    }
}

/// The gap of the incumbent after so many iterations.
pub(super) fn gap_after(path: &[(u64, f64)], iteration: u64) -> Option<f64> {
    path.iter().rev().find(|point| point.0 <= iteration).map(|point| point.1)
}

/// The first iteration of curves: averages are returned from here on. The table of the page has the gap at the start.
const FIRST: u64 = 10;

/// A curve for each row over these replications.
fn curves(study: &Study, results: &Results, title: String, replications: std::ops::RangeInclusive<u32>) -> Panel {
    let last = study.iterations.unwrap_or(1);
    let mut series = Vec::new();
    for (index, row) in study.rows.iter().enumerate() {
        let runs = replications.clone().filter_map(|replication| results.entry(index, replication, 0).measured());
        let paths: Vec<&[(u64, f64)]> = runs.map(|run| run.path.as_slice()).collect();
        let moments = paths.iter().flat_map(|path| path.iter().map(|point| point.0));
        let mut moments: Vec<u64> = moments.filter(|moment| *moment >= FIRST).collect();
        moments.sort_unstable();
        moments.dedup();
        let point = |moment: &u64| {
            let mut gaps: Vec<f64> = paths.iter().filter_map(|path| gap_after(path, *moment)).collect();
            (!gaps.is_empty()).then(|| {
                let several = gaps.len() > 1;
                let [low, median, high] = quartiles(&mut gaps);
                ChartPoint { x: *moment as f64, y: median, band: several.then_some((low, high)), is_over: false }
            })
        };
        let points = moments.iter().filter_map(point).collect();
        series.push(Series { name: row.title.clone(), class: index, style: LineStyle::Curve, points });
    }
    let decades = (0..).map(|power| FIRST * 10u64.pow(power)).take_while(|tick| *tick < last);
    let mut ticks: Vec<(f64, String)> = decades.map(|tick| (tick as f64, grouped(tick))).collect();
    // The last decade's label would meet the end's.
    if ticks.last().is_some_and(|tick| tick.0 * 3.0 > last as f64) {
        ticks.pop();
    }
    ticks.push((last as f64, grouped(last)));
    Panel {
        title,
        x: XAxis { label: "iterations", is_log: true, ticks },
        unit: Unit::Gap,
        goals: vec![COARSE, FINE],
        series,
    }
}
