//! Recourse policies: y as a function of ξ, written down before ξ is known.
//!
//! Any policy that is feasible for all ξ bounds the worst case from above, at a fixed decision as well as jointly with one. Affine policies are
//! linear programs over polytopes and second-order cone programs over ellipsoids.

mod affine;
mod dependence;
mod robust;

pub(crate) use affine::{Affine, Decision, Ended, Solved};
pub(crate) use dependence::Dependence;
pub(crate) use robust::Region;
