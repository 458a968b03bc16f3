//! The results as CSV, one line for each run. Columns named "seconds" hold times; all others are the same in every run
//! that no limit has stopped.

use std::fmt::Write;

use super::record::{Effort, Measurement};
use super::results::{CellState, Results};
use super::study::Study;

const HEAD: &str = "exhibit,row,replication,seed,method,outcome,lower_bound,best_known,gap_start,seconds_to_0.1%,\
                    solves_to_0.1%,cpu_seconds_to_0.1%,seconds_to_0.01%,solves_to_0.01%,seconds_to_own_proof,\
                    seconds_to_end,cpu_seconds_to_end,gap_end,gap_reported,certificate_refuted\n";

/// Columns of a run that was measured, at the end of a line.
const MEASURED: usize = 12;

/// The lines of a study. The columns about the end are empty for a run that the limit stopped: they would depend on the
/// speed of the machine.
pub(super) fn lines(study: &Study, results: &Results) -> String {
    let mut csv = HEAD.to_owned();
    for (row_index, row) in study.rows.iter().enumerate() {
        for replication in 1..=study.replications {
            for (setup_index, setup) in study.setups.iter().enumerate() {
                let entry = results.entry(row_index, replication, setup_index);
                let (outcome, cells) = match entry {
                    CellState::Open => continue,
                    CellState::Refused(_) => ("refused", vec![String::new(); MEASURED]),
                    CellState::Failed(_) => ("failed", vec![String::new(); MEASURED]),
                    CellState::Measured(run) => (if run.is_over { "limit" } else { "done" }, measured(run)),
                };
                let known = results.reference(row_index, replication);
                let _ = writeln!(
                    csv,
                    "{},\"{}\",{replication},{},{},{outcome},{},{},{}",
                    study.exhibit.name(),
                    row.title,
                    study.seed_of(replication),
                    setup.name(),
                    number(known.map(|known| known.lower)),
                    number(known.map(|known| known.value)),
                    cells.join(",")
                );
            }
        }
    }
    csv
}

fn number(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

fn seconds(effort: Option<Effort>) -> String {
    effort.map_or(String::new(), |effort| format!("{:.4}", effort.seconds))
}

fn cpu_seconds(effort: Option<Effort>) -> String {
    effort.and_then(|effort| effort.cpu_seconds).map_or(String::new(), |seconds| format!("{seconds:.4}"))
}

fn solves(effort: Option<Effort>) -> String {
    effort.map_or(String::new(), |effort| effort.solves.to_string())
}

fn measured(run: &Measurement) -> Vec<String> {
    let at_end = |value: Option<f64>| number(value.filter(|_| !run.is_over));
    let end = (!run.is_over).then_some(run.end);
    vec![
        number(run.start),
        seconds(run.coarse),
        solves(run.coarse),
        cpu_seconds(run.coarse),
        seconds(run.fine),
        solves(run.fine),
        seconds(run.proved),
        seconds(end),
        cpu_seconds(end),
        at_end(run.last),
        at_end(run.reported),
        run.is_refuted.to_string(),
    ]
}

/// The curves of a figure: a line for each decision of each run.
pub(super) fn paths(study: &Study, results: &Results) -> String {
    let mut csv = "exhibit,curve,replication,seed,iteration,gap\n".to_owned();
    for (row_index, row) in study.rows.iter().enumerate() {
        for replication in 1..=study.replications {
            for entry in (0..study.setups.len()).map(|setup| results.entry(row_index, replication, setup)) {
                for (iteration, gap) in entry.measured().iter().flat_map(|run| &run.path) {
                    let (exhibit, seed) = (study.exhibit.name(), study.seed_of(replication));
                    let _ = writeln!(csv, "{exhibit},\"{}\",{replication},{seed},{iteration},{gap}", row.title);
                }
            }
        }
    }
    csv
}
