//! Damaged files: reading a mutated valid file gives a problem or complaints, never a panic; a problem that is accepted
//! can be written and read back; and every method solves it or refuses it within its limits.
//!
//! `FUZZ_MINUTES=60 cargo test --release --test mutated_files mutants_are_solved` solves mutants for an hour.
#![allow(clippy::expect_used, clippy::panic)]

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep::internals::format::{load_text, write};
use softsep::methods::METHODS;
use softsep::{Certify, Problem, Settings, solve};

const MUTANTS_PER_FILE: usize = 4_000;

/// Values that have broken readers before.
const NASTY: [&str; 24] = [
    "null",
    "true",
    "-1",
    "0",
    "-0.0",
    "1",
    "2",
    "0.5",
    "1e999",
    "-1e308",
    "1e308",
    "1e-320",
    "NaN",
    "-Infinity",
    "\"\"",
    "\"g\"",
    "\"x\"",
    "\"\\u0000\"",
    "[]",
    "{}",
    "[[]]",
    "\"lower\"",
    "\"cones\"",
    "123456789012345678901234567890",
];

/// The limit of a run of a mutant, and the time that it may take beyond it.
const LIMIT: Duration = Duration::from_millis(200);
const LATE: Duration = Duration::from_secs(2);

/// Runs of a mutant, if all of them are late.
const ATTEMPTS: usize = 3;

fn good_files() -> Vec<PathBuf> {
    files("tests/good")
}

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the files are there")
        .map(|entry| entry.expect("they can be listed").path())
        .filter(|path| path.to_string_lossy().ends_with(".json") && !path.to_string_lossy().ends_with(".expected.json"))
        .collect();
    files.sort();
    files
}

/// The text in pieces: strings, numbers and words, and single characters.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first == '"' {
            rest[1..].find('"').map_or(rest.len(), |end| end + 2)
        } else {
            let word = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
            rest.find(|c| !word(c)).filter(|&end| end > 0).unwrap_or(first.len_utf8())
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after;
    }
    tokens
}

fn mutate(text: &str, rng: &mut ChaCha8Rng) -> String {
    let mut tokens: Vec<String> = tokens(text).into_iter().map(str::to_owned).collect();
    for _ in 0..rng.random_range(1..=3) {
        if tokens.is_empty() {
            break;
        }
        let at = rng.random_range(0..tokens.len());
        let other = rng.random_range(0..tokens.len());
        let is_value = |token: &String| token.starts_with(|c: char| c == '"' || c == '-' || c.is_ascii_digit());
        match rng.random_range(0..10) {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(at, tokens[other].clone()),
            2 => tokens.swap(at, other),
            3 => tokens[at] = NASTY[rng.random_range(0..NASTY.len())].to_owned(),
            4 => {
                // A character of a token, so that names and keys are misspelt.
                let mut characters: Vec<char> = tokens[at].chars().collect();
                let position = rng.random_range(0..characters.len());
                characters[position] = char::from(rng.random_range(0..128_u8));
                tokens[at] = characters.into_iter().collect();
            }
            5 => tokens.truncate(at),
            6 => {
                let piece: Vec<String> = tokens[at.min(other)..at.max(other)].to_vec();
                tokens.splice(at..at, piece);
            }
            // Numbers for numbers and strings for strings, so that many mutants are right or nearly so.
            _ => {
                let is_text = tokens[at].starts_with('"');
                let alike: Vec<usize> = (0..tokens.len())
                    .filter(|&i| is_value(&tokens[i]) && tokens[i].starts_with('"') == is_text)
                    .collect();
                if let [first, ..] = alike[..] {
                    let into = alike.iter().copied().find(|&i| i >= at).unwrap_or(first);
                    tokens[into] = tokens[alike[other % alike.len()]].clone();
                }
            }
        }
    }
    tokens.concat()
}

/// Reads a text to the end. Returns whether it is a valid problem, which must then be equal after writing and reading.
fn survives(text: &str, folder: &Path) -> bool {
    let Ok(loaded) = load_text(text, "mutant.json", folder) else { return false };
    let file = loaded.definition.clone();
    let Ok(problem) = loaded.check() else { return false };
    let written = write(&file).unwrap_or_else(|error| panic!("{error}"));
    let again = load_text(&written, "again.json", folder).unwrap_or_else(|error| panic!("{error}\n{written}"));
    assert!(again.complaints.is_empty(), "{}\n{written}", again.complaints);
    assert_eq!(again.definition, file);
    let described = problem.definition();
    let rebuilt = Problem::new(&described).unwrap_or_else(|complaints| panic!("{complaints}\n{described:?}"));
    assert_eq!(rebuilt.definition(), described);
    true
}

