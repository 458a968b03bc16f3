//! Limits once ended runs with decisions that have no recourse at some scenario. Decisions without a certificate have
//! recourse at every scenario, as far as a search can tell: checked against every extreme point of small sets.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use softsep::internals::format::load_text;
use softsep::methods::MethodSettings;
use softsep::recourse::{Answer, RecourseOutcome, engine};
use softsep::report::{result_file, solve_summary};
use softsep::run::{Clock, RecourseEvidence};
use softsep::testing::{Recipe, Size, random_problem};
use softsep::{Certify, Problem, Settings, Status, solve};

const SETS: [&str; 5] = ["box", "l1", "budget", "polyhedron", "scenarios"];

/// Whether each extreme point of the set has recourse at x.
fn has_recourse(problem: &Problem, x: &[f64]) -> bool {
    let mut engine = engine(problem, &Clock::unlimited()).unwrap();
    let mut answer = Answer::new(problem);
    engine.at(x);
    problem.set.enumerate(100_000).unwrap().iter().all(|xi| {
        engine.solve(xi, &mut answer).unwrap();
        answer.outcome != RecourseOutcome::Infeasible
    })
}

#[test]
fn decisions_without_a_certificate_have_recourse_at_every_extreme_point() {
    let mut decisions = 0;
    let mut without = Vec::new();
    for set in SETS {
        for size in [Size::Small, Size::Medium] {
            for seed in 0..12 {
                let integers = seed % 3 == 2;
                let recipe = Recipe { set, size, integers, incomplete: true, ..Recipe::default() };
                let problem = Problem::new(&random_problem(&recipe, seed)).unwrap();
                let methods: &[&str] =
                    if integers { &["branch-and-cut"] } else { &["bundle", "sgd", "branch-and-cut"] };
                for method in methods {
                    for iterations in [None, Some(1), Some(3)] {
                        let settings = Settings {
                            method: method.parse::<MethodSettings>().unwrap(),
                            certify: Certify::None,
                            iterations,
                            ..Settings::default()
                        };
                        let outcome = solve(&problem, &settings).unwrap();
                        if outcome.status != Status::Feasible {
                            continue;
                        }
                        decisions += 1;
                        assert_eq!(outcome.recourse, RecourseEvidence::Proved, "every extreme point was asked");
                        if !has_recourse(&problem, outcome.x().unwrap()) {
                            without.push(format!("{set} {size:?} {seed} {method} {iterations:?} {:?}", outcome.stop));
                        }
                    }
                }
            }
        }
    }
    assert!(decisions > 50, "only {decisions} decisions");
    assert!(without.is_empty(), "{} of {decisions} lack recourse: {without:#?}", without.len());
}

/// Over an ellipsoid recourse is searched for and not proved, and the result says so; with a bound it is proved, and so
/// where any right-hand side has recourse.
#[test]
fn a_result_says_what_is_known_of_its_recourse() {
    let text = |upper: &str| {
        format!(
            r#"{{"format": "aro/1", "first_stage": {{"variables": [{{"name": "a", "cost": 1, "upper": 9}}]}},
                "uncertainty": {{"parameters": ["g", "h"],
                                 "set": {{"kind": "ellipsoid", "center": [1, 1], "matrix": [[1, 0], [0, 1]]}}}},
                "recourse": {{"variables": [{{"name": "y", "cost": 3{upper}}}],
                              "constraints": [{{"name": "r", "y": {{"y": 1}}, "x": {{"a": 1}},
                                               "xi": {{"g": -1, "h": -1}}, "lower": 0}}]}}}}"#
        )
    };
    for (upper, certify, expected) in [
        (r#", "upper": 1"#, Certify::None, RecourseEvidence::Searched),
        (r#", "upper": 1"#, Certify::Exact, RecourseEvidence::Proved),
        ("", Certify::None, RecourseEvidence::Proved),
    ] {
        let problem = load_text(&text(upper), "text", Path::new("")).unwrap().check().unwrap();
        let settings = Settings { method: "bundle".parse().unwrap(), certify, ..Settings::default() };
        let outcome = solve(&problem, &settings).unwrap();
        assert_eq!(outcome.recourse, expected, "{outcome:?}");
        let summary = solve_summary(&problem, &outcome);
        assert_eq!(summary.contains("searched for"), expected == RecourseEvidence::Searched, "{summary}");
        assert_eq!(result_file(&problem, &outcome).recourse, Some(expected));
    }
}
