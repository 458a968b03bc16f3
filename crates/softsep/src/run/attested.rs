//! Statements about a decision by random draws: the share of the set that costs more than its value, and a
//! probabilistic upper bound.

use serde::{Deserialize, Serialize};

/// The statements about a decision and its value.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Attested {
    /// The share of the set that may cost more than the value; without assumptions.
    pub violation: Option<ViolationLevel>,
    /// An upper bound that holds with a probability, under its assumptions.
    pub likely: Option<ProbabilisticBound>,
    /// An upper bound that was certified with a probability, and that the cost in a scenario of the run exceeds.
    pub withdrawn: Option<f64>,
    /// Remarks in words: why a statement is missing, or the number of draws that it would need.
    pub remarks: Vec<String>,
}

impl Attested {
    /// Keeps the statements that hold for a larger value of the decision: a smaller share of the set is above it, and a
    /// bound below it was false.
    pub(super) fn raised_to(&mut self, value: f64) {
        if let Some(likely) = self.likely.take_if(|likely| likely.upper < value) {
            self.withdrawn = Some(likely.upper);
        }
    }

    /// Drops the probabilistic bound and the remarks, which a proved bound replaces.
    pub(super) fn beside_a_sure_bound(self) -> Self {
        Self { violation: self.violation, ..Self::default() }
    }
}

/// With probability at least `confidence`, at most the share `level` of the set, by `measure`, costs more than the
/// value. That is no statement about the worst case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViolationLevel {
    /// The share.
    pub level: f64,
    /// The probability, over the run's own draws.
    pub confidence: f64,
    /// The measure in words.
    pub measure: String,
}

/// With probability at least `confidence`, if the assumptions hold, the worst-case cost of the decision is at most
/// `upper`.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbabilisticBound {
    /// The bound on f(x) plus the worst recourse cost.
    pub upper: f64,
    /// The probability, over the run's own draws.
    pub confidence: f64,
    /// The assumptions.
    pub assumes: Vec<Assumption>,
}

/// A constant that a bound assumes. Its name is a literal in a run, and a `String` in a result read from a file.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assumption<Name = &'static str> {
    /// Its name, as on the command line.
    pub name: Name,
    /// Its value.
    pub value: f64,
    /// Its source.
    pub source: Source,
}

impl Assumption {
    /// Returns the assumption with an owned name, as in result files.
    pub fn to_owned_name(&self) -> Assumption<String> {
        Assumption { name: self.name.to_owned(), value: self.value, source: self.source }
    }
}

/// The source of a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Source {
    /// Given by the user.
    Given,
    /// Estimated from statistics of the run. No bound of softsep assumes an estimate; the result of another program
    /// may.
    Estimated,
    /// Derived from the problem's data, or from given constants.
    Derived,
}
