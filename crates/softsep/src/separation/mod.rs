//! Separation: for a decision x, a scenario that hurts it, the cut that it proves, and what is known about the worst
//! one.
//!
//! A method never knows which separation it holds.

mod ascent;
mod assessor;
mod bilinear;
mod choose;
mod finite_equivalent;
mod scan;
mod screen;
mod slopes;
mod split;
mod trends;
mod worst;

pub use ascent::{Ascent, ascend};
pub use assessor::Assessor;
pub use bilinear::{Bilinear, NotBilinear};
pub use choose::{Exact, NoSeparation, SeparationKind};
pub use finite_equivalent::{NoFiniteEquivalent, finite_equivalent};
pub use scan::Scan;
pub use slopes::SlopeRanges;
pub(crate) use slopes::{Extreme, bounding_program, extreme, widened};
pub use split::Split;
pub(crate) use trends::trends;

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
    /// Nodes of a search tree that it took.
    pub nodes: u64,
}

/// What whoever separates wants to know.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ask {
    /// A scenario that costs more than this is worth having at once: the maximum need not be bounded then. `None` asks
    /// for a bound in any case.
    pub beyond: Option<f64>,
    /// How far the claim may stay above the larger of `beyond` and the worst scenario met before the search for a
    /// better one goes on; infinite where any bound will do.
    pub tolerance: f64,
}

impl Ask {
    /// The maximum, as exactly as it can be had.
    pub const MAXIMUM: Ask = Ask { beyond: None, tolerance: 0.0 };
}

/// Finds scenarios that hurt a decision.
pub trait Separation {
    /// Separates at `x`. A search that the clock stops returns what it has, with the bound that it has; only where it
    /// has nothing at all is that an error.
    fn separate(&mut self, x: &[f64], ask: &Ask, clock: &Clock) -> Result<Found, Error>;

    /// How the last claim was proved, in words, where there is more to say than what the separation is.
    fn proof(&self) -> Option<String> {
        None
    }
}
