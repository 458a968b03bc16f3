//! Exact separations against the enumeration of all extreme points, on random problems and decisions.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep::cuts::CutPool;
use softsep::definition::Row;
use softsep::internals::separation::{Bilinear, Kkt, NotBilinear, Scan, SlopeRanges, Split, finite_equivalent};
use softsep::recourse::{Answer, CutKind, engine};
use softsep::run::Clock;
use softsep::separation::{
    Claim, Found, Proof, Query, Separation, SeparationContext, SeparationKind, SoftSettings, build_separation,
};
use softsep::testing::{Recipe, random_problem};
use softsep::uncertainty::SetDefinition;
use softsep::{Error, Problem, ProblemDefinition};
use softsep_paper::instances::{
    LocationTransportation, Uncertain, UnitCommitment, location_transportation, unit_commitment,
};

/// Makes a separation for a problem; `None` where it is refused.
type Build = for<'p> fn(&'p Problem) -> Option<Box<dyn Separation + 'p>>;

const EXACT: [(&str, Build); 3] = [
    ("bilinear", |problem| Some(Box::new(Bilinear::new(problem).unwrap()))),
    ("split", |problem| Some(Box::new(Split::new(problem)))),
    ("kkt", |problem| {
        let mut kkt = Kkt::new(problem).unwrap();
        match kkt.prepare(&Clock::unlimited()) {
            Ok(()) => Some(Box::new(kkt)),
            // A big-M constant is infinite.
            Err(Error::Settings(_)) => None,
            Err(error) => panic!("{error}"),
        }
    }),
];

const SETS: [&str; 4] = ["box", "l1", "budget", "polyhedron"];

/// Agreement asked for, relative.
const CLOSE: f64 = 1e-6;

/// `make soak` asks for ten times as many problems.
fn many(count: u64) -> u64 {
    count * if std::env::var_os("SOFTSEP_SOAK").is_some() { 10 } else { 1 }
}

fn problem(set: &'static str, incomplete: bool, units: bool, seed: u64) -> Problem {
    Problem::new(&random_problem(&Recipe { set, incomplete, units, ..Recipe::default() }, seed)).unwrap()
}

/// A random member of X, on the grid of the problem's data more often than not.
fn decision(problem: &Problem, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let mut x: Vec<f64> =
        problem
            .first
            .upper
            .iter()
            .map(|upper| {
                if rng.random_bool(0.6) {
                    rng.random_range(0.0..=*upper).round()
                } else {
                    rng.random_range(0.0..=*upper)
                }
            })
            .collect();
    while problem.first.violation(&x).is_some_and(|violation| violation.amount > 1e-9) {
        x.iter_mut().for_each(|x| *x *= 0.5);
    }
    x
}

/// The maximum by enumeration.
fn truth(problem: &Problem, x: &[f64]) -> f64 {
    let points = finite_equivalent(problem, 100_000).unwrap();
    Scan::new(problem, points)
        .unwrap()
        .separate(&Query::maximum(x, &Clock::unlimited()), &mut CutPool::new(problem))
        .unwrap()
        .value
}

fn close(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= CLOSE * a.abs().max(b.abs()).max(1.0)
}

/// What every answer must satisfy, whatever was asked: the scenario is a member, costs what it is said to, its cut
/// holds and is tight, and the claim is not below the truth.
fn check_found(what: &str, problem: &Problem, x: &[f64], found: &Found, truth: f64) {
    assert!(problem.set.contains(&found.xi, 1e-6), "{what}: {:?} is not a member", found.xi);
    let mut engine = engine(problem, &Clock::unlimited()).unwrap();
    let mut answer = Answer::new(problem);
    engine.at(x);
    engine.solve(&found.xi, &mut answer).unwrap();
    assert!(close(found.value, answer.value), "{what}: says {} where recourse costs {}", found.value, answer.value);
    match &found.cut {
        Some(cut) if cut.kind == CutKind::Optimality => {
            assert!(close(cut.at(x), found.value), "{what}: {cut:?} is not tight")
        }
        Some(cut) => assert!(found.value == f64::INFINITY && cut.at(x) > 0.0, "{what}: {cut:?} cuts nothing off"),
        None => assert_eq!(found.value, f64::NEG_INFINITY, "{what}: no cut"),
    }
    assert!(found.value <= truth || close(found.value, truth), "{what}: {} is above the truth {truth}", found.value);
    if let Claim::Surely(claim) = found.claim {
        assert!(claim >= truth || close(claim, truth), "{what}: claims {claim}, and the truth is {truth}");
        assert!(claim >= found.value, "{what}: claims {claim} and has found {}", found.value);
    }
}

