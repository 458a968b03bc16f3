//! Master programs: first-stage decisions together with what stands for the worst case.

mod copies;
mod cut_master;
mod explain;
mod live;
mod lone;
mod master_problem;
mod project;
mod solve;

pub(crate) use copies::Copies;
pub(crate) use cut_master::{CutMaster, CutMasterOutcome};
pub(crate) use explain::{explain_infeasible, explain_unbounded};
pub(crate) use master_problem::MasterProblem;
pub(crate) use project::{Metric, Projection};
pub(crate) use solve::{Ended, Solved, Start};
