//! The solver of mixed-integer masters and separations, as users choose it.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use softsep_lp::{Gurobi, MipSolver};

use crate::error::Error;

/// The solver of mixed-integer programs: of the masters of `ccg`, `benders`, `extensive` and `branch-and-cut --tree
/// multi`, and of the separations `bilinear` and `kkt`. All linear programs, the recourse and the nodes of our own tree
/// are solved by HiGHS whatever the choice: they need its bases.
///
/// ```
/// use softsep::Solver;
///
/// assert_eq!("gurobi".parse(), Ok(Solver::Gurobi { library: None }));
/// let named: Solver = "gurobi:/opt/gurobi1300/linux64/lib/libgurobi130.so".parse()?;
/// assert_eq!(named.to_string(), "gurobi:/opt/gurobi1300/linux64/lib/libgurobi130.so");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum Solver {
    /// HiGHS, which is built in.
    #[default]
    Highs,
    /// Gurobi, version 10 or later, as installed by the user and with the user's licence; loaded at run time.
    Gurobi {
        /// The file of its C library, or the folder of the installation. `None` to look for it: in the folder of the
        /// environment variable `GUROBI_HOME`, where the system looks for libraries, in the usual folders.
        library: Option<PathBuf>,
    },
}

impl Solver {
    /// Loads the solver. Errs with one line where it is not found, too old or without a licence.
    pub(crate) fn open(&self) -> Result<MipSolver, Error> {
        let found = match self {
            Solver::Highs => return Ok(MipSolver::Highs),
            Solver::Gurobi { library: None } => Gurobi::find(),
            Solver::Gurobi { library: Some(library) } => Gurobi::open(library),
        };
        found.map(MipSolver::Gurobi).map_err(|error| Error::Settings(format!("--solver {self}: {error}")))
    }
}

impl fmt::Display for Solver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Solver::Highs => f.write_str("highs"),
            Solver::Gurobi { library: None } => f.write_str("gurobi"),
            Solver::Gurobi { library: Some(library) } => write!(f, "gurobi:{}", library.display()),
        }
    }
}

impl FromStr for Solver {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "highs" => Ok(Solver::Highs),
            None if text == "gurobi" => Ok(Solver::Gurobi { library: None }),
            Some(("gurobi", file)) if !file.is_empty() => Ok(Solver::Gurobi { library: Some(file.into()) }),
            _ => Err(format!("\"{text}\" is no solver; highs, gurobi and gurobi:FILE are")),
        }
    }
}

impl TryFrom<String> for Solver {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Solver> for String {
    fn from(solver: Solver) -> Self {
        solver.to_string()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn words_and_solvers_are_the_same_thing() {
        for text in ["highs", "gurobi", "gurobi:lib/libgurobi130.so", "gurobi:C:\\gurobi"] {
            let solver: Solver = text.parse().unwrap();
            assert_eq!(solver.to_string(), text);
            let json = serde_json::to_string(&solver).unwrap();
            assert_eq!(serde_json::from_str::<Solver>(&json).unwrap(), solver);
        }
        for text in ["", "cplex", "gurobi:", "highs:file", "Gurobi"] {
            assert!(text.parse::<Solver>().is_err(), "{text}");
        }
        assert!(serde_json::from_str::<Solver>("\"scip\"").unwrap_err().to_string().contains("no solver"));
    }

    #[test]
    fn a_library_that_is_not_there_is_refused_in_one_line() {
        let error = Solver::Gurobi { library: Some("nowhere/libgurobi130.so".into()) }.open().unwrap_err();
        assert!(error.is_refusal());
        let line = error.to_string();
        assert!(line.starts_with("--solver gurobi:nowhere/libgurobi130.so: nowhere/libgurobi130.so cannot be loaded"));
        assert!(!line.contains('\n'));
    }
}
