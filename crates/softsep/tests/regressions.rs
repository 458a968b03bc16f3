//! What once went wrong and fits into no family's suite.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use softsep::definition::{Row, ScenarioList, Variable};
use softsep::internals::format::load_text;
use softsep::methods::MethodSettings;
use softsep::recourse::{Answer, engine};
use softsep::report::evaluation_summary;
use softsep::run::{Clock, Event, Observer, Purpose, Stage, Stop, Verdict, stream};
use softsep::uncertainty::SetDefinition;
use softsep::{Certify, Error, Problem, ProblemDefinition, Settings, Status, evaluate, solve, solve_with};
use softsep_paper::instances::{LocationTransportation, Uncertain, location_transportation};

/// `sgd` with these options.
fn by_options<const N: usize>(options: [(&str, Value); N]) -> MethodSettings {
    MethodSettings::parse("sgd", &options.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()).unwrap()
}

fn problem(text: &str) -> Problem {
    load_text(text, "text", Path::new("")).unwrap().check().unwrap()
}

/// A ray whose price on a free column is small, but not against what it gains, is no certificate: a large y makes up
/// for it.
#[test]
fn recourse_that_needs_a_large_decision_is_not_called_infeasible() {
    for coefficient in ["1e-9", "1e-11"] {
        let problem = problem(&format!(
            r#"{{"format": "aro/1", "first_stage": {{"variables": [{{"name": "a", "cost": 1}}]}},
                "uncertainty": {{"parameters": ["g"], "set": {{"kind": "box", "lower": [0], "upper": [1]}}}},
                "recourse": {{"variables": [{{"name": "y", "cost": 1}}],
                              "constraints": [{{"name": "r", "y": {{"y": {coefficient}}}, "xi": {{"g": -1}},
                                               "lower": 0}}]}}}}"#
        ));
        let outcome = solve(&problem, &Settings::default()).unwrap();
        let expected = 1.0 / coefficient.parse::<f64>().unwrap();
        assert!((outcome.bounds.upper().unwrap() - expected).abs() <= 1e-6 * expected, "{coefficient}: {outcome:?}");
    }
}

/// Where nothing is worse than minus infinity, the scenario reported is still one of the set.
#[test]
fn an_evaluation_reports_a_member_of_the_set() {
    let problem = problem(
        r#"{"format": "aro/1", "first_stage": {"variables": [{"name": "a", "cost": 1}]},
            "uncertainty": {"parameters": ["g", "h"],
                            "set": {"kind": "ellipsoid", "center": [5, 5], "matrix": [[1, 0], [0, 1]]}},
            "recourse": {"variables": [{"name": "y", "cost": -1}],
                         "constraints": [{"name": "r", "y": {"y": 1}, "xi": {"g": -1, "h": -1}, "lower": 0}]}}"#,
    );
    let evaluation = evaluate(&problem, &[0.0], &Default::default()).unwrap();
    assert_eq!(evaluation.objective, f64::NEG_INFINITY);
    assert!(problem.set.contains(&evaluation.xi, 1e-9), "{:?}", evaluation.xi);
}

/// A market split: any choice is feasible, and no tree proves the best one in the time given. The decision at hand must
/// survive the clock.
#[test]
fn a_time_limit_keeps_the_decision_at_hand() {
    let mut file = ProblemDefinition::default();
    file.uncertainty.parameters.push("g".into());
    file.uncertainty.set = SetDefinition::Box { lower: vec![0.0], upper: vec![1.0] };
    for i in 0..50 {
        file.first_stage.variables.push(Variable::binary(format!("b{i}"), 0.0));
    }
    for k in 0..5_usize {
        let weights: Vec<f64> = (0..50_usize).map(|i| ((i * 37 + k * 101 + i * i * (k + 3)) % 99 + 1) as f64).collect();
        let half = (weights.iter().sum::<f64>() / 2.0).floor();
        let mut row = Row::new(format!("market {k}"));
        for (name, sign) in [(format!("more {k}"), 1.0), (format!("less {k}"), -1.0)] {
            file.recourse.variables.push(Variable::new(name.clone(), 1.0));
            row.y.push((name, sign));
        }
        row.x = weights.iter().enumerate().map(|(i, weight)| (format!("b{i}"), *weight)).collect();
        row.xi = vec![("g".into(), -1.0)];
        (row.lower, row.upper) = (half, half);
        file.recourse.constraints.push(row);
    }
    let problem = Problem::new(&file).unwrap();
    for method in ["ccg", "extensive"] {
        let settings = Settings {
            method: method.parse().unwrap(),
            gap: 0.0,
            time_limit: Some(Duration::from_millis(800)),
            ..Settings::default()
        };
        let outcome = solve(&problem, &settings).unwrap();
        let best = outcome.bounds.best();
        assert!(best.is_some_and(|best| problem.first.violation(&best.x).is_none()), "{method}: {outcome:?}");
    }
}

