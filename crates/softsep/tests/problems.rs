//! Every problem in `problems/` against its expected result, which is known in a way that has nothing to do with the
//! solver: a formula worked out by hand (`problems/hand.rs`) and brute force (`problems/brute.rs`).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "problems/brute.rs"]
mod brute;
#[path = "problems/hand.rs"]
mod hand;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use brute::{least, members, spread};
use hand::{Cost, HAND, Hand, first_cost};
use serde::Deserialize;
use softsep::internals::format::{load, load_text, write};
use softsep::methods::{BranchAndCutSettings, METHODS, Reaches, Root};
use softsep::recourse::{Answer, Recourse, RecourseOutcome, engine};
use softsep::report::{NamedValues, ResultFile};
use softsep::run::{Certificate, Clock, Stage, Verdict};
use softsep::{
    CallLimits, Certify, Error, Outcome, ProbabilisticTarget, Problem, ProblemDefinition, Settings, Status, evaluate,
    solve,
};

/// The relative gap that is asked for.
const GAP: f64 = 1e-6;

/// `NAME.expected.json`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    status: Status,
    optimum: Option<f64>,
    /// Of the optimum, absolute.
    tolerance: f64,
    /// An optimal decision.
    x: Option<BTreeMap<String, f64>>,
    /// Methods that solve it; every other one must refuse it.
    methods: Vec<String>,
    /// What a refusal must say, by method.
    #[serde(default)]
    refused: BTreeMap<String, String>,
    /// What must be said of an infeasible problem.
    infeasible: Option<Explanation>,
    /// The recourse variables that must be named of an unbounded one.
    unbounded: Option<Vec<String>>,
    /// A first-stage ray of an unbounded one.
    ray: Option<Ray>,
    /// What the extreme points alone would make of the optimum, where they mislead.
    extreme_points_claim: Option<f64>,
    proof: String,
    source: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Explanation {
    stage: Stage,
    /// Rows that must be named.
    rows: Vec<String>,
    /// The only ξ that can be to blame.
    xi: Option<BTreeMap<String, f64>>,
    /// The ξ that can be, where several must come together.
    xi_among: Option<Vec<Vec<f64>>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ray {
    x: BTreeMap<String, f64>,
    along: BTreeMap<String, f64>,
}

/// A problem with all that is known about it.
struct Case {
    name: String,
    path: PathBuf,
    file: ProblemDefinition,
    problem: Problem,
    expected: Expected,
    hand: &'static Hand,
}

impl Case {
    /// The decision of that name in the order of the variables; names that are left out are 0.
    fn decision(&self, values: &BTreeMap<String, f64>) -> Vec<f64> {
        let known = |name: &String| self.problem.names.first.contains(name);
        assert!(values.keys().all(known), "{}: {values:?} has an unknown name", self.name);
        self.problem.names.first.iter().map(|name| values.get(name).copied().unwrap_or(0.0)).collect()
    }

    fn members(&self) -> Vec<Vec<f64>> {
        members(&self.file.uncertainty.set, &self.file.uncertainty.parameters)
    }

    fn engine(&self) -> Box<dyn Recourse> {
        engine(&self.problem, &Clock::unlimited()).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    /// f(x) plus the largest recourse cost over `points`, from the recourse engine; ∞ if one has no recourse.
    fn worst(&self, engine: &mut dyn Recourse, x: &[f64], points: &[Vec<f64>]) -> f64 {
        let mut answer = Answer::new(&self.problem);
        engine.at(x);
        let value = |xi: &Vec<f64>| {
            engine.solve(xi, &mut answer).unwrap_or_else(|error| panic!("{}: {error}", self.name));
            answer.value
        };
        self.problem.first.value(x) + points.iter().map(value).fold(f64::NEG_INFINITY, f64::max)
    }

    /// How the recourse ends at (x, ξ).
    fn ends(&self, engine: &mut dyn Recourse, x: &[f64], xi: &[f64]) -> RecourseOutcome {
        let mut answer = Answer::new(&self.problem);
        engine.at(x);
        engine.solve(xi, &mut answer).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        answer.outcome
    }

    fn in_first_stage(&self, x: &[f64]) -> bool {
        self.problem.first.violation(x).is_none_or(|violation| violation.amount <= 1e-9)
    }
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../problems");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().strip_suffix(".json").map(str::to_owned);
    let case = |path: PathBuf| {
        let name = name(&path)?;
        if name.ends_with(".expected") {
            return None;
        }
        let text =
            fs::read_to_string(path.with_extension("expected.json")).unwrap_or_else(|error| panic!("{name}: {error}"));
        let expected = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}.expected.json: {error}"));
        let hand =
            HAND.iter().find(|hand| hand.name == name).unwrap_or_else(|| panic!("{name} is not in problems/hand.rs"));
        let file = load(&path).unwrap_or_else(|error| panic!("{error}")).definition;
        let problem = softsep::read(&path).unwrap_or_else(|error| panic!("{error}"));
        Some(Case { name, path, file, problem, expected, hand })
    };
    paths.into_iter().filter_map(case).collect()
}

fn run(problem: &Problem, method: &str, threads: usize) -> Result<(Outcome, ResultFile), Error> {
    let settings =
        Settings { method: method.parse().unwrap(), gap: GAP, threads: Some(threads), ..Settings::default() };
    let outcome = solve(problem, &settings)?;
    let mut file = softsep::report::result_file(problem, &outcome);
    file.seconds = 0.0;
    Ok((outcome, file))
}

fn close(value: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((value - expected).abs() <= tolerance, "{what}: {value}, not {expected} within {tolerance}");
}

#[test]
fn the_list_is_whole() {
    let cases = cases();
    assert_eq!(cases.len(), HAND.len(), "a line of problems/hand.rs has no file");
    for Case { name, expected, hand, problem, .. } in &cases {
        assert!(
            !problem.name.is_empty() && !expected.proof.is_empty() && !expected.source.is_empty(),
            "{name}: a text is missing"
        );
        assert_eq!(hand.dim, problem.first.dim(), "{name}");
        let optimal = expected.status == Status::Optimal;
        assert_eq!(optimal, expected.optimum.is_some(), "{name}");
        assert_eq!(optimal, expected.x.is_some(), "{name}");
        assert_eq!(optimal, !matches!(hand.cost, Cost::None), "{name}");
        assert_eq!(expected.status == Status::Infeasible, expected.infeasible.is_some(), "{name}");
        assert_eq!(expected.status == Status::Unbounded, expected.unbounded.is_some(), "{name}");
        for method in expected.methods.iter().chain(expected.refused.keys()) {
            assert!(METHODS.iter().any(|entry| entry.name == method), "{name}: there is no method {method}");
        }
    }
}

#[test]
fn methods_find_what_is_expected() {
    for case in cases() {
        for entry in METHODS.iter().filter(|entry| entry.name != "auto") {
            if case.expected.methods.iter().any(|method| method == entry.name) {
                check_solved(&case, entry.name);
            } else if entry.reaches == Reaches::UpperBound && !case.expected.refused.contains_key(entry.name) {
                check_bounded(&case, entry.name);
            } else if entry.reaches == Reaches::Estimate
                && (entry.name == "branch-and-cut" || !case.problem.first.has_integers())
            {
                check_estimated(&case, entry.name);
            } else {
                check_refused(&case, entry.name);
            }
        }
        match case.expected.methods.is_empty() {
            false => check_solved(&case, "auto"),
            true => check_estimated(&case, "auto"),
        }
    }
}

/// Problems without an optimum are proved to have none also where no relaxation is solved first.
#[test]
fn trees_prove_that_there_is_no_optimum() {
    let mut seen = 0;
    for case in cases().iter().filter(|case| case.expected.optimum.is_none()) {
        for root in [Root::None, Root::Sgd] {
            let method = BranchAndCutSettings::default().with_root(root);
            let settings = Settings { method: method.into(), gap: GAP, ..Settings::default() };
            let outcome = solve(&case.problem, &settings).unwrap();
            assert_eq!(outcome.status, case.expected.status, "{}, {root}", case.name);
            seen += 1;
        }
    }
    assert!(seen >= 12, "{seen}");
}

/// Algorithm 3 as printed on every problem: no lower bound is above the optimum, no bound that it certifies under
/// derived constants below it (each is false with a probability of 1e-6 at most), and nothing is scanned.
#[test]
fn the_papers_preset_bounds_no_problem_wrongly() {
    let mut certified = 0;
    for case in cases() {
        let method = BranchAndCutSettings::paper().with_root_iterations(100);
        let certify = Certify::Probabilistic(ProbabilisticTarget { confidence: 1.0 - 1e-6, ..Default::default() });
        let settings = Settings { method: method.into(), certify, gap: 1e-3, ..Settings::default() };
        let name = &case.name;
        let outcome = match solve(&case.problem, &settings) {
            Ok(outcome) => outcome,
            // Sets that uniform draws do not reach.
            Err(Error::Settings(said)) if said.contains("cannot be drawn") => continue,
            Err(error) => panic!("{name}: {error}"),
        };
        // Costs that move with ξ, where no bound is known from below.
        if let Some(failure) = &outcome.failure {
            assert!(failure.to_string().contains("falls without end"), "{name}: {failure}");
            continue;
        }
        let Some(optimum) = case.expected.optimum else {
            assert_eq!(outcome.status, case.expected.status, "{name}");
            continue;
        };
        let rounding = 1e-6 * optimum.abs().max(1.0);
        assert!(outcome.bounds.lower().is_none_or(|lower| lower <= optimum + rounding), "{name}: {outcome:?}");
        assert!(outcome.bounds.upper().is_none() && outcome.exact_separations == 0, "{name}: {outcome:?}");
        if let Some(likely) = outcome.bounds.likely() {
            certified += 1;
            assert!(likely.upper >= optimum - rounding, "{name}: {outcome:?}");
        }
    }
    assert!(certified >= 10, "{certified}");
}

fn check_refused(case: &Case, method: &str) {
    match run(&case.problem, method, 1) {
        Err(Error::Unsupported(refusal)) => {
            let text = refusal.to_string();
            assert!(text.contains(refusal.method) && !refusal.instead.is_empty(), "{}: {text}", case.name);
            if let Some(part) = case.expected.refused.get(method) {
                assert!(text.contains(part), "{}: \"{text}\" does not say \"{part}\"", case.name);
            }
        }
        other => panic!("{}: {method} should refuse it, not say {other:?}", case.name),
    }
}

/// A method that ends with an upper bound: it holds, and so does what it says of its decision. It may refuse.
fn check_bounded(case: &Case, method: &str) {
    let context = format!("{} by {method}", case.name);
    let result = match run(&case.problem, method, 1) {
        Ok((_, result)) => result,
        Err(Error::Unsupported(_)) => return,
        Err(error) => panic!("{context}: {error}"),
    };
    match case.expected.optimum {
        Some(optimum) => {
            let upper = result.upper_bound.unwrap_or(f64::INFINITY);
            assert!(upper >= optimum - case.expected.tolerance, "{context}: {upper} is below the optimum {optimum}");
            assert!(
                result.lower_bound.is_none_or(|lower| lower <= optimum + case.expected.tolerance),
                "{context}: {result:?}"
            );
            assert!(result.objective.is_none_or(|objective| objective <= upper), "{context}: {result:?}");
        }
        None => assert!(result.upper_bound.is_none() && result.status != Status::Optimal, "{context}: {result:?}"),
    }
}

/// A method that comes as close as asked for, and ends with an estimate where it cannot scan: what it proves is true,
/// and what it finds is close.
fn check_estimated(case: &Case, method: &str) {
    let context = format!("{} by {method}", case.name);
    let (outcome, result) = run(&case.problem, method, 1).unwrap_or_else(|error| panic!("{context}: {error}"));
    let Some(optimum) = case.expected.optimum else { return check_solved(case, method) };
    let size = optimum.abs().max(1.0);
    let close = match outcome.status {
        Status::Optimal => 2.0 * GAP * size,
        Status::Feasible => 1e-3 * size,
        _ => panic!("{context}: {result:?}"),
    };
    let rounding = 1e-7 * size;
    assert!(result.lower_bound.is_some_and(|lower| lower <= optimum + rounding), "{context}: {result:?}");
    assert!(result.upper_bound.is_none_or(|upper| upper >= optimum - rounding), "{context}: {result:?}");
    assert!(result.objective.is_some_and(|found| (found - optimum).abs() <= close), "{context}: {result:?}");
}

fn check_solved(case: &Case, method: &str) {
    let context = format!("{} by {method}", case.name);
    let (outcome, result) = run(&case.problem, method, 1).unwrap_or_else(|error| panic!("{context}: {error}"));
    let (_, on_two) = run(&case.problem, method, 2).unwrap_or_else(|error| panic!("{context}: {error}"));
    assert_eq!(result.write(), on_two.write(), "{context}: one thread and two");
    assert_eq!(ResultFile::read(&result.write()), Ok(result.clone()), "{context}: the result file reads back");
    assert_eq!(result.status, case.expected.status, "{context}: {result:?}");
    match result.status {
        Status::Optimal => check_optimal(case, &result, &context),
        Status::Infeasible => check_infeasible(case, &result, &context),
        _ => check_unbounded(case, &outcome, &result, &context),
    }
}

fn check_optimal(case: &Case, result: &ResultFile, context: &str) {
    let (optimum, tolerance) = (case.expected.optimum.unwrap(), case.expected.tolerance);
    let (lower, upper) = (result.lower_bound.unwrap(), result.upper_bound.unwrap());
    // A method may stop as soon as the gap asked for is met.
    close(result.objective.unwrap(), optimum, tolerance.max(GAP * optimum.abs()), context);
    // A bound by an affine policy holds for sure, with its tolerance.
    let above = upper - result.objective.unwrap();
    assert!((0.0..=1e-8 * upper.abs().max(1.0)).contains(&above), "{context}: {above}");
    assert_eq!(result.certificate.as_ref().unwrap().kind, Certificate::Deterministic, "{context}");
    // Around an optimum of zero bounds that no solver could tell apart stand in for the relative gap.
    assert!(lower <= upper && (result.gap.unwrap() <= GAP || upper - lower <= 1e-9), "{context}: {lower} to {upper}");
    // Bounds hold up to the solvers' tolerances, which are far below the problem's own.
    let rounding = 1e-7 * optimum.abs().max(1.0);
    assert!(
        lower <= optimum + rounding && upper >= optimum - rounding,
        "{context}: {optimum} is not in {lower} to {upper}"
    );

    // The decision costs what the result says: evaluated, and by the formula.
    let x: Vec<f64> = result.x.as_ref().unwrap().0.iter().map(|(_, value)| *value).collect();
    let evaluation = evaluate(&case.problem, &x, &CallLimits::default().threads(1)).unwrap();
    assert!(evaluation.exact && evaluation.violation.is_none(), "{context}: {evaluation:?}");
    close(evaluation.objective, upper, 1e-9 * upper.abs().max(1.0), &format!("{context}, evaluated"));
    if let Cost::Formula(cost) = case.hand.cost {
        close(cost(&x), upper, 10.0 * rounding, &format!("{context}, by hand"));
    }

    // And the worst case explains it.
    let worst = result.worst_case.as_ref().unwrap();
    close(
        case.problem.first.value(&x) + worst.recourse_cost,
        upper,
        rounding,
        &format!("{context}, in its worst case"),
    );
    assert!(
        case.problem.set.contains(&worst.xi.0.iter().map(|(_, value)| *value).collect::<Vec<_>>(), 1e-9),
        "{context}"
    );
}

fn check_infeasible(case: &Case, result: &ResultFile, context: &str) {
    assert!(result.x.is_none() && result.objective.is_none() && result.lower_bound.is_none(), "{context}: {result:?}");
    let (found, expected) = (result.infeasible.as_ref().unwrap(), case.expected.infeasible.as_ref().unwrap());
    assert_eq!(found.stage, expected.stage, "{context}: {found:?}");
    for row in &expected.rows {
        assert!(
            found.rows.contains(row) && found.why.contains(row.as_str()),
            "{context}: \"{row}\" is not named in {found:?}"
        );
    }
    assert_eq!(found.xi.is_empty(), expected.stage == Stage::First, "{context}: {found:?}");
    if let Some(expected) = &expected.xi {
        let expected = NamedValues(expected.iter().map(|(name, &value)| (name.clone(), value)).collect());
        assert_eq!(found.xi, [expected], "{context}");
    }
    if let Some(expected) = &expected.xi_among {
        let named =
            |among: &Vec<f64>| found.xi.iter().filter(|xi| xi.0.iter().map(|(_, value)| value).eq(among)).count();
        let counts: Vec<usize> = expected.iter().map(named).collect();
        assert!(counts.iter().all(|&count| count <= 1), "{context}: {found:?}");
        assert!(found.xi.len() > 1 && counts.iter().sum::<usize>() == found.xi.len(), "{context}: {found:?}");
    }
}

fn check_unbounded(case: &Case, outcome: &Outcome, result: &ResultFile, context: &str) {
    assert!(result.x.is_none() && result.objective.is_none() && result.lower_bound.is_none(), "{context}: {result:?}");
    assert_eq!(&result.unbounded.clone().unwrap_or_default(), case.expected.unbounded.as_ref().unwrap(), "{context}");
    let Some(Verdict::Unbounded(verdict)) = &outcome.verdict else { panic!("{context}: {outcome:?}") };
    let found: Vec<&String> = verdict.first.iter().map(|&j| &case.problem.names.first[j]).collect();
    let along: Vec<&String> = case.expected.ray.iter().flat_map(|ray| ray.along.keys()).collect();
    assert_eq!(found, along, "{context}");
}

#[test]
fn formulas_agree_with_the_recourse_on_a_grid() {
    for case in cases() {
        let points = case.members();
        let mut engine = case.engine();
        let count = if case.hand.dim > 2 { 3 } else { 7 };
        for x in spread(case.hand, count) {
            assert!(
                matches!(case.hand.cost, Cost::None) || case.in_first_stage(&x),
                "{}: x = {x:?} is not in X",
                case.name
            );
            let by_hand = match case.hand.cost {
                Cost::Formula(cost) => cost(&x),
                Cost::Scenarios(list) => {
                    let list: Vec<Vec<f64>> = list.iter().map(|xi| xi.to_vec()).collect();
                    case.worst(engine.as_mut(), &x, &list)
                }
                Cost::None => continue,
            };
            let on_grid = case.worst(engine.as_mut(), &x, &points);
            close(on_grid, by_hand, 1e-5 * by_hand.abs().max(1.0), &format!("{}, x = {x:?}", case.name));
        }
    }
}

#[test]
fn searches_find_the_optimum() {
    for case in cases() {
        let (Some(optimum), Some(x)) = (case.expected.optimum, &case.expected.x) else { continue };
        let (x, tolerance) = (case.decision(x), case.expected.tolerance);
        assert!(case.in_first_stage(&x), "{}: the expected x is not in X", case.name);
        let mut engine = case.engine();
        let mut answer = Answer::new(&case.problem);
        let mut cost = |x: &[f64]| match case.hand.cost {
            Cost::Formula(cost) => cost(x),
            Cost::Scenarios(list) => {
                engine.at(x);
                let mut value = |xi: &[f64; 3]| {
                    engine.solve(xi, &mut answer).unwrap();
                    answer.value
                };
                first_cost(case.hand.name, x) + list.iter().map(&mut value).fold(f64::NEG_INFINITY, f64::max)
            }
            Cost::None => unreachable!("it has an optimum"),
        };
        // The expected decision costs the optimum, and nothing that the search meets costs less.
        close(cost(&x), optimum, tolerance.min(1e-6 * optimum.abs().max(1.0)), &format!("{}, expected x", case.name));
        let steps = if case.hand.dim > 2 { 26 } else { 60 };
        let found = least(case.hand, steps, &mut cost);
        assert!(found >= optimum - 1e-6 * optimum.abs().max(1.0), "{}: a search finds {found}", case.name);
        close(found, optimum, 1e-3 * optimum.abs().max(1.0), &format!("{}, searched", case.name));

        // The library's evaluation of that decision never exceeds its cost, and meets it where it says so.
        let evaluation = evaluate(&case.problem, &x, &CallLimits::default().threads(1)).unwrap();
        assert!(evaluation.objective <= optimum + tolerance, "{}: {evaluation:?}", case.name);
        assert!(!evaluation.exact || evaluation.objective >= optimum - tolerance, "{}: {evaluation:?}", case.name);
        assert!(evaluation.exact || case.expected.methods.is_empty(), "{}: {evaluation:?}", case.name);
    }
}

/// What no method can solve yet is solved by a search over x, with the recourse at every point of a fine grid of the
/// set.
#[test]
fn scans_find_the_optimum_of_what_is_refused() {
    let mut seen = 0;
    for case in cases().iter().filter(|case| case.expected.methods.is_empty()) {
        let (mut engine, grid) = (case.engine(), case.members());
        let found = least(case.hand, 40, &mut |x| case.worst(engine.as_mut(), x, &grid));
        let optimum = case.expected.optimum.unwrap();
        close(found, optimum, 1e-5 * optimum.abs().max(1.0), &format!("{}, scanned", case.name));
        seen += 1;
    }
    assert!(seen >= 2);
}

/// Where costs move with ξ the extreme points can miss the worst case: solving for them alone would claim too little.
#[test]
fn extreme_points_can_mislead() {
    let mut seen = 0;
    for case in cases() {
        let (Some(claim), Some(optimum)) = (case.expected.extreme_points_claim, case.expected.optimum) else {
            continue;
        };
        let extremes: Vec<Vec<f64>> = case.problem.set.enumerate(1000).unwrap().iter().map(<[f64]>::to_vec).collect();
        let mut engine = case.engine();
        let found = least(case.hand, 60, &mut |x| case.worst(engine.as_mut(), x, &extremes));
        close(found, claim, 1e-5, &format!("{}, extreme points", case.name));
        assert!(claim < optimum, "{}", case.name);
        seen += 1;
    }
    assert!(seen > 0);
}

/// No decision on a fine grid has recourse to all scenarios, and where one scenario is to blame, none has recourse to
/// that one; every other scenario can be served alone.
#[test]
fn infeasible_problems_are() {
    for case in cases() {
        let Some(expected) = &case.expected.infeasible else { continue };
        let (mut engine, points) = (case.engine(), case.members());
        let mut served = |x: &[f64], xi: &[f64]| case.ends(engine.as_mut(), x, xi) == RecourseOutcome::Solved;
        let decisions: Vec<Vec<f64>> = spread(case.hand, if case.hand.dim == 1 { 21 } else { 11 })
            .into_iter()
            .filter(|x| case.in_first_stage(x))
            .collect();
        assert_eq!(decisions.is_empty(), expected.stage == Stage::First, "{}", case.name);
        for x in &decisions {
            assert!(!points.iter().all(|xi| served(x, xi)), "{}: x = {x:?} serves all", case.name);
        }
        let blamed: Option<Vec<f64>> = expected.xi.as_ref().map(|xi| xi.values().copied().collect());
        if expected.stage == Stage::Recourse {
            for xi in &points {
                let can = decisions.iter().any(|x| served(x, xi));
                assert_eq!(can, blamed.as_ref() != Some(xi), "{}: ξ = {xi:?}", case.name);
            }
        }
        if case.problem.first.has_integers() {
            // Three quarters of a van more, and all could be served: integers are to blame.
            let fractional = spread(&Hand { range: |_| hand::Range::Real(0.0, 5.0), ..*case.hand }, 21);
            assert!(fractional.iter().any(|x| points.iter().all(|xi| served(x, xi))), "{}", case.name);
        }
    }
}

/// Along the expected ray the cost falls with every step; or the recourse is unbounded everywhere.
#[test]
fn unbounded_problems_are() {
    for case in cases().iter().filter(|case| case.expected.status == Status::Unbounded) {
        let (mut engine, points) = (case.engine(), case.members());
        if let Some(ray) = &case.expected.ray {
            let (start, along) = (case.decision(&ray.x), case.decision(&ray.along));
            let mut last = f64::INFINITY;
            for step in [0.0, 1.0, 1e3, 1e6] {
                let x: Vec<f64> = start.iter().zip(&along).map(|(start, along)| start + step * along).collect();
                let cost = case.worst(engine.as_mut(), &x, &points);
                assert!(case.in_first_stage(&x) && cost < last - 0.5, "{}: {cost} after {last}", case.name);
                last = cost;
            }
        } else {
            for x in spread(case.hand, 5) {
                for xi in &points {
                    assert_eq!(
                        case.ends(engine.as_mut(), &x, xi),
                        RecourseOutcome::Unbounded,
                        "{}: x = {x:?}, ξ = {xi:?}",
                        case.name
                    );
                }
            }
        }
    }
}

#[test]
fn what_is_written_has_the_same_optimum() {
    for case in cases() {
        let folder = case.path.parent().unwrap();
        let again =
            load_text(&write(&case.file).unwrap(), "again.json", folder).unwrap_or_else(|error| panic!("{error}"));
        assert!(again.complaints.is_empty(), "{}: {}", case.name, again.complaints);
        assert_eq!(again.definition, case.file, "{}", case.name);
        let problem = again.check().unwrap_or_else(|complaints| panic!("{}: {complaints}", case.name));
        let described =
            Problem::new(&case.problem.definition()).unwrap_or_else(|complaints| panic!("{}: {complaints}", case.name));
        for method in &case.expected.methods {
            let (_, first) = run(&case.problem, method, 1).unwrap();
            for other in [&problem, &described] {
                let (_, second) = run(other, method, 1).unwrap();
                assert_eq!(first.write(), second.write(), "{} by {method}", case.name);
            }
        }
    }
}
