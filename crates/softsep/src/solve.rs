//! `solve`: sets up a run, calls the method, and makes the outcome of the ledger, however the run ended.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::certification::{check_recourse, decide_late};
use crate::certify::Certify;
use crate::cuts::WarmStart;
use crate::definition::one_line;
use crate::error::Error;
use crate::methods::run_method;
use crate::model::{FirstStage, Problem, Scaling};
use crate::outcome::{Outcome, Status, WorstCase};
use crate::recourse::{self, Answer, RecourseError, engine};
use crate::run::{
    Bounds, ChainRecord, Clock, Event, Header, Infeasible, Interrupt, Limits, Observer, Record, RecourseEvidence, Run,
    Silent, Stage, Stop, Verdict,
};
use crate::settings::Settings;

/// Solves a problem.
///
/// The same problem, settings and seed give the same outcome on any number of threads, time limits and `seconds` aside.
/// Errs where the settings or the problem are at fault. A computation that fails on the way is the end of a run and no
/// error: the outcome then has the result so far, [`Stop::Failed`] and the failure.
pub fn solve(problem: &Problem, settings: &Settings) -> Result<Outcome, Error> {
    solve_with(problem, settings, &mut Silent, &Arc::default())
}

/// Solves a problem as [`solve`] does, under an observer that sees every iteration. Raising `interrupt` ends the run
/// soon, with the best result so far.
pub fn solve_with(
    problem: &Problem,
    settings: &Settings,
    observer: &mut (dyn Observer + Send),
    interrupt: &Arc<AtomicBool>,
) -> Result<Outcome, Error> {
    settings.validate()?;
    // The constants of a probabilistic statement have units.
    let has_units = settings.method.has_units() || matches!(settings.certify, Certify::Probabilistic(_));
    let Some((scaling, scaled)) = (if has_units { None } else { Scaling::of(problem) }) else {
        return solve_as_written(problem, settings, observer, interrupt);
    };
    let mut observer = ConvertingObserver { observer, scaling: &scaling };
    match solve_as_written(&scaled, settings, &mut observer, interrupt) {
        Ok(outcome) => Ok(convert(outcome, &scaling)),
        Err(error) => Err(convert_error(error, &scaling)),
    }
}

/// Shows the events of a run in internal units to an observer, in the units of the problem.
struct ConvertingObserver<'a> {
    observer: &'a mut (dyn Observer + Send),
    scaling: &'a Scaling,
}

impl ConvertingObserver<'_> {
    fn convert(&self, bounds: &Bounds) -> Bounds {
        let mut bounds = bounds.clone();
        bounds.convert(self.scaling.cost, &self.scaling.first, &self.scaling.parameters);
        bounds
    }
}

impl Observer for ConvertingObserver<'_> {
    fn see(&mut self, event: &Event) {
        match event {
            Event::Step(record) => {
                let cost = self.scaling.cost;
                let chain = record.chain.map(|chain| ChainRecord {
                    value: chain.value * cost,
                    temperature: chain.temperature * cost,
                    ..chain
                });
                let bounds = self.convert(record.bounds);
                self.observer.see(&Event::Step(&Record { bounds: &bounds, chain, ..(*record).clone() }));
            }
            Event::Better(bounds) => self.observer.see(&Event::Better(&self.convert(bounds))),
            Event::Start(_) | Event::Note(_) => self.observer.see(event),
        }
    }

    fn cost_unit(&self) -> f64 {
        self.scaling.cost
    }
}

/// An outcome in the units of the problem.
fn convert(mut outcome: Outcome, scaling: &Scaling) -> Outcome {
    outcome.bounds.convert(scaling.cost, &scaling.first, &scaling.parameters);
    if let Some(worst_case) = &mut outcome.worst_case {
        scaling.convert_worst_case(&mut worst_case.xi, &mut worst_case.cost, &mut worst_case.y);
    }
    if let Some(Verdict::Infeasible(infeasible)) = &mut outcome.verdict {
        infeasible.xi.iter_mut().for_each(|xi| Scaling::convert(xi, &scaling.parameters));
    }
    outcome.failure = outcome.failure.map(|failure| convert_error(failure, scaling));
    outcome
}

/// A failure of the recourse names x and ξ in the units of the problem.
pub(crate) fn convert_error(error: Error, scaling: &Scaling) -> Error {
    match error {
        Error::Recourse(RecourseError::Numerical { mut x, mut xi, why }) => {
            Scaling::convert(&mut x, &scaling.first);
            Scaling::convert(&mut xi, &scaling.parameters);
            Error::Recourse(RecourseError::Numerical { x, xi, why })
        }
        error => error,
    }
}

