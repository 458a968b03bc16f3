//! The share of searches that find the worst scenario, and the distance of the estimate of `bundle` from it, on
//! inventory, energy and network problems.
//!
//! `cargo bench --bench search [-- NAME…]` runs the instances named (`energy-20-0.5-1`: family, n, Γ or ellipsoid,
//! seed; all by default). For each: `bundle` with gap 1e-4, without a proof; its estimate against the worst scenario
//! known at its decision; then the share of `RUNS=4` runs of each search that find that scenario within 1e-4 with
//! `SOLVES=10000` recourse solves. The scenario known is the worst that any of these runs found, or a tempered search
//! and ascents with `EFFORT=20` times the solves. `SEEDS=3`, `FROM=1`.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use softsep::internals::separation::{Ascent, Schedule, SearchQuery, TemperedSearch};
use softsep::methods::{BundleSettings, MethodSettings};
use softsep::recourse::engine;
use softsep::run::{Clock, Purpose, Silent, stream};
use softsep::uncertainty::{StateSpec, States};
use softsep::{Certify, Problem, Settings, solve_with};
use softsep_paper::instances::{Energy, Inventory, Network, Uncertain, energy, inventory, network};

/// A search misses the worst scenario if it stays below it by more, relative to f(x) + Q.
const CLOSE: f64 = 1e-4;

fn number<T: std::str::FromStr>(name: &str, default: T) -> T {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn problem(family: &str, n: usize, set: &str, seed: u64) -> Problem {
    let uncertainty = match set.parse() {
        Ok(gamma) => Uncertain::Budget { gamma },
        Err(_) => Uncertain::Ellipsoid,
    };
    let file = match family {
        "inventory" => inventory(&Inventory { n, uncertainty, seed }),
        "energy" => energy(&Energy { n, uncertainty, seed }),
        _ => network(&Network { n, uncertainty, seed }),
    };
    Problem::new(&file.unwrap()).unwrap()
}

/// A decision to search at.
struct Decision<'p> {
    problem: &'p Problem,
    states: Arc<dyn States + 'p>,
    x: Vec<f64>,
}

impl Decision<'_> {
    /// The worst cost that ascents from draws find.
    fn by_ascents(&self, solves: u64, seed: u64) -> f64 {
        let mut engine = engine(self.problem, &Clock::unlimited()).unwrap();
        let mut random = stream(seed, Purpose::Start, 9);
        let (mut state, mut xi) = (self.states.blank(), vec![0.0; self.problem.set.dim()]);
        let mut worst = f64::NEG_INFINITY;
        while engine.work().solves < solves {
            self.states.draw(&mut random, &mut state);
            self.states.realize(&state, &mut xi);
            let mut ascent = Ascent::new(self.problem, engine.as_mut(), &self.x);
            ascent.climb(&xi).unwrap();
            worst = worst.max(ascent.value());
        }
        self.problem.first.value(&self.x) + worst
    }

    /// The worst cost that searches with this schedule find, one after another until the solves are spent.
    fn by_search(&self, schedule: Schedule, solves: u64, seed: u64) -> f64 {
        let clock = Clock::unlimited();
        let mut engine = engine(self.problem, &clock).unwrap();
        let states = Arc::clone(&self.states);
        let mut search = TemperedSearch::new(self.problem, states, schedule, seed, &clock).unwrap();
        let mut worst = f64::NEG_INFINITY;
        let mut left = solves;
        while left > 0 {
            let before = search.solves() + engine.work().solves;
            let query = SearchQuery { x: &self.x, above: None, budget: Some(left), clock: &clock };
            search.run(&query, &[], engine.as_mut(), &mut |_, answer| worst = worst.max(answer.value)).unwrap();
            left = left.saturating_sub((search.solves() + engine.work().solves - before).max(1));
        }
        self.problem.first.value(&self.x) + worst
    }

    fn search(&self, name: &str, solves: u64, seed: u64) -> f64 {
        match name {
            "ascents" => self.by_ascents(solves, seed),
            "annealing" => self.by_search(Schedule::Annealing, solves, seed),
            _ => self.by_search(Schedule::Tempering, solves, seed),
        }
    }
}

