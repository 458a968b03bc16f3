//! Runs that are stopped at any moment: what they hold is still true, and says why they ended.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use softsep::cuts::CutPool;
use softsep::methods::{Entry, METHODS, MethodSettings, Reaches};
use softsep::recourse::{Answer, engine};
use softsep::run::{Silent, Stop};
use softsep::separation::{Claim, Found, Query, Separation, SeparationContext, SeparationFactory, SeparationKind};
use softsep::testing::{Recipe, Size, random_problem};
use softsep::{CallLimits, Error, GenerationSettings, Outcome, Problem, Settings, Status, evaluate, solve, solve_with};

/// What is known of a problem before it is interrupted.
struct Known {
    problem: Problem,
    /// `None` if it is infeasible.
    optimum: Option<f64>,
}

/// Relative agreement with the optimum, which `extensive` computed to a gap of 1e-9.
const CLOSE: f64 = 1e-6;

fn run(problem: &Problem, settings: &Settings, interrupt: &Arc<AtomicBool>) -> Outcome {
    solve_with(problem, settings, &mut Silent, interrupt)
        .unwrap_or_else(|error| panic!("{}, {settings:?}: {error}", problem.name))
}

fn known(recipe: &Recipe, seed: u64) -> Known {
    let problem = Problem::new(&random_problem(recipe, seed)).unwrap();
    let settings = Settings { method: "extensive".parse().unwrap(), gap: 1e-9, ..Settings::default() };
    let outcome = run(&problem, &settings, &Arc::default());
    assert!(matches!(outcome.status, Status::Optimal | Status::Infeasible), "{}: {outcome:?}", problem.name);
    Known { optimum: outcome.bounds.upper(), problem }
}

/// Problems that keep a run busy for some iterations.
fn problems() -> Vec<Known> {
    let mut known_problems = Vec::new();
    for seed in 0..24 {
        let recipe = Recipe {
            set: ["scenarios", "box", "budget", "polyhedron"][seed as usize % 4],
            integers: seed % 3 == 0,
            incomplete: seed % 5 == 0,
            quadratic: seed % 12 == 7,
            size: Size::Medium,
            ..Recipe::default()
        };
        known_problems.push(known(&recipe, seed));
    }
    known_problems
}

/// What must hold of a run however it ended; `allowed` are the reasons for which it may have.
fn check(known: &Known, outcome: &Outcome, settings: &Settings, allowed: &[Stop], context: &str) {
    let context = format!("{}, {context}: {outcome:?}", known.problem.name);
    let Some(optimum) = known.optimum else {
        assert!(matches!(outcome.status, Status::Infeasible | Status::Unknown), "{context}");
        assert_eq!(outcome.status == Status::Infeasible, outcome.verdict.is_some(), "{context}");
        return;
    };
    let tolerance = CLOSE * optimum.abs().max(1.0);
    let (lower, upper) = (outcome.bounds.lower(), outcome.bounds.upper());
    assert!(lower.is_none_or(|lower| lower <= optimum + tolerance), "{context}: {optimum} is optimal");
    assert!(upper.is_none_or(|upper| upper >= optimum - tolerance), "{context}: {optimum} is optimal");
    assert!(outcome.verdict.is_none(), "{context}");
    match outcome.status {
        Status::Optimal => {
            let close = tolerance + settings.gap * optimum.abs();
            assert!(upper.is_some_and(|upper| upper <= optimum + close), "{context}: {optimum} is optimal");
        }
        Status::Feasible => assert!(outcome.objective().is_some(), "{context}"),
        Status::Unknown => assert!(outcome.objective().is_none(), "{context}"),
        _ => panic!("{context}"),
    }
    // A run that has met its gap says so, unless it was interrupted as well.
    assert!(allowed.contains(&outcome.stop) || outcome.stop == Stop::Gap, "{context}");
    assert!(outcome.stop != Stop::Gap || outcome.status == Status::Optimal, "{context}");
    if let Some(best) = outcome.bounds.best() {
        let evaluation = evaluate(&known.problem, &best.x, &CallLimits::default().threads(1)).unwrap();
        assert!(evaluation.violation.is_none() && evaluation.exact, "{context}");
        assert!(
            best.upper.is_none_or(|upper| evaluation.objective <= upper + tolerance),
            "{context}: costs {}",
            evaluation.objective
        );
    }
}