/// A master's binaries were off by 1e-14, and the program was solved again around integral ones: the decision came from
/// there and θ did not, so that nothing seemed worse than the master thought, and the run stalled.
#[test]
fn a_decision_and_what_it_is_thought_to_cost_belong_together() {
    let drawn =
        LocationTransportation { n: 15, uncertainty: Uncertain::Budget { gamma: 0.4 }, mixed_integer: true, seed: 1 };
    let problem = Problem::new(&location_transportation(&drawn).unwrap()).unwrap();
    let settings = Settings { method: "benders".parse().unwrap(), gap: 1e-5, ..Settings::default() };
    let outcome = solve(&problem, &settings).unwrap();
    assert_eq!(outcome.status, Status::Optimal, "{outcome:?}");
}

/// Transitions that an engine answers from memory look at no clock of its own: many of them in one iteration once
/// outlived every limit.
#[test]
fn many_transitions_heed_the_time_limit() {
    let drawn =
        LocationTransportation { n: 6, uncertainty: Uncertain::Budget { gamma: 0.5 }, mixed_integer: false, seed: 1 };
    let problem = Problem::new(&location_transportation(&drawn).unwrap()).unwrap();
    let settings = Settings {
        method: by_options([("transitions", 100_000_000.into())]),
        time_limit: Some(Duration::from_millis(500)),
        ..Settings::default()
    };
    let begun = Instant::now();
    let outcome = solve(&problem, &settings).unwrap();
    // The first separation has not come to an end.
    assert_eq!((outcome.status, outcome.bounds.nominal_cost().is_some()), (Status::Unknown, true));
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

/// In units so small that a solver's tolerance decides whether X is empty, the projection finds nothing where the
/// master finds something. Such a start is no failure.
#[test]
fn a_projection_and_a_master_that_disagree_on_a_start_fail_nothing() {
    let problem = problem(
        r#"{"format": "aro/1",
            "first_stage": {
                "variables": [{"name": "x0", "cost": 38200, "lower": -3.3e-5, "upper": 1.86e-4},
                              {"name": "x1", "cost": -530000, "upper": 4e-6}],
                "constraints": [{"name": "c0", "x": {"x0": -10500, "x1": 2560000}, "upper": 1.15}]},
            "uncertainty": {"parameters": ["u0", "u1"],
                            "set": {"kind": "scenarios", "points": [[146000, -2320000], [199000, 1270000]]}},
            "recourse": {
                "variables": [{"name": "y0", "cost": 3560}, {"name": "y1", "cost": 1.64, "upper": 1.02}],
                "constraints": [{"name": "r0", "y": {"y1": 2.21}, "x": {"x0": -2400, "x1": -690000},
                                 "xi": {"u0": 3.7e-6, "u1": 1.38e-6}, "lower": -0.26}]}}"#,
    );
    let method = by_options([("start", "support".into()), ("steps", "sqrt".into())]);
    let settings = Settings { method, iterations: Some(50), ..Settings::default() };
    let outcome = solve(&problem, &settings).unwrap();
    assert!(matches!(outcome.status, Status::Infeasible | Status::Unknown), "{outcome:?}");
}

/// A proof that cannot be had was once refused only when the descent came close, and forgotten when a limit came first.
#[test]
fn a_proof_that_cannot_be_had_is_refused_at_once() {
    let problem = problem(
        r#"{"format": "aro/1", "first_stage": {"variables": [{"name": "a", "cost": 1, "upper": 1}]},
            "uncertainty": {"parameters": ["g"], "set": {"kind": "box", "lower": [0], "upper": [1]}},
            "recourse": {"variables": [{"name": "y", "cost": 1, "cost_xi": {"g": 1}}],
                         "constraints": [{"name": "r", "y": {"y": 1}, "x": {"a": 1}, "xi": {"g": -1}, "lower": 0}]}}"#,
    );
    for (method, iterations) in [("sgd", Some(1)), ("sgd", None), ("bundle", None), ("auto", None)] {
        let settings =
            Settings { method: method.parse().unwrap(), certify: Certify::Exact, iterations, ..Settings::default() };
        let refused = solve(&problem, &settings);
        assert!(matches!(refused, Err(Error::Settings(_))), "{method}: {refused:?}");
    }
}

