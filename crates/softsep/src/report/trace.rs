//! The trace of a run: one row of numbers per iteration, for plots.

use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};

use crate::run::{Certificate, Event, Observer, Record};

/// The file format of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceFormat {
    /// A header and comma-separated values; fields without a number are empty.
    Csv,
    /// One JSON object per line; fields without a number are null.
    JsonLines,
}

/// The columns. `best` is the upper bound if `certificate` is `deterministic`, an upper bound that holds with a
/// probability if it is `probabilistic`, and an estimate if it is `none`. The last six columns belong to the chain.
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

/// Largest number of seconds before rows are flushed, for readers of a growing file.
const FLUSH_SECONDS: f64 = 1.0;

/// Writes every iteration of a run when it ends, in complete rows: the file of a killed run is readable.
pub struct Trace<W: Write> {
    out: BufWriter<W>,
    format: TraceFormat,
    row: String,
    flushed: f64,
    /// The first write error; nothing is written after it.
    failed: Option<io::Error>,
}

/// A field of a row.
enum Field {
    Count(u64),
    Number(Option<f64>),
    Word(&'static str),
}

impl<W: Write> Trace<W> {
    /// Creates a trace on `out`, which needs no buffer of its own.
    pub fn new(out: W, format: TraceFormat) -> Self {
        let mut trace = Self { out: BufWriter::new(out), format, row: String::new(), flushed: 0.0, failed: None };
        if format == TraceFormat::Csv {
            trace.row.push_str(&COLUMNS.join(","));
            trace.write_row();
            trace.flush();
        }
        trace
    }

    /// Writes the buffered rows. Errs if any write failed.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush();
        self.failed.map_or(Ok(()), Err)
    }

    fn step(&mut self, record: &Record) {
        self.row.clear();
        for (column, field) in COLUMNS.iter().zip(fields(record)) {
            let first = self.row.is_empty();
            // Writing to a String cannot fail.
            let _ = match self.format {
                TraceFormat::Csv => self.row.write_str(if first { "" } else { "," }),
                TraceFormat::JsonLines => write!(self.row, "{}\"{column}\": ", if first { "{" } else { ", " }),
            };
            let _ = match (field, self.format) {
                (Field::Count(count), _) => write!(self.row, "{count}"),
                // All digits, so that plots of small differences do not show rounding.
                (Field::Number(Some(number)), _) if number.is_finite() => write!(self.row, "{number:?}"),
                (Field::Number(_), TraceFormat::Csv) => Ok(()),
                (Field::Number(_), TraceFormat::JsonLines) => self.row.write_str("null"),
                (Field::Word(word), TraceFormat::Csv) => self.row.write_str(word),
                (Field::Word(word), TraceFormat::JsonLines) => write!(self.row, "\"{word}\""),
            };
        }
        if self.format == TraceFormat::JsonLines {
            self.row.push('}');
        }
        self.write_row();
        if record.iteration <= 1 || record.seconds - self.flushed >= FLUSH_SECONDS {
            self.flushed = record.seconds;
            self.flush();
        }
    }

    /// Writes the row in one call, so that the buffer is only flushed between rows.
    fn write_row(&mut self) {
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
        Field::Number(bounds.reported_upper().or_else(|| bounds.objective())),
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

    fn trace(format: TraceFormat) -> String {
        let mut out = Vec::new();
        let mut trace = Trace::new(&mut out, format);
        let mut run = Run::new("sgd", Limits::default(), Clock::unlimited(), &mut trace);
        run.lower(1.0);
        assert_eq!(run.tick(), None);
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
        assert_eq!(run.tick(), None);
        run.upper(&[0.0], 0.0, 2.0, 2.0, &[]);
        assert_eq!(run.tick(), None);
        trace.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn comma_separated_values() {
        let text = trace(TraceFormat::Csv);
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
        let text = trace(TraceFormat::JsonLines);
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
        let mut trace = Trace::new(Full(300), TraceFormat::JsonLines);
        let mut run = Run::new("sgd", Limits::default(), Clock::unlimited(), &mut trace);
        for _ in 0..1000 {
            assert_eq!(run.tick(), None);
        }
        assert_eq!(trace.finish().unwrap_err().to_string(), "full");
    }
}
