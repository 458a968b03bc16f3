//! The reasons why Gurobi cannot be used, or has failed.

use std::path::PathBuf;

/// Why Gurobi cannot be used, or has failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GurobiError {
    /// No library was found.
    #[error(
        "no Gurobi library was found: {}, and there is none where the system looks for libraries or in the usual \
         folders; set GUROBI_HOME to the folder of the installation, or name the library's file",
        home.as_ref().map_or_else(
            || "GUROBI_HOME is not set".to_owned(),
            |home| format!("GUROBI_HOME, {}, has none", home.display()),
        )
    )]
    NotFound {
        /// The value of `GUROBI_HOME`.
        home: Option<PathBuf>,
    },
    /// A folder has no library.
    #[error("there is no Gurobi library in {}, its lib or its bin", folder.display())]
    NotInFolder {
        /// The folder.
        folder: PathBuf,
    },
    /// The system could not load the library, or a function is missing.
    #[error("{} cannot be loaded as the Gurobi library: {why}", library.display())]
    NotLoaded {
        /// The library.
        library: PathBuf,
        /// The reason that the system gave.
        why: String,
    },
    /// The library is of a version that is not supported.
    #[error("{} is Gurobi {version}, which is too old: {least} and later are supported", library.display())]
    TooOld {
        /// The library.
        library: PathBuf,
        /// Its version.
        version: String,
        /// The least version.
        least: &'static str,
    },
    /// There is no licence.
    #[error("Gurobi {version} ({}) has no licence: {message}", library.display())]
    NoLicence {
        /// The library.
        library: PathBuf,
        /// Its version.
        version: String,
        /// The message of Gurobi.
        message: String,
    },
    /// The licence is for small programs only.
    #[error(
        "the licence of Gurobi is limited in size, and does not take a program of {cols} variables and {rows} rows"
    )]
    TooLarge {
        /// Columns of the program.
        cols: usize,
        /// Rows of the program.
        rows: usize,
    },
    /// The program has a quadratic cost, which is not passed to Gurobi.
    #[error("Gurobi is used for linear costs only")]
    Quadratic,
    /// A point was asked for where the last solve has none.
    #[error("the last solve by Gurobi has no point")]
    NoPoint,
    /// A call failed.
    #[error("Gurobi answered {call} with error {code}: {message}")]
    CallFailed {
        /// The function.
        call: &'static str,
        /// The code.
        code: i32,
        /// The message of Gurobi.
        message: String,
    },
    /// Gurobi returned a status that this crate does not know.
    #[error("Gurobi ended with the unknown status {0}")]
    UnknownStatus(i32),
}
