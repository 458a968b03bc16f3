//! The share of searches that find the worst scenario in equal time, and the distance of the estimate of `bundle` from
//! it, on inventory, energy and network problems and on the budget sets of `tests/certificates`.
//!
//! `cargo bench --bench search [-- NAME…]` runs the instances named (`energy-20-0.5-1`: family, n, Γ or ellipsoid,
//! seed; all of inventory, energy and network by default, `budgets` for those of `tests/certificates`: vendors with
//! shortage and leftover stock, location–transportation, and budget sets where nothing leads to the worst scenario).
//! For each: `bundle` with gap 1e-4, without a proof; its estimate against the worst scenario
//! known at its decision; the solves and the time of one tempered search there that ends by its own rule, as
//! verification does; then the share of `RUNS=4` runs of each search that find the scenario within 1e-4 in
//! `SECONDS=0.5`. The scenario known is the worst that any of these runs found, or a tempered search and ascents with
//! `EFFORT=20` times the solves of that tempered search, or exact separation within `EXACT=10` seconds. `SEEDS=3`,
//! `FROM=1`, `LIMIT=120` seconds of the clock for `bundle`. `BEFORE=PATH` names another binary of softsep, whose
//! estimate and decision are assessed in the same way beside ours. Seconds of searches are those of the processor,
//! where Linux tells them, so that other work on the machine does not count; `RAYON_NUM_THREADS=1` keeps a search on
//! one thread.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use softsep::internals::separation::{Ascent, Schedule, SearchQuery, TemperedSearch};
use softsep::methods::{BundleSettings, MethodSettings};
use softsep::recourse::engine;
use softsep::run::{Clock, Purpose, Silent, stream};
use softsep::uncertainty::{Sides, StateSpec, States};
use softsep::{CallLimits, Certify, Problem, Settings, evaluate, solve_with};
use softsep_paper::instances::{
    Energy, Inventory, LocationTransportation, Network, Uncertain, energy, inventory, location_transportation, network,
};

use self::locks::{budget, shielded};
use self::vendors::Vendors;

#[path = "../tests/certificates/locks.rs"]
#[allow(dead_code, unused_imports)]
mod locks;
#[path = "../tests/certificates/vendors.rs"]
#[allow(dead_code, unused_imports)]
mod vendors;

/// The price of the first-stage variable that lowers the cost of the worst scenario where nothing leads to it. It is
/// above that cost, so that buying none is best.
const SHIELD_PRICE: f64 = 2.0;

/// A search misses the worst scenario if it stays below it by more, relative to f(x) + Q.
const CLOSE: f64 = 1e-4;

