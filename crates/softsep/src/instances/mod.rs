//! Random problems from the literature, for experiments and benchmarks: settings and a seed in, an `aro/1` problem out.

mod location_transportation;
mod random;

pub use location_transportation::{InstanceError, LocationTransportation, Uncertain, location_transportation};
