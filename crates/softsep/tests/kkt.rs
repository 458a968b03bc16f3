//! `--separation kkt` over ellipsoids, against branch and bound on ξ and against dense ascents, and its refusals.
//! `separations.rs` has it against enumeration over polytopes.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "affine/truth.rs"]
mod truth;

use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep::cuts::CutPool;
use softsep::definition::{Row, Variable};
use softsep::internals::separation::{Kkt, NotKkt, Split};
use softsep::run::Clock;
use softsep::separation::{Claim, Found, Query, Separation};
use softsep::testing::{Recipe, Size, random_problem};
use softsep::uncertainty::SetDefinition;
use softsep::{Error, Problem, ProblemDefinition};
use softsep_paper::instances::{LocationTransportation, Uncertain, location_transportation};
use truth::truth;

/// Agreement asked for, relative.
const CLOSE: f64 = 1e-5;

/// `make soak` asks for ten times as many problems.
fn many(count: u64) -> u64 {
    count * if std::env::var_os("SOFTSEP_SOAK").is_some() { 10 } else { 1 }
}

fn size(value: f64) -> f64 {
    value.abs().max(1.0)
}

/// A random member of X.
fn decision(problem: &Problem, seed: u64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(!seed);
    let mut x: Vec<f64> = problem.first.upper.iter().map(|upper| rng.random_range(0.0..=*upper)).collect();
    while problem.first.violation(&x).is_some_and(|violation| violation.amount > 1e-9) {
        x.iter_mut().for_each(|x| *x *= 0.5);
    }
    x
}

/// The separation, or the reason why a big-M constant is infinite.
fn kkt(problem: &Problem) -> Result<Kkt<'_>, String> {
    let mut kkt = Kkt::new(problem).unwrap();
    match kkt.prepare(&Clock::unlimited()) {
        Ok(()) => Ok(kkt),
        Err(Error::Settings(why)) => Err(why),
        Err(error) => panic!("{error}"),
    }
}

fn maximum(separation: &mut dyn Separation, problem: &Problem, x: &[f64], tolerance: f64) -> Found {
    let clock = Clock::unlimited();
    separation.separate(&Query::maximum(x, &clock).with_bound(tolerance), &mut CutPool::new(problem)).unwrap()
}

fn bound(found: &Found) -> f64 {
    match found.claim {
        Claim::Surely(bound) => bound,
        _ => f64::INFINITY,
    }
}

/// Compares a decision with branch and bound. Returns whether there was a claim.
fn check(what: &str, problem: &Problem, kkt: &mut Kkt, x: &[f64]) -> bool {
    // What it costs at a member is no more than the truth.
    let lower = truth(problem, x, 100);
    let tolerance = if lower.is_finite() { 0.1 * CLOSE * size(lower) } else { 0.0 };
    let split = maximum(&mut Split::new(problem), problem, x, tolerance);
    let found = maximum(kkt, problem, x, tolerance);
    assert!(problem.set.contains(&found.xi, 1e-6), "{what}: {:?} is not a member", found.xi);
    let lower = lower.max(split.value);
    if found.claim == Claim::Nothing {
        assert!(kkt.declined().is_some(), "{what}: no claim and no reason: {found:?}");
        return false;
    }
    if lower == f64::INFINITY {
        assert_eq!((found.value, bound(&found)), (lower, lower), "{what}: {found:?}");
        return true;
    }
    let close = CLOSE * size(lower);
    assert!(bound(&found) >= lower - 0.1 * close, "{what}: claims {found:?}, and a scenario costs {lower}");
    assert!(found.value <= bound(&split) + 0.1 * close, "{what}: {found:?} is above {split:?}");
    assert!(bound(&found) <= lower + close, "{what}: claims {found:?}, and {lower} is the worst: {:?}", kkt.declined());
    assert!(found.value >= lower - close, "{what}: finds {found:?}, and a scenario costs {lower}");
    true
}

