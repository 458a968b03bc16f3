//! The scan that screens against the scan that solves every scenario.
#![allow(clippy::unwrap_used)]

use std::borrow::Cow;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep::Problem;
use softsep::cuts::CutPool;
use softsep::definition::ScenarioList;
use softsep::internals::separation::{Assessor, Scan, finite_equivalent};
use softsep::recourse::{CutKind, engine};
use softsep::run::Clock;
use softsep::separation::{Claim, Found, Query, Separation};
use softsep::testing::{Recipe, random_problem};
use softsep::uncertainty::SetDefinition;
use softsep_paper::instances::{LocationTransportation, Uncertain, location_transportation};

/// Counts over many problems.
#[derive(Debug, Default)]
struct Tally {
    scans: u64,
    infeasible: u64,
    scenarios: u64,
    solves: u64,
}

/// Compares the two scans at a few decisions in sequence.
fn compare(problem: &Problem, points: &ScenarioList, seed: u64, tally: &mut Tally) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut screened = Scan::new(problem, Cow::Borrowed(points)).unwrap();
    let mut plain = Scan::plain(problem, Cow::Borrowed(points)).unwrap();
    let mut at = Vec::new();
    for round in 0..4 {
        // Far apart first, then close together, as in a method that converges.
        at = (0..problem.first.dim())
            .map(|k| match round {
                0 | 1 => rng.random_range(problem.first.lower[k]..=problem.first.upper[k].min(1e3)),
                _ => at[k] + 0.01 * rng.random_range(-1.0..1.0),
            })
            .collect();
        let found = screened.separate(&Query::maximum(&at, &Clock::unlimited()), &mut CutPool::new(problem)).unwrap();
        let wanted = plain.separate(&Query::maximum(&at, &Clock::unlimited()), &mut CutPool::new(problem)).unwrap();
        let close = |a: f64, b: f64| a == b || (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()));
        assert!(
            close(found.value, wanted.value),
            "seed {seed}, round {round}: {} by screens, {} by solves",
            found.value,
            wanted.value
        );
        assert!(matches!(found.claim, Claim::Surely(at_most) if at_most >= found.value && close(at_most, found.value)));
        check(problem, points, &at, &found);
        tally.scans += 1;
        tally.infeasible += u64::from(found.value == f64::INFINITY);
        tally.scenarios += points.len() as u64;
        tally.solves += found.solves;
    }
}

/// The scenario is of the list, an engine of its own finds the same cost there, and the cut is tight or cuts off.
fn check(problem: &Problem, points: &ScenarioList, x: &[f64], found: &Found) {
    assert!(points.iter().any(|point| *point == found.xi));
    let mut engine = engine(problem, &Clock::unlimited()).unwrap();
    let mut answer = softsep::recourse::Answer::new(problem);
    engine.at(x);
    engine.solve(&found.xi, &mut answer).unwrap();
    assert!(found.value == answer.cost || (found.value - answer.cost).abs() <= 1e-6 * (1.0 + answer.cost.abs()));
    match &found.cut {
        Some(cut) if cut.kind == CutKind::Optimality => {
            assert!((cut.at(x) - found.value).abs() <= 1e-6 * (1.0 + found.value.abs()))
        }
        Some(cut) => assert!(found.value == f64::INFINITY && cut.at(x) > 0.0),
        None => assert_eq!(found.value, f64::NEG_INFINITY),
    }
}

/// `count` points around the origin, some of them equal.
fn cloud(dim: usize, count: usize, spread: f64, seed: u64) -> ScenarioList {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut points = ScenarioList::new(dim);
    for _ in 0..count {
        let point: Vec<f64> = (0..dim).map(|_| spread * rng.random_range(-1.0..1.0)).collect();
        points.push(&point);
    }
    let first = points.row(0).to_vec();
    points.push(&first);
    points
}

#[test]
fn screens_and_solves_agree_on_lists() {
    for recipe in [
        Recipe { set: "scenarios", ..Recipe::default() },
        Recipe { set: "scenarios", incomplete: true, ..Recipe::default() },
        Recipe { set: "scenarios", units: true, ..Recipe::default() },
    ] {
        let mut tally = Tally::default();
        for seed in 0..200 {
            let problem = Problem::new(&random_problem(&recipe, seed)).unwrap();
            let spread = [0.1, 1.0, 3.0][seed as usize % 3];
            compare(&problem, &cloud(problem.set.dim(), 300, spread, seed), seed, &mut tally);
        }
        // The screens must also save solves.
        assert!(tally.solves * 20 < tally.scenarios, "{recipe:?}: {tally:?}");
        assert!(
            !recipe.incomplete || tally.infeasible > 50 && tally.infeasible + 50 < tally.scans,
            "{recipe:?}: {tally:?}"
        );
    }
}

#[test]
fn screens_and_solves_agree_where_every_scenario_is_solved() {
    for recipe in [
        Recipe { set: "scenarios", cost_xi: true, ..Recipe::default() },
        Recipe { set: "scenarios", quadratic: true, ..Recipe::default() },
    ] {
        let mut tally = Tally::default();
        for seed in 0..10 {
            let problem = Problem::new(&random_problem(&recipe, seed)).unwrap();
            if problem.recourse.costs_move() || !problem.recourse.is_linear() {
                compare(&problem, &cloud(problem.set.dim(), 40, 1.0, seed), seed, &mut tally);
            }
        }
        assert!(tally.scans > 10 && tally.solves >= tally.scenarios, "{recipe:?}: {tally:?}");
    }
}

