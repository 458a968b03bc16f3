//! The conformance suite of separations.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::cuts::CutPool;
use crate::definition::{ScenarioList, VariableKind};
use crate::error::Error;
use crate::model::Problem;
use crate::recourse::{Answer, Cut, CutKind, Recourse, RecourseError, engine};
use crate::run::Clock;
use crate::separation::{Claim, Effort, Found, Query, Separation, finite_equivalent};

/// Builds the separation under test for a problem.
pub type BuildSeparation<'b> = dyn for<'p> Fn(&'p Problem) -> Box<dyn Separation + 'p> + Sync + 'b;

/// Relative agreement of costs computed in two ways. Interior points return some six digits.
const AGREEMENT: f64 = 5e-6;

/// Largest violation of a set's inequalities by a scenario.
const MEMBERSHIP: f64 = 1e-6;

/// Largest violation of a normalised feasibility cut by a decision that has recourse.
const FEASIBILITY: f64 = 1e-5;

/// Extreme points up to which the worst case is computed by enumeration.
const ENUMERATED: usize = 5_000;

/// The number of members that are evaluated where the set has no finite equivalent.
const SAMPLED: usize = 40;

/// The number of decisions at which a separation is called.
const DECISIONS: usize = 2;

/// The number of other decisions at which each cut is compared with the recourse cost.
const OTHER_DECISIONS: usize = 2;

/// Time within which a separation must return after an interrupt: solvers get one second.
const PROMPT: Duration = Duration::from_secs(5);

/// Tests the separations that `build` makes on `problem`, at random decisions and for queries of every kind:
///
/// - the scenario is a member of the set, and its value is Q(x, ξ) as an independent engine computes it;
/// - the returned cut is tight at x; this cut and every cut inserted into the pool are at most Q(·, ξ) at other
///   decisions, and feasibility cuts hold wherever there is recourse;
/// - a claim [`Claim::Surely`] is at least the worst case by enumeration (over sampled members where the set has no
///   finite equivalent);
/// - `solves` is positive;
/// - hints ([`Separation::start_at`], [`Separation::start_from`]) break none of this;
/// - answers and pool are equal, to the last digit, on one thread and on two;
/// - an interrupted call errs with [`Error::Interrupted`] or returns a valid answer, within seconds, and the next call
///   answers.
///
/// Returns the number of open queries: those for a bound that a separation with [`Separation::is_exact`] answered
/// neither by a scenario above [`Query::above`] nor by a bound within the tolerance. An exact separation leaves none
/// open where every scenario has recourse.
///
/// # Panics
/// If the separation breaks its contract; `name` is in the message.
#[must_use]
pub fn check_separation(name: &str, build: &BuildSeparation<'_>, problem: &Problem, seed: u64) -> usize {
    let mut suite = SeparationSuite::new(format!("{name} on {}, seed {seed}", problem.name), problem, seed);
    let cases = suite.cases();
    let transcript = on_threads(1, || transcript(build, problem, &cases));
    assert!(
        transcript == on_threads(2, || self::transcript(build, problem, &cases)),
        "{}: answers on one thread and on two differ",
        suite.context
    );
    let mut open = 0;
    for (case, found) in cases.iter().zip(&transcript.answers) {
        suite.check_answer(case, found);
        open += usize::from(transcript.is_exact && suite.is_open(case, found));
    }
    for (cut, xi) in &transcript.cuts {
        suite.check_cut(cut, xi);
    }
    suite.check_interrupt(build, &cases[0]);
    open
}

/// One query of the suite, with the worst case at its decision.
#[derive(Debug, Clone)]
struct Case {
    x: Vec<f64>,
    above: Option<f64>,
    bound: Option<f64>,
    new_cut_suffices: bool,
    effort: Effort,
    /// A scenario and a basis are suggested before the call: this member of the set.
    hint: Option<Vec<f64>>,
    /// The worst case by enumeration, or the largest cost of the sampled members.
    worst_case: f64,
}

impl Case {
    fn query<'a>(&'a self, clock: &'a Clock) -> Query<'a> {
        let query = Query::scenario(&self.x, clock).with_effort(self.effort);
        let query = self.above.map_or(query, |above| query.above(above));
        let query = self.bound.map_or(query, |tolerance| query.with_bound(tolerance));
        if self.new_cut_suffices { query.or_new_cut() } else { query }
    }
}

/// The answers to all cases in order, and the cuts of the pool after the last one.
#[derive(Debug, PartialEq)]
struct Transcript {
    is_exact: bool,
    answers: Vec<Found>,
    cuts: Vec<(Cut, Vec<f64>)>,
}

/// Runs `work` on a pool of this many threads.
fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.unwrap_or_else(|error| panic!("{error}")).install(work)
}

