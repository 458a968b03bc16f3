//! The log: one line per reported iteration, written to any `Write`.

use std::io::Write;

use crate::definition::one_line;
use crate::run::{Certificate, Event, Observer, Record};

/// Writes a run as a table. Failed writes are ignored: a log must not stop a run.
///
/// Methods with few iterations show all of them. Chains make thousands of iterations per second: their table shows the
/// first, then ten lines per second, and the last. Other methods do the same after some pages.
pub struct Table<W: Write> {
    out: W,
    lines: usize,
    /// Whether the last header has the column of the acceptance rate.
    has_chain_column: bool,
    /// The time of the last line, in seconds.
    written_at: f64,
    /// The last iteration, if it was not written.
    pending: Option<LogLine>,
}

/// Lines after which the header is repeated.
const LINES_PER_PAGE: usize = 25;

/// Number of lines of a method without a chain before the table is thinned.
const MAX_FULL_LINES: usize = 8 * LINES_PER_PAGE;

/// Least number of seconds between the lines of a thinned table.
const SECONDS_PER_LINE: f64 = 0.1;

/// The content of a line. Stored as numbers, because most lines of a fast method are never written.
#[derive(Debug, Clone, Copy)]
struct LogLine {
    seconds: f64,
    iteration: u64,
    lower: Option<f64>,
    /// The upper bound, or else the estimated cost; `mark` shows which.
    upper: Option<f64>,
    mark: char,
    gap: Option<f64>,
    scenarios: usize,
    cuts: usize,
    solves: u64,
    nodes: u64,
    acceptance: Option<f64>,
}

impl LogLine {
    fn new(record: &Record) -> Self {
        let bounds = record.bounds;
        // Estimates, and upper bounds that hold with a probability, are marked.
        let mark = match bounds.certificate() {
            Certificate::Deterministic => ' ',
            Certificate::Probabilistic => '~',
            Certificate::None if bounds.objective().is_some() => '?',
            Certificate::None => ' ',
        };
        Self {
            seconds: record.seconds,
            iteration: record.iteration,
            lower: bounds.lower(),
            upper: bounds.reported_upper().or_else(|| bounds.objective()),
            mark,
            gap: bounds.gap(),
            scenarios: record.master.scenarios,
            cuts: record.master.cuts,
            solves: record.recourse_solves,
            nodes: record.nodes,
            acceptance: record.chain.map(|chain| chain.acceptance),
        }
    }
}

impl<W: Write> Table<W> {
    /// Creates a table on `out`.
    pub fn new(out: W) -> Self {
        Self { out, lines: 0, has_chain_column: false, written_at: 0.0, pending: None }
    }

    fn step(&mut self, record: &Record) {
        let line = LogLine::new(record);
        let is_full = if record.chain.is_some() { self.lines == 0 } else { self.lines < MAX_FULL_LINES };
        if is_full || record.seconds - self.written_at >= SECONDS_PER_LINE {
            self.row(&line);
        } else {
            self.pending = Some(line);
        }
    }

    /// Writes the last iteration, if it was omitted.
    fn write_pending(&mut self) {
        if let Some(line) = self.pending {
            self.row(&line);
        }
    }

    fn row(&mut self, line: &LogLine) {
        self.pending = None;
        self.written_at = line.seconds;
        let has_chain_column = line.acceptance.is_some();
        if self.lines.is_multiple_of(LINES_PER_PAGE) || has_chain_column != self.has_chain_column {
            self.has_chain_column = has_chain_column;
            let _ = writeln!(
                self.out,
                "{:>9} {:>6} {:>16} {:>17} {:>10} {:>9} {:>6} {:>9} {:>8}{}",
                "time (s)",
                "iter",
                "lower",
                "upper",
                "gap (%)",
                "scenarios",
                "cuts",
                "solves",
                "nodes",
                if has_chain_column { " accept (%)" } else { "" }
            );
        }
        self.lines += 1;
        let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.4}"));
        let upper = format!("{}{}", number(line.upper), line.mark);
        let (lower, gap) = (number(line.lower), number(line.gap.map(|gap| 100.0 * gap)));
        let acceptance = line.acceptance.map_or(String::new(), |share| format!(" {:>10.1}", 100.0 * share));
        let _ = writeln!(
            self.out,
            "{:>9.2} {:>6} {lower:>16} {upper:>17} {gap:>10} {:>9} {:>6} {:>9} {:>8}{acceptance}",
            line.seconds, line.iteration, line.scenarios, line.cuts, line.solves, line.nodes
        );
        let _ = self.out.flush();
    }
}

