//! A tempered search finds isolated worst scenarios at least as often as the same number of uniform draws.

use softsep::cuts::CutPool;
use softsep::run::Clock;
use softsep::separation::{
    Effort, Proof, Query, Separation, SeparationContext, SeparationKind, SoftSettings, build_separation,
};
use softsep::uncertainty::Sides;

use super::locks::{Locked, budget, corners, list, sphere};
use super::statistics::at_most;

/// Runs on each problem.
const RUNS: u64 = 60;

/// Whether a thorough search of about so many recourse solves finds the worst scenario, and its recourse solves.
fn finds(locked: &Locked, solves: u64, seed: u64) -> (bool, u64) {
    let clock = Clock::unlimited();
    let context = SeparationContext::new(SoftSettings::default(), Proof::Unwanted, 1e-6, seed, &clock);
    let mut separation = build_separation(&SeparationKind::Soft, &locked.problem, &context).unwrap();
    let query = Query::scenario(&[], &clock).with_effort(Effort::Thorough).with_budget(solves);
    let found = separation.separate(&query, &mut CutPool::new(&locked.problem)).unwrap();
    (found.value > 1.0 - 1e-6, found.solves)
}

/// The false-alarm rate of each comparison over random seeds is 10⁻⁶.
#[test]
fn needles_are_found_as_often_as_by_uniform_draws() {
    for (name, locked) in [
        ("one corner in 1,024", corners(10, 1)),
        ("one row in 500", list(500, 1)),
        ("one budget point in 211", budget(20, Sides::One, 1)),
        ("one of 760 points on both sides", budget(20, Sides::Two, 1)),
        ("a cap of a sphere", sphere(3, 0.004)),
    ] {
        for solves in [100, 400] {
            let runs: Vec<(bool, u64)> = (0..RUNS).map(|seed| finds(&locked, solves, seed)).collect();
            let missed = runs.iter().filter(|(found, _)| !found).count() as u64;
            // Uniform draws with as many solves as the shortest run took miss it this often.
            let least = runs.iter().map(|(_, solves)| *solves).min().unwrap().min(solves);
            println!("{name}, {solves} solves: missed in {missed} of {RUNS} runs");
            at_most(missed, RUNS, (1.0 - locked.share).powf(least as f64), name);
        }
    }
}
