//! How the bounds came together: over time, and over recourse solves, which are the same on every machine.

use std::fmt::Write;

use super::axis::Axis;
use super::chart::{Chart, Line};
use super::words::percent;
use crate::outcome::Outcome;
use crate::report::history::{History, Moment};
use crate::report::summary::number;

/// Gaps below this are drawn as this: solvers cannot tell them from zero.
const LEAST_GAP: f64 = 1e-9;

/// So are gaps below this share of the gap asked for, which would take the room from those that were the work.
const FAR_BELOW: f64 = 1e-2;

/// Gaps above this are off the chart: one of a thousand percent and one of a million are the same news.
const MOST_GAP: f64 = 10.0;

/// The share of early values that may lie off the chart, so that a first bound far away does not flatten all that
/// follows.
const OFF: f64 = 0.05;

/// A quantity of the charts.
struct Quantity {
    /// The style sheet's word for it.
    class: &'static str,
    words: &'static str,
    of: fn(&Moment) -> Option<f64>,
}

const LOWER: Quantity = Quantity { class: "lower", words: "lower bound", of: |moment| moment.lower };

/// What stands against the lower bound, the surest last, where it is drawn over the others.
const AGAINST_LOWER: [Quantity; 3] = [
    Quantity {
        class: "estimate",
        words: "estimate of the decision’s cost, which bounds nothing",
        of: Moment::estimate,
    },
    Quantity { class: "likely", words: "upper bound that is likely to hold", of: |moment| moment.likely },
    Quantity { class: "upper", words: "upper bound", of: |moment| moment.upper },
];

impl Quantity {
    fn is_known(&self, course: &[Moment]) -> bool {
        course.iter().any(|moment| (self.of)(moment).is_some())
    }

    /// From the lower bound to this, relative to this, as everywhere.
    fn gap(&self, moment: &Moment) -> Option<f64> {
        let (lower, value) = (moment.lower?, (self.of)(moment)?);
        Some((value - lower).max(0.0) / value.abs().max(1e-10))
    }
}

