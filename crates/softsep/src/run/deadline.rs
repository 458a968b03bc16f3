//! A solve that is given up when it does not hear the clock.
//!
//! HiGHS looks at its interrupt flag between the nodes of a tree, not inside the linear program of a node, and that may
//! take minutes on a large one; Clarabel hears nothing while it factors its matrix. Whoever presses Ctrl-C waits a
//! second at most: the solve goes on in its own thread until it hears the flag, and nobody waits for it.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use softsep_lp::{Lp, LpError, Status};

use super::Clock;

/// How long a solver may go on after the clock has stopped.
const GRACE: Duration = Duration::from_secs(1);

/// How often the clock is looked at meanwhile.
const GLANCE: Duration = Duration::from_millis(20);

/// Why a solve in its own thread gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unfinished {
    /// HiGHS refused a call.
    #[error(transparent)]
    Lp(#[from] LpError),
    /// The thread could not be started, or died.
    #[error("the solver's thread {0}")]
    Thread(String),
}

/// Solves `lp` in this thread: for a simplex, which hears the clock between pivots.
pub(crate) fn solve_here(mut lp: Lp, _clock: &Clock) -> Result<Option<(Lp, Status)>, Unfinished> {
    let status = lp.solve()?;
    Ok(Some((lp, status)))
}

/// Solves `lp`, and returns it with its status; `None` if it did not stop when the clock did.
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

/// Does work in a thread of its own, and returns what came of it; `None` if it did not end when the clock stopped.
pub(crate) fn run_until<T: Send + 'static>(
    clock: &Clock,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Option<T>, Unfinished> {
    let (sender, receiver) = channel();
    thread::Builder::new()
        .name("solver".into())
        .spawn(move || {
            // Nobody may be listening any more.
            let _ = sender.send(work());
        })
        .map_err(|error| Unfinished::Thread(format!("could not be started: {error}")))?;
    let mut stopped: Option<Instant> = None;
    loop {
        match receiver.recv_timeout(GLANCE) {
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
    fn nobody_waits_for_what_does_not_hear() {
        assert_eq!(run_until(&Clock::unlimited(), || 7).unwrap(), Some(7));
        let struck = Clock::new(Some(Duration::ZERO), Arc::default());
        let (sender, receiver) = channel::<()>();
        // It would wait for ever: the sender is still there.
        assert_eq!(run_until(&struck, move || receiver.recv().is_ok()).unwrap(), None);
        drop(sender);
    }
}
