//! A first-stage decision from a file: a result, or names and values.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use softsep::Problem;
use softsep::internals::format::read_decision;

use crate::exit::Failure;

/// Reads the decision that a file gives for a problem.
pub(crate) fn read(problem: &Problem, path: &Path) -> Result<Vec<f64>, Failure> {
    problem.decision(&read_named(path)?).map_err(|complaints| Failure::of(complaints.into(), path))
}

/// The names and numbers of a decision in a file, whatever problem they are for.
pub(crate) fn read_named(path: &Path) -> Result<Vec<(String, f64)>, Failure> {
    let text = read_text(path).map_err(|what| Failure::unusable(format!("{}: {what}", path.display())))?;
    read_decision(&text).map_err(|complaints| Failure::of(complaints.into(), path))
}

fn read_text(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => "there is no such file".into(),
        ErrorKind::InvalidData => "is not UTF-8 text".into(),
        _ => format!("cannot be read: {error}"),
    })
}
