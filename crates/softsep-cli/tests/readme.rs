//! Every command and snippet of the README does what the README says.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;
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

#[test]
fn the_readme_is_true() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let makefile = fs::read_to_string(root.join("Makefile")).unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_softsep"));
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
                    let command = line.split('#').next().unwrap().trim();
                    if let Some(target) = command.strip_prefix("make ") {
                        // `make test` runs this very test, and CI runs both.
                        assert!(
                            makefile.lines().any(|line| line.starts_with(&format!("{target}:"))),
                            "there is no `make {target}`"
                        );
                        continue;
                    }
                    let arguments =
                        command.strip_prefix("softsep ").unwrap_or_else(|| panic!("the test does not know how to run {command}"));
                    let output =
                        Command::new(binary).args(arguments.split_whitespace()).current_dir(folder.path()).output().unwrap();
                    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
                    printed += &String::from_utf8(output.stdout).unwrap();
                }
            }
            other => panic!("the test does not know what to do with a {other} block"),
        }
    }
    assert!(commands >= 5, "the README's commands were not found");
    for link in readme.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(root.join(link).exists(), "the README links to {link}, which is not there");
    }
}
