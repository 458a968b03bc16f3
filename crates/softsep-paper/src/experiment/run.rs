//! Runs the cells of a study that are not there yet, one after another, and writes down what there is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde_json::json;
use softsep::instances::location_transportation;
use softsep::{Problem, VERSION};

use super::cell::{Bench, Missing};
use super::finding::{Finding, Found};
use super::folder::Folder;
use super::page::Page;
use super::progress::Progress;
use super::results::{Entry, Results};
use super::study::{Row, Study};
use super::way::Way;
use super::{How, csv, machine, plot};
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::output::{print, say};

/// A study under way.
pub(super) struct Runner<'s> {
    study: &'s Study,
    folder: Folder,
    threads: Option<usize>,
    machine: String,
    command: String,
    interrupt: Arc<AtomicBool>,
    progress: Progress,
    results: Results,
    /// Cells that were found or run.
    done: usize,
    failures: Vec<String>,
}

impl<'s> Runner<'s> {
    pub(super) fn new(study: &'s Study, how: &How, command: String) -> Result<Self, Failure> {
        let folder = Folder::open(&how.out, &study.exhibit.name())?;
        // Replications come first, so that a run that is stopped has something of every row, and the time left is known
        // early.
        let kinds = |row: usize| (0..=study.ways.len()).map(move |way| (row, way));
        let once: Vec<(usize, usize)> = (0..study.rows.len()).flat_map(kinds).collect();
        let cells = once.repeat(study.replications as usize);
        let quiet = how.quiet;
        let interrupt = interrupt::flag(move || {
            if !quiet {
                say("interrupted: what is finished is kept; Ctrl-C again to leave at once");
            }
        })?;
        Ok(Self {
            study,
            folder,
            threads: how.threads,
            machine: machine::description(),
            command,
            interrupt,
            progress: Progress::new(cells, how.quiet),
            results: Results::new(study),
            done: 0,
            failures: Vec::new(),
        })
    }

    /// Runs what is missing, then writes the results up, whole or not.
    pub(super) fn run(mut self) -> Result<Exit, Failure> {
        let stopped = self.run_cells();
        let files = self.write_up()?;
        drop(self.progress);
        stopped?;
        print(&files)?;
        if self.interrupt.load(Ordering::Relaxed) {
            let (done, cells) = (self.done, self.study.cells());
            say(&format!("stopped: {done} of {cells} cells are done and kept. To go on:\n  {}", self.command));
            return Ok(Exit::Interrupted);
        }
        match self.failures.len() {
            0 => Ok(Exit::Done),
            count => Err(Failure::failed(format!("{count} cells failed, the first of them {}", self.failures[0]))),
        }
    }

