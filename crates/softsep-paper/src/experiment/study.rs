//! The cells of each table and figure: which instances, which methods, how often.

use crate::instances::{LocationTransportation, Uncertain};

use super::printed::{self, PrintedTime};
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

/// The paper's temperature.
const COLD: f64 = 0.001;

/// Sites of the instances of figures. The paper does not say how many; gaps on three sites are of the size that it
/// shows.
const SITES: usize = 3;

impl Study {
    /// The study of an exhibit at these sizes. `replications` and `limit` (in seconds) replace the defaults of the
    /// sizes.
    pub fn new(exhibit: Exhibit, sizes: Sizes, replications: Option<u32>, limit: Option<f64>, seed: u64) -> Self {
        let (rows, setups, usual, iterations) = match exhibit {
            Exhibit::Table(number) => {
                let setups = if number <= 3 {
                    vec![MethodSetup::Algorithm1, MethodSetup::Ccg, MethodSetup::Adr, MethodSetup::Bundle]
                } else {
                    vec![MethodSetup::Algorithm3, MethodSetup::Ccg, MethodSetup::Adr, MethodSetup::BranchAndCut]
                };
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
        Self {
            exhibit,
            rows,
            setups,
            replications: replications.unwrap_or(usual),
            limit: limit.unwrap_or(usual_limit),
            iterations,
            seed,
        }
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
    StudyRow { name, title, n, uncertainty, mixed_integer: number > 3, chain, printed }
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
mod tests {
    use super::*;

    fn study(exhibit: Exhibit, sizes: Sizes) -> Study {
        Study::new(exhibit, sizes, None, None, 1)
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
