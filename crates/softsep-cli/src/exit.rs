//! The end of the command: its exit code, and the lines with the reasons why there is no result.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use softsep::Error;
use softsep::internals::definition::one_line;
use softsep::recourse::RecourseError;

/// Exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// A result was produced, whatever its status.
    Done = 0,
    /// The solver failed, or its result could not be written.
    Failed = 1,
    /// The command line or an input cannot be used.
    Unusable = 2,
    /// Ctrl-C.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// The reasons why there is no result, one line each.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    lines: Vec<String>,
}

impl Failure {
    /// A fault of the command line or an input.
    pub(crate) fn unusable(line: impl Into<String>) -> Self {
        Self { exit: Exit::Unusable, lines: vec![line.into()] }
    }

    /// A failure of the run or its output.
    pub(crate) fn failed(line: impl Into<String>) -> Self {
        Self { exit: Exit::Failed, lines: vec![line.into()] }
    }

    /// The run ended before there was a result, on request.
    pub(crate) fn interrupted(line: impl Into<String>) -> Self {
        Self { exit: Exit::Interrupted, lines: vec![line.into()] }
    }

    /// An error of the library, met while working on `file`.
    pub(crate) fn of(error: Error, file: &Path) -> Self {
        let exit = if error.is_refusal() { Exit::Unusable } else { Exit::Failed };
        let file_name = file.display();
        let lines = match &error {
            // It names the file in each of its lines.
            Error::Read(error) => {
                error.complaints.iter().map(|complaint| format!("{}: {complaint}", error.file)).collect()
            }
            Error::Input(complaints) => {
                complaints.iter().map(|complaint| format!("{file_name}: {complaint}")).collect()
            }
            // The error is in the settings, not in a file.
            Error::Settings(what) => vec![what.clone()],
            Error::Recourse(RecourseError::Numerical { x, xi, why }) => {
                let (x, xi) = (shortened(x), shortened(xi));
                vec![format!("{file_name}: the recourse could not be solved at x = {x}, ξ = {xi}: {why}")]
            }
            error => vec![format!("{file_name}: {error}")],
        };
        Self { exit, lines }
    }

    /// Prints the reasons, and returns the exit code.
    pub(crate) fn report(self) -> Exit {
        let mut stderr = io::stderr().lock();
        for line in self.lines {
            // File names and messages of solvers may hold line breaks. A failed write cannot be reported anywhere.
            let _ = writeln!(stderr, "error: {}", one_line(&line));
        }
        self.exit
    }
}

/// The first entries of a vector; the log has all of them.
fn shortened(vector: &[f64]) -> String {
    let shown = 8;
    let mut entries: Vec<String> = vector.iter().take(shown).map(f64::to_string).collect();
    if vector.len() > shown {
        entries.push(format!("… {} more", vector.len() - shown));
    }
    format!("[{}]", entries.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_numerical_failure_is_one_line_that_shows_where() {
        let error = RecourseError::Numerical { x: vec![1.0, 0.5], xi: vec![0.25; 100], why: "no\nbasis".into() };
        let failure = Failure::of(error.into(), Path::new("depot.json"));
        assert_eq!(failure.exit, Exit::Failed);
        assert_eq!(
            failure.lines.iter().map(|line| one_line(line)).collect::<Vec<_>>(),
            ["depot.json: the recourse could not be solved at x = [1, 0.5], ξ = [0.25, 0.25, 0.25, 0.25, 0.25, \
                 0.25, 0.25, 0.25, \
              … 92 more]: no\\nbasis"]
        );
    }
}
