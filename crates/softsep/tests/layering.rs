//! The layers of ARCHITECTURE.md hold: a module imports only from its left, no method imports parts of another, files
//! stay small, lines stay short, `unsafe` stays in one crate.
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

/// The methods: one file or folder each in `methods/`. Its other files are shared, and name no method.
const METHODS: [&str; 8] = ["adr", "auto", "benders", "branch_and_cut", "bundle", "ccg", "extensive", "sgd"];
const SHARED: [&str; 6] = ["generation", "options", "relaxation", "scope", "soft_options", "unbounded"];
/// The registry, which alone names all methods.
const REGISTRY: [&str; 2] = ["method_settings", "mod"];

/// The layers that read and write files of the format.
const FORMAT_READERS: [&str; 3] = ["report", "internals", "testing"];

/// The largest width of a line, in characters: that of rustfmt, which leaves comments and long strings as they are.
const WIDTH: usize = 120;

/// Files with wider lines; none may be added.
const WIDE_FILES: [&str; 1] = ["softsep/src/tree/tests/figures.rs"];

/// The files with `unsafe` code: the interfaces to HiGHS and Gurobi, and the stand-in for the latter.
const UNSAFE_FILES: [&str; 3] =
    ["softsep-lp/src/ffi.rs", "softsep-lp/src/gurobi/library.rs", "softsep-lp/examples/gurobi_stand_in.rs"];

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

/// The lines of a source that are no comments.
fn code_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim_start().starts_with("//"))
}

/// The names that directly follow `prefix` in the paths of a source, those of import groups included: `a`, `B` and `c`
/// of `prefix::{a::b, B, c}`.
fn names_after(prefix: &str, text: &str) -> Vec<String> {
    let code: String = code_lines(text).map(|line| format!("{}\n", line.trim())).collect();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut names = Vec::new();
    for (start, _) in code.match_indices(prefix) {
        // `mysuper::` and `super::super::` are other prefixes.
        if code[..start].ends_with(|c: char| is_word(c) || c == ':') {
            continue;
        }
        let rest = &code[start + prefix.len()..];
        let paths = match rest.strip_prefix('{') {
            Some(group) => members(group),
            None => vec![rest],
        };
        let firsts = paths.into_iter().map(|path| path.trim_start().chars().take_while(|c| is_word(*c)).collect());
        names.extend(firsts.filter(|name: &String| !name.is_empty()));
    }
    names
}

