//! Output of results: the standard output, and files that are written whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::exit::Failure;

/// Prints a result. A pipe closed by its reader, such as `head`, is no failure.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::failed(format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints a result for programs.
pub(crate) fn print_json(value: &Value) -> Result<(), Failure> {
    print(&format!("{value:#}\n"))
}

/// Prints a message on the standard error.
pub(crate) fn say(text: &str) {
    // A failure to write to the standard error cannot be reported anywhere.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// A file to be written, checked before the work that fills it.
#[derive(Debug)]
pub(crate) struct OutputFile {
    path: PathBuf,
    /// The file that a link leads to, so that the link stays one.
    real: PathBuf,
    /// A device or a pipe: nothing to replace, and nothing to be left half done.
    special: bool,
}

impl OutputFile {
    /// Checks that the file can be written, and is none of the files in use.
    pub(crate) fn new(path: &Path, in_use: &[&Path]) -> Result<Self, Failure> {
        let refuse = |what: &str| Failure::unusable(format!("{}: {what}", path.display()));
        if path.file_name().is_none() {
            return Err(refuse("this is not the name of a file"));
        }
        let real = resolved(path);
        if in_use.iter().any(|used| resolved(used) == real) {
            return Err(refuse("this file is used for something else by the same command; name another one"));
        }
        let special = match fs::metadata(&real) {
            Ok(found) if found.is_dir() => return Err(refuse("this is a directory; name a file in it")),
            // `/dev/stdout` leads to the file that the shell has opened, which must not be replaced.
            Ok(found) => !found.is_file() || path.starts_with("/dev") || path.starts_with("/proc"),
            Err(_) => false,
        };
        let target = Self { path: path.to_owned(), real, special };
        if !special {
            // An unwritable file is refused now, not after an hour of solving.
            let (name, file) = target.beside().map_err(|error| target.unwritable(&error))?;
            drop(file);
            let _ = fs::remove_file(name);
        }
        Ok(target)
    }

    /// The path as the user gave it.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether this is a device or a pipe.
    pub(crate) fn is_special(&self) -> bool {
        self.special
    }

    /// Opens the file to be written bit by bit, as a log is.
    pub(crate) fn stream(&self) -> Result<File, Failure> {
        let opened = if self.special { self.append() } else { File::create(&self.real) };
        opened.map_err(|error| self.unwritable(&error))
    }

    /// Writes the whole file, or leaves the earlier one: a reader never sees a part, even if the process is killed.
    pub(crate) fn write(&self, fill: impl FnOnce(&mut File) -> io::Result<()>) -> Result<(), Failure> {
        let written = if self.special {
            self.append().and_then(|mut file| fill(&mut file))
        } else {
            self.beside().and_then(|(name, mut file)| {
                let done = fill(&mut file).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&name, &self.real));
                if done.is_err() {
                    let _ = fs::remove_file(&name);
                }
                done
            })
        };
        self.settle(written)
    }

    /// Converts the error of a write to a failure. A pipe closed by its reader is no failure.
    pub(crate) fn settle(&self, written: io::Result<()>) -> Result<(), Failure> {
        match written {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(Failure::failed(format!("{}: could not be written: {error}", self.path.display())))
            }
            _ => Ok(()),
        }
    }

    /// A new file in the same directory, from where it can be renamed in one step.
    fn beside(&self) -> io::Result<(PathBuf, File)> {
        let mut name = self.real.clone().into_os_string();
        name.push(format!(".{}.part", std::process::id()));
        let name = PathBuf::from(name);
        File::create(&name).map(|file| (name, file))
    }

    fn append(&self) -> io::Result<File> {
        OpenOptions::new().append(true).open(&self.path)
    }

    fn unwritable(&self, error: &io::Error) -> Failure {
        Failure::unusable(format!("{}: cannot be written: {error}", self.path.display()))
    }
}

/// The path without links and dots, also of a file that is not there yet.
fn resolved(path: &Path) -> PathBuf {
    let in_folder = || {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::canonicalize(folder).ok().zip(path.file_name()).map(|(folder, name)| folder.join(name))
    };
    fs::canonicalize(path).ok().or_else(in_folder).unwrap_or_else(|| path.to_owned())
}
