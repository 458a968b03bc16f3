//! Runs one cell: a method on an instance. Its incumbents are assessed from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use softsep::internals::separation::Assessor;
use softsep::methods::MethodSettings;
use softsep::run::{Bounds, Certificate, Event, Interrupt, Observer, Stop};
use softsep::{Error, Problem, Settings, Solver, solve_with};

use super::clock::{Elapsed, Stopwatch};
use super::record::{Effort, Measurement, Reference};
use super::setup::{COARSE, FINE, MethodSetup};
use super::study::{Study, StudyRow};

/// A cost refutes a probabilistic bound if it is above it by more than this share.
const REFUTED: f64 = 1e-6;

/// The reason why a cell has no result.
#[derive(Debug)]
pub(super) enum Missing {
    /// Ctrl-C.
    Interrupted,
    /// The method does not accept the instance.
    Refused(String),
    /// The run failed.
    Failed(String),
}

impl From<Error> for Missing {
    fn from(error: Error) -> Self {
        match error {
            Error::Interrupted(Interrupt::Interrupted) => Missing::Interrupted,
            Error::Unsupported(refusal) => Missing::Refused(refusal.to_string()),
            // A method without one of these options cannot be asked for more.
            Error::Settings(refusal) => Missing::Refused(refusal),
            error => Missing::Failed(error.to_string()),
        }
    }
}

/// A cell: a row of a study in a replication, with its problem.
pub(super) struct CellRun<'s> {
    pub(super) study: &'s Study,
    pub(super) row: &'s StudyRow,
    pub(super) replication: u32,
    pub(super) problem: &'s Problem,
    /// Ctrl-C.
    pub(super) interrupt: &'s Arc<AtomicBool>,
}

impl CellRun<'_> {
    fn settings(&self, setup: MethodSetup, time_limit: Option<f64>) -> Result<Settings, Error> {
        Ok(Settings {
            method: MethodSettings::parse(setup.method(self.row.mixed_integer), &setup.options(self.row))?,
            gap: setup.gap(self.row.mixed_integer),
            time_limit: time_limit.map(Duration::from_secs_f64),
            iterations: if setup.is_endless() { self.study.iterations.or(Some(u64::MAX)) } else { None },
            seed: self.study.seed_of(self.replication),
            threads: self.study.threads,
            certify: setup.certify(),
            solver: Solver::Highs,
        })
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// Finds the bounds that gaps are measured from.
    pub(super) fn reference(&self) -> Result<Reference, Missing> {
        let settings = self.settings(MethodSetup::Reference, Some(self.study.limit_of(MethodSetup::Reference)))?;
        let outcome = solve_with(self.problem, &settings, &mut softsep::run::Silent, self.interrupt)?;
        if self.is_interrupted() {
            return Err(Missing::Interrupted);
        }
        let (Some(lower), Some(best)) = (outcome.bounds.lower(), outcome.bounds.best()) else {
            return Err(Missing::Failed("the reference has no bounds; a longer --time-limit may help".into()));
        };
        let mut assessor = Assessor::new(self.problem)?;
        let value = assessor.cost(&best.x)?.max(best.value);
        Ok(Reference { lower, value, is_exact: assessor.is_exact() })
    }

    /// Runs a method. Incumbents of a method that does not end by itself are assessed during the run, outside its
    /// clock, so that it can be stopped at the goal.
    pub(super) fn measure(&self, setup: MethodSetup, reference: Reference) -> Result<Measurement, Missing> {
        let is_figure = self.study.exhibit.is_figure();
        let mut gauge = Gauge {
            assessor: Assessor::new(self.problem)?,
            reference,
            goal: COARSE,
            is_met: false,
            is_path: is_figure,
        };
        let stop = if setup.is_endless() { Arc::new(AtomicBool::new(false)) } else { Arc::clone(self.interrupt) };
        let limit = self.study.limit;
        let settings = self.settings(setup, (!setup.is_endless()).then_some(limit))?;
        let live = setup.is_endless().then(|| LiveAssessment {
            gauge: &mut gauge,
            interrupt: self.interrupt,
            stop: &stop,
            limit,
            spent: Elapsed::default(),
            is_over: false,
            failed: None,
        });
        let mut watch = CellObserver {
            clock: Stopwatch::start(),
            incumbents: Vec::new(),
            counted: 0,
            solves: 0,
            proved: None,
            live,
        };
        let outcome = solve_with(self.problem, &settings, &mut watch, &stop);
        let elapsed = watch.elapsed();
        let CellObserver { mut incumbents, mut proved, live, solves, .. } = watch;
        if self.is_interrupted() {
            return Err(Missing::Interrupted);
        }
        let outcome = outcome?;
        if let Some(failure) = outcome.failure {
            return Err(failure.into());
        }
        // A run may meet its gap in the short grace time after the limit.
        let mut is_over = outcome.stop == Stop::TimeLimit || elapsed.wall > limit;
        if let Some(live) = live {
            is_over = live.is_over;
            live.failed.map_or(Ok(()), Err)?;
        }
        // A method may return a decision that it found after its last iteration.
        if let Some(best) = outcome.bounds.best() {
            let effort = Effort::new(elapsed, outcome.recourse_solves);
            add_incumbent(&mut incumbents, &best.x, best.value, effort, outcome.iterations);
        }
        let gaps = gauge.gaps(&mut incumbents)?;
        let end = Effort::new(elapsed, outcome.recourse_solves.max(solves));
        if has_proof(&outcome.bounds) {
            proved = proved.or(Some(end));
        }
        let run = ObservedRun { incumbents, gaps, proved, end, is_over };
        Ok(run.measurement(reference, &outcome.bounds, is_figure))
    }
}

