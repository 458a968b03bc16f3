//! The conformance suite of methods.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::certify::Certify;
use crate::evaluate::evaluate;
use crate::format::ResultFile;
use crate::methods::{Entry, Reaches};
use crate::model::Problem;
use crate::outcome::{Outcome, Status};
use crate::report::result_file;
use crate::run::{Certificate, Silent, Stop, Verdict};
use crate::separation::Exact;
use crate::settings::{CallLimits, Settings};
use crate::solve::{solve, solve_with};

/// Tests the method `name` on a problem with a known `optimum` (`None`: infeasible): status, objective and bounds, its
/// own decision evaluated again, each limit, an interrupt, and equal results on 1, 2 and 4 threads. A method that ends
/// with an upper bound is held to that. Returns whether the method takes the problem.
pub fn check_method(name: &str, problem: &Problem, optimum: Option<f64>, tolerance: f64) -> bool {
    let entry = Entry::find(name).unwrap_or_else(|error| panic!("{error}"));
    let method = entry.parse(&Default::default()).unwrap_or_else(|error| panic!("{error}"));
    if method.build().accepts(problem).is_err() {
        return false;
    }
    let settings = Settings { method, gap: 0.1 * tolerance, ..Settings::default() };
    let outcome = run(problem, &settings);
    let context = format!("{name} on {}", problem.name);
    match optimum {
        _ if entry.reaches == Reaches::UpperBound => check_bounded(problem, &outcome, optimum, tolerance, &context),
        Some(optimum) if entry.reaches == Reaches::Estimate && !is_scanned(problem) => {
            check_estimated(problem, &outcome, optimum, tolerance, &context);
        }
        None => {
            assert_eq!(outcome.status, Status::Infeasible, "{context}");
            assert!(matches!(outcome.verdict, Some(Verdict::Infeasible(_))), "{context}: no explanation");
            assert_eq!(outcome.bounds.upper(), None, "{context}");
        }
        Some(optimum) => check_solved(problem, &outcome, optimum, tolerance, &context),
    }
    check_threads(problem, &settings, &outcome, &context);
    check_limits(problem, &settings, optimum, tolerance, &context);
    true
}

fn run(problem: &Problem, settings: &Settings) -> Outcome {
    let outcome = solve(problem, settings).unwrap_or_else(|error| panic!("{}: {error}", problem.name));
    assert_eq!(outcome.failure, None, "{}", problem.name);
    outcome
}

fn check_solved(problem: &Problem, outcome: &Outcome, optimum: f64, tolerance: f64, context: &str) {
    let margin = tolerance * (1.0 + optimum.abs());
    assert_eq!((outcome.status, outcome.stop), (Status::Optimal, Stop::Gap), "{context}");
    let best = outcome.bounds.best().unwrap_or_else(|| panic!("{context}: no decision"));
    assert!((best.value - optimum).abs() <= margin, "{context}: objective {} where {optimum} is optimal", best.value);
    check_bounds(outcome, optimum, margin, context);
    if outcome.bounds.certificate() == Certificate::Deterministic {
        let evaluation =
            evaluate(problem, &best.x, &CallLimits::default()).unwrap_or_else(|error| panic!("{context}: {error}"));
        assert!(evaluation.violation.is_none(), "{context}: the decision is not in X: {:?}", evaluation.violation);
        assert!(
            evaluation.objective <= best.value + margin,
            "{context}: the decision costs {}, not {}",
            evaluation.objective,
            best.value
        );
    }
}

/// Checks a method that ends with an upper bound: neither the optimum nor the cost of its decision is above it.
fn check_bounded(problem: &Problem, outcome: &Outcome, optimum: Option<f64>, tolerance: f64, context: &str) {
    let (Some(best), Some(upper)) = (outcome.bounds.best(), outcome.bounds.upper()) else {
        let is_right = outcome.status == Status::Unknown || optimum.is_none() && outcome.status == Status::Infeasible;
        assert!(is_right, "{context}: {:?}", outcome.verdict);
        return;
    };
    let optimum = optimum.unwrap_or_else(|| panic!("{context}: a decision for a problem that has none"));
    check_bounds(outcome, optimum, tolerance * (1.0 + optimum.abs()), context);
    let evaluation =
        evaluate(problem, &best.x, &CallLimits::default()).unwrap_or_else(|error| panic!("{context}: {error}"));
    assert!(evaluation.violation.is_none(), "{context}: the decision is not in X: {:?}", evaluation.violation);
    let margin = tolerance * (1.0 + upper.abs());
    assert!(
        evaluation.objective <= upper + margin,
        "{context}: costs {} above its bound {upper}",
        evaluation.objective
    );
    assert!(
        (evaluation.objective - best.value).abs() <= margin,
        "{context}: costs {}, not {}",
        evaluation.objective,
        best.value
    );
}

