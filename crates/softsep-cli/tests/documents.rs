//! Every command and snippet of the README does what the README says, and every command of the guide runs.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The fenced blocks of a Markdown text: language and content.
fn blocks(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(language), None) => open = Some((language.to_owned(), String::new())),
            (Some(_), Some(_)) => found.extend(open.take()),
            (None, Some((_, content))) => *content += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    found
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs a line of a shell block without its comment, and returns its output.
fn run(line: &str, folder: &Path) -> String {
    let command = line.split(" #").next().unwrap_or_default().trim();
    let arguments =
        command.strip_prefix("softsep ").unwrap_or_else(|| panic!("the test does not know how to run {command}"));
    let binary = Path::new(env!("CARGO_BIN_EXE_softsep"));
    let output = Command::new(binary).args(arguments.split_whitespace()).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The commands of the guide refer to a file `depots.json`, which is a generated instance here.
#[test]
fn the_commands_of_the_guide_run() {
    let guide = fs::read_to_string(root().join("docs/guide.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    run("softsep generate location-transportation --n 6 --uncertainty ellipsoid --out depots.json", folder.path());
    let mut commands = 0;
    for (_, content) in blocks(&guide).iter().filter(|(language, _)| language == "sh") {
        for line in content.lines() {
            run(line, folder.path());
            commands += 1;
        }
    }
    assert!(commands >= 8, "the guide's commands were not found");
}

#[test]
fn the_commands_and_snippets_of_the_readme_run() {
    let root = root();
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let makefile = fs::read_to_string(root.join("Makefile")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (mut commands, mut printed) = (0, String::new());
    for (language, content) in blocks(&readme) {
        match language.as_str() {
            "json" => fs::write(folder.path().join("depot.json"), content).unwrap(),
            "text" => {
                for line in content.lines() {
                    assert!(
                        printed.lines().any(|printed| printed == line),
                        "the README shows a line that is not printed: {line}\n{printed}"
                    );
                }
            }
            "sh" => {
                for line in content.lines() {
                    commands += 1;
                    if let Some(target) = line.strip_prefix("make ").and_then(|rest| rest.split_whitespace().next()) {
                        // `make test` runs this very test, and CI runs both.
                        assert!(
                            makefile.lines().any(|line| line.starts_with(&format!("{target}:"))),
                            "there is no `make {target}`"
                        );
                        continue;
                    }
                    printed += &run(line, folder.path());
                }
            }
            "txt" => {}
            // The doc-tests of the library run it.
            "rust" => assert!(content.lines().count() <= 15, "a first model has at most 15 lines:\n{content}"),
            other => panic!("the test does not know what to do with a {other} block"),
        }
    }
    assert!(commands >= 5, "the README's commands were not found");
    for link in readme.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(root.join(link).exists(), "the README links to {link}, which is not there");
    }
}
