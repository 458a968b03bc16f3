//! Results for people and for programs.

mod result;
mod summary;
mod table;

pub use result::result_file;
pub use summary::{evaluation_summary, solve_summary};
pub use table::Table;
