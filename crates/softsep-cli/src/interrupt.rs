//! Ctrl-C, or a request to terminate: once to stop with the result so far, twice to leave at once.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::{Exit, Failure};

/// The flag that Ctrl-C raises. `announce` is called when it does, from another thread.
pub(crate) fn flag(announce: impl Fn() + Send + 'static) -> Result<Arc<AtomicBool>, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    let handler = move || {
        if raised.swap(true, Ordering::Relaxed) {
            process::exit(Exit::Interrupted as i32);
        }
        announce();
    };
    ctrlc::set_handler(handler)
        .map_err(|error| Failure::failed(format!("the handler of Ctrl-C could not be installed: {error}")))?;
    Ok(flag)
}
