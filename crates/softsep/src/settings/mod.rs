//! The settings of a run, and the limits of the other calls.

mod solver;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::certify::Certify;
use crate::error::Error;
use crate::methods::MethodSettings;
use crate::run::Clock;
pub use solver::Solver;

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
    /// The kind of upper bound to prove.
    pub certify: Certify,
    /// The solver of mixed-integer masters and separations.
    pub solver: Solver,
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
            solver: Solver::Highs,
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

    /// The same settings with a number of threads.
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: Some(threads), ..self }
    }

    /// The same settings with another kind of upper bound to prove.
    pub fn certify(self, certify: Certify) -> Self {
        Self { certify, ..self }
    }

    /// The same settings with another solver of mixed-integer masters and separations.
    pub fn solver(self, solver: Solver) -> Self {
        Self { solver, ..self }
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

/// Limits of a call that is no run: [`evaluate`](crate::evaluate()) and [`explicit_policy`](crate::explicit_policy).
///
/// ```
/// use std::time::Duration;
/// use softsep::CallLimits;
///
/// let limits = CallLimits::default().time_limit(Duration::from_secs(60)).threads(1);
/// ```
#[derive(Debug, Clone, Default)]
pub struct CallLimits {
    /// Time for everything, sub-solvers included.
    pub time_limit: Option<Duration>,
    /// Threads; `None` for all. The result does not depend on it.
    pub threads: Option<usize>,
    /// Raising it ends the call soon.
    pub interrupt: Arc<AtomicBool>,
}

impl CallLimits {
    /// The same limits with a time limit.
    pub fn time_limit(self, limit: Duration) -> Self {
        Self { time_limit: Some(limit), ..self }
    }

    /// The same limits with a number of threads.
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: Some(threads), ..self }
    }

    /// The same limits with a flag that ends the call when it is raised.
    pub fn interrupt(self, interrupt: &Arc<AtomicBool>) -> Self {
        Self { interrupt: Arc::clone(interrupt), ..self }
    }

    /// The clock of a call that begins now.
    pub(crate) fn clock(&self) -> Clock {
        Clock::new(self.time_limit, Arc::clone(&self.interrupt))
    }
}
