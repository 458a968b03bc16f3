//! Cuts: the pool of all valid cuts that a run has met.
//!
//! Separations write to the pool. Master problems, level sets, subgradient steps and trees read it, each with a
//! [`Cursor`] of its own. What one method hands to the next is a [`WarmStart`].

mod pool;
mod warm_start;

pub use pool::{Cursor, CutPool};
pub use warm_start::WarmStart;
