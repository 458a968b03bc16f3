//! Mixed-integer location–transportation: `branch-and-cut` by one tree and by many, and `ccg`.
//!
//! `cargo bench -p softsep --bench trees [-- ellipsoid-30 budget-50-0.5 scenarios-10-1000 …]` (any beginning of a name
//! takes all that begin so). Environment: `SEEDS=N`, `GAP=1e-4`, `LIMIT=60` seconds for each run, `CERTIFY=exact`,
//! `BY=single,multi,ccg`, `THREADS=1`. "off" is how far the decision is above the best lower or equal value that any
//! run of the row has found, where its true cost is bounded by an exact separation if `CERTIFY=exact`; "gap" is that of
//! the run's own bounds.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use softsep::methods::MethodSettings;
use softsep::run::{Event, Observer};
use softsep::{Certify, Problem, Settings, solve_with};
use softsep_paper::instances::{LocationTransportation, Uncertain, location_transportation};

/// The number of nodes and the last note of a run.
#[derive(Default)]
struct Notes {
    nodes: u64,
    last: String,
}

impl Observer for Notes {
    fn see(&mut self, event: &Event) {
        match event {
            Event::Step(record) => self.nodes = record.nodes,
            Event::Note(note) => (*note).clone_into(&mut self.last),
            _ => {}
        }
    }
}

fn env<T: std::str::FromStr>(name: &str, default: T) -> T {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn rows() -> Vec<(String, usize, Uncertain)> {
    let mut rows = Vec::new();
    for n in [3, 10, 30, 50, 100] {
        rows.push((format!("ellipsoid-{n}"), n, Uncertain::Ellipsoid));
    }
    for n in [30, 50, 70, 100] {
        for gamma in [0.1, 0.3, 0.5, 0.7, 0.9] {
            rows.push((format!("budget-{n}-{gamma}"), n, Uncertain::Budget { gamma }));
        }
    }
    for n in [3, 10, 30] {
        for count in [1_000, 10_000, 100_000, 1_000_000] {
            rows.push((format!("scenarios-{n}-{count}"), n, Uncertain::Scenarios(count)));
        }
    }
    rows
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let (seeds, gap, limit): (u64, f64, f64) = (env("SEEDS", 1), env("GAP", 1e-3), env("LIMIT", 60.0));
    let by: String = env("BY", "single,multi,ccg".into());
    let certify = match env("CERTIFY", String::new()).as_str() {
        "exact" => Certify::Exact,
        "free" => Certify::Free,
        _ => Certify::None,
    };
    println!(
        "{:22} {:7} {:>9} {:>7} {:>8} {:>9} {:>9}",
        "instance, seed", "by", "seconds", "nodes", "solves", "gap", "off"
    );
    for (name, n, uncertainty) in rows() {
        if !wanted.iter().any(|wanted| name.starts_with(wanted.as_str())) && !wanted.is_empty() {
            continue;
        }
        for seed in 1..=seeds {
            let instance = LocationTransportation { n, uncertainty, mixed_integer: true, seed };
            let problem = Problem::new(&location_transportation(&instance).unwrap()).unwrap();
            let mut found = Vec::new();
            for way in by.split(',') {
                let (method, options) = match way {
                    "single" | "multi" => ("branch-and-cut", Map::from_iter([("tree".to_owned(), json!(way))])),
                    other => (other, Map::<String, Value>::new()),
                };
                let settings = Settings {
                    method: MethodSettings::parse(method, &options).unwrap(),
                    gap,
                    seed,
                    certify: if method == "ccg" { Certify::Free } else { certify },
                    threads: std::env::var("THREADS").ok().and_then(|text| text.parse().ok()),
                    time_limit: Some(Duration::from_secs_f64(limit)),
                    ..Settings::default()
                };
                let mut notes = Notes::default();
                let outcome = solve_with(&problem, &settings, &mut notes, &Arc::default()).unwrap();
                let value = outcome.bounds.best().map_or(f64::INFINITY, |best| best.upper.unwrap_or(best.value));
                found.push((way.to_owned(), outcome, value, notes));
            }
            let least = found.iter().map(|(_, _, value, _)| *value).fold(f64::INFINITY, f64::min);
            for (way, outcome, value, notes) in found {
                let lower = outcome.bounds.lower().unwrap_or(f64::NEG_INFINITY);
                println!(
                    "{:22} {way:7} {:9.2} {:7} {:8} {:9.1e} {:9.1e}  {}",
                    format!("{name}, {seed}"),
                    outcome.seconds,
                    notes.nodes,
                    outcome.recourse_solves,
                    (value - lower) / value.abs(),
                    (value - least) / least.abs(),
                    if way == "single" { &notes.last } else { "" },
                );
            }
        }
    }
}
