//! Budget sets of location–transportation, where the paper's practice certified bounds below the true cost.

use std::sync::Arc;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep::cuts::CutPool;
use softsep::internals::certification::{Certifier, Judgement};
use softsep::internals::separation::{Exact, SlopeRanges};
use softsep::recourse::{Answer, engine};
use softsep::run::{Clock, Purpose, stream};
use softsep::separation::{Claim, Found, Query};
use softsep::uncertainty::{StateSpec, States};
use softsep::{Assumed, Error, ProbabilisticTarget, Problem, Settings, solve};
use softsep_paper::instances::{LocationTransportation, Uncertain, location_transportation};

use super::statistics;

pub(crate) const GAP: f64 = 1e-3;

/// The tolerance of the worst case of a decision, relative to the objective; probabilistic bounds are above it by fifty
/// times that.
pub(crate) const CLOSE: f64 = 1e-5;

pub(crate) fn instance(n: usize, gamma: f64, seed: u64) -> Problem {
    make(n, gamma, false, seed)
}

pub(crate) fn mixed_integer_instance(n: usize, gamma: f64, seed: u64) -> Problem {
    make(n, gamma, true, seed)
}

fn make(n: usize, gamma: f64, mixed_integer: bool, seed: u64) -> Problem {
    let uncertainty = Uncertain::Budget { gamma };
    Problem::new(&location_transportation(&LocationTransportation { n, uncertainty, mixed_integer, seed }).unwrap())
        .unwrap()
}

/// The extreme points that can be the worst.
pub(crate) fn states(problem: &Problem) -> Box<dyn States + '_> {
    let trends = SlopeRanges::of(problem, &Clock::unlimited()).unwrap().unwrap().trends();
    problem.set.states(&StateSpec { convex: true, trends, ..StateSpec::default() }).unwrap()
}

/// The recourse cost at every state; `None` if they are more than 100,000.
pub(crate) fn costs(problem: &Problem, states: &dyn States, x: &[f64]) -> Option<Vec<f64>> {
    let all = states.enumerate(100_000)?;
    let mut engine = engine(problem, &Clock::unlimited()).unwrap();
    let (mut answer, mut xi) = (Answer::new(problem), vec![0.0; problem.set.dim()]);
    engine.at(x);
    let cost = |state| {
        states.realize(state, &mut xi);
        engine.solve(&xi, &mut answer).unwrap();
        answer.value
    };
    Some(all.iter().map(cost).collect())
}

/// The largest cost of five draws: an estimate below the worst case.
fn worst_of_few_draws(problem: &Problem, states: &dyn States, x: &[f64], seed: u64) -> f64 {
    let mut random = stream(seed, Purpose::Estimate, 0);
    let mut engine = engine(problem, &Clock::unlimited()).unwrap();
    let (mut answer, mut xi, mut state) = (Answer::new(problem), vec![0.0; problem.set.dim()], states.blank());
    engine.at(x);
    let costs = (0..5).map(|_| {
        states.draw(&mut random, &mut state);
        states.realize(&state, &mut xi);
        engine.solve(&xi, &mut answer).unwrap();
        answer.value
    });
    costs.fold(f64::NEG_INFINITY, f64::max)
}

/// Against enumeration: true values are never refuted; estimates from too few draws are refuted, or their levels and
/// bounds are false at most as often as stated.
#[test]
fn certificates_of_budget_sets_are_true() {
    let [mut stood, mut bounds, mut wrong_bounds, mut thought, mut wrong] = [0; 5];
    for gamma in [0.1, 0.25, 0.5, 0.9] {
        for seed in 0..3 {
            let problem = instance(10, gamma, seed);
            let states: Arc<dyn States + '_> = Arc::from(states(&problem));
            let mut rng = ChaCha8Rng::seed_from_u64(!seed);
            let x: Vec<f64> = (0..10).map(|_| rng.random_range(150.0..350.0)).collect();
            let first_cost = problem.first.value(&x);
            let costs = costs(&problem, states.as_ref(), &x).unwrap();
            let worst = costs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let mut certifier = Certifier::new(
                &problem,
                Arc::clone(&states),
                ProbabilisticTarget::default(),
                GAP,
                seed,
                &Clock::unlimited(),
            )
            .unwrap();
            for value in [worst, worst_of_few_draws(&problem, states.as_ref(), &x, seed)] {
                let what = format!("gamma {gamma}, seed {seed}, {value} where {worst} is the worst");
                match certifier.certify(&x, value).unwrap() {
                    Judgement::Refuted(found) => {
                        assert!(found.value > value && found.value <= worst * (1.0 + 1e-6), "{what}: {found:?}");
                        assert!(value < worst * (1.0 - 1e-9), "{what}: refuted what is true by {found:?}");
                    }
                    Judgement::Stands { attested, .. } => {
                        stood += 1;
                        let above = costs.iter().filter(|cost| **cost > value + 1e-6 * (first_cost + value)).count();
                        let violation = attested.violation.unwrap();
                        assert!(violation.level <= 1e-3, "{what}: {violation:?}");
                        wrong += u64::from(above as f64 / costs.len() as f64 > violation.level);
                        if let Some(likely) = attested.likely {
                            bounds += 1;
                            wrong_bounds += u64::from(likely.upper < first_cost + worst);
                        } else {
                            assert!(
                                attested.remarks.iter().any(|remark| remark.contains("draws would be needed")),
                                "{what}"
                            );
                        }
                    }
                }
                thought += 1;
            }
        }
    }
    statistics::at_most(wrong, thought, 0.05, "levels");
    statistics::at_most(wrong_bounds, thought, 0.05, "bounds");
    assert!(stood >= thought / 2 && bounds > 0, "{stood} of {thought} stood, {bounds} with a bound");
}

