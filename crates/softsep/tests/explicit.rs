//! Explicit rules, read back from their files and evaluated by names: feasible at members of the set, never above their
//! bound.
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use softsep::internals::separation::Exact;
use softsep::report::policy_file;
use softsep::separation::SeparationKind;
use softsep::testing::{Recipe, random_problem};
use softsep::uncertainty::SetDefinition;
use softsep::{
    CallLimits, Error, ExplicitPolicy, NoPolicy, Problem, ProblemDefinition, Settings, evaluate, explicit_policy, solve,
};
use softsep_paper::instances::{LocationTransportation, Uncertain, location_transportation};

const GAP: f64 = 1e-4;

/// What rows and bounds may be missed by, relative to the size of their numbers.
const MISSED: f64 = 1e-7;

/// What the cost may be above the bound by, relative.
const ABOVE: f64 = 1e-9;

type Named = HashMap<String, f64>;

fn rule_of(problem: &Problem, x: &[f64]) -> Option<ExplicitPolicy> {
    explicit_policy(problem, x, GAP, &CallLimits::default().threads(1)).unwrap()
}

fn named(values: &Value) -> Named {
    values.as_object().unwrap().iter().map(|(name, value)| (name.clone(), value.as_f64().unwrap())).collect()
}

/// A rule as a reader of its file has it, who knows the problem by its file alone.
struct Reader<'f> {
    problem: &'f ProblemDefinition,
    x: Named,
    upper: f64,
    rules: Vec<(String, f64, Named)>,
}

impl<'f> Reader<'f> {
    fn new(problem: &'f ProblemDefinition, text: &str) -> Self {
        let file: Value = serde_json::from_str(text).unwrap();
        assert_eq!(file["format"], "softsep-policy/1");
        assert_eq!(file["problem"], problem.name.as_str());
        let rules: Vec<_> = file["recourse"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, rule)| (name.clone(), rule["constant"].as_f64().unwrap(), named(&rule["slopes"])))
            .collect();
        assert_eq!(rules.len(), problem.recourse.variables.len());
        assert!(rules.iter().all(|rule| rule.2.values().all(|&slope| slope != 0.0)));
        Self { problem, x: named(&file["x"]), upper: file["upper_bound"].as_f64().unwrap(), rules }
    }

    /// f(x).
    fn first_cost(&self) -> f64 {
        let first = &self.problem.first_stage;
        first.constant + first.variables.iter().map(|variable| variable.cost * self.x[&variable.name]).sum::<f64>()
    }

    /// Checks the rule at one ξ; the total cost there.
    fn check(&self, xi: &Named) -> f64 {
        // The value, and the size of the numbers that it is the sum of.
        let at = |constant: f64, slopes: &Named| {
            let terms = slopes.iter().map(|(entry, slope)| slope * xi[entry]);
            terms.fold((constant, constant.abs()), |(value, size), term| (value + term, size + term.abs()))
        };
        let sized: HashMap<&str, (f64, f64)> =
            self.rules.iter().map(|(name, constant, slopes)| (name.as_str(), at(*constant, slopes))).collect();
        let y: Named = sized.iter().map(|(name, (value, _))| ((*name).to_owned(), *value)).collect();
        let within = |what: &str, value: f64, (lower, upper): (f64, f64), size: f64| {
            let missed = (lower - value).max(value - upper);
            assert!(missed <= MISSED * size, "{}: {what} is missed by {missed} of {size}", self.problem.name);
        };
        let mut cost = self.first_cost();
        let mut cost_size = cost.abs();
        for variable in &self.problem.recourse.variables {
            let (value, size) = sized[variable.name.as_str()];
            within(&variable.name, value, (variable.lower, variable.upper), 1.0 + size);
            cost += variable.cost * value;
            cost_size += (variable.cost * value).abs();
        }
        for row in &self.problem.recourse.constraints {
            let terms = [(&row.y, &y), (&row.x, &self.x), (&row.xi, xi)];
            let (mut activity, mut row_size) = (0.0, 0.0_f64);
            for (coefficients, values) in terms {
                for (name, coefficient) in coefficients {
                    let term = coefficient * values[name];
                    activity += term;
                    row_size = row_size.max(coefficient.abs()).max(term.abs());
                }
            }
            within(&row.name, activity, (row.lower, row.upper), row_size);
        }
        assert!(cost <= self.upper + ABOVE * cost_size.max(1.0), "{}: {cost} above {}", self.problem.name, self.upper);
        cost
    }
}

