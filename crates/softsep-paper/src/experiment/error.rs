//! Errors of an experiment as a whole. A method that fails in one cell is a result, not an error.

use std::path::{Path, PathBuf};

/// The reason why the results of an experiment could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// No row of the exhibit has this name.
    #[error("\"{name}\" is no row; the rows are {known}")]
    UnknownRow {
        /// The name.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// The output folder does not exist and cannot be made.
    #[error("{}: the folder cannot be made: {error}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
    /// A file of the output folder cannot be opened for writing.
    #[error("{}: cannot be written: {error}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
    /// A file of the output folder was opened, and writing it failed.
    #[error("{}: could not be written: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
}

impl ExperimentError {
    pub(super) fn write(path: &Path, error: impl Into<std::io::Error>) -> Self {
        Self::Write { path: path.to_owned(), error: error.into() }
    }
}