/// A problem with `n` customers, over a list, the corners of a box or the extreme points of a budget.
fn depots(n: usize, set: &str, seed: u64) -> Problem {
    let uncertainty = match set {
        "budget" => Uncertain::Budget { gamma: 0.35 },
        _ => Uncertain::Scenarios(1500),
    };
    let mut file =
        location_transportation(&LocationTransportation { n, uncertainty, mixed_integer: false, seed }).unwrap();
    if set == "box" {
        file.uncertainty.set = SetDefinition::Box { lower: vec![0.0; n], upper: vec![1.0; n] };
    }
    Problem::new(&file).unwrap()
}

#[test]
fn screens_and_solves_agree_on_depots() {
    for set in ["scenarios", "budget", "box"] {
        let mut tally = Tally::default();
        for seed in 0..10 {
            let problem = depots(9, set, seed);
            compare(&problem, &finite_equivalent(&problem, 10_000).unwrap(), seed, &mut tally);
        }
        assert!(tally.solves * 5 < tally.scenarios, "{set}: {tally:?}");
    }
}

#[test]
fn screens_and_solves_agree_on_extreme_points() {
    let mut tally = Tally::default();
    for seed in 0..100 {
        let set = ["box", "budget", "l1", "polyhedron"][seed as usize % 4];
        let problem =
            Problem::new(&random_problem(&Recipe { set, incomplete: seed % 3 == 0, ..Recipe::default() }, seed))
                .unwrap();
        compare(&problem, &finite_equivalent(&problem, 10_000).unwrap(), seed, &mut tally);
    }
    assert!(tally.infeasible > 50, "{tally:?}");
}

#[test]
fn results_do_not_depend_on_threads() {
    for seed in 0..20 {
        let problem = match seed % 2 {
            0 => depots(12, "scenarios", seed),
            _ => {
                Problem::new(&random_problem(&Recipe { incomplete: seed % 4 == 1, ..Recipe::default() }, seed)).unwrap()
            }
        };
        let points = cloud(problem.set.dim(), 2000, 1.0, seed);
        let on = |threads: usize, is_plain: bool| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let build = if is_plain { Scan::plain } else { Scan::new };
                let mut scan = build(&problem, Cow::Borrowed(&points)).unwrap();
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                let mut decision = || -> Vec<f64> {
                    problem.first.upper.iter().map(|upper| rng.random_range(0.0..=upper.min(400.0))).collect()
                };
                (0..4)
                    .map(|_| {
                        scan.separate(&Query::maximum(&decision(), &Clock::unlimited()), &mut CutPool::new(&problem))
                            .unwrap()
                    })
                    .collect::<Vec<Found>>()
            })
        };
        for is_plain in [false, true] {
            let one = on(1, is_plain);
            // To the last digit, and with the same number of solves.
            assert_eq!(one, on(2, is_plain), "seed {seed}");
            assert_eq!(one, on(4, is_plain), "seed {seed}");
        }
    }
}

#[test]
fn a_clock_that_has_run_out_stops_a_scan() {
    let problem = depots(9, "scenarios", 1);
    let clock = Clock::new(Some(std::time::Duration::ZERO), Default::default());
    let mut scan = Scan::new(&problem, finite_equivalent(&problem, 10_000).unwrap()).unwrap();
    let stopped = scan.separate(&Query::maximum(&[250.0; 9], &clock), &mut CutPool::new(&problem));
    assert!(matches!(stopped, Err(softsep::Error::Interrupted(_))), "{stopped:?}");
}

/// An assessor finds the cost of a decision if it is within the level, and a cost above the level otherwise.
#[test]
fn costs_are_assessed_up_to_a_level() {
    for seed in 0..12 {
        let uncertainty = if seed % 2 == 0 { Uncertain::Scenarios(300) } else { Uncertain::Budget { gamma: 0.5 } };
        let instance = LocationTransportation { n: 4, uncertainty, mixed_integer: false, seed };
        let problem = Problem::new(&location_transportation(&instance).unwrap()).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut assessor = Assessor::new(&problem).unwrap();
        for _ in 0..5 {
            let x: Vec<f64> =
                (0..problem.first.dim()).map(|k| rng.random_range(0.0..=0.4 * problem.first.upper[k])).collect();
            let cost = Assessor::new(&problem).unwrap().cost(&x).unwrap();
            let close = |found: f64| (found - cost).abs() <= 1e-9 * cost.abs();
            let within = assessor.cost_up_to(&x, 1.001 * cost).unwrap();
            assert!(close(within), "seed {seed}: {within} is not {cost}");
            for share in [0.999, 0.9] {
                let above = assessor.cost_up_to(&x, share * cost).unwrap();
                assert!(above > share * cost && (above <= cost || close(above)), "seed {seed}: {above} of {cost}");
            }
        }
    }
}
