//! Problems on which `adr` once ended with an error, although its program has an answer.
#![allow(clippy::unwrap_used, clippy::panic)]

use softsep::testing::{Recipe, Size, random_problem};
use softsep::uncertainty::SetDefinition;
use softsep::{Certify, MethodSettings, Outcome, Problem, ProblemDefinition, Settings, Status, solve};

fn solve_by(file: &ProblemDefinition, method: &str) -> Outcome {
    let settings =
        Settings { method: MethodSettings::named(method).unwrap(), certify: Certify::Exact, ..Settings::default() };
    solve(&Problem::new(file).unwrap(), &settings).unwrap_or_else(|error| panic!("{method}, {}: {error}", file.name))
}

/// The bounds of `adr` are around the optimum that `ccg` finds, if they found one.
fn check(file: &ProblemDefinition) {
    let (adr, ccg) = (solve_by(file, "adr"), solve_by(file, "ccg"));
    if ccg.status != Status::Optimal {
        assert!(adr.bounds.upper().is_none(), "{}: {adr:?}, but {ccg:?}", file.name);
        return;
    }
    let optimum = ccg.bounds.best().unwrap().value;
    let tolerance = 1e-6 * optimum.abs().max(1.0);
    assert!(adr.bounds.upper().is_none_or(|upper| upper >= optimum - tolerance), "{}: {adr:?}", file.name);
    assert!(adr.bounds.lower().is_none_or(|lower| lower <= optimum + 1e-3 * optimum.abs()), "{}: {adr:?}", file.name);
}

/// HiGHS failed on the program of affine policies, by the interior-point method and by simplex.
#[test]
fn programs_of_policies_climb_the_ladder() {
    let recipe = Recipe { size: Size::Medium, incomplete: true, ..Recipe::default() };
    [61, 64, 88, 134, 203, 234].into_iter().for_each(|seed| check(&random_problem(&recipe, seed)));
}

/// Two scenarios that are nearly equal make the slopes of a policy huge, and no repair brings its rows within rounding.
/// The decision is evaluated without the policy then.
#[test]
fn a_policy_beyond_repair_leaves_its_decision() {
    for (recipe, seed) in [
        (Recipe { set: "scenarios", ..Recipe::default() }, 117),
        (Recipe { incomplete: true, ..Recipe::default() }, 172),
    ] {
        let mut file = random_problem(&recipe, seed);
        let SetDefinition::Scenarios { points, .. } = &mut file.uncertainty.set else { panic!("no list") };
        for (row, change) in [(0, [1e-9, 0.0]), (1, [0.0, 1e-12])] {
            let near: Vec<f64> = points.row(row).iter().map(|value| value * (1.0 + change[1]) + change[0]).collect();
            points.push(&near);
        }
        check(&file);
    }
}
