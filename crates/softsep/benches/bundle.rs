//! The recourse solves and the time that `bundle` takes until its lower bound and the cost of its decision are within
//! 1e-3, 1e-4 and 1e-5; and beside it, in the same run, `sgd` with the paper's steps until its average is within 1e-3
//! of the best value known.
//!
//! `cargo bench --bench bundle [-- ROW…]` runs the rows named (`ellipsoid-30`, `budget-50-0.5`, `scenarios-100000`, …;
//! all by default). Decisions are evaluated outside counts and times: exactly on lists, by ascents from many starts
//! elsewhere. `SEEDS=N`, `GAP=1e-6`, `SGD=1` for `sgd` beside it, `SGD_OPTIONS='{"steps": "sqrt", "start": "zero"}'`,
//! `BUNDLE_OPTIONS='{"stabilisation": "in-out"}'`. Beside one another the two run `RUNS=5` times in turn, of which the
//! shortest counts: runs differ only by the other load of the machine.
#![allow(clippy::unwrap_used, clippy::panic)]

mod median;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use median::median;
use serde_json::{Map, Value, json};
use softsep::internals::separation::Assessor;
use softsep::methods::MethodSettings;
use softsep::run::{Event, Observer};
use softsep::{Problem, Settings, solve_with};
use softsep_paper::instances::{LocationTransportation, Uncertain, location_transportation};

const GOALS: [f64; 3] = [1e-3, 1e-4, 1e-5];

/// Evaluates each decision that would be returned. Its own time is not counted.
struct Watch<'p> {
    assessor: Assessor<'p>,
    /// The reference value of gaps: a known optimum; `None` for the run's own lower bound.
    optimum: Option<f64>,
    x: Vec<f64>,
    cost: f64,
    /// The least cost of a decision so far.
    least: f64,
    start: Option<f64>,
    evaluation_time: f64,
    /// Solves and seconds at each goal.
    reached: [Option<(u64, f64)>; 3],
    /// Solves, seconds and the cost of the decision after each iteration.
    path: Vec<(u64, f64, f64)>,
    /// The cost of a decision at which the run may end.
    until: f64,
    stop: Arc<AtomicBool>,
}

impl<'p> Watch<'p> {
    fn new(problem: &'p Problem, optimum: Option<f64>) -> Self {
        Self {
            assessor: Assessor::new(problem).unwrap(),
            optimum,
            x: Vec::new(),
            cost: f64::INFINITY,
            least: f64::INFINITY,
            start: None,
            evaluation_time: 0.0,
            reached: [None; 3],
            path: Vec::new(),
            until: f64::NEG_INFINITY,
            stop: Arc::default(),
        }
    }
}

impl Watch<'_> {
    /// Solves and seconds until the decision first cost this at most.
    fn first_at(&self, cost: f64) -> (f64, f64) {
        let first = self.path.iter().find(|point| point.2 <= cost);
        first.map_or((f64::INFINITY, f64::INFINITY), |point| (point.0 as f64, point.1))
    }
}

impl Observer for Watch<'_> {
    fn see(&mut self, event: &Event) {
        let Event::Step(record) = event else { return };
        let Some(best) = record.bounds.best() else { return };
        let Some(lower) = self.optimum.or(record.bounds.lower()) else { return };
        let before = Instant::now();
        if best.x != self.x {
            self.x.clone_from(&best.x);
            self.cost = self.assessor.cost(&best.x).unwrap().max(best.value);
            self.least = self.least.min(self.cost);
        }
        let gap = (self.cost.max(best.value) - lower) / self.cost.abs();
        self.evaluation_time += before.elapsed().as_secs_f64();
        self.path.push((record.recourse_solves, record.seconds - self.evaluation_time, self.cost));
        if self.cost <= self.until {
            self.stop.store(true, Ordering::Relaxed);
        }
        self.start.get_or_insert((best.value - lower) / best.value.abs());
        for (reached, goal) in self.reached.iter_mut().zip(GOALS) {
            if reached.is_none() && gap <= goal {
                *reached = Some((record.recourse_solves, record.seconds - self.evaluation_time));
            }
        }
    }
}

fn options(text: &str) -> Map<String, Value> {
    std::env::var(text).map_or_else(|_| Map::new(), |text| serde_json::from_str(&text).unwrap())
}

