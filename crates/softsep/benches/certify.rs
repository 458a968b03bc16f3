//! The gap of the proven bounds, and the time to reach it: `solve` with `--certify exact` and a gap of 1e-3, on
//! location–transportation and on problems of three other shapes.
//!
//! `cargo bench --bench certify [-- ROW…]` runs the rows named, or all: `ellipsoid-30`, `budget-50-0.5`,
//! `inventory-20-ellipsoid`, `energy-15-budget-0.3`, …; a word that is no row's name takes every row that begins with
//! it. `SEEDS=5` (instances 1 to so many), `LIMIT=60` (seconds for one run), `METHOD=bundle`. Parts are the nodes of
//! search trees: parts of the uncertainty set that were bounded, as far as the run reports them.
#![allow(clippy::unwrap_used)]

mod median;

use std::sync::Arc;
use std::time::Duration;

use median::median;
use softsep::internals::separation::Assessor;
use softsep::run::{Event, Observer};
use softsep::{Certify, Problem, ProblemDefinition, Settings, Status, solve_with};
use softsep_paper::instances::{
    Energy, InstanceError, Inventory, LocationTransportation, Network, Uncertain, energy, inventory,
    location_transportation, network,
};

/// The gap asked for.
const GAP: f64 = 1e-3;

const GAMMAS: [f64; 5] = [0.1, 0.3, 0.5, 0.7, 0.9];

/// A name, and how its instance of a seed is drawn.
type Line = (String, Box<dyn Fn(u64) -> Result<ProblemDefinition, InstanceError>>);

/// Watches the count of nodes.
struct Nodes(u64);

impl Observer for Nodes {
    fn see(&mut self, event: &Event) {
        if let Event::Step(record) = event {
            self.0 = record.nodes;
        }
    }
}

fn rows() -> Vec<Line> {
    let mut rows: Vec<Line> = Vec::new();
    let shipping = |n, uncertainty| {
        move |seed| location_transportation(&LocationTransportation { n, uncertainty, mixed_integer: false, seed })
    };
    for n in [10, 20, 30, 50, 70, 100] {
        rows.push((format!("ellipsoid-{n}"), Box::new(shipping(n, Uncertain::Ellipsoid))));
    }
    for n in [30, 50, 70, 100] {
        for gamma in GAMMAS {
            rows.push((format!("budget-{n}-{gamma}"), Box::new(shipping(n, Uncertain::Budget { gamma }))));
        }
    }
    let budgets = GAMMAS.map(|gamma| (format!("budget-{gamma}"), Uncertain::Budget { gamma }));
    let sets = || [("ellipsoid".to_owned(), Uncertain::Ellipsoid)].into_iter().chain(budgets.clone());
    for n in [10, 20, 30] {
        for (set, uncertainty) in sets() {
            rows.push((
                format!("inventory-{n}-{set}"),
                Box::new(move |seed| inventory(&Inventory { n, uncertainty, seed })),
            ));
        }
    }
    // ξ has 12, 20 and 30 entries.
    for n in [9, 15, 22] {
        for (set, uncertainty) in sets() {
            rows.push((format!("energy-{n}-{set}"), Box::new(move |seed| energy(&Energy { n, uncertainty, seed }))));
        }
    }
    for n in [10, 15, 20] {
        for (set, uncertainty) in sets() {
            rows.push((format!("network-{n}-{set}"), Box::new(move |seed| network(&Network { n, uncertainty, seed }))));
        }
    }
    rows
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let (seeds, limit) = (number("SEEDS", 5), number("LIMIT", 60));
    let method = std::env::var("METHOD").unwrap_or_else(|_| "bundle".into());
    let rows = rows();
    let is_row = |word: &String| rows.iter().any(|row| row.0 == *word);
    let is_wanted = |name: &str| {
        wanted.is_empty()
            || wanted.iter().any(|word| name == word || (!is_row(word) && name.starts_with(word.as_str())))
    };
    println!(
        "{method}, {seeds} seeds, {limit} s each: proven gap (median, worst), seconds (median), parts (median), runs \
         within {GAP:.0e}"
    );
    let (mut reached_by_all, mut runs) = (0, 0);
    for (name, draw) in rows.iter().filter(|row| is_wanted(&row.0)) {
        let (mut gaps, mut seconds, mut nodes) = (Vec::new(), Vec::new(), Vec::new());
        for seed in 1..=seeds {
            let problem = Problem::new(&draw(seed).unwrap()).unwrap();
            let settings = Settings {
                method: method.parse().unwrap(),
                gap: GAP,
                certify: Certify::Exact,
                time_limit: Some(Duration::from_secs(limit)),
                seed,
                ..Settings::default()
            };
            let mut watch = Nodes(0);
            let outcome = solve_with(&problem, &settings, &mut watch, &Arc::default()).unwrap();
            let bounds = &outcome.bounds;
            // Without a deterministic upper bound there is no proven gap; a probabilistic one does not count.
            let gap = bounds.upper().and(bounds.gap()).unwrap_or(f64::INFINITY);
            // Which part of it is the decision's, and which the bound's.
            let cost = bounds
                .best()
                .map_or(f64::NAN, |best| Assessor::new(&problem).unwrap().cost(&best.x).unwrap().max(best.value));
            let above = |bound: Option<f64>| bound.map_or(f64::NAN, |bound| (cost - bound).abs() / cost.abs());
            eprintln!(
                "{name} seed {seed}: {}, proven gap {gap:.1e}, of which x {:.1e} and the bound {:.1e}, {:.2} s, {} \
                 parts, {} iterations",
                word(outcome.status),
                above(bounds.lower()),
                above(bounds.upper()),
                outcome.seconds,
                watch.0,
                outcome.iterations,
            );
            gaps.push(gap);
            seconds.push(outcome.seconds);
            nodes.push(watch.0 as f64);
        }
        let reached = gaps.iter().filter(|gap| **gap <= GAP).count();
        let worst = gaps.iter().copied().fold(0.0, f64::max);
        println!(
            "{name:24} {:8.1e} {worst:8.1e} {:8.2} {:8.0} {reached:4} of {seeds}",
            median(gaps),
            median(seconds),
            median(nodes)
        );
        reached_by_all += reached;
        runs += seeds;
    }
    println!("{reached_by_all} of {runs} runs within {GAP:.0e}");
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Optimal => "optimal",
        Status::Feasible => "feasible",
        _ => "no decision",
    }
}
