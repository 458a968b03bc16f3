//! The exact separation on location–transportation under a budget: time, nodes and the gap that is left after a minute,
//! at the decision that a master takes after a few scenarios. `cargo bench --bench separation -- 30 0.5` measures one
//! case: n and Γ per customer.
#![allow(clippy::unwrap_used, missing_docs)]

use std::time::{Duration, Instant};

use softsep::cuts::CutPool;
use softsep::definition::ScenarioList;
use softsep::internals::separation::{Bilinear, ascend};
use softsep::recourse::engine;
use softsep::run::Clock;
use softsep::separation::{Claim, Query, Separation};
use softsep::uncertainty::SetDefinition;
use softsep::{Problem, ProblemDefinition, Settings, solve};
use softsep_paper::instances::{LocationTransportation, Uncertain, location_transportation};

/// Scenarios that the master holds: the nominal one and those that ascents find.
const SCENARIOS: usize = 5;

/// The time that a separation may take.
const LIMIT: Duration = Duration::from_secs(60);

/// The decision of a master that knows some scenarios.
fn decision(file: &ProblemDefinition, problem: &Problem) -> Vec<f64> {
    let mut points = ScenarioList::new(problem.set.dim());
    let mut xi = vec![0.0; problem.set.dim()];
    problem.set.nominal(&mut xi);
    points.push(&xi);
    loop {
        let mut listed = file.clone();
        listed.uncertainty.set = SetDefinition::scenarios(points.clone());
        let settings = Settings { method: "extensive".parse().unwrap(), ..Settings::default() };
        let outcome = solve(&Problem::new(&listed).unwrap(), &settings).unwrap();
        let x = outcome.bounds.best().unwrap().x.clone();
        if points.len() == SCENARIOS {
            return x;
        }
        let mut engine = engine(problem, &Clock::unlimited()).unwrap();
        points.push(&ascend(problem, engine.as_mut(), &x).unwrap().xi);
    }
}

fn measure(n: usize, gamma: f64) {
    let settings =
        LocationTransportation { n, uncertainty: Uncertain::Budget { gamma }, mixed_integer: false, seed: 1 };
    let file = location_transportation(&settings).unwrap();
    let problem = Problem::new(&file).unwrap();
    let x = decision(&file, &problem);
    let start = Instant::now();
    let mut engine = engine(&problem, &Clock::unlimited()).unwrap();
    let local = ascend(&problem, engine.as_mut(), &x).unwrap().value;
    let ascent = start.elapsed();
    let start = Instant::now();
    let clock = Clock::new(Some(LIMIT), Default::default());
    let found =
        Bilinear::new(&problem).unwrap().separate(&Query::maximum(&x, &clock), &mut CutPool::new(&problem)).unwrap();
    let gap = match found.claim {
        Claim::Surely(claim) => format!("{:.4} %", 100.0 * (claim - found.value) / found.value.abs()),
        _ => "none".into(),
    };
    println!(
        "n = {n}, Γ = {gamma}: {:>8.2?}, {:>7} nodes, gap {gap}; worst {:.2}, by ascents {local:.2} in {ascent:.2?}",
        start.elapsed(),
        found.nodes,
        found.value
    );
}

fn main() {
    let asked: Vec<f64> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    match asked[..] {
        [n, gamma] => measure(n as usize, gamma),
        _ => {
            for n in [10, 30] {
                for gamma in [0.1, 0.3, 0.5, 0.7, 0.9] {
                    measure(n, gamma);
                }
            }
        }
    }
}
