//! What methods with soft separation share: chains that look for scenarios, the cuts that these prove, and how a run
//! ends.

mod end;
mod evidence;
mod hunt;
mod memory;
mod metric;
mod oracle;
mod scope;
mod settings;
mod walk;

pub(super) use end::End;
pub(super) use evidence::{Evidence, Learned, Teacher, tellable};
pub(super) use hunt::{Enough, Explorer, Hunt};
pub(super) use memory::Memory;
pub(super) use metric::Metric;
pub(super) use oracle::Oracle;
pub(super) use scope::{accepts, accepts_states, promise, space};
pub(super) use settings::{ChainSettings, Choice, Score, Temperature, chains};
pub(super) use walk::{Walk, states};
