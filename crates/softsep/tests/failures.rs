//! Failures inside a run, by an engine that fails at some solve: the result so far is returned with the reason, and
//! `auto` goes on with another method.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use softsep::internals::format::load_text;
use softsep::methods::METHODS;
use softsep::recourse::{Answer, EngineFactory, Recourse, RecourseBasis, RecourseError, RecourseWork, built_in_engine};
use softsep::report::{result_file, solve_summary};
use softsep::run::{Clock, Stop};
use softsep::{CallLimits, Outcome, Problem, Settings, Status, evaluate, solve};

/// Fails at these solves, counted over all engines of the factory from zero on.
#[derive(Debug)]
struct Failing {
    at: std::ops::Range<u64>,
    solves: Arc<AtomicU64>,
}

impl EngineFactory for Failing {
    fn build(&self, problem: &Problem, clock: &Clock) -> Result<Box<dyn Recourse>, RecourseError> {
        let inner = built_in_engine(problem, clock)?;
        Ok(Box::new(FailingEngine { inner, at: self.at.clone(), solves: Arc::clone(&self.solves), x: Vec::new() }))
    }
}

struct FailingEngine {
    inner: Box<dyn Recourse>,
    at: std::ops::Range<u64>,
    solves: Arc<AtomicU64>,
    x: Vec<f64>,
}

impl Recourse for FailingEngine {
    fn at(&mut self, x: &[f64]) {
        self.x = x.to_vec();
        self.inner.at(x);
    }

    fn solve(&mut self, xi: &[f64], answer: &mut Answer) -> Result<(), RecourseError> {
        if self.at.contains(&self.solves.fetch_add(1, Ordering::Relaxed)) {
            return Err(RecourseError::Numerical { x: self.x.clone(), xi: xi.to_vec(), why: "on purpose".into() });
        }
        self.inner.solve(xi, answer)
    }

    fn decision(&mut self, y: &mut [f64]) {
        self.inner.decision(y);
    }

    fn dual(&mut self, pi: &mut [f64]) {
        self.inner.dual(pi);
    }

    fn warm_start(&self) -> RecourseBasis {
        self.inner.warm_start()
    }

    fn start_from(&mut self, warm: &RecourseBasis) -> Result<(), RecourseError> {
        self.inner.start_from(warm)
    }

    fn work(&self) -> RecourseWork {
        self.inner.work()
    }
}

/// Two depots, a set, and a recourse with this further field. Each unit of demand costs 2 when it is stored, 10 later.
fn depots(set: &str, more: &str) -> Problem {
    let text = format!(
        r#"{{"format": "aro/1", "name": "depots",
            "first_stage": {{"variables": [{{"name": "a", "cost": 2, "upper": 50}},
                                           {{"name": "b", "cost": 3, "upper": 50}}]}},
            "uncertainty": {{"parameters": ["g", "h"], "set": {set}}},
            "recourse": {{"variables": [{{"name": "y", "cost": 10}}, {{"name": "z", "cost": 11}}],
                          "constraints": [{{"name": "r", "y": {{"y": 1}}, "x": {{"a": 1}},
                                            "xi": {{"g": -4, "h": -1}}, "lower": 5}},
                                          {{"name": "s", "y": {{"z": 1}}, "x": {{"b": 1}},
                                            "xi": {{"g": 1, "h": -3}}, "lower": 4}}]
                          {more}}}}}"#
    );
    load_text(&text, "text", Path::new("")).unwrap().check().unwrap()
}

const BOX: &str = r#"{"kind": "box", "lower": [0, 0], "upper": [1, 1]}"#;
const ELLIPSOID: &str = r#"{"kind": "ellipsoid", "center": [1, 1], "matrix": [[1, 0], [0.25, 1]]}"#;
const QUADRATIC: &str = r#", "quadratic": [["y", "y", 0.5]]"#;

/// The problem with engines that fail at these solves, and the count of all solves.
fn failing(problem: &Problem, at: std::ops::Range<u64>) -> (Problem, Arc<AtomicU64>) {
    let solves = Arc::new(AtomicU64::new(0));
    (problem.clone().with_engine(Failing { at, solves: Arc::clone(&solves) }), solves)
}

fn settings(method: &str) -> Settings {
    Settings { method: method.parse().unwrap(), gap: 1e-6, threads: Some(1), ..Settings::default() }
}

/// The outcome of a run, and the solves of all engines.
fn run(problem: &Problem, at: std::ops::Range<u64>, settings: &Settings) -> (Outcome, u64) {
    let (problem, solves) = failing(problem, at);
    let outcome = solve(&problem, settings).unwrap();
    (outcome, solves.load(Ordering::Relaxed))
}

