//! Decisions on the edge of robust feasibility: a master oversteps it by its tolerance, and a bound is proved for a
//! decision inside.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::time::Duration;

use softsep::internals::format::load_text;
use softsep::recourse::{Answer, engine};
use softsep::run::Clock;
use softsep::{Certify, Problem, Settings, Status, solve};

/// An ellipse, one x, one y and two rows.
struct Edge {
    center: [f64; 2],
    matrix: [[f64; 2]; 2],
    x_cost: f64,
    y: &'static str,
    rows: [&'static str; 2],
}

const EDGES: [Edge; 3] = [
    Edge {
        center: [0.0, 0.3],
        matrix: [[0.8, 0.0], [-0.45, 0.81]],
        x_cost: 1.99,
        y: r#""cost": 0.4"#,
        rows: [
            r#""y": {"y": 1}, "x": {"a": 1.79}, "xi": {"g": 1.812, "h": -1.2}, "lower": -0.8"#,
            r#""y": {"y": -0.96}, "x": {"a": 1.49}, "xi": {"g": 0.1, "h": -1.62}, "lower": -0.57"#,
        ],
    },
    Edge {
        center: [1.999, -0.5],
        matrix: [[1.09, 0.0], [-1.1, 0.91]],
        x_cost: 1.91,
        y: r#""cost": 0.91, "lower": -1, "upper": 0.5"#,
        rows: [
            r#""y": {"y": 1}, "x": {"a": 1.64}, "xi": {"g": -1.705, "h": -1.95}, "lower": -1.2"#,
            r#""y": {"y": -1}, "x": {"a": 0.73}, "xi": {"g": -0.34, "h": -1.513}, "lower": 1.04"#,
        ],
    },
    Edge {
        center: [-1.8, 0.625],
        matrix: [[1.6, 0.0], [1.48, 0.53]],
        x_cost: 1.15,
        y: r#""cost": 0.01, "upper": 5"#,
        rows: [
            r#""y": {"y": -0.74}, "x": {"a": 0.82}, "xi": {"g": -0.4, "h": -1.3}, "lower": 0.828"#,
            r#""y": {"y": -1.521}, "x": {"a": 1.83}, "xi": {"g": -0.359, "h": -1.6}, "lower": -1.686"#,
        ],
    },
];

impl Edge {
    fn problem(&self) -> Problem {
        let Self { center, matrix, x_cost, y, rows } = self;
        let text = format!(
            r#"{{"format": "aro/1",
                "first_stage": {{"variables": [{{"name": "a", "cost": {x_cost}, "upper": 100}}]}},
                "uncertainty": {{"parameters": ["g", "h"],
                                 "set": {{"kind": "ellipsoid", "center": {center:?}, "matrix": {matrix:?}}}}},
                "recourse": {{"variables": [{{"name": "y", {y}}}],
                              "constraints": [{{"name": "r", {}}}, {{"name": "s", {}}}]}}}}"#,
            rows[0], rows[1]
        );
        load_text(&text, "text", Path::new("")).unwrap().check().unwrap()
    }

    /// The largest cost of x over points of the boundary, asked one by one.
    fn largest_cost(&self, problem: &Problem, x: &[f64]) -> f64 {
        let mut engine = engine(problem, &Clock::unlimited()).unwrap();
        let mut answer = Answer::new(problem);
        engine.at(x);
        (0..5_000).fold(f64::NEG_INFINITY, |most, step| {
            let (sin, cos) = (f64::from(step) * std::f64::consts::TAU / 5_000.0).sin_cos();
            let on_axis = |i: usize| self.center[i] + self.matrix[i][0] * cos + self.matrix[i][1] * sin;
            engine.solve(&[on_axis(0), on_axis(1)], &mut answer).unwrap();
            most.max(problem.first.value(x) + answer.value)
        })
    }
}

/// Every cut was met within the master's tolerance, and every part of the ellipse around the scenario without slack
/// was split for ever: no upper bound came.
#[test]
fn a_decision_inside_has_the_bound_that_one_on_the_edge_has_not() {
    for edge in &EDGES {
        let problem = edge.problem();
        for method in ["auto", "ccg", "benders", "bundle", "sgd", "branch-and-cut"] {
            let settings = Settings {
                method: method.parse().unwrap(),
                certify: Certify::Exact,
                time_limit: Some(Duration::from_secs(20)),
                ..Settings::default()
            };
            let outcome = solve(&problem, &settings).unwrap();
            assert_eq!(outcome.status, Status::Optimal, "{method}: {outcome:?}");
            let (x, upper) = (outcome.x().unwrap(), outcome.bounds.upper().unwrap());
            let cost = edge.largest_cost(&problem, x);
            assert!(cost <= upper + 1e-9 * upper, "{method}: x = {x:?} costs {cost} and not {upper}");
        }
    }
}