/// Runs a separation through many problems; returns how many there were, how many claims were missing, and how many
/// truths were infinite.
fn run(name: &str, build: Build, set: &'static str, incomplete: bool, units: bool, count: u64) -> [u64; 3] {
    run_seeds(name, build, set, incomplete, units, 0..many(count))
}

fn run_seeds(
    name: &str,
    build: Build,
    set: &'static str,
    incomplete: bool,
    units: bool,
    seeds: std::ops::Range<u64>,
) -> [u64; 3] {
    let mut met = [0; 3];
    for seed in seeds {
        let problem = problem(set, incomplete, units, seed);
        let mut rng = ChaCha8Rng::seed_from_u64(!seed);
        let Some(mut separation) = build(&problem) else { continue };
        for round in 0..2 {
            let x = decision(&problem, &mut rng);
            let truth = truth(&problem, &x);
            let what = format!("{name}, {set}, incomplete {incomplete}, seed {seed}, round {round}");
            let found =
                separation.separate(&Query::maximum(&x, &Clock::unlimited()), &mut CutPool::new(&problem)).unwrap();
            check_found(&what, &problem, &x, &found, truth);
            met[0] += 1;
            met[2] += u64::from(truth == f64::INFINITY);
            match found.claim {
                Claim::Surely(claim) => {
                    assert!(close(claim, truth), "{what}: claims {claim}, and the truth is {truth}");
                    assert!(close(found.value, truth), "{what}: finds {}, and the truth is {truth}", found.value);
                }
                _ => met[1] += 1,
            }
            asked_for_less(&what, separation.as_mut(), &problem, &x, truth, found.claim != Claim::Nothing, &mut rng);
        }
    }
    met
}

/// A scenario beyond a value, or a bound that is not far above it.
fn asked_for_less(
    what: &str,
    separation: &mut dyn Separation,
    problem: &Problem,
    x: &[f64],
    truth: f64,
    decided: bool,
    rng: &mut ChaCha8Rng,
) {
    if !(truth.is_finite() && decided) {
        return;
    }
    // Any bound is less than the best.
    let found = separation
        .separate(&Query::maximum(x, &Clock::unlimited()).with_bound(f64::INFINITY), &mut CutPool::new(problem))
        .unwrap();
    check_found(what, problem, x, &found, truth);
    assert_ne!(found.claim, Claim::Nothing, "{what}: no bound at all");
    let tolerance = rng.random_range(0.0..0.2);
    let beyond = truth + rng.random_range(-1.0..1.0);
    let clock = Clock::unlimited();
    let query = Query::maximum(x, &clock).above(beyond).with_bound(tolerance);
    let found = separation.separate(&query, &mut CutPool::new(problem)).unwrap();
    check_found(what, problem, x, &found, truth);
    match found.claim {
        Claim::Surely(claim) => {
            let reached = found.value.max(beyond) + tolerance;
            assert!(
                claim <= reached || close(claim, reached),
                "{what}: {query:?} has {found:?}, and the truth is {truth}"
            );
        }
        _ => assert!(found.value > beyond, "{what}: {query:?} has neither scenario nor bound: {found:?}"),
    }
}

#[test]
fn complete_recourse_is_separated_exactly() {
    for (name, build) in EXACT {
        for set in SETS {
            let [all, missing, infinite] = run(name, build, set, false, false, 60);
            assert_eq!((missing, infinite), (0, 0), "{name}, {set}");
            assert!(all >= if name == "kkt" { 60 } else { 120 }, "{name}, {set}: {all} decisions");
        }
    }
}

