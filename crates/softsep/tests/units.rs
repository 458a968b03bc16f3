//! No result depends on the units in which a problem is written.
//!
//! `make soak` writes every problem of `problems/` and 300 random ones in 20 random systems of units each.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};

use softsep::internals::format::load_text;
use softsep::testing::{Recipe, in_random_units, random_problem};
use softsep::{Certify, MethodSettings, Outcome, Problem, Settings, Status, evaluate, explicit_policy, read, solve};

/// Results are compared to this, relative to the cost.
const CLOSE: f64 = 1e-6;

fn is_soak() -> bool {
    std::env::var_os("SOFTSEP_SOAK").is_some()
}

fn settings(method: &str, seed: u64) -> Settings {
    Settings {
        method: MethodSettings::named(method).unwrap(),
        gap: 1e-8,
        seed,
        certify: Certify::Exact,
        time_limit: Some(std::time::Duration::from_secs(20)),
        ..Settings::default()
    }
}

/// What the runs came to.
#[derive(Debug, Default)]
struct Tally {
    runs: u64,
    refused: u64,
    unproved: u64,
    failures: Vec<String>,
}

impl Tally {
    /// Compares the outcome of a method in other units with the true one.
    fn compare(&mut self, name: &str, truth: &Outcome, found: Result<Outcome, softsep::Error>, cost: f64) {
        self.runs += 1;
        let found = match found {
            Ok(found) => found,
            Err(softsep::Error::Unsupported(_)) => return self.refused += 1,
            Err(error) => return self.failures.push(format!("{name}: {error}")),
        };
        let (Some(best), Some(true_best)) = (found.bounds.best(), truth.bounds.best()) else {
            if found.status == Status::Unknown {
                self.unproved += 1;
            } else if found.status != truth.status {
                self.failures.push(format!("{name}: {:?}, not {:?}", found.status, truth.status));
            }
            return;
        };
        let optimum = true_best.value;
        // Costs of the problems are of the size of 1: an optimum of zero is known to the digits of solvers.
        let tolerance = CLOSE * optimum.abs().max(0.1);
        let lower = found.bounds.lower().map(|lower| lower * cost);
        let upper = found.bounds.upper().map(|upper| upper * cost);
        if lower.is_some_and(|lower| lower > optimum + tolerance)
            || upper.is_some_and(|upper| upper < optimum - tolerance)
        {
            self.failures.push(format!("{name}: bounds {lower:?}, {upper:?} of {optimum}"));
        } else if found.status != Status::Optimal {
            self.unproved += 1;
        } else if (best.value * cost - optimum).abs() > tolerance {
            self.failures.push(format!("{name}: {} in place of {optimum}", best.value * cost));
        }
    }
}

fn recipes() -> [Recipe; 7] {
    let plain = Recipe::default();
    [
        plain,
        Recipe { integers: true, ..plain },
        Recipe { quadratic_first: true, ..plain },
        Recipe { incomplete: true, ..plain },
        Recipe { incomplete: true, integers: true, ..plain },
        Recipe { quadratic: true, ..plain },
        Recipe { cone: true, ..plain },
    ]
}

fn compare_in_units(tally: &mut Tally, name: &str, problem: &Problem, method: &str, systems: u64) {
    let Ok(truth) = solve(problem, &settings("auto", 1)) else { return };
    if truth.status == Status::Feasible || truth.status == Status::Unknown {
        return;
    }
    for system in 0..systems {
        let Some((written, cost)) = in_random_units(problem, system) else { continue };
        let name = format!("{name}, {method}, system {system}");
        tally.compare(&name, &truth, solve(&written, &settings(method, 1)), cost);
    }
}

fn check_tally(tally: &Tally, least_runs: u64) {
    println!(
        "{} runs, {} refused, {} unproved, {} failed",
        tally.runs,
        tally.refused,
        tally.unproved,
        tally.failures.len()
    );
    for failure in &tally.failures {
        println!("{failure}");
    }
    assert!(tally.failures.is_empty(), "{} failures, the first: {}", tally.failures.len(), tally.failures[0]);
    assert!(tally.runs >= least_runs && tally.unproved * 20 <= tally.runs, "{tally:?}");
}