fn solve_as_written(
    problem: &Problem,
    settings: &Settings,
    observer: &mut (dyn Observer + Send),
    interrupt: &Arc<AtomicBool>,
) -> Result<Outcome, Error> {
    let method = settings.method.build();
    // The checks of `accepts` take time too: they may enumerate a set.
    let clock = Clock::new(settings.time_limit, Arc::clone(interrupt));
    method.accepts(problem)?;
    let solver = settings.solver.open()?;
    let limits = Limits { gap: settings.gap, iterations: settings.iterations, seed: settings.seed };
    on_threads(settings.threads, || {
        let mut run = Run::new(method.name(), limits, clock, observer).with_solver(&solver);
        run.begin(&Header { problem: problem.name.clone(), facts: problem.facts(), method: method.name() });
        if let Some(external) = solver.external() {
            run.say(&format!("{external} solves mixed-integer masters and separations"));
        }
        let mut warm = WarmStart::cold(problem);
        let ended = match problem.first.without_value() {
            Some(entry) => Ok(run.prove(Verdict::Infeasible(no_integer(problem, entry)))),
            None => run_method(method.as_ref(), problem, settings.certify, &mut warm, &mut run),
        };
        let (stop, failure) = match ended {
            Ok(stop) => (stop, None),
            Err(Error::Interrupted(interrupt)) => (interrupt.into(), None),
            Err(error) if error.is_refusal() => return Err(error),
            Err(error) => (Stop::Failed, Some(error)),
        };
        if stop == Stop::TimeLimit
            && let Err(error) = decide_late(problem, &mut run)
        {
            run.say(&format!("no decision was found in time ({error})"));
        }
        // A result outlives a failure of this search.
        let recourse = check_recourse(problem, &mut run).unwrap_or(RecourseEvidence::Unknown);
        let note = format!("{} recourse solves, {} exact separations", run.recourse_solves(), run.exact_separations());
        run.say(&note);
        Ok(take_stock(problem, settings, &mut run, stop, failure, recourse))
    })?
}

/// The verdict on a problem with an integer variable without an integer between its bounds.
fn no_integer(problem: &Problem, entry: usize) -> Infeasible {
    let FirstStage { lower, upper, .. } = &problem.first;
    let name = one_line(&problem.names.first[entry]);
    Infeasible {
        stage: Stage::First,
        xi: Vec::new(),
        first_rows: Vec::new(),
        recourse_rows: Vec::new(),
        why: format!("there is no integer between the bounds {} and {} of \"{name}\"", lower[entry], upper[entry]),
    }
}

/// Runs `work` on a pool of its own, so that the library never changes the caller's.
pub(crate) fn on_threads<T: Send>(threads: Option<usize>, work: impl FnOnce() -> T + Send) -> Result<T, Error> {
    let refuse = |error: &dyn std::error::Error| Error::Settings(format!("the threads could not be started: {error}"));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build().map_err(|e| refuse(&e))?;
    if rayon::current_thread_index().is_none() {
        return Ok(pool.install(work));
    }
    // A worker of another pool runs more of its own jobs on its stack while it waits for this one, without end: a
    // thread that is no worker waits in its place.
    std::thread::scope(|scope| {
        let waiting = std::thread::Builder::new().spawn_scoped(scope, || pool.install(work)).map_err(|e| refuse(&e))?;
        waiting.join().map_err(|panic| std::panic::resume_unwind(panic))
    })
}

/// The outcome of a run that ended by `stop`.
fn take_stock(
    problem: &Problem,
    settings: &Settings,
    run: &mut Run,
    stop: Stop,
    failure: Option<Error>,
    recourse: RecourseEvidence,
) -> Outcome {
    let bounds = run.bounds().clone();
    let met = bounds.meet(settings.gap);
    let status = match (run.verdict(), bounds.best()) {
        (Some(Verdict::Infeasible(_)), _) => Status::Infeasible,
        (Some(Verdict::Unbounded(_)), _) => Status::Unbounded,
        (None, Some(_)) if met => Status::Optimal,
        (None, Some(best)) if best.is_separated => Status::Feasible,
        (None, _) => Status::Unknown,
    };
    let worst_case = match bounds.best() {
        Some(best) if best.is_separated && run.verdict().is_none() => worst_case(problem, &best.x, &best.worst)
            .unwrap_or_else(|error| {
                run.say(&format!("the recourse to the worst case could not be computed: {error}"));
                let cost = best.value - problem.first.value(&best.x);
                Some(WorstCase { xi: best.worst.clone(), cost, y: Vec::new() })
            }),
        _ => None,
    };
    let stop = match stop {
        // Progress between an interrupt and the end of the method does not change the reason.
        _ if run.clock().check() == Err(Interrupt::Interrupted) => Stop::Interrupted,
        _ if met => Stop::Gap,
        // A method that is done without having met the gap cannot do better; that proves nothing.
        Stop::Proved if run.verdict().is_none() => Stop::Stalled,
        _ => stop,
    };
    Outcome {
        status,
        stop,
        failure: failure.filter(|_| stop == Stop::Failed),
        bounds: if run.verdict().is_some() { Bounds::default() } else { bounds },
        worst_case,
        recourse,
        verdict: run.verdict().cloned(),
        method: run.method(),
        seed: settings.seed,
        iterations: run.iterations(),
        recourse_solves: run.recourse_solves(),
        exact_separations: run.exact_separations(),
        seconds: run.clock().seconds(),
    }
}

/// The recourse at (x, ξ), from a fresh engine without a clock: a result is completed also when time is up.
pub(crate) fn worst_case(problem: &Problem, x: &[f64], xi: &[f64]) -> Result<Option<WorstCase>, Error> {
    let mut engine = engine(problem, &Clock::unlimited())?;
    let mut answer = Answer::new(problem);
    engine.at(x);
    engine.solve(xi, &mut answer)?;
    if answer.outcome != recourse::RecourseOutcome::Solved {
        return Ok(None);
    }
    let mut y = vec![0.0; problem.recourse.dim()];
    engine.decision(&mut y);
    Ok(Some(WorstCase { xi: xi.to_vec(), cost: answer.cost, y }))
}
