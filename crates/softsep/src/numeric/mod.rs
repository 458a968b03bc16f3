//! Arithmetic on slices, and the tolerances of the whole library. Knows nothing of optimization.

pub mod tolerances;
mod vector;

pub use vector::{distance, dot, norm};
