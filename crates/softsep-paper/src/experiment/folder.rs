//! The output folder: finished cells are kept in it, one small file each, and are not run again.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::finding::Finding;
use crate::exit::Failure;
use crate::output::Target;

/// The output folder of an exhibit.
#[derive(Debug)]
pub(super) struct Folder {
    root: PathBuf,
    cells: PathBuf,
}

impl Folder {
    /// Makes the folder, if it is not there.
    pub(super) fn open(root: &Path, exhibit: &str) -> Result<Self, Failure> {
        let cells = root.join("cells").join(exhibit);
        fs::create_dir_all(&cells).map_err(|error| {
            Failure::unusable(format!("--out: {}: the folder cannot be made: {error}", cells.display()))
        })?;
        Ok(Self { root: root.to_owned(), cells })
    }

    /// The file of a cell.
    fn cell(&self, name: &str) -> PathBuf {
        self.cells.join(format!("{name}.json"))
    }

    /// The finding of a cell, if it was run before with the same question. A file that cannot be read as one is none.
    pub(super) fn find(&self, name: &str, asked: &str) -> Option<Finding> {
        let text = fs::read_to_string(self.cell(name)).ok()?;
        serde_json::from_str(&text).ok().filter(|finding: &Finding| finding.asked == asked)
    }

    /// Keeps the finding of a cell.
    pub(super) fn keep(&self, name: &str, finding: &Finding) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(finding).map_err(|error| Failure::failed(error.to_string()))?;
        Target::new(&self.cell(name), &[])?.write(|file| writeln!(file, "{text}"))
    }

    /// Writes a file of the results; its path.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<PathBuf, Failure> {
        let path = self.root.join(name);
        Target::new(&path, &[])?.write(|file| file.write_all(text.as_bytes()))?;
        Ok(path)
    }
}
