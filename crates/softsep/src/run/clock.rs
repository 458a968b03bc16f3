//! The limits of a run and why it ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// Why a run ended. What it holds then is another question: see [`Status`](crate::Status).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Stop {
    /// The gap asked for is met.
    #[error("the gap is met")]
    Gap,
    /// Time is up.
    #[error("the time limit is reached")]
    TimeLimit,
    /// The iterations are used up.
    #[error("the iteration limit is reached")]
    IterationLimit,
    /// Somebody raised the interrupt flag.
    #[error("interrupted")]
    Interrupted,
    /// The method's own proof is complete: optimal, infeasible or unbounded.
    #[error("proved")]
    Proved,
    /// The method cannot make progress any more.
    #[error("no further progress")]
    Stalled,
}

/// What a run may use.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// The relative gap at which to stop.
    pub gap: f64,
    /// Iterations of the method.
    pub iterations: Option<u64>,
    /// The seed of every random choice.
    pub seed: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { gap: 1e-3, iterations: None, seed: 1 }
    }
}

/// One deadline and one interrupt flag for everything below it, sub-solvers included. Copies share both.
#[derive(Debug, Clone)]
pub struct Clock {
    start: Instant,
    deadline: Option<Instant>,
    interrupt: Arc<AtomicBool>,
}

impl Clock {
    /// Starts now; `interrupt` may be raised from anywhere.
    pub fn new(time_limit: Option<Duration>, interrupt: Arc<AtomicBool>) -> Self {
        let start = Instant::now();
        Self { start, deadline: time_limit.and_then(|limit| start.checked_add(limit)), interrupt }
    }

    /// No limit, no interrupt.
    pub fn unlimited() -> Self {
        Self::new(None, Arc::default())
    }

    /// A moment more, for what must still be done when time is up: to evaluate the decision at hand, to explain what
    /// was proved.
    pub fn grace() -> Self {
        Self::new(Some(Duration::from_secs(2)), Arc::default())
    }

    /// Does `work` on this clock, and if that stops on the way, once more within a moment.
    pub fn with_grace<T, E>(
        &self,
        mut work: impl FnMut(&Clock) -> Result<T, E>,
        is_stop: impl Fn(&E) -> bool,
    ) -> Result<T, E> {
        match work(self) {
            Err(error) if is_stop(&error) => work(&Self::grace()),
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

    /// The flag, for solvers that watch it themselves.
    pub fn interrupt(&self) -> &Arc<AtomicBool> {
        &self.interrupt
    }

    /// Whether to go on.
    pub fn check(&self) -> Result<(), Stop> {
        if self.interrupt.load(Ordering::Relaxed) {
            Err(Stop::Interrupted)
        } else if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            Err(Stop::TimeLimit)
        } else {
            Ok(())
        }
    }
}