/// The tree of the mixed-integer program once ended at such a scenario with a bound far above it.
#[test]
fn a_scenario_above_the_level_comes_without_a_loose_bound() {
    let (name, build) = EXACT.into_iter().find(|(name, _)| *name == "bilinear").unwrap();
    assert_eq!(run_seeds(name, build, "box", false, false, 429..430)[0], 2);
    assert_eq!(run_seeds(name, build, "budget", false, true, 196..197)[0], 2);
}

#[test]
fn missing_recourse_is_found() {
    for (name, build) in EXACT {
        for set in SETS {
            let [all, missing, infinite] = run(name, build, set, true, false, 60);
            println!(
                "{name}, {set}: {all} decisions, {missing} without a claim, {infinite} without recourse somewhere"
            );
            assert!(infinite > all / 20, "{name}, {set}: {infinite} of {all} lack recourse somewhere");
            assert!(missing <= all / 10, "{name}, {set}: no claim for {missing} of {all}");
        }
    }
}

#[test]
fn units_of_rows_change_nothing() {
    for (name, build) in EXACT {
        for set in SETS {
            let [_, missing, _] = run(name, build, set, false, true, 20);
            assert_eq!(missing, 0, "{name}, {set}");
        }
    }
}

#[test]
fn a_stopped_search_claims_what_holds() {
    for (name, build) in EXACT {
        let mut claims = 0;
        for seed in 0..many(60) {
            let set = SETS[seed as usize % SETS.len()];
            let problem = problem(set, seed % 3 == 0, false, seed);
            let mut rng = ChaCha8Rng::seed_from_u64(!seed);
            let x = decision(&problem, &mut rng);
            let truth = truth(&problem, &x);
            let Some(mut separation) = build(&problem) else { continue };
            for limit in [0, 1, 2, 5, 20] {
                let clock = Clock::new(Some(Duration::from_millis(limit)), Default::default());
                match separation.separate(&Query::maximum(&x, &clock), &mut CutPool::new(&problem)) {
                    Ok(found) => {
                        claims += u64::from(found.claim != Claim::Nothing);
                        check_found(&format!("{name}, seed {seed}, {limit} ms"), &problem, &x, &found, truth);
                    }
                    Err(Error::Interrupted(_)) => {}
                    Err(error) => panic!("{name}, seed {seed}, {limit} ms: {error}"),
                }
            }
        }
        assert!(claims > 0, "{name}: no stopped search claimed anything");
    }
}

#[test]
fn what_is_not_bilinear_is_refused_by_name() {
    let refusal = |recipe: &Recipe| {
        (0..20).find_map(|seed| Bilinear::new(&Problem::new(&random_problem(recipe, seed)).unwrap()).err())
    };
    let recipe = Recipe { set: "box", ..Recipe::default() };
    assert_eq!(refusal(&Recipe { quadratic: true, ..recipe }), Some(NotBilinear::NotLinear));
    assert_eq!(refusal(&Recipe { cost_xi: true, ..recipe }), Some(NotBilinear::CostsMove));
    assert_eq!(refusal(&Recipe { set: "ellipsoid", ..recipe }), Some(NotBilinear::NotAPolytope));
    assert_eq!(refusal(&Recipe { set: "scenarios", ..recipe }), Some(NotBilinear::NotAPolytope));
}

#[test]
fn slopes_stay_within_their_ranges() {
    for seed in 0..many(200) {
        let problem = problem(SETS[seed as usize % SETS.len()], seed % 2 == 0, false, seed);
        let Some(ranges) = SlopeRanges::of(&problem, &Clock::unlimited()).unwrap() else { continue };
        let mut rng = ChaCha8Rng::seed_from_u64(!seed);
        let mut engine = engine(&problem, &Clock::unlimited()).unwrap();
        let mut answer = Answer::new(&problem);
        for xi in finite_equivalent(&problem, 1000).unwrap().iter() {
            engine.at(&decision(&problem, &mut rng));
            engine.solve(xi, &mut answer).unwrap();
            if answer.value.is_finite() {
                for (entry, slope) in answer.slope_xi.iter().enumerate() {
                    let (least, most) = (ranges.least[entry], ranges.most[entry]);
                    assert!(
                        least - 1e-6 <= *slope && *slope <= most + 1e-6,
                        "seed {seed}: {slope} is not in [{least}, {most}]"
                    );
                }
            }
        }
    }
}

