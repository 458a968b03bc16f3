//! `softsep paper`: the command line of [`softsep_paper::experiment`].

mod progress;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use softsep_paper::experiment::{self, Exhibit, ExperimentError, RunOptions, Study, StudyOptions, Summary};

use crate::exit::{Exit, Failure};
use crate::output::{print, say};
use crate::{interrupt, numbers};
use progress::ProgressLine;

const EXAMPLES: &str = "\
Examples:
  softsep paper table 1
  softsep paper table 3 --sizes full --out full
  softsep paper table 5 --sizes full --rows n3,n30-i1000 --replications 3 --replicate-below 60
  softsep paper figure 2 --replications 20

A run that was stopped goes on where it was when the same command is given again: finished cells are
kept in DIR/cells, also those of another machine. Times depend on the machine; all other numbers are
the same in every run that no time limit has cut short. Tables may run at the same time in one DIR.";

/// Reproduce a table or a figure of the soft-separation paper
///
/// Draws the instances of its Section 5, solves them by the paper's methods and by ours, and writes a CSV, a table in
/// Markdown, an SVG figure and an HTML page that shows them beside the printed numbers.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Paper {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Tables 1 to 3 (continuous decisions) and 4 to 6 (mixed-integer ones): runtimes over ellipsoids, lists of
    /// scenarios, budget sets
    #[command(after_help = EXAMPLES)]
    Table {
        /// Which: 1 to 6
        #[arg(value_name = "N", value_parser = table_number, allow_negative_numbers = true)]
        number: u8,
        #[command(flatten)]
        how: How,
    },
    /// Figures 1 to 3: convergence of Algorithm 1 by the length of the list, by temperature, by proposal
    #[command(after_help = EXAMPLES)]
    Figure {
        /// Which: 1 to 3
        #[arg(value_name = "N", value_parser = figure_number, allow_negative_numbers = true)]
        number: u8,
        #[command(flatten)]
        how: How,
    },
}

/// The options of both subcommands.
#[derive(Debug, Args)]
struct How {
    /// The folder for the results; it is made if it is not there
    #[arg(long, value_name = "DIR", default_value = "paper")]
    out: PathBuf,

    /// The sizes of the instances
    #[arg(long, default_value = "small")]
    sizes: Sizes,

    /// The number of instances of each kind [default: by --sizes]
    #[arg(long, value_name = "N", value_parser = numbers::replications, allow_negative_numbers = true)]
    replications: Option<u32>,

    /// Repeat only cells whose first replication took fewer seconds [default: all]
    #[arg(long, value_name = "SECONDS", value_parser = numbers::seconds, allow_negative_numbers = true)]
    replicate_below: Option<f64>,

    /// Rows to run, by name (n30-i1000, n30-g0.5) or size (n30); rows finished before are shown, too [default: all]
    #[arg(long, value_name = "ROW,…", value_delimiter = ',')]
    rows: Vec<String>,

    /// Seconds for each run of a method [default: by --sizes]
    #[arg(long, value_name = "SECONDS", value_parser = numbers::time_limit, allow_negative_numbers = true)]
    time_limit: Option<Duration>,

    /// The seed of the first replication; the next ones count on from it
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = numbers::seed, allow_negative_numbers = true)]
    seed: u64,

    /// Threads of each run; runs follow one another. With 1, tables show CPU time in place of wall-clock time
    /// [default: all]
    #[arg(long, value_name = "N", value_parser = numbers::threads, allow_negative_numbers = true)]
    threads: Option<usize>,

    /// Show no progress
    #[arg(long)]
    quiet: bool,
}

/// Words of `--sizes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sizes {
    /// Seconds: tiny instances, to see the output
    Smallest,
    /// Minutes: the rows of the paper that fit
    Small,
    /// The paper's grid, limits and replications; hours
    Full,
}

impl From<Sizes> for experiment::Sizes {
    fn from(sizes: Sizes) -> Self {
        match sizes {
            Sizes::Smallest => Self::Smallest,
            Sizes::Small => Self::Small,
            Sizes::Full => Self::Full,
        }
    }
}

