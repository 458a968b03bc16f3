//! Every method on every class of problems under limits that strike at once: nothing panics, and a result says what it
//! holds.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;
use std::time::{Duration, Instant};

use softsep::internals::format::load_text;
use softsep::methods::METHODS;
use softsep::run::Stop;
use softsep::testing::{Recipe, Size, random_problem};
use softsep::{Error, Outcome, Problem, Settings, Status, solve};

/// The time that a run may take beyond its limit.
const LATE: Duration = Duration::from_secs(2);

const GAP: f64 = 1e-6;

const SETS: [&str; 6] = ["scenarios", "box", "l1", "budget", "ellipsoid", "polyhedron"];

/// A recipe for each combination of features; sizes alternate.
fn recipes() -> impl Iterator<Item = Recipe> {
    SETS.iter().flat_map(|&set| {
        (0..64_u32).map(move |features| {
            let has = |bit: u32| features >> bit & 1 == 1;
            Recipe {
                set,
                integers: has(0),
                quadratic_first: has(1),
                quadratic: has(2),
                cone: has(3),
                cost_xi: has(4),
                incomplete: has(5),
                size: if features.count_ones() % 2 == 0 { Size::Medium } else { Size::Small },
                ..Recipe::default()
            }
        })
    })
}

fn settings(method: &str, time_limit: Option<Duration>, iterations: Option<u64>) -> Settings {
    Settings {
        method: method.parse().unwrap(),
        time_limit,
        iterations,
        gap: GAP,
        threads: Some(1),
        ..Settings::default()
    }
}

/// Solves; `None` where the method refuses the problem.
fn run(problem: &Problem, settings: &Settings) -> Option<Outcome> {
    match solve(problem, settings) {
        Ok(outcome) => Some(outcome),
        Err(Error::Unsupported(_)) => None,
        Err(error) => panic!("{}, {settings:?}: {error}", problem.name),
    }
}

/// Checks that the fields of an outcome agree with one another.
fn check(outcome: &Outcome, context: &str) {
    let bounds = &outcome.bounds;
    assert_eq!(outcome.status == Status::Infeasible || outcome.status == Status::Unbounded, outcome.verdict.is_some());
    assert_eq!(outcome.stop == Stop::Failed, outcome.failure.is_some(), "{context}: {outcome:?}");
    match outcome.status {
        Status::Optimal => assert!(bounds.upper().is_some() && bounds.lower().is_some(), "{context}: {outcome:?}"),
        Status::Feasible => assert!(outcome.objective().is_some(), "{context}: {outcome:?}"),
        // A decision may be there of which nothing but its nominal cost is known.
        Status::Unknown => {
            assert_eq!((outcome.objective(), &outcome.worst_case), (None, &None), "{context}: {outcome:?}");
            assert_eq!(bounds.nominal_cost().is_some(), outcome.x().is_some(), "{context}: {outcome:?}");
        }
        _ => {}
    }
    assert_eq!(outcome.status == Status::Optimal, bounds.meet(GAP), "{context}: {outcome:?}");
}

#[test]
fn no_method_panics_under_a_tiny_limit() {
    let limits = [(Some(0), None), (Some(1), None), (Some(10), None), (None, Some(1))];
    let mut runs = 0;
    for (seed, recipe) in recipes().enumerate() {
        let problem = Problem::new(&random_problem(&recipe, seed as u64)).unwrap();
        for (index, method) in METHODS.iter().enumerate() {
            // Each class meets each method, and each method each limit.
            let (milliseconds, iterations) = limits[(seed + index) % limits.len()];
            let settings = settings(method.name, milliseconds.map(Duration::from_millis), iterations);
            let begun = Instant::now();
            let Some(outcome) = run(&problem, &settings) else { continue };
            runs += 1;
            let context = format!("{recipe:?}, {}, {milliseconds:?} ms, {iterations:?} iterations", method.name);
            check(&outcome, &context);
            assert!(iterations.is_some() || begun.elapsed() < LATE, "{context}: {:?}", begun.elapsed());
        }
    }
    assert!(runs > 1000, "only {runs} runs");
}

/// No iteration at all is refused by name.
#[test]
fn a_limit_of_no_iterations_is_refused() {
    let problem = Problem::new(&random_problem(&Recipe::default(), 1)).unwrap();
    for method in METHODS {
        let refused = solve(&problem, &settings(method.name, None, Some(0)));
        assert!(matches!(refused, Err(Error::Settings(_))), "{}: {refused:?}", method.name);
    }
}

/// The program of affine policies over a list has no decision where it does not end optimal, and f was once evaluated
/// at it: with a quadratic first stage that was out of bounds.
#[test]
fn affine_policies_over_a_list_without_an_optimum_are_no_decision() {
    let problem = |cost: &str| {
        let text = format!(
            r#"{{"format": "aro/1",
                "first_stage": {{"variables": [{{"name": "a", "cost": {cost}}}, {{"name": "b"}}],
                                 "quadratic": [["b", "b", 1]]}},
                "uncertainty": {{"parameters": ["g", "h"],
                                 "set": {{"kind": "scenarios", "points": [[0, 0], [1, 1], [1, 0], [0, 1]]}}}},
                "recourse": {{"variables": [{{"name": "y", "cost": 1, "lower": null}}],
                              "constraints": [{{"name": "r", "y": {{"y": 1}}, "xi": {{"g": -1, "h": -1}}, "upper": 0}},
                                              {{"name": "s", "y": {{"y": 1}}, "xi": {{"g": 1, "h": 1}}, "upper": 2}},
                                              {{"name": "t", "y": {{"y": 1}}, "xi": {{"g": -1, "h": 1}}, "lower": 0}},
                                              {{"name": "u", "y": {{"y": 1}}, "xi": {{"g": 1, "h": -1}}, "lower": 0}}
                              ]}}}}"#
        );
        load_text(&text, "text", Path::new("")).unwrap().check().unwrap()
    };
    // y is 0 at the first two scenarios and 1 at the other two: each has recourse, and no affine policy meets all four.
    let without_limit = settings("adr", None, None);
    for cost in ["1", "-1"] {
        let outcome = run(&problem(cost), &without_limit).unwrap();
        assert_eq!((outcome.status, outcome.stop), (Status::Unknown, Stop::Stalled), "{outcome:?}");
    }
    let stopped = run(&problem("1"), &settings("adr", Some(Duration::ZERO), None)).unwrap();
    assert_eq!((stopped.status, stopped.stop), (Status::Unknown, Stop::TimeLimit), "{stopped:?}");
}
