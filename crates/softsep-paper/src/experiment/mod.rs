//! The experiments of the paper's Section 5: the cells of each table and figure, run one after another, kept in a
//! folder, and written up beside the printed numbers as CSV, Markdown, SVG and HTML.
//!
//! [`Study::new`] says which cells a table or figure has, [`run`] runs those that the folder does not hold yet.

mod cell;
mod chart;
mod clock;
mod csv;
mod error;
mod folder;
mod line;
mod machine;
mod markdown;
mod page;
mod plot;
mod printed;
mod prose;
mod record;
mod results;
mod run;
mod setup;
mod study;
mod words;

pub use error::ExperimentError;
pub use run::{Progress, RunOptions, Summary, run};
pub use study::{CellKind, Exhibit, Sizes, Study, StudyOptions};
