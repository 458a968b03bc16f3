//! Runs the cells of a study that the folder does not hold yet, one after another, and writes the results up.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde_json::json;
use softsep::{Problem, VERSION};

use super::cell::{CellRun, Missing};
use super::error::ExperimentError;
use super::folder::Folder;
use super::page::Page;
use super::record::{CellRecord, CellResult, Reference};
use super::results::{CellState, Results};
use super::setup::MethodSetup;
use super::study::{Study, StudyRow};
use super::{csv, machine, plot};
use crate::instances::location_transportation;

/// The options of a run that do not change its results: the folder, the threads, and the command that repeats it.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// The output folder; it is made if it does not exist.
    pub out: PathBuf,
    /// Threads of each run; `None` for all cores. Runs follow one another.
    pub threads: Option<usize>,
    /// The command line that asks for the same study, shown on its page.
    pub command: String,
}

/// The progress of a study, cell by cell in the order of [`Study::cell_kinds`].
pub trait Progress {
    /// A cell begins; `cell` describes it in words.
    fn begin(&mut self, cell: &str);

    /// A cell ended as `outcome` says. `seconds` is its duration, in this run or in an earlier one; `None` if it has
    /// no result.
    fn end(&mut self, cell: &str, outcome: &str, seconds: Option<f64>);
}

/// The state of a study at the end of [`run`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The files of results.
    pub files: Vec<PathBuf>,
    /// Cells that are done.
    pub done: usize,
    /// All cells.
    pub cells: usize,
    /// Whether the interrupt flag ended the run.
    pub interrupted: bool,
    /// One line for each cell that failed.
    pub failures: Vec<String>,
}

/// Runs the cells of a study that its folder does not hold yet, and writes up all results, also those of a study that
/// was interrupted. Raising `interrupt` ends the run; finished cells are kept.
pub fn run(
    study: &Study,
    options: &RunOptions,
    progress: &mut dyn Progress,
    interrupt: &Arc<AtomicBool>,
) -> Result<Summary, ExperimentError> {
    let mut runner = Runner {
        study,
        folder: Folder::open(&options.out, &study.exhibit.name())?,
        options,
        machine: machine::description(),
        interrupt,
        progress,
        results: Results::new(study),
        done: 0,
        failures: Vec::new(),
    };
    let ended = runner.run_cells();
    // Finished cells are written up even if a later one could not be kept.
    let files = runner.write_up()?;
    ended?;
    let interrupted = interrupt.load(Ordering::Relaxed);
    Ok(Summary { files, done: runner.done, cells: study.cells(), interrupted, failures: runner.failures })
}

/// A study in progress.
struct Runner<'s> {
    study: &'s Study,
    folder: Folder,
    options: &'s RunOptions,
    machine: String,
    interrupt: &'s Arc<AtomicBool>,
    progress: &'s mut dyn Progress,
    results: Results,
    /// Cells that are done, in this run or in an earlier one.
    done: usize,
    failures: Vec<String>,
}

/// The instance of a row in a replication. The problem is drawn for the first cell that has to be run.
struct Instance<'s> {
    row: &'s StudyRow,
    row_index: usize,
    replication: u32,
    problem: Option<Problem>,
    reference: Option<Reference>,
}

