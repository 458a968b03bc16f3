//! A solve that is given up when it does not hear the clock.
//!
//! HiGHS looks at its interrupt flag between the nodes of a tree, not inside the linear program of a node, and that may take minutes on a large
//! one. Whoever presses Ctrl-C waits a second at most: the solve goes on in its own thread until it hears the flag, and nobody waits for it.

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
pub(crate) enum Lost {
    /// HiGHS refused a call.
    #[error(transparent)]
    Lp(#[from] LpError),
    /// The thread could not be started, or died.
    #[error("the solver's thread {0}")]
    Thread(String),
}

/// Solves `lp` in this thread: for a simplex, which hears the clock between pivots.
pub(crate) fn solve_here(mut lp: Lp, _clock: &Clock) -> Result<Option<(Lp, Status)>, Lost> {
    let status = lp.solve()?;
    Ok(Some((lp, status)))
}

/// Solves `lp`, and returns it with its status; `None` if it did not stop when the clock did.
pub(crate) fn solve_patiently(mut lp: Lp, clock: &Clock) -> Result<Option<(Lp, Status)>, Lost> {
    let (sender, receiver) = channel();
    thread::Builder::new()
        .name("solver".into())
        .spawn(move || {
            let status = lp.solve();
            // Nobody may be listening any more.
            let _ = sender.send((lp, status));
        })
        .map_err(|error| Lost::Thread(format!("could not be started: {error}")))?;
    let mut stopped: Option<Instant> = None;
    loop {
        match receiver.recv_timeout(GLANCE) {
            Ok((lp, status)) => return Ok(Some((lp, status?))),
            Err(RecvTimeoutError::Disconnected) => return Err(Lost::Thread("died".into())),
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
