//! The trace of a run: every iteration as one row of numbers, for plots.

use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};

use crate::run::{Certificate, Event, Observer, Record};

/// How the rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceForm {
    /// A header and comma-separated values; a field is empty where there is no number.
    Csv,
    /// One JSON object per line; a field is null where there is no number.
    JsonLines,
}

/// The columns. `best` is the upper bound where `certificate` is `deterministic`, one that is likely to hold where it
/// is `probabilistic`, an estimate where it is `none`; the last six are a chain's.
const COLUMNS: [&str; 16] = [
    "iteration",
    "seconds",
    "lower",
    "best",
    "certificate",
    "gap",
    "recourse_solves",
    "scenarios",
    "cuts",
    "nodes",
    "chain_value",
    "acceptance",
    "effective",
    "still",
    "temperature",
    "step",
];

/// Seconds after which rows are handed on at the latest, for those who look on.
const HELD_BACK: f64 = 1.0;

/// Writes every iteration of a run as it ends, in whole rows: a run that is killed leaves a file that can be read.
pub struct Trace<W: Write> {
    out: BufWriter<W>,
    form: TraceForm,
    row: String,
    flushed: f64,
    /// The first write that failed; nothing is written after it.
    failed: Option<io::Error>,
}

/// A field of a row.
enum Field {
    Count(u64),
    Number(Option<f64>),
    Word(&'static str),
}

impl<W: Write> Trace<W> {
    /// A trace on `out`, which needs no buffer of its own.
    pub fn new(out: W, form: TraceForm) -> Self {
        let mut trace = Self { out: BufWriter::new(out), form, row: String::new(), flushed: 0.0, failed: None };
        if form == TraceForm::Csv {
            trace.row.push_str(&COLUMNS.join(","));
            trace.put();
            trace.flush();
        }
        trace
    }

    /// Writes what is held back, and tells whether all was written.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush();
        self.failed.map_or(Ok(()), Err)
    }

    fn step(&mut self, record: &Record) {
        self.row.clear();
        for (column, field) in COLUMNS.iter().zip(fields(record)) {
            let first = self.row.is_empty();
            // A row is a String, which takes all that is written.
            let _ = match self.form {
                TraceForm::Csv => self.row.write_str(if first { "" } else { "," }),
                TraceForm::JsonLines => write!(self.row, "{}\"{column}\": ", if first { "{" } else { ", " }),
            };
            let _ = match (field, self.form) {
                (Field::Count(count), _) => write!(self.row, "{count}"),
                // Every digit, so that a plot of small differences is one of the run and not of the rounding.
                (Field::Number(Some(number)), _) if number.is_finite() => write!(self.row, "{number:?}"),
                (Field::Number(_), TraceForm::Csv) => Ok(()),
                (Field::Number(_), TraceForm::JsonLines) => self.row.write_str("null"),
                (Field::Word(word), TraceForm::Csv) => self.row.write_str(word),
                (Field::Word(word), TraceForm::JsonLines) => write!(self.row, "\"{word}\""),
            };
        }
        if self.form == TraceForm::JsonLines {
            self.row.push('}');
        }
        self.put();
        if record.iteration <= 1 || record.seconds - self.flushed >= HELD_BACK {
            self.flushed = record.seconds;
            self.flush();
        }
    }

    /// Writes the row at one go, so that the buffer is only ever emptied between rows.
    fn put(&mut self) {
        self.row.push('\n');
        if self.failed.is_none() {
            self.failed = self.out.write_all(self.row.as_bytes()).err();
        }
    }

    fn flush(&mut self) {
        if self.failed.is_none() {
            self.failed = self.out.flush().err();
        }
    }
}