/// The members of an import group, from behind its opening brace.
fn members(group: &str) -> Vec<&str> {
    let (mut depth, mut from, mut found) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                found.push(&group[from..at]);
                return found;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(&group[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    found
}

fn is_module(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
}

/// The layers that a source names and must not.
fn misplaced(layer: &str, text: &str) -> Vec<String> {
    let place = |name: &str| LAYERS.iter().position(|layer| *layer == name);
    let own = place(layer);
    let mut names = names_after("crate::", text);
    names.retain(|name| is_module(name) && (place(name) > own || place(name).is_none()));
    names
}

/// The modules of other methods that a source of method `own` names. `is_inner`: whether the source is a file of the
/// method's folder other than `mod.rs`, so that `super` is the method itself.
fn other_methods(own: &str, is_inner: bool, text: &str) -> Vec<String> {
    let mut names = names_after("crate::methods::", text);
    names.extend(names_after(if is_inner { "super::super::" } else { "super::" }, text));
    names.retain(|name| METHODS.contains(&name.as_str()) && name != own);
    names
}

/// The numbers of the lines above [`WIDTH`], with their widths.
fn wide_lines(text: &str) -> Vec<(usize, usize)> {
    let widths = text.lines().enumerate().map(|(at, line)| (at + 1, line.chars().count()));
    widths.filter(|(_, width)| *width > WIDTH).collect()
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
    assert_eq!(misplaced("model", "use crate::{\n    definition::Row,\n    tree::{Tree, node},\n};\n"), ["tree"]);
    assert_eq!(misplaced("model", "let run = crate::solve::solve(problem);"), ["solve"]);
    assert!(misplaced("model", "use crate::definition::ScenarioList;").is_empty());
}

#[test]
fn no_method_imports_parts_of_another() {
    let root = crates().join("softsep/src/methods");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut met = Vec::new();
    for file in files {
        let inside = file.strip_prefix(&root).unwrap();
        let own = inside.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned();
        if REGISTRY.contains(&own.as_str()) {
            continue;
        }
        let is_known = METHODS.contains(&own.as_str()) || SHARED.contains(&own.as_str());
        assert!(is_known, "{own} is neither a method nor a shared file");
        let is_inner = inside.components().count() > 1 && !file.ends_with("mod.rs");
        let wrong = other_methods(&own, is_inner, &fs::read_to_string(&file).unwrap());
        assert!(wrong.is_empty(), "methods/{} imports parts of {wrong:?}", inside.display());
        met.push(own);
    }
    assert!(METHODS.iter().all(|method| met.iter().any(|own| own == method)), "only {met:?} were found");
}

#[test]
fn an_import_of_parts_of_another_method_is_caught() {
    let level = "use crate::methods::bundle::level::LevelSet;\n";
    assert_eq!(other_methods("sgd", true, level), ["bundle"]);
    assert!(other_methods("bundle", true, level).is_empty());
    assert_eq!(other_methods("sgd", false, "use super::{scope, bundle::{self, level}, Bundle};"), ["bundle"]);
    assert_eq!(other_methods("sgd", true, "let level = super::super::bundle::level();"), ["bundle"]);
    assert!(other_methods("sgd", true, "use super::bundle::X;").is_empty(), "its own file of that name");
    assert!(other_methods("branch_and_cut", true, "use crate::methods::{BundleSettings, scope};").is_empty());
    assert_eq!(other_methods("auto", false, "use super::ccg::{self, ccg};"), ["ccg"]);
    assert_eq!(other_methods("unbounded", false, "use super::benders::benders;"), ["benders"]);
}

#[test]
fn the_format_is_an_edge_of_the_library() {
    let place = |name: &str| LAYERS.iter().position(|layer| *layer == name).unwrap();
    let root = crates().join("softsep/src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    for file in files {
        let inside = file.strip_prefix(&root).unwrap();
        let layer =
            inside.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned();
        let names = names_after("crate::", &fs::read_to_string(&file).unwrap());
        let is_allowed = ["lib", "format"].contains(&layer.as_str()) || FORMAT_READERS.contains(&layer.as_str());
        assert!(is_allowed || !names.iter().any(|name| name == "format"), "{} imports the format", inside.display());
    }
    assert!(FORMAT_READERS.iter().all(|reader| place(reader) > place("format")));
}

#[test]
fn lines_are_at_most_120_characters_wide() {
    let mut files = Vec::new();
    for name in fs::read_dir(crates()).unwrap() {
        let root = name.unwrap().path();
        let folders = ["src", "tests", "benches", "examples"].map(|folder| root.join(folder));
        folders.iter().filter(|folder| folder.is_dir()).for_each(|folder| sources(folder, &mut files));
    }
    assert!(files.len() > 300, "the sources were not found");
    for file in files.iter().filter(|file| !WIDE_FILES.iter().any(|wide| file.ends_with(wide))) {
        let wide = wide_lines(&fs::read_to_string(file).unwrap());
        assert!(wide.is_empty(), "{} has lines wider than {WIDTH} characters: {wide:?}", file.display());
    }
}

#[test]
fn a_wide_line_is_caught() {
    let (wide, just) = ("ξ".repeat(121), "ξ".repeat(120));
    assert_eq!(wide_lines(&format!("{just}\n{wide}\n// {just}\n")), [(2, 121), (3, 123)]);
}

#[test]
fn files_stay_small_and_unsafe_stays_in_the_interfaces_to_solvers() {
    let mut files = Vec::new();
    sources(&crates(), &mut files);
    for name in ["softsep-lp", "softsep", "softsep-paper", "softsep-cli"] {
        let root = crates().join(name).join("src");
        assert!(files.iter().any(|file| file.starts_with(&root)), "the sources of {name} were not found");
    }
    for file in files.iter().filter(|file| !file.components().any(|part| part.as_os_str() == "target")) {
        let text = fs::read_to_string(file).unwrap();
        assert!(text.lines().count() <= 600, "{} has more than 600 lines", file.display());
        let is_unsafe = code_lines(&text)
            .any(|line| line.contains("unsafe {") || line.contains("unsafe impl") || line.contains("unsafe extern"));
        assert!(
            !is_unsafe
                || UNSAFE_FILES.iter().any(|unsafe_file| file.ends_with(unsafe_file))
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
