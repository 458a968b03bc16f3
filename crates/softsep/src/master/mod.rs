//! Master programs: first-stage decisions together with what stands for the worst case.

mod copies;
mod explain;
mod growing;
mod live;
mod lone;
mod project;
mod solve;

pub(crate) use copies::Copies;
pub(crate) use explain::{explain_infeasible, explain_unbounded};
pub(crate) use growing::Growing;
pub(crate) use project::Projection;
pub(crate) use solve::{Ended, Solved, Start};
