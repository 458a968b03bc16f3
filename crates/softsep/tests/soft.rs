//! The methods with soft separation, `sgd` and `bundle`, where no list stands for the set: against brute force in
//! closed form, and against `ccg`.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "soft/body.rs"]
mod body;
#[path = "soft/bounds.rs"]
mod bounds;
#[path = "soft/brute.rs"]
mod brute;
#[path = "soft/options.rs"]
mod options;

use body::Body;
use brute::{ClosedForm, Demand, Quadratic, dot, least};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value};
use softsep::definition::{
    ConeDefinition, ConeKind, FirstStageDefinition, RecourseDefinition, Row, ScenarioList, Variable,
};
use softsep::methods::MethodSettings;
use softsep::recourse::{Answer, engine};
use softsep::run::Clock;
use softsep::uncertainty::{SetDefinition, Sides, UncertaintyDefinition};
use softsep::{Outcome, Problem, ProblemDefinition, Settings, solve};

/// How close to the optimum a decision must come.
const NEAR: f64 = 5e-3;

/// `make soak` asks for ten times as many problems.
fn many(count: u64) -> u64 {
    count * if std::env::var_os("SOFTSEP_SOAK").is_some() { 10 } else { 1 }
}

fn options(given: &[(&str, &str)]) -> Map<String, Value> {
    let value = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
    given.iter().map(|(name, text)| ((*name).to_owned(), value(text))).collect()
}

/// Both methods.
const SOFT: [&str; 2] = ["sgd", "bundle"];

fn by(method: &str, given: &[(&str, &str)]) -> Settings {
    Settings { method: MethodSettings::parse(method, &options(given)).unwrap(), ..Settings::default() }
}

fn sgd(given: &[(&str, &str)]) -> Settings {
    by("sgd", given)
}

fn run(problem: &Problem, settings: &Settings) -> Outcome {
    solve(problem, settings).unwrap_or_else(|error| panic!("{}, {settings:?}: {error}", problem.name))
}

/// Names and coefficients, zeros left out.
fn terms(prefix: &str, values: &[f64]) -> Vec<(String, f64)> {
    let named = values.iter().enumerate().map(|(j, value)| (format!("{prefix}{j}"), *value));
    named.filter(|(_, value)| *value != 0.0).collect()
}

/// The first stage `min c'x` over `0 ≤ x ≤ upper`.
fn first_stage(cost: &[f64], upper: &[f64]) -> FirstStageDefinition {
    let variable =
        |(j, (cost, upper)): (usize, (&f64, &f64))| Variable::new(format!("x{j}"), *cost).bounded(0.0, *upper);
    FirstStageDefinition {
        variables: cost.iter().zip(upper).enumerate().map(variable).collect(),
        ..FirstStageDefinition::default()
    }
}

fn uncertainty(set: SetDefinition) -> UncertaintyDefinition {
    let dim = match &set {
        SetDefinition::Ellipsoid { center, .. } | SetDefinition::Budget { center, .. } => center.len(),
        SetDefinition::Box { lower, .. } => lower.len(),
        SetDefinition::Scenarios { points, .. } => points.dim(),
        other => panic!("{other:?}"),
    };
    UncertaintyDefinition { parameters: (0..dim).map(|j| format!("g{j}")).collect(), set }
}

/// The recourse of Example 8 as it stands in a file.
fn recourse_file(recourse: &Quadratic) -> RecourseDefinition {
    let mut file = RecourseDefinition::default();
    for (j, h) in recourse.h.iter().enumerate() {
        let mut variable = Variable::new(format!("y{j}"), recourse.cost[j]);
        variable.cost_xi = terms("g", &recourse.cost_xi[j]);
        file.variables.push(variable);
        file.quadratic.push((format!("y{j}"), format!("y{j}"), *h));
    }
    for (i, demand) in recourse.demands.iter().enumerate() {
        let mut row = Row::new(format!("demand{i}"));
        (row.y, row.x, row.xi) = (terms("y", &demand.y), terms("x", &demand.x), terms("g", &demand.xi));
        row.lower = demand.side;
        file.constraints.push(row);
    }
    file
}

