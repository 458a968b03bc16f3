//! A run as a self-contained HTML page: no script, no network access, only system fonts. Text is escaped where it is
//! inserted ([`escape`]), and the page forbids loading and running anything, in case escaping fails.

mod axis;
mod chain;
mod chart;
mod convergence;
mod decision;
mod escape;
mod page;
mod run_details;
mod scenario;
mod sentences;
mod table;
mod verdict;

pub use escape::text as html_text;
pub use page::{HtmlReport, STYLE};
