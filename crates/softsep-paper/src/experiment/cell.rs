//! Runs one cell: a method on an instance, watched from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use softsep::run::{Bounds, Certificate, Event, Observer, Stop};
use softsep::separation::Assessor;
use softsep::{Error, Problem, Settings, solve};

use super::finding::{Measured, Moment, Reference};
use super::study::{Row, Study};
use super::way::{COARSE, FINE, Way};

/// The least time for a reference, whatever the limit: without one nothing is measured.
const REFERENCE_SECONDS: f64 = 60.0;

/// A likely bound is refuted by a cost that is above it by more than this share.
const REFUTED: f64 = 1e-6;

/// Why a cell has no finding.
#[derive(Debug)]
pub(super) enum Missing {
    /// Ctrl-C.
    Interrupted,
    /// The method does not take the instance.
    Refused(String),
    /// It failed.
    Failed(String),
}

impl From<Error> for Missing {
    fn from(error: Error) -> Self {
        match error {
            Error::Stopped(Stop::Interrupted) => Missing::Interrupted,
            Error::Unsupported(refusal) => Missing::Refused(refusal.to_string()),
            error => Missing::Failed(error.to_string()),
        }
    }
}

/// A row in a replication, ready to be solved.
pub(super) struct Bench<'s> {
    pub(super) study: &'s Study,
    pub(super) row: &'s Row,
    pub(super) replication: u32,
    pub(super) problem: &'s Problem,
    pub(super) threads: Option<usize>,
    /// Ctrl-C.
    pub(super) interrupt: &'s Arc<AtomicBool>,
}

impl Bench<'_> {
    fn settings(&self, way: Way, time_limit: Option<f64>) -> Settings {
        Settings {
            method: way.method(self.row.mixed_integer).into(),
            gap: way.gap(self.row.mixed_integer),
            time_limit: time_limit.map(Duration::from_secs_f64),
            iterations: if way.is_endless() { self.study.iterations.or(Some(u64::MAX)) } else { None },
            seed: self.study.seed_of(self.replication),
            threads: self.threads,
            certify: way.certify(),
            options: way.options(self.row),
        }
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// What gaps are measured from.
    pub(super) fn reference(&self) -> Result<Reference, Missing> {
        let settings = self.settings(Way::Reference, Some(self.study.limit.max(REFERENCE_SECONDS)));
        let outcome = solve(self.problem, &settings, &mut softsep::run::Silent, self.interrupt)?;
        if self.is_interrupted() {
            return Err(Missing::Interrupted);
        }
        let (Some(lower), Some(best)) = (outcome.bounds.lower(), outcome.bounds.best()) else {
            return Err(Missing::Failed("the reference has no bounds; a longer --time-limit may help".into()));
        };
        let mut judge = Assessor::new(self.problem)?;
        let value = judge.cost(&best.x)?.max(best.value);
        Ok(Reference { lower, value, is_exact: judge.is_exact() })
    }

    /// Runs a method. One that does not end by itself is judged while it runs, its clock stopped, so that it can be
    /// told when it is done.
    pub(super) fn measure(&self, way: Way, reference: Reference) -> Result<Measured, Missing> {
        let mut judge = Assessor::new(self.problem)?;
        let stop = if way.is_endless() { Arc::new(AtomicBool::new(false)) } else { Arc::clone(self.interrupt) };
        let limit = self.study.limit;
        let settings = self.settings(way, (!way.is_endless()).then_some(limit));
        let live = way.is_endless().then(|| Live {
            judge: &mut judge,
            interrupt: self.interrupt,
            stop: &stop,
            reference,
            limit,
            ends_at_goal: !self.study.exhibit.is_figure(),
            judging: 0.0,
            is_over: false,
            failed: None,
        });
        let mut watch = Watch { start: Instant::now(), seen: Vec::new(), counted: 0, solves: 0, proved: None, live };
        let outcome = solve(self.problem, &settings, &mut watch, &stop);
        let Watch { mut seen, proved, live, solves, .. } = watch;
        if self.is_interrupted() {
            return Err(Missing::Interrupted);
        }
        let outcome = outcome?;
        let judging = live.as_ref().map_or(0.0, |live| live.judging);
        // A run may meet its gap in the moment that it still has after the limit.
        let mut is_over = outcome.stop == Stop::TimeLimit || outcome.seconds - judging > limit;
        if let Some(live) = live {
            is_over = live.is_over;
            live.failed.map_or(Ok(()), Err)?;
        }
        let bounds = &outcome.bounds;
        // What a method returns may be what it looked at last, after its last iteration.
        if let Some(best) = bounds.best() {
            let moment = Moment { seconds: outcome.seconds - judging, solves: outcome.recourse_solves };
            look(&mut seen, &best.x, best.value, moment, outcome.iterations);
        }
        let gaps = gaps(&mut seen, &mut judge, reference)?;
        let first_within = |goal: f64| {
            let first = gaps.iter().position(|gap| gap.is_some_and(|gap| gap <= goal));
            first.map(|place| Moment { solves: seen[place].moment.solves.max(1), ..seen[place].moment })
        };
        let last_cost = seen.last().and_then(|last| last.cost);
        let likely = bounds.likely_upper().or(bounds.refuted().map(|likely| likely.upper));
        Ok(Measured {
            start: gaps.first().copied().flatten(),
            coarse: first_within(COARSE),
            fine: first_within(FINE),
            proved,
            end: Moment { seconds: outcome.seconds - judging, solves: outcome.recourse_solves.max(solves) },
            last: gaps.last().copied().flatten(),
            reported: bounds.reported_upper().or(bounds.best().map(|best| best.value)).map(|cost| reference.gap(cost)),
            is_over,
            is_refuted: likely.zip(last_cost).is_some_and(|(upper, cost)| cost > upper + REFUTED * upper.abs()),
            path: match self.study.exhibit.is_figure() {
                true => seen.iter().zip(&gaps).filter_map(|(seen, gap)| Some((seen.iteration, (*gap)?))).collect(),
                false => Vec::new(),
            },
        })
    }
}