impl<W: Write> Observer for Table<W> {
    fn see(&mut self, event: &Event) {
        match event {
            Event::Start(header) => {
                let _ = writeln!(self.out, "softsep {}, HiGHS {}", crate::VERSION, softsep_lp::highs_version());
                if !header.problem.is_empty() {
                    let _ = writeln!(self.out, "problem      {}", one_line(&header.problem));
                }
                for fact in &header.facts {
                    let _ = writeln!(self.out, "{fact}");
                }
                let _ = writeln!(self.out, "method       {}", header.method);
            }
            Event::Note(note) => {
                self.write_pending();
                let _ = writeln!(self.out, "             {note}");
            }
            Event::Step(record) => return self.step(record),
            Event::Better(_) => return,
        }
        let _ = self.out.flush();
    }
}

impl<W: Write> Drop for Table<W> {
    /// Writes the last iteration, if it was omitted.
    fn drop(&mut self) {
        self.write_pending();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::run::{ChainRecord, Clock, Limits, Run};

    fn table(ticks: usize, chain: bool) -> String {
        let mut out = Vec::new();
        let mut table = Table::new(&mut out);
        let mut run = Run::new("sgd", Limits::default(), Clock::unlimited(), &mut table);
        for _ in 0..ticks {
            if chain {
                let chain = ChainRecord {
                    value: 0.0,
                    acceptance: 0.234,
                    effective: 1.0,
                    still: 0,
                    temperature: 1.0,
                    step: 1.0,
                };
                run.set_chain(chain);
            }
            assert_eq!(run.tick(), None);
        }
        drop(table);
        String::from_utf8(out).unwrap()
    }

    /// The iterations in a table.
    fn iterations(text: &str) -> Vec<usize> {
        text.lines().filter_map(|line| line.split_whitespace().nth(1)?.parse().ok()).collect()
    }

    #[test]
    fn methods_with_few_iterations_show_them_all() {
        let text = table(60, false);
        assert_eq!(iterations(&text), (1..=60).collect::<Vec<_>>());
        assert_eq!(text.lines().filter(|line| line.contains("time (s)")).count(), 3);
        assert!(!text.contains("accept"));
    }

    #[test]
    fn chains_show_their_acceptance_first_and_last() {
        let text = table(100_000, true);
        let shown = iterations(&text);
        assert_eq!((shown.first(), shown.last()), (Some(&1), Some(&100_000)));
        assert!(shown.len() < 1000, "{} lines", shown.len());
        let mut lines = text.lines();
        assert!(lines.next().unwrap().ends_with(" accept (%)"));
        assert!(lines.next().unwrap().ends_with("       23.4"));
    }

    #[test]
    fn a_note_follows_the_line_of_the_last_iteration() {
        let mut out = Vec::new();
        let mut table = Table::new(&mut out);
        let mut run = Run::new("sgd", Limits::default(), Clock::unlimited(), &mut table);
        for _ in 0..MAX_FULL_LINES + 7 {
            assert_eq!(run.tick(), None);
        }
        run.say("now something else");
        drop(table);
        let text = String::from_utf8(out).unwrap();
        let last: Vec<&str> = text.lines().rev().take(2).collect();
        assert!(last[0].ends_with("now something else") && iterations(last[1]) == [MAX_FULL_LINES + 7], "{last:?}");
    }
}
