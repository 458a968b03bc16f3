//! Runs the built command in a directory of its own.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// One depot, one customer. Buying for the largest demand, 246, is cheapest: 400 + 18·246 + 22·246 = 10240.
pub const DEPOT: &str = r#"{
  "format": "aro/1",
  "name": "one depot, one customer",
  "first_stage": {
    "variables":   [ {"name": "open", "cost": 400, "type": "binary"},
                     {"name": "capacity", "cost": 18, "lower": 0, "upper": 800} ],
    "constraints": [ {"name": "link", "x": {"capacity": 1, "open": -800}, "upper": 0} ]
  },
  "uncertainty": { "parameters": ["g"], "set": {"kind": "box", "lower": [0], "upper": [1]} },
  "recourse": {
    "variables":   [ {"name": "ship", "cost": 22}, {"name": "emergency", "cost": 150} ],
    "constraints": [ {"name": "supply", "y": {"ship": -1}, "x": {"capacity": 1}, "lower": 0},
                     {"name": "demand", "y": {"ship": 1, "emergency": 1}, "xi": {"g": -40}, "lower": 206} ]
  }
}"#;

/// The exit code and the output of a command.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// The standard output as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// Checks for a clean success, and returns the standard output.
    #[track_caller]
    pub fn done(&self) -> &str {
        assert_eq!(self.code, Some(0), "{self:?}");
        &self.stdout
    }

    /// Checks for exit code 2, nothing on the standard output, and one line that begins `error: ` and holds all of
    /// `parts`.
    #[track_caller]
    pub fn refused(&self, parts: &[&str]) {
        assert_eq!((self.code, self.stdout.as_str()), (Some(2), ""), "{self:?}");
        assert_eq!(self.stderr.lines().count(), 1, "{self:?}");
        assert!(self.stderr.starts_with("error: "), "{self:?}");
        for part in parts {
            assert!(self.stderr.contains(part), "no {part:?} in {self:?}");
        }
    }
}

/// A directory with a few files, to run commands in.
pub struct TestFolder {
    directory: TempDir,
}

impl TestFolder {
    /// An empty one.
    pub fn empty() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    /// One with `depot.json`.
    pub fn with_depot() -> Self {
        let folder = Self::empty();
        folder.put("depot.json", DEPOT);
        folder
    }

    /// One with `long.json`, which takes far longer than any test waits.
    pub fn with_long() -> Self {
        let folder = Self::empty();
        folder
            .run("generate location-transportation --n 10 --uncertainty scenarios --scenarios 6000 --out long.json")
            .done();
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn put(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.text(name)).unwrap()
    }

    /// The names of all files, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.directory.path()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The command, its arguments parted by blanks.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_softsep"));
        command.args(arguments.split_whitespace()).current_dir(self.directory.path()).stdin(Stdio::null());
        command
    }

    /// Runs the command to its end.
    pub fn run(&self, arguments: &str) -> Ended {
        self.run_with(arguments, &[])
    }

    /// Runs the command to its end, with variables of the environment.
    pub fn run_with(&self, arguments: &str, environment: &[(&str, &str)]) -> Ended {
        let output = self.command(arguments).envs(environment.iter().copied()).output().unwrap();
        Ended {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// The keys of an object, in order.
pub fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}
