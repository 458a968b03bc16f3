//! Convergence of the bounds over time and over recourse solves, which do not depend on the machine.

use std::fmt::Write;

use super::axis::Axis;
use super::chart::{Chart, ChartLine};
use super::sentences::percent;
use crate::numeric::tolerances::MIN_GAP_SIZE;
use crate::outcome::Outcome;
use crate::report::history::{History, HistoryPoint};
use crate::report::summary::number;

/// Smaller gaps are drawn as this one: they are within the tolerances of the solvers.
const MIN_DRAWN_GAP: f64 = 1e-9;

/// Gaps below this share of the requested gap are drawn as that share, so that larger gaps have enough space.
const MIN_DRAWN_SHARE: f64 = 1e-2;

/// Larger gaps are off the chart: above this all gaps mean the same, that no useful bound is known yet.
const MAX_DRAWN_GAP: f64 = 10.0;

/// The share of early values that may be off the chart, so that a bad first bound does not flatten the rest.
const OFF_CHART_SHARE: f64 = 0.05;

/// A quantity in the charts.
struct Quantity {
    /// The class in the style sheet.
    class: &'static str,
    words: &'static str,
    of: fn(&HistoryPoint) -> Option<f64>,
}

const LOWER: Quantity = Quantity { class: "lower", words: "lower bound", of: |point| point.lower };

/// The quantities above the lower bound, the most reliable last, so that it is drawn over the others.
const UPPER_QUANTITIES: [Quantity; 3] = [
    Quantity { class: "estimate", words: "estimate of the decision’s cost, not a bound", of: HistoryPoint::estimate },
    Quantity { class: "likely", words: "upper bound that is likely to hold", of: |point| point.likely },
    Quantity { class: "upper", words: "upper bound", of: |point| point.upper },
];

impl Quantity {
    fn is_known(&self, course: &[HistoryPoint]) -> bool {
        course.iter().any(|point| (self.of)(point).is_some())
    }

    /// The relative gap between the lower bound and this quantity.
    fn gap(&self, point: &HistoryPoint) -> Option<f64> {
        let (lower, value) = (point.lower?, (self.of)(point)?);
        Some((value - lower).max(0.0) / value.abs().max(MIN_GAP_SIZE))
    }
}

/// Returns the section; empty if no bound or cost was ever known.
pub(super) fn section(outcome: &Outcome, history: &History, goal: f64) -> String {
    let course = course(outcome, history);
    let known = || UPPER_QUANTITIES.iter().rev().chain([&LOWER]).filter(|quantity| quantity.is_known(&course));
    if known().next().is_none() {
        return String::new();
    }
    let mut html = String::from("<section>\n<h2>Convergence of the bounds</h2>\n<ul class=\"legend\">\n");
    for Quantity { class, words, .. } in known() {
        let _ = writeln!(html, "<li class=\"{class}\"><span class=\"swatch\"></span>{words}</li>");
    }
    html.push_str("</ul>\n<div class=\"charts\">\n");
    let clocks = [ProgressAxis::time(&course), ProgressAxis::solves(&course)];
    let (low, high) = bounds_range(&course);
    for progress in &clocks {
        let chart = bounds_chart(&course, progress, Axis::linear(low, high));
        html.push_str(&figure(&format!("Bounds over {}", progress.name), &chart));
    }
    let gaps = gap_range(&course, goal);
    for (progress, (least, most)) in clocks.iter().zip(gaps.into_iter().cycle()) {
        let chart = gap_chart(&course, progress, Axis::log_percent(least, most), goal);
        html.push_str(&figure(&format!("Gap over {}", progress.name), &chart));
    }
    html.push_str("</div>\n");
    let is_off = |value: Option<f64>| value.is_some_and(|value| value < low || value > high);
    let off = course.iter().any(|point| is_off(point.lower) || is_off(point.upper.or(point.value)));
    let remarks = [
        (off, "Some early values lie off the chart."),
        (is_proved(&course), "The optimum lies in the shaded area."),
        (
            gaps.is_some() && UPPER_QUANTITIES[0].is_known(&course),
            "The dashed gap, from the lower bound to the estimate, shows progress and proves nothing.",
        ),
        (gaps.is_some() && goal > 0.0, "The dotted line is the gap asked for."),
    ];
    let said: Vec<&str> = remarks.into_iter().filter_map(|(applies, remark)| applies.then_some(remark)).collect();
    if !said.is_empty() {
        let _ = writeln!(html, "<p class=\"note\">{}</p>", said.join(" "));
    }
    html.push_str("</section>\n");
    html
}

/// Whether the optimum is between two proven bounds.
fn is_proved(course: &[HistoryPoint]) -> bool {
    course.last().is_some_and(|point| point.lower.is_some() && point.upper.is_some())
}

/// A chart with its caption.
pub(super) fn figure(caption: &str, svg: &str) -> String {
    format!("<figure>\n<figcaption>{caption}</figcaption>\n{svg}\n</figure>\n")
}

/// The horizontal axis of a chart over the progress of a run.
pub(super) struct ProgressAxis {
    id: &'static str,
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) axis: Axis,
    position: fn(&HistoryPoint) -> f64,
    unit: f64,
}

