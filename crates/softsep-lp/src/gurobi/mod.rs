//! Gurobi for mixed-integer linear programs, through the C library of the user's own installation.
//!
//! Nothing of Gurobi is needed to build: the library is loaded at run time ([`Gurobi::find`], [`Gurobi::open`]), and
//! the few functions in use are declared in `library.rs` with their documented signatures.

mod error;
#[allow(unsafe_code)]
mod library;
mod program;
mod search;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

pub use error::GurobiError;
use library::{Env, Library};
pub(crate) use program::GurobiProgram;

/// A loaded Gurobi library with a licence to run. Clones share both.
#[derive(Clone)]
pub struct Gurobi {
    shared: Arc<Shared>,
}

struct Shared {
    library: Arc<Library>,
    /// Environments that no program uses. An environment may be used by one thread at a time only, and to start one can
    /// take a second where the licence is asked for over the network.
    idle: Mutex<Vec<Env>>,
}

impl fmt::Debug for Gurobi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gurobi({} at {})", self.version(), self.path().display())
    }
}

impl Gurobi {
    /// Finds a library: in the folder of `GUROBI_HOME`, by the usual names where the system looks for libraries, and in
    /// the usual folders of installations.
    pub fn find() -> Result<Self, GurobiError> {
        // A file that was found in a folder is opened, so that its fault is reported.
        let is_file = |path: &PathBuf| path.components().count() > 1;
        let library = search::candidates().into_iter().find(|path| is_file(path) || Library::can_load(path));
        Self::of_library(&library.ok_or_else(|| GurobiError::NotFound { home: search::home() })?)
    }

    /// Opens the library at `path`, a file, or a folder of an installation.
    pub fn open(path: &Path) -> Result<Self, GurobiError> {
        match path.is_dir() {
            true => Self::of_library(
                search::in_folder(path).first().ok_or_else(|| GurobiError::NotInFolder { folder: path.into() })?,
            ),
            false => Self::of_library(path),
        }
    }

    fn of_library(path: &Path) -> Result<Self, GurobiError> {
        let library = Arc::new(Library::load(path)?);
        let env = Env::start(&library)?;
        Ok(Self { shared: Arc::new(Shared { library, idle: Mutex::new(vec![env]) }) })
    }

    /// The version, as 13.0.3.
    pub fn version(&self) -> String {
        self.shared.library.version()
    }

    /// The file of the library. A name without a folder is one that the system's loader found.
    pub fn path(&self) -> PathBuf {
        self.shared.library.path().into()
    }

    /// An environment for one program.
    fn env(&self) -> Result<Env, GurobiError> {
        let idle = self.shared.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| Env::start(&self.shared.library), Ok)
    }

    /// Takes an environment back.
    fn put_back(&self, env: Env) {
        self.shared.idle.lock().unwrap_or_else(PoisonError::into_inner).push(env);
    }
}