/// Checks what a failed run holds against the optimum.
fn check_failed(problem: &Problem, outcome: &Outcome, optimum: f64, context: &str) {
    let context = format!("{context}: {outcome:?}");
    assert_eq!(outcome.stop, Stop::Failed, "{context}");
    let expected = if outcome.objective().is_some() { Status::Feasible } else { Status::Unknown };
    assert_eq!(outcome.status, expected, "{context}");
    assert!(outcome.bounds.lower().is_none_or(|lower| lower <= optimum + 1e-6), "{context}");
    assert!(outcome.bounds.upper().is_none_or(|upper| upper >= optimum - 1e-6), "{context}");
    let reason = outcome.failure.as_ref().unwrap().to_string();
    assert!(reason.contains("x = [") && reason.contains("ξ = [") && reason.contains("on purpose"), "{reason}");
    let file = result_file(problem, outcome);
    assert_eq!(file.failure.as_deref(), Some(reason.as_str()));
    assert!(file.write().contains(r#""stop": "failed""#), "{}", file.write());
    assert!(solve_summary(problem, outcome).contains("on purpose"));
}

#[test]
fn a_failure_keeps_the_result_so_far() {
    let problem = depots(BOX, "");
    let optimum = solve(&problem, &settings("extensive")).unwrap().bounds.upper().unwrap();
    let (mut bounded, mut decided) = (0, 0);
    for method in METHODS.iter().filter(|method| method.name != "auto") {
        let settings = settings(method.name);
        let (_, solves) = run(&problem, 0..0, &settings);
        for first in (0..solves).step_by((solves / 20).max(1) as usize) {
            let (outcome, _) = run(&problem, first..u64::MAX, &settings);
            if outcome.failure.is_none() {
                continue;
            }
            check_failed(&problem, &outcome, optimum, &format!("{} from solve {first} on", method.name));
            bounded += u32::from(outcome.bounds.lower().is_some());
            decided += u32::from(outcome.objective().is_some());
        }
    }
    assert!(bounded > 20 && decided > 20, "{bounded} with a bound, {decided} with a decision");
}

/// The recourse at the worst case is solved once more when the run is over.
#[test]
fn a_failure_at_the_very_end_costs_the_recourse_alone() {
    let problem = depots(BOX, "");
    let (whole, solves) = run(&problem, 0..0, &settings("ccg"));
    let (outcome, _) = run(&problem, solves - 1..solves, &settings("ccg"));
    assert_eq!((outcome.status, outcome.stop, &outcome.failure), (Status::Optimal, Stop::Gap, &None));
    assert_eq!(outcome.bounds, whole.bounds);
    let (worst, known) = (outcome.worst_case.as_ref().unwrap(), whole.worst_case.unwrap());
    assert!(worst.xi == known.xi && (worst.cost - known.cost).abs() < 1e-9 && worst.y.is_empty(), "{worst:?}");
    assert!(result_file(&problem, &outcome).worst_case.unwrap().y.is_none());

    let limits = CallLimits::default().threads(1);
    let (counting, solves) = failing(&problem, 0..0);
    let whole = evaluate(&counting, &[3.0, 2.0], &limits).unwrap();
    let last = solves.load(Ordering::Relaxed) - 1;
    let evaluation = evaluate(&failing(&problem, last..last + 1).0, &[3.0, 2.0], &limits).unwrap();
    assert_eq!((evaluation.objective, evaluation.exact), (whole.objective, true));
    // Where the exact separation fails, a search is left.
    let searched = evaluate(&failing(&problem, 0..1).0, &[3.0, 2.0], &limits).unwrap();
    assert_eq!((searched.objective, searched.exact, searched.upper), (whole.objective, false, None));
    assert!(searched.how.contains("on purpose"), "{}", searched.how);
}

/// In every strategy: `ccg` first, soft separation and a proof, soft separation alone.
#[test]
fn auto_goes_on_with_another_method() {
    for (set, more) in [(BOX, ""), (ELLIPSOID, ""), (ELLIPSOID, QUADRATIC)] {
        let problem = depots(set, more);
        let settings = Settings { gap: 1e-3, ..settings("auto") };
        let (whole, solves) = run(&problem, 0..0, &settings);
        let known = whole.bounds.best().unwrap().value;
        for first in (0..solves).step_by((solves / 10).max(1) as usize) {
            let (outcome, _) = run(&problem, first..first + 1, &settings);
            let context = format!("{set}{more}, solve {first}: {outcome:?}");
            assert!(outcome.failure.is_none() && outcome.stop != Stop::Failed, "{context}");
            let value = outcome.bounds.best().unwrap().value;
            assert!((value - known).abs() <= 2e-3 * known, "{context}");
        }
        let (outcome, _) = run(&problem, 0..u64::MAX, &settings);
        assert_eq!((outcome.stop, outcome.status), (Stop::Failed, Status::Unknown), "{set}{more}: {outcome:?}");
    }
}
