//! Ellipsoids, which have no finite equivalent: proven bounds against the costs of many random boundary points.
#![allow(clippy::unwrap_used, clippy::panic)]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep::recourse::{Answer, engine};
use softsep::run::{Certificate, Clock};
use softsep::uncertainty::SetDefinition;
use softsep::{Problem, Settings, Status, solve};
use softsep_paper::instances::{LocationTransportation, Uncertain, location_transportation};

/// A point of the boundary: `center + A u` with u uniform on the sphere.
fn on_boundary(set: &SetDefinition, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let SetDefinition::Ellipsoid { center, matrix } = set else { panic!("not an ellipsoid") };
    let width = matrix[0].len();
    // Sums of twelve uniform numbers are nearly normal, so that directions cover the sphere.
    let u: Vec<f64> = (0..width).map(|_| (0..12).map(|_| rng.random_range(-0.5..0.5)).sum()).collect();
    let norm = u.iter().map(|u| u * u).sum::<f64>().sqrt();
    let along = |row: &[f64]| row.iter().zip(&u).map(|(a, u)| a * u / norm).sum::<f64>();
    center.iter().zip(matrix).map(|(center, row)| center + along(row)).collect()
}

fn bounds_hold(n: usize, mixed_integer: bool, gap: f64, method: &str) {
    for seed in 1..=3 {
        let settings = LocationTransportation { n, uncertainty: Uncertain::Ellipsoid, mixed_integer, seed };
        let file = location_transportation(&settings).unwrap();
        let problem = Problem::new(&file).unwrap();
        let settings = Settings { method: method.parse().unwrap(), gap, ..Settings::default() };
        let outcome = solve(&problem, &settings).unwrap();
        let what = format!("{method}, n = {n}, seed {seed}: {:?}", outcome.bounds);
        assert_eq!(
            (outcome.status, outcome.bounds.certificate()),
            (Status::Optimal, Certificate::Deterministic),
            "{what}"
        );
        let (best, upper) = (outcome.bounds.best().unwrap(), outcome.bounds.upper().unwrap());
        let mut engine = engine(&problem, &Clock::unlimited()).unwrap();
        let mut answer = Answer::new(&problem);
        engine.at(&best.x);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for _ in 0..10_000 {
            let xi = on_boundary(&file.uncertainty.set, &mut rng);
            engine.solve(&xi, &mut answer).unwrap();
            let cost = problem.first.value(&best.x) + answer.value;
            assert!(cost <= upper * (1.0 + 1e-9), "{what}: {xi:?} costs {cost}");
        }
    }
}

#[test]
fn bounds_hold_with_five_parameters() {
    bounds_hold(5, false, 1e-4, "ccg");
    bounds_hold(5, false, 1e-3, "benders");
    bounds_hold(5, true, 1e-3, "ccg");
}

#[test]
fn bounds_hold_with_eight_parameters() {
    bounds_hold(8, false, 1e-3, "ccg");
}
