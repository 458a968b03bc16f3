//! The result of a model, by handle or by name.

use std::ops::Index;

use super::expression::Handle;
use super::{FirstStageVar, HandleKind, RecourseVar, UncertainParam};
use crate::model::Problem;
use crate::outcome::{Outcome, Status};

/// A variable or parameter of a model: by its handle, or by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Key<'n> {
    /// A first-stage variable.
    FirstStage(FirstStageVar),
    /// An uncertain parameter.
    Uncertain(UncertainParam),
    /// A recourse variable.
    Recourse(RecourseVar),
    /// The first variable or parameter of this name: of the first stage, else of ξ, else of the recourse.
    Name(&'n str),
}

impl Key<'_> {
    pub(super) fn handle(self) -> Option<(HandleKind, Handle)> {
        match self {
            Key::FirstStage(variable) => Some((HandleKind::FirstStage, variable.0)),
            Key::Uncertain(parameter) => Some((HandleKind::Uncertain, parameter.0)),
            Key::Recourse(variable) => Some((HandleKind::Recourse, variable.0)),
            Key::Name(_) => None,
        }
    }
}

impl From<FirstStageVar> for Key<'_> {
    fn from(variable: FirstStageVar) -> Self {
        Key::FirstStage(variable)
    }
}

impl From<UncertainParam> for Key<'_> {
    fn from(parameter: UncertainParam) -> Self {
        Key::Uncertain(parameter)
    }
}

impl From<RecourseVar> for Key<'_> {
    fn from(variable: RecourseVar) -> Self {
        Key::Recourse(variable)
    }
}

impl<'n> From<&'n str> for Key<'n> {
    fn from(name: &'n str) -> Self {
        Key::Name(name)
    }
}

/// The result of [`Model::solve`](crate::Model::solve): the outcome of the run, by handles and names.
///
/// `solution[capacity]` is the value of a first-stage variable in the decision found, of an uncertain parameter in its
/// worst case, or of a recourse variable in the optimal recourse to that. [`value`](Self::value) is the same without a
/// panic.
#[derive(Debug, Clone)]
pub struct Solution {
    pub(super) model: u32,
    pub(super) problem: Problem,
    pub(super) outcome: Outcome,
}

impl Solution {
    /// The kind of result: an optimum, a decision, a proof that there is none, or nothing.
    pub fn status(&self) -> Status {
        self.outcome.status
    }

    /// The cost of the decision at its worst scenario found; `None` without a decision.
    pub fn objective(&self) -> Option<f64> {
        self.outcome.objective()
    }

    /// A value by handle or name; `None` without a decision, or for a variable of another model.
    pub fn value<'k>(&self, key: impl Into<Key<'k>>) -> Option<f64> {
        self.find(key.into()).copied()
    }

    /// The whole result: bounds, certificate, counters.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// The checked problem, for [`evaluate`](crate::evaluate()) and [`explicit_policy`](crate::explicit_policy).
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    fn find(&self, key: Key) -> Option<&f64> {
        let (family, index) = match (key, key.handle()) {
            (Key::Name(name), _) => return self.outcome.find(&self.problem, name),
            (_, Some((family, handle))) if handle.model == self.model => (family, handle.index as usize),
            _ => return None,
        };
        match family {
            HandleKind::FirstStage => self.outcome.x()?.get(index),
            HandleKind::Uncertain => self.outcome.worst_case.as_ref()?.xi.get(index),
            HandleKind::Recourse => self.outcome.worst_case.as_ref()?.y.get(index),
        }
    }
}

impl<'k, K: Into<Key<'k>>> Index<K> for Solution {
    type Output = f64;

    /// # Panics
    ///
    /// If [`value`](Solution::value) is `None`.
    #[track_caller]
    #[allow(clippy::panic)]
    fn index(&self, key: K) -> &f64 {
        let key = key.into();
        self.find(key).unwrap_or_else(|| panic!("no value of {key:?}: the run ended as {:?}", self.outcome.status))
    }
}
