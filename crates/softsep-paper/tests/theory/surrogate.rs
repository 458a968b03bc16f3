//! The soft problem's subgradients (Lemma 3 and the inequalities around it) with duals and constants of the library, on
//! random problems with lists of scenarios.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep::Problem;
use softsep::internals::diagnose::{Inquiry, Provenance, diagnose};
use softsep::internals::recourse::{Conic, Linear};
use softsep::internals::theory::*;
use softsep::recourse::{Answer, DualChoice, Recourse};
use softsep::run::Clock;
use softsep::testing::{Recipe, random_problem};

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(values: &[f64]) -> f64 {
    dot(values, values).sqrt()
}

fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// A list of scenarios with an engine; f is linear.
struct Soft {
    problem: Problem,
    points: Vec<Vec<f64>>,
    engine: Box<dyn Recourse>,
    temperature: f64,
}

/// Scores and slopes in x at one decision.
struct Scored {
    x: Vec<f64>,
    scores: Vec<f64>,
    slopes: Vec<Vec<f64>>,
}

impl Soft {
    fn random(seed: u64, temperature: f64, engine: impl Fn(&Problem) -> Box<dyn Recourse>) -> Self {
        let recipe = Recipe { set: "scenarios", ..Recipe::default() };
        let problem = Problem::new(&random_problem(&recipe, seed)).unwrap();
        let points = problem.set.enumerate(1000).unwrap().iter().map(<[f64]>::to_vec).collect();
        let engine = engine(&problem);
        Self { problem, points, engine, temperature }
    }

    fn decision(&self, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let first = &self.problem.first;
        (0..first.dim()).map(|j| rng.random_range(first.lower[j]..=first.upper[j])).collect()
    }

    fn at(&mut self, x: Vec<f64>) -> Scored {
        let mut answer = Answer::new(&self.problem);
        self.engine.at(&x);
        let (mut scores, mut slopes) = (Vec::new(), Vec::new());
        for xi in &self.points {
            self.engine.solve(xi, &mut answer).unwrap();
            scores.push(answer.value);
            slopes.push(answer.slope_x.clone());
        }
        Scored { x, scores, slopes }
    }

    /// F_w.
    fn value(&self, scored: &Scored) -> f64 {
        self.problem.first.value(&scored.x) + mellowmax(&scored.scores, None, self.temperature)
    }

    /// Z_x(i) for every scenario, and p_x.
    fn estimates(&self, scored: &Scored) -> (Vec<Vec<f64>>, Vec<f64>) {
        let cost = &self.problem.first.cost;
        let estimate = |slope: &Vec<f64>| cost.iter().zip(slope).map(|(cost, slope)| cost + slope).collect();
        let estimates = scored.slopes.iter().map(estimate).collect();
        (estimates, soft_law(&scored.scores, None, self.temperature))
    }
}

/// z_w(x): the mean of the estimates under p_x.
fn mean(estimates: &[Vec<f64>], law: &[f64]) -> Vec<f64> {
    let mut mean = vec![0.0; estimates[0].len()];
    for (estimate, share) in estimates.iter().zip(law) {
        mean.iter_mut().zip(estimate).for_each(|(mean, entry)| *mean += share * entry);
    }
    mean
}