#[test]
fn random_problems_in_random_units() {
    let (problems, systems) = if is_soak() { (300, 20) } else { (42, 3) };
    let methods = ["auto", "ccg", "benders", "extensive", "bundle", "branch-and-cut"];
    let mut tally = Tally::default();
    for seed in 0..problems {
        let recipe = recipes()[seed as usize % recipes().len()];
        let problem = Problem::new(&random_problem(&recipe, 5000 + seed)).unwrap();
        let method = methods[(seed as usize / recipes().len()) % methods.len()];
        compare_in_units(&mut tally, &format!("random {seed}"), &problem, method, systems);
    }
    check_tally(&tally, problems);
}

fn known_problems() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../problems");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_problem = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.ends_with(".json") && !name.ends_with(".expected.json")
    };
    let mut files: Vec<PathBuf> = files.filter(is_problem).collect();
    files.sort();
    files
}

#[test]
fn known_problems_in_random_units() {
    let systems = if is_soak() { 20 } else { 3 };
    let mut tally = Tally::default();
    for file in known_problems() {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        compare_in_units(&mut tally, &name, &read(&file).unwrap(), "auto", systems);
    }
    check_tally(&tally, 60);
}

#[test]
fn evaluations_and_policies_in_random_units() {
    let mut compared = 0;
    for seed in 0..30 {
        let problem = Problem::new(&random_problem(&Recipe::default(), 7000 + seed)).unwrap();
        let Ok(outcome) = solve(&problem, &settings("auto", 1)) else { continue };
        let Some(best) = outcome.bounds.best() else { continue };
        let Some((written, cost)) = in_random_units(&problem, seed) else { continue };
        let Ok(other) = solve(&written, &settings("auto", 1)) else { continue };
        let x = &other.bounds.best().unwrap().x;
        let evaluation = evaluate(&written, x, &Default::default()).unwrap();
        let tolerance = CLOSE * best.value.abs().max(1e-3);
        assert!((evaluation.objective * cost - best.value).abs() <= tolerance, "seed {seed}: {evaluation:?}");
        assert_eq!(evaluation.violation, None, "seed {seed}");
        if let Ok(Some(policy)) = explicit_policy(&written, x, 1e-6, &Default::default()) {
            assert!(policy.upper * cost >= best.value - tolerance, "seed {seed}: {policy:?}");
            compared += 1;
        }
    }
    assert!(compared >= 10, "{compared}");
}

/// Every method that reaches the optimum finds this one.
fn solved(text: &str, optimum: f64) {
    let problem = load_text(text, "text", Path::new("")).unwrap().check().unwrap();
    for method in ["auto", "ccg", "benders", "extensive", "bundle", "sgd", "branch-and-cut"] {
        let outcome = solve(&problem, &Settings { gap: 1e-6, ..settings(method, 1) }).unwrap();
        assert_eq!(outcome.status, Status::Optimal, "{method}: {outcome:?}");
        assert!((outcome.objective().unwrap() - optimum).abs() <= 2.0 * CLOSE * optimum, "{method}: {outcome:?}");
    }
}

/// `branch-and-cut` once called 100 optimal: costs below 1e-7 counted as zero.
#[test]
fn small_costs_count() {
    solved(
        r#"{"format": "aro/1",
            "first_stage": {"variables": [{"name": "x", "cost": 5e-8, "upper": 1e9}]},
            "uncertainty": {"parameters": ["g"], "set": {"kind": "box", "lower": [0], "upper": [1]}},
            "recourse": {"variables": [{"name": "y", "cost": 1e-7}],
                         "constraints": [{"name": "r", "y": {"y": 1}, "x": {"x": 1}, "xi": {"g": -1e9},
                                          "lower": 0}]}}"#,
        50.0,
    );
}

/// All methods once called 0 optimal: y violated its bound by 1e-7.
#[test]
fn bounds_of_small_variables_count() {
    solved(
        r#"{"format": "aro/1",
            "first_stage": {"variables": [{"name": "x", "cost": 1, "upper": 1}]},
            "uncertainty": {"parameters": ["g"], "set": {"kind": "box", "lower": [0], "upper": [1]}},
            "recourse": {"variables": [{"name": "y", "upper": 1e-6}, {"name": "s", "cost": 1e6}],
                         "constraints": [{"name": "r", "y": {"y": 1, "s": 1}, "xi": {"g": -1.08e-6}, "lower": 0}]}}"#,
        0.08,
    );
}