/// Parts of an ellipsoid's range that the ellipsoid does not reach once kept the bounds of their parents, and were
/// split without end.
#[test]
fn parts_that_an_ellipsoid_does_not_reach_are_not_searched() {
    let problem = problem(include_str!("regressions/ellipsoid-corners.json"));
    for method in ["auto", "ccg", "benders"] {
        let time_limit = Some(Duration::from_secs(60));
        let settings = Settings { method: method.parse().unwrap(), time_limit, ..Settings::default() };
        let outcome = solve(&problem, &settings).unwrap();
        assert_eq!(outcome.status, Status::Optimal, "{method}: {outcome:?}");
        // What the decision costs, by 10,000 points of the boundary asked one by one.
        let (best, upper) = (outcome.bounds.best().unwrap(), outcome.bounds.upper().unwrap());
        let states =
            problem.set.states(&softsep::uncertainty::StateSpec { convex: true, ..Default::default() }).unwrap();
        let (mut state, mut xi) = (states.blank(), vec![0.0; 3]);
        let mut random = stream(7, Purpose::Start, 0);
        let mut engine = engine(&problem, &Clock::unlimited()).unwrap();
        let mut answer = Answer::new(&problem);
        engine.at(&best.x);
        for _ in 0..10_000 {
            states.draw(&mut random, &mut state);
            states.realize(&state, &mut xi);
            engine.solve(&xi, &mut answer).unwrap();
            assert!(
                problem.first.value(&best.x) + answer.value <= upper + 1e-6,
                "{method}: ξ = {xi:?} refutes {upper}"
            );
        }
    }
}

/// The Moreau envelope is finite where there is no recourse. A decision that was looked at through it alone once ended
/// a run.
#[test]
fn a_smoothed_score_does_not_hide_that_there_is_no_recourse() {
    let problem = problem(
        r#"{"format": "aro/1", "first_stage": {"variables": [{"name": "a", "cost": 1, "upper": 1}]},
            "uncertainty": {"parameters": ["g", "h"],
                            "set": {"kind": "ellipsoid", "center": [0.5, 0.4], "matrix": [[1, 0], [0, 1]]}},
            "recourse": {"variables": [{"name": "y", "cost": 1, "upper": 0.1}],
                         "constraints": [{"name": "r", "y": {"y": 1}, "x": {"a": 1}, "xi": {"g": -1, "h": -1},
                                          "lower": 0}]}}"#,
    );
    for score in ["exact", "moreau:0.1", "moreau:10"] {
        let settings = Settings { method: by_options([("score", score.into())]), ..Settings::default() };
        let outcome = solve(&problem, &settings).unwrap();
        assert_eq!(outcome.status, Status::Infeasible, "{score}: {outcome:?}");
    }
}

/// Lists of more rows than extreme points are ever enumerated were searched by branch and bound, which found no parts
/// in them and took what ascents had met for the worst. Here is a needle: of 200,001 points on a circle, only those in
/// one narrow direction cost 10.
#[test]
fn long_lists_are_scanned_to_their_end() {
    const ROWS: usize = 200_001;
    let mut points = ScenarioList::new(2);
    for row in 0..ROWS {
        let (sin, cos) = (row as f64 * std::f64::consts::TAU / ROWS as f64).sin_cos();
        points.push(&[cos, sin]);
    }
    let mut file = ProblemDefinition::default();
    file.first_stage.variables.push(Variable::new("a", 1.0).bounded(0.0, 1.0));
    file.uncertainty.parameters = vec!["g".into(), "h".into()];
    file.uncertainty.set = SetDefinition::scenarios(points);
    file.recourse.variables.push(Variable::new("y", 1.0));
    let (sin, cos) = 0.6_f64.sin_cos();
    for (name, g, h, offset) in [("wide", 1.0, 0.0, 0.0), ("needle", 1e7 * cos, 1e7 * sin, 1e7 - 10.0)] {
        let mut row = Row::new(name);
        row.y = vec![("y".into(), 1.0)];
        row.x = vec![("a".into(), 0.5)];
        row.xi = vec![("g".into(), -g), ("h".into(), -h)];
        row.lower = -offset;
        file.recourse.constraints.push(row);
    }
    let problem = Problem::new(&file).unwrap();
    for method in ["ccg", "benders", "bundle", "sgd", "auto"] {
        let settings = Settings { method: method.parse().unwrap(), ..Settings::default() };
        let outcome = solve(&problem, &settings).unwrap();
        assert_eq!(outcome.status, Status::Optimal, "{method}");
        let upper = outcome.bounds.upper().unwrap();
        assert!((upper - 10.0).abs() < 0.05, "{method}: {upper}");
    }
    let evaluation = evaluate(&problem, &[0.0], &Default::default()).unwrap();
    assert!(evaluation.exact && (evaluation.objective - 10.0).abs() < 0.05, "{evaluation:?}");
}