/// A decision that would have been returned.
struct Seen {
    x: Vec<f64>,
    /// What the method thinks it costs; it may be wrong, but never too high.
    value: f64,
    moment: Moment,
    iteration: u64,
    /// What the judge says.
    cost: Option<f64>,
}

/// Notes a decision, unless it is the last one noted.
fn look(seen: &mut Vec<Seen>, x: &[f64], value: f64, moment: Moment, iteration: u64) -> bool {
    match seen.last_mut() {
        Some(last) if last.x == x => {
            last.value = last.value.max(value);
            false
        }
        _ => {
            seen.push(Seen { x: x.to_vec(), value, moment, iteration, cost: None });
            true
        }
    }
}

/// The gaps of all decisions from the first to one that meets the goal, and of the last.
fn gaps(seen: &mut [Seen], judge: &mut Assessor, reference: Reference) -> Result<Vec<Option<f64>>, Error> {
    let (mut is_met, last) = (false, seen.len().saturating_sub(1));
    for (place, seen) in seen.iter_mut().enumerate() {
        if seen.cost.is_none() && (!is_met || place == last) {
            seen.cost = Some(judge.cost(&seen.x)?.max(seen.value));
        }
        is_met |= seen.cost.is_some_and(|cost| reference.gap(cost) <= FINE);
    }
    Ok(seen.iter().map(|seen| seen.cost.map(|cost| reference.gap(cost))).collect())
}

/// Watches a run.
struct Watch<'w, 'p> {
    start: Instant,
    seen: Vec<Seen>,
    /// Decisions whose solves are counted; others came since the last iteration ended.
    counted: usize,
    solves: u64,
    proved: Option<Moment>,
    live: Option<Live<'w, 'p>>,
}

/// Judges while the method waits.
struct Live<'w, 'p> {
    judge: &'w mut Assessor<'p>,
    interrupt: &'w AtomicBool,
    stop: &'w AtomicBool,
    reference: Reference,
    limit: f64,
    ends_at_goal: bool,
    judging: f64,
    is_over: bool,
    failed: Option<Missing>,
}

impl Live<'_, '_> {
    fn judge(&mut self, seen: &mut Seen) {
        let before = Instant::now();
        match self.judge.cost(&seen.x) {
            Ok(cost) => {
                let cost = cost.max(seen.value);
                seen.cost = Some(cost);
                if self.ends_at_goal && self.reference.gap(cost) <= FINE {
                    self.stop.store(true, Ordering::Relaxed);
                }
            }
            Err(error) => {
                self.failed = Some(error.into());
                self.stop.store(true, Ordering::Relaxed);
            }
        }
        self.judging += before.elapsed().as_secs_f64();
    }

    /// Ends the run where time is up or somebody wants it to.
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

impl Watch<'_, '_> {
    /// Seconds of the method's own.
    fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64() - self.live.as_ref().map_or(0.0, |live| live.judging)
    }

    fn look(&mut self, bounds: &Bounds, iteration: u64) {
        let Some(best) = bounds.best() else { return };
        let moment = Moment { seconds: self.seconds(), solves: self.solves };
        let is_new = look(&mut self.seen, &best.x, best.value, moment, iteration);
        if let (true, Some(live), Some(last)) = (is_new, &mut self.live, self.seen.last_mut()) {
            live.judge(last);
        }
    }
}

impl Observer for Watch<'_, '_> {
    fn see(&mut self, event: &Event) {
        match event {
            Event::Better(bounds) => {
                let iteration = self.seen.last().map_or(0, |last| last.iteration);
                self.look(bounds, iteration);
            }
            Event::Step(record) => {
                self.solves = record.recourse_solves;
                self.look(record.bounds, record.iteration);
                let seconds = self.seconds();
                for seen in &mut self.seen[self.counted..] {
                    (seen.moment.solves, seen.iteration) = (record.recourse_solves, record.iteration);
                }
                self.counted = self.seen.len();
                let is_sure = record.bounds.certificate() == Certificate::Deterministic;
                if self.proved.is_none() && is_sure && record.bounds.meet(COARSE) {
                    self.proved = Some(Moment { seconds, solves: record.recourse_solves });
                }
                if let Some(live) = &mut self.live {
                    live.check(seconds);
                }
            }
            Event::Start(_) | Event::Note(_) => {}
        }
    }
}
