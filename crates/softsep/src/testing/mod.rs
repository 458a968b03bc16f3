//! Conformance suites: a new member of a family (a set, an engine, a proposal, a separation, a method) joins with one
//! line of test. They panic where a contract is broken, as tests do.
#![allow(clippy::panic, clippy::unwrap_used, clippy::expect_used)]

mod engine;
mod method;
mod proposal;
mod random;
mod search;
mod separation;
mod set;
mod shape;
mod states;
mod transport;
mod units;

pub use engine::check_engine;
pub use method::check_method;
pub use proposal::{ProposalTrial, check_proposal, check_trajectories};
pub use random::{Recipe, Size, random_problem};
pub use search::optimum_by_search;
pub use separation::{BuildSeparation, check_separation};
pub use set::check_set;
pub use transport::transport_problem;
pub use units::in_random_units;