/// The section; nothing where nothing was ever known.
pub(super) fn section(outcome: &Outcome, history: &History, goal: f64) -> String {
    let course = course(outcome, history);
    let known = || AGAINST_LOWER.iter().rev().chain([&LOWER]).filter(|quantity| quantity.is_known(&course));
    if known().next().is_none() {
        return String::new();
    }
    let mut html = String::from("<section>\n<h2>How the bounds came together</h2>\n<ul class=\"legend\">\n");
    for Quantity { class, words, .. } in known() {
        let _ = writeln!(html, "<li class=\"{class}\"><span class=\"swatch\"></span>{words}</li>");
    }
    html.push_str("</ul>\n<div class=\"charts\">\n");
    let clocks = [Against::time(&course), Against::solves(&course)];
    let (low, high) = bounds_range(&course);
    for against in &clocks {
        let chart = bounds_chart(&course, against, Axis::linear(low, high));
        html.push_str(&figure(&format!("Bounds over {}", against.name), &chart));
    }
    let gaps = gap_range(&course, goal);
    for (against, (least, most)) in clocks.iter().zip(gaps.into_iter().cycle()) {
        let chart = gap_chart(&course, against, Axis::log_percent(least, most), goal);
        html.push_str(&figure(&format!("Gap over {}", against.name), &chart));
    }
    html.push_str("</div>\n");
    let is_off = |value: Option<f64>| value.is_some_and(|value| value < low || value > high);
    let off = course.iter().any(|moment| is_off(moment.lower) || is_off(moment.upper.or(moment.value)));
    let remarks = [
        (off, "Some early values lie off the chart."),
        (is_proved(&course), "The optimum is in the shaded part."),
        (
            gaps.is_some() && AGAINST_LOWER[0].is_known(&course),
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

/// Whether the optimum is between two bounds for sure.
fn is_proved(course: &[Moment]) -> bool {
    course.last().is_some_and(|moment| moment.lower.is_some() && moment.upper.is_some())
}

/// A chart with its caption.
pub(super) fn figure(caption: &str, svg: &str) -> String {
    format!("<figure>\n<figcaption>{caption}</figcaption>\n{svg}\n</figure>\n")
}

/// What a run is drawn against.
pub(super) struct Against {
    id: &'static str,
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) axis: Axis,
    place: fn(&Moment) -> f64,
    unit: f64,
}

impl Against {
    /// The clock on the wall, in a unit that suits the length of the run.
    pub(super) fn time(course: &[Moment]) -> Self {
        let longest = course.iter().map(|moment| moment.seconds).fold(0.0, f64::max);
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
            place: |moment| moment.seconds,
            unit,
        }
    }

    pub(super) fn solves(course: &[Moment]) -> Self {
        let most = course.iter().map(|moment| moment.recourse_solves).max().unwrap_or(0);
        Self {
            id: "solves",
            name: "recourse solves",
            label: "recourse solves",
            axis: Axis::from_zero(most as f64),
            place: |moment| moment.recourse_solves as f64,
            unit: 1.0,
        }
    }

    /// A quantity along the run.
    pub(super) fn line(&self, class: &'static str, course: &[Moment], value: impl Fn(&Moment) -> Option<f64>) -> Line {
        let point =
            |moment: &Moment| ((self.place)(moment) / self.unit, value(moment).filter(|value| value.is_finite()));
        Line { class, points: course.iter().map(point).collect() }
    }
}

/// The iterations, and the end: what a method learns after its last iteration is drawn too.
pub(super) fn course(outcome: &Outcome, history: &History) -> Vec<Moment> {
    let mut course: Vec<Moment> = history.moments().copied().collect();
    if outcome.verdict.is_none() {
        course.push(Moment::at(outcome.iterations, outcome.seconds, outcome.recourse_solves, &outcome.bounds));
    }
    course
}

fn bounds_chart(course: &[Moment], against: &Against, y: Axis) -> String {
    let mut lines = Vec::new();
    let mut description = String::new();
    for quantity in AGAINST_LOWER.iter().chain([&LOWER]) {
        lines.push(against.line(quantity.class, course, quantity.of));
        if let Some(first) = course.iter().find_map(quantity.of) {
            let last = course.last().and_then(quantity.of).map_or("not known".to_owned(), number);
            let _ = write!(description, "The {}: {} at first, {last} at the end. ", quantity.words, number(first));
        }
    }
    Chart {
        id: &format!("bounds-{}", against.id),
        title: &format!("The bounds over {}", against.name),
        description: description.trim_end(),
        x: against.axis.clone(),
        x_label: against.label,
        y,
        shade: is_proved(course).then_some((lines.len() - 1, lines.len() - 2)),
        lines,
        goal: None,
    }
    .draw()
}

/// From the lowest bound to the highest, but for a few early ones.
fn bounds_range(course: &[Moment]) -> (f64, f64) {
    let sorted = |known: fn(&Moment) -> Option<f64>| {
        let mut values: Vec<f64> = course.iter().filter_map(known).filter(|value| value.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let below = sorted(|moment| moment.lower.or(moment.value));
    let above = sorted(|moment| moment.upper.or(moment.likely).or(moment.value).or(moment.lower));
    let few = |values: &[f64]| (OFF * values.len() as f64) as usize;
    let low = below.get(few(&below)).copied().unwrap_or(0.0);
    let high = above.len().checked_sub(1 + few(&above)).map_or(low, |index| above[index]);
    // The end is always on the chart.
    let last = course
        .last()
        .into_iter()
        .flat_map(|moment| [moment.lower, moment.upper, moment.likely, moment.value])
        .flatten();
    let (low, high) = last.fold((low, high), |(low, high), value| (low.min(value), high.max(value)));
    let room = 0.06 * (high - low);
    (low - room, high + room)
}

/// The least and the largest gap to be drawn, if there was one at all.
fn gap_range(course: &[Moment], goal: f64) -> Option<(f64, f64)> {
    let gaps = course.iter().flat_map(|moment| AGAINST_LOWER.iter().filter_map(|quantity| quantity.gap(moment)));
    let gaps: Vec<f64> = gaps.filter(|gap| *gap > 0.0 && gap.is_finite()).collect();
    let least = gaps.iter().copied().fold(goal, f64::min).max(FAR_BELOW * goal).max(LEAST_GAP);
    let most = gaps.iter().copied().fold(goal, f64::max).min(MOST_GAP).max(least);
    (!gaps.is_empty()).then_some((least, most))
}

fn gap_chart(course: &[Moment], against: &Against, y: Axis, goal: f64) -> String {
    let mut lines = Vec::new();
    let mut description = String::new();
    for quantity in &AGAINST_LOWER {
        lines.push(against.line(quantity.class, course, |moment| quantity.gap(moment)));
        let mut gaps = course.iter().filter_map(|moment| quantity.gap(moment));
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
        id: &format!("gap-{}", against.id),
        title: &format!("The relative gap over {}, on a logarithmic scale", against.name),
        description: description.trim_end(),
        x: against.axis.clone(),
        x_label: against.label,
        goal: (goal >= y.low()).then_some(goal),
        y,
        lines,
        shade: None,
    }
    .draw()
}