/// So many members of the set: points that are furthest in random directions, and convex combinations of them.
fn members(problem: &Problem, count: usize, rng: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
    let dim = problem.set.dim();
    let ends: Vec<Vec<f64>> = (0..(count / 5).clamp(1, 2000))
        .map(|_| {
            let direction: Vec<f64> = (0..dim).map(|_| rng.random_range(-1.0..1.0)).collect();
            let mut xi = vec![0.0; dim];
            problem.set.support(&direction, &mut xi).unwrap();
            xi
        })
        .collect();
    let mut all = ends.clone();
    while all.len() < count {
        // Few of them, so that the boundary is met as well as the middle.
        let parts: Vec<(usize, f64)> = (0..rng.random_range(2..=4))
            .map(|_| (rng.random_range(0..ends.len()), rng.random_range(0.0..1.0)))
            .collect();
        let total: f64 = parts.iter().map(|part| part.1).sum();
        all.push((0..dim).map(|e| parts.iter().map(|&(end, share)| share / total * ends[end][e]).sum()).collect());
    }
    assert!(all.iter().all(|xi| problem.set.contains(xi, 1e-9)));
    all
}

/// Writes a rule, reads it back and checks it at so many members of the set; how far its bound is above the worst case
/// known, relative.
fn checked(
    file: &ProblemDefinition,
    problem: &Problem,
    x: &[f64],
    rule: &ExplicitPolicy,
    count: usize,
    rng: &mut ChaCha8Rng,
) -> f64 {
    let reader = Reader::new(file, &policy_file(problem, x, rule).write());
    let mut worst = f64::NEG_INFINITY;
    for xi in members(problem, count, rng) {
        worst = worst.max(reader.check(&problem.names.parameters.iter().cloned().zip(xi).collect()));
    }
    let evaluation = evaluate(problem, x, &CallLimits::default().threads(1)).unwrap();
    // The worst scenario is one that the rule has an answer to as well, and no answer is cheaper than the best.
    let at_worst = reader.check(&problem.names.parameters.iter().cloned().zip(evaluation.xi.iter().copied()).collect());
    let slack = 1e-7 * evaluation.objective.abs().max(1.0);
    assert!(at_worst >= evaluation.objective - slack, "{}: {at_worst} below {}", file.name, evaluation.objective);
    assert!(rule.upper >= evaluation.objective - slack, "{}: {} below {}", file.name, rule.upper, evaluation.objective);
    assert!(rule.upper >= worst - slack);
    (rule.upper - evaluation.objective) / evaluation.objective.abs().max(1.0)
}

#[test]
fn rules_of_small_problems_hold_on_every_kind_of_set() {
    let (mut written, mut close, mut none) = (0, 0, 0);
    for set in ["box", "l1", "budget", "ellipsoid", "polyhedron"] {
        for seed in 0..16 {
            let recipe = Recipe { set, incomplete: seed % 4 == 3, units: seed % 3 == 2, ..Recipe::default() };
            let file = random_problem(&recipe, seed);
            let problem = Problem::new(&file).unwrap();
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let x: Vec<f64> = problem.first.upper.iter().map(|upper| rng.random_range(0.0..=*upper)).collect();
            let Some(rule) = rule_of(&problem, &x) else {
                // Helpers make a rule feasible. Without them some scenario may have no recourse, and then there is no
                // rule.
                let evaluation = evaluate(&problem, &x, &CallLimits::default().threads(1)).unwrap();
                assert!(
                    recipe.incomplete && evaluation.objective == f64::INFINITY,
                    "{set} {seed}: {}",
                    evaluation.objective
                );
                none += 1;
                continue;
            };
            written += 1;
            close += u32::from(checked(&file, &problem, &x, &rule, 1000, &mut rng) <= 10.0 * GAP);
        }
    }
    assert!(written >= 60 && close >= 40, "{written} rules, {close} of them close to the worst case, {none} without");
}

