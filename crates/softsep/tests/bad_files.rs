//! Every rule of the format, broken: each file in `bad/` leads to exactly the lines in its `.errors` file.
//!
//! After a wanted change of words, run with `BLESS=1` to write the `.errors` files anew, and read the difference.
#![allow(clippy::expect_used)]

use std::fs;
use std::path::{Path, PathBuf};

fn corpus() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the corpus is there")
        .map(|entry| entry.expect("its files can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    files
}

/// The complaints about the file, without the path of its folder.
fn errors(path: &Path) -> String {
    let folder = path.parent().expect("it is in a folder").display().to_string() + "/";
    let error = softsep::read(path).expect_err("the file is bad");
    assert!(!error.complaints.is_empty(), "{}: refused without a reason", path.display());
    error.to_string().replace(&folder, "") + "\n"
}

#[test]
fn each_bad_file_is_refused_in_the_expected_words() {
    let mut wrong = Vec::new();
    for path in corpus() {
        let found = errors(&path);
        let sidecar = path.with_extension("errors");
        if std::env::var_os("BLESS").is_some() {
            fs::write(&sidecar, &found).expect("the expectation can be written");
        }
        let expected = fs::read_to_string(&sidecar).unwrap_or_default();
        if found != expected {
            wrong.push(format!("{}\n expected: {expected} found:    {found}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_corpus_has_at_least_ninety_files() {
    assert!(corpus().len() >= 90, "only {} files", corpus().len());
}

#[test]
fn five_faults_give_five_lines() {
    let five = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad/five_mistakes.json");
    assert_eq!(errors(&five).lines().count(), 5);
}

#[test]
fn a_missing_file_is_named() {
    let error = softsep::read("no/such/depot.json").expect_err("there is none");
    assert_eq!(error.to_string(), "no/such/depot.json: there is no such file");
}