/// Whether the worst case of a decision is found by a scan of all scenarios.
fn is_scanned(problem: &Problem) -> bool {
    matches!(Exact::choose(problem), Ok(Exact::Scan(_)))
}

/// Checks a method that ends with an estimate: its lower bound holds, and the decision costs at least the estimate. The
/// quality of the decision depends on the scenarios met; on problems as small as those of this suite it is very nearly
/// optimal.
fn check_estimated(problem: &Problem, outcome: &Outcome, optimum: f64, tolerance: f64, context: &str) {
    let margin = tolerance * (1.0 + optimum.abs());
    check_bounds(outcome, optimum, margin, context);
    assert_eq!((outcome.status, outcome.bounds.upper()), (Status::Feasible, None), "{context}");
    let best = outcome.bounds.best().unwrap_or_else(|| panic!("{context}: no decision"));
    let evaluation =
        evaluate(problem, &best.x, &CallLimits::default()).unwrap_or_else(|error| panic!("{context}: {error}"));
    assert!(evaluation.violation.is_none(), "{context}: the decision is not in X: {:?}", evaluation.violation);
    assert!(
        evaluation.objective >= best.value - margin,
        "{context}: costs {} below its estimate",
        evaluation.objective
    );
    let near = 1e-3 * (1.0 + optimum.abs());
    assert!(best.value <= optimum + near, "{context}: {} where {optimum} is optimal", best.value);
    assert!(
        evaluation.objective <= optimum + near,
        "{context}: costs {} where {optimum} is optimal",
        evaluation.objective
    );
}

fn check_bounds(outcome: &Outcome, optimum: f64, margin: f64, context: &str) {
    if let Some(lower) = outcome.bounds.lower() {
        assert!(lower <= optimum + margin, "{context}: lower bound {lower} above the optimum {optimum}");
    }
    if let Some(upper) = outcome.bounds.upper() {
        assert!(upper >= optimum - margin, "{context}: upper bound {upper} below the optimum {optimum}");
    }
}

/// The result file of an outcome, its time aside.
fn timeless(problem: &Problem, outcome: &Outcome) -> ResultFile {
    ResultFile { seconds: 0.0, ..result_file(problem, outcome) }
}

fn check_threads(problem: &Problem, settings: &Settings, outcome: &Outcome, context: &str) {
    for threads in [1, 2, 4] {
        let again = run(problem, &Settings { threads: Some(threads), ..settings.clone() });
        assert_eq!(timeless(problem, &again), timeless(problem, outcome), "{context}: {threads} threads");
    }
}

fn check_limits(problem: &Problem, settings: &Settings, optimum: Option<f64>, tolerance: f64, context: &str) {
    let check = |outcome: &Outcome, what: &str| {
        if let Some(optimum) = optimum {
            check_bounds(outcome, optimum, tolerance * (1.0 + optimum.abs()), &format!("{context}, {what}"));
            assert_ne!(outcome.status, Status::Infeasible, "{context}, {what}");
        }
    };
    for micros in [1, 300, 3000] {
        let limited = Settings { time_limit: Some(Duration::from_micros(micros)), ..settings.clone() };
        check(&run(problem, &limited), "time limit");
    }
    check(&run(problem, &Settings { iterations: Some(1), ..settings.clone() }), "one iteration");
    let unproved = run(problem, &Settings { certify: Certify::None, ..settings.clone() });
    assert_eq!(unproved.bounds.upper(), None, "{context}: an upper bound that nobody asked for");
    check(&unproved, "no certificate");
    let raised = Arc::new(AtomicBool::new(true));
    let outcome =
        solve_with(problem, settings, &mut Silent, &raised).unwrap_or_else(|error| panic!("{context}: {error}"));
    assert!(
        outcome.stop == Stop::Interrupted || outcome.status == Status::Infeasible,
        "{context}: {:?} after an interrupt",
        outcome.stop
    );
    check(&outcome, "interrupt");
}
