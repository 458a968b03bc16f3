//! The log: one line per iteration, to any `Write`.

use std::io::Write;

use crate::format::one_line;
use crate::run::{Event, Observer, Record};

/// Writes a run as a table. A write that fails is ignored: a log must not stop a run.
pub struct Table<W: Write> {
    out: W,
    lines: usize,
}

/// Lines after which the header is repeated.
const PAGE: usize = 25;

impl<W: Write> Table<W> {
    /// A table on `out`.
    pub fn new(out: W) -> Self {
        Self { out, lines: 0 }
    }

    fn row(&mut self, record: &Record) {
        if self.lines.is_multiple_of(PAGE) {
            let _ = writeln!(
                self.out,
                "{:>9} {:>6} {:>16} {:>17} {:>10} {:>9} {:>6} {:>9} {:>8}",
                "time (s)", "iter", "lower", "upper", "gap (%)", "scenarios", "cuts", "solves", "nodes"
            );
        }
        self.lines += 1;
        let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.4}"));
        // An estimate is no bound; the table marks it.
        let upper = match record.bounds.best() {
            Some(best) if best.upper.is_none() => format!("{:.4}?", best.value),
            _ => number(record.bounds.upper()) + " ",
        };
        let gap = record.bounds.gap().map_or("-".to_owned(), |gap| format!("{:.4}", 100.0 * gap));
        let lower = number(record.bounds.lower());
        let _ = writeln!(
            self.out,
            "{:>9.2} {:>6} {lower:>16} {upper:>17} {gap:>10} {:>9} {:>6} {:>9} {:>8}",
            record.seconds, record.iteration, record.master.scenarios, record.master.cuts, record.recourse_solves, record.nodes
        );
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
                let _ = writeln!(self.out, "             {note}");
            }
            Event::Step(record) => self.row(record),
            Event::Better(_) => {}
        }
        let _ = self.out.flush();
    }
}
