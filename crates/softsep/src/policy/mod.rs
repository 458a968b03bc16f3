//! Recourse policies: y as a function of ξ, written down before ξ is known.
//!
//! Any policy that is feasible for all ξ bounds the worst case from above, at a fixed decision as well as jointly with
//! one. Affine policies are linear programs over polytopes and second-order cone programs over ellipsoids; where the
//! recourse itself has cones or a quadratic cost they are bounded from above by cone programs.

mod affine;
mod cones;
mod coordinates;
mod dependence;
mod list;
mod prices;
mod repair;
mod robust;
mod rule;
mod solve;
mod support;
#[cfg(all(test, feature = "testing"))]
#[allow(clippy::unwrap_used)]
mod tests;

pub(crate) use affine::{Affine, Decision};
pub(crate) use dependence::Dependence;
pub(crate) use list::{Rows, best_over_list};
pub(crate) use prices::Moments;
pub use repair::Proved;
pub(crate) use repair::Repair;
pub(crate) use robust::Region;
pub use rule::Policy;
pub(crate) use solve::{Ended, Solved};
