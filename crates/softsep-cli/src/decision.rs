//! A first-stage decision from a file: a result, or names and values.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use softsep::format::read_decision;
use softsep::{Error, Problem};

use crate::exit::Failure;

/// Reads the decision that a file gives for a problem.
pub(crate) fn read(problem: &Problem, path: &Path) -> Result<Vec<f64>, Failure> {
    let text = read_text(path).map_err(|what| Failure::unusable(format!("{}: {what}", path.display())))?;
    decision(problem, &text).map_err(|error| Failure::of(error, path))
}

fn decision(problem: &Problem, text: &str) -> Result<Vec<f64>, Error> {
    Ok(problem.decision(&read_decision(text)?)?)
}

fn read_text(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => "there is no such file".into(),
        ErrorKind::InvalidData => "is not UTF-8 text".into(),
        _ => format!("cannot be read: {error}"),
    })
}