fn number<T: std::str::FromStr>(name: &str, default: T) -> T {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Processor time of a thread, given by its folder in /proc.
fn processor_seconds(thread: &Path) -> Option<f64> {
    let text = std::fs::read_to_string(thread.join("schedstat")).ok()?;
    Some(1e-9 * text.split_whitespace().next()?.parse::<f64>().ok()?)
}

/// Measures seconds of the processor in this thread, or of the clock where the system does not tell them.
struct Timer {
    thread: PathBuf,
    processor: Option<f64>,
    clock: Instant,
}

impl Timer {
    fn start() -> Self {
        let thread = Path::new("/proc").join(std::fs::read_link("/proc/thread-self").unwrap_or_default());
        Self { processor: processor_seconds(&thread), thread, clock: Instant::now() }
    }

    /// Seconds since the start.
    fn seconds(&self) -> f64 {
        match (self.processor, processor_seconds(&self.thread)) {
            (Some(start), Some(now)) => now - start,
            _ => self.clock.elapsed().as_secs_f64(),
        }
    }
}

fn problem(family: &str, n: usize, set: &str, seed: u64) -> Problem {
    let uncertainty = match set.parse() {
        Ok(gamma) => Uncertain::Budget { gamma },
        Err(_) => Uncertain::Ellipsoid,
    };
    let file = match family {
        "inventory" => inventory(&Inventory { n, uncertainty, seed }),
        "energy" => energy(&Energy { n, uncertainty, seed }),
        "location" => location_transportation(&LocationTransportation { n, uncertainty, mixed_integer: false, seed }),
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
    fn by_ascents(&self, limit: Limit, seed: u64) -> f64 {
        let mut engine = engine(self.problem, &Clock::unlimited()).unwrap();
        let mut random = stream(seed, Purpose::Start, 9);
        let (mut state, mut xi) = (self.states.blank(), vec![0.0; self.problem.set.dim()]);
        let mut worst = f64::NEG_INFINITY;
        let begin = Timer::start();
        while !limit.is_reached(engine.work().solves, &begin) {
            self.states.draw(&mut random, &mut state);
            self.states.realize(&state, &mut xi);
            let mut ascent = Ascent::new(self.problem, engine.as_mut(), &self.x);
            ascent.climb(&xi).unwrap();
            worst = worst.max(ascent.value());
        }
        self.problem.first.value(&self.x) + worst
    }

    /// The worst cost that searches with this schedule find, one after another within the limit.
    fn by_search(&self, schedule: Schedule, limit: Limit, seed: u64) -> f64 {
        let (timer, interrupt, ended) = (Timer::start(), Arc::default(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| limit.interrupt_at_end(&timer, &interrupt, &ended));
            let worst = self.by_interruptible_search(schedule, limit, seed, &Arc::clone(&interrupt), &timer);
            ended.store(true, Ordering::Relaxed);
            worst
        })
    }

    fn by_interruptible_search(
        &self,
        schedule: Schedule,
        limit: Limit,
        seed: u64,
        interrupt: &Arc<AtomicBool>,
        begin: &Timer,
    ) -> f64 {
        let clock = Clock::new(None, Arc::clone(interrupt));
        let mut engine = engine(self.problem, &clock).unwrap();
        let states = Arc::clone(&self.states);
        let mut search = TemperedSearch::new(self.problem, states, schedule, seed, &clock).unwrap();
        let mut worst = f64::NEG_INFINITY;
        let mut solves = 0;
        while !limit.is_reached(solves, begin) {
            let budget = limit.solves().map(|most| most - solves);
            let query = SearchQuery { x: &self.x, above: None, budget, clock: &clock };
            let ended = search.run(&query, &[], engine.as_mut(), &mut |_, answer| worst = worst.max(answer.value));
            assert!(ended.is_ok() || limit.seconds().is_some(), "{ended:?}");
            solves = search.solves() + engine.work().solves;
        }
        self.problem.first.value(&self.x) + worst
    }

    fn search(&self, name: &str, limit: Limit, seed: u64) -> f64 {
        match name {
            "ascents" => self.by_ascents(limit, seed),
            "annealing" => self.by_search(Schedule::Annealing, limit, seed),
            _ => self.by_search(Schedule::Tempering, limit, seed),
        }
    }

    /// The solves and the seconds of a tempered search that ends by its own rule.
    fn verification(&self, seed: u64) -> (u64, f64) {
        let clock = Clock::unlimited();
        let mut engine = engine(self.problem, &clock).unwrap();
        let mut search =
            TemperedSearch::new(self.problem, Arc::clone(&self.states), Schedule::Tempering, seed, &clock).unwrap();
        let query = SearchQuery { x: &self.x, above: None, budget: None, clock: &clock };
        let begin = Timer::start();
        search.run(&query, &[], engine.as_mut(), &mut |_, _| ()).unwrap();
        (search.solves() + engine.work().solves, begin.seconds())
    }

    /// The costs that runs of each search find in equal time.
    fn runs(&self) -> Vec<(&'static str, Vec<f64>)> {
        let limit = Limit::Seconds(number("SECONDS", 0.5));
        let costs = |search| (0..number("RUNS", 4_u64)).map(|run| self.search(search, limit, 100 + run)).collect();
        ["ascents", "annealing", "tempering"].map(|search| (search, costs(search))).into()
    }

    /// The worst cost known from searches with so many solves, and from exact separation where that ends in time.
    fn worst_known(&self, solves: u64) -> (f64, bool) {
        let limits = CallLimits::default().time_limit(Duration::from_secs_f64(number("EXACT", 10.0))).threads(1);
        let exact = evaluate(self.problem, &self.x, &limits).unwrap();
        if exact.exact {
            return (exact.objective, true);
        }
        let found = ["tempering", "ascents"].map(|name| self.search(name, Limit::Solves(solves), 1001));
        (found[0].max(found[1]).max(exact.objective), false)
    }
}

/// The end of a search.
#[derive(Debug, Clone, Copy)]
enum Limit {
    Solves(u64),
    Seconds(f64),
}

impl Limit {
    fn is_reached(self, solves: u64, begin: &Timer) -> bool {
        match self {
            Limit::Solves(most) => solves >= most,
            Limit::Seconds(most) => begin.seconds() >= most,
        }
    }

    /// Interrupts a search in another thread once its seconds are spent. Returns when it has ended.
    fn interrupt_at_end(self, timer: &Timer, interrupt: &AtomicBool, ended: &AtomicBool) {
        while !ended.load(Ordering::Relaxed) {
            if self.seconds().is_some_and(|most| timer.seconds() >= most.as_secs_f64()) {
                interrupt.store(true, Ordering::Relaxed);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn solves(self) -> Option<u64> {
        if let Limit::Solves(most) = self { Some(most) } else { None }
    }

    fn seconds(self) -> Option<Duration> {
        if let Limit::Seconds(most) = self { Some(Duration::from_secs_f64(most)) } else { None }
    }
}

/// The decision and the estimate of another binary.
fn solve_by(binary: &str, problem: &Problem, seed: u64) -> Option<(Vec<f64>, f64)> {
    let folder = tempfile::tempdir().unwrap();
    let [file, result] = ["problem.json", "result.json"].map(|name| folder.path().join(name));
    softsep::write(problem, &file).unwrap();
    let mut command = Command::new(binary);
    command.args(["solve", "--method", "bundle", "--gap", "1e-4", "--certify", "none", "--threads", "1", "--quiet"]);
    let limit = number("LIMIT", 120.0).to_string();
    command.args(["--time-limit", &limit, "--seed", &seed.to_string(), "--out"]).arg(&result).arg(&file);
    assert!(command.stdout(Stdio::null()).status().unwrap().success());
    let result: Value = serde_json::from_str(&std::fs::read_to_string(&result).unwrap()).unwrap();
    let entry = |name: &String| result["x"][name.as_str()].as_f64();
    let x: Option<Vec<f64>> = problem.names.first.iter().map(entry).collect();
    Some((x?, result["objective"].as_f64()?))
}

/// Shares of one search over all instances.
#[derive(Default)]
struct Total {
    found: f64,
    instances: f64,
}

/// The problems of `tests/certificates` with budget sets.
fn budgets(seed: u64) -> Vec<(String, Problem)> {
    let mut problems = Vec::new();
    for (n, gamma) in [(15, 0.5), (30, 0.3), (30, 0.7), (60, 0.5)] {
        problems.push((format!("vendors-{n}-{gamma}-{seed}"), Vendors::new(n, gamma, seed).problem));
    }
    for (n, gamma) in [(15, 0.5), (30, 0.5), (30, 0.9)] {
        let problem = problem("location", n, &gamma.to_string(), seed);
        problems.push((format!("location-{n}-{gamma}-{seed}"), problem));
    }
    for (name, sides) in [("one", Sides::One), ("two", Sides::Two)] {
        for dim in [20, 40] {
            let problem = shielded(&budget(dim, sides, 1).problem, SHIELD_PRICE);
            problems.push((format!("needle-{dim}-{name}-{seed}"), problem));
        }
    }
    problems
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let mut totals = BTreeMap::new();
    let (mut missed, mut missed_before) = (Vec::new(), Vec::new());
    for family in ["inventory", "energy", "network"] {
        for n in [10, 15, 20] {
            for set in ["0.5", "0.9", "ellipsoid"] {
                for seed in number("FROM", 1)..=number("SEEDS", 3_u64) {
                    let name = format!("{family}-{n}-{set}-{seed}");
                    if wanted.is_empty() || wanted.contains(&name) {
                        let problem = problem(family, n, set, seed);
                        let (miss, before) = compare(&name, &problem, seed, &mut totals);
                        missed.push(miss);
                        missed_before.extend(before);
                    }
                }
            }
        }
    }
    if wanted.iter().any(|name| name == "budgets") {
        for seed in number("FROM", 1)..=number("SEEDS", 3_u64) {
            for (name, problem) in budgets(seed) {
                let (miss, before) = compare(&name, &problem, seed, &mut totals);
                missed.push(miss);
                missed_before.extend(before);
            }
        }
    }
    print_shares("bundle", &missed);
    print_shares("the binary before", &missed_before);
    for ((whose, search), Total { found, instances }) in totals {
        println!("{search:10} found it in {:.3} of the runs at decisions of {whose}", found / instances);
    }
}

fn print_shares(name: &str, missed: &[f64]) {
    let share = |most: f64| missed.iter().filter(|miss| **miss <= most).count();
    let (count, largest) = (missed.len(), missed.iter().fold(0.0, |most: f64, miss| most.max(*miss)));
    println!(
        "the estimate of {name} is within 1e-4 in {} of {count} runs, within 1e-3 in {}, missed {largest:.1e} at most",
        share(1e-4),
        share(1e-3)
    );
}

/// Prints the share of runs of each search that found the worst cost known at a decision of ours or of the other
/// binary.
fn print_found(
    runs: &[(&'static str, Vec<f64>)],
    known: f64,
    whose: &'static str,
    totals: &mut BTreeMap<(&'static str, &'static str), Total>,
) {
    for (search, costs) in runs {
        let found = costs.iter().filter(|cost| known - **cost <= CLOSE * known.abs()).count() as f64;
        let share = found / costs.len().max(1) as f64;
        let total = totals.entry((whose, search)).or_default();
        (total.found, total.instances) = (total.found + share, total.instances + 1.0);
        println!("    {search:10} {share:.2}");
    }
}

/// Prints one instance; returns by how much the estimates of `bundle` and of the other binary are too low.
fn compare(
    name: &str,
    problem: &Problem,
    seed: u64,
    totals: &mut BTreeMap<(&'static str, &'static str), Total>,
) -> (f64, Option<f64>) {
    let settings = Settings {
        method: MethodSettings::Bundle(BundleSettings::default()),
        gap: CLOSE,
        certify: Certify::None,
        time_limit: Some(Duration::from_secs_f64(number("LIMIT", 120.0))),
        threads: Some(1),
        seed,
        ..Settings::default()
    };
    let outcome = solve_with(problem, &settings, &mut Silent, &Arc::default()).unwrap();
    let estimate = outcome.bounds.best().unwrap();
    let states: Arc<dyn States> =
        Arc::from(problem.set.states(&StateSpec { convex: true, ..StateSpec::default() }).unwrap());
    let decision = Decision { problem, states: Arc::clone(&states), x: estimate.x.clone() };
    let (solves, seconds) = decision.verification(seed);
    let effort = number("EFFORT", 20_u64) * solves;
    let (mut known, is_exact) = decision.worst_known(effort);
    let runs = decision.runs();
    known = runs.iter().flat_map(|(_, costs)| costs).fold(known, |known, cost| known.max(*cost));
    let miss = ((known - estimate.value) / known.abs()).max(0.0);
    println!(
        "{name}: estimate {:.2}, worst known {known:.2}{}, missed {miss:.1e}; {:?}, {} solves, {:.2} s; verification \
         {solves} solves, {seconds:.2} s",
        estimate.value,
        if is_exact { " (exact)" } else { "" },
        outcome.stop,
        outcome.recourse_solves,
        outcome.seconds
    );
    print_found(&runs, known, "ours", totals);
    let before = std::env::var("BEFORE").ok().and_then(|binary| solve_by(&binary, problem, seed));
    let before = before.map(|(x, value)| {
        let decision = Decision { problem, states, x };
        let runs = decision.runs();
        let costs = runs.iter().flat_map(|(_, costs)| costs);
        let known = costs.fold(decision.worst_known(effort).0, |known, cost| known.max(*cost));
        let miss = ((known - value) / known.abs()).max(0.0);
        println!("    before: estimate {value:.2}, worst known {known:.2}, missed {miss:.1e}");
        print_found(&runs, known, "before", totals);
        miss
    });
    (miss, before)
}