/// Calls one separation for all cases, with one pool, as a method does.
fn transcript(build: &BuildSeparation<'_>, problem: &Problem, cases: &[Case]) -> Transcript {
    let (clock, mut pool, mut separation) = (Clock::unlimited(), CutPool::new(problem), build(problem));
    let mut answers = Vec::with_capacity(cases.len());
    for case in cases {
        if let Some(xi) = &case.hint {
            suggest(separation.as_mut(), problem, &case.x, xi);
        }
        let found = separation
            .separate(&case.query(&clock), &mut pool)
            .unwrap_or_else(|error| panic!("{}, {case:?}: {error}", problem.name));
        if let Some(cut) = &found.cut {
            pool.insert(cut, &found.xi);
        }
        answers.push(found);
    }
    let cuts = (0..pool.len()).map(|cut| (pool.cut(cut), pool.scenario(cut).to_vec())).collect();
    Transcript { is_exact: separation.is_exact(), answers, cuts }
}

/// Suggests a scenario, and the basis of the recourse there.
fn suggest(separation: &mut dyn Separation, problem: &Problem, x: &[f64], xi: &[f64]) {
    separation.start_at(xi);
    let mut engine = engine(problem, &Clock::unlimited()).unwrap_or_else(|error| panic!("{error}"));
    engine.at(x);
    if engine.solve(xi, &mut Answer::new(problem)).is_ok() {
        let suggested = separation.start_from(&engine.warm_start());
        assert!(suggested.is_ok(), "{}: refuses the basis of an engine: {suggested:?}", problem.name);
    }
}

fn agree(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= AGREEMENT * a.abs().max(b.abs()).max(1.0)
}

fn at_most(a: f64, b: f64) -> bool {
    a <= b || agree(a, b)
}

/// The problem, and an engine that the separation does not share.
struct SeparationSuite<'p> {
    context: String,
    problem: &'p Problem,
    engine: Box<dyn Recourse>,
    answer: Answer,
    /// A finite equivalent of the set, or some of its members.
    points: Cow<'p, ScenarioList>,
    rng: ChaCha8Rng,
}

impl<'p> SeparationSuite<'p> {
    fn new(context: String, problem: &'p Problem, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let points = finite_equivalent(problem, ENUMERATED)
            .unwrap_or_else(|_| Cow::Owned(sampled_members(problem, &mut rng, &context)));
        let engine = engine(problem, &Clock::unlimited()).unwrap_or_else(|error| panic!("{context}: {error}"));
        Self { context, problem, engine, answer: Answer::new(problem), points, rng }
    }

    /// Q(x, ξ), or `None` where the engine fails numerically, as interior points may.
    fn cost(&mut self, x: &[f64], xi: &[f64]) -> Option<f64> {
        self.engine.at(x);
        match self.engine.solve(xi, &mut self.answer) {
            Ok(()) => Some(self.answer.value),
            Err(RecourseError::Numerical { .. }) => None,
            Err(error) => panic!("{}: {error}", self.context),
        }
    }

    /// The largest cost of the points at x.
    fn worst_case(&mut self, x: &[f64]) -> f64 {
        let points = self.points.clone();
        points.iter().filter_map(|xi| self.cost(x, xi)).fold(f64::NEG_INFINITY, f64::max)
    }

    /// A decision within the bounds of X, integral where it must be. Separations depend on x by Q(x, ·) alone, so that
    /// it may violate rows of X.
    fn decision(&mut self) -> Vec<f64> {
        let first = &self.problem.first;
        (0..first.dim())
            .map(|j| {
                let (lower, upper) = (first.lower[j].max(-10.0), first.upper[j].min(10.0));
                let value = self.rng.random_range(0.0..=1.0) * (upper - lower) + lower;
                // Degenerate bases are found at integral values.
                let is_integral = first.kind[j] != VariableKind::Continuous || self.rng.random_bool(0.4);
                if is_integral { value.round() } else { value }
            })
            .collect()
    }

    /// The queries of the suite.
    fn cases(&mut self) -> Vec<Case> {
        let mut cases = Vec::new();
        for _ in 0..DECISIONS {
            let x = self.decision();
            let worst_case = self.worst_case(&x);
            let size = if worst_case.is_finite() { worst_case.abs().max(1.0) } else { 1.0 };
            let level = if worst_case.is_finite() { worst_case } else { 0.0 };
            let margin = self.rng.random_range(0.01..0.3) * size;
            let tolerance = self.rng.random_range(0.001..0.1) * size;
            let hint = self.points.row(self.rng.random_range(0..self.points.len())).to_vec();
            let maximum = Case {
                x,
                above: None,
                bound: Some(0.0),
                new_cut_suffices: false,
                effort: Effort::Normal,
                hint: None,
                worst_case,
            };
            let scenario = Case { bound: None, ..maximum.clone() };
            let within = Case { bound: Some(tolerance), ..maximum.clone() };
            cases.extend([
                scenario.clone(),
                within.clone(),
                Case { above: Some(level - margin), ..within.clone() },
                Case { above: Some(level + margin), ..within.clone() },
                Case { above: Some(level - margin), ..scenario.clone() },
                Case { effort: Effort::Local, ..scenario.clone() },
                Case { new_cut_suffices: true, ..scenario.clone() },
                Case { effort: Effort::Thorough, hint: Some(hint), ..scenario },
                maximum,
            ]);
        }
        cases
    }