fn table_number(text: &str) -> Result<u8, String> {
    text.parse().ok().filter(|number| (1..=6).contains(number)).ok_or_else(|| "the paper's tables are 1 to 6".into())
}

fn figure_number(text: &str) -> Result<u8, String> {
    text.parse().ok().filter(|number| (1..=3).contains(number)).ok_or_else(|| "the paper's figures are 1 to 3".into())
}

impl Paper {
    /// Runs the cells that are missing, and writes the results up.
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let (exhibit, how) = match &self.what {
            What::Table { number, how } => (Exhibit::Table(*number), how),
            What::Figure { number, how } => (Exhibit::Figure(*number), how),
        };
        let study = Study::new(exhibit, &how.study()).map_err(failure)?;
        let options = RunOptions { out: how.out.clone(), command: how.command(exhibit) };
        let quiet = how.quiet;
        let interrupt = interrupt::flag(move || {
            if !quiet {
                say("interrupted: what is finished is kept; Ctrl-C again to leave at once");
            }
        })?;
        let mut progress = ProgressLine::new(study.cell_kinds(), quiet);
        let summary = experiment::run(&study, &options, &mut progress, &interrupt);
        drop(progress);
        report(&summary.map_err(failure)?, &options.command)
    }
}

fn report(summary: &Summary, command: &str) -> Result<Exit, Failure> {
    print(&summary.files.iter().map(|file| format!("{}\n", file.display())).collect::<String>())?;
    if summary.interrupted {
        let Summary { done, cells, .. } = summary;
        say(&format!("stopped: {done} of {cells} cells are done and kept. To go on:\n  {command}"));
        return Ok(Exit::Interrupted);
    }
    match summary.failures.as_slice() {
        [] => Ok(Exit::Done),
        [first, ..] => {
            let count = summary.failures.len();
            Err(Failure::failed(format!("{count} cells failed, the first of them {first}")))
        }
    }
}

fn failure(error: ExperimentError) -> Failure {
    match error {
        ExperimentError::UnknownRow { .. } => Failure::unusable(format!("--rows: {error}")),
        ExperimentError::Folder { .. } => Failure::unusable(format!("--out: {error}")),
        ExperimentError::Unwritable { .. } => Failure::unusable(error.to_string()),
        ExperimentError::Write { .. } => Failure::failed(error.to_string()),
    }
}

impl How {
    fn study(&self) -> StudyOptions {
        StudyOptions {
            sizes: self.sizes.into(),
            replications: self.replications,
            replicate_below: self.replicate_below,
            rows: self.rows.clone(),
            limit: self.time_limit.map(|limit| limit.as_secs_f64()),
            seed: self.seed,
            threads: self.threads,
        }
    }

    /// The command line of the same experiment.
    fn command(&self, exhibit: Exhibit) -> String {
        let (kind, number) = match exhibit {
            Exhibit::Table(number) => ("table", number),
            Exhibit::Figure(number) => ("figure", number),
        };
        let mut line = format!("softsep paper {kind} {number}");
        line += match self.sizes {
            Sizes::Smallest => " --sizes smallest",
            Sizes::Small => " --sizes small",
            Sizes::Full => " --sizes full",
        };
        if let Some(replications) = self.replications {
            line += &format!(" --replications {replications}");
        }
        if let Some(seconds) = self.replicate_below {
            line += &format!(" --replicate-below {seconds}");
        }
        if !self.rows.is_empty() {
            line += &format!(" --rows {}", self.rows.join(","));
        }
        if let Some(limit) = self.time_limit {
            line += &format!(" --time-limit {}", limit.as_secs_f64());
        }
        if self.seed != 1 {
            line += &format!(" --seed {}", self.seed);
        }
        if let Some(threads) = self.threads {
            line += &format!(" --threads {threads}");
        }
        line + &format!(" --out {}", self.out.display())
    }
}
