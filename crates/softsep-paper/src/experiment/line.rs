//! The statistics of a row and a method, as tables show them.

use super::printed::PrintedTime;
use super::record::Measurement;
use super::results::{CellState, Results, Timing, quartiles};
use super::setup::MethodSetup;
use super::study::Study;

/// A line of a table: a method on the instances of a row.
pub(super) struct TableLine {
    /// The time that the paper prints for this method.
    pub(super) printed: Option<PrintedTime>,
    /// The printed time that ours is compared with: of the same method, else of the paper's algorithm.
    pub(super) beside: Option<PrintedTime>,
    /// Our time.
    pub(super) ours: Timing,
    /// The median gap at the end.
    pub(super) last: Option<f64>,
    /// Runs that were measured.
    pub(super) runs: usize,
    /// Runs that proved the paper's goal themselves.
    pub(super) proved: usize,
    /// Runs that ended by themselves with an upper bound that holds with high probability, under assumptions.
    pub(super) likely: usize,
    /// Runs whose decision costs more than that bound.
    pub(super) refuted: usize,
    /// Whether the method does not accept these instances.
    pub(super) is_refused: bool,
    /// Whether a run failed.
    pub(super) has_failed: bool,
}

impl TableLine {
    pub(super) fn new(study: &Study, results: &Results, row: usize, setup_index: usize) -> Self {
        let setup = study.setups[setup_index];
        let printed = study.rows[row].printed;
        let runs: Vec<&Measurement> = results.measured(row, setup_index).collect();
        let count = |is_meant: fn(&Measurement) -> bool| runs.iter().filter(|run| is_meant(run)).count();
        let has = |is_meant: fn(&CellState) -> bool| results.entries(row, setup_index).any(is_meant);
        Self {
            printed: printed.zip(setup.column()).map(|(printed, column)| printed[column]),
            beside: printed.map(|printed| printed[setup.column().unwrap_or(0)]),
            ours: Timing::of_setup(study, setup, runs.iter().copied()),
            last: median(runs.iter().filter_map(|run| match setup {
                MethodSetup::Adr => run.reported.filter(|_| !run.is_over),
                _ => run.last,
            })),
            runs: runs.len(),
            proved: count(|run| run.proved.is_some()),
            likely: count(|run| !run.is_over && run.is_likely == Some(true)),
            refuted: count(|run| !run.is_over && run.is_refuted),
            is_refused: has(|entry| matches!(entry, CellState::Refused(_))),
            has_failed: has(|entry| matches!(entry, CellState::Failed(_))),
        }
    }
}

/// The median of a sample.
pub(super) fn median(sample: impl Iterator<Item = f64>) -> Option<f64> {
    let mut sample: Vec<f64> = sample.collect();
    (!sample.is_empty()).then(|| quartiles(&mut sample)[1])
}
