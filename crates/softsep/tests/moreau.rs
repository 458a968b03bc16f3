//! The Moreau envelope against its definition: its value at the point it names, its distance from Q, its gradient, its
//! cuts.
#![allow(clippy::unwrap_used, clippy::panic)]

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use softsep::Problem;
use softsep::internals::recourse::Conic;
use softsep::recourse::{Answer, Recourse, RecourseOutcome, engine};
use softsep::run::Clock;
use softsep::testing::{Recipe, check_engine, random_problem};

/// Q and its envelope, side by side.
struct Pair {
    problem: Problem,
    plain: Box<dyn Recourse>,
    smooth: Conic,
    tau: f64,
}

impl Pair {
    fn new(recipe: &Recipe, tau: f64, seed: u64) -> Self {
        let problem = Problem::new(&random_problem(recipe, seed))
            .unwrap_or_else(|complaints| panic!("seed {seed}: {complaints}"));
        let plain = engine(&problem, &Clock::unlimited()).unwrap();
        let smooth = Conic::new(&problem.moreau(tau), &Clock::unlimited()).unwrap();
        Self { problem, plain, smooth, tau }
    }

    fn plain(&mut self, x: &[f64], xi: &[f64]) -> Answer {
        answer(&self.problem, &mut *self.plain, x, xi)
    }

    fn smooth(&mut self, x: &[f64], xi: &[f64]) -> Answer {
        answer(&self.problem, &mut self.smooth, x, xi)
    }

    fn random_x(&self, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let first = &self.problem.first;
        (0..first.dim()).map(|j| rng.random_range(first.lower[j]..=first.upper[j])).collect()
    }
}

fn answer(problem: &Problem, engine: &mut dyn Recourse, x: &[f64], xi: &[f64]) -> Answer {
    let mut answer = Answer::new(problem);
    engine.at(x);
    engine.solve(xi, &mut answer).unwrap();
    answer
}

fn square(v: impl IntoIterator<Item = f64>) -> f64 {
    v.into_iter().map(|v| v * v).sum()
}

fn recipes() -> [Recipe; 6] {
    let base = Recipe::default();
    [
        base,
        Recipe { units: true, ..base },
        Recipe { quadratic: true, ..base },
        Recipe { cone: true, ..base },
        Recipe { cost_xi: true, ..base },
        Recipe { incomplete: true, ..base },
    ]
}

#[test]
fn the_envelope_agrees_with_its_definition() {
    let (mut solved, mut nearly_all) = (0, 0);
    for (kind, recipe) in recipes().iter().enumerate() {
        for seed in 0..40 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let tau = 10.0_f64.powf(rng.random_range(-4.0..1.0));
            let mut pair = Pair::new(recipe, tau, seed);
            let (x, direction) = (pair.random_x(&mut rng), vec![rng.random_range(-1.0..1.0); pair.problem.set.dim()]);
            let mut xi = direction.clone();
            pair.problem.set.support(&direction, &mut xi).unwrap();
            let context = format!("recipe {kind}, seed {seed}, τ = {tau}");
            let smooth = pair.smooth(&x, &xi);
            let plain = pair.plain(&x, &xi);
            if smooth.outcome != RecourseOutcome::Solved {
                assert_eq!(plain.outcome, smooth.outcome, "{context}");
                continue;
            }
            solved += 1;
            let size = smooth.value.abs().max(1.0);
            // It is below Q, by no more than the steepness at x allows.
            let gap = plain.value - smooth.value;
            assert!(gap > -1e-6 * size, "{context}: {} is above {}", smooth.value, plain.value);
            if plain.outcome == RecourseOutcome::Solved {
                let most = 0.5 * tau * square(plain.slope_x.iter().copied());
                assert!(gap <= most + 1e-6 * size, "{context}: {gap} is more than {most}");
                nearly_all += 1;
            }
            // The move gives the v at which the value is attained, and the other engine agrees; no v is better.
            let mut decision = vec![0.0; pair.problem.recourse.dim() + x.len()];
            pair.smooth.decision(&mut decision);
            let moved = &decision[pair.problem.recourse.dim()..];
            let v: Vec<f64> = x.iter().zip(moved).map(|(x, d)| x + d).collect();
            let there = pair.plain(&v, &xi);
            if there.outcome == RecourseOutcome::Solved {
                let attained = there.value + square(moved.iter().copied()) / (2.0 * tau);
                assert!((attained - smooth.value).abs() < 1e-4 * size, "{context}: {attained} is not {}", smooth.value);
            }
            for reach in [1e-3, 0.1, 1.0, 3.0] {
                let other: Vec<f64> = v.iter().map(|v| v + reach * rng.random_range(-1.0..1.0)).collect();
                let there = pair.plain(&other, &xi);
                let cost = there.value + square(other.iter().zip(&x).map(|(v, x)| v - x)) / (2.0 * tau);
                assert!(
                    cost > smooth.value - 1e-6 * size,
                    "{context}: {other:?} costs {cost}, less than {}",
                    smooth.value
                );
                // Its cut is one for Q.
                let bound = smooth.cut().unwrap().at(&other);
                assert!(
                    bound <= there.value + 1e-6 * size.max(there.value.abs()),
                    "{context}: the cut is above Q at {other:?}"
                );
            }
            // The gradient is −d / τ.
            let steep = smooth.slope_x.iter().fold(1.0, |steep: f64, slope| steep.max(slope.abs()));
            for (slope, d) in smooth.slope_x.iter().zip(moved) {
                assert!((slope + d / tau).abs() < 1e-3 * steep, "{context}: slope {slope}, move {d}");
            }
        }
    }
    assert!(solved > 200 && nearly_all > 180, "{solved}, {nearly_all}");
}

