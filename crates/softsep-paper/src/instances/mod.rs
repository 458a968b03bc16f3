//! Random problems from the literature, for experiments and benchmarks: settings and a seed in, an `aro/1` problem out.

mod energy;
mod inventory;
mod location_transportation;
mod network;
mod plane;
mod random;
mod uncertain;

pub use energy::{Energy, energy};
pub use inventory::{Inventory, inventory};
pub use location_transportation::{LocationTransportation, location_transportation};
pub use network::{Network, network};
pub use uncertain::{InstanceError, Uncertain};
