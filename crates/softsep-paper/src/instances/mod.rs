//! Random problems from the literature, for experiments and benchmarks: settings and a seed in, an `aro/1` problem out.

mod energy;
mod facility_location;
mod inventory;
mod location_transportation;
mod lot_sizing;
mod network;
mod newsvendor;
mod plane;
mod random;
mod uncertain;
mod unit_commitment;

pub use energy::{Energy, energy};
pub use facility_location::{FacilityLocation, facility_location};
pub use inventory::{Inventory, inventory};
pub use location_transportation::{LocationTransportation, location_transportation};
pub use lot_sizing::{LotSizing, lot_sizing};
pub use network::{Network, NetworkDesign, network, network_design};
pub use newsvendor::{Newsvendor, newsvendor};
pub use uncertain::{InstanceError, Uncertain};
pub use unit_commitment::{UnitCommitment, unit_commitment};
