//! How the bounds came together: over time, and over recourse solves, which are the same on every machine.

use std::fmt::Write;

use super::axis::Axis;
use super::chart::{Chart, Line};
use crate::outcome::Outcome;
use crate::report::history::{History, Moment};
use crate::report::summary::number;

/// Gaps below this are drawn as this: solvers cannot tell them from zero.
const LEAST_GAP: f64 = 1e-9;

/// The share of early values that may lie off the chart, so that a first bound far away does not flatten all that follows.
const OFF: f64 = 0.05;

/// The section, or a line that says why there is nothing to draw.
pub(super) fn section(outcome: &Outcome, history: &History, gap: f64) -> String {
    let course = course(outcome, history);
    if course.iter().all(|moment| moment.lower.is_none() && moment.value.is_none()) {
        return String::new();
    }
    let has = |known: fn(&Moment) -> Option<f64>| course.iter().any(|moment| known(moment).is_some());
    let (upper, estimate) = (has(|moment| moment.upper), has(estimate));
    let mut html = String::from("<section>\n<h2>How the bounds came together</h2>\n<ul class=\"legend\">\n");
    let mut entry = |class: &str, words: &str| {
        let _ = writeln!(html, "<li class=\"{class}\"><span class=\"swatch\"></span>{words}</li>");
    };
    if has(|moment| moment.lower) {
        entry("lower", "lower bound");
    }
    if upper {
        entry("upper", "upper bound");
    }
    if estimate {
        entry("estimate", "estimate of the decision’s cost, which bounds nothing");
    }
    html.push_str("</ul>\n<div class=\"charts\">\n");
    let clocks = [Against::time(&course), Against::solves(&course)];
    for against in &clocks {
        html.push_str(&figure(&format!("Bounds over {}", against.name), &bounds_chart(&course, against)));
    }
    if let Some(range) = gap_range(&course, gap) {
        for against in &clocks {
            html.push_str(&figure(&format!("Gap over {}", against.name), &gap_chart(&course, against, gap, range)));
        }
    }
    html.push_str("</div>\n");
    let mut said = Vec::new();
    if upper && estimate || gap_range(&course, gap).is_some() && estimate {
        said.push("The dashed gap is that between the estimate and the lower bound: it shows progress and proves nothing.");
    }
    if gap_range(&course, gap).is_some() && gap > 0.0 {
        said.push("The dotted line is the gap asked for.");
    }
    if !said.is_empty() {
        let _ = writeln!(html, "<p class=\"note\">{}</p>", said.join(" "));
    }
    html.push_str("</section>\n");
    html
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
        Self { id: "time", name: "time", label, axis: Axis::from_zero(longest / unit), place: |moment| moment.seconds, unit }
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
        let point = |moment: &Moment| ((self.place)(moment) / self.unit, value(moment).filter(|value| value.is_finite()));
        Line { class, points: course.iter().map(point).collect() }
    }
}

/// The iterations, and the end: what a method learns after its last iteration is drawn too.
pub(super) fn course(outcome: &Outcome, history: &History) -> Vec<Moment> {
    let mut course: Vec<Moment> = history.moments().copied().collect();
    if outcome.verdict.is_none() {
        course.push(Moment {
            iteration: outcome.iterations,
            seconds: outcome.seconds,
            recourse_solves: outcome.recourse_solves,
            lower: outcome.bounds.lower(),
            upper: outcome.bounds.upper(),
            value: outcome.bounds.best().map(|best| best.value),
            chain: None,
        });
    }
    course
}

/// What the best decision costs, where nothing bounds that.
fn estimate(moment: &Moment) -> Option<f64> {
    moment.value.filter(|_| moment.upper.is_none())
}