/// Shares and seconds of one search over all instances.
#[derive(Default)]
struct Total {
    found: f64,
    instances: f64,
    seconds: f64,
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let (seeds, runs, solves) = (number("SEEDS", 3_u64), number("RUNS", 4_u64), number("SOLVES", 10_000_u64));
    let mut totals: BTreeMap<&str, Total> = BTreeMap::new();
    let mut missed = Vec::new();
    for family in ["inventory", "energy", "network"] {
        for n in [10, 15, 20] {
            for set in ["0.5", "0.9", "ellipsoid"] {
                for seed in number("FROM", 1)..=seeds {
                    let name = format!("{family}-{n}-{set}-{seed}");
                    if wanted.is_empty() || wanted.contains(&name) {
                        let problem = problem(family, n, set, seed);
                        missed.push(compare(&name, &problem, seed, runs, solves, &mut totals));
                    }
                }
            }
        }
    }
    let share = |most: f64| missed.iter().filter(|miss| **miss <= most).count();
    println!(
        "the estimate of bundle is within 1e-4 in {} of {} runs, within 1e-3 in {}",
        share(1e-4),
        missed.len(),
        share(1e-3)
    );
    for (search, Total { found, instances, seconds }) in totals {
        println!("{search:10} found in {:.3} of the runs, {:.3} s each", found / instances, seconds / instances);
    }
}

/// Prints one instance; returns by how much the estimate of `bundle` is too low.
fn compare(
    name: &str,
    problem: &Problem,
    seed: u64,
    runs: u64,
    solves: u64,
    totals: &mut BTreeMap<&'static str, Total>,
) -> f64 {
    let settings = Settings {
        method: MethodSettings::Bundle(BundleSettings::default()),
        gap: CLOSE,
        certify: Certify::None,
        time_limit: Some(Duration::from_secs(120)),
        seed,
        ..Settings::default()
    };
    let outcome = solve_with(problem, &settings, &mut Silent, &Arc::default()).unwrap();
    let estimate = outcome.bounds.best().unwrap();
    let states = problem.set.states(&StateSpec { convex: true, ..StateSpec::default() }).unwrap();
    let decision = Decision { problem, states: Arc::from(states), x: estimate.x.clone() };
    let effort = number("EFFORT", 20_u64) * solves;
    let mut known = estimate.value.max(decision.search("tempering", effort, 1001));
    known = known.max(decision.search("ascents", effort, 1002));
    let mut rows = Vec::new();
    for search in ["ascents", "annealing", "tempering"] {
        let begin = Instant::now();
        let costs: Vec<f64> = (0..runs).map(|run| decision.search(search, solves, 100 + run)).collect();
        known = costs.iter().fold(known, |known, cost| known.max(*cost));
        rows.push((search, costs, begin.elapsed().as_secs_f64() / runs as f64));
    }
    let miss = ((known - estimate.value) / known.abs()).max(0.0);
    println!(
        "{name}: estimate {:.2}, worst known {known:.2}, missed {miss:.1e}; {:?}, {} solves, {:.2} s",
        estimate.value, outcome.stop, outcome.recourse_solves, outcome.seconds
    );
    for (search, costs, seconds) in rows {
        let found = costs.iter().filter(|cost| known - **cost <= CLOSE * known.abs()).count() as f64 / runs as f64;
        let total = totals.entry(search).or_default();
        (total.found, total.instances, total.seconds) =
            (total.found + found, total.instances + 1.0, total.seconds + seconds);
        println!("    {search:10} {found:.2}, {:.0} µs per solve", 1e6 * seconds / solves as f64);
    }
    miss
}
