//! A run as one page of HTML that needs nothing else: no script, no network, no font but the reader's own. Text is
//! escaped where it is put in ([`escape`]), and the page forbids itself to load or run anything, should that ever fail.

mod again;
mod axis;
mod chain;
mod chart;
mod convergence;
mod decision;
mod escape;
mod page;
mod scenario;
mod table;
mod verdict;
mod words;

pub use escape::text as html_text;
pub use page::{HtmlReport, STYLE};
