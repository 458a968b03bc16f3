//! Recourse engines: the value of Q at (x, ξ), its slopes, and the cut that they prove.
//!
//! An engine is built once for a problem and solves many (x, ξ). It keeps its solver, its bases and its buffers.
//! CONTRIBUTING.md explains how to add one. Every engine passes [`crate::testing::check_engine`].

mod complete;
pub(crate) mod conic;
mod dual;
mod dual_choice;
pub(crate) mod fixed;
pub(crate) mod linear;
mod program;
mod tangents;

pub(crate) use complete::absorbs_scenarios;
pub(crate) use conic::Conic;
pub(crate) use conic::{ConicProgram, ConicStatus};
pub(crate) use dual::{DualColumns, DualSet};
pub use dual_choice::DualChoice;
pub(crate) use fixed::Fixed;
pub(crate) use linear::recourse_basis;
pub(crate) use linear::{BasisPolicies, BasisPolicy, BasisResponse, Interval, Linear, SimplexRung};
pub(crate) use linear::{climb_ladder, is_definite};
pub(crate) use program::{ElasticModel, ProgramBuilder, merged};
pub(crate) use tangents::{TangentCone, TangentProgram};

use crate::model::Problem;
pub use crate::model::engine::{
    Answer, Cut, CutKind, EngineFactory, Recourse, RecourseBasis, RecourseError, RecourseOutcome, RecourseWork,
};
use crate::run::Clock;

/// Returns the engine for a problem: its own ([`Problem::with_engine`]), or the [built-in one](built_in_engine).
pub fn engine(problem: &Problem, clock: &Clock) -> Result<Box<dyn Recourse>, RecourseError> {
    engine_with(problem, DualChoice::Any, clock)
}

/// Returns the engine for a problem as [`engine`] does, with a choice among optimal duals. Recourse without variables
/// has a single one. Refused where the problem brings its own engine, which reports the dual that it finds.
pub fn engine_with(problem: &Problem, dual: DualChoice, clock: &Clock) -> Result<Box<dyn Recourse>, RecourseError> {
    match (&problem.engine, dual) {
        (Some(factory), DualChoice::Any) => factory.build(problem, clock),
        (Some(_), _) => Err(RecourseError::Unsupported(format!(
            "the problem has a recourse engine of its own, which cannot be asked for the dual \"{dual}\"; ask for any"
        ))),
        (None, _) => built_in(problem, dual, clock),
    }
}

/// Returns the engine of this crate for the rows of a problem: simplex where the recourse is linear, interior point
/// where it is quadratic or conic, and row checks where it has no variables.
pub fn built_in_engine(problem: &Problem, clock: &Clock) -> Result<Box<dyn Recourse>, RecourseError> {
    built_in(problem, DualChoice::Any, clock)
}

fn built_in(problem: &Problem, dual: DualChoice, clock: &Clock) -> Result<Box<dyn Recourse>, RecourseError> {
    let recourse = &problem.recourse;
    if recourse.dim() == 0 && recourse.cones.is_empty() {
        Ok(Box::new(Fixed::new(problem)?))
    } else if recourse.is_linear() && recourse.dim() > 0 {
        Ok(Box::new(Linear::new(problem, clock)?.with_dual(dual)?))
    } else {
        Ok(Box::new(Conic::new(problem, clock)?.with_dual(dual)))
    }
}
