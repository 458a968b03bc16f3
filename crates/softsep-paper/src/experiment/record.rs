//! The record of a cell, as a file keeps it. Names of fields are those of files that earlier versions wrote.

use serde::{Deserialize, Serialize};

use super::clock::Elapsed;

/// A finished cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct CellRecord {
    /// Everything that the result depends on. A record with another key is of another cell.
    #[serde(rename = "asked")]
    pub(super) key: String,
    /// Seconds of the whole cell, assessment included.
    #[serde(rename = "took")]
    pub(super) seconds: f64,
    /// The machine that ran it. Not a part of the key: results of several machines may stand in one table.
    pub(super) machine: String,
    /// The result.
    #[serde(flatten)]
    pub(super) result: CellResult,
}

/// The result of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CellResult {
    /// A reference run.
    Reference(Reference),
    /// A run of a method.
    Run(Box<Measurement>),
}

/// The bounds on the optimum that gaps are measured from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Reference {
    /// A proved lower bound on the optimum.
    pub(super) lower: f64,
    /// The cost of the best decision found, by the assessor.
    pub(super) value: f64,
    /// Whether the assessor evaluates every scenario.
    pub(super) is_exact: bool,
}

impl Reference {
    /// The largest distance of the optimum from the lower bound, relative to it.
    pub(super) fn width(self) -> f64 {
        (self.value - self.lower) / self.lower.abs()
    }

    /// The cost that has this gap.
    pub(super) fn level(self, gap: f64) -> f64 {
        self.lower + gap * self.lower.abs()
    }

    /// The gap of a cost to the lower bound, relative to it; 0 where rounding puts the cost below.
    pub(super) fn gap(self, cost: f64) -> f64 {
        ((cost - self.lower) / self.lower.abs()).max(0.0)
    }
}

/// The effort of a run up to an event.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Effort {
    /// Wall-clock seconds.
    pub(super) seconds: f64,
    /// CPU seconds of the process, where the system tells them.
    #[serde(default)]
    pub(super) cpu_seconds: Option<f64>,
    /// Recourse problems solved by the end of the iteration.
    pub(super) solves: u64,
}

impl Effort {
    pub(super) fn new(elapsed: Elapsed, solves: u64) -> Self {
        Self { seconds: elapsed.wall, cpu_seconds: elapsed.cpu, solves }
    }
}

/// The measurements of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Measurement {
    /// The gap of its first incumbent.
    pub(super) start: Option<f64>,
    /// The effort until its incumbent was first within 0.1 % of the reference.
    pub(super) coarse: Option<Effort>,
    /// The same for 0.01 %.
    pub(super) fine: Option<Effort>,
    /// The effort until it had proved a gap of 0.1 % itself.
    pub(super) proved: Option<Effort>,
    /// The effort of the whole run.
    pub(super) end: Effort,
    /// The gap of its last incumbent.
    pub(super) last: Option<f64>,
    /// The gap of the cost that it reports. For affine decision rules this is the loss of the rules.
    pub(super) reported: Option<f64>,
    /// Whether the time limit stopped it.
    pub(super) is_over: bool,
    /// Whether it certified an upper bound with high probability, under assumptions; records of earlier versions do not
    /// say.
    #[serde(default)]
    pub(super) is_likely: Option<bool>,
    /// Whether the cost of its own incumbent exceeds that bound.
    pub(super) is_refuted: bool,
    /// For figures: iterations, and the gap of the incumbent after them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) path: Vec<(u64, f64)>,
}
