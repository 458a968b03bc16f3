//! The tables "Item by item" of docs/paper.md: every numbered item of the paper has a row, every file, item and test
//! that they name is there.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What the columns of a row hold.
struct Row {
    item: String,
    code: Vec<String>,
    tests: Vec<String>,
    difference: String,
}

/// The kinds of numbered items, with their numbers in the paper and in its electronic companion.
const NUMBERED: [(&str, u32, u32); 10] = [
    ("Definition", 2, 0),
    ("Assumption", 7, 1),
    ("Lemma", 4, 9),
    ("Proposition", 2, 1),
    ("Theorem", 5, 0),
    ("Corollary", 1, 0),
    ("Example", 10, 0),
    ("Algorithm", 3, 0),
    ("Figure", 3, 0),
    ("Table", 6, 0),
];

/// Numbered equations of the paper and of its companion, and those with names.
const EQUATIONS: (u32, u32) = (9, 2);
const NAMED: [&str; 5] = ["(ARO)", "(Approx)", "(Ellipsoidal)", "(Budget)", "(Inclusion)"];

/// Parts that have no number.
const SECTIONS: [&str; 3] = ["EC.1", "EC.2", "EC.3"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The words between backticks.
fn quoted(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The rows of all tables below the heading "Item by item".
fn rows(page: &str) -> Vec<Row> {
    let below = page.split_once("## Item by item\n").unwrap().1;
    let lines = below.lines().take_while(|line| !line.starts_with("## ")).filter(|line| line.starts_with("| "));
    let cells = |line: &str| -> Vec<String> {
        // A bar inside of a cell has a backslash before it.
        let joined = line.trim_matches('|').replace("\\|", "\u{0}");
        joined.split('|').map(|cell| cell.trim().replace('\u{0}', "|")).collect()
    };
    let rows = lines.map(cells).filter(|cells| cells[0] != "in the paper");
    rows.map(|cells| {
        let [item, code, tests, difference] = <[String; 4]>::try_from(cells).unwrap_or_else(|row| panic!("{row:?}"));
        Row { item, code: quoted(&code), tests: quoted(&tests), difference }
    })
    .collect()
}

/// Whether a text names an item, not only one whose number begins with the same digits.
fn names(text: &str, label: &str) -> bool {
    text.match_indices(label).any(|(at, _)| {
        let rest = &text[at + label.len()..];
        label.ends_with(')') || !rest.starts_with(|c: char| c.is_ascii_digit())
    })
}

/// All numbered items of the paper.
fn labels() -> Vec<String> {
    let mut labels: Vec<String> = NAMED.iter().chain(&SECTIONS).map(|&name| name.to_owned()).collect();
    labels.extend((1..=EQUATIONS.0).map(|number| format!("({number})")));
    labels.extend((1..=EQUATIONS.1).map(|number| format!("(EC.{number})")));
    for (kind, of_paper, of_companion) in NUMBERED {
        labels.extend((1..=of_paper).map(|number| format!("{kind} {number}")));
        labels.extend((1..=of_companion).map(|number| format!("{kind} EC.{number}")));
    }
    labels
}

/// The names that the lines of a source declare: functions, types, traits, constants and modules.
fn declared(source: &str) -> Vec<String> {
    const KEYWORDS: [&str; 7] = ["fn", "struct", "enum", "trait", "const", "type", "mod"];
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for line in source.lines().filter(|line| !line.trim_start().starts_with("//")) {
        let mut words = line.split_whitespace().skip_while(|word| !KEYWORDS.contains(word)).skip(1);
        // `const fn name`: the name follows the last keyword.
        let name = words.find(|word| !KEYWORDS.contains(word)).unwrap_or_default();
        found.push(name.chars().take_while(|c| is_word(*c)).collect());
    }
    found
}

/// The functions of a source that are tests.
fn test_functions(source: &str) -> Vec<String> {
    let mut is_test = false;
    let mut found = Vec::new();
    for line in source.lines().map(str::trim) {
        match line {
            "#[test]" => is_test = true,
            _ if line.starts_with("#[") || line.starts_with("//") => {}
            _ => {
                if is_test {
                    found.extend(declared(line));
                }
                is_test = false;
            }
        }
    }
    found
}

/// A file below `crates/`, read once.
struct Sources {
    root: PathBuf,
    texts: BTreeMap<String, String>,
}

impl Sources {
    fn text(&mut self, path: &str, item: &str) -> &str {
        let root = &self.root;
        self.texts.entry(path.to_owned()).or_insert_with(|| {
            fs::read_to_string(root.join("crates").join(path)).unwrap_or_else(|error| panic!("{item}: {path}: {error}"))
        })
    }
}

#[test]
fn every_numbered_item_of_the_paper_has_a_row() {
    let rows = rows(&fs::read_to_string(root().join("docs/paper.md")).unwrap());
    assert!(rows.len() >= 72, "{} rows", rows.len());
    for label in labels() {
        assert!(rows.iter().any(|row| names(&row.item, &label)), "{label} has no row");
    }
    for (index, row) in rows.iter().enumerate() {
        assert!(!rows[..index].iter().any(|other| other.item == row.item), "{} has two rows", row.item);
        assert!(!row.difference.is_empty(), "{}: the last column is empty", row.item);
    }
}

#[test]
fn every_file_item_and_test_of_the_map_is_there() {
    let mut sources = Sources { root: root(), texts: BTreeMap::new() };
    for row in rows(&fs::read_to_string(root().join("docs/paper.md")).unwrap()) {
        // A row without code or without a test says why.
        assert!(row.difference != "–" || !row.code.is_empty() && !row.tests.is_empty(), "{}: no reason", row.item);
        for place in &row.code {
            let (path, name) = place.split_once("::").unwrap_or_else(|| panic!("{}: {place} names no item", row.item));
            let found = declared(sources.text(path, &row.item));
            assert!(found.iter().any(|found| found == name), "{}: {path} has no {name}", row.item);
        }
        for place in &row.tests {
            let (path, name) = place.split_once("::").unwrap_or_else(|| panic!("{}: {place} names no test", row.item));
            let found = test_functions(sources.text(path, &row.item));
            assert!(found.iter().any(|found| found == name), "{}: {path} has no test {name}", row.item);
        }
    }
}

/// The readers of tables and sources can fail.
#[test]
fn what_is_missing_is_seen() {
    let page = "x\n## Item by item\n\n| in the paper | code | test | why |\n|---|---|---|---|\n| Lemma 12, \\|I\\| | \
                `a.rs::b` | `c.rs::d`, `e.rs::f` | – |\n\n## Next\n\n| Lemma 1 | | | |\n";
    let rows = rows(page);
    assert_eq!(
        (rows.len(), rows[0].item.as_str(), rows[0].code.as_slice()),
        (1, "Lemma 12, |I|", &["a.rs::b".to_owned()][..])
    );
    assert_eq!(rows[0].tests, ["c.rs::d", "e.rs::f"]);
    assert!(names(&rows[0].item, "Lemma 12") && !names(&rows[0].item, "Lemma 1") && names("(3) and", "(3)"));
    assert_eq!(labels().len(), 5 + 3 + 11 + 43 + 11);
    let source = "pub(crate) struct Chain<'a> {\n    const fn at(&self) {}\n// fn gone() {}\nconst HALF: f64 = 0.5;\n";
    let found = declared(source);
    assert!(["Chain", "at", "HALF"].iter().all(|name| found.iter().any(|found| found == name)));
    assert!(!found.iter().any(|found| found == "gone"));
    let tests = "#[test]\n#[ignore]\nfn one() {}\n\nfn two() {}\n#[test]\n/// Words.\nfn three() {}\n";
    assert_eq!(test_functions(tests), ["one", "three"]);
}
