//! The cells of each table and figure: which instances, which methods, how often.

use crate::instances::{LocationTransportation, Uncertain};

use super::error::ExperimentError;
use super::printed::{self, PrintedTime};
use super::record::Effort;
use super::setup::MethodSetup;
use super::words::grouped;

/// The sizes of a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sizes {
    /// Tiny instances, for a test of the experiment itself: seconds.
    Smallest,
    /// The rows of the paper that take minutes.
    Small,
    /// The paper's grid, limits and replications: hours.
    Full,
}

/// The options of a study: how large it is, and how often and how long each method runs.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyOptions {
    /// The sizes of the instances.
    pub sizes: Sizes,
    /// Replications of each cell; by the sizes if `None`.
    pub replications: Option<u32>,
    /// A cell is replicated only if its first replication took fewer seconds than this; `None` replicates all.
    pub replicate_below: Option<f64>,
    /// The rows to run by name, or by the part of their names before a hyphen; all rows if empty.
    pub rows: Vec<String>,
    /// Seconds for each run; by the sizes if `None`.
    pub limit: Option<f64>,
    /// Replication r has seed + r − 1.
    pub seed: u64,
    /// Threads of each run; `None` for all cores. Runs follow one another.
    pub threads: Option<usize>,
}

impl StudyOptions {
    /// The defaults of these sizes, with seed 1.
    pub fn new(sizes: Sizes) -> Self {
        Self { sizes, replications: None, replicate_below: None, rows: Vec::new(), limit: None, seed: 1, threads: None }
    }
}

/// A table or a figure of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exhibit {
    /// Tables 1 to 6.
    Table(u8),
    /// Figures 1 to 3.
    Figure(u8),
}

/// The chain of Algorithm 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ChainSetup {
    /// The proposal's name.
    pub(super) proposal: &'static str,
    /// w.
    pub(super) temperature: f64,
    /// κ of the adaptive proposal.
    pub(super) kappa: Option<f64>,
}

/// A row of a table, or a curve of a figure.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StudyRow {
    /// Its name in file names.
    pub(super) name: String,
    /// Its name for people.
    pub(super) title: String,
    /// The number of sites, and of customers.
    pub(super) n: usize,
    /// The uncertainty set.
    pub(super) uncertainty: Uncertain,
    /// Whether sites have to be opened.
    pub(super) mixed_integer: bool,
    /// The chain of Algorithm 1.
    pub(super) chain: ChainSetup,
    /// The times that the paper prints for its algorithm, C&CG and ADR.
    pub(super) printed: Option<[PrintedTime; 3]>,
    /// Whether its cells are to be run. Cells of other rows are shown if the folder holds them.
    pub(super) is_asked: bool,
}

/// The kind of a cell: replications of one kind take about the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CellKind {
    /// The row of the table, or the curve of the figure.
    pub row: usize,
    /// 0 for the reference, then the methods.
    pub column: usize,
}

/// All runs of a table or a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Study {
    pub(super) exhibit: Exhibit,
    pub(super) rows: Vec<StudyRow>,
    pub(super) setups: Vec<MethodSetup>,
    pub(super) replications: u32,
    /// Seconds for each run.
    pub(super) limit: f64,
    /// Iterations of Algorithm 1; `None` lets it run to the goal or to the limit.
    pub(super) iterations: Option<u64>,
    /// Replication r has seed + r − 1.
    pub(super) seed: u64,
    /// Threads of each run.
    pub(super) threads: Option<usize>,
    /// Cells whose first replication took as many seconds are not replicated.
    pub(super) replicate_below: Option<f64>,
}

impl Exhibit {
    /// Its name in files.
    pub(super) fn name(self) -> String {
        match self {
            Exhibit::Table(number) => format!("table-{number}"),
            Exhibit::Figure(number) => format!("figure-{number}"),
        }
    }

    /// Its name for people.
    pub(super) fn title(self) -> String {
        match self {
            Exhibit::Table(number) => format!("Table {number}"),
            Exhibit::Figure(number) => format!("Figure {number}"),
        }
    }

    /// Figures show gaps along runs, tables the times to a gap.
    pub(super) fn is_figure(self) -> bool {
        matches!(self, Exhibit::Figure(_))
    }

