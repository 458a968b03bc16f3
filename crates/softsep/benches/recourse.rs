//! Recourse solves on location–transportation: the engine beside a bare HiGHS re-run, in the same run.
//!
//! *Drifting*: x and ξ move a little from solve to solve. *Jumping*: a fresh ξ on the ellipsoid's boundary each time.
//! The table at the end gives the ratio (bare / engine, from alternating batches) and the share of solves that a known
//! basis answered.
#![allow(clippy::unwrap_used, missing_docs)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep::Problem;
use softsep::internals::recourse::Linear;
use softsep::recourse::{Answer, Recourse};
use softsep::run::Clock;
use softsep_lp::{Algorithm, Lp, Model, Status, Toggle};
use softsep_paper::instances::{LocationTransportation, Uncertain, location_transportation};

/// The recourse in HiGHS alone: bounds set, run, value and duals read.
struct Bare {
    lp: Lp,
    lower: Vec<f64>,
    upper: Vec<f64>,
    shift: Vec<f64>,
    dual: Vec<f64>,
}

impl Bare {
    fn new(problem: &Problem) -> Self {
        let recourse = &problem.recourse;
        let mut model = Model::new();
        for j in 0..recourse.dim() {
            model.add_col(recourse.cost[j], recourse.lower[j], recourse.upper[j]);
        }
        for i in 0..recourse.rows() {
            let terms: Vec<_> = recourse.g.row(i).collect();
            model.add_row(recourse.row_lower[i], recourse.row_upper[i], &terms);
        }
        let mut lp = Lp::new(&model).unwrap();
        lp.set_presolve(Toggle::Off).unwrap();
        lp.set_algorithm(Algorithm::DualSimplex).unwrap();
        let rows = recourse.rows();
        Self { lp, lower: vec![0.0; rows], upper: vec![0.0; rows], shift: vec![0.0; rows], dual: vec![0.0; rows] }
    }

    fn solve(&mut self, problem: &Problem, x: &[f64], xi: &[f64]) -> f64 {
        let recourse = &problem.recourse;
        recourse.shift(x, xi, &mut self.shift);
        for i in 0..recourse.rows() {
            self.lower[i] = recourse.row_lower[i] - self.shift[i];
            self.upper[i] = recourse.row_upper[i] - self.shift[i];
        }
        self.lp.set_row_bounds(&self.lower, &self.upper).unwrap();
        assert_eq!(self.lp.solve().unwrap(), Status::Optimal);
        self.lp.dual(&mut self.dual).unwrap();
        self.lp.objective()
    }
}

/// A sequence of questions.
struct Questions {
    rng: ChaCha8Rng,
    drifting: bool,
    x: Vec<f64>,
    xi: Vec<f64>,
    direction: Vec<f64>,
}

impl Questions {
    fn new(problem: &Problem, drifting: bool) -> Self {
        let n = problem.set.dim();
        Self {
            rng: ChaCha8Rng::seed_from_u64(7),
            drifting,
            x: vec![250.0; n],
            xi: vec![0.0; n],
            direction: vec![1.0; n],
        }
    }

    fn next(&mut self, problem: &Problem) {
        for entry in &mut self.direction {
            let fresh = self.rng.random_range(-1.0..1.0);
            *entry = if self.drifting { *entry + 1e-4 * fresh } else { fresh };
        }
        if self.drifting {
            for x in &mut self.x {
                *x += 1e-2 * self.rng.random_range(-1.0..1.0);
            }
        }
        problem.set.support(&self.direction, &mut self.xi).unwrap();
    }
}

fn problem(n: usize) -> Problem {
    let instance = LocationTransportation { n, uncertainty: Uncertain::Ellipsoid, mixed_integer: false, seed: 1 };
    Problem::new(&location_transportation(&instance).unwrap()).unwrap()
}

/// Alternating batches of both, so that other load of the machine affects both alike.
fn compare(n: usize, drifting: bool, budget: Duration) {
    let problem = problem(n);
    let mut bare = Bare::new(&problem);
    let mut engine = Linear::new(&problem, &Clock::unlimited()).unwrap();
    let mut answer = Answer::new(&problem);
    let mut questions = Questions::new(&problem, drifting);
    let (mut bare_time, mut engine_time, mut solves) = (Duration::ZERO, Duration::ZERO, 0_u32);
    let begin = Instant::now();
    while begin.elapsed() < budget {
        let mut batch = Vec::new();
        for _ in 0..20 {
            questions.next(&problem);
            batch.push((questions.x.clone(), questions.xi.clone()));
        }
        let start = Instant::now();
        let bare_values: Vec<f64> = batch.iter().map(|(x, xi)| bare.solve(&problem, x, xi)).collect();
        let middle = Instant::now();
        let engine_values: Vec<f64> = batch
            .iter()
            .map(|(x, xi)| {
                engine.at(x);
                engine.solve(xi, &mut answer).unwrap();
                answer.value
            })
            .collect();
        engine_time += middle.elapsed();
        bare_time += middle - start;
        solves += batch.len() as u32;
        for (a, b) in bare_values.iter().zip(&engine_values) {
            assert!((a - b).abs() <= 1e-6 * a.abs(), "{a} and {b}");
        }
    }
    let work = engine.work();
    println!(
        "{:<9} n = {n:<4} bare {:>10.2?}  engine {:>10.2?}  ratio {:>8.2}  reused {:>5.1} %  pivoted {:>5.1} %  \
         {:>5.1} pivots each  {solves} solves",
        if drifting { "drifting" } else { "jumping" },
        bare_time / solves,
        engine_time / solves,
        bare_time.as_secs_f64() / engine_time.as_secs_f64(),
        100.0 * work.reused as f64 / work.solves as f64,
        100.0 * work.pivoted as f64 / work.solves as f64,
        work.iterations as f64 / (work.solves - work.reused).max(1) as f64,
    );
}

fn main() {
    let mut criterion =
        Criterion::default().configure_from_args().sample_size(10).measurement_time(Duration::from_secs(2));
    for n in [10, 30, 100] {
        let problem = problem(n);
        for (name, drifting) in [("drifting", true), ("jumping", false)] {
            let mut group = criterion.benchmark_group(name);
            let mut questions = Questions::new(&problem, drifting);
            let mut bare = Bare::new(&problem);
            group.bench_function(BenchmarkId::new("bare HiGHS", n), |bencher| {
                bencher.iter(|| {
                    questions.next(&problem);
                    black_box(bare.solve(&problem, &questions.x, &questions.xi))
                })
            });
            let mut questions = Questions::new(&problem, drifting);
            let mut engine = Linear::new(&problem, &Clock::unlimited()).unwrap();
            let mut answer = Answer::new(&problem);
            group.bench_function(BenchmarkId::new("engine", n), |bencher| {
                bencher.iter(|| {
                    questions.next(&problem);
                    engine.at(&questions.x);
                    engine.solve(&questions.xi, &mut answer).unwrap();
                    black_box(answer.value)
                })
            });
            group.finish();
        }
    }
    criterion.final_summary();
    println!();
    for n in [10, 30, 100] {
        for drifting in [true, false] {
            compare(n, drifting, Duration::from_secs(4));
        }
    }
}