#[test]
fn no_mutant_makes_the_reader_panic() {
    let mut rng = ChaCha8Rng::seed_from_u64(20_240_607);
    let (mut accepted, mut refused) = (0, 0);
    for path in good_files() {
        let text = fs::read_to_string(&path).expect("it can be read");
        let folder = path.parent().expect("it is in a folder");
        assert!(survives(&text, folder), "{} is right", path.display());
        for _ in 0..MUTANTS_PER_FILE {
            let mutant = mutate(&text, &mut rng);
            match catch_unwind(AssertUnwindSafe(|| survives(&mutant, folder))) {
                Ok(true) => accepted += 1,
                Ok(false) => refused += 1,
                Err(_) => panic!("a mutant of {}:\n{mutant}", path.display()),
            }
        }
    }
    // Accepted and refused mutants must both occur.
    assert!(accepted > 500 && refused > 5_000, "{accepted} accepted, {refused} refused");
}

/// Solves mutants of small problems by all methods in turn. A run may refuse or fail, but neither panic nor outlast its
/// limit.
#[test]
fn mutants_are_solved_or_refused_within_their_limits() {
    let minutes = std::env::var("FUZZ_MINUTES").ok().and_then(|text| text.parse::<u64>().ok());
    let begun = Instant::now();
    let goes_on = |rounds: u64| match minutes {
        Some(minutes) => begun.elapsed() < Duration::from_secs(60 * minutes),
        None => rounds < 4,
    };
    let mut rng = ChaCha8Rng::seed_from_u64(minutes.unwrap_or(0));
    let (mut rounds, mut runs, mut late) = (0, 0_usize, 0);
    let files = [files("../../problems"), good_files()].concat();
    while goes_on(rounds) {
        for path in &files {
            let text = fs::read_to_string(path).expect("it can be read");
            let folder = path.parent().expect("it is in a folder");
            let mutant = (0..100).map(|_| mutate(&text, &mut rng)).find_map(|mutant| {
                let problem = load_text(&mutant, "mutant.json", folder).ok()?.check().ok()?;
                Some((mutant, problem))
            });
            let Some((mutant, problem)) = mutant else { continue };
            let method = METHODS[runs % METHODS.len()].name;
            let certify = [Certify::Free, Certify::Exact, Certify::None][runs % 3];
            let settings = Settings {
                method: method.parse().unwrap_or_else(|error| panic!("{error}")),
                certify,
                time_limit: Some(LIMIT),
                threads: Some(1),
                ..Settings::default()
            };
            // A busy machine delays a run, a hang comes back.
            let mut attempts = (0..ATTEMPTS).map(|_| {
                let begun = Instant::now();
                if catch_unwind(AssertUnwindSafe(|| drop(solve(&problem, &settings)))).is_err() {
                    panic!("{method} panics on a mutant of {}:\n{mutant}", path.display());
                }
                begun.elapsed() < LIMIT + LATE
            });
            if !attempts.any(|is_in_time| is_in_time) {
                println!("{method} is late on a mutant of {}:\n{mutant}", path.display());
                late += 1;
            }
            runs += 1;
        }
        rounds += 1;
    }
    println!("{runs} mutants solved or refused, {late} late");
    assert!(late == 0 && runs > 100, "{late} of {runs} are late");
}

#[test]
fn no_damage_to_bytes_makes_the_reader_panic() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut folder = std::env::temp_dir();
    folder.push("softsep-no-such-folder");
    for path in good_files() {
        let bytes = fs::read(&path).expect("it can be read");
        for _ in 0..MUTANTS_PER_FILE {
            let mut bytes = bytes.clone();
            for _ in 0..rng.random_range(1..4) {
                let at = rng.random_range(0..bytes.len());
                bytes[at] = rng.random();
            }
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if catch_unwind(AssertUnwindSafe(|| survives(&text, &folder))).is_err() {
                panic!("a mutant of {}:\n{text}", path.display());
            }
        }
    }
}

#[test]
fn damaged_scenario_files_are_refused_or_read() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let good =
        fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/good/scenario_file.csv")).expect("it can be read");
    let problem = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/good/scenario_file.json");
    let problem = fs::read_to_string(problem).expect("it can be read");
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    for _ in 0..2_000 {
        let mut bytes = good.clone();
        for _ in 0..rng.random_range(1..4) {
            let at = rng.random_range(0..bytes.len());
            let nasty = [b'"', b',', b'\n', b'\r', b' ', b'e', b'9', 0xff];
            bytes[at] = nasty[rng.random_range(0..nasty.len())];
        }
        fs::write(folder.path().join("scenario_file.csv"), &bytes).expect("it can be written");
        survives(&problem, folder.path());
    }
}
