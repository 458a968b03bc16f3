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
use super::{csv, machine, markdown, plot};
use crate::instances::location_transportation;

/// The options of a run that do not change its results: the folder, and the command that repeats it.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// The output folder; it is made if it does not exist.
    pub out: PathBuf,
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

    /// The next cell is not asked for.
    fn skip(&mut self);
}

/// The state of a study at the end of [`run`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The files of results.
    pub files: Vec<PathBuf>,
    /// Cells that are done.
    pub done: usize,
    /// All cells of the study, without replications that it does not ask for.
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
        first_seconds: vec![vec![None; 1 + study.setups.len()]; study.rows.len()],
        machines: Vec::new(),
        done: 0,
        ran: 0,
        spared: 0,
        failures: Vec::new(),
    };
    let ended = runner.run_cells();
    // Finished cells are written up even if a later one could not be kept.
    let files = runner.write_up()?;
    ended?;
    let interrupted = interrupt.load(Ordering::Relaxed);
    Ok(Summary {
        files,
        done: runner.done,
        cells: study.cells() - runner.spared,
        interrupted,
        failures: runner.failures,
    })
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
    /// Seconds of the first replication by row and column, 0 for the reference.
    first_seconds: Vec<Vec<Option<f64>>>,
    /// Machines of finished cells.
    machines: Vec<String>,
    /// Cells that are done, in this run or in an earlier one.
    done: usize,
    /// Cells of this run.
    ran: usize,
    /// Replications that are not asked for.
    spared: usize,
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
                let ran = self.ran;
                self.run_row(row, replication)?;
                if self.ran > ran {
                    // A run that is killed leaves all finished rows written up.
                    self.write_up()?;
                }
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
            let kept = self.folder.find(&name, &key);
            let is_kept = kept.is_some();
            let is_asked = row.is_asked && self.is_replicated(row_index, replication, column);
            if !is_kept && !is_asked {
                self.spared += usize::from(row.is_asked);
                self.progress.skip();
                continue;
            }
            self.progress.begin(&title);
            match kept.map_or_else(|| self.run_cell(&mut instance, setup, key), Ok) {
                Ok(record) => {
                    if !is_kept {
                        self.folder.keep(&name, &record)?;
                        self.ran += 1;
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

    /// Whether a cell is to be run in this replication. A reference is, if any method of its row is.
    fn is_replicated(&self, row: usize, replication: u32, column: usize) -> bool {
        let Some(most) = self.study.replicate_below.filter(|_| replication > 1) else { return true };
        let is_short = |seconds: &Option<f64>| seconds.is_some_and(|seconds| seconds < most);
        match (column, &self.first_seconds[row]) {
            (0, first) => first.iter().skip(1).any(is_short),
            (_, first) => is_short(&first[column]),
        }
    }

    /// Notes the result of a cell.
    fn note(&mut self, instance: &mut Instance, column: usize, record: CellRecord) {
        let (row, replication) = (instance.row_index, instance.replication);
        self.done += 1;
        if replication == 1 {
            self.first_seconds[row][column] = Some(record.seconds);
        }
        if !self.machines.contains(&record.machine) {
            self.machines.push(record.machine);
        }
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

    /// The key of a record holds everything that it depends on but the machine: the instance, the method and its
    /// options, the limit and the version. Cells of other rows and methods are not in it, so that a study can grow.
    fn key(&self, row: &StudyRow, replication: u32, setup: MethodSetup) -> String {
        let instance = self.study.instance(row, replication);
        let key = json!({
            "instance": format!("{instance:?}"),
            "method": setup.name(),
            "options": setup.command_options(row),
            "iterations": self.study.iterations.filter(|_| setup.is_endless()),
            "limit": self.study.limit_of(setup),
            "threads": self.study.threads,
            "version": VERSION,
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
        let cell = CellRun { study: self.study, row, replication, problem, interrupt: self.interrupt };
        let result = match (setup, reference) {
            (MethodSetup::Reference, _) => CellResult::Reference(cell.reference()?),
            (_, Some(reference)) => CellResult::Run(Box::new(cell.measure(setup, reference)?)),
            (_, None) => return Err(Missing::Failed("there is no reference to measure it by".into())),
        };
        Ok(CellRecord { key, seconds: started.elapsed().as_secs_f64(), machine: self.machine.clone(), result })
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
        let (machines, command) = (self.machines.join("; "), &self.options.command);
        if !study.exhibit.is_figure() {
            let table = markdown::table(study, &self.results, &machines, command);
            files.push(self.folder.write(&format!("{name}.md"), &table)?);
        }
        let chart = plot::chart(study, &self.results);
        files.push(self.folder.write(&format!("{name}.svg"), &chart.file())?);
        let page = Page {
            study,
            results: &self.results,
            chart: &chart,
            machines: &machines,
            command,
            done: self.done,
            cells: study.cells() - self.spared,
        };
        files.push(self.folder.write(&format!("{name}.html"), &page.write())?);
        Ok(files)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;

    use super::super::study::{Exhibit, Sizes, StudyOptions};
    use super::*;

    #[derive(Default)]
    struct Counts {
        kept: usize,
        skipped: usize,
    }

    impl Progress for Counts {
        fn begin(&mut self, _cell: &str) {}

        fn end(&mut self, _cell: &str, outcome: &str, _seconds: Option<f64>) {
            self.kept += usize::from(outcome == "kept from before");
        }

        fn skip(&mut self) {
            self.skipped += 1;
        }
    }

    fn study(table: u8, options: StudyOptions) -> Study {
        Study::new(Exhibit::Table(table), &StudyOptions { threads: Some(1), ..options }).unwrap()
    }

    fn smallest(replications: u32) -> StudyOptions {
        StudyOptions { replications: Some(replications), ..StudyOptions::new(Sizes::Smallest) }
    }

    fn run_in(folder: &tempfile::TempDir, study: &Study) -> (Summary, Counts) {
        let options = RunOptions { out: folder.path().to_owned(), command: "again".into() };
        let mut counts = Counts::default();
        let summary = run(study, &options, &mut counts, &Arc::default()).unwrap();
        (summary, counts)
    }

    fn text(folder: &tempfile::TempDir, name: &str) -> String {
        fs::read_to_string(folder.path().join(name)).unwrap()
    }

    #[test]
    fn a_cell_that_fails_is_reported_and_does_not_stop_the_rest() {
        let folder = tempfile::tempdir().unwrap();
        let mut study = study(3, smallest(1));
        // There is no such instance.
        study.rows[0].n = 0;
        let (summary, _) = run_in(&folder, &study);
        assert_eq!((summary.failures.len(), summary.done, summary.cells), (6, 6, 12));
        let csv = text(&folder, "table-3.csv");
        assert_eq!((csv.matches(",failed,").count(), csv.matches(",done,").count()), (5, 5), "{csv}");
        let page = text(&folder, "table-3.html");
        assert!(page.contains("Not complete") && page.contains("What is missing"));
        assert_eq!(text(&folder, "table-3.md").matches("| failed |").count(), 3);
        // Only finished cells are kept: those that failed are tried again.
        assert_eq!(fs::read_dir(folder.path().join("cells/table-3")).unwrap().count(), 6);
    }

    #[test]
    fn a_study_that_grows_by_a_method_a_row_or_a_replication_keeps_its_cells() {
        let folder = tempfile::tempdir().unwrap();
        let rows = vec!["n3".to_owned()];
        let mut few = study(2, StudyOptions { rows, ..smallest(1) });
        few.setups.retain(|setup| *setup != MethodSetup::Ccg);
        let (summary, counts) = run_in(&folder, &few);
        // The other row is not asked for, and missing.
        assert_eq!((summary.done, summary.cells, counts.skipped), (5, 10, 5));
        assert!(text(&folder, "table-2.html").contains("Not complete"));
        let (summary, counts) = run_in(&folder, &study(2, smallest(2)));
        assert_eq!((summary.done, summary.cells, counts.kept), (24, 24, 5));
        // Rows that are not asked for are shown as the folder has them.
        let (summary, counts) = run_in(&folder, &study(2, StudyOptions { rows: vec!["n2".into()], ..smallest(2) }));
        assert_eq!((summary.done, counts.kept), (24, 24));
        assert!(text(&folder, "table-2.html").contains("Complete"));
    }

    #[test]
    fn cells_of_another_machine_are_taken_over_and_the_machine_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let study = study(3, smallest(1));
        run_in(&folder, &study);
        let cell = folder.path().join("cells/table-3/n2-g0.4-r1-bundle.json");
        let record = fs::read_to_string(&cell).unwrap();
        fs::write(&cell, record.replace(&machine::description(), "an abacus")).unwrap();
        let (_, counts) = run_in(&folder, &study);
        assert_eq!(counts.kept, 12);
        let both = format!("{}; an abacus", machine::description());
        assert!(text(&folder, "table-3.md").contains(&both) && text(&folder, "table-3.html").contains("an abacus"));
    }

    #[test]
    fn only_short_cells_are_replicated() {
        let folder = tempfile::tempdir().unwrap();
        let below = |seconds| study(3, StudyOptions { replicate_below: Some(seconds), ..smallest(3) });
        let (summary, counts) = run_in(&folder, &below(1e-9));
        assert_eq!((summary.done, summary.cells, counts.skipped), (12, 12, 24));
        assert!(text(&folder, "table-3.html").contains("Complete"));
        // As if the first replication of one cell had taken long.
        let cell = folder.path().join("cells/table-3/n2-g0.4-r1-bundle.json");
        let mut record: serde_json::Value = serde_json::from_str(&fs::read_to_string(&cell).unwrap()).unwrap();
        record["took"] = 1e6.into();
        fs::write(&cell, record.to_string()).unwrap();
        let (summary, counts) = run_in(&folder, &below(1e5));
        assert_eq!((summary.done, summary.cells, counts.skipped, counts.kept), (34, 34, 2, 12));
        assert!(text(&folder, "table-3.md").contains("1 to 3 replications, from seed 1 on"));
    }
}