/// Location–transportation in 8 entries.
fn shipping(uncertainty: Uncertain, seed: u64) -> ProblemDefinition {
    location_transportation(&LocationTransportation { n: 8, uncertainty, mixed_integer: false, seed }).unwrap()
}

/// `0 ≤ ξ ≤ 1` with bounds on the sum, in one row or in two.
fn polyhedron(parameters: &[String], sums: &[(f64, f64)]) -> SetDefinition {
    let constraints = sums.iter().enumerate().map(|(number, &(lower, upper))| Row {
        xi: parameters.iter().map(|name| (name.clone(), 1.0)).collect(),
        lower,
        upper,
        ..Row::new(format!("sum {number}"))
    });
    SetDefinition::Polyhedron {
        lower: vec![0.0; parameters.len()],
        upper: vec![1.0; parameters.len()],
        constraints: constraints.collect(),
    }
}

#[test]
fn larger_sets_are_separated_exactly() {
    for (name, build) in EXACT {
        let mut trees = 0;
        for seed in 0..many(9) {
            for gamma in [0.2, 0.45, 0.7] {
                // Optimality conditions take seconds for each.
                if name == "kkt" && (seed > 2 || gamma > 0.2) {
                    continue;
                }
                let mut file = shipping(Uncertain::Budget { gamma }, seed);
                // The same set as a polyhedron that knows no levels, and one in which the budget must be spent.
                match seed % 3 {
                    0 => {}
                    1 => {
                        file.uncertainty.set =
                            polyhedron(&file.uncertainty.parameters, &[(f64::NEG_INFINITY, 8.0 * gamma)])
                    }
                    _ => file.uncertainty.set = polyhedron(&file.uncertainty.parameters, &[(8.0 * gamma, 8.0 * gamma)]),
                }
                let problem = Problem::new(&file).unwrap();
                // Capacities that are short for some demands and not for others.
                let mut rng = ChaCha8Rng::seed_from_u64(!seed);
                let x: Vec<f64> = (0..8).map(|_| rng.random_range(150.0..450.0)).collect();
                let truth = truth(&problem, &x);
                let what = format!("{name}, seed {seed}, budget {gamma}");
                let found = build(&problem)
                    .unwrap()
                    .separate(&Query::maximum(&x, &Clock::unlimited()), &mut CutPool::new(&problem))
                    .unwrap();
                check_found(&what, &problem, &x, &found, truth);
                assert!(close(found.value, truth), "{what}: finds {}, and the truth is {truth}", found.value);
                // The mixed-integer program declines equalities: its bound is then that of a relaxation.
                let declines = name == "bilinear" && seed % 3 == 2;
                let is_exact = matches!(found.claim, Claim::Surely(claim) if close(claim, truth));
                assert!(declines || is_exact, "{what}: {found:?}, not {truth}");
                trees += u64::from(found.nodes > 1);
            }
        }
        assert!(trees > 0, "{name}: everything was settled without a search");
    }
}

#[test]
fn monotone_entries_need_no_search() {
    // More demand never costs less: of the 2³⁰ corners of a box one is the worst.
    let settings =
        LocationTransportation { n: 30, uncertainty: Uncertain::Budget { gamma: 1.0 }, mixed_integer: false, seed: 1 };
    let mut file = location_transportation(&settings).unwrap();
    file.uncertainty.set = SetDefinition::Box { lower: vec![-1.0; 30], upper: vec![1.0; 30] };
    let problem = Problem::new(&file).unwrap();
    let x = vec![200.0; 30];
    let mut engine = engine(&problem, &Clock::unlimited()).unwrap();
    let mut answer = Answer::new(&problem);
    engine.at(&x);
    engine.solve(&[1.0; 30], &mut answer).unwrap();
    // Optimality conditions have no use for it.
    for (name, build) in EXACT.into_iter().filter(|(name, _)| *name != "kkt") {
        let mut separation = build(&problem).unwrap();
        let found = separation.separate(&Query::maximum(&x, &Clock::unlimited()), &mut CutPool::new(&problem)).unwrap();
        assert_eq!((found.xi, found.nodes), (vec![1.0; 30], 0), "{name}");
        assert!(close(found.value, answer.value) && found.claim == Claim::Surely(found.value), "{name}");
    }
}

