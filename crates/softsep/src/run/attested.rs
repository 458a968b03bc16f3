//! What random draws say about one decision: how much of the set costs more than is thought, and what it likely costs
//! at most.

use serde::{Deserialize, Serialize};

/// What was attested of a decision and its value.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Attested {
    /// How much of the set may cost more than the value; assumes nothing.
    pub violation: Option<Violation>,
    /// An upper bound that holds with a probability, under what it assumes.
    pub likely: Option<Likely>,
    /// What else a reader should know, in words: why there is no statement, or what it would take.
    pub remarks: Vec<String>,
}

impl Attested {
    /// What is left of it once the decision is known to cost `value`, no less than was thought: of a larger value less
    /// of the set is above it, and a bound below it was false.
    pub(super) fn raised_to(&mut self, value: f64) {
        self.likely.take_if(|likely| likely.upper < value);
    }

    /// What is left of it beside a sure bound: what is likely at most, or why nothing is, is of no interest then.
    pub(super) fn beside_a_sure_bound(self) -> Self {
        Self { violation: self.violation, ..Self::default() }
    }
}

/// With probability `confidence` at least, at most the share `level` of the set, by `measure`, costs more than the
/// value. It says nothing about the worst case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Violation {
    /// The share.
    pub level: f64,
    /// The probability, over the run's own draws.
    pub confidence: f64,
    /// The measure in words.
    pub measure: String,
}

/// With probability `confidence` at least, if what is assumed holds, the decision costs at most `upper` in the worst
/// case.
#[derive(Debug, Clone, PartialEq)]
pub struct Likely {
    /// The bound on f(x) plus the worst recourse cost.
    pub upper: f64,
    /// The probability, over the run's own draws.
    pub confidence: f64,
    /// What it rests on.
    pub assumes: Vec<Assumption>,
}

/// A constant that a bound rests on. A run has names of its own; a result that was read from a file has a `String`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assumption<Name = &'static str> {
    /// Its name, as on the command line.
    pub name: Name,
    /// Its value.
    pub value: f64,
    /// Where it is from.
    pub source: Source,
}

impl Assumption {
    /// The same assumption with a name of its own, as result files have it.
    pub fn to_owned_name(&self) -> Assumption<String> {
        Assumption { name: self.name.to_owned(), value: self.value, source: self.source }
    }
}

/// Where a constant is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The user says so.
    Given,
    /// The run's own statistics. No bound of softsep rests on an estimate; the result of another program may.
    Estimated,
    /// It follows from the problem's data, or from constants that were given.
    Derived,
}