/// Seconds for one product of a direction with all scenarios of a list.
fn product(problem: &Problem) -> f64 {
    let (direction, mut xi) = (vec![1.0; problem.set.dim()], vec![0.0; problem.set.dim()]);
    let before = Instant::now();
    for _ in 0..5 {
        problem.set.support(&direction, &mut xi).unwrap();
    }
    before.elapsed().as_secs_f64() / 5.0
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let mut rows = Vec::new();
    for n in [10, 30, 50, 70, 100] {
        rows.push((format!("ellipsoid-{n}"), n, Uncertain::Ellipsoid));
    }
    for n in [30, 50, 70, 100] {
        for gamma in [0.1, 0.3, 0.5, 0.7, 0.9] {
            rows.push((format!("budget-{n}-{gamma}"), n, Uncertain::Budget { gamma }));
        }
    }
    for count in [1_000, 10_000, 100_000, 1_000_000] {
        rows.push((format!("scenarios-{count}"), 30, Uncertain::Scenarios(count)));
    }
    let seeds: u64 = std::env::var("SEEDS").map_or(5, |text| text.parse().unwrap());
    let gap: f64 = std::env::var("GAP").map_or(1e-6, |text| text.parse().unwrap());
    let beside = std::env::var("SGD").is_ok();
    let runs: u32 = std::env::var("RUNS").map_or(5, |text| text.parse().unwrap());
    let (sgd, by_default) = (options("SGD_OPTIONS"), Map::from_iter([("steps".to_owned(), json!("sqrt"))]));
    println!("medians of {seeds} seeds: recourse solves (seconds) to a gap of 1e-3, 1e-4, 1e-5");
    for (name, n, uncertainty) in rows {
        if !wanted.is_empty() && !wanted.contains(&name) {
            continue;
        }
        let mut solves: [Vec<f64>; 3] = Default::default();
        let mut seconds: [Vec<f64>; 3] = Default::default();
        let mut slower = Vec::new();
        let mut products = Vec::new();
        for seed in 1..=seeds {
            let instance = LocationTransportation { n, uncertainty, mixed_integer: false, seed };
            let problem = Problem::new(&location_transportation(&instance).unwrap()).unwrap();
            let mut watch = Watch::new(&problem, None);
            let settings = Settings {
                method: MethodSettings::parse("bundle", &options("BUNDLE_OPTIONS")).unwrap(),
                gap,
                time_limit: Some(Duration::from_secs(600)),
                seed,
                ..Settings::default()
            };
            let outcome = solve_with(&problem, &settings, &mut watch, &Arc::default()).unwrap();
            eprintln!(
                "{name} seed {seed}: start {:.2} %, {:?}, end {:?} after {} iterations, {} solves, {:.2} s, estimate \
                 {:.1e} above the lower bound, true {:.1e}",
                100.0 * watch.start.unwrap_or(f64::NAN),
                watch.reached,
                outcome.stop,
                outcome.iterations,
                outcome.recourse_solves,
                outcome.seconds - watch.evaluation_time,
                (outcome.bounds.best().unwrap().value - outcome.bounds.lower().unwrap())
                    / outcome.bounds.lower().unwrap(),
                (watch.cost - outcome.bounds.lower().unwrap()) / outcome.bounds.lower().unwrap(),
            );
            for (goal, reached) in watch.reached.iter().enumerate() {
                solves[goal].push(reached.map_or(f64::INFINITY, |reached| reached.0 as f64));
                seconds[goal].push(reached.map_or(f64::INFINITY, |reached| reached.1));
            }
            if problem.set.is_finite_list() {
                products.push(product(&problem));
            }
            if beside {
                let by_root = Settings {
                    method: MethodSettings::parse("sgd", if sgd.is_empty() { &by_default } else { &sgd }).unwrap(),
                    gap: 0.0,
                    time_limit: Some(Duration::from_secs(600)),
                    iterations: Some(20_000),
                    seed,
                    ..Settings::default()
                };
                let goal = watch.least * (1.0 + GOALS[0]);
                let first = |settings: &Settings| {
                    let mut watch = Watch { until: goal, ..Watch::new(&problem, Some(watch.least)) };
                    let stop = Arc::clone(&watch.stop);
                    solve_with(&problem, settings, &mut watch, &stop).unwrap();
                    watch.first_at(goal)
                };
                let (mut ours, mut theirs) = (first(&settings), first(&by_root));
                for _ in 1..runs {
                    ours.1 = ours.1.min(first(&settings).1);
                    theirs.1 = theirs.1.min(first(&by_root).1);
                }
                slower.push((theirs.0 / ours.0, theirs.1 / ours.1));
                eprintln!("    within 1e-3 of the best value: bundle {ours:?}, sgd by root {theirs:?}");
            }
        }
        let product = if products.is_empty() {
            String::new()
        } else {
            format!("   one product with the list: {:.5} s", median(products))
        };
        let column =
            |goal: usize| format!("{:6.0} ({:.3})", median(solves[goal].clone()), median(seconds[goal].clone()));
        let (of_solves, of_seconds): (Vec<f64>, Vec<f64>) = slower.into_iter().unzip();
        let ratio = match beside {
            true => format!("   sgd over bundle: solves {:.1}, seconds {:.1}", median(of_solves), median(of_seconds)),
            false => String::new(),
        };
        println!("{name:18} {:>16} {:>16} {:>16}{ratio}{product}", column(0), column(1), column(2));
    }
}
