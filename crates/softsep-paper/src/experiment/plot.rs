//! Which charts a study is shown by.

use crate::instances::Uncertain;

use super::chart::{Across, Chart, Look, Panel, Point, Series, Up};
use super::printed::{self, Time};
use super::results::{Results, Timing, quartiles};
use super::study::{Exhibit, Row, Study};
use super::way::{COARSE, FINE, Way};
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
                // As in the paper: rebounds are lost in medians.
                panels.push(curves(study, results, "the first replication".into(), 1..=1));
            }
            panels
        }
    };
    Chart { title, panels }
}

/// Where a row stands in its panel.
fn place(row: &Row) -> f64 {
    match row.uncertainty {
        Uncertain::Ellipsoid => row.n as f64,
        Uncertain::Scenarios(count) => count as f64,
        Uncertain::Budget { gamma } => gamma,
    }
}

/// How a method takes part in charts: colour and mark.
fn class(way: Way) -> usize {
    match way {
        Way::Algorithm1 | Way::Algorithm3 | Way::Reference => 0,
        Way::Ccg => 1,
        Way::Adr => 3,
        Way::Bundle | Way::BranchAndCut => 2,
    }
}

/// Times against what varies: n on ellipsoids, else |I| or Γ with a panel for each n.
fn table_panels(study: &Study, results: &Results) -> Vec<Panel> {
    let is_ellipsoid = |row: &Row| row.uncertainty == Uncertain::Ellipsoid;
    let mut sizes: Vec<usize> = study.rows.iter().map(|row| row.n).collect();
    sizes.dedup();
    if study.rows.iter().all(is_ellipsoid) {
        sizes = vec![0];
    }
    let panel = |n: usize, is_fine: bool| {
        let rows: Vec<(usize, &Row)> = study.rows.iter().enumerate().filter(|(_, row)| n == 0 || row.n == n).collect();
        let tick = |row: &Row| {
            let word = match row.uncertainty {
                Uncertain::Scenarios(count) => grouped(count as u64),
                _ => place(row).to_string(),
            };
            (place(row), word)
        };
        let label = match rows.first().map(|(_, row)| row.uncertainty) {
            Some(Uncertain::Scenarios(_)) => "|I|, the length of the list",
            Some(Uncertain::Budget { .. }) => "Γ",
            _ => "n, the number of sites",
        };
        let is_log = label != "Γ";
        let mut series = Vec::new();
        // Affine rules are what they are, not near or nearer.
        for (way_index, way) in study.ways.iter().enumerate().filter(|(_, way)| !is_fine || **way != Way::Adr) {
            let ours = rows.iter().filter_map(|(row_index, row)| {
                let runs = results.measured(*row_index, way_index);
                let timing = match is_fine {
                    true => Timing::of(runs, study.limit, |run| run.fine),
                    false => Timing::of_way(*way, runs, study.limit),
                };
                point(place(row), timing, study.limit)
            });
            let name = format!("{}, here", way.title());
            series.push(Series { name, class: class(*way), look: Look::Ours, points: ours.collect() });
            if let Some(column) = way.column().filter(|_| !is_fine) {
                let printed = rows
                    .iter()
                    .filter_map(|(_, row)| row.printed.map(|printed| paper_point(place(row), printed[column])));
                let name = format!("{}, paper", way.title());
                series.push(Series { name, class: class(*way), look: Look::Printed, points: printed.collect() });
            }
        }
        series.retain(|series| !series.points.is_empty());
        Panel {
            title: format!(
                "time to {}{}",
                if is_fine { "0.01 %" } else { "0.1 %" },
                if n == 0 { String::new() } else { format!(", n = {n}") }
            ),
            x: Across { label, is_log, ticks: rows.iter().map(|(_, row)| tick(row)).collect() },
            up: Up::Seconds,
            goals: Vec::new(),
            series,
        }
    };
    match sizes.as_slice() {
        // Where there is room for it, the goal that a good start does not meet already.
        [n] => vec![panel(*n, false), panel(*n, true)],
        sizes => sizes.iter().map(|n| panel(*n, false)).collect(),
    }
}

fn point(x: f64, timing: Timing, limit: f64) -> Option<Point> {
    match timing {
        Timing::Took { mean, .. } => Some(Point { x, y: mean, band: None, is_over: false }),
        Timing::Over => Some(Point { x, y: limit, band: None, is_over: true }),
        Timing::Never | Timing::Unknown => None,
    }
}

fn paper_point(x: f64, time: Time) -> Point {
    match time {
        Time::Took(mean, _) => Point { x, y: mean, band: None, is_over: false },
        Time::Over => Point { x, y: printed::LIMIT, band: None, is_over: true },
    }
}

/// The gap of what was returned after so many iterations.
pub(super) fn gap_after(path: &[(u64, f64)], iteration: u64) -> Option<f64> {
    path.iter().rev().find(|point| point.0 <= iteration).map(|point| point.1)
}

/// Where curves begin: averages are looked at from there on, and the start is told in words.
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
                Point { x: *moment as f64, y: median, band: several.then_some((low, high)), is_over: false }
            })
        };
        let points = moments.iter().filter_map(point).collect();
        series.push(Series { name: row.title.clone(), class: index, look: Look::Curve, points });
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
        x: Across { label: "iterations", is_log: true, ticks },
        up: Up::Gap,
        goals: vec![COARSE, FINE],
        series,
    }
}
