//! Separation: for a decision x, a scenario that hurts it, the cut that it proves, and what is known about the worst one.
//!
//! A method never knows which separation it holds.

mod ascent;
mod scan;
mod stand_in;

pub use ascent::ascend;
pub use scan::Scan;
pub use stand_in::{NoList, stand_in};

use crate::error::Error;
use crate::recourse::Cut;
use crate::run::Clock;

/// What is known about the maximum of Q(x, ·) over the set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Claim {
    /// It is at most this, for sure.
    Surely(f64),
    /// Nothing.
    Nothing,
}

/// What a separation found for a decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The worst scenario met.
    pub xi: Vec<f64>,
    /// What the recourse costs there: ∞ where there is none, −∞ where it is unbounded.
    pub value: f64,
    /// The cut that it proves, valid for every x; `None` where recourse is unbounded.
    pub cut: Option<Cut>,
    /// What is known about the maximum.
    pub claim: Claim,
    /// Recourse solves that it took.
    pub solves: u64,
}

/// Finds scenarios that hurt a decision.
pub trait Separation {
    /// Separates at `x`.
    fn separate(&mut self, x: &[f64], clock: &Clock) -> Result<Found, Error>;
}