/// Every way to solve a problem: all methods that take it, and the loops with the separations that they would not
/// choose.
fn ways(problem: &Problem) -> Vec<(&'static Entry, Settings)> {
    let settings =
        |method: &str| Settings { method: method.parse().unwrap(), gap: 1e-7, threads: Some(1), ..Settings::default() };
    let mut ways: Vec<_> = METHODS.iter().map(|method| (method, settings(method.name))).collect();
    // First-order steps take many iterations for the last digits.
    for (_, settings) in ways.iter_mut().filter(|(method, _)| method.reaches == Reaches::Estimate) {
        settings.gap = 1e-4;
    }
    for (name, separation) in [("ccg", "split"), ("benders", "split"), ("ccg", "bilinear"), ("ccg", "kkt")] {
        let options = Map::from_iter([("separation".to_owned(), Value::from(separation))]);
        let method = MethodSettings::parse(name, &options).unwrap();
        ways.push((Entry::find(name).unwrap(), Settings { method, ..settings(name) }));
    }
    ways.retain(|(_, settings)| {
        settings.method.build().accepts(problem).is_ok() && !lacks_constants(problem, settings)
    });
    ways
}

/// Whether `kkt` refuses the problem for want of a finite constant, which takes linear programs to find out.
fn lacks_constants(problem: &Problem, settings: &Settings) -> bool {
    matches!(settings.method.separation(), Some(SeparationKind::Kkt))
        && matches!(solve(problem, &Settings { iterations: Some(1), ..settings.clone() }), Err(Error::Settings(_)))
}

/// Why a run may end besides meeting its gap. Claims of mixed-integer programs have a margin for tolerances, which is
/// more than the gap asked for here.
fn allowed(method: &Entry, settings: &Settings, stop: Stop) -> Vec<Stop> {
    let has_margin = matches!(settings.method.separation(), Some(SeparationKind::Bilinear | SeparationKind::Kkt));
    let is_exact = method.reaches == Reaches::Optimum && !has_margin;
    if is_exact { vec![stop] } else { vec![stop, Stop::Stalled] }
}

#[test]
fn time_limits() {
    let mut stopped = 0;
    for known in &problems() {
        for (method, settings) in ways(&known.problem) {
            let start = Instant::now();
            check(
                known,
                &run(&known.problem, &settings, &Arc::default()),
                &settings,
                &allowed(method, &settings, Stop::Gap),
                method.name,
            );
            let whole = start.elapsed();
            // From a microsecond to the whole time, ever closer to one another.
            let mut limit = Duration::from_micros(1);
            while limit < whole {
                let outcome =
                    run(&known.problem, &Settings { time_limit: Some(limit), ..settings.clone() }, &Arc::default());
                check(
                    known,
                    &outcome,
                    &settings,
                    &allowed(method, &settings, Stop::TimeLimit),
                    &format!("{} for {limit:?}", method.name),
                );
                stopped += u64::from(outcome.stop == Stop::TimeLimit);
                limit = (limit * 2).min(limit + whole / 6);
            }
        }
    }
    assert!(stopped > 300, "only {stopped} runs were stopped");
}

/// From 1 to `most`: all numbers at first, then ever fewer.
fn thinned(most: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(1), |limit| Some(limit + 1 + limit / 8))
        .take_while(move |limit| *limit < most)
        .chain((most > 0).then_some(most))
}

#[test]
fn iteration_limits() {
    let mut stopped = 0;
    for known in &problems() {
        for (method, settings) in ways(&known.problem) {
            let whole = run(&known.problem, &settings, &Arc::default());
            let mut last: Option<Outcome> = None;
            for limit in thinned(whole.iterations) {
                let outcome =
                    run(&known.problem, &Settings { iterations: Some(limit), ..settings.clone() }, &Arc::default());
                let context = format!("{}, {limit} iterations", method.name);
                check(known, &outcome, &settings, &allowed(method, &settings, Stop::IterationLimit), &context);
                assert!(outcome.iterations <= limit, "{context}");
                stopped += u64::from(outcome.stop == Stop::IterationLimit);
                // More iterations prove a higher lower bound. A bound from the end of a shorter run may be the lower
                // one where exact separations are few: the two runs end with different incumbents.
                let upper = |outcome: &Outcome| outcome.bounds.upper().unwrap_or(f64::INFINITY);
                let lower = |outcome: &Outcome| outcome.bounds.lower().unwrap_or(f64::NEG_INFINITY);
                if let Some(last) = last.filter(|_| outcome.verdict.is_none()) {
                    let is_cascade = ["ccg", "benders"].contains(&outcome.method);
                    assert!(is_cascade || upper(&outcome) <= upper(&last), "{context}");
                    assert!(lower(&outcome) >= lower(&last) - 1e-9, "{context}");
                }
                last = Some(outcome);
            }
        }
    }
    assert!(stopped > 100, "only {stopped} runs were stopped");
}