#[test]
fn rules_of_location_transportation_hold() {
    for uncertainty in [Uncertain::Budget { gamma: 0.3 }, Uncertain::Ellipsoid] {
        let file =
            location_transportation(&LocationTransportation { n: 10, uncertainty, mixed_integer: false, seed: 1 })
                .unwrap();
        let problem = Problem::new(&file).unwrap();
        let outcome = solve(&problem, &Settings::default()).unwrap();
        let x = &outcome.bounds.best().unwrap().x;
        let rule = rule_of(&problem, x).unwrap();
        let above = checked(&file, &problem, x, &rule, 20_000, &mut ChaCha8Rng::seed_from_u64(1));
        assert!(above <= 1e-2, "{uncertainty:?}: {above} above the worst case");
    }
}

/// Where Q rises with every parameter the worst case is one corner, and a separation looks nowhere else: a rule must.
#[test]
fn a_rule_answers_also_where_nothing_is_worst() {
    let mut file = location_transportation(&LocationTransportation {
        n: 4,
        uncertainty: Uncertain::Ellipsoid,
        mixed_integer: false,
        seed: 3,
    })
    .unwrap();
    file.uncertainty.set = SetDefinition::Box { lower: vec![0.0; 4], upper: vec![1.0; 4] };
    // What is shipped is what is asked for: shipping for the worst case is no answer to any other.
    for row in file.recourse.constraints.iter_mut().filter(|row| !row.xi.is_empty()) {
        row.upper = row.lower + 1e-3 * row.lower.abs();
    }
    let problem = Problem::new(&file).unwrap();
    let outcome = solve(&problem, &Settings::default()).unwrap();
    let x = &outcome.bounds.best().unwrap().x;
    let rule = rule_of(&problem, x).unwrap();
    let above = checked(&file, &problem, x, &rule, 1000, &mut ChaCha8Rng::seed_from_u64(3));
    assert!(above <= 1e-2, "{above} above the worst case");
    assert!(rule.policy.slopes.iter().any(|slopes| !slopes.is_empty()));
}

#[test]
fn a_set_of_one_point_has_a_rule() {
    let mut file = random_problem(&Recipe { set: "box", ..Recipe::default() }, 5);
    let SetDefinition::Box { lower, upper } = &mut file.uncertainty.set else { unreachable!() };
    upper.clone_from(lower);
    let problem = Problem::new(&file).unwrap();
    let x = problem.first.lower.clone();
    let rule = rule_of(&problem, &x).unwrap();
    let above = checked(&file, &problem, &x, &rule, 10, &mut ChaCha8Rng::seed_from_u64(5));
    assert!(above <= 1e-6, "{above}");
}

#[test]
fn rules_are_offered_where_policies_bound_parts() {
    for set in ["scenarios", "box", "l1", "budget", "ellipsoid", "polyhedron"] {
        for (quadratic, cone) in [(true, false), (false, true), (false, false)] {
            for cost_xi in [false, true] {
                let problem =
                    Problem::new(&random_problem(&Recipe { set, quadratic, cone, cost_xi, ..Recipe::default() }, 7))
                        .unwrap();
                let offered = NoPolicy::check(&problem);
                // A list has no parts, but a rule.
                assert_eq!(
                    offered.is_ok(),
                    Exact::of_kind(&SeparationKind::Split, &problem).is_ok() || set == "scenarios" && !cost_xi
                );
                if let Err(reason) = offered {
                    let x = problem.first.lower.clone();
                    let refused = explicit_policy(&problem, &x, GAP, &CallLimits::default().threads(1));
                    assert_eq!(refused, Err(Error::Settings(reason.to_string())));
                }
            }
        }
    }
}

#[test]
fn there_is_no_rule_where_there_is_nothing_to_decide() {
    let mut file = random_problem(&Recipe { set: "box", ..Recipe::default() }, 1);
    file.recourse.variables.clear();
    file.recourse.constraints.iter_mut().for_each(|row| row.y.clear());
    assert_eq!(NoPolicy::check(&Problem::new(&file).unwrap()), Err(NoPolicy::NoVariables));
}

#[test]
fn rules_do_not_depend_on_threads() {
    let file = random_problem(&Recipe { set: "polyhedron", ..Recipe::default() }, 2);
    let problem = Problem::new(&file).unwrap();
    let x = problem.first.lower.clone();
    let on = |threads| explicit_policy(&problem, &x, GAP, &CallLimits::default().threads(threads)).unwrap();
    assert!(on(1).is_some());
    assert_eq!(on(1), on(3));
}
