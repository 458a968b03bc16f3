//! The output folder. Each finished cell is kept in a small file of its own and is not run again.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::error::ExperimentError;
use super::record::CellRecord;

/// The output folder of an exhibit.
#[derive(Debug)]
pub(super) struct Folder {
    root: PathBuf,
    cells: PathBuf,
}

impl Folder {
    /// Makes the folder if it does not exist.
    pub(super) fn open(root: &Path, exhibit: &str) -> Result<Self, ExperimentError> {
        let cells = root.join("cells").join(exhibit);
        fs::create_dir_all(&cells).map_err(|error| ExperimentError::Folder { path: cells.clone(), error })?;
        Ok(Self { root: root.to_owned(), cells })
    }

    /// The file of a cell.
    fn cell(&self, name: &str) -> PathBuf {
        self.cells.join(format!("{name}.json"))
    }

    /// The record of a cell, if an earlier run kept one under the same key. A file that cannot be parsed counts as
    /// absent.
    pub(super) fn find(&self, name: &str, key: &str) -> Option<CellRecord> {
        let text = fs::read_to_string(self.cell(name)).ok()?;
        serde_json::from_str(&text).ok().filter(|record: &CellRecord| record.key == key)
    }

    /// Keeps the record of a cell.
    pub(super) fn keep(&self, name: &str, record: &CellRecord) -> Result<(), ExperimentError> {
        let path = self.cell(name);
        let text = serde_json::to_string_pretty(record).map_err(|error| ExperimentError::write(&path, error))?;
        replace(&path, &format!("{text}\n"))
    }

    /// Writes a file of results and returns its path.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<PathBuf, ExperimentError> {
        let path = self.root.join(name);
        replace(&path, text)?;
        Ok(path)
    }
}

/// Replaces a file in one step: a reader, or a process that is killed, never sees a part of it. Links stay links.
fn replace(path: &Path, text: &str) -> Result<(), ExperimentError> {
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let unwritable = |error| ExperimentError::Unwritable { path: path.to_owned(), error };
    if real.is_dir() {
        return Err(unwritable(io::ErrorKind::IsADirectory.into()));
    }
    let mut part = real.clone().into_os_string();
    part.push(format!(".{}.part", std::process::id()));
    let part = PathBuf::from(part);
    let mut file = File::create(&part).map_err(unwritable)?;
    let written =
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&part, &real));
    written.map_err(|error| {
        let _ = fs::remove_file(&part);
        ExperimentError::write(path, error)
    })
}
