//! `--policy FILE`: the explicit rule of a decision, for `solve` and `evaluate`.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use softsep::report::policy_file;
use softsep::run::Interrupt;
use softsep::{Error, NoRule, Problem, explicit_rule};

use crate::exit::Failure;
use crate::output::Target;

/// The file to be written, checked before any work is done.
pub(crate) fn target(path: &Path, in_use: &[&Path]) -> Result<Target, Failure> {
    if path == Path::new("-") {
        return Err(Failure::unusable("--policy -: the standard output is for the result; name a file"));
    }
    Target::new(path, in_use)
}

/// Refuses a problem for which there are no rules.
pub(crate) fn check(problem: &Problem, file: &Path) -> Result<(), Failure> {
    NoRule::check(problem)
        .map_err(|reason| Failure::unusable(format!("{}: --policy: {reason}; or leave --policy out", file.display())))
}

/// What to write a rule for, and what that may take.
pub(crate) struct Wanted<'a> {
    pub(crate) problem: &'a Problem,
    /// The file of the problem.
    pub(crate) file: &'a Path,
    /// The decision, if there is one.
    pub(crate) x: Option<&'a [f64]>,
    /// How close the rule should come to the worst scenario met, relative to the cost.
    pub(crate) gap: f64,
    /// The time that is left.
    pub(crate) time_limit: Option<Duration>,
    pub(crate) threads: Option<usize>,
    pub(crate) interrupt: &'a Arc<AtomicBool>,
}

impl Wanted<'_> {
    /// Looks for a rule and writes it. Without one nothing is written, and the line says why.
    pub(crate) fn write(&self, target: &Target) -> Result<Option<String>, Failure> {
        let unwritten = |why: &str| Ok(Some(format!("policy: {why}; {} is not written", target.path().display())));
        let Some(x) = self.x else { return unwritten("there is no decision to write a rule for") };
        match explicit_rule(self.problem, x, self.gap, self.time_limit, self.threads, self.interrupt) {
            Ok(Some(rule)) => {
                let text = policy_file(self.problem, x, &rule).write();
                target.write(|file| file.write_all(text.as_bytes()))?;
                Ok(None)
            }
            Ok(None) => unwritten("no affine rule that has an answer to every ξ was found"),
            Err(Error::Interrupted(Interrupt::Interrupted)) => unwritten("interrupted before an affine rule was found"),
            Err(Error::Interrupted(stop)) => unwritten(&format!("{stop} before an affine rule was found")),
            Err(error) => Err(Failure::of(error, self.file)),
        }
    }
}
