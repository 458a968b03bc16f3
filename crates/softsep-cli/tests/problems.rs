//! Every file in `problems/` as a user would solve it, without a word on the method: the exit code, and the optimum
//! that is known for it.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::path::Path;

use common::TestFolder;
use serde_json::Value;

/// The relative tolerance of an estimate, where no separation is exact.
const NEAR: f64 = 1e-3;

/// The gap asked for: a method may stop as soon as it is met.
const GAP: f64 = 1e-6;

#[test]
fn auto_solves_all_problem_files() {
    let problems = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../problems").canonicalize().unwrap();
    let mut names: Vec<String> =
        fs::read_dir(&problems).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name.ends_with(".json") && !name.ends_with(".expected.json"));
    names.sort();
    assert!(names.len() > 30, "{names:?}");
    let folder = TestFolder::empty();
    for name in &names {
        let expected = fs::read_to_string(problems.join(name.replace(".json", ".expected.json"))).unwrap();
        let expected: Value = serde_json::from_str(&expected).unwrap();
        let file = problems.join(name);
        let ended = folder.run(&format!("solve {} --gap {GAP} --json --quiet", file.display()));
        // No master of HiGHS accepts integers with a quadratic recourse, but the library's own tree does, and their box
        // has two corners to scan.
        let proved = expected["methods"].as_array().unwrap().iter().any(|method| method == "ccg")
            || name == "integers-quadratic.json";
        ended.done();
        let result = ended.json();
        match expected["optimum"].as_f64() {
            None => assert_eq!(result["status"], expected["status"], "{name}: {result}"),
            Some(optimum) => {
                let exact = expected["tolerance"].as_f64().unwrap().max(GAP * optimum.abs());
                let tolerance = if proved { exact } else { NEAR * optimum.abs() };
                let objective = result["objective"].as_f64().unwrap();
                assert!((objective - optimum).abs() <= tolerance, "{name}: {objective}, not {optimum}");
                let kind = if proved { ("optimal", "deterministic") } else { ("feasible", "none") };
                assert_eq!(
                    (&result["status"], &result["certificate"]["kind"]),
                    (&kind.0.into(), &kind.1.into()),
                    "{name}: {result}"
                );
            }
        }
    }
}