#[test]
fn ellipsoids_are_separated_exactly() {
    let (mut all, mut refused, mut claims) = (0, 0, 0);
    for seed in 0..many(120) {
        let recipe = Recipe { set: "ellipsoid", incomplete: seed % 3 == 2, units: seed % 5 == 4, ..Recipe::default() };
        let problem = Problem::new(&random_problem(&recipe, seed)).unwrap();
        match kkt(&problem) {
            Ok(mut kkt) => {
                let what = format!("seed {seed}");
                let is_claim = check(&what, &problem, &mut kkt, &decision(&problem, seed));
                assert!(is_claim || recipe.incomplete, "{what}: {:?}", kkt.declined());
                claims += u64::from(is_claim);
            }
            Err(_) => refused += 1,
        }
        all += 1;
    }
    println!("{all} problems, {refused} refused, {claims} claims");
    assert!(5 * claims > 3 * all, "{claims} claims on {all} problems, {refused} refused");
}

#[test]
fn capacities_are_separated_as_by_branch_and_bound() {
    for seed in 0..many(2) {
        let settings = LocationTransportation { n: 3, uncertainty: Uncertain::Ellipsoid, mixed_integer: false, seed };
        let problem = Problem::new(&location_transportation(&settings).unwrap()).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(!seed);
        let x: Vec<f64> = (0..3).map(|_| rng.random_range(150.0..450.0)).collect();
        let mut kkt = kkt(&problem).unwrap();
        assert!(check(&format!("seed {seed}"), &problem, &mut kkt, &x), "seed {seed}");
    }
}

#[test]
fn a_scenario_above_ends_the_search_and_so_does_a_close_bound() {
    let mut ended = [0; 2];
    for seed in 0..many(30) {
        let problem = Problem::new(&random_problem(&Recipe { set: "ellipsoid", ..Recipe::default() }, seed)).unwrap();
        let Ok(mut kkt) = kkt(&problem) else { continue };
        let x = decision(&problem, seed);
        let truth = truth(&problem, &x, 100);
        let clock = Clock::unlimited();
        for (above, tolerance) in [(truth - 0.5, 0.0), (truth + 0.5, 0.01), (truth + 0.5, f64::INFINITY)] {
            let query = Query::maximum(&x, &clock).above(above).with_bound(tolerance);
            let found = kkt.separate(&query, &mut CutPool::new(&problem)).unwrap();
            let is_above = found.value > above;
            let reached = found.value.max(above) + tolerance;
            let is_bound = bound(&found) <= reached + CLOSE * size(truth);
            assert!(is_above || is_bound, "seed {seed}: {query:?} has {found:?}, and the truth is {truth}");
            assert!(bound(&found) >= truth - CLOSE * size(truth), "seed {seed}: {found:?}, and the truth is {truth}");
            ended[usize::from(is_above)] += 1;
        }
    }
    assert!(ended.iter().all(|&ended| ended > 10), "{ended:?}");
}

#[test]
fn a_stopped_search_claims_what_holds_and_keeps_its_time() {
    let mut claims = 0;
    for seed in 0..many(12) {
        let recipe = Recipe { set: "ellipsoid", size: Size::Medium, ..Recipe::default() };
        let problem = Problem::new(&random_problem(&recipe, seed)).unwrap();
        let Ok(mut kkt) = kkt(&problem) else { continue };
        let x = decision(&problem, seed);
        let truth = truth(&problem, &x, 20);
        for limit in [0, 1, 5, 20, 100, 400] {
            let start = Instant::now();
            let clock = Clock::new(Some(Duration::from_millis(limit)), Default::default());
            match kkt.separate(&Query::maximum(&x, &clock), &mut CutPool::new(&problem)) {
                Ok(found) => {
                    claims += u64::from(found.claim != Claim::Nothing);
                    let what = format!("seed {seed}, {limit} ms: {found:?}, and a scenario costs {truth}");
                    assert!(problem.set.contains(&found.xi, 1e-6), "{what}");
                    assert!(bound(&found) >= truth.max(found.value) - 1e-6 * size(truth), "{what}");
                }
                Err(Error::Interrupted(_)) => {}
                Err(error) => panic!("seed {seed}, {limit} ms: {error}"),
            }
            assert!(start.elapsed() < Duration::from_millis(limit + 2000), "seed {seed}, {limit} ms");
        }
    }
    assert!(claims > 5, "stopped searches have {claims} claims");
}