impl Runner<'_> {
    fn run_cells(&mut self) -> Result<(), ExperimentError> {
        for replication in 1..=self.study.replications {
            for row in 0..self.study.rows.len() {
                if self.interrupt.load(Ordering::Relaxed) {
                    return Ok(());
                }
                self.run_row(row, replication)?;
            }
        }
        Ok(())
    }

    /// Runs the reference and all methods on one instance, which is drawn only if a cell has to be run.
    fn run_row(&mut self, row_index: usize, replication: u32) -> Result<(), ExperimentError> {
        let row = &self.study.rows[row_index];
        let mut instance = Instance { row, row_index, replication, problem: None, reference: None };
        for column in 0..=self.study.setups.len() {
            let setup = if column == 0 { MethodSetup::Reference } else { self.study.setups[column - 1] };
            let name = format!("{}-r{replication}-{}", row.name, setup.name());
            let title = format!("{}, replication {replication}, {}", row.title, setup.title());
            let key = self.key(row, replication, setup);
            self.progress.begin(&title);
            let kept = self.folder.find(&name, &key);
            let is_kept = kept.is_some();
            match kept.map_or_else(|| self.run_cell(&mut instance, setup, key), Ok) {
                Ok(record) => {
                    if !is_kept {
                        self.folder.keep(&name, &record)?;
                    }
                    let words =
                        if is_kept { "kept from before".to_owned() } else { format!("{:.2} s", record.seconds) };
                    self.progress.end(&title, &words, Some(record.seconds));
                    self.note(&mut instance, column, record);
                }
                Err(Missing::Interrupted) => return Ok(()),
                Err(missing) => self.note_missing(&instance, column, &title, missing),
            }
        }
        Ok(())
    }

    /// Notes the result of a cell.
    fn note(&mut self, instance: &mut Instance, column: usize, record: CellRecord) {
        let (row, replication) = (instance.row_index, instance.replication);
        self.done += 1;
        match record.result {
            CellResult::Reference(found) => {
                instance.reference = Some(found);
                self.results.set_reference(row, replication, found);
            }
            CellResult::Run(run) => {
                self.results.set(row, replication, column.saturating_sub(1), CellState::Measured(run));
            }
        }
    }

    /// Notes that a cell has no result.
    fn note_missing(&mut self, instance: &Instance, column: usize, title: &str, missing: Missing) {
        let words = match &missing {
            // The method will refuse the instance again: the cell is done.
            Missing::Refused(why) => {
                self.done += 1;
                format!("not taken: {why}")
            }
            Missing::Failed(why) => {
                self.failures.push(format!("({title}): {why}"));
                format!("failed: {why}")
            }
            Missing::Interrupted => String::new(),
        };
        self.progress.end(title, &words, None);
        if column > 0 {
            self.results.set(instance.row_index, instance.replication, column - 1, missing.into());
        }
    }

    /// The key of a record holds everything that it depends on: the instance, the method and its options, the limit,
    /// the version and the machine.
    fn key(&self, row: &StudyRow, replication: u32, setup: MethodSetup) -> String {
        let instance = self.study.instance(row, replication);
        let key = json!({
            "instance": format!("{instance:?}"),
            "method": setup.name(),
            "options": setup.command_options(row),
            "iterations": self.study.iterations,
            "limit": self.study.limit,
            "threads": self.options.threads,
            "version": VERSION,
            "machine": self.machine,
        });
        key.to_string()
    }

    fn run_cell(&self, instance: &mut Instance, setup: MethodSetup, key: String) -> Result<CellRecord, Missing> {
        let started = Instant::now();
        let Instance { row, replication, reference, .. } = *instance;
        let problem = match &mut instance.problem {
            Some(problem) => problem,
            empty => empty.insert(self.draw(row, replication)?),
        };
        let threads = self.options.threads;
        let cell = CellRun { study: self.study, row, replication, problem, threads, interrupt: self.interrupt };
        let result = match (setup, reference) {
            (MethodSetup::Reference, _) => CellResult::Reference(cell.reference()?),
            (_, Some(reference)) => CellResult::Run(Box::new(cell.measure(setup, reference)?)),
            (_, None) => return Err(Missing::Failed("there is no reference to measure it by".into())),
        };
        Ok(CellRecord { key, seconds: started.elapsed().as_secs_f64(), result })
    }

    fn draw(&self, row: &StudyRow, replication: u32) -> Result<Problem, Missing> {
        let file = location_transportation(&self.study.instance(row, replication))
            .map_err(|error| Missing::Failed(error.to_string()))?;
        Problem::new(&file).map_err(|complaints| Missing::Failed(complaints.to_string()))
    }

    /// Writes all files of results and returns their paths.
    fn write_up(&self) -> Result<Vec<PathBuf>, ExperimentError> {
        let (study, name) = (self.study, self.study.exhibit.name());
        let mut files = vec![self.folder.write(&format!("{name}.csv"), &csv::lines(study, &self.results))?];
        if study.exhibit.is_figure() {
            files.push(self.folder.write(&format!("{name}-paths.csv"), &csv::paths(study, &self.results))?);
        }
        let chart = plot::chart(study, &self.results);
        files.push(self.folder.write(&format!("{name}.svg"), &chart.file())?);
        let page = Page {
            study,
            results: &self.results,
            chart: &chart,
            machine: &self.machine,
            command: &self.options.command,
            done: self.done,
        };
        files.push(self.folder.write(&format!("{name}.html"), &page.write())?);
        Ok(files)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;

    use super::super::study::{Exhibit, Sizes};
    use super::*;

    struct Unheard;

    impl Progress for Unheard {
        fn begin(&mut self, _cell: &str) {}

        fn end(&mut self, _cell: &str, _outcome: &str, _seconds: Option<f64>) {}
    }

    #[test]
    fn a_cell_that_fails_is_reported_and_does_not_stop_the_rest() {
        let folder = tempfile::tempdir().unwrap();
        let mut study = Study::new(Exhibit::Table(3), Sizes::Smallest, Some(1), None, 1);
        // There is no such instance.
        study.rows[0].n = 0;
        let options = RunOptions { out: folder.path().to_owned(), threads: Some(1), command: "again".into() };
        let summary = run(&study, &options, &mut Unheard, &Arc::default()).unwrap();
        assert_eq!((summary.failures.len(), summary.done, summary.cells), (5, 5, 10));
        let csv = fs::read_to_string(folder.path().join("table-3.csv")).unwrap();
        assert_eq!((csv.matches(",failed,").count(), csv.matches(",done,").count()), (4, 4), "{csv}");
        let page = fs::read_to_string(folder.path().join("table-3.html")).unwrap();
        assert!(page.contains("Not complete") && page.contains("What is missing"));
        // Only finished cells are kept: those that failed are tried again.
        assert_eq!(fs::read_dir(folder.path().join("cells/table-3")).unwrap().count(), 5);
    }
}