#[test]
fn the_gradient_of_the_envelope_agrees_with_differences() {
    for (kind, recipe) in recipes().iter().enumerate().take(5) {
        for seed in 100..115 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut pair = Pair::new(recipe, rng.random_range(0.1..2.0), seed);
            let x = pair.random_x(&mut rng);
            let mut xi = vec![0.0; pair.problem.set.dim()];
            pair.problem.set.nominal(&mut xi);
            let slope = pair.smooth(&x, &xi).slope_x;
            let step = 1e-3;
            for j in 0..x.len() {
                let mut at = |side: f64| {
                    let mut there = x.clone();
                    there[j] += side * step;
                    pair.smooth(&there, &xi).value
                };
                let difference = (at(1.0) - at(-1.0)) / (2.0 * step);
                // The gradient has the Lipschitz modulus 1/τ.
                let allowed = step / pair.tau + 1e-3;
                assert!(
                    (difference - slope[j]).abs() < allowed,
                    "recipe {kind}, seed {seed}: {} is not {difference}",
                    slope[j]
                );
            }
        }
    }
}

#[test]
fn the_engine_passes_its_suite_on_envelopes() {
    for seed in 0..60 {
        let recipe = recipes()[seed as usize % 6];
        let problem = Problem::new(&random_problem(&recipe, seed)).unwrap().moreau(0.5);
        let mut engine = Conic::new(&problem, &Clock::unlimited()).unwrap();
        let mut other = Conic::new(&problem, &Clock::unlimited()).unwrap();
        check_engine(&problem, &mut engine, &mut other, seed);
    }
}

#[test]
fn recourse_without_variables_has_an_envelope() {
    for seed in 0..30 {
        let mut file = random_problem(&Recipe::default(), seed);
        file.recourse.variables.clear();
        file.recourse.constraints.iter_mut().for_each(|row| row.y.clear());
        let problem = Problem::new(&file).unwrap();
        let smooth = problem.moreau(2.0);
        let mut engine = engine(&smooth, &Clock::unlimited()).unwrap();
        let x: Vec<f64> = problem.first.upper.clone();
        let mut xi = vec![0.0; problem.set.dim()];
        problem.set.nominal(&mut xi);
        let answer = answer(&smooth, &mut *engine, &x, &xi);
        // Half the squared distance to where the rows hold, over τ; the slope points away from there and squares to the
        // same number.
        if answer.outcome == RecourseOutcome::Solved {
            let slope = square(answer.slope_x.iter().copied());
            assert!(
                (answer.value - slope).abs() < 1e-5 * (1.0 + slope),
                "seed {seed}: {} is not {slope}",
                answer.value
            );
        }
    }
}