fn bounds_chart(course: &[Moment], against: &Against) -> String {
    let (low, high) = bounds_range(course);
    let ends = |known: fn(&Moment) -> Option<f64>, word: &str| {
        let first = course.iter().find_map(known).map(number)?;
        let last = course.last().and_then(known).map_or("not known any more".to_owned(), number);
        Some(format!("{word} {first} at first, {last} at the end"))
    };
    let parts: Vec<String> =
        [ends(|moment| moment.lower, "Lower bound"), ends(|moment| moment.upper, "Upper bound"), ends(estimate, "Estimate")]
            .into_iter()
            .flatten()
            .collect();
    let proved = course.last().is_some_and(|moment| moment.upper.is_some());
    Chart {
        id: &format!("bounds-{}", against.id),
        title: &format!("The bounds over {}", against.name),
        description: &format!("{}.", parts.join(". ")),
        x: against.axis.clone(),
        x_label: against.label,
        y: Axis::linear(low, high),
        lines: vec![
            against.line("estimate", course, estimate),
            against.line("upper", course, |moment| moment.upper),
            against.line("lower", course, |moment| moment.lower),
        ],
        shade: Some((2, usize::from(proved))),
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
    let above = sorted(|moment| moment.upper.or(moment.value).or(moment.lower));
    let few = |values: &[f64]| (OFF * values.len() as f64) as usize;
    let low = below.get(few(&below)).copied().unwrap_or(0.0);
    let high = above.len().checked_sub(1 + few(&above)).map_or(low, |index| above[index]);
    // The end is always on the chart.
    let last = course.last().into_iter().flat_map(|moment| [moment.lower, moment.upper, moment.value]).flatten();
    let (low, high) = last.fold((low, high), |(low, high), value| (low.min(value), high.max(value)));
    let room = 0.06 * (high - low);
    (low - room, high + room)
}

/// Relative to the upper value, as everywhere.
fn gap_below(moment: &Moment, value: Option<f64>) -> Option<f64> {
    let (lower, value) = (moment.lower?, value?);
    Some((value - lower).max(0.0) / value.abs().max(1e-10))
}

fn proved_gap(moment: &Moment) -> Option<f64> {
    gap_below(moment, moment.upper)
}

fn estimated_gap(moment: &Moment) -> Option<f64> {
    gap_below(moment, estimate(moment))
}

/// The least and the largest gap to be drawn, if there was one at all.
fn gap_range(course: &[Moment], goal: f64) -> Option<(f64, f64)> {
    let gaps = course.iter().flat_map(|moment| [proved_gap(moment), estimated_gap(moment)]).flatten();
    let gaps: Vec<f64> = gaps.filter(|gap| *gap > 0.0 && gap.is_finite()).collect();
    let least = gaps.iter().copied().fold(goal, f64::min).max(LEAST_GAP);
    // A gap of a thousand percent and one of a million are the same news.
    let most = gaps.iter().copied().fold(goal, f64::max).clamp(least, 10.0);
    (!gaps.is_empty()).then_some((least, most))
}

fn gap_chart(course: &[Moment], against: &Against, goal: f64, (least, most): (f64, f64)) -> String {
    let y = Axis::log_percent(least, most);
    let percent = |gap: f64| format!("{} %", number(100.0 * gap));
    let ends = |known: fn(&Moment) -> Option<f64>, word: &str| {
        let (first, last) = (course.iter().find_map(known)?, course.iter().rev().find_map(known)?);
        Some(format!("{word} from {} to {}", percent(first), percent(last)))
    };
    let parts: Vec<String> =
        [ends(proved_gap, "Gap between the bounds:"), ends(estimated_gap, "Gap between the estimate and the lower bound:")]
            .into_iter()
            .flatten()
            .collect();
    Chart {
        id: &format!("gap-{}", against.id),
        title: &format!("The relative gap over {}, on a logarithmic scale", against.name),
        description: &format!("{}.", parts.join(". ")),
        x: against.axis.clone(),
        x_label: against.label,
        goal: (goal >= y.low()).then_some(goal),
        y,
        lines: vec![against.line("estimate", course, estimated_gap), against.line("gap", course, proved_gap)],
        shade: None,
    }
    .draw()
}
