//! Who solves the instances: the paper's methods, and ours as we ship them.

use serde_json::{Map, Value, json};
use softsep::{Assumed, Certify, Wanted};

use super::study::{Row, Walk};

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// What gaps are measured from.
    Reference,
    /// Algorithm 1: one scenario per step, steps 1/√n, the linear average.
    Algorithm1,
    /// Algorithm 3: a tree with calls of uniform chains, certified under the paper's ρ.
    Algorithm3,
    /// Column-and-constraint generation.
    Ccg,
    /// Affine decision rules.
    Adr,
    /// Ours, for continuous decisions.
    Bundle,
    /// Ours, for mixed-integer ones.
    BranchAndCut,
}

/// The gap that methods are asked for. They are measured at [`COARSE`] and [`FINE`].
const ASKED: f64 = 1e-4;

/// The paper's goal: 0.1 %.
pub(super) const COARSE: f64 = 1e-3;

/// One that a good start does not meet already: 0.01 %.
pub(super) const FINE: f64 = 1e-4;

/// ρ of EC.3, which the paper takes for granted in all its experiments.
const RHO: f64 = 0.9;

/// The paper does not say how often a certificate may be false; its code allows one in ten.
const CONFIDENCE: f64 = 0.9;

impl Way {
    /// Its name in files.
    pub(super) fn name(self) -> &'static str {
        match self {
            Way::Reference => "reference",
            Way::Algorithm1 => "algorithm-1",
            Way::Algorithm3 => "algorithm-3",
            Way::Ccg => "ccg",
            Way::Adr => "adr",
            Way::Bundle => "bundle",
            Way::BranchAndCut => "branch-and-cut",
        }
    }

    /// Its name for people.
    pub(super) fn title(self) -> &'static str {
        match self {
            Way::Reference => "reference",
            Way::Algorithm1 => "Algorithm 1",
            Way::Algorithm3 => "Algorithm 3",
            Way::Ccg => "C&CG",
            Way::Adr => "ADR",
            Way::Bundle => "bundle",
            Way::BranchAndCut => "branch-and-cut",
        }
    }

    /// Its place among the three columns that the paper prints.
    pub(super) fn column(self) -> Option<usize> {
        match self {
            Way::Algorithm1 | Way::Algorithm3 => Some(0),
            Way::Ccg => Some(1),
            Way::Adr => Some(2),
            Way::Reference | Way::Bundle | Way::BranchAndCut => None,
        }
    }

    /// The method of softsep behind it, for a first stage with integers or without.
    pub(super) fn method(self, mixed_integer: bool) -> &'static str {
        match self {
            Way::Algorithm1 => "sgd",
            Way::Ccg => "ccg",
            Way::Adr => "adr",
            Way::Algorithm3 | Way::BranchAndCut => "branch-and-cut",
            Way::Bundle => "bundle",
            Way::Reference if mixed_integer => "branch-and-cut",
            Way::Reference => "bundle",
        }
    }

    /// Whether it goes on until somebody stops it.
    pub(super) fn is_endless(self) -> bool {
        self == Way::Algorithm1
    }

    /// The gap asked of it. Algorithm 3 ends at the paper's; a reference has to be closer than what it measures.
    pub(super) fn gap(self, mixed_integer: bool) -> f64 {
        match self {
            Way::Algorithm1 => 0.0,
            Way::Algorithm3 => COARSE,
            Way::Reference if mixed_integer => 1e-5,
            Way::Reference => 1e-6,
            _ => ASKED,
        }
    }

    /// The proof asked of it. What is measured is judged outside, so that only a certificate that the paper counts is
    /// paid for.
    pub(super) fn certify(self) -> Certify {
        match self {
            Way::Algorithm3 => Certify::Probabilistic(Wanted {
                confidence: CONFIDENCE,
                assumed: Assumed::Miss { rho: RHO },
                ..Wanted::default()
            }),
            Way::Algorithm1 | Way::Reference => Certify::None,
            _ => Certify::Free,
        }
    }

    /// The method's options.
    pub(super) fn options(self, row: &Row) -> Map<String, Value> {
        let options = match self {
            Way::Algorithm1 => {
                let Walk { proposal, temperature, kappa } = row.walk;
                let mut options = json!({
                    "steps": "sqrt", "step": 1, "average": "linear", "acceptance": "metropolis",
                    "proposal": proposal, "temperature": temperature,
                });
                if let Some(kappa) = kappa {
                    options["kappa"] = kappa.into();
                }
                options
            }
            Way::Algorithm3 => json!({"root": "sgd", "proposal": "uniform"}),
            _ => Value::Null,
        };
        options.as_object().cloned().unwrap_or_default()
    }

    /// The options of `softsep solve` that make the same run.
    pub(super) fn command_options(self, row: &Row) -> String {
        let mut line = format!("--method {} --gap {:e}", self.method(row.mixed_integer), self.gap(row.mixed_integer));
        for (name, value) in self.options(row) {
            line += &format!(" --{name} {}", value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        }
        match self.certify() {
            Certify::None => line += " --certify none",
            Certify::Probabilistic(_) => {
                line += &format!(" --certify probabilistic --assume rho={RHO} --confidence {CONFIDENCE}")
            }
            Certify::Free | Certify::Exact => {}
        }
        line
    }
}
