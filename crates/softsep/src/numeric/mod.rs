//! Arithmetic on slices, and the tolerances of the whole library. Independent of optimization.

pub(crate) mod tolerances;
mod vector;

pub(crate) use vector::{distance, dot, dot_in_lanes, norm};
