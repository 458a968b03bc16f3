//! Problems on which `adr` once ended with an error, although its program has an answer.
#![allow(clippy::unwrap_used, clippy::panic)]

use softsep::testing::{Recipe, Size, random_problem};
use softsep::uncertainty::SetDefinition;
use softsep::{Certify, MethodSettings, Outcome, Problem, ProblemDefinition, Settings, Status, solve};
use softsep_paper::instances::{Network, Uncertain, network};

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

/// The balances of flows at a decision that leaves arcs without capacity depend on one another, and the slopes of the
/// policy contradict them by rounding. The repair once made that error larger in place of smaller.
#[test]
fn balances_that_depend_on_one_another_are_repaired() {
    let mut file = network(&Network { n: 5, uncertainty: Uncertain::Budget { gamma: 0.4 }, seed: 8 }).unwrap();
    let x = [
        0.0,
        0.0,
        194.43261285101966,
        113.80436880618666,
        192.1725716875419,
        0.0,
        214.34384168600224,
        10.111364937436566,
        2.0850014279854814,
        0.0,
        1.9226839331035381,
        131.03970554445442,
        0.0,
        10.11136493743653,
    ];
    assert_eq!(file.first_stage.variables.len(), x.len());
    for (variable, x) in file.first_stage.variables.iter_mut().zip(x) {
        (variable.lower, variable.upper) = (x, x);
    }
    let upper = solve_by(&file, "adr").bounds.upper().unwrap();
    // The worst case of the decision, from below, and the cost of the policy, both rounded outward.
    assert!((12_537.27..12_547.85).contains(&upper), "{upper}");
}

/// A row with two sides that the best policy uses up on both: its slopes vary by the whole width, and the tolerance of
/// the solver more. The row is tightened by the miss, and the policy is chosen anew.
#[test]
fn rows_that_a_policy_fills_are_tightened() {
    let file = random_problem(&Recipe { set: "ellipsoid", size: Size::Medium, ..Recipe::default() }, 20);
    let settings = Settings { method: MethodSettings::named("adr").unwrap(), gap: 0.5, ..Settings::default() };
    let outcome = solve(&Problem::new(&file).unwrap(), &settings).unwrap();
    let (lower, upper) = (outcome.bounds.lower().unwrap(), outcome.bounds.upper().unwrap());
    assert!(lower <= upper, "{outcome:?}");
}