/// Lemma 3: z_w(x) is a subgradient of F_w, and neither it nor any Z_x(i) is longer than L_f + L'_Q, with L'_Q from the
/// dual's ranges. Before Proposition 1: Z_x(i)ᵀ(x − x⋆) ≥ F_w(x) − F_w(x⋆) + e(i), where e has mean zero under p_x.
#[test]
fn means_of_the_duals_slopes_are_subgradients_of_the_soft_problem() {
    let (mut steepest, mut kinks) = (0.0_f64, 0);
    for seed in 0..60 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let temperature = 10.0_f64.powf(rng.random_range(-2.0..1.0));
        let mut soft = Soft::random(seed, temperature, |problem| {
            let engine = Linear::new(problem, &Clock::unlimited()).unwrap();
            Box::new(engine.with_dual(DualChoice::LeastNorm).unwrap())
        });
        let x = soft.decision(&mut rng);
        let inquiry = Inquiry { temperature: Some(temperature), samples: 1000, ..Inquiry::default() };
        let constants = diagnose(&soft.problem, &x, &inquiry, &Clock::unlimited()).unwrap().constants;
        assert_eq!(constants.slope_x.provenance, Provenance::Bounded);
        let longest = norm(&soft.problem.first.cost) + constants.slope_x.value;
        let here = soft.at(x);
        let (estimates, law) = soft.estimates(&here);
        let subgradient = mean(&estimates, &law);
        let size = 1e-7 * (1.0 + soft.value(&here).abs());
        for estimate in estimates.iter().chain([&subgradient]) {
            assert!(norm(estimate) <= longest + 1e-6, "seed {seed}: {} above {longest}", norm(estimate));
            steepest = steepest.max(norm(estimate) / longest);
        }
        for _ in 0..10 {
            let y = soft.decision(&mut rng);
            let there = soft.at(y);
            let plane = soft.value(&here) + dot(&subgradient, &minus(&there.x, &here.x));
            assert!(soft.value(&there) >= plane - size, "seed {seed}: {} below {plane}", soft.value(&there));
            kinks += u32::from(soft.value(&there) > plane + 0.1);

            let rises = minus(&here.scores, &there.scores);
            let centre = dot(&law, &rises);
            let errors: Vec<f64> = rises.iter().map(|rise| rise - centre).collect();
            assert!(dot(&law, &errors).abs() <= size, "seed {seed}");
            for (estimate, error) in estimates.iter().zip(&errors) {
                let (left, right) =
                    (dot(estimate, &minus(&here.x, &there.x)), soft.value(&here) - soft.value(&there) + error);
                assert!(left >= right - size, "seed {seed}: {left} below {right}");
            }
        }
    }
    assert!(steepest > 0.5 && kinks > 100, "{steepest} {kinks}");
}

/// With a differentiable score, the Moreau envelope, the gradient of F_w is ∇f plus the mean of the scores' gradients
/// under p_x (Section 3.1).
#[test]
fn the_gradient_of_a_smooth_soft_problem_is_a_mean_under_its_law() {
    const STEP: f64 = 1e-3;
    let mut slopes_differ = 0;
    for seed in 0..20 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (tau, temperature) = (rng.random_range(0.3..2.0), rng.random_range(0.5..3.0));
        let mut soft = Soft::random(seed, temperature, |problem| {
            Box::new(Conic::new(&problem.moreau(tau), &Clock::unlimited()).unwrap())
        });
        let x = soft.decision(&mut rng);
        let here = soft.at(x.clone());
        let (estimates, law) = soft.estimates(&here);
        let gradient = mean(&estimates, &law);
        let steep = estimates.iter().map(|estimate| norm(estimate)).fold(1.0, f64::max);
        for j in 0..x.len() {
            let mut at = |side: f64| {
                let mut moved = x.clone();
                moved[j] += side * STEP;
                let there = soft.at(moved);
                soft.value(&there)
            };
            let difference = (at(1.0) - at(-1.0)) / (2.0 * STEP);
            // The gradient has the Lipschitz modulus 1/τ + L²/w at most.
            let allowed = STEP * (1.0 / tau + steep * steep / temperature) + 1e-3;
            assert!((difference - gradient[j]).abs() <= allowed, "seed {seed}: {} is not {difference}", gradient[j]);
            let (low, high) = estimates
                .iter()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), e| (low.min(e[j]), high.max(e[j])));
            slopes_differ += u32::from(high - low > 20.0 * allowed);
        }
    }
    assert!(slopes_differ > 10, "{slopes_differ}");
}
