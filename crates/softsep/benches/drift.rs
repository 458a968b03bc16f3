//! Recourse solves along local walks at a fixed x, beside the bare basis solve, in the same run.
//!
//! A walk on a budget set exchanges one deviating entry for one that does not deviate; a walk on an ellipsoid makes
//! small steps on its boundary. All steps are taken. The bare basis solve computes the right-hand side at the same ξ
//! and solves with the factors of one known basis. Both are timed in alternating batches, and the medians of the
//! batches are shown. At most 3 is wanted of the ratio.
//!
//! `cargo bench --bench drift [-- WORD…]` runs the rows whose names contain every word (`inventory-20-budget-0.5`, …).
//! `STEPS=N` sets the steps of a walk.
#![allow(clippy::unwrap_used, missing_docs)]

mod median;

use std::hint::black_box;
use std::time::Instant;

use median::median;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep::internals::recourse::{BasisProbe, Linear};
use softsep::methods::BundleSettings;
use softsep::model::ProblemDefinition;
use softsep::recourse::{Answer, Recourse};
use softsep::run::Clock;
use softsep::separation::SeparationKind;
use softsep::uncertainty::SetDefinition;
use softsep::{Problem, Settings, solve};
use softsep_paper::instances::{
    Energy, Inventory, LocationTransportation, Network, Uncertain, energy, inventory, location_transportation, network,
};

/// Steps of a batch at most, and the microseconds that a batch should take: less than the time slice of a busy machine.
const BATCH: usize = 200;
const BATCH_TIME: f64 = 500.0;

/// A local walk over a set.
enum Walk {
    /// Deviating entries first, then the others.
    Exchange { order: Vec<usize>, deviating: usize },
    /// A point of the unit sphere and the length of a step.
    Sphere { center: Vec<f64>, matrix: Vec<Vec<f64>>, point: Vec<f64>, step: f64 },
}

impl Walk {
    fn new(definition: &ProblemDefinition, step: f64) -> Self {
        match &definition.uncertainty.set {
            SetDefinition::Budget { budget, center, .. } => {
                Self::Exchange { order: (0..center.len()).collect(), deviating: budget.floor() as usize }
            }
            SetDefinition::Ellipsoid { center, matrix } => {
                let mut point = vec![0.0; matrix[0].len()];
                point[0] = 1.0;
                Self::Sphere { center: center.clone(), matrix: matrix.clone(), point, step }
            }
            _ => unreachable!("the bench has walks for budget sets and ellipsoids"),
        }
    }

    fn next(&mut self, rng: &mut ChaCha8Rng, xi: &mut [f64]) {
        match self {
            Self::Exchange { order, deviating } => {
                let (out, entering) = (rng.random_range(0..*deviating), rng.random_range(*deviating..order.len()));
                order.swap(out, entering);
                xi.fill(0.0);
                order[..*deviating].iter().for_each(|&entry| xi[entry] = 1.0);
            }
            Self::Sphere { center, matrix, point, step } => {
                let direction: Vec<f64> = point.iter().map(|_| rng.random_range(-1.0..1.0)).collect();
                let length = direction.iter().map(|d| d * d).sum::<f64>().sqrt();
                point.iter_mut().zip(&direction).for_each(|(point, d)| *point += *step * d / length);
                let length = point.iter().map(|p| p * p).sum::<f64>().sqrt();
                point.iter_mut().for_each(|point| *point /= length);
                for ((xi, center), row) in xi.iter_mut().zip(center).zip(matrix) {
                    *xi = *center + row.iter().zip(&*point).map(|(a, p)| a * p).sum::<f64>();
                }
            }
        }
    }
}

fn instance(family: &str, n: usize, uncertainty: Uncertain) -> ProblemDefinition {
    let seed = 1;
    match family {
        "inventory" => inventory(&Inventory { n, uncertainty, seed }).unwrap(),
        "energy" => energy(&Energy { n, uncertainty, seed }).unwrap(),
        "network" => network(&Network { n, uncertainty, seed }).unwrap(),
        _ => location_transportation(&LocationTransportation { n, uncertainty, mixed_integer: false, seed }).unwrap(),
    }
}

/// A decision of reasonable quality.
fn decision(problem: &Problem) -> Vec<f64> {
    let method = BundleSettings::default().with_separation(SeparationKind::Soft);
    let settings = Settings::default().method(method).gap(1e-2).iterations(40);
    let outcome = solve(problem, &settings).unwrap();
    outcome.bounds.best().unwrap().x.clone()
}

