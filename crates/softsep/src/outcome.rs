//! The result of a run, by index; the `report` layer puts names to it.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::model::Problem;
use crate::run::{Bounds, RecourseEvidence, Stop, Verdict};

/// The result of [`solve`](crate::solve).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// The status of the result.
    pub status: Status,
    /// Why it ended.
    pub stop: Stop,
    /// The failure that ended it, for [`Stop::Failed`].
    pub failure: Option<Error>,
    /// The bounds and the best decision.
    pub bounds: Bounds,
    /// The recourse at the best decision and its worst scenario.
    pub worst_case: Option<WorstCase>,
    /// Whether every scenario has recourse at the best decision.
    pub recourse: RecourseEvidence,
    /// The proof, for a problem that has no optimum.
    pub verdict: Option<Verdict>,
    /// The method that did the work.
    pub method: &'static str,
    /// The seed.
    pub seed: u64,
    /// Iterations of the method.
    pub iterations: u64,
    /// Recourse problems solved.
    pub recourse_solves: u64,
    /// Exact separations, each a proof over the entire set.
    pub exact_separations: u64,
    /// Wall-clock time; the only field that two equal runs differ in.
    pub seconds: f64,
}

impl Outcome {
    /// The decision; `None` if the run has found none.
    pub fn x(&self) -> Option<&[f64]> {
        self.bounds.best().map(|best| best.x.as_slice())
    }

    /// The cost of the decision at its worst scenario found, f(x) included; `None` without a decision, and for one that
    /// was never separated.
    pub fn objective(&self) -> Option<f64> {
        self.bounds.objective()
    }

    /// The value that a variable or parameter of `problem` has here, by name: of the decision, else of its worst case,
    /// else of the recourse to that.
    pub fn value(&self, problem: &Problem, name: &str) -> Option<f64> {
        self.find(problem, name).copied()
    }

    pub(crate) fn find(&self, problem: &Problem, name: &str) -> Option<&f64> {
        let position = |names: &[String]| names.iter().position(|known| known == name);
        let worst_case = self.worst_case.as_ref();
        if let Some(index) = position(&problem.names.first) {
            return self.x()?.get(index);
        }
        match position(&problem.names.parameters) {
            Some(index) => worst_case?.xi.get(index),
            None => worst_case?.y.get(position(&problem.names.recourse)?),
        }
    }
}

/// The status of a result. [`Stop`] is the reason why the run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// A decision within the gap asked for.
    Optimal,
    /// A decision; the gap is not met.
    Feasible,
    /// A proof that there is none.
    Infeasible,
    /// A proof that the cost has no bound from below.
    Unbounded,
    /// No decision, or one that was never separated, of which only the nominal cost is known.
    Unknown,
}

/// A scenario and the recourse to it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct WorstCase {
    /// The scenario.
    pub xi: Vec<f64>,
    /// Q there.
    pub cost: f64,
    /// The optimal recourse; empty where it could not be computed.
    pub y: Vec<f64>,
}