#[test]
fn a_bound_that_is_infinite_is_named_and_not_guessed() {
    let mut named = 0;
    for seed in 0..12 {
        // Two rows that are one equality: their multipliers may grow together without end.
        let mut file = shipping(Uncertain::Budget { gamma: 0.5 }, seed);
        let inf = f64::INFINITY;
        file.uncertainty.set = polyhedron(&file.uncertainty.parameters, &[(-inf, 4.0), (4.0, inf)]);
        // Rows that are sums in units of the ranges need no multipliers: their vertices are at known levels.
        if let SetDefinition::Polyhedron { upper, .. } = &mut file.uncertainty.set {
            upper[0] = 1.5;
        }
        let problem = Problem::new(&file).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(!seed);
        let x: Vec<f64> = (0..8).map(|_| rng.random_range(150.0..450.0)).collect();
        let mut separation = Bilinear::new(&problem).unwrap();
        let found = separation.separate(&Query::maximum(&x, &Clock::unlimited()), &mut CutPool::new(&problem)).unwrap();
        let truth = truth(&problem, &x);
        check_found(&format!("seed {seed}"), &problem, &x, &found, truth);
        match separation.declined() {
            Some(why) => {
                assert_eq!(why, "a multiplier of the uncertainty set has no finite bound");
                named += 1;
            }
            // The relaxation may be exact.
            None => assert!(matches!(found.claim, Claim::Surely(claim) if close(claim, truth)), "seed {seed}"),
        }
    }
    assert!(named > 0, "no bound was missing");
}

/// A needle: the cost rises gently towards one corner of the set and steeply in a small neighbourhood of the opposite
/// one, where no ascent looks. What it costs there is known. The units of ξ and of the costs are anything.
fn needle(seed: u64) -> (Problem, f64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let dim = rng.random_range(3..=7_usize);
    let (unit, far, cost) = (
        10_f64.powi(rng.random_range(-6..=6)),
        [0.0, 1.0, 1e5][rng.random_range(0..3_usize)],
        10_f64.powi(rng.random_range(0..=4)),
    );
    let names: Vec<String> = (0..dim).map(|entry| format!("g{entry}")).collect();
    let center: Vec<f64> = (0..dim).map(|_| unit * (far + rng.random_range(-1.0..1.0))).collect();
    let scale: Vec<f64> = (0..dim).map(|_| unit * rng.random_range(0.3..1.0)).collect();
    let direction: Vec<f64> =
        scale.iter().map(|scale| if rng.random_bool(0.5) { 1.0 / scale } else { -1.0 / scale }).collect();
    let lower: Vec<f64> = center.iter().zip(&scale).map(|(center, scale)| center - scale).collect();
    let upper: Vec<f64> = center.iter().zip(&scale).map(|(center, scale)| center + scale).collect();
    let along = |xi: &[f64]| direction.iter().zip(xi).map(|(d, xi)| d * xi).sum::<f64>();
    let corner: Vec<f64> = (0..dim).map(|e| if direction[e] > 0.0 { upper[e] } else { lower[e] }).collect();
    let mut row = Row { upper: 0.9 * along(&corner).abs() + along(&corner), ..Row::new("tight") };
    row.xi = names.iter().cloned().zip(direction.iter().copied()).collect();
    let set = match seed % 3 {
        0 => SetDefinition::Box { lower, upper },
        1 => SetDefinition::Budget {
            budget: dim as f64,
            sides: softsep::uncertainty::Sides::Two,
            center: center.clone(),
            scale,
        },
        _ => SetDefinition::Polyhedron { lower, upper, constraints: vec![row] },
    };
    let mut file = ProblemDefinition::default();
    file.uncertainty.parameters = names.clone();
    file.uncertainty.set = set;
    let (middle, top) = (along(&center), along(&corner));
    // Steep in the last fifth of the way from the center to the corner.
    let from = middle + 0.8 * (top - middle);
    for (name, slope, offset) in [("steep", -10.0, -10.0 * from), ("gentle", 0.1, 0.1 * middle)] {
        file.recourse.variables.push(softsep::definition::Variable::new(name, cost));
        let mut row = Row { lower: offset, ..Row::new(name) };
        row.y = vec![(name.into(), 1.0)];
        row.xi = names.iter().cloned().zip(direction.iter().map(|d| slope * d)).collect();
        file.recourse.constraints.push(row);
    }
    (Problem::new(&file).unwrap(), cost * 10.0 * 0.2 * (top - middle))
}