/// Runs both methods and checks their decisions against the best that brute force finds. `cost` is `f(x) + Q(x, ξ)` in
/// closed form. The z of the worst case there is returned.
fn near_optimum(
    problem: &Problem,
    set: &SetDefinition,
    upper: &[f64],
    cost: &dyn Fn(&[f64], &[f64]) -> f64,
) -> Vec<f64> {
    let body = Body::new(set);
    let per_axis = if upper.len() + problem.set.dim() > 4 { 7 } else { 13 };
    let worst = |x: &[f64], per_axis: usize| body.worst(per_axis, 1, &|xi| cost(x, xi));
    let (_, x) = least(&vec![0.0; upper.len()], upper, &|x| worst(x, per_axis).0);
    let fine = if problem.set.dim() > 2 { 41 } else { 151 };
    let optimum = worst(&x, fine).0;
    for method in SOFT {
        let outcome = run(problem, &by(method, &[]));
        let best = outcome.bounds.best().unwrap_or_else(|| panic!("{} by {method}: no decision", problem.name));
        // A ridge may be too thin for any grid; what the run found counts as well.
        let at_found = cost(&best.x, &best.worst);
        let real = worst(&best.x, fine).0.max(at_found);
        let context = format!("{} by {method}: {optimum} at {x:?}; {real} at {outcome:?}", problem.name);
        let tolerance = 1e-5 * optimum.abs().max(1.0);
        assert!(problem.first.violation(&best.x).is_none_or(|violation| violation.amount < 1e-6), "{context}");
        assert!(real <= optimum + NEAR * optimum.abs(), "{context}");
        let is_member = problem.set.contains(&best.worst, 1e-6);
        assert!(
            is_member && (best.value - at_found).abs() <= tolerance,
            "{context}: the worst scenario found costs {at_found}"
        );
        assert!(
            outcome.bounds.lower().is_none_or(|lower| lower <= optimum.min(real) + tolerance),
            "{context}: the lower bound"
        );
        assert_eq!(outcome.bounds.upper(), None, "{context}: nothing proves an upper bound here");
    }
    worst(&x, fine).1
}

/// The closed form is the library's Q at random places.
fn same_recourse(problem: &Problem, upper: &[f64], set: &SetDefinition, value: &dyn Fn(&[f64], &[f64]) -> f64) {
    let mut engine = engine(problem, &Clock::unlimited()).unwrap();
    let mut answer = Answer::new(problem);
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for _ in 0..10 {
        let x: Vec<f64> = upper.iter().map(|upper| rng.random_range(0.0..=*upper)).collect();
        // Some direction's end, and a part of the way there.
        let direction: Vec<f64> = (0..problem.set.dim()).map(|_| rng.random_range(-1.0..1.0)).collect();
        let (_, z) = Body::new(set).worst(2, 1, &|xi| dot(xi, &direction));
        let share = rng.random_range(0.0..1.0);
        let xi = Body::new(set).point(&z.iter().map(|z| share * z).collect::<Vec<_>>());
        engine.at(&x);
        engine.solve(&xi, &mut answer).unwrap();
        let expected = value(&x, &xi);
        assert!(
            (answer.value - expected).abs() <= 1e-5 * (1.0 + expected.abs()),
            "{} where {expected} is right",
            answer.value
        );
    }
}

/// Runs one problem with Example 8's recourse; how much of its limits the worst ξ uses.
fn example_8(name: &str, cost: &[f64], upper: &[f64], set: &SetDefinition, recourse: &Quadratic) -> f64 {
    let file = ProblemDefinition {
        name: name.into(),
        first_stage: first_stage(cost, upper),
        uncertainty: uncertainty(set.clone()),
        recourse: recourse_file(recourse),
    };
    let problem = Problem::new(&file).unwrap();
    let closed = ClosedForm::new(recourse);
    same_recourse(&problem, upper, set, &|x, xi| closed.value(x, xi));
    let z = near_optimum(&problem, set, upper, &|x, xi| dot(cost, x) + closed.value(x, xi));
    Body::new(set).used(&z)
}

