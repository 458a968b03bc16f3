//! The progress of a study on the terminal, with an estimate of the time left.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use softsep_paper::experiment::{CellKind, Progress};

use crate::output::say;

/// Seconds of finished cells by kind: their sum and their number.
#[derive(Debug, Default)]
struct Pace {
    seconds: BTreeMap<CellKind, (f64, f64)>,
}

impl Pace {
    fn note(&mut self, kind: CellKind, seconds: f64) {
        let entry = self.seconds.entry(kind).or_default();
        *entry = (entry.0 + seconds, entry.1 + 1.0);
    }

    /// The expected seconds of a cell: the mean of its kind, else of all cells.
    fn guess(&self, kind: CellKind) -> f64 {
        let mean = |(sum, count): (f64, f64)| if count > 0.0 { sum / count } else { 0.0 };
        let all = self.seconds.values().fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
        self.seconds.get(&kind).map_or(mean(all), |of_kind| mean(*of_kind))
    }
}

/// A line that changes in place on a terminal; elsewhere a line for each cell.
pub(super) struct ProgressLine {
    bar: Option<ProgressBar>,
    pace: Pace,
    /// The kinds of the cells that are left, in their order.
    left: Vec<CellKind>,
    total: usize,
    is_quiet: bool,
}

impl ProgressLine {
    /// Takes the kinds of all cells in their order.
    pub(super) fn new(cells: Vec<CellKind>, is_quiet: bool) -> Self {
        let bar = (!is_quiet && io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(Some(cells.len() as u64), ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} [{bar:24}] {pos}/{len} {wide_msg}") {
                bar.set_style(style.progress_chars("=> "));
            }
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Self { bar, pace: Pace::default(), total: cells.len(), left: cells, is_quiet }
    }

    fn time_left(&self) -> String {
        let seconds: f64 = self.left.iter().map(|kind| self.pace.guess(*kind)).sum();
        if self.left.is_empty() || self.pace.seconds.is_empty() {
            String::new()
        } else {
            format!("; about {} left", duration(seconds))
        }
    }
}

impl Progress for ProgressLine {
    fn begin(&mut self, cell: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{cell}{}", self.time_left()));
        }
    }

    fn skip(&mut self) {
        if !self.left.is_empty() {
            self.left.remove(0);
        }
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
    }

    fn end(&mut self, cell: &str, outcome: &str, seconds: Option<f64>) {
        if self.left.is_empty() {
            return;
        }
        let kind = self.left.remove(0);
        if let Some(seconds) = seconds {
            self.pace.note(kind, seconds);
        }
        match &self.bar {
            Some(bar) => bar.inc(1),
            None if self.is_quiet => {}
            None => {
                say(&format!("[{}/{}] {cell}: {outcome}{}", self.total - self.left.len(), self.total, self.time_left()))
            }
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A duration in readable form.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        0.0..1.0 => "a second".to_owned(),
        1.0..100.0 => format!("{seconds:.0} s"),
        100.0..5400.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_goes_by_cells_of_the_same_kind() {
        let kind = |row, column| CellKind { row, column };
        let mut pace = Pace::default();
        assert_eq!(pace.guess(kind(0, 0)), 0.0);
        pace.note(kind(0, 0), 1.0);
        pace.note(kind(0, 0), 3.0);
        pace.note(kind(1, 0), 8.0);
        assert_eq!((pace.guess(kind(0, 0)), pace.guess(kind(1, 0)), pace.guess(kind(5, 5))), (2.0, 8.0, 4.0));
    }

    #[test]
    fn durations_are_short() {
        assert_eq!([0.2, 12.3, 200.0, 9000.0].map(duration), ["a second", "12 s", "3 min", "2.5 h"]);
    }
}