fn fields(record: &Record) -> [Field; COLUMNS.len()] {
    let bounds = record.bounds;
    let chain = record.chain.as_ref();
    [
        Field::Count(record.iteration),
        Field::Number(Some(record.seconds)),
        Field::Number(bounds.lower()),
        Field::Number(bounds.reported_upper().or_else(|| bounds.best().map(|best| best.value))),
        Field::Word(match bounds.certificate() {
            Certificate::Deterministic => "deterministic",
            Certificate::Probabilistic => "probabilistic",
            Certificate::None => "none",
        }),
        Field::Number(bounds.gap()),
        Field::Count(record.recourse_solves),
        Field::Count(record.master.scenarios as u64),
        Field::Count(record.master.cuts as u64),
        Field::Count(record.nodes),
        Field::Number(chain.map(|chain| chain.value)),
        Field::Number(chain.map(|chain| chain.acceptance)),
        Field::Number(chain.map(|chain| chain.effective)),
        chain.map_or(Field::Number(None), |chain| Field::Count(chain.still)),
        Field::Number(chain.map(|chain| chain.temperature)),
        Field::Number(chain.map(|chain| chain.step)),
    ]
}

impl<W: Write> Observer for Trace<W> {
    fn see(&mut self, event: &Event) {
        if let Event::Step(record) = event {
            self.step(record);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::run::{ChainRecord, Clock, Limits, Run};

    fn trace(form: TraceForm) -> String {
        let mut out = Vec::new();
        let mut trace = Trace::new(&mut out, form);
        let mut run = Run::new("sgd", Limits::default(), Clock::unlimited(), &mut trace);
        run.lower(1.0);
        run.tick().unwrap();
        run.estimate(&[0.0], 1e20, &[]);
        let chain = ChainRecord {
            value: f64::INFINITY,
            acceptance: 0.25,
            effective: 7.5,
            still: 3,
            temperature: 0.5,
            step: 1e-3,
        };
        run.set_chain(chain);
        run.tick().unwrap();
        run.upper(&[0.0], 2.0, 2.0, &[]);
        run.tick().unwrap();
        trace.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn comma_separated_values() {
        let text = trace(TraceForm::Csv);
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
        assert_eq!(rows.len(), 4);
        assert_eq!(rows[0], COLUMNS);
        assert_eq!(rows[1][2..], ["1.0", "", "none", "", "0", "0", "0", "0", "", "", "", "", "", ""]);
        assert_eq!(
            rows[2][2..],
            ["1.0", "1e20", "none", "", "0", "0", "0", "0", "", "0.25", "7.5", "3", "0.5", "0.001"]
        );
        assert_eq!((rows[3][0], &rows[3][2..6]), ("3", ["1.0", "2.0", "deterministic", "0.5"].as_slice()));
        assert!(text.ends_with('\n'));
    }

    #[test]
    fn json_lines() {
        let text = trace(TraceForm::JsonLines);
        let rows: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(rows.len(), 3);
        let keys: Vec<&str> = COLUMNS.into_iter().filter(|column| rows[2].get(column).is_some()).collect();
        assert_eq!((keys.len(), rows[2].as_object().unwrap().len()), (COLUMNS.len(), COLUMNS.len()));
        assert!(rows[0]["best"].is_null() && rows[0]["step"].is_null() && rows[1]["chain_value"].is_null());
        assert_eq!((&rows[1]["best"], &rows[1]["certificate"]), (&1e20.into(), &"none".into()));
        assert_eq!((&rows[2]["gap"], &rows[2]["certificate"]), (&0.5.into(), &"deterministic".into()));
    }

    /// A disk of 300 bytes.
    struct Full(usize);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or_else(|| io::Error::other("full"))?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_trace_that_cannot_be_written_says_so_at_the_end_and_stops_nothing() {
        let mut trace = Trace::new(Full(300), TraceForm::JsonLines);
        let mut run = Run::new("sgd", Limits::default(), Clock::unlimited(), &mut trace);
        for _ in 0..1000 {
            run.tick().unwrap();
        }
        assert_eq!(trace.finish().unwrap_err().to_string(), "full");
    }
}