/// y = 4 − ξ₀ − ½ξ₁ − x at a price of 3 + ξ₀ + ½ξ₁: dear where little is needed. The worst case is where the two
/// balance, inside.
#[test]
fn a_worst_case_inside_an_ellipsoid() {
    let recourse = Quadratic {
        h: vec![0.5, 1.0],
        cost: vec![3.0, 6.0],
        cost_xi: vec![vec![1.0, 0.5], vec![0.5, 1.0]],
        demands: vec![Demand { y: vec![1.0, 1.0], x: vec![1.0, 0.5], xi: vec![1.0, 0.5], side: 4.0 }],
    };
    let set = SetDefinition::Ellipsoid { center: vec![0.0, 0.5], matrix: vec![vec![2.0, 0.5], vec![-0.5, 1.5]] };
    let used = example_8("balance", &[3.5, 2.5], &[3.0, 3.0], &set, &recourse);
    assert!(used < 0.9, "the worst case is at {used} of the way to the boundary");
}

/// Prices rise along about the directions in which needs fall, so that the worst case balances the two.
fn random_quadratic(rng: &mut ChaCha8Rng, dim: usize, dim_x: usize) -> Quadratic {
    let mut vector =
        |count: usize, low: f64, high: f64| -> Vec<f64> { (0..count).map(|_| rng.random_range(low..high)).collect() };
    let mut near_unit = |i: usize, low: f64, high: f64, off: f64| -> Vec<f64> {
        let (along, others) = (vector(1, low, high)[0], vector(dim, -off, off));
        (0..dim).map(|j| if i == j { along } else { others[j] }).collect()
    };
    let falls: Vec<Vec<f64>> = (0..dim).map(|i| near_unit(i, 0.7, 1.1, 0.15)).collect();
    let needs: Vec<Vec<f64>> = (0..dim).map(|i| near_unit(i, 1.0, 1.01, 0.2)).collect();
    Quadratic {
        h: vector(dim, 0.2, 0.7),
        cost: vector(dim, 4.0, 6.0),
        cost_xi: falls.iter().map(|fall| fall.iter().map(|entry| 1.2 * entry).collect()).collect(),
        demands: falls
            .into_iter()
            .zip(needs)
            .map(|(xi, y)| Demand { y, x: vector(dim_x, 0.2, 0.6), xi, side: vector(1, 5.0, 7.0)[0] })
            .collect(),
    }
}

fn random_ellipsoid(rng: &mut ChaCha8Rng, dim: usize) -> SetDefinition {
    let mut entry = |i: usize, j: usize| if i == j { rng.random_range(1.5..3.0) } else { rng.random_range(-0.5..0.5) };
    let matrix = (0..dim).map(|i| (0..dim).map(|j| entry(i, j)).collect()).collect();
    SetDefinition::Ellipsoid { matrix, center: (0..dim).map(|_| rng.random_range(-0.5..0.5)).collect() }
}

#[test]
fn worst_cases_inside_random_ellipsoids() {
    let mut inside = 0;
    for seed in 0..many(9) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (dim, dim_x) = if seed % 3 == 2 { (3, 1) } else { (2, 1 + seed as usize % 2) };
        let recourse = random_quadratic(&mut rng, dim, dim_x);
        let set = random_ellipsoid(&mut rng, dim);
        let cost: Vec<f64> = (0..dim_x).map(|_| rng.random_range(2.0..6.0)).collect();
        let used = example_8(&format!("random {seed}"), &cost, &vec![4.0; dim_x], &set, &recourse);
        inside += u64::from(used < 0.98);
    }
    assert!(inside >= many(9) / 3, "only {inside} worst cases were inside");
}

#[test]
fn worst_cases_inside_boxes_and_budgets() {
    let mut inside = 0;
    for seed in 0..many(9) {
        let mut rng = ChaCha8Rng::seed_from_u64(100 + seed);
        let recourse = random_quadratic(&mut rng, 2, 2);
        let set = match seed % 3 {
            0 => SetDefinition::Box { lower: vec![-2.0, -1.5], upper: vec![1.5, 2.0] },
            1 => {
                SetDefinition::Budget { budget: 1.3, sides: Sides::Two, center: vec![0.2, -0.1], scale: vec![2.0, 2.5] }
            }
            _ => SetDefinition::Budget {
                budget: 1.5,
                sides: Sides::One,
                center: vec![-1.0, -1.5],
                scale: vec![2.5, 3.0],
            },
        };
        let used = example_8(&format!("body {seed}"), &[2.5, 3.5], &[4.0, 4.0], &set, &recourse);
        inside += u64::from(used < 0.98);
    }
    assert!(inside >= many(9) / 4, "only {inside} worst cases were inside");
}