    /// Its caption.
    pub(super) fn caption(self) -> &'static str {
        match self {
            Exhibit::Table(1) => "Runtimes with continuous decisions and ellipsoids",
            Exhibit::Table(2) => "Runtimes with continuous decisions and lists of scenarios",
            Exhibit::Table(3) => "Runtimes with continuous decisions and budget sets",
            Exhibit::Table(4) => "Runtimes with mixed-integer decisions and ellipsoids",
            Exhibit::Table(5) => "Runtimes with mixed-integer decisions and lists of scenarios",
            Exhibit::Table(_) => "Runtimes with mixed-integer decisions and budget sets",
            Exhibit::Figure(1) => "Convergence of Algorithm 1 for lists of many lengths",
            Exhibit::Figure(2) => "Convergence of Algorithm 1 at many temperatures",
            Exhibit::Figure(_) => "Convergence of Algorithm 1 with the adaptive and the uniform proposal",
        }
    }
}

/// The least seconds of a reference, whatever the limit: no gap can be measured without one.
const REFERENCE_SECONDS: f64 = 60.0;

/// The paper's temperature.
const COLD: f64 = 0.001;

/// Sites of the instances of figures. The paper does not say how many; gaps on three sites are of the size that it
/// shows.
const SITES: usize = 3;

impl Study {
    /// The study of an exhibit with these options. Fails if a row is asked for that the exhibit does not have.
    pub fn new(exhibit: Exhibit, options: &StudyOptions) -> Result<Self, ExperimentError> {
        let sizes = options.sizes;
        let (mut rows, setups, usual, iterations) = match exhibit {
            Exhibit::Table(number) => {
                let (algorithm, ours) = if number <= 3 {
                    (MethodSetup::Algorithm1, MethodSetup::Bundle)
                } else {
                    (MethodSetup::Algorithm3, MethodSetup::BranchAndCut)
                };
                let setups = vec![algorithm, MethodSetup::CcgPaper, MethodSetup::Ccg, MethodSetup::Adr, ours];
                let usual = match sizes {
                    Sizes::Smallest => 2,
                    Sizes::Small => 3,
                    Sizes::Full => 5,
                };
                (table_rows(number, sizes), setups, usual, (sizes == Sizes::Smallest).then_some(1_000))
            }
            Exhibit::Figure(number) => {
                let (usual, iterations) = match sizes {
                    Sizes::Smallest => (3, 100),
                    // The paper has 20 replications and does not say how many iterations; these take minutes.
                    Sizes::Small | Sizes::Full => (20, 10_000),
                };
                (figure_rows(number, sizes), vec![MethodSetup::Algorithm1], usual, Some(iterations))
            }
        };
        let usual_limit = match sizes {
            Sizes::Smallest => 20.0,
            // The runs of a figure end after their iterations.
            Sizes::Small if exhibit.is_figure() => 120.0,
            Sizes::Small => 10.0,
            Sizes::Full => printed::LIMIT,
        };
        choose(&mut rows, &options.rows)?;
        Ok(Self {
            exhibit,
            rows,
            setups,
            replications: options.replications.unwrap_or(usual),
            limit: options.limit.unwrap_or(usual_limit),
            iterations,
            seed: options.seed,
            threads: options.threads,
            replicate_below: options.replicate_below,
        })
    }

    /// Seconds for a run of this method.
    pub(super) fn limit_of(&self, setup: MethodSetup) -> f64 {
        if setup == MethodSetup::Reference { self.limit.max(REFERENCE_SECONDS) } else { self.limit }
    }

    /// The seconds of an effort that tables show. A run on one thread that shares its core with other processes waits
    /// at times, which its CPU time does not count; on several threads CPU time is no measure of the wait.
    pub(super) fn shown_seconds(&self, effort: Effort) -> f64 {
        effort.cpu_seconds.filter(|_| self.shows_cpu_time()).unwrap_or(effort.seconds)
    }

    /// Whether tables show CPU time.
    pub(super) fn shows_cpu_time(&self) -> bool {
        self.threads == Some(1)
    }

    /// The instance of a row in a replication, counted from 1. All rows and methods have the same costs and demands, so
    /// that they can be compared.
    pub(super) fn instance(&self, row: &StudyRow, replication: u32) -> LocationTransportation {
        let StudyRow { n, uncertainty, mixed_integer, .. } = *row;
        LocationTransportation { n, uncertainty, mixed_integer, seed: self.seed_of(replication) }
    }