/// Decisions of `sgd` with its estimates, half of them after a few iterations only, on the sets of the paper. No
/// certificate that `sgd` gives by default is false; levels and bounds under derived constants are false at most as
/// often as stated. `SOFTSEP_SOAK=1 SEEDS=40` asks for a thousand, and prints how often bounds with rho = 0.9 given, as
/// the paper has it, are false: nothing makes that constant true.
#[test]
fn certificates_of_decisions_found_are_true() {
    let is_long = std::env::var_os("SOFTSEP_SOAK").is_some();
    let (sizes, seeds) = if is_long { (vec![10, 15, 20, 25, 30], super::seeds(4, 1)) } else { (vec![10, 12], 1) };
    let mut met = Met::default();
    for &n in &sizes {
        for gamma in [0.1, 0.3, 0.5, 0.7, 0.9] {
            (0..seeds).for_each(|seed| met.add_decision(n, gamma, seed));
        }
        println!("up to n = {n}: {met:?}");
    }
    statistics::at_most(met.wrong_levels, met.levels, 0.05, "levels");
    statistics::at_most(met.wrong_derived, met.derived, 0.05, "bounds");
    assert!(met.sure > 0 && met.levels > 0 && met.runs == 5 * sizes.len() as u64 * seeds, "{met:?}");
}

/// The worst recourse cost of a decision, and whether it is known up to a tolerance; a search that takes too long gives
/// the worst scenario that it met, if any.
pub(crate) fn worst(problem: &Problem, x: &[f64], tolerance: f64) -> (Option<f64>, bool) {
    let exact = Exact::choose(problem).unwrap();
    let limit = matches!(exact, Exact::Split).then_some(Duration::from_secs(3));
    let clock = Clock::new(limit, Default::default());
    let found = match exact
        .build(problem)
        .unwrap()
        .separate(&Query::maximum(x, &clock).with_bound(tolerance), &mut CutPool::new(problem))
    {
        Err(Error::Interrupted(_)) => None,
        found => Some(found.unwrap()),
    };
    let is_close =
        |found: &Found| matches!(found.claim, Claim::Surely(at_most) if at_most <= found.value + 1.1 * tolerance);
    let is_known = found.as_ref().is_some_and(is_close);
    (found.map(|found| found.value), is_known)
}

/// Counts over many decisions.
#[derive(Debug, Default)]
struct Met {
    runs: u64,
    /// Sure bounds of the method; none is false.
    sure: u64,
    /// Decisions whose estimate draws refuted.
    refuted: u64,
    /// Bounds under derived constants.
    derived: u64,
    wrong_derived: u64,
    /// Violation levels whose truth is known by enumeration.
    levels: u64,
    wrong_levels: u64,
    /// Bounds under a constant that was given.
    given: u64,
    wrong_given: u64,
    /// Worst cases not proved within the time limit; their bounds are compared with the worst scenario met.
    open: u64,
}

impl Met {
    fn add_decision(&mut self, n: usize, gamma: f64, seed: u64) {
        let what = format!("n {n}, gamma {gamma}, seed {seed}");
        let problem = instance(n, gamma, seed);
        let states: Arc<dyn States + '_> = Arc::from(states(&problem));
        let iterations = (seed % 2 == 1).then_some(5 + seed);
        let settings = Settings { method: "sgd".parse().unwrap(), iterations, seed, ..Settings::default() };
        let outcome = solve(&problem, &settings).unwrap();
        let best = outcome.bounds.best().unwrap();
        let first_cost = problem.first.value(&best.x);
        let (worst, is_known) = worst(&problem, &best.x, CLOSE * best.value);
        self.open += u64::from(!is_known);
        let worst = worst.unwrap_or(best.value - first_cost);
        let truth = (first_cost + worst) * (1.0 - 1e-9);
        self.runs += 1;
        self.sure += u64::from(best.upper.is_some());
        assert!(best.upper.is_none_or(|upper| upper >= truth), "{what}: a false sure bound");
        for assumed in [Assumed::Nothing, Assumed::Miss { rho: 0.9 }] {
            let wanted = ProbabilisticTarget { assumed, ..ProbabilisticTarget::default() };
            let mut certifier =
                Certifier::new(&problem, Arc::clone(&states), wanted, GAP, seed, &Clock::unlimited()).unwrap();
            let Judgement::Stands { attested, .. } = certifier.certify(&best.x, best.value - first_cost).unwrap()
            else {
                self.refuted += u64::from(assumed == Assumed::Nothing);
                continue;
            };
            let is_false = attested.likely.as_ref().map(|likely| likely.upper < truth);
            if assumed != Assumed::Nothing {
                self.given += 1;
                self.wrong_given += u64::from(is_false == Some(true));
                continue;
            }
            self.derived += u64::from(is_false.is_some());
            self.wrong_derived += u64::from(is_false == Some(true));
            if let Some(costs) = costs(&problem, states.as_ref(), &best.x) {
                let above = costs.iter().filter(|cost| first_cost + **cost > best.value * (1.0 + 1e-6)).count();
                self.levels += 1;
                self.wrong_levels += u64::from(above as f64 / costs.len() as f64 > attested.violation.unwrap().level);
            }
        }
    }
}