/// Linear recourse with prices that move: `Σ (b + βξ)·max(0, d − uξ − x)`, concave in each ξ while something is needed.
#[test]
fn linear_recourse_with_prices_that_move() {
    for seed in 0..many(6) {
        let mut rng = ChaCha8Rng::seed_from_u64(200 + seed);
        let mut pair = |low: f64, high: f64| [rng.random_range(low..high), rng.random_range(low..high)];
        let (price, rise, need, fall) = (pair(4.0, 7.0), pair(0.5, 1.5), pair(4.0, 6.0), pair(0.5, 1.5));
        let cost = pair(2.0, 5.0);
        let set = match seed % 3 {
            0 => SetDefinition::Ellipsoid { center: vec![0.0, 0.3], matrix: vec![vec![2.0, 0.4], vec![-0.3, 1.8]] },
            1 => SetDefinition::Box { lower: vec![-2.0, -1.0], upper: vec![2.0, 2.0] },
            _ => {
                SetDefinition::Budget { budget: 1.4, sides: Sides::Two, center: vec![0.0, 0.0], scale: vec![2.0, 2.0] }
            }
        };
        let mut recourse = RecourseDefinition::default();
        for j in 0..2 {
            let mut variable = Variable::new(format!("y{j}"), price[j]);
            variable.cost_xi = vec![(format!("g{j}"), rise[j])];
            recourse.variables.push(variable);
            let mut row = Row::new(format!("need{j}"));
            (row.y, row.x, row.xi) =
                (vec![(format!("y{j}"), 1.0)], vec![(format!("x{j}"), 1.0)], vec![(format!("g{j}"), fall[j])]);
            row.lower = need[j];
            recourse.constraints.push(row);
        }
        let file = ProblemDefinition {
            name: format!("prices {seed}"),
            first_stage: first_stage(&cost, &[8.0, 8.0]),
            uncertainty: uncertainty(set.clone()),
            recourse,
        };
        let problem = Problem::new(&file).unwrap();
        let value = |x: &[f64], xi: &[f64]| -> f64 {
            (0..2).map(|j| (price[j] + rise[j] * xi[j]) * (need[j] - fall[j] * xi[j] - x[j]).max(0.0)).sum()
        };
        same_recourse(&problem, &[8.0, 8.0], &set, &value);
        near_optimum(&problem, &set, &[8.0, 8.0], &|x, xi| dot(&cost, x) + value(x, xi));
    }
}

/// `Q = min ρr + ps` with `r ≥ ‖(a − s, q…)‖` for affine a and q, s ≥ 0: in closed form, s is where the slope ρ(a −
/// s)/r of the radius is p.
struct Radius {
    rho: f64,
    price: f64,
    /// Entries of the cone: x's coefficients, ξ's, and the offset.
    entries: Vec<(Vec<f64>, Vec<f64>, f64)>,
}

impl Radius {
    fn random(rng: &mut ChaCha8Rng, dim: usize, dim_x: usize) -> Self {
        let mut vector = |count: usize, low: f64, high: f64| -> Vec<f64> {
            (0..count).map(|_| rng.random_range(low..high)).collect()
        };
        let entries =
            (0..3).map(|_| (vector(dim_x, -1.0, -0.2), vector(dim, -1.0, 1.0), vector(1, -4.0, -2.0)[0])).collect();
        Self { rho: vector(1, 2.0, 4.0)[0], price: vector(1, 0.5, 1.8)[0], entries }
    }

    fn value(&self, x: &[f64], xi: &[f64]) -> f64 {
        let entry = |(of_x, of_xi, offset): &(Vec<f64>, Vec<f64>, f64)| dot(of_x, x) + dot(of_xi, xi) - offset;
        let first = entry(&self.entries[0]);
        let rest = self.entries[1..].iter().map(|terms| entry(terms).powi(2)).sum::<f64>().sqrt();
        let saved = (first - rest * self.price / (self.rho.powi(2) - self.price.powi(2)).sqrt()).max(0.0);
        self.rho * ((first - saved).powi(2) + rest.powi(2)).sqrt() + self.price * saved
    }

