//! Recourse policies: y as a function of ξ, fixed before ξ is known.
//!
//! Any policy that is feasible for all ξ bounds the worst case from above, for a fixed decision as well as jointly with
//! one. The best affine policy is a linear program over polytopes and a second-order cone program over ellipsoids. For
//! a recourse with cones or a quadratic cost, it is bounded from above by cone programs.

mod affine_policy;
mod cones;
mod coordinates;
mod dependence;
mod list;
mod outer_approximation;
mod program;
mod reduced_measures;
mod repair;
mod robust;
mod solve;
mod support;
#[cfg(all(test, feature = "testing"))]
#[allow(clippy::unwrap_used)]
mod tests;
mod tightening;

pub use affine_policy::AffinePolicy;
pub(crate) use dependence::Dependence;
pub(crate) use list::{ScenarioConstraints, best_policy_over_list};
pub(crate) use program::{Decision, PolicyProgram};
pub(crate) use reduced_measures::ReducedMeasures;
pub(crate) use repair::ProvenPolicy;
pub(crate) use repair::Repair;
pub(crate) use robust::PolicyRegion;
pub(crate) use solve::{PolicySolution, PolicyStatus};
pub(crate) use tightening::{ConstraintMargins, MAX_TIGHTENINGS, Miss};
