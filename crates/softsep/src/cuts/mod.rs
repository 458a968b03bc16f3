//! Cuts: the pool of all valid cuts that a run has met.
//!
//! Separations write to the pool. Master problems, level sets, subgradient steps and trees read it, each with a
//! [`Cursor`] of its own. A [`WarmStart`] carries cuts and scenarios to the next method.

mod pool;
mod warm_start;

pub use pool::{Cursor, CutPool};
pub use warm_start::WarmStart;