#[test]
fn needles_are_found_or_bounded() {
    let (mut found_by_split, mut count) = (0, 0);
    for seed in 0..many(120) {
        let (problem, truth) = needle(seed);
        for (name, build) in EXACT {
            let found = build(&problem)
                .unwrap()
                .separate(&Query::maximum(&[], &Clock::unlimited()), &mut CutPool::new(&problem))
                .unwrap();
            let what = format!("{name}, needle {seed}: {found:?}, and the truth is {truth}");
            if let Claim::Surely(claim) = found.claim {
                assert!(claim >= truth * (1.0 - 1e-6), "{what}");
            }
            assert!(found.value <= truth * (1.0 + 1e-6), "{what}");
            if name == "split" {
                count += 1;
                found_by_split += u64::from(found.value >= truth * (1.0 - 1e-6) && found.claim != Claim::Nothing);
            }
        }
    }
    assert_eq!(found_by_split, count, "branch and bound misses needles");
}

/// A unit commitment with two-sided deviations of up to four of its 18 loads, and a decision with two thirds of the
/// units on.
#[test]
fn a_long_scan_with_a_trial_on_its_way_is_exact_and_the_same_on_any_number_of_threads() {
    let settings = UnitCommitment { n: 4, periods: 18, uncertainty: Uncertain::TotalBudget { total: 4.0 }, seed: 1 };
    let problem = Problem::new(&unit_commitment(&settings).unwrap()).unwrap();
    let clock = Clock::unlimited();
    let x: Vec<f64> = (0..problem.first.dim()).map(|column| f64::from(u8::from(column % 3 > 0))).collect();
    let ask = |kind: SeparationKind, threads: usize, tolerance: f64| {
        let context = SeparationContext::new(SoftSettings::default(), Proof::Required, 1e-3, 1, &clock);
        let query = Query::maximum(&x, &clock).with_bound(tolerance);
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let mut separation = build_separation(&kind, &problem, &context).unwrap();
            separation.separate(&query, &mut CutPool::new(&problem)).unwrap()
        })
    };
    // A scan that was asked for is one.
    let scanned = ask(SeparationKind::Scan, 1, 0.0);
    let (truth, tolerance) = (scanned.value, 1e-3 * scanned.value.abs());
    assert!(scanned.nodes == 0 && matches!(scanned.claim, Claim::Surely(claim) if claim <= truth * (1.0 + 1e-9)));
    let [found, again] = [1, 2].map(|threads| ask(SeparationKind::Cascade, threads, tolerance));
    assert_eq!(
        (&found.xi, found.claim, found.solves, found.nodes),
        (&again.xi, again.claim, again.solves, again.nodes)
    );
    // The trial answered, before most points were solved.
    assert!(2 * found.solves < scanned.solves, "{} and {} solves", found.solves, scanned.solves);
    let Claim::Surely(claim) = found.claim else { panic!("{found:?} claims nothing") };
    assert!(found.value <= truth + CLOSE * truth.abs() && truth <= claim * (1.0 + CLOSE), "{found:?}, {truth}");
    assert!(claim <= found.value + tolerance * (1.0 + CLOSE), "{found:?}");
}
