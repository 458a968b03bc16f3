//! What a user may ask of a run.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::error::Error;

/// How much of a proof to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Certify {
    /// The strongest that the method gives for free.
    #[default]
    Free,
    /// A proved upper bound.
    Exact,
    /// No upper bound: the objective stays an estimate.
    None,
}

/// Settings that every method shares, and the options of the one that is chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// A name of [`methods`](crate::methods::METHODS), or `auto`.
    pub method: String,
    /// The relative gap at which to stop.
    pub gap: f64,
    /// Time for everything, sub-solvers included.
    pub time_limit: Option<Duration>,
    /// Iterations of the method.
    pub iterations: Option<u64>,
    /// The seed of every random choice.
    pub seed: u64,
    /// Threads; `None` for all. The result does not depend on it.
    pub threads: Option<usize>,
    /// The proof to look for.
    pub certify: Certify,
    /// The method's own options, by name.
    pub options: Map<String, Value>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            method: "auto".into(),
            gap: 1e-3,
            time_limit: None,
            iterations: None,
            seed: 1,
            threads: None,
            certify: Certify::Free,
            options: Map::new(),
        }
    }
}

impl Settings {
    /// Refuses what makes no sense.
    pub fn validate(&self) -> Result<(), Error> {
        if !(self.gap.is_finite() && self.gap >= 0.0) {
            return Err(Error::Settings(format!("the gap must be a number that is not negative, not {}", self.gap)));
        }
        if self.threads == Some(0) {
            return Err(Error::Settings("the number of threads must be at least 1".into()));
        }
        if self.iterations == Some(0) {
            return Err(Error::Settings("the number of iterations must be at least 1".into()));
        }
        Ok(())
    }
}
