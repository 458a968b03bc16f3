//! The error of the library, one variant per layer, and the faults of files.

use std::fmt;

use softsep_lp::LpError;

use crate::definition::Complaints;
use crate::recourse::RecourseError;
use crate::run::{Interrupt, Unfinished};
use crate::uncertainty::SetError;

/// The reason why a call has no result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be used.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A decision or a problem built by a program has faults.
    #[error(transparent)]
    Input(#[from] Complaints),
    /// A setting is invalid.
    #[error("{0}")]
    Settings(String),
    /// The method does not accept this problem.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// A recourse problem could not be solved.
    #[error(transparent)]
    Recourse(RecourseError),
    /// A computation on the uncertainty set failed.
    #[error(transparent)]
    Set(#[from] SetError),
    /// HiGHS or Gurobi refused a call.
    #[error(transparent)]
    Lp(#[from] LpError),
    /// A master problem could not be solved.
    #[error("{0}")]
    Master(String),
    /// The time limit or the interrupt flag has stopped a computation. The ledger of the run keeps its result.
    #[error(transparent)]
    Interrupted(#[from] Interrupt),
}

impl Error {
    /// Whether the time limit or the interrupt flag has stopped a computation.
    pub fn is_interrupt(&self) -> bool {
        matches!(self, Error::Interrupted(_))
    }

    /// Whether the input or the settings are at fault. Any other error, interrupts aside, is the failure of a
    /// computation.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Error::Read(_)
                | Error::Input(_)
                | Error::Settings(_)
                | Error::Unsupported(_)
                | Error::Recourse(RecourseError::Unsupported(_))
        )
    }
}

impl From<RecourseError> for Error {
    fn from(error: RecourseError) -> Self {
        match error {
            RecourseError::Interrupted(interrupt) => Error::Interrupted(interrupt),
            RecourseError::Lp(error) => Error::Lp(error),
            error => Error::Recourse(error),
        }
    }
}

impl From<Unfinished> for Error {
    fn from(error: Unfinished) -> Self {
        match error {
            Unfinished::Lp(error) => Error::Lp(error),
            unfinished => Error::Master(unfinished.to_string()),
        }
    }
}

/// A method's refusal: the feature that it cannot take, and the alternative.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("method \"{method}\" cannot solve this problem: {feature}; {instead}")]
#[non_exhaustive]
pub struct Unsupported {
    /// The method.
    pub method: &'static str,
    /// The feature of the problem that it cannot take.
    pub feature: String,
    /// A method or setting that would work.
    pub instead: String,
}

/// The faults of a file that could not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadError {
    /// The file as the caller named it.
    pub file: String,
    /// Its faults.
    pub complaints: Complaints,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, complaint) in self.complaints.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{}: {complaint}", self.file)?;
        }
        Ok(())
    }
}

impl std::error::Error for ReadError {}
