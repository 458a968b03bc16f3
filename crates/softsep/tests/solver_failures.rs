//! Random problems of the kinds on which runs ended with an error because a solver gave no status, or a wrong one:
//! first stages without bounds, scenarios that are nearly equal, small costs.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::time::Duration;

use softsep::definition::ScenarioList;
use softsep::testing::{Recipe, Size, random_problem};
use softsep::uncertainty::SetDefinition;
use softsep::{MethodSettings, Outcome, Problem, ProblemDefinition, Settings, Status, solve};

/// `make soak` asks for ten times as many problems.
fn many(count: u64) -> u64 {
    count * if std::env::var_os("SOFTSEP_SOAK").is_some() { 10 } else { 1 }
}

/// Solves to the default gap within some seconds. The run must not fail.
fn solve_by(file: &ProblemDefinition, method: &str) -> Outcome {
    let settings = Settings {
        method: MethodSettings::named(method).unwrap(),
        time_limit: Some(Duration::from_secs(5)),
        ..Settings::default()
    };
    let outcome = solve(&Problem::new(file).unwrap(), &settings)
        .unwrap_or_else(|error| panic!("{method}, {}: {error}", file.name));
    assert!(outcome.failure.is_none(), "{method}, {}: {:?}", file.name, outcome.failure);
    outcome
}

/// Both outcomes may be true at once: no two verdicts, and no lower bound above an upper one.
fn check_agreement(file: &ProblemDefinition, one: &Outcome, other: &Outcome) {
    let context = || format!("{}: {one:?}, but {other:?}", file.name);
    let is_verdict = |outcome: &Outcome| matches!(outcome.status, Status::Infeasible | Status::Unbounded);
    for (one, other) in [(one, other), (other, one)] {
        if is_verdict(one) {
            assert!(other.status == one.status || other.status == Status::Unknown, "{}", context());
        }
        if let (Some(lower), Some(upper)) = (one.bounds.lower(), other.bounds.upper()) {
            assert!(lower <= upper + 1e-6 * upper.abs() + 1e-12, "{}", context());
        }
    }
}

/// A random problem whose first stage has no rows and no upper bounds; its costs are not negative, or as they were.
fn without_upper_bounds(recipe: &Recipe, seed: u64, is_cheap: bool) -> ProblemDefinition {
    let mut file = random_problem(recipe, seed);
    file.first_stage.constraints.clear();
    for variable in &mut file.first_stage.variables {
        variable.upper = f64::INFINITY;
        variable.cost = if is_cheap { variable.cost } else { variable.cost.abs() };
    }
    file
}

fn scale_costs(file: &mut ProblemDefinition, factor: f64) {
    file.first_stage.constant *= factor;
    file.first_stage.variables.iter_mut().chain(&mut file.recourse.variables).for_each(|v| v.cost *= factor);
}

fn scenarios(file: &mut ProblemDefinition) -> &mut ScenarioList {
    let SetDefinition::Scenarios { points, .. } = &mut file.uncertainty.set else { panic!("no list") };
    points
}

/// HiGHS ends without a status on a master whose rows contradict one another.
#[test]
fn masters_without_a_status_are_decided() {
    let recipe = Recipe { incomplete: true, size: Size::Medium, ..Recipe::default() };
    let mut file = without_upper_bounds(&recipe, 21, true);
    for variable in &mut file.first_stage.variables {
        (variable.lower, variable.cost) = (f64::NEG_INFINITY, 0.0);
    }
    for method in ["ccg", "bundle", "sgd"] {
        assert_eq!(solve_by(&file, method).status, Status::Infeasible, "{method}");
    }
}

/// HiGHS ends without a status on the program of affine policies over a list that has none.
#[test]
fn programs_without_a_policy_are_decided() {
    let recipe = Recipe { set: "scenarios", incomplete: true, size: Size::Medium, ..Recipe::default() };
    for seed in [8, 31, 39] {
        assert_eq!(solve_by(&random_problem(&recipe, seed), "adr").bounds.upper(), None, "seed {seed}");
    }
}

#[test]
fn nearly_equal_scenarios_fail_no_method() {
    for seed in 0..many(30) {
        let size = if seed % 3 == 0 { Size::Medium } else { Size::Small };
        let recipe = Recipe { set: "scenarios", incomplete: seed % 2 == 1, size, ..Recipe::default() };
        for is_cheap in [false, true] {
            let mut file = without_upper_bounds(&recipe, seed, is_cheap);
            let points = scenarios(&mut file);
            for (row, [added, share]) in [(0, [1e-9, 0.0]), (1, [0.0, 1e-12])] {
                let near: Vec<f64> = points.row(row).iter().map(|value| value * (1.0 + share) + added).collect();
                points.push(&near);
            }
            check_agreement(&file, &solve_by(&file, "adr"), &solve_by(&file, "extensive"));
        }
    }
}

#[test]
fn small_costs_fail_no_method() {
    for seed in 0..many(30) {
        let size = if seed % 3 == 0 { Size::Medium } else { Size::Small };
        let recipe = Recipe { set: "scenarios", incomplete: seed % 2 == 1, size, ..Recipe::default() };
        let file = without_upper_bounds(&recipe, seed, seed % 4 == 2);
        let mut small = file.clone();
        scale_costs(&mut small, 1e-5);
        let (usual, small_extensive) = (solve_by(&file, "extensive"), solve_by(&small, "extensive"));
        assert_eq!(usual.status, small_extensive.status, "seed {seed}");
        if let (Some(usual), Some(small)) = (usual.bounds.best(), small_extensive.bounds.best()) {
            // Two runs to the default gap.
            let apart = (usual.value - 1e5 * small.value).abs();
            assert!(apart <= 2e-3 * usual.value.abs() + 1e-9, "seed {seed}: {} and {}", usual.value, small.value);
        }
        check_agreement(&small, &small_extensive, &solve_by(&small, "sgd"));
    }
}
