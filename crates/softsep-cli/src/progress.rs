//! Who looks at a run: the log table on the standard error and in a file, a progress line on a terminal, a trace for
//! plots, a history for the report.

use std::fs::File;
use std::io::{self, IsTerminal, Stderr};
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use softsep::report::{History, Table, Trace, TraceFormat};
use softsep::run::{Bounds, Certificate, Event, Observer};

use crate::output::say;

/// The display of a run on the standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Show {
    /// The log table.
    Table,
    /// A line that changes in place, on a terminal; elsewhere nothing.
    Line,
    /// Nothing.
    Nothing,
}

/// The observers of a run.
pub(crate) struct Watch<'f> {
    table: Option<Table<Stderr>>,
    log: Option<Table<&'f File>>,
    line: Option<Line>,
    trace: Option<Trace<&'f File>>,
    history: Option<History>,
}

impl<'f> Watch<'f> {
    /// Shows the run on the standard error, writes the table into `log` and every iteration into `trace`.
    pub(crate) fn new(show: Show, log: Option<&'f File>, trace: Option<(&'f File, TraceFormat)>) -> Self {
        let on_terminal = show == Show::Line && io::stderr().is_terminal();
        Self {
            table: (show == Show::Table).then(|| Table::new(io::stderr())),
            log: log.map(Table::new),
            line: on_terminal.then(Line::new),
            trace: trace.map(|(file, form)| Trace::new(file, form)),
            history: None,
        }
    }

    /// Keeps the course of the run too.
    pub(crate) fn keeping_history(mut self) -> Self {
        self.history = Some(History::default());
        self
    }

    /// Ends the display; returns the history, if one was kept, and whether the trace was written.
    pub(crate) fn finish(self) -> (Option<History>, io::Result<()>) {
        (self.history, self.trace.map_or(Ok(()), Trace::finish))
    }

    /// A function that prints a message above the progress line, from any thread.
    pub(crate) fn speaker(&self) -> impl Fn(&str) + Send + 'static {
        let bar = self.line.as_ref().map(|line| line.bar.clone());
        move |text| match &bar {
            Some(bar) => bar.suspend(|| say(text)),
            None => say(text),
        }
    }
}

impl Observer for Watch<'_> {
    fn see(&mut self, event: &Event) {
        let table = self.table.as_mut().map(|table| table as &mut dyn Observer);
        let log = self.log.as_mut().map(|log| log as &mut dyn Observer);
        let line = self.line.as_mut().map(|line| line as &mut dyn Observer);
        let trace = self.trace.as_mut().map(|trace| trace as &mut dyn Observer);
        let history = self.history.as_mut().map(|history| history as &mut dyn Observer);
        for observer in [table, log, line, trace, history].into_iter().flatten() {
            observer.see(event);
        }
    }
}

/// The format of a trace, by the ending of its name.
pub(crate) fn form_of(trace: &Path) -> TraceFormat {
    if trace.extension().is_some_and(|extension| extension == "jsonl") {
        TraceFormat::JsonLines
    } else {
        TraceFormat::Csv
    }
}

/// One line on the terminal: the time, the bounds, and the last note of the method. It is removed when the run ends.
struct Line {
    bar: ProgressBar,
    known: String,
    doing: String,
    iteration: u64,
    shown: Instant,
}

/// Iterations after which not all of them are shown: a method that does more is a fast one, for which the terminal
/// would be a burden.
const ALL_SHOWN: u64 = 1000;

/// The time between those that are shown then.
const INTERVAL: Duration = Duration::from_millis(50);

impl Line {
    fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar, known: String::new(), doing: String::new(), iteration: 0, shown: Instant::now() }
    }
}

impl Observer for Line {
    fn see(&mut self, event: &Event) {
        if let Event::Step(record) = event {
            self.iteration = record.iteration;
        }
        let often = matches!(event, Event::Step(_) | Event::Better(_)) && self.iteration > ALL_SHOWN;
        if often && self.shown.elapsed() < INTERVAL {
            return;
        }
        self.shown = Instant::now();
        match event {
            Event::Start(header) => self.doing = format!("method {}", header.method),
            Event::Note(note) => self.doing = (*note).to_owned(),
            Event::Step(record) => self.known = format!("iteration {}, {}", record.iteration, known(record.bounds)),
            Event::Better(bounds) => self.known = known(bounds),
            _ => {}
        }
        let separator = if self.known.is_empty() { "" } else { "; " };
        self.bar.set_message(format!("{}{separator}{}", self.known, self.doing));
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn known(bounds: &Bounds) -> String {
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.4}"));
    // An estimate is no bound, and a likely one may be false; the line marks both as the table does.
    let (upper, mark) = match (bounds.certificate(), bounds.objective()) {
        (Certificate::None, Some(objective)) => (Some(objective), "?"),
        (Certificate::Probabilistic, _) => (bounds.likely_upper(), "~"),
        _ => (bounds.upper(), ""),
    };
    let gap = bounds.gap().map_or(String::new(), |gap| format!(", gap {:.3} %", 100.0 * gap));
    format!("lower {}, upper {}{mark}{gap}", number(bounds.lower()), number(upper))
}