/// Whether these bounds prove the paper's goal.
fn has_proof(bounds: &Bounds) -> bool {
    bounds.certificate() == Certificate::Deterministic && bounds.meet(COARSE)
}

/// A run with the gaps of its incumbents.
struct ObservedRun {
    incumbents: Vec<AssessedIncumbent>,
    gaps: Vec<Option<f64>>,
    proved: Option<Effort>,
    end: Effort,
    is_over: bool,
}

impl ObservedRun {
    fn measurement(&self, reference: Reference, bounds: &Bounds, has_path: bool) -> Measurement {
        let last_cost = self.incumbents.last().and_then(|last| last.cost);
        let withdrawn = bounds.best().and_then(|best| best.attested.withdrawn);
        let likely = bounds.likely_upper().or(bounds.refuted().map(|likely| likely.upper)).or(withdrawn);
        Measurement {
            start: self.gaps.first().copied().flatten(),
            coarse: self.first_within(COARSE),
            fine: self.first_within(FINE),
            proved: self.proved,
            end: self.end,
            last: self.gaps.last().copied().flatten(),
            reported: bounds.reported_upper().or(bounds.best().map(|best| best.value)).map(|cost| reference.gap(cost)),
            is_over: self.is_over,
            is_likely: Some(likely.is_some()),
            is_refuted: likely.zip(last_cost).is_some_and(|(upper, cost)| cost > upper + REFUTED * upper.abs()),
            path: if has_path { self.path() } else { Vec::new() },
        }
    }

    /// The effort until the gap was first within the goal.
    fn first_within(&self, goal: f64) -> Option<Effort> {
        let index = self.gaps.iter().position(|gap| gap.is_some_and(|gap| gap <= goal))?;
        let effort = self.incumbents[index].effort;
        Some(Effort { solves: effort.solves.max(1), ..effort })
    }

    /// Iterations and gaps.
    fn path(&self) -> Vec<(u64, f64)> {
        let pairs = self.incumbents.iter().zip(&self.gaps);
        pairs.filter_map(|(incumbent, gap)| Some((incumbent.iteration, (*gap)?))).collect()
    }
}

/// A decision that the method would have returned.
struct AssessedIncumbent {
    x: Vec<f64>,
    /// Its cost according to the method: possibly too low, never too high.
    value: f64,
    effort: Effort,
    iteration: u64,
    /// Its cost according to the assessor.
    cost: Option<f64>,
}

/// Adds an incumbent, unless it is the last one again. Returns whether it is new.
fn add_incumbent(
    incumbents: &mut Vec<AssessedIncumbent>,
    x: &[f64],
    value: f64,
    effort: Effort,
    iteration: u64,
) -> bool {
    match incumbents.last_mut() {
        Some(last) if last.x == x => {
            last.value = last.value.max(value);
            false
        }
        _ => {
            incumbents.push(AssessedIncumbent { x: x.to_vec(), value, effort, iteration, cost: None });
            true
        }
    }
}

/// Finds the costs of incumbents one after another, as closely as the goal that is to be met next needs.
struct Gauge<'p> {
    assessor: Assessor<'p>,
    reference: Reference,
    /// 0.1 % until that is met, then 0.01 %.
    goal: f64,
    /// Whether 0.01 % is met.
    is_met: bool,
    /// Whether every gap is shown: a path is assessed in full and beyond the goal.
    is_path: bool,
}

