//! Reports of results: summaries, log tables, traces, result files and HTML pages.

mod certificate;
mod diagnosis;
mod history;
mod html;
mod policy;
mod result;
mod summary;
mod table;
mod trace;

pub use certificate::certificate_in_words;
pub use diagnosis::diagnosis_summary;
pub use history::History;
pub use html::{HtmlReport, STYLE, html_text};
pub use policy::policy_file;
pub use result::result_file;
pub use summary::{evaluation_summary, solve_summary};
pub use table::Table;
pub use trace::{Trace, TraceFormat};
