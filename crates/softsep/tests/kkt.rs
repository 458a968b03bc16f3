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
    for seed in 0..many(150) {
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