    /// The seed of a replication's instances and runs.
    pub(super) fn seed_of(&self, replication: u32) -> u64 {
        self.seed.wrapping_add(u64::from(replication) - 1)
    }

    /// All cells in the order of their runs. Replications come first: a study that is stopped early has results of
    /// every row, and an estimate of the time left has all kinds early.
    pub fn cell_kinds(&self) -> Vec<CellKind> {
        let of_row = |row: usize| (0..=self.setups.len()).map(move |column| CellKind { row, column });
        let once: Vec<CellKind> = (0..self.rows.len()).flat_map(of_row).collect();
        once.repeat(self.replications as usize)
    }

    /// The number of cells, references included.
    pub(super) fn cells(&self) -> usize {
        self.rows.len() * self.replications as usize * (1 + self.setups.len())
    }
}

/// Marks the rows that are asked for by name; all if no name is given.
fn choose(rows: &mut [StudyRow], names: &[String]) -> Result<(), ExperimentError> {
    let is_named = |row: &StudyRow, name: &str| {
        row.name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    if let Some(name) = names.iter().find(|name| !rows.iter().any(|row| is_named(row, name))) {
        let known = rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>().join(", ");
        return Err(ExperimentError::UnknownRow { name: name.clone(), known });
    }
    for row in rows {
        row.is_asked = names.is_empty() || names.iter().any(|name| is_named(row, name));
    }
    Ok(())
}

fn table_rows(number: u8, sizes: Sizes) -> Vec<StudyRow> {
    let is_small = |n: usize, at: f64| match number {
        1 | 4 => n <= 30,
        2 => n <= 30 && [1e3, 1e4, 1e5].contains(&at),
        5 => [1e3, 1e4].contains(&at),
        _ => n == 30,
    };
    match sizes {
        Sizes::Full => {
            printed::table(number).iter().map(|&(n, at, times)| table_row(number, n, at, Some(times))).collect()
        }
        Sizes::Small => {
            let small = printed::table(number).iter().filter(|(n, at, _)| is_small(*n, *at));
            small.map(|&(n, at, times)| table_row(number, n, at, Some(times))).collect()
        }
        Sizes::Smallest => {
            let at = match number {
                1 | 4 => [0.0, 0.0],
                2 | 5 => [6.0, 12.0],
                _ => [0.4, 0.7],
            };
            [2, 3].into_iter().zip(at).map(|(n, at)| table_row(number, n, at, None)).collect()
        }
    }
}

fn table_row(number: u8, n: usize, at: f64, printed: Option<[PrintedTime; 3]>) -> StudyRow {
    let (uncertainty, name, title) = match number {
        1 | 4 => (Uncertain::Ellipsoid, format!("n{n}"), format!("n = {n}")),
        2 | 5 => {
            (Uncertain::Scenarios(at as usize), format!("n{n}-i{at}"), format!("n = {n}, |I| = {}", grouped(at as u64)))
        }
        _ => (Uncertain::Budget { gamma: at }, format!("n{n}-g{at}"), format!("n = {n}, Γ = {at}")),
    };
    // The text leaves κ open; these are those of the paper's code.
    let kappa = if matches!(uncertainty, Uncertain::Budget { .. }) { n as f64 / 2.0 } else { 5.0 * n as f64 };
    let chain = ChainSetup { proposal: "adaptive", temperature: COLD, kappa: Some(kappa) };
    StudyRow { name, title, n, uncertainty, mixed_integer: number > 3, chain, printed, is_asked: true }
}

fn figure_rows(number: u8, sizes: Sizes) -> Vec<StudyRow> {
    let few = sizes == Sizes::Smallest;
    let usual = if few { 100 } else { 1_000 };
    let row = |name: String, title: String, scenarios: usize, chain: ChainSetup| StudyRow {
        name,
        title,
        n: SITES,
        uncertainty: Uncertain::Scenarios(scenarios),
        mixed_integer: false,
        chain,
        printed: None,
        is_asked: true,
    };
    let uniform = ChainSetup { proposal: "uniform", temperature: COLD, kappa: None };
    match number {
        1 => {
            let lengths: &[usize] = if few { &[100, 500] } else { &[1_000, 5_000, 10_000, 50_000, 100_000] };
            let of =
                |&count: &usize| row(format!("i{count}"), format!("|I| = {}", grouped(count as u64)), count, uniform);
            lengths.iter().map(of).collect()
        }
        2 => {
            let of = |w: f64| row(format!("w{w}"), format!("w = {w}"), usual, ChainSetup { temperature: w, ..uniform });
            [1.0, 5.0, 10.0, 50.0, 100.0].map(of).into()
        }
        _ => {
            let adaptive = ChainSetup { proposal: "adaptive", kappa: Some(10.0), ..uniform };
            vec![
                row("uniform".into(), "uniform".into(), usual, uniform),
                row("adaptive".into(), "adaptive, κ = 10".into(), usual, adaptive),
            ]
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn study(exhibit: Exhibit, sizes: Sizes) -> Study {
        Study::new(exhibit, &StudyOptions::new(sizes)).unwrap()
    }

    #[test]
    fn rows_are_asked_for_by_name_or_by_size() {
        let asked = |rows: &[&str]| {
            let rows = rows.iter().map(|&name| name.to_owned()).collect();
            let study = Study::new(Exhibit::Table(2), &StudyOptions { rows, ..StudyOptions::new(Sizes::Full) })?;
            let names = study.rows.iter().filter(|row| row.is_asked).map(|row| row.name.clone());
            Ok::<_, ExperimentError>(names.collect::<Vec<_>>())
        };
        assert_eq!(asked(&[]).unwrap().len(), 15);
        assert_eq!(asked(&["n30-i5000", "n3-i1000"]).unwrap(), ["n3-i1000", "n30-i5000"]);
        assert_eq!(asked(&["n3"]).unwrap().len(), 5);
        let refused = asked(&["n3", "n10"]).unwrap_err().to_string();
        assert!(refused.starts_with("\"n10\" is no row; the rows are n3-i1000, n3-i5000"), "{refused}");
    }

    #[test]
    fn cpu_time_is_shown_for_runs_on_one_thread() {
        let effort = Effort { seconds: 3.0, cpu_seconds: Some(2.0), solves: 1 };
        let mut study = study(Exhibit::Table(1), Sizes::Small);
        assert_eq!(study.shown_seconds(effort), 3.0);
        study.threads = Some(1);
        assert_eq!(study.shown_seconds(effort), 2.0);
        assert_eq!(study.shown_seconds(Effort { cpu_seconds: None, ..effort }), 3.0);
    }

    #[test]
    fn the_full_grid_is_the_papers() {
        let rows = [1, 2, 3, 4, 5, 6].map(|number| study(Exhibit::Table(number), Sizes::Full).rows.len());
        assert_eq!(rows, [6, 15, 20, 3, 15, 20]);
        let curves = [1, 2, 3].map(|number| study(Exhibit::Figure(number), Sizes::Full).rows.len());
        assert_eq!(curves, [5, 5, 2]);
        for number in 1..=6 {
            let full = study(Exhibit::Table(number), Sizes::Full);
            assert_eq!((full.replications, full.limit), (5, 1800.0));
            assert!(full.rows.iter().all(|row| row.printed.is_some() && row.mixed_integer == (number > 3)));
        }
    }

    #[test]
    fn small_tables_cannot_take_longer_than_a_quarter_of_an_hour() {
        for number in 1..=6 {
            let small = study(Exhibit::Table(number), Sizes::Small);
            let runs = small.rows.len() * small.setups.len() * small.replications as usize;
            assert!(runs as f64 * small.limit <= 900.0, "table {number}");
            assert!(small.rows.iter().all(|row| row.printed.is_some()), "table {number}: nothing to stand beside");
        }
    }

    #[test]
    fn rows_have_names_of_their_own() {
        let tables = (1..=6).map(Exhibit::Table);
        for exhibit in tables.chain((1..=3).map(Exhibit::Figure)) {
            for sizes in [Sizes::Smallest, Sizes::Small, Sizes::Full] {
                let mut names: Vec<String> = study(exhibit, sizes).rows.into_iter().map(|row| row.name).collect();
                let count = names.len();
                names.sort();
                names.dedup();
                assert_eq!(names.len(), count, "{exhibit:?}");
            }
        }
    }
}