    fn run_cells(&mut self) -> Result<(), Failure> {
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

    /// The reference and all methods on one instance, which is drawn only if something is to be run on it.
    fn run_row(&mut self, row_index: usize, replication: u32) -> Result<(), Failure> {
        let study = self.study;
        let row = &study.rows[row_index];
        let mut drawn: Option<Problem> = None;
        let mut reference = None;
        for way_index in 0..=study.ways.len() {
            let way = if way_index == 0 { Way::Reference } else { study.ways[way_index - 1] };
            let name = format!("{}-r{replication}-{}", row.name, way.name());
            let what = format!("{}, replication {replication}, {}", row.title, way.title());
            let asked = self.asked(row, replication, way);
            self.progress.begin(&what);
            let kept = self.folder.find(&name, &asked);
            let is_kept = kept.is_some();
            let finding = match kept {
                Some(finding) => Ok(finding),
                None => self.run_cell(row, replication, way, reference, &mut drawn, asked),
            };
            match finding {
                Ok(finding) => {
                    if !is_kept {
                        self.folder.keep(&name, &finding)?;
                    }
                    self.done += 1;
                    let words = if is_kept { "kept from before".to_owned() } else { format!("{:.2} s", finding.took) };
                    self.progress.end(&what, &words, Some(finding.took));
                    match finding.found {
                        Found::Reference(found) => {
                            reference = Some(found);
                            self.results.set_reference(row_index, replication, found);
                        }
                        Found::Run(run) => {
                            self.results.set(row_index, replication, way_index.saturating_sub(1), Entry::Measured(run));
                        }
                    }
                }
                Err(Missing::Interrupted) => return Ok(()),
                Err(missing) => {
                    let words = match &missing {
                        // Nothing more will come of it.
                        Missing::Refused(why) => {
                            self.done += 1;
                            format!("not taken: {why}")
                        }
                        Missing::Failed(why) => {
                            self.failures.push(format!("({what}): {why}"));
                            format!("failed: {why}")
                        }
                        Missing::Interrupted => String::new(),
                    };
                    self.progress.end(&what, &words, None);
                    if way_index > 0 {
                        self.results.set(row_index, replication, way_index - 1, missing.into());
                    }
                }
            }
        }
        Ok(())
    }

    /// Everything that a finding depends on: the instance, the method and its options, the limit, the version and the
    /// machine.
    fn asked(&self, row: &Row, replication: u32, way: Way) -> String {
        let instance = self.study.instance(row, replication);
        let asked = json!({
            "instance": format!("{instance:?}"),
            "method": way.name(),
            "options": way.command_options(row),
            "iterations": self.study.iterations,
            "limit": self.study.limit,
            "threads": self.threads,
            "version": VERSION,
            "machine": self.machine,
        });
        asked.to_string()
    }

    fn run_cell(
        &self,
        row: &Row,
        replication: u32,
        way: Way,
        reference: Option<super::finding::Reference>,
        drawn: &mut Option<Problem>,
        asked: String,
    ) -> Result<Finding, Missing> {
        let started = Instant::now();
        let problem = match drawn {
            Some(problem) => problem,
            None => drawn.insert(self.draw(row, replication)?),
        };
        let bench =
            Bench { study: self.study, row, replication, problem, threads: self.threads, interrupt: &self.interrupt };
        let found = match (way, reference) {
            (Way::Reference, _) => Found::Reference(bench.reference()?),
            (_, Some(reference)) => Found::Run(Box::new(bench.measure(way, reference)?)),
            (_, None) => return Err(Missing::Failed("there is no reference to measure it by".into())),
        };
        Ok(Finding { asked, took: started.elapsed().as_secs_f64(), found })
    }

    fn draw(&self, row: &Row, replication: u32) -> Result<Problem, Missing> {
        let file = location_transportation(&self.study.instance(row, replication))
            .map_err(|error| Missing::Failed(error.to_string()))?;
        Problem::new(&file).map_err(|complaints| Missing::Failed(complaints.to_string()))
    }

    /// Writes all files; what to tell of them.
    fn write_up(&self) -> Result<String, Failure> {
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
            command: &self.command,
            done: self.done,
        };
        files.push(self.folder.write(&format!("{name}.html"), &page.write())?);
        Ok(files.iter().map(|file| format!("{}\n", file.display())).collect())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;

    use super::super::study::{Exhibit, Sizes};
    use super::*;

    #[test]
    fn a_cell_that_fails_is_reported_and_does_not_stop_the_rest() {
        let place = tempfile::tempdir().unwrap();
        let mut study = Study::new(Exhibit::Table(3), Sizes::Smallest, Some(1), None, 1);
        // There is no such instance.
        study.rows[0].n = 0;
        let how = How {
            out: place.path().to_owned(),
            sizes: Sizes::Smallest,
            replications: Some(1),
            time_limit: None,
            seed: 1,
            threads: Some(1),
            quiet: true,
        };
        assert!(Runner::new(&study, &how, "again".into()).unwrap().run().is_err());
        let csv = fs::read_to_string(place.path().join("table-3.csv")).unwrap();
        assert_eq!((csv.matches(",failed,").count(), csv.matches(",done,").count()), (4, 4), "{csv}");
        let page = fs::read_to_string(place.path().join("table-3.html")).unwrap();
        assert!(page.contains("Not complete") && page.contains("What is missing"));
        // Only what is done is kept: what failed is tried again.
        assert_eq!(fs::read_dir(place.path().join("cells/table-3")).unwrap().count(), 5);
    }
}
