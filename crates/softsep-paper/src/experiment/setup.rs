//! The methods of the experiments with their options: the paper's, and ours with default options.

use serde_json::{Map, Value, json};
use softsep::{Assumed, Certify, ProbabilisticTarget};

use crate::instances::Uncertain;

use super::study::{ChainSetup, StudyRow};

/// A method with its options: a column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MethodSetup {
    /// The method that finds the bounds from which gaps are measured.
    Reference,
    /// Algorithm 1: one scenario per step, steps 1/√n, the linear average.
    Algorithm1,
    /// Algorithm 3 as printed: calls of uniform chains find cuts and certify, under the paper's ρ and ε_cert.
    Algorithm3,
    /// Column-and-constraint generation with the separation that the paper describes for the set.
    CcgPaper,
    /// Column-and-constraint generation with our separation.
    Ccg,
    /// Affine decision rules.
    Adr,
    /// Our method for continuous decisions.
    Bundle,
    /// Our method for mixed-integer decisions.
    BranchAndCut,
}

/// The gap that methods have to reach. They are measured at [`COARSE`] and [`FINE`].
const ASKED: f64 = 1e-4;

/// The paper's goal: 0.1 %.
pub(super) const COARSE: f64 = 1e-3;

/// A goal that a good start does not meet already: 0.01 %.
pub(super) const FINE: f64 = 1e-4;

/// ρ of EC.3, which the paper assumes in all its experiments.
const RHO: f64 = 0.9;

/// ε_cert of EC.3, in units of cost.
const EPSILON_CERT: f64 = 100.0;

/// The paper does not say how often a certificate may be false; its code allows one in ten.
const CONFIDENCE: f64 = 0.9;

impl MethodSetup {
    /// Its name in files.
    pub(super) fn name(self) -> &'static str {
        match self {
            MethodSetup::Reference => "reference",
            MethodSetup::Algorithm1 => "algorithm-1",
            MethodSetup::Algorithm3 => "algorithm-3",
            MethodSetup::CcgPaper => "ccg-paper",
            MethodSetup::Ccg => "ccg",
            MethodSetup::Adr => "adr",
            MethodSetup::Bundle => "bundle",
            MethodSetup::BranchAndCut => "branch-and-cut",
        }
    }

    /// Its readable name.
    pub(super) fn title(self) -> &'static str {
        match self {
            MethodSetup::Reference => "reference",
            MethodSetup::Algorithm1 => "Algorithm 1",
            MethodSetup::Algorithm3 => "Algorithm 3",
            MethodSetup::CcgPaper => "C&CG, paper's separation",
            MethodSetup::Ccg => "C&CG, our separation",
            MethodSetup::Adr => "ADR",
            MethodSetup::Bundle => "bundle",
            MethodSetup::BranchAndCut => "branch-and-cut",
        }
    }

    /// Its index among the three columns that the paper prints.
    pub(super) fn column(self) -> Option<usize> {
        match self {
            MethodSetup::Algorithm1 | MethodSetup::Algorithm3 => Some(0),
            MethodSetup::CcgPaper | MethodSetup::Ccg => Some(1),
            MethodSetup::Adr => Some(2),
            MethodSetup::Reference | MethodSetup::Bundle | MethodSetup::BranchAndCut => None,
        }
    }

    /// The method of softsep behind it, for a first stage with integers or without.
    pub(super) fn method(self, mixed_integer: bool) -> &'static str {
        match self {
            MethodSetup::Algorithm1 => "sgd",
            MethodSetup::CcgPaper | MethodSetup::Ccg => "ccg",
            MethodSetup::Adr => "adr",
            MethodSetup::Algorithm3 | MethodSetup::BranchAndCut => "branch-and-cut",
            MethodSetup::Bundle => "bundle",
            MethodSetup::Reference if mixed_integer => "branch-and-cut",
            MethodSetup::Reference => "bundle",
        }
    }

    /// Whether it runs until it is stopped from outside.
    pub(super) fn is_endless(self) -> bool {
        self == MethodSetup::Algorithm1
    }

    /// Its gap. Algorithm 3 ends at the paper's; a reference has to be closer than the gaps that it measures.
    pub(super) fn gap(self, mixed_integer: bool) -> f64 {
        match self {
            MethodSetup::Algorithm1 => 0.0,
            MethodSetup::Algorithm3 => COARSE,
            MethodSetup::Reference if mixed_integer => 1e-5,
            MethodSetup::Reference => 1e-6,
            _ => ASKED,
        }
    }

    /// Its certification. Incumbents are assessed from outside, so that a method spends time only on a certificate that
    /// the paper's times include.
    pub(super) fn certify(self) -> Certify {
        match self {
            MethodSetup::Algorithm3 => Certify::Probabilistic(ProbabilisticTarget {
                confidence: CONFIDENCE,
                assumed: Assumed::Miss { rho: RHO },
                ..ProbabilisticTarget::default()
            }),
            MethodSetup::Algorithm1 | MethodSetup::Reference => Certify::None,
            _ => Certify::Free,
        }
    }

    /// The method's options.
    pub(super) fn options(self, row: &StudyRow) -> Map<String, Value> {
        let options = match self {
            MethodSetup::Algorithm1 => algorithm_1(row.chain),
            MethodSetup::Algorithm3 => json!({"preset": "paper", "epsilon-cert": EPSILON_CERT}),
            MethodSetup::CcgPaper => json!({"separation": paper_separation(row.uncertainty)}),
            _ => Value::Null,
        };
        options.as_object().cloned().unwrap_or_default()
    }

    /// The options of `softsep solve` that make the same run.
    pub(super) fn command_options(self, row: &StudyRow) -> String {
        let mut line = format!("--method {} --gap {:e}", self.method(row.mixed_integer), self.gap(row.mixed_integer));
        for (name, value) in self.options(row) {
            line += &format!(" --{name} {}", value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        }
        match self.certify() {
            Certify::None => line += " --certify none",
            Certify::Probabilistic(_) => {
                line += &format!(" --certify probabilistic --assume rho={RHO} --confidence {CONFIDENCE}")
            }
            _ => {}
        }
        line
    }
}

/// The options of `sgd` that make it Algorithm 1.
fn algorithm_1(chain: ChainSetup) -> Value {
    let ChainSetup { proposal, temperature, kappa } = chain;
    let mut options = json!({"preset": "paper", "proposal": proposal, "temperature": temperature});
    if let Some(kappa) = kappa {
        options["kappa"] = kappa.into();
    }
    options
}

/// The separation of the paper's C&CG: enumeration on lists, else a mixed-integer program with big-M constants, by KKT
/// conditions on ellipsoids and by strong duality on budgets.
fn paper_separation(uncertainty: Uncertain) -> &'static str {
    match uncertainty {
        Uncertain::Ellipsoid => "kkt",
        Uncertain::Scenarios(_) => "scan",
        Uncertain::Budget { .. } | Uncertain::TotalBudget { .. } | Uncertain::Polyhedron { .. } => "bilinear",
    }
}
