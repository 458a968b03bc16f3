//! The validated problem: everything indexed, names kept aside.

mod answer;
mod cones;
mod convex;
mod cut;
mod definition;
mod describe;
mod elastic;
pub(crate) mod engine;
mod facts;
mod first_stage;
mod margin;
mod moreau;
mod names;
mod problem;
mod recourse;
mod scale;
mod scaling;
mod sparse;
mod square;

pub use definition::ProblemDefinition;
pub use first_stage::{Broken, FirstStage, Violation};
pub use names::Names;
pub use problem::Problem;
pub use recourse::{Cone, RecourseModel};
pub(crate) use scaling::Scaling;
pub use sparse::{Sparse, Symmetric};
pub(crate) use square::square_root;