fn measure(name: &str, definition: &ProblemDefinition, x: &[f64], step: f64, steps: usize) {
    let problem = Problem::new(definition).unwrap();
    let mut engine = Linear::new(&problem, &Clock::unlimited()).unwrap();
    engine.at(x);
    let mut answer = Answer::new(&problem);
    let mut walk = Walk::new(definition, step);
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let dim = problem.set.dim();
    let mut asked = vec![0.0; BATCH * dim];
    let mut draw = |asked: &mut [f64]| asked.chunks_mut(dim).for_each(|xi| walk.next(&mut rng, xi));
    let per_step = |since: Instant, count: usize| since.elapsed().as_secs_f64() * 1e6 / count as f64;
    let mut warm_up = Vec::new();
    for _ in 0..steps.div_ceil(5 * BATCH) {
        draw(&mut asked);
        let start = Instant::now();
        asked.chunks(dim).for_each(|xi| engine.solve(xi, &mut answer).unwrap());
        warm_up.push(per_step(start, BATCH));
    }
    let batch = ((BATCH_TIME / median(warm_up)) as usize).clamp(5, BATCH);
    asked.truncate(batch * dim);
    let mut probe = BasisProbe::new(&problem, x, &engine.warm_start()).unwrap();
    let (mut engine_times, mut bare_times) = (Vec::new(), Vec::new());
    let before = engine.work();
    for _ in 0..steps.div_ceil(batch) {
        draw(&mut asked);
        let start = Instant::now();
        for xi in asked.chunks(dim) {
            engine.solve(xi, &mut answer).unwrap();
            black_box(answer.value);
        }
        engine_times.push(per_step(start, batch));
        let start = Instant::now();
        for xi in asked.chunks(dim) {
            black_box(probe.solve(xi));
        }
        bare_times.push(per_step(start, batch));
    }
    let work = engine.work();
    let count = |of: fn(&softsep::recourse::RecourseWork) -> u64| (of(&work) - of(&before)) as f64;
    let (solves, reused, pivoted) = (count(|w| w.solves), count(|w| w.reused), count(|w| w.pivoted));
    let (step_time, bare_time) = (median(engine_times), median(bare_times));
    println!(
        "{name:<34} {:>4} {:>5} {step_time:>8.2} {bare_time:>8.2} {:>7.2} {:>7.1} {:>7.1} {:>7.2} {:>6}",
        problem.recourse.rows(),
        problem.recourse.dim(),
        step_time / bare_time,
        100.0 * reused / solves,
        100.0 * pivoted / solves,
        count(|w| w.iterations) / pivoted.max(1.0),
        solves - reused - pivoted,
    );
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let steps = std::env::var("STEPS").ok().and_then(|steps| steps.parse().ok()).unwrap_or(10_000);
    println!(
        "{:<34} {:>4} {:>5} {:>8} {:>8} {:>7} {:>7} {:>7} {:>7} {:>6}",
        "walk", "rows", "cols", "µs/step", "bare µs", "ratio", "reused%", "pivot%", "pivots", "HiGHS"
    );
    for family in ["inventory", "energy", "network", "location-transportation"] {
        for n in [10, 20] {
            let budgets = [0.5, 0.9].map(|gamma| (format!("budget-{gamma}"), Uncertain::Budget { gamma }, vec![0.0]));
            let ellipsoid = ("ellipsoid".to_owned(), Uncertain::Ellipsoid, vec![0.05, 0.3]);
            for (set, uncertainty, lengths) in budgets.into_iter().chain([ellipsoid]) {
                let name = |length: f64| {
                    let step = if length > 0.0 { format!("-{length}") } else { String::new() };
                    format!("{family}-{n}-{set}{step}")
                };
                let wanted = |name: &str| words.iter().all(|word| name.contains(word.as_str()));
                if !lengths.iter().any(|&length| wanted(&name(length))) {
                    continue;
                }
                let definition = instance(family, n, uncertainty);
                let x = decision(&Problem::new(&definition).unwrap());
                for length in lengths {
                    if wanted(&name(length)) {
                        measure(&name(length), &definition, &x, length, steps);
                    }
                }
            }
        }
    }
}
