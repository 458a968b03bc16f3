//! Master problems: first-stage decisions together with scenario copies or cuts that bound the worst case from below.

mod cut_master;
mod dual_bound;
mod explain;
mod master_problem;
mod mixed_integer;
mod persistent;
mod projection;
mod recession;
mod scenario_copies;
mod single_copy;
mod solve;

pub(crate) use cut_master::{CutMaster, CutMasterOutcome};
pub(crate) use dual_bound::{confirmed, proved_objective};
pub(crate) use explain::{explain_infeasible, explain_unbounded};
pub(crate) use master_problem::MasterProblem;
pub(crate) use projection::{Metric, Projection};
pub(crate) use recession::Recession;
pub(crate) use scenario_copies::ScenarioCopies;
pub(crate) use solve::{MasterSolution, MasterStart, MasterStatus};
