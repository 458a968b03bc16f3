//! Random problems of all classes by all methods, under no limit and under tiny ones: no statement of one method is
//! refuted by another, by a search that knows no method, or by an evaluation of its decision; nothing panics or fails.
//!
//! `make soak` takes 1,000 problems in ordinary units, and 300 whose coefficients spread over 12 decades, about a CPU
//! second each; `PROBLEMS=N` takes N of each, `FROM=M` begins with number M.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use softsep::definition::Terms;
use softsep::methods::METHODS;
use softsep::model::ProblemDefinition;
use softsep::testing::{Recipe, Size, optimum_by_search, random_problem};
use softsep::{CallLimits, Certify, Error, Outcome, Problem, Settings, Status, evaluate, solve};

const SETS: [&str; 6] = ["scenarios", "box", "l1", "budget", "ellipsoid", "polyhedron"];

/// Bounds may contradict one another by this, relative to the cost, and to 1 in ordinary units.
const CLOSE: f64 = 2e-5;

/// Seconds of a run without a tiny limit.
const NORMAL_LIMIT: f64 = 5.0;

/// The number of problems: as the environment says, else the one of `make soak` or of `make test`.
fn count(in_soak: u64, in_test: u64) -> u64 {
    let is_soak = std::env::var_os("SOFTSEP_SOAK").is_some();
    given("PROBLEMS").unwrap_or(if is_soak { in_soak } else { in_test })
}