#[test]
fn what_has_no_conditions_is_refused_by_name() {
    let refusal = |recipe: &Recipe| {
        (0..20).find_map(|seed| Kkt::new(&Problem::new(&random_problem(recipe, seed)).unwrap()).err())
    };
    let recipe = Recipe { set: "ellipsoid", ..Recipe::default() };
    assert_eq!(refusal(&Recipe { quadratic: true, ..recipe }), Some(NotKkt::NotLinear));
    assert_eq!(refusal(&Recipe { cost_xi: true, ..recipe }), Some(NotKkt::CostsMove));
    assert_eq!(refusal(&Recipe { set: "scenarios", ..recipe }), Some(NotKkt::NoShape));
    assert_eq!(refusal(&recipe), None);
}

/// A row: its name, its terms in y, and the entry of ξ in it.
type NamedRow<'a> = (&'a str, &'a [(&'a str, f64)], &'a str);

/// Rows of a recourse over the disc `‖(g0, g1)‖ ≤ 1`.
fn on_disc(variables: &[(&str, f64)], rows: &[NamedRow]) -> ProblemDefinition {
    let mut file = ProblemDefinition::default();
    file.uncertainty.parameters = vec!["g0".into(), "g1".into()];
    file.uncertainty.set =
        SetDefinition::Ellipsoid { center: vec![0.0; 2], matrix: vec![vec![1.0, 0.0], vec![0.0, 1.0]] };
    file.recourse.variables = variables.iter().map(|&(name, cost)| Variable::new(name, cost)).collect();
    for &(name, y, entry) in rows {
        let mut row = Row { lower: 0.0, ..Row::new(name) };
        row.y = y.iter().map(|&(name, value)| (name.into(), value)).collect();
        row.xi = vec![(entry.into(), 1.0)];
        file.recourse.constraints.push(row);
    }
    file
}

#[test]
fn an_infinite_constant_is_refused_by_the_name_of_its_row_or_variable() {
    // y − z ≥ −g0 and z − y ≥ −g1: the duals grow along (1, 1) without end, and each reduced cost stays zero.
    let file = on_disc(
        &[("y", 0.0), ("z", 0.0)],
        &[("up", &[("y", 1.0), ("z", -1.0)], "g0"), ("down", &[("y", -1.0), ("z", 1.0)], "g1")],
    );
    let why = kkt(&Problem::new(&file).unwrap()).err().unwrap();
    assert!(why.contains("the multiplier of recourse row \"up\" has no finite range: try --separation split"), "{why}");
    // With costs on both the duals are bounded where some row is short.
    let file = on_disc(&[("y", 1.0), ("z", 1.0)], &[("up", &[("y", 1.0)], "g0"), ("down", &[("z", 1.0)], "g1")]);
    let problem = Problem::new(&file).unwrap();
    let found = maximum(&mut kkt(&problem).unwrap(), &problem, &[], 0.0);
    let truth = 2.0_f64.sqrt();
    assert!((found.value - truth).abs() < 1e-5 && (bound(&found) - truth).abs() < 1e-5, "{found:?}");
    // y − z ≥ −g0 where z is free of cost and of any other row: y and z grow together.
    let file = on_disc(
        &[("y", 0.0), ("z", 0.0), ("w", 1.0)],
        &[("up", &[("y", 1.0), ("z", -1.0)], "g0"), ("other", &[("w", 1.0)], "g1")],
    );
    let why = kkt(&Problem::new(&file).unwrap()).err().unwrap();
    assert!(why.contains("has no finite range: try --separation split"), "{why}");
}
