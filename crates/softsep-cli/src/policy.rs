//! `--policy FILE`: the explicit policy of a decision, for `solve` and `evaluate`.

use std::io::Write;
use std::path::Path;

use softsep::report::policy_file;
use softsep::run::Interrupt;
use softsep::{CallLimits, Error, NoPolicy, Problem, explicit_policy};

use crate::exit::Failure;
use crate::output::OutputFile;

/// The file to be written, checked before any work is done.
pub(crate) fn target(path: &Path, in_use: &[&Path]) -> Result<OutputFile, Failure> {
    if path == Path::new("-") {
        return Err(Failure::unusable("--policy -: the standard output is for the result; name a file"));
    }
    OutputFile::new(path, in_use)
}

/// Errs for a problem without affine policies.
pub(crate) fn check(problem: &Problem, file: &Path) -> Result<(), Failure> {
    NoPolicy::check(problem)
        .map_err(|reason| Failure::unusable(format!("{}: --policy: {reason}; or leave --policy out", file.display())))
}

/// A request for a policy.
pub(crate) struct PolicyRequest<'a> {
    pub(crate) problem: &'a Problem,
    /// The file of the problem.
    pub(crate) file: &'a Path,
    /// The decision, if there is one.
    pub(crate) x: Option<&'a [f64]>,
    /// The gap between the policy and the worst scenario found, relative to the cost, at which its search ends.
    pub(crate) gap: f64,
    /// The threads, and the time that is left.
    pub(crate) limits: CallLimits,
}

impl PolicyRequest<'_> {
    /// Finds a policy and writes it. Without one nothing is written, and the line returned gives the reason.
    pub(crate) fn write(&self, target: &OutputFile) -> Result<Option<String>, Failure> {
        let unwritten = |why: &str| Ok(Some(format!("policy: {why}; {} is not written", target.path().display())));
        let Some(x) = self.x else { return unwritten("there is no decision to write a policy for") };
        match explicit_policy(self.problem, x, self.gap, &self.limits) {
            Ok(Some(policy)) => {
                let text = policy_file(self.problem, x, &policy).write();
                target.write(|file| file.write_all(text.as_bytes()))?;
                Ok(None)
            }
            Ok(None) => unwritten("no affine policy that has an answer to every ξ was found"),
            Err(Error::Interrupted(Interrupt::Interrupted)) => {
                unwritten("interrupted before an affine policy was found")
            }
            Err(Error::Interrupted(stop)) => unwritten(&format!("{stop} before an affine policy was found")),
            Err(error) => Err(Failure::of(error, self.file)),
        }
    }
}
