//! The parts of a problem as its author states them: names and numbers, nothing resolved or checked yet.
//!
//! A [`ProblemDefinition`](crate::ProblemDefinition) is made of these parts and of an uncertainty set
//! ([`SetDefinition`](crate::uncertainty::SetDefinition)); [`Problem::new`](crate::Problem::new) checks it. The module
//! also has the tools of every check: [`Complaints`], the limits of the solvers on numbers, and the checker of names,
//! terms and bounds.

mod check;
pub(crate) mod complaint;
mod cone;
mod first_stage;
mod limits;
mod nearest;
mod recourse;
mod row;
mod scenario_list;
mod terms;
mod variable;

pub(crate) use check::{DefinitionCheck, Index};
pub use complaint::{Complaint, Complaints};
pub(crate) use complaint::{item, one_line};
pub use cone::{ConeDefinition, ConeKind};
pub use first_stage::FirstStageDefinition;
pub(crate) use limits::{taken_for_infinite, too_large, too_small};
pub(crate) use nearest::nearest;
pub use recourse::RecourseDefinition;
pub use row::Row;
pub use scenario_list::ScenarioList;
pub use terms::{Quadratic, Terms};
pub use variable::{Variable, VariableKind};
