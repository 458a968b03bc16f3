//! What random draws say about one decision: how much of the set costs more than is thought, and what it likely costs
//! at most.

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
#[derive(Debug, Clone, PartialEq)]
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

/// A constant that a bound rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Assumption {
    /// Its name, as on the command line.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
    /// Where it is from.
    pub source: Source,
}

/// Where a constant is from. An estimated one bounds nothing, and is none of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The user says so.
    Given,
    /// It follows from the problem's data, or from constants that were given.
    Derived,
}
