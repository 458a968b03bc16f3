//! Recourse engines: the value of Q at (x, ξ), its slopes, and the cut that they prove.
//!
//! An engine is built once for a problem and solves many (x, ξ). It keeps its solver, its bases and its buffers.
//! CONTRIBUTING.md explains how to add one. Every engine passes [`crate::testing::check_engine`].

pub(crate) mod conic;
mod dual;
pub(crate) mod fixed;
pub(crate) mod linear;
mod program;

pub(crate) use conic::Conic;
pub(crate) use conic::{ConicProgram, ConicStatus};
pub(crate) use dual::{DualColumns, DualSet};
pub(crate) use fixed::Fixed;
pub(crate) use linear::recourse_basis;
pub(crate) use linear::{BasisPolicies, BasisPolicy, BasisResponse, Interval, Linear};
pub(crate) use program::{ProgramBuilder, merged};

use crate::model::Problem;
pub use crate::model::engine::{
    Answer, Cut, CutKind, EngineFactory, Outcome, Recourse, RecourseBasis, RecourseError, RecourseWork,
};
use crate::run::Clock;

/// Returns the engine for a problem: its own ([`Problem::with_engine`]), or the [built-in one](built_in_engine).
pub fn engine(problem: &Problem, clock: &Clock) -> Result<Box<dyn Recourse>, RecourseError> {
    match &problem.engine {
        Some(factory) => factory.build(problem, clock),
        None => built_in_engine(problem, clock),
    }
}

/// Returns the engine of this crate for the rows of a problem: simplex where the recourse is linear, interior point
/// where it is quadratic or conic, and row checks where it has no variables.
pub fn built_in_engine(problem: &Problem, clock: &Clock) -> Result<Box<dyn Recourse>, RecourseError> {
    let recourse = &problem.recourse;
    if recourse.dim() == 0 && recourse.cones.is_empty() {
        Ok(Box::new(Fixed::new(problem)?))
    } else if recourse.is_linear() && recourse.dim() > 0 {
        Ok(Box::new(Linear::new(problem, clock)?))
    } else {
        Ok(Box::new(Conic::new(problem, clock)?))
    }
}