/// The length of each step that a chain's record tells.
#[derive(Default)]
struct Steps(Vec<f64>);

impl Observer for Steps {
    fn see(&mut self, event: &Event) {
        if let Event::Step(record) = event {
            self.0.extend(record.chain.map(|chain| chain.step));
        }
    }
}

/// `bundle` once told a step of length 0 in every iteration, however far it had moved.
#[test]
fn steps_are_told_as_long_as_they_are() {
    let problem = problem(include_str!("regressions/ellipsoid-corners.json"));
    for method in ["bundle", "sgd"] {
        let mut steps = Steps::default();
        let settings = Settings { method: method.parse().unwrap(), ..Settings::default() };
        solve_with(&problem, &settings, &mut steps, &Default::default()).unwrap();
        let moved = steps.0.iter().filter(|&&step| step > 0.0).count();
        assert!(2 * moved > steps.0.len(), "{method}: {:?}", steps.0);
    }
}

/// Bounds of 0.3 and 0.7 leave an integer no value, which was once a fault of the file.
#[test]
fn an_integer_without_a_value_makes_the_problem_infeasible() {
    let problem = problem(
        r#"{"format": "aro/1",
            "first_stage": {"variables": [{"name": "a", "cost": 1, "type": "integer", "lower": 0.3, "upper": 0.7}]},
            "uncertainty": {"parameters": ["g"], "set": {"kind": "box", "lower": [0], "upper": [1]}},
            "recourse": {"variables": [{"name": "y", "cost": 1}],
                         "constraints": [{"name": "r", "y": {"y": 1}, "x": {"a": 1}, "xi": {"g": -1}, "lower": 0}]}}"#,
    );
    for method in ["auto", "ccg", "benders", "extensive", "adr", "branch-and-cut"] {
        let outcome = solve(&problem, &Settings::default().method(MethodSettings::named(method).unwrap())).unwrap();
        assert_eq!((outcome.status, outcome.stop), (Status::Infeasible, Stop::Proved), "{method}");
        let Some(Verdict::Infeasible(infeasible)) = outcome.verdict else { panic!("{method}: {:?}", outcome.verdict) };
        assert_eq!((infeasible.stage, infeasible.why.contains("\"a\"")), (Stage::First, true), "{infeasible:?}");
    }
    let evaluation = evaluate(&problem, &[0.5], &Default::default()).unwrap();
    assert_eq!(evaluation.status(), Status::Infeasible, "{evaluation:?}");
}

/// An evaluation gives the cost of a decision outside of X, and its status says where it is.
#[test]
fn the_status_of_an_evaluation_says_that_a_decision_is_not_feasible() {
    let problem = problem(
        r#"{"format": "aro/1",
            "first_stage": {"variables": [{"name": "a", "cost": 1}],
                            "constraints": [{"name": "most", "x": {"a": 2}, "upper": 4}]},
            "uncertainty": {"parameters": ["g"], "set": {"kind": "box", "lower": [0], "upper": [1]}},
            "recourse": {"variables": [{"name": "y", "cost": 1, "upper": 2}],
                         "constraints": [{"name": "r", "y": {"y": 1}, "x": {"a": 1}, "xi": {"g": -3}, "lower": 0}]}}"#,
    );
    for (x, expected, words) in [
        (2.0, Status::Feasible, "status       feasible"),
        (3.0, Status::Infeasible, "row \"most\" is violated"),
        (0.5, Status::Infeasible, "some scenario has no recourse"),
    ] {
        let evaluation = evaluate(&problem, &[x], &Default::default()).unwrap();
        assert_eq!(evaluation.status(), expected, "{evaluation:?}");
        let said = evaluation_summary(&problem, &evaluation);
        assert!(said.contains(words), "{said}");
    }
}

/// A program may solve many problems on a pool of its own: workers that wait for a run once took up further jobs on the
/// same stack, until it overflowed.
#[test]
fn many_problems_are_solved_on_the_workers_of_another_pool() {
    use rayon::prelude::*;
    use softsep::testing::{Recipe, random_problem};
    let problem = Problem::new(&random_problem(&Recipe { set: "box", ..Recipe::default() }, 1)).unwrap();
    let settings = Settings { method: "extensive".parse().unwrap(), threads: Some(1), ..Settings::default() };
    let objectives: Vec<Option<f64>> =
        (0..4000).into_par_iter().map(|_| solve(&problem, &settings).unwrap().objective()).collect();
    assert!(objectives[0].is_some() && objectives.iter().all(|objective| *objective == objectives[0]));
}
