//! Master problems: first-stage decisions together with scenario copies or cuts that bound the worst case from below.

mod explain;
mod growing;
mod persistent;
mod projection;
mod scenario_copies;
mod single_copy;
mod solve;

pub(crate) use explain::{explain_infeasible, explain_unbounded};
pub(crate) use growing::Growing;
pub(crate) use projection::Projection;
pub(crate) use scenario_copies::ScenarioCopies;
pub(crate) use solve::{MasterSolution, MasterStart, MasterStatus};
