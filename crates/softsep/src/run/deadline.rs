//! Solves that are abandoned when they do not stop at the deadline.
//!
//! HiGHS and Gurobi check their interrupt flags between the nodes of a tree, not inside the linear program of a node,
//! which may take minutes on a large one. Clarabel does not check it while it factors its matrix. Such a solve runs in
//! a thread of its own. A second after the clock has stopped the caller returns without its result, and the thread ends
//! when the solver checks the flag.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use softsep_lp::{Lp, LpError, Mip, Status};

use super::Clock;

/// The time that a solver gets to return after the clock has stopped.
const GRACE: Duration = Duration::from_secs(1);

/// The interval at which the clock is checked.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// The reason why a solve gave no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unfinished {
    /// HiGHS or Gurobi refused a call.
    #[error(transparent)]
    Lp(#[from] LpError),
    /// The thread could not be started, or panicked.
    #[error("the solver's thread {0}")]
    Thread(String),
}

/// Solves `lp` in this thread: for simplex solves, which check the clock between pivots.
pub(crate) fn solve_here(mut lp: Lp, _clock: &Clock) -> Result<Option<(Lp, Status)>, Unfinished> {
    let status = lp.solve()?;
    Ok(Some((lp, status)))
}

/// Solves `lp`, and returns it with its status, or `None` if the solve was abandoned.
pub(crate) fn solve_until(mut lp: Lp, clock: &Clock) -> Result<Option<(Lp, Status)>, Unfinished> {
    let solve = move || {
        let status = lp.solve();
        (lp, status)
    };
    match run_until(clock, solve)? {
        Some((lp, status)) => Ok(Some((lp, status?))),
        None => Ok(None),
    }
}

/// Solves `mip` as [`solve_until`] does.
pub(crate) fn solve_mip_until(mut mip: Mip, clock: &Clock) -> Result<Option<(Mip, Status)>, Unfinished> {
    let solve = move || {
        let status = mip.solve();
        (mip, status)
    };
    match run_until(clock, solve)? {
        Some((mip, status)) => Ok(Some((mip, status?))),
        None => Ok(None),
    }
}

/// Runs `work` in a thread of its own, and returns its result, or `None` if it did not end within a second after the
/// clock stopped.
pub(crate) fn run_until<T: Send + 'static>(
    clock: &Clock,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Option<T>, Unfinished> {
    let (sender, receiver) = channel();
    thread::Builder::new()
        .name("solver".into())
        .spawn(move || {
            // The receiver is gone if the work was abandoned.
            let _ = sender.send(work());
        })
        .map_err(|error| Unfinished::Thread(format!("could not be started: {error}")))?;
    let mut stopped: Option<Instant> = None;
    loop {
        match receiver.recv_timeout(CHECK_INTERVAL) {
            Ok(done) => return Ok(Some(done)),
            Err(RecvTimeoutError::Disconnected) => return Err(Unfinished::Thread("died".into())),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if clock.check().is_err() {
            let since = *stopped.get_or_insert_with(Instant::now);
            if since.elapsed() > GRACE {
                return Ok(None);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn work_past_its_deadline_is_abandoned() {
        assert_eq!(run_until(&Clock::unlimited(), || 7).unwrap(), Some(7));
        let stopped = Clock::new(Some(Duration::ZERO), Arc::default());
        let (sender, receiver) = channel::<()>();
        // This work would never end, since the sender exists.
        assert_eq!(run_until(&stopped, move || receiver.recv().is_ok()).unwrap(), None);
        drop(sender);
    }
}