/// A number in the environment.
fn given(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// The recipe of the problem with this number: the classes come in turn.
fn recipe(number: u64) -> Recipe {
    let mut rng = ChaCha8Rng::seed_from_u64(number);
    let mut has = |probability: f64| rng.random_bool(probability);
    Recipe {
        set: SETS[number as usize % SETS.len()],
        integers: has(0.3),
        quadratic_first: has(0.15),
        quadratic: has(0.15),
        cone: has(0.15),
        cost_xi: has(0.15),
        incomplete: has(0.4),
        size: if has(0.3) { Size::Medium } else { Size::Small },
        ..Recipe::default()
    }
}

/// Multiplies every coefficient, cost and side by a power of ten of its own, from 1e-6 to 1e6.
fn spread(definition: &mut ProblemDefinition, seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut factor = move || 10_f64.powi(rng.random_range(-6..=6));
    for variable in definition.first_stage.variables.iter_mut().chain(&mut definition.recourse.variables) {
        variable.cost *= factor();
    }
    for row in definition.first_stage.constraints.iter_mut().chain(&mut definition.recourse.constraints) {
        let mut multiply = |terms: &mut Terms| terms.iter_mut().for_each(|(_, value)| *value *= factor());
        [&mut row.x, &mut row.y, &mut row.xi].into_iter().for_each(&mut multiply);
        let side = factor();
        (row.lower, row.upper) = (row.lower * side, row.upper * side);
    }
}

/// A run of a method: its name, whether a tiny limit cut it, and its result.
struct Finding {
    what: String,
    outcome: Outcome,
}

/// What a study came to.
#[derive(Debug, Default)]
struct Tally {
    runs: u64,
    refused: u64,
    failed: Vec<String>,
    wrong: Vec<String>,
}

impl Tally {
    fn join(mut self, other: Self) -> Self {
        self.runs += other.runs;
        self.refused += other.refused;
        self.failed.extend(other.failed);
        self.wrong.extend(other.wrong);
        self
    }

    /// All methods on a problem, each without a limit and under a tiny one.
    fn run_all(&mut self, problem: &Problem, number: u64) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (index, method) in METHODS.iter().enumerate() {
            let micros = [1, 200, 2000, 20_000][(number as usize + index) % 4];
            let certify = [Certify::Free, Certify::Exact, Certify::None][(number as usize / 4 + index) % 3];
            for limit in [Duration::from_secs_f64(NORMAL_LIMIT), Duration::from_micros(micros)] {
                let settings = Settings {
                    method: method.name.parse().unwrap(),
                    gap: 1e-6,
                    seed: number,
                    certify,
                    time_limit: Some(limit),
                    threads: Some(1),
                    ..Settings::default()
                };
                let what = format!("problem {number}, {}, {certify:?}, {limit:?}", method.name);
                self.runs += 1;
                match solve(problem, &settings) {
                    Ok(outcome) => {
                        if let Some(failure) = &outcome.failure {
                            self.failed.push(format!("{what}: {failure}"));
                        }
                        findings.push(Finding { what, outcome });
                    }
                    // Settings that do not go with the class, such as an exact certificate where costs move.
                    Err(Error::Unsupported(_) | Error::Settings(_)) => self.refused += 1,
                    Err(error) => self.failed.push(format!("{what}: {error}")),
                }
            }
        }
        findings
    }

    /// Compares the findings with one another, and with the optimum by search where there is one.
    fn compare(&mut self, findings: &[Finding], least_size: f64) {
        let best = |bound: fn(&Outcome) -> Option<f64>, better: fn(f64, f64) -> bool| {
            let mut best: Option<(f64, &str)> = None;
            for finding in findings {
                if let Some(value) = bound(&finding.outcome)
                    && best.is_none_or(|(other, _)| better(value, other))
                {
                    best = Some((value, &finding.what));
                }
            }
            best
        };
        let lower = best(|outcome| outcome.bounds.lower(), |a, b| a > b);
        let upper = best(|outcome| outcome.bounds.upper(), |a, b| a < b);
        let tolerance = |value: f64| CLOSE * value.abs().max(least_size);
        if let (Some((lower, by)), Some((upper, and))) = (lower, upper)
            && lower > upper + tolerance(upper)
        {
            self.wrong.push(format!("{by} has a lower bound {lower}, {and} an upper one {upper}"));
        }
        for Finding { what, outcome } in findings {
            let is_proved = matches!(outcome.status, Status::Infeasible | Status::Unbounded);
            if let (true, Some((upper, and))) = (is_proved, upper)
                && (outcome.status == Status::Infeasible || lower.is_some())
            {
                self.wrong.push(format!("{what}: {:?}, and {and} has an upper bound {upper}", outcome.status));
            }
        }
    }

    /// Compares bounds with the optimum by search.
    fn compare_with_search(&mut self, problem: &Problem, findings: &[Finding]) {
        let Some(optimum) = optimum_by_search(problem) else { return };
        let tolerance = CLOSE * optimum.abs().max(1.0);
        for Finding { what, outcome } in findings {
            let bounds = &outcome.bounds;
            let is_wrong = bounds.lower().is_some_and(|lower| lower > optimum + tolerance)
                || bounds.upper().is_some_and(|upper| upper < optimum - tolerance)
                || matches!(outcome.status, Status::Infeasible | Status::Unbounded)
                || outcome.status == Status::Optimal && (outcome.objective().unwrap() - optimum).abs() > tolerance;
            if is_wrong {
                self.wrong.push(format!("{what}: {optimum} by search, {:?} {bounds:?}", outcome.status));
            }
        }
    }

    /// Evaluates decisions again where the worst case is exact: a decision called feasible has recourse everywhere, and
    /// costs no more than its upper bound.
    fn evaluate(&mut self, problem: &Problem, findings: &[Finding], least_size: f64) {
        for Finding { what, outcome } in findings {
            let Some(best) = outcome.bounds.best().filter(|_| outcome.status == Status::Optimal) else { continue };
            let evaluation = match evaluate(
                problem,
                &best.x,
                &CallLimits { time_limit: Some(Duration::from_secs_f64(NORMAL_LIMIT)), ..CallLimits::default() },
            ) {
                Ok(evaluation) => evaluation,
                Err(error) => {
                    self.failed.push(format!("{what}: evaluation: {error}"));
                    continue;
                }
            };
            let upper = outcome.bounds.upper().unwrap_or(f64::INFINITY);
            let is_wrong = evaluation.objective > upper + CLOSE * upper.abs().max(least_size);
            if is_wrong || evaluation.violation.is_some() {
                self.wrong.push(format!("{what}: bound {upper}, evaluated {evaluation:?}"));
            }
        }
    }
}

