//! Bounds of the paper that the solver does not use, and small chains as matrices. The tests of this crate compare
//! them and the bounds of [`softsep::internals::theory`] with each other and with brute force.

mod doeblin;
mod kernel;
mod sphere;

pub use doeblin::{aligned, independent};
pub use kernel::Transitions;
pub use sphere::{cap_below, log_peak_paper};
