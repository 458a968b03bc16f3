//! The linear engine along long drifting walks, against HiGHS from a cold start at each step.
//!
//! Along a walk the engine answers from known bases, updated bounds, updated duals and factors that bases share. None
//! of that may show in an answer.
#![allow(clippy::unwrap_used, clippy::panic)]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep::Problem;
use softsep::internals::recourse::Linear;
use softsep::recourse::{Answer, Recourse, RecourseBasis, RecourseOutcome};
use softsep::run::Clock;
use softsep::testing::{Recipe, Size, random_problem};
use softsep_paper::instances::{
    Energy, Inventory, LocationTransportation, Network, Uncertain, energy, inventory, location_transportation, network,
};

const CLOSE: f64 = 2e-6;

/// `make soak` asks for ten times as many walks.
fn many(count: u64) -> std::ops::Range<u64> {
    0..count * if std::env::var_os("SOFTSEP_SOAK").is_some() { 10 } else { 1 }
}

/// A walk over the extreme points of a set, with some points inside and rare changes of x.
struct Walk<'p> {
    problem: &'p Problem,
    rng: ChaCha8Rng,
    direction: Vec<f64>,
    x: Vec<f64>,
    xi: Vec<f64>,
}

impl<'p> Walk<'p> {
    fn new(problem: &'p Problem, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let direction = (0..problem.set.dim()).map(|_| rng.random_range(-1.0..1.0)).collect();
        let mut walk =
            Self { problem, rng, direction, x: vec![0.0; problem.first.dim()], xi: vec![0.0; problem.set.dim()] };
        walk.move_x();
        walk
    }

    fn move_x(&mut self) {
        for (j, x) in self.x.iter_mut().enumerate() {
            let (lower, upper) = (self.problem.first.lower[j].max(-10.0), self.problem.first.upper[j].min(200.0));
            *x = (self.rng.random_range(0.0..=1.0) * (upper - lower) + lower).round();
        }
    }

    fn next(&mut self) {
        if self.rng.random_bool(0.002) {
            self.move_x();
        }
        let entry = self.rng.random_range(0..self.direction.len());
        self.direction[entry] = self.rng.random_range(-1.0..1.0);
        self.problem.set.support(&self.direction, &mut self.xi).unwrap();
        if self.rng.random_bool(0.1) && !self.problem.set.is_finite_list() {
            let mut center = vec![0.0; self.xi.len()];
            self.problem.set.nominal(&mut center);
            self.xi.iter_mut().zip(center).for_each(|(xi, center)| *xi = 0.5 * (*xi + center));
        }
    }
}