impl Gauge<'_> {
    /// Assesses an incumbent. The cost of one that misses the goal may be larger than found; its gap is shown only if
    /// it `is_shown`, and is then looked for more closely.
    fn assess(&mut self, incumbent: &mut AssessedIncumbent, is_shown: bool) -> Result<(), Error> {
        let level = self.reference.level(self.goal);
        let cost = if self.is_path || (is_shown && !self.assessor.is_exact()) {
            self.assessor.cost(&incumbent.x)?
        } else if is_shown || incumbent.value <= level {
            self.assessor.cost_up_to(&incumbent.x, level)?
        } else {
            incumbent.value
        };
        let cost = cost.max(incumbent.value).max(incumbent.cost.unwrap_or(f64::NEG_INFINITY));
        incumbent.cost = Some(cost);
        let gap = self.reference.gap(cost);
        if gap <= COARSE {
            self.goal = FINE;
        }
        self.is_met |= gap <= FINE;
        Ok(())
    }

    /// The gaps of all incumbents up to the first that meets the goal, and of the last one.
    fn gaps(&mut self, incumbents: &mut [AssessedIncumbent]) -> Result<Vec<Option<f64>>, Error> {
        let last = incumbents.len().saturating_sub(1);
        for (index, incumbent) in incumbents.iter_mut().enumerate() {
            let is_shown = index == 0 || index == last;
            let is_new = incumbent.cost.is_none() && !self.is_met;
            if is_new || (is_shown && (incumbent.cost.is_none() || !self.is_path)) {
                self.assess(incumbent, is_shown)?;
            }
        }
        let gap = |incumbent: &AssessedIncumbent| incumbent.cost.map(|cost| self.reference.gap(cost));
        Ok(incumbents.iter().map(gap).collect())
    }
}

/// The observer of a run.
struct CellObserver<'w, 'p> {
    clock: Stopwatch,
    incumbents: Vec<AssessedIncumbent>,
    /// The number of incumbents whose recourse solves are known. The others came since the last iteration ended.
    counted: usize,
    solves: u64,
    proved: Option<Effort>,
    live: Option<LiveAssessment<'w, 'p>>,
}

/// Assesses incumbents during the run, and stops the run.
struct LiveAssessment<'w, 'p> {
    gauge: &'w mut Gauge<'p>,
    interrupt: &'w AtomicBool,
    stop: &'w AtomicBool,
    limit: f64,
    /// Times of assessment, which are not the method's.
    spent: Elapsed,
    is_over: bool,
    failed: Option<Missing>,
}

impl LiveAssessment<'_, '_> {
    fn assess(&mut self, incumbent: &mut AssessedIncumbent) {
        let clock = Stopwatch::start();
        let assessed = self.gauge.assess(incumbent, false);
        let is_done = self.gauge.is_met && !self.gauge.is_path;
        if is_done || assessed.is_err() {
            self.stop.store(true, Ordering::Relaxed);
        }
        self.failed = assessed.err().map(Missing::from).or(self.failed.take());
        self.spent += clock.elapsed();
    }

    /// Stops the run at the time limit and on an interrupt.
    fn check(&mut self, seconds: f64) {
        let is_done = self.stop.load(Ordering::Relaxed);
        if !is_done && seconds > self.limit {
            self.is_over = true;
            self.stop.store(true, Ordering::Relaxed);
        }
        if self.interrupt.load(Ordering::Relaxed) {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

impl CellObserver<'_, '_> {
    /// Times of the method, without those of assessment.
    fn elapsed(&self) -> Elapsed {
        self.clock.elapsed() - self.live.as_ref().map_or(Elapsed::default(), |live| live.spent)
    }

    fn see_incumbent(&mut self, bounds: &Bounds, iteration: u64) {
        let Some(best) = bounds.best() else { return };
        let effort = Effort::new(self.elapsed(), self.solves);
        let is_new = add_incumbent(&mut self.incumbents, &best.x, best.value, effort, iteration);
        if let (true, Some(live), Some(last)) = (is_new, &mut self.live, self.incumbents.last_mut()) {
            live.assess(last);
        }
    }
}

impl Observer for CellObserver<'_, '_> {
    fn see(&mut self, event: &Event) {
        match event {
            Event::Better(bounds) => {
                let iteration = self.incumbents.last().map_or(0, |last| last.iteration);
                self.see_incumbent(bounds, iteration);
            }
            Event::Step(record) => {
                self.solves = record.recourse_solves;
                self.see_incumbent(record.bounds, record.iteration);
                let elapsed = self.elapsed();
                for incumbent in &mut self.incumbents[self.counted..] {
                    (incumbent.effort.solves, incumbent.iteration) = (record.recourse_solves, record.iteration);
                }
                self.counted = self.incumbents.len();
                if self.proved.is_none() && has_proof(record.bounds) {
                    self.proved = Some(Effort::new(elapsed, record.recourse_solves));
                }
                if let Some(live) = &mut self.live {
                    live.check(elapsed.wall);
                }
            }
            _ => {}
        }
    }
}