/// The numbers of a study.
fn numbers(in_soak: u64, in_test: u64) -> Vec<u64> {
    let first = given("FROM").unwrap_or(0);
    (first..first + count(in_soak, in_test)).collect()
}

/// Size of the costs of decisions that are called optimal, or of all decisions where there are none.
fn size_of_optima(findings: &[Finding]) -> f64 {
    let largest = |is_counted: fn(&Outcome) -> bool| {
        let counted = findings.iter().map(|finding| &finding.outcome).filter(|outcome| is_counted(outcome));
        counted.filter_map(Outcome::objective).map(f64::abs).reduce(f64::max)
    };
    largest(|outcome| outcome.status == Status::Optimal).or_else(|| largest(|_| true)).unwrap_or(0.0)
}

fn study(name: &str, numbers: Vec<u64>, is_spread: bool) -> Tally {
    let tally = numbers.into_par_iter().map(|number| {
        let mut tally = Tally::default();
        let mut definition = random_problem(&recipe(number), 100_000 + number);
        if is_spread {
            spread(&mut definition, number);
        }
        // Numbers beyond the accepted range are refused.
        let Ok(problem) = Problem::new(&definition) else { return tally };
        let findings = tally.run_all(&problem, number);
        let least_size = if is_spread { size_of_optima(&findings) } else { 1.0 };
        tally.compare(&findings, least_size);
        tally.evaluate(&problem, &findings, least_size);
        if !is_spread {
            tally.compare_with_search(&problem, &findings);
        }
        tally
    });
    let tally = tally.reduce(Tally::default, Tally::join);
    println!(
        "{name}: {} runs, {} refused, {} failed, {} wrong",
        tally.runs,
        tally.refused,
        tally.failed.len(),
        tally.wrong.len()
    );
    tally.failed.iter().chain(&tally.wrong).for_each(|line| println!("{line}"));
    tally
}

#[test]
fn in_ordinary_units_nothing_is_wrong_and_nothing_fails() {
    let tally = study("ordinary", numbers(1000, 60), false);
    assert!(tally.wrong.is_empty() && tally.failed.is_empty(), "{tally:?}");
}

#[test]
fn over_twelve_decades_nothing_is_wrong() {
    let tally = study("twelve decades", numbers(300, 30), true);
    assert!(tally.wrong.is_empty(), "{:?}", tally.wrong);
    // Solvers give up on some of these, and the result says so.
    assert!(tally.failed.len() as f64 <= 0.4 * tally.runs as f64, "{:?}", tally.failed);
}

/// 1452: a Farkas certificate that its gain at one x covered, and not at others. 1609: cuts of bases whose duals prove
/// nothing. 1708: a point that violates a row, where no point is feasible. 1884: a bound that only such points
/// contradict. 1952: bounds of trees of HiGHS, above the optimum with the integers fixed.
#[test]
fn problems_over_twelve_decades_that_once_had_a_wrong_bound() {
    let tally = study("once wrong", vec![1452, 1609, 1708, 1884, 1952], true);
    assert!(tally.wrong.is_empty(), "{:?}", tally.wrong);
}

/// 1487 and 2889: recourse with quadratic costs that is infeasible by a few 1e-9, at points of the search. 3773: five
/// runs failed.
#[test]
fn problems_in_ordinary_units_that_once_failed() {
    let tally = study("once failed", vec![1487, 2889, 3773], false);
    assert!(tally.wrong.is_empty() && tally.failed.is_empty(), "{tally:?}");
    for number in [1487, 2889] {
        let problem = Problem::new(&random_problem(&recipe(number), 100_000 + number)).unwrap();
        assert!(optimum_by_search(&problem).is_some(), "{number}");
    }
}
