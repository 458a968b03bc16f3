//! Recourse costs that move with ξ and fall without end at a typical scenario: other scenarios may bound the problem,
//! and where none does, that is proved.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use softsep::internals::format::load_text;
use softsep::{Problem, Settings, Status, solve};

/// `min cost·a + max over the set of min ξᵀy`, with y ≥ 1 − share·a for each entry of ξ.
fn problem(a: &str, set: &str, shares: &[f64]) -> Problem {
    let names: Vec<String> = (0..shares.len()).map(|i| format!("g{i}")).collect();
    let variables: Vec<String> =
        (0..shares.len()).map(|i| format!(r#"{{"name": "y{i}", "cost": 0, "cost_xi": {{"g{i}": 1}}}}"#)).collect();
    let rows: Vec<String> = shares
        .iter()
        .enumerate()
        .map(|(i, share)| format!(r#"{{"name": "r{i}", "y": {{"y{i}": 1}}, "x": {{"a": {share}}}, "lower": 1}}"#))
        .collect();
    let text = format!(
        r#"{{"format": "aro/1", "first_stage": {{"variables": [{{"name": "a", {a}}}]}},
            "uncertainty": {{"parameters": {names:?}, "set": {{{set}}}}},
            "recourse": {{"variables": [{}], "constraints": [{}]}}}}"#,
        variables.join(", "),
        rows.join(", ")
    );
    load_text(&text, "text", Path::new("")).unwrap().check().unwrap()
}

const CONTINUOUS: [&str; 4] = ["auto", "bundle", "sgd", "branch-and-cut"];

fn solved(problem: &Problem, methods: &[&str], optimum: Option<f64>) {
    for method in methods {
        let settings = Settings { method: method.parse().unwrap(), ..Settings::default() };
        let outcome = solve(problem, &settings).unwrap();
        match optimum {
            None => assert_eq!(outcome.status, Status::Unbounded, "{method}: {outcome:?}"),
            Some(optimum) => {
                let (objective, lower) = (outcome.objective().unwrap(), outcome.bounds.lower().unwrap());
                assert!((objective - optimum).abs() <= 2e-3 * optimum, "{method}: {outcome:?}");
                assert!(lower <= optimum + 1e-7, "{method}: {outcome:?}");
            }
        }
    }
}

/// The costs were called unbounded with an exit in error, since they are at the nominal scenario.
#[test]
fn a_scenario_where_costs_are_bounded_bounds_the_problem() {
    let a = r#""cost": 0.5, "upper": 4"#;
    solved(&problem(a, r#""kind": "box", "lower": [-3], "upper": [1]"#, &[1.0]), &CONTINUOUS, Some(0.5));
    // Both entries are nonnegative in a small part of the disc only, far from its centre, and at none of its points in
    // the direction of an axis.
    let disc = r#""kind": "ellipsoid", "center": [-0.6, -0.6], "matrix": [[1, 0], [0, 1]]"#;
    let optimum = 2.0 * (0.5_f64.sqrt() - 0.6);
    solved(&problem(a, disc, &[1.0, 0.5]), &CONTINUOUS, Some(optimum));
    let list = r#""kind": "scenarios", "points": [[-3], [-2], [1], [-1]]"#;
    solved(&problem(a, list, &[1.0]), &CONTINUOUS, Some(0.5));
    let integer = r#""cost": 0.5, "upper": 4, "type": "integer""#;
    let set = r#""kind": "box", "lower": [-3], "upper": [1]"#;
    solved(&problem(integer, set, &[1.0]), &["auto", "branch-and-cut"], Some(0.5));
}

#[test]
fn a_ray_that_falls_at_every_scenario_is_proved() {
    let a = r#""cost": 0.5, "upper": 4"#;
    let below = r#""kind": "box", "lower": [-3], "upper": [-1]"#;
    solved(&problem(a, below, &[1.0]), &CONTINUOUS, None);
    // Each entry is nonnegative somewhere in this disc, but never both.
    let disc = r#""kind": "ellipsoid", "center": [-0.8, -0.8], "matrix": [[1, 0], [0, 1]]"#;
    solved(&problem(a, disc, &[1.0, 0.5]), &CONTINUOUS, None);
    solved(&problem(a, r#""kind": "scenarios", "points": [[-3], [-2], [-1]]"#, &[1.0]), &CONTINUOUS, None);
    solved(&problem(r#""cost": 0.5, "upper": 4, "type": "integer""#, below, &[1.0]), &["auto", "branch-and-cut"], None);
    // The ray is one of x.
    let set = r#""kind": "box", "lower": [-3], "upper": [1]"#;
    solved(&problem(r#""cost": -2"#, set, &[1.0]), &CONTINUOUS, None);
}

/// Where no decision is feasible, a falling ray proves nothing.
#[test]
fn a_problem_without_a_feasible_decision_is_infeasible_and_not_unbounded() {
    let text = r#"{"format": "aro/1", "first_stage": {"variables": [{"name": "a", "cost": 0.5, "upper": 4}]},
        "uncertainty": {"parameters": ["g"], "set": {"kind": "box", "lower": [-3], "upper": [-1]}},
        "recourse": {"variables": [{"name": "y", "cost": 0, "cost_xi": {"g": 1}}],
                     "constraints": [{"name": "r", "y": {"y": 1}, "x": {"a": 1}, "lower": 1},
                                     {"name": "q", "x": {"a": 1}, "xi": {"g": 1}, "lower": 1.5}]}}"#;
    let problem = load_text(text, "text", Path::new("")).unwrap().check().unwrap();
    for method in CONTINUOUS {
        let settings = Settings { method: method.parse().unwrap(), ..Settings::default() };
        assert_eq!(solve(&problem, &settings).unwrap().status, Status::Infeasible, "{method}");
    }
}