    fn file(&self) -> RecourseDefinition {
        let mut radius = Row::new("radius row");
        radius.y = vec![("radius".into(), 1.0)];
        radius.offset = Some(0.0);
        let mut rows = vec![radius];
        for (i, (of_x, of_xi, offset)) in self.entries.iter().enumerate() {
            let mut row = Row::new(format!("entry{i}"));
            (row.x, row.xi, row.offset) = (terms("x", of_x), terms("g", of_xi), Some(*offset));
            if i == 0 {
                row.y = vec![("saved".into(), -1.0)];
            }
            rows.push(row);
        }
        RecourseDefinition {
            variables: vec![Variable::new("radius", self.rho), Variable::new("saved", self.price)],
            cones: vec![ConeDefinition {
                kind: ConeKind::SecondOrder,
                rows: rows.iter().map(|row| row.name.clone()).collect(),
            }],
            constraints: rows,
            ..RecourseDefinition::default()
        }
    }
}

#[test]
fn second_order_cones_over_ellipsoids() {
    for seed in 0..many(6) {
        let mut rng = ChaCha8Rng::seed_from_u64(300 + seed);
        let dim = 2 + usize::from(seed % 3 == 2);
        let radius = Radius::random(&mut rng, dim, 2);
        let set = random_ellipsoid(&mut rng, dim);
        let cost = [rng.random_range(0.3..1.5), rng.random_range(0.3..1.5)];
        let file = ProblemDefinition {
            name: format!("cone {seed}"),
            first_stage: first_stage(&cost, &[5.0, 5.0]),
            uncertainty: uncertainty(set.clone()),
            recourse: radius.file(),
        };
        let problem = Problem::new(&file).unwrap();
        same_recourse(&problem, &[5.0, 5.0], &set, &|x, xi| radius.value(x, xi));
        near_optimum(&problem, &set, &[5.0, 5.0], &|x, xi| dot(&cost, x) + radius.value(x, xi));
    }
}

#[test]
fn second_order_cones_over_lists() {
    for seed in 0..many(6) {
        let mut rng = ChaCha8Rng::seed_from_u64(400 + seed);
        let radius = Radius::random(&mut rng, 4, 2);
        let mut points = ScenarioList::new(4);
        for _ in 0..60 {
            points.push(&[0; 4].map(|_| rng.random_range(-2.0..2.0)));
        }
        let cost = [rng.random_range(0.3..1.5), rng.random_range(0.3..1.5)];
        let file = ProblemDefinition {
            name: format!("cone on a list {seed}"),
            first_stage: first_stage(&cost, &[5.0, 5.0]),
            uncertainty: uncertainty(SetDefinition::scenarios(points.clone())),
            recourse: radius.file(),
        };
        let worst =
            |x: &[f64]| points.iter().map(|xi| radius.value(x, xi)).fold(f64::NEG_INFINITY, f64::max) + dot(&cost, x);
        let (optimum, _) = least(&[0.0, 0.0], &[5.0, 5.0], &worst);
        for method in SOFT {
            let outcome = run(&Problem::new(&file).unwrap(), &by(method, &[]));
            let (best, upper) = (outcome.bounds.best().unwrap(), outcome.bounds.upper());
            let real = worst(&best.x);
            assert!(
                real <= optimum * (1.0 + 1e-3) + 1e-5,
                "seed {seed} by {method}: costs {real} where {optimum} is optimal: {outcome:?}"
            );
            // On a list a proof is cheap, and given without being asked for.
            assert!(
                upper.is_some_and(|upper| upper >= real - 1e-5 * real.abs()),
                "seed {seed} by {method}: costs {real}: {outcome:?}"
            );
            assert!(
                outcome.bounds.lower().unwrap() <= optimum + 1e-5 * optimum.abs(),
                "seed {seed} by {method}: {optimum} is optimal: {outcome:?}"
            );
        }
    }
}