impl ProgressAxis {
    /// Wall-clock time, in a unit that suits the length of the run.
    pub(super) fn time(course: &[HistoryPoint]) -> Self {
        let longest = course.iter().map(|point| point.seconds).fold(0.0, f64::max);
        let (label, unit) = match longest {
            ..0.5 => ("milliseconds", 1e-3),
            ..600.0 => ("seconds", 1.0),
            ..36_000.0 => ("minutes", 60.0),
            _ => ("hours", 3600.0),
        };
        Self {
            id: "time",
            name: "time",
            label,
            axis: Axis::from_zero(longest / unit),
            position: |point| point.seconds,
            unit,
        }
    }

    pub(super) fn solves(course: &[HistoryPoint]) -> Self {
        let most = course.iter().map(|point| point.recourse_solves).max().unwrap_or(0);
        Self {
            id: "solves",
            name: "recourse solves",
            label: "recourse solves",
            axis: Axis::from_zero(most as f64),
            position: |point| point.recourse_solves as f64,
            unit: 1.0,
        }
    }

    /// The line of a quantity over the run.
    pub(super) fn line(
        &self,
        class: &'static str,
        course: &[HistoryPoint],
        value: impl Fn(&HistoryPoint) -> Option<f64>,
    ) -> ChartLine {
        let point =
            |point: &HistoryPoint| ((self.position)(point) / self.unit, value(point).filter(|value| value.is_finite()));
        ChartLine { class, points: course.iter().map(point).collect() }
    }
}

/// The iterations and the final outcome, which includes progress after the last iteration.
pub(super) fn course(outcome: &Outcome, history: &History) -> Vec<HistoryPoint> {
    let mut course: Vec<HistoryPoint> = history.points().copied().collect();
    if outcome.verdict.is_none() {
        course.push(HistoryPoint::at(outcome.iterations, outcome.seconds, outcome.recourse_solves, &outcome.bounds));
    }
    course
}

fn bounds_chart(course: &[HistoryPoint], progress: &ProgressAxis, y: Axis) -> String {
    let mut lines = Vec::new();
    let mut description = String::new();
    for quantity in UPPER_QUANTITIES.iter().chain([&LOWER]) {
        lines.push(progress.line(quantity.class, course, quantity.of));
        if let Some(first) = course.iter().find_map(quantity.of) {
            let last = course.last().and_then(quantity.of).map_or("not known".to_owned(), number);
            let _ = write!(description, "The {}: {} at first, {last} at the end. ", quantity.words, number(first));
        }
    }
    Chart {
        id: &format!("bounds-{}", progress.id),
        title: &format!("The bounds over {}", progress.name),
        description: description.trim_end(),
        x: progress.axis.clone(),
        x_label: progress.label,
        y,
        shade: is_proved(course).then_some((lines.len() - 1, lines.len() - 2)),
        lines,
        goal: None,
    }
    .draw()
}

/// The range from the lowest to the highest bound, without a few early ones.
fn bounds_range(course: &[HistoryPoint]) -> (f64, f64) {
    let sorted = |known: fn(&HistoryPoint) -> Option<f64>| {
        let mut values: Vec<f64> = course.iter().filter_map(known).filter(|value| value.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let below = sorted(|point| point.lower.or(point.value));
    let above = sorted(|point| point.upper.or(point.likely).or(point.value).or(point.lower));
    let few = |values: &[f64]| (OFF_CHART_SHARE * values.len() as f64) as usize;
    let low = below.get(few(&below)).copied().unwrap_or(0.0);
    let high = above.len().checked_sub(1 + few(&above)).map_or(low, |index| above[index]);
    // The final values are always on the chart.
    let last =
        course.last().into_iter().flat_map(|point| [point.lower, point.upper, point.likely, point.value]).flatten();
    let (low, high) = last.fold((low, high), |(low, high), value| (low.min(value), high.max(value)));
    let margin = 0.06 * (high - low);
    (low - margin, high + margin)
}

/// The least and the largest gap to be drawn; `None` if there was no gap.
fn gap_range(course: &[HistoryPoint], goal: f64) -> Option<(f64, f64)> {
    let gaps = course.iter().flat_map(|point| UPPER_QUANTITIES.iter().filter_map(|quantity| quantity.gap(point)));
    let gaps: Vec<f64> = gaps.filter(|gap| *gap > 0.0 && gap.is_finite()).collect();
    let least = gaps.iter().copied().fold(goal, f64::min).max(MIN_DRAWN_SHARE * goal).max(MIN_DRAWN_GAP);
    let most = gaps.iter().copied().fold(goal, f64::max).min(MAX_DRAWN_GAP).max(least);
    (!gaps.is_empty()).then_some((least, most))
}

fn gap_chart(course: &[HistoryPoint], progress: &ProgressAxis, y: Axis, goal: f64) -> String {
    let mut lines = Vec::new();
    let mut description = String::new();
    for quantity in &UPPER_QUANTITIES {
        lines.push(progress.line(quantity.class, course, |point| quantity.gap(point)));
        let mut gaps = course.iter().filter_map(|point| quantity.gap(point));
        if let Some(first) = gaps.next() {
            let last = gaps.next_back().unwrap_or(first);
            let _ = write!(
                description,
                "From the lower bound to the {}: {} at first, {} at last. ",
                quantity.words,
                percent(first),
                percent(last)
            );
        }
    }
    Chart {
        id: &format!("gap-{}", progress.id),
        title: &format!("The relative gap over {}, on a logarithmic scale", progress.name),
        description: description.trim_end(),
        x: progress.axis.clone(),
        x_label: progress.label,
        goal: (goal >= y.low()).then_some(goal),
        y,
        lines,
        shade: None,
    }
    .draw()
}