    /// The part of the contract that holds for every answer to every query, however the call ended.
    fn check_answer(&mut self, case: &Case, found: &Found) {
        let context = format!("{}, {case:?}: {found:?}", self.context);
        assert!(self.problem.set.contains(&found.xi, MEMBERSHIP), "{context}: the scenario is not in the set");
        assert!(found.solves > 0, "{context}: no recourse solve");
        if let Some(cost) = self.cost(&case.x, &found.xi) {
            assert!(agree(found.value, cost), "{context}: the scenario costs {cost}");
        }
        match &found.cut {
            Some(cut) if cut.kind == CutKind::Optimality => {
                assert!(agree(cut.at(&case.x), found.value), "{context}: the cut is not tight");
            }
            Some(cut) => {
                let is_violated = cut.at(&case.x) > 0.0;
                assert!(found.value == f64::INFINITY && is_violated, "{context}: the cut is not violated");
            }
            None => assert_eq!(found.value, f64::NEG_INFINITY, "{context}: no cut"),
        }
        if let Claim::Surely(at_most_claimed) = found.claim {
            assert!(at_most(case.worst_case, at_most_claimed), "{context}: the worst case is above the claim");
            assert!(at_most_claimed >= found.value, "{context}: the scenario is above the claim");
        }
        if let Some(cut) = &found.cut {
            self.check_cut(cut, &found.xi);
        }
    }

    /// Whether an answer to a query for a bound has neither a scenario above the query's level nor a bound within the
    /// tolerance.
    fn is_open(&self, case: &Case, found: &Found) -> bool {
        let Some(tolerance) = case.bound else { return false };
        if case.above.is_some_and(|above| found.value > above) {
            return false;
        }
        let reached = case.above.map_or(found.value, |above| above.max(found.value)) + tolerance;
        match found.claim {
            Claim::Surely(claim) => !at_most(claim, reached),
            Claim::Nothing => true,
        }
    }

    /// Compares a cut with the recourse cost of its scenario at other decisions.
    fn check_cut(&mut self, cut: &Cut, xi: &[f64]) {
        assert!(
            self.problem.set.contains(xi, MEMBERSHIP),
            "{}: a cut's scenario {xi:?} is not in the set",
            self.context
        );
        for _ in 0..OTHER_DECISIONS {
            let x = self.decision();
            let Some(cost) = self.cost(&x, xi) else { continue };
            let is_valid = match cut.kind {
                CutKind::Optimality => at_most(cut.at(&x), cost),
                CutKind::Feasibility => {
                    cost == f64::INFINITY || cut.at(&x) <= FEASIBILITY * cut.intercept.abs().max(1.0)
                }
            };
            assert!(is_valid, "{}: {cut:?} of ξ = {xi:?} does not hold at {x:?}, where Q = {cost}", self.context);
        }
    }

    fn check_interrupt(&mut self, build: &BuildSeparation<'_>, case: &Case) {
        let case = Case { bound: Some(0.0), ..case.clone() };
        let interrupted = Clock::new(None, Arc::new(AtomicBool::new(true)));
        let (mut separation, mut pool) = (build(self.problem), CutPool::new(self.problem));
        let start = Instant::now();
        let answer = separation.separate(&case.query(&interrupted), &mut pool);
        let elapsed = start.elapsed();
        assert!(elapsed < PROMPT, "{}: returned {elapsed:?} after an interrupt", self.context);
        match answer {
            Ok(found) => self.check_answer(&case, &found),
            Err(Error::Interrupted(_)) => {}
            Err(error) => panic!("{}, interrupted: {error}", self.context),
        }
        match separation.separate(&case.query(&Clock::unlimited()), &mut pool) {
            Ok(found) => self.check_answer(&case, &found),
            Err(error) => panic!("{}, after an interrupt: {error}", self.context),
        }
    }
}

/// Maximisers of random directions, each second one moved towards the nominal scenario.
fn sampled_members(problem: &Problem, rng: &mut ChaCha8Rng, context: &str) -> ScenarioList {
    let dim = problem.set.dim();
    let (mut members, mut nominal, mut xi) = (ScenarioList::new(dim), vec![0.0; dim], vec![0.0; dim]);
    problem.set.nominal(&mut nominal);
    members.push(&nominal);
    for number in 1..SAMPLED {
        let direction: Vec<f64> = (0..dim).map(|_| rng.random_range(-1.0..=1.0)).collect();
        let support = problem.set.support(&direction, &mut xi);
        assert!(support.is_ok(), "{context}: {support:?}");
        let weight = if number % 2 == 0 { 1.0 } else { rng.random_range(0.0..=1.0) };
        xi.iter_mut().zip(&nominal).for_each(|(xi, nominal)| *xi = weight * *xi + (1.0 - weight) * nominal);
        members.push(&xi);
    }
    members
}
