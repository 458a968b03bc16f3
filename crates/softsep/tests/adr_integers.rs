//! `adr` with integers over ellipsoids, against the continuous program at every assignment of the integers.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::time::{Duration, Instant};

use softsep::definition::VariableKind;
use softsep::run::{Event, Observer, Stop};
use softsep::testing::{Recipe, Size, random_problem};
use softsep::{Outcome, Problem, ProblemDefinition, Settings, solve_with};

/// Agreement asked for, relative.
const CLOSE: f64 = 1e-5;

/// The largest number of assignments that are enumerated.
const MAX_ASSIGNMENTS: usize = 60;

/// `make soak` asks for ten times as many problems.
fn many(count: u64) -> u64 {
    count * if std::env::var_os("SOFTSEP_SOAK").is_some() { 10 } else { 1 }
}

/// Listens for the cost of the best affine policy.
#[derive(Default)]
struct PolicyCost(Option<f64>);

impl Observer for PolicyCost {
    fn see(&mut self, event: &Event) {
        if let Event::Note(note) = event
            && let Some(rest) = note.strip_prefix("the best affine policy costs at most ")
        {
            self.0 = rest.split(' ').next().map(|number| number.parse().unwrap());
        }
    }
}

/// The gap of a mixed-integer program. Policies are chosen to a tenth of it, which is half of [`CLOSE`]; a separation
/// over an ellipsoid that is ten times as close takes minutes at some decisions.
const GAP: f64 = 5.0 * CLOSE;

/// The gap of a continuous program. Its policy does not depend on it: only the separation at its decision does, which
/// would take most of the time.
const CONTINUOUS_GAP: f64 = 0.5;

/// The cost of the best policy, if there is one, and the outcome.
fn best_policy(file: &ProblemDefinition, gap: f64, time_limit: Option<Duration>) -> (Option<f64>, Outcome) {
    let mut policy = PolicyCost::default();
    let settings = Settings { method: "adr".parse().unwrap(), gap, time_limit, ..Settings::default() };
    let outcome = solve_with(&Problem::new(file).unwrap(), &settings, &mut policy, &Default::default())
        .unwrap_or_else(|error| panic!("{}: {error}", file.name));
    (policy.0, outcome)
}

/// Every assignment of the integers as a problem of its own, with these fixed and continuous.
fn assignments(file: &ProblemDefinition) -> Vec<ProblemDefinition> {
    let mut fixed = vec![file.clone()];
    for (j, variable) in file.first_stage.variables.iter().enumerate() {
        if variable.kind == VariableKind::Continuous {
            continue;
        }
        let (lower, upper) = (variable.lower as i32, variable.upper as i32);
        let at = |file: &ProblemDefinition, value: i32| {
            let mut file = file.clone();
            let variable = &mut file.first_stage.variables[j];
            (variable.lower, variable.upper) = (f64::from(value), f64::from(value));
            variable.kind = VariableKind::Continuous;
            file
        };
        fixed = fixed.iter().flat_map(|file| (lower..=upper).map(move |value| at(file, value))).collect();
    }
    fixed
}

#[test]
fn the_best_policy_is_that_of_the_best_assignment() {
    let (mut compared, mut without) = (0, 0);
    for seed in 0..many(60) {
        let recipe = Recipe { set: "ellipsoid", integers: true, incomplete: seed % 4 == 3, ..Recipe::default() };
        let file = random_problem(&recipe, seed);
        let problem = Problem::new(&file).unwrap();
        let fixed = assignments(&file);
        if !problem.first.has_integers() || fixed.len() > MAX_ASSIGNMENTS {
            continue;
        }
        let best =
            fixed.iter().filter_map(|file| best_policy(file, CONTINUOUS_GAP, None).0).fold(f64::INFINITY, f64::min);
        let (policy, outcome) = best_policy(&file, GAP, None);
        match policy {
            Some(policy) => {
                assert!(
                    (policy - best).abs() <= CLOSE * best.abs().max(1.0),
                    "seed {seed}: {policy}, and {best} is the best"
                );
                let x = &outcome.bounds.best().unwrap().x;
                let is_integer = |j: usize| problem.first.kind[j] != VariableKind::Continuous;
                assert!((0..x.len()).all(|j| !is_integer(j) || x[j] == x[j].round()), "seed {seed}: {x:?}");
                assert!(outcome.bounds.upper().unwrap() >= outcome.bounds.lower().unwrap() - 1e-6, "seed {seed}");
                compared += 1;
            }
            None => {
                assert_eq!(best, f64::INFINITY, "seed {seed}: no policy, and {best} is the cost of one: {outcome:?}");
                without += 1;
            }
        }
    }
    println!("{compared} problems with a policy, {without} without");
    assert!(compared >= 20, "{compared} problems were compared");
}

#[test]
fn time_limits_leave_bounds_that_hold() {
    let mut stopped = 0;
    for seed in 0..4 {
        let recipe = Recipe { set: "ellipsoid", integers: true, size: Size::Medium, ..Recipe::default() };
        let file = random_problem(&recipe, seed);
        // The cost of the best policy without integers is no more than that with them.
        let mut relaxed = file.clone();
        relaxed.first_stage.variables.iter_mut().for_each(|variable| variable.kind = VariableKind::Continuous);
        // The policy is known before its decision is separated, which may take long.
        let (policy, _) = best_policy(&relaxed, GAP, Some(Duration::from_secs(2)));
        for limit in [0, 10, 50, 200, 1000] {
            let start = Instant::now();
            let (stopped_rule, outcome) = best_policy(&file, GAP, Some(Duration::from_millis(limit)));
            assert!(start.elapsed() < Duration::from_millis(limit + 2000), "seed {seed}, {limit} ms");
            stopped += u64::from(outcome.stop == Stop::TimeLimit);
            if let (Some(best), Some(policy)) = (policy, stopped_rule) {
                assert!(policy >= best - CLOSE * best.abs().max(1.0), "seed {seed}, {limit} ms: {policy} and {best}");
            }
        }
    }
    assert!(stopped > 4, "{stopped} runs were stopped");
}
