//! The settings of a run.

use std::time::Duration;

use crate::certify::Certify;
use crate::error::Error;
use crate::methods::MethodSettings;

/// Settings of a run: the method with its own settings, and the settings of all methods.
///
/// ```
/// use std::time::Duration;
/// use softsep::methods::BundleSettings;
/// use softsep::{Certify, Settings};
///
/// let settings = Settings::default().gap(1e-6).time_limit(Duration::from_secs(60)).certify(Certify::Exact);
/// let bundle = settings.method(BundleSettings::default().with_chains(4));
/// // Fields are public, so that struct update works as well. That is why the struct is exhaustive.
/// let seeded = Settings { seed: 7, ..bundle };
/// # assert_eq!(seeded.method.name(), "bundle");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The method and its own settings.
    pub method: MethodSettings,
    /// The relative gap at which to stop: (upper − lower) / |upper|.
    pub gap: f64,
    /// Time for everything, sub-solvers included.
    pub time_limit: Option<Duration>,
    /// The largest number of iterations of the method.
    pub iterations: Option<u64>,
    /// The seed of every random choice.
    pub seed: u64,
    /// Threads; `None` for all. The result does not depend on it.
    pub threads: Option<usize>,
    /// The proof to look for.
    pub certify: Certify,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            method: MethodSettings::Auto,
            gap: 1e-3,
            time_limit: None,
            iterations: None,
            seed: 1,
            threads: None,
            certify: Certify::Free,
        }
    }
}

impl Settings {
    /// The same settings with another method, as `MethodSettings::Ccg(..)` or the settings of a method.
    pub fn method(self, method: impl Into<MethodSettings>) -> Self {
        Self { method: method.into(), ..self }
    }

    /// The same settings with another gap.
    pub fn gap(self, gap: f64) -> Self {
        Self { gap, ..self }
    }

    /// The same settings with a time limit.
    pub fn time_limit(self, limit: Duration) -> Self {
        Self { time_limit: Some(limit), ..self }
    }

    /// The same settings with a limit on the iterations of the method.
    pub fn iterations(self, limit: u64) -> Self {
        Self { iterations: Some(limit), ..self }
    }

    /// The same settings with another seed.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The same settings on so many threads.
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: Some(threads), ..self }
    }

    /// The same settings with another proof to look for.
    pub fn certify(self, certify: Certify) -> Self {
        Self { certify, ..self }
    }

    /// Checks the settings; the error names the first invalid one.
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
        self.method.validate()?;
        match &self.certify {
            Certify::Probabilistic(wanted) => wanted.validate(),
            _ => Ok(()),
        }
    }
}