fn check_walk(problem: &Problem, steps: usize, seed: u64) -> u64 {
    let mut engine = Linear::new(problem, &Clock::unlimited()).unwrap();
    let mut cold = Linear::new(problem, &Clock::unlimited()).unwrap();
    let (mut answer, mut reference) = (Answer::new(problem), Answer::new(problem));
    let mut walk = Walk::new(problem, seed);
    let mut y = vec![0.0; problem.recourse.dim()];
    // Points with known values, at which the planes of later answers must be below.
    let mut known: Vec<(Vec<f64>, Vec<f64>, f64)> = Vec::new();
    for step in 0..steps {
        walk.next();
        let context = || format!("{} (seed {seed}), step {step}", problem.name);
        engine.at(&walk.x);
        engine.solve(&walk.xi, &mut answer).unwrap();
        cold.start_from(&RecourseBasis::default()).unwrap();
        cold.at(&walk.x);
        cold.solve(&walk.xi, &mut reference).unwrap();
        assert_eq!(answer.outcome, reference.outcome, "{}", context());
        if answer.outcome != RecourseOutcome::Solved {
            continue;
        }
        let tolerance = CLOSE * (1.0 + reference.value.abs());
        assert!(
            (answer.value - reference.value).abs() <= tolerance,
            "{}: {} {}",
            context(),
            answer.value,
            reference.value
        );
        assert!((answer.cost - reference.cost).abs() <= tolerance, "{}: {} {}", context(), answer.cost, reference.cost);
        engine.decision(&mut y);
        let cost: f64 = problem.recourse.cost.iter().zip(&y).map(|(c, y)| c * y).sum();
        assert!((cost - answer.value).abs() <= tolerance, "{}: y costs {cost}, not {}", context(), answer.value);
        let mut activity = vec![0.0; problem.recourse.rows()];
        problem.recourse.shift(&walk.x, &walk.xi, &mut activity);
        problem.recourse.g.mul_add(1.0, &y, &mut activity);
        for (i, &value) in activity.iter().enumerate() {
            let (lower, upper) = (problem.recourse.row_lower[i], problem.recourse.row_upper[i]);
            assert!(value >= lower - 1e-5 && value <= upper + 1e-5, "{}: row {i} is {value}", context());
        }
        for (x, xi, value) in &known {
            let slope = |slope: &[f64], to: &[f64], from: &[f64]| -> f64 {
                slope.iter().zip(to).zip(from).map(|((s, to), from)| s * (to - from)).sum()
            };
            let plane = answer.value + slope(&answer.slope_x, x, &walk.x) + slope(&answer.slope_xi, xi, &walk.xi);
            assert!(plane <= value + CLOSE * (1.0 + plane.abs()), "{}: plane {plane} above {value}", context());
        }
        if step % 50 == 0 {
            known.push((walk.x.clone(), walk.xi.clone(), reference.cost));
            if known.len() > 20 {
                known.remove(step % 20);
            }
        }
    }
    engine.work().pivoted
}

#[test]
fn random_problems_of_every_set() {
    for seed in many(10) {
        for set in ["scenarios", "box", "l1", "budget", "ellipsoid", "polyhedron"] {
            let recipe = Recipe {
                set,
                incomplete: seed % 3 == 0,
                units: seed % 2 == 0,
                size: Size::Medium,
                ..Recipe::default()
            };
            check_walk(&Problem::new(&random_problem(&recipe, seed)).unwrap(), 1000, seed);
        }
    }
}

#[test]
fn families_with_many_bases() {
    for seed in many(1) {
        let mut pivoted = 0;
        for uncertainty in [Uncertain::Budget { gamma: 0.5 }, Uncertain::Ellipsoid, Uncertain::Scenarios(300)] {
            let n = 12;
            let problems = [
                inventory(&Inventory { n, uncertainty, seed }),
                energy(&Energy { n, uncertainty, seed }),
                network(&Network { n: 8, uncertainty, seed }),
                location_transportation(&LocationTransportation { n, uncertainty, mixed_integer: false, seed }),
            ];
            for definition in problems {
                pivoted += check_walk(&Problem::new(&definition.unwrap()).unwrap(), 3000, seed);
            }
        }
        assert!(pivoted > 300, "only {pivoted} solves met a new basis (seed {seed})");
    }
}

#[test]
fn answers_depend_on_the_start_and_the_questions_alone() {
    let instance = Inventory { n: 15, uncertainty: Uncertain::Budget { gamma: 0.5 }, seed: 3 };
    let problem = Problem::new(&inventory(&instance).unwrap()).unwrap();
    let mut engine = Linear::new(&problem, &Clock::unlimited()).unwrap();
    let mut answer = Answer::new(&problem);
    let mut walk = Walk::new(&problem, 1);
    walk.next();
    engine.at(&walk.x);
    engine.solve(&walk.xi, &mut answer).unwrap();
    let warm = engine.warm_start();
    let mut once = || -> Vec<Answer> {
        engine.start_from(&warm).unwrap();
        let mut walk = Walk::new(&problem, 2);
        (0..3000)
            .map(|_| {
                walk.next();
                engine.at(&walk.x);
                engine.solve(&walk.xi, &mut answer).unwrap();
                answer.clone()
            })
            .collect()
    };
    let first = once();
    assert!(first == once(), "answers differ after start_from");
}
