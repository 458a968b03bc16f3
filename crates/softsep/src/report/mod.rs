//! Reports of results: summaries, log tables, traces, result files and HTML pages.
//!
//! ```
//! use softsep::report::{result_file, solve_summary};
//! use softsep::{Model, Settings};
//!
//! let mut m = Model::new("order");
//! let order = m.first_stage("order", 0.0..);
//! let demand = m.uncertain("demand", 10.0..=30.0);
//! m.minimize(5.0 * order + 0.0);
//! m.add("cover", order.ge(demand));
//! let problem = m.problem()?;
//! let outcome = softsep::solve(&problem, &Settings::default())?;
//! println!("{}", solve_summary(&problem, &outcome));
//! assert_eq!(result_file(&problem, &outcome).objective, Some(150.0));
//! # Ok::<(), softsep::Error>(())
//! ```

mod certificate;
pub(crate) mod diagnosis;
mod history;
pub(crate) mod html;
mod policy;
mod result;
mod summary;
mod table;
mod trace;

pub use crate::format::{
    CertificateFile, InfeasibleFile, NamedValues, PolicyFile, ResultFile, ResultFormat, VariablePolicy, WorstCaseFile,
};
pub use certificate::certificate_in_words;
pub use history::History;
pub use html::HtmlReport;
pub use policy::policy_file;
pub use result::result_file;
pub use summary::{evaluation_summary, solve_summary};
pub use table::Table;
pub use trace::{Trace, TraceFormat};