#[test]
fn interrupts() {
    let mut stopped = 0;
    for (index, known) in problems().iter().enumerate() {
        for (method, settings) in ways(&known.problem) {
            let start = Instant::now();
            run(&known.problem, &settings, &Arc::default());
            let whole = start.elapsed();
            for step in 0..8_u32 {
                let flag = Arc::new(AtomicBool::new(false));
                let delay = whole.mul_f64(f64::from(step * 37 % 100 + index as u32 % 13) / 100.0);
                let raised = Arc::clone(&flag);
                let raiser = thread::spawn(move || {
                    thread::sleep(delay);
                    raised.store(true, Ordering::Relaxed);
                });
                let outcome = run(&known.problem, &settings, &flag);
                raiser.join().unwrap();
                check(
                    known,
                    &outcome,
                    &settings,
                    &allowed(method, &settings, Stop::Interrupted),
                    &format!("{}, interrupted after {delay:?}", method.name),
                );
                stopped += u64::from(outcome.stop == Stop::Interrupted);
            }
        }
    }
    assert!(stopped > 100, "only {stopped} runs were interrupted");
}

/// The limit of runs with [`Slow`], and the time of its first search.
const LIMIT: Duration = Duration::from_secs(2);
const SLOW: Duration = Duration::from_millis(1700);

/// What [`Slow`] was asked for.
#[derive(Default)]
struct Asked {
    searches: AtomicU64,
    /// Any bound, before the time limit.
    bounds: AtomicU64,
    /// Whether the first search ended after the time limit, which a busy machine may be to blame for.
    is_late: AtomicBool,
}

/// A separation that proves a bound at once where any bound is asked for, and searches long without one elsewhere.
struct Slow<'p> {
    problem: &'p Problem,
    asked: Arc<Asked>,
}

impl Separation for Slow<'_> {
    fn separate(&mut self, query: &Query, _pool: &mut CutPool) -> Result<Found, Error> {
        let takes_any = query.bound == Some(f64::INFINITY) && query.above.is_none();
        if takes_any {
            self.asked.bounds.fetch_add(u64::from(query.clock.check().is_ok()), Ordering::Relaxed);
        } else if self.asked.searches.fetch_add(1, Ordering::Relaxed) == 0 {
            thread::sleep(SLOW);
            self.asked.is_late.store(query.clock.check().is_err(), Ordering::Relaxed);
        }
        let mut engine = engine(self.problem, &query.clock.grace())?;
        engine.at(query.x);
        let mut answer = Answer::new(self.problem);
        let mut worst: Option<Found> = None;
        for xi in self.problem.set.enumerate(10_000).unwrap().iter() {
            engine.solve(xi, &mut answer)?;
            if worst.as_ref().is_none_or(|worst| answer.cost > worst.value) {
                worst = Some(Found::new(xi, &answer));
            }
        }
        let mut worst = worst.unwrap();
        if takes_any {
            worst.claim = Claim::Surely(worst.value);
        }
        Ok(worst)
    }

    fn is_exact(&self) -> bool {
        true
    }
}

struct SlowFactory(Arc<Asked>);

impl SeparationFactory for SlowFactory {
    fn build<'p>(&self, problem: &'p Problem, _: &SeparationContext) -> Result<Box<dyn Separation + 'p>, Error> {
        Ok(Box::new(Slow { problem, asked: Arc::clone(&self.0) }))
    }
}

#[test]
fn a_run_keeps_time_for_a_bound_of_its_incumbent() {
    let recipe = Recipe { set: "budget", size: Size::Medium, ..Recipe::default() };
    let problem = known(&recipe, 2).problem;
    let ways: [fn(GenerationSettings) -> MethodSettings; 2] = [MethodSettings::Ccg, MethodSettings::Benders];
    for way in ways {
        let asked = Arc::new(Asked::default());
        let slow = SeparationKind::custom(SlowFactory(Arc::clone(&asked)));
        let method = way(GenerationSettings::default().with_separation(slow));
        let settings = Settings { method, time_limit: Some(LIMIT), gap: 1e-9, ..Settings::default() };
        let outcome = solve(&problem, &settings).unwrap();
        assert!(outcome.bounds.upper().is_some(), "{outcome:?}");
        let is_late = asked.is_late.load(Ordering::Relaxed);
        assert!(is_late || asked.bounds.load(Ordering::Relaxed) > 0, "no bound was asked for in time: {outcome:?}");
    }
}
