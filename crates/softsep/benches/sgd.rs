//! The recourse solves that `sgd` takes to come within 0.1 % and 0.01 % of the optimum, and its gap after ten times as
//! many.
//!
//! `cargo bench --bench sgd [-- ROW…]` runs the rows named (`ellipsoid-30`, `budget-0.5`, `scenarios`, …; all by
//! default), five seeds each. The decision that would be returned at any moment is evaluated outside the count: exactly
//! on lists, by ascents from many starts elsewhere.
#![allow(clippy::unwrap_used, clippy::panic)]

mod median;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use median::median;
use serde_json::Map;
use softsep::internals::separation::Assessor;
use softsep::methods::MethodSettings;
use softsep::run::{Event, Observer};
use softsep::{Problem, Settings, solve, solve_with};
use softsep_paper::instances::{LocationTransportation, Uncertain, location_transportation};

/// Evaluates each decision that would be returned.
struct Watch<'p> {
    assessor: Assessor<'p>,
    optimum: f64,
    x: Vec<f64>,
    gap: f64,
    start: Option<f64>,
    within: [Option<u64>; 2],
    /// Solves and gaps, thinned.
    path: Vec<(u64, f64)>,
}

impl Observer for Watch<'_> {
    fn see(&mut self, event: &Event) {
        let Event::Step(record) = event else { return };
        let Some(best) = record.bounds.best() else { return };
        if best.x != self.x {
            self.x.clone_from(&best.x);
            self.gap = (self.assessor.cost(&best.x).unwrap() - self.optimum) / self.optimum.abs();
        }
        self.start.get_or_insert(self.gap);
        for (within, goal) in self.within.iter_mut().zip([1e-3, 1e-4]) {
            if within.is_none() && self.gap < goal {
                *within = Some(record.recourse_solves);
            }
        }
        self.path.push((record.recourse_solves, self.gap));
    }
}

/// The best value known: of `ccg` within a minute, or of a long run of `sgd` itself. Kept in a file, since it takes
/// longer than the measurement.
fn optimum(problem: &Problem, name: &str) -> f64 {
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("optimum-{name}"));
    if let Ok(text) = std::fs::read_to_string(&kept) {
        return text.trim().parse().unwrap();
    }
    let limit = Some(Duration::from_secs(60));
    let long = |method: &str| Settings {
        method: method.parse().unwrap(),
        gap: 1e-5,
        time_limit: limit,
        iterations: Some(1000),
        ..Settings::default()
    };
    let mut assessor = Assessor::new(problem).unwrap();
    let optimum = ["ccg", "sgd"]
        .map(|method| {
            let outcome = solve(problem, &long(method)).unwrap();
            let best = outcome.bounds.best().unwrap();
            assessor.cost(&best.x).unwrap().max(best.value)
        })
        .into_iter()
        .fold(f64::INFINITY, f64::min);
    std::fs::write(&kept, optimum.to_string()).unwrap();
    optimum
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let options: Map<String, serde_json::Value> =
        std::env::var("SGD_OPTIONS").map_or_else(|_| Map::new(), |text| serde_json::from_str(&text).unwrap());
    let ellipsoid = |n| (format!("ellipsoid-{n}"), n, Uncertain::Ellipsoid);
    let budget = |gamma| (format!("budget-{gamma}"), 30, Uncertain::Budget { gamma });
    let rows = [
        ellipsoid(10),
        ellipsoid(30),
        ellipsoid(100),
        budget(0.1),
        budget(0.5),
        budget(0.9),
        ("scenarios".into(), 30, Uncertain::Scenarios(10_000)),
    ];
    println!(
        "row                start %    to 0.1 %   to 0.01 %   gap % after 10×   (medians of 5 seeds; each seed in \
         brackets)"
    );
    for (name, n, uncertain) in rows {
        if !wanted.is_empty() && !wanted.contains(&name) {
            continue;
        }
        let mut columns: [Vec<f64>; 4] = Default::default();
        for seed in 1..=5 {
            let instance = LocationTransportation { n, uncertainty: uncertain, mixed_integer: false, seed };
            let problem = Problem::new(&location_transportation(&instance).unwrap()).unwrap();
            let optimum = optimum(&problem, &format!("{name}-{seed}"));
            let mut watch = Watch {
                assessor: Assessor::new(&problem).unwrap(),
                optimum,
                x: Vec::new(),
                gap: f64::INFINITY,
                start: None,
                within: [None; 2],
                path: Vec::new(),
            };
            let iterations = std::env::var("SGD_ITERATIONS").map_or(2000, |text| text.parse().unwrap());
            let settings = Settings {
                method: MethodSettings::parse("sgd", &options).unwrap(),
                gap: 0.0,
                iterations: Some(iterations),
                seed,
                ..Settings::default()
            };
            let outcome = solve_with(&problem, &settings, &mut watch, &Arc::default()).unwrap();
            let solves = |within: Option<u64>| within.map_or(f64::INFINITY, |solves| solves as f64);
            let ten = watch.within[0].map_or(u64::MAX, |solves| 10 * solves);
            let after = watch.path.iter().find(|point| point.0 >= ten).or(watch.path.last()).unwrap();
            columns[0].push(100.0 * watch.start.unwrap());
            columns[1].push(solves(watch.within[0]));
            columns[2].push(solves(watch.within[1]));
            columns[3].push(100.0 * after.1);
            eprintln!(
                "{name} seed {seed}: start {:.3} %, {:?}, after {} solves {:.4} %, end {} solves {:.4} % in {:.1} s, \
                 lower {:.4} %",
                columns[0].last().unwrap(),
                watch.within,
                after.0,
                100.0 * after.1,
                outcome.recourse_solves,
                100.0 * watch.gap,
                outcome.seconds,
                100.0 * (outcome.bounds.lower().unwrap() - optimum) / optimum,
            );
        }
        let [start, first, second, after] = columns.map(median);
        println!("{name:15} {start:10.3} {first:11.0} {second:11.0} {after:17.4}");
    }
}
