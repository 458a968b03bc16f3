//! What a cell came to, as it is kept.

use serde::{Deserialize, Serialize};

/// A finished cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Finding {
    /// What was run, where and by which version; another one is another cell.
    pub(super) asked: String,
    /// Seconds that the cell took in all, judging included.
    pub(super) took: f64,
    /// What was found.
    #[serde(flatten)]
    pub(super) found: Found,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Found {
    /// Of a reference.
    Reference(Reference),
    /// Of a method.
    Run(Box<Measured>),
}

/// What gaps are measured from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Reference {
    /// A lower bound on the optimum that holds for sure.
    pub(super) lower: f64,
    /// What the best decision found costs, as the judge says.
    pub(super) value: f64,
    /// Whether the judge has asked every scenario.
    pub(super) is_exact: bool,
}

impl Reference {
    /// How far the optimum may be above the lower bound, relative to it.
    pub(super) fn width(self) -> f64 {
        (self.value - self.lower) / self.lower.abs()
    }

    /// How far a cost is above the lower bound. Rounding may put it a little below.
    pub(super) fn gap(self, cost: f64) -> f64 {
        ((cost - self.lower) / self.lower.abs()).max(0.0)
    }
}

/// A moment of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Moment {
    pub(super) seconds: f64,
    /// Recourse problems solved by the end of the iteration.
    pub(super) solves: u64,
}

/// How a run went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Measured {
    /// The gap of its first decision.
    pub(super) start: Option<f64>,
    /// When its decision first was within 0.1 % of the reference.
    pub(super) coarse: Option<Moment>,
    /// When within 0.01 %.
    pub(super) fine: Option<Moment>,
    /// When it had proved a gap of 0.1 % itself.
    pub(super) proved: Option<Moment>,
    /// Where it ended.
    pub(super) end: Moment,
    /// The gap of its last decision.
    pub(super) last: Option<f64>,
    /// How far the cost that it reports is above the reference: what affine rules give away.
    pub(super) reported: Option<f64>,
    /// Whether time was up before it was done.
    pub(super) is_over: bool,
    /// An upper bound that it certified with high probability, though its own decision costs more.
    pub(super) is_refuted: bool,
    /// For figures: iterations, and the gap of what would be returned after them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) path: Vec<(u64, f64)>,
}
