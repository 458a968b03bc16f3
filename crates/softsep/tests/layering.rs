//! The layers of ARCHITECTURE.md hold: a module imports only from its left, files stay small, `unsafe` stays in one
//! crate.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

/// From left to right. The library's own root (`lib.rs`) stands outside.
const LAYERS: [&str; 29] = [
    "numeric",
    "run",
    "definition",
    "uncertainty",
    "model",
    "recourse",
    "cuts",
    "proposal",
    "chain",
    "theory",
    "policy",
    "error",
    "certify",
    "separation",
    "master",
    "certification",
    "tree",
    "methods",
    "settings",
    "outcome",
    "solve",
    "modelling",
    "evaluate",
    "explicit",
    "diagnose",
    "format",
    "report",
    "internals",
    "testing",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The layers that a source names, comments aside.
fn imports(text: &str) -> Vec<String> {
    text.lines()
        .map(str::trim_start)
        .filter(|line| !line.starts_with("//"))
        .flat_map(|line| line.split("crate::").skip(1))
        .map(|rest| rest.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect::<String>())
        .filter(|name| !name.is_empty())
        .collect()
}

fn misplaced(layer: &str, text: &str) -> Vec<String> {
    let place = |name: &str| LAYERS.iter().position(|layer| *layer == name);
    let own = place(layer);
    imports(text).into_iter().filter(|name| place(name) > own || place(name).is_none()).collect()
}

#[test]
fn a_layer_imports_only_from_its_left() {
    let root = crates().join("softsep/src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 30, "the sources were not found");
    for file in files {
        let inside = file.strip_prefix(&root).unwrap();
        let layer =
            inside.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned();
        if layer == "lib" {
            continue;
        }
        assert!(LAYERS.contains(&layer.as_str()), "{layer} has no place in the order of layers");
        let text = fs::read_to_string(&file).unwrap();
        // Random problems are for the tests of every layer.
        let (code, tests) = match text.split_once("#[cfg(test)]") {
            _ if inside.iter().any(|part| part == "tests.rs" || part == "tests") => ("", text.as_str()),
            Some(parts) => parts,
            None => (text.as_str(), ""),
        };
        let mut wrong = misplaced(&layer, tests);
        wrong.retain(|name| name != "testing");
        wrong.extend(misplaced(&layer, code));
        assert!(wrong.is_empty(), "{} imports {wrong:?}, which stands to its right", inside.display());
    }
}

#[test]
fn an_import_turned_round_is_caught() {
    assert_eq!(misplaced("model", "use crate::format::write;\n// use crate::methods;\n"), ["format"]);
    assert!(misplaced("model", "use crate::definition::ScenarioList;").is_empty());
}

#[test]
fn files_stay_small_and_unsafe_stays_in_one_file() {
    let mut files = Vec::new();
    sources(&crates(), &mut files);
    for name in ["softsep-lp", "softsep", "softsep-paper", "softsep-cli"] {
        let root = crates().join(name).join("src");
        assert!(files.iter().any(|file| file.starts_with(&root)), "the sources of {name} were not found");
    }
    for file in files.iter().filter(|file| !file.components().any(|part| part.as_os_str() == "target")) {
        let text = fs::read_to_string(file).unwrap();
        assert!(text.lines().count() <= 600, "{} has more than 600 lines", file.display());
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let is_unsafe = code
            .clone()
            .any(|line| line.contains("unsafe {") || line.contains("unsafe impl") || line.contains("unsafe extern"));
        assert!(
            !is_unsafe
                || file.ends_with("softsep-lp/src/ffi.rs")
                || file.ends_with("tests/layering.rs")
                || is_test_allocator(file),
            "{} has unsafe code",
            file.display()
        );
    }
}

/// Tests that count allocations have to implement the allocator trait, which is unsafe.
fn is_test_allocator(file: &Path) -> bool {
    file.parent().is_some_and(|folder| folder.ends_with("softsep/tests"))
        && (file.ends_with("allocations.rs") || file.ends_with("csv.rs"))
}
