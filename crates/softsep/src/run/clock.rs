//! The limits of a run, and the reasons why it ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// The reason why a run ended. For the kind of its result see [`Status`](crate::Status).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Stop {
    /// The gap asked for is met.
    #[error("the gap is met")]
    Gap,
    /// The time limit is reached.
    #[error("the time limit is reached")]
    TimeLimit,
    /// The iteration limit is reached.
    #[error("the iteration limit is reached")]
    IterationLimit,
    /// The interrupt flag is raised.
    #[error("interrupted")]
    Interrupted,
    /// The method's own proof is complete: optimal, infeasible or unbounded.
    #[error("proved")]
    Proved,
    /// The method cannot make progress any more.
    #[error("no further progress")]
    Stalled,
    /// A computation failed. The result has the bounds and the incumbent known by then.
    #[error("a computation failed")]
    Failed,
}

/// The reason why a computation inside a run was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Interrupt {
    /// The time limit is reached.
    #[error("the time limit is reached")]
    TimeLimit,
    /// The interrupt flag is raised.
    #[error("interrupted")]
    Interrupted,
}

impl From<Interrupt> for Stop {
    fn from(interrupt: Interrupt) -> Self {
        match interrupt {
            Interrupt::TimeLimit => Stop::TimeLimit,
            Interrupt::Interrupted => Stop::Interrupted,
        }
    }
}

/// The gap at which a run stops, its iteration limit and its seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// The relative gap at which to stop.
    pub gap: f64,
    /// The largest number of iterations of the method.
    pub iterations: Option<u64>,
    /// The seed of every random choice.
    pub seed: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { gap: 1e-3, iterations: None, seed: 1 }
    }
}

/// The time for unfinished work after a run's clock has stopped: the evaluation of the incumbent, the explanation of a
/// proof. A run ends within two seconds after its limit, and some solvers stop with a delay.
const GRACE: Duration = Duration::from_millis(1500);

/// One deadline and one interrupt flag for everything below it, sub-solvers included. Copies share both.
#[derive(Debug, Clone)]
pub struct Clock {
    start: Instant,
    deadline: Option<Instant>,
    interrupt: Arc<AtomicBool>,
    /// The end of the grace period, once it has begun. All uses of it share one period.
    grace_end: Arc<OnceLock<Instant>>,
}

impl Clock {
    /// Starts now; any thread may raise `interrupt`.
    pub fn new(time_limit: Option<Duration>, interrupt: Arc<AtomicBool>) -> Self {
        let start = Instant::now();
        let deadline = time_limit.and_then(|limit| start.checked_add(limit));
        Self { start, deadline, interrupt, grace_end: Arc::default() }
    }

    /// No limit, no interrupt.
    pub fn unlimited() -> Self {
        Self::new(None, Arc::default())
    }

    /// The same clock with a deadline that is no later than `end`.
    pub(super) fn until(&self, end: Instant) -> Self {
        Self { deadline: Some(self.deadline.map_or(end, |deadline| deadline.min(end))), ..self.clone() }
    }

    /// The moment at which it started.
    pub(super) fn start(&self) -> Instant {
        self.start
    }

    /// The end of a limited time.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The clock of the grace period, which begins with the first call on this clock or a copy of it.
    pub fn grace(&self) -> Self {
        let end = *self.grace_end.get_or_init(|| Instant::now() + GRACE);
        Self {
            start: self.start,
            deadline: Some(end),
            interrupt: Arc::default(),
            grace_end: Arc::clone(&self.grace_end),
        }
    }

    /// Does `work` on this clock, and if that is interrupted, once more in the grace period.
    pub fn with_grace<T, E>(
        &self,
        mut work: impl FnMut(&Clock) -> Result<T, E>,
        is_interrupt: impl Fn(&E) -> bool,
    ) -> Result<T, E> {
        match work(self) {
            Err(error) if is_interrupt(&error) => work(&self.grace()),
            done => done,
        }
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Time left; `None` without a limit.
    pub fn left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// The interrupt flag, for solvers that check it themselves.
    pub fn interrupt(&self) -> &Arc<AtomicBool> {
        &self.interrupt
    }

    /// Errs if the interrupt flag is raised or the time limit is reached.
    pub fn check(&self) -> Result<(), Interrupt> {
        if self.interrupt.load(Ordering::Relaxed) {
            Err(Interrupt::Interrupted)
        } else if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            Err(Interrupt::TimeLimit)
        } else {
            Ok(())
        }
    }
}
