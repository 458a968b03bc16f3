//! The settings of `sgd`.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::average::Averaging;
use super::preconditioner::Preconditioner;
use super::stop_rule::StopRule;
use crate::chain::Acceptance;
use crate::methods::soft_options::{CHAIN_OPTIONS, SOFT_OPTIONS, joined};
use crate::methods::{OptionInfo, PRESET_OPTION, SEPARATION_OPTION};
use crate::proposal::ProposalKind;
use crate::recourse::DualChoice;
use crate::separation::soft::{AutoOr, Temperature, as_word, from_word};
use crate::separation::{SeparationKind, SoftSettings};

const fn option(name: &'static str, default: &'static str, help: &'static str) -> OptionInfo {
    OptionInfo { name, default, help }
}

/// The options that `softsep solve --help` lists.
pub(super) const OPTIONS: &[OptionInfo] =
    &joined::<{ OWN_OPTIONS.len() + CHAIN_OPTIONS.len() + SOFT_OPTIONS.len() }>(&[
        OWN_OPTIONS,
        CHAIN_OPTIONS,
        SOFT_OPTIONS,
    ]);

const OWN_OPTIONS: &[OptionInfo] = &[
    PRESET_OPTION,
    SEPARATION_OPTION,
    option(
        "steps",
        "level",
        "the steps of x: level (toward a level of the largest cut known, many steps between two calls of the chain) or \
         sqrt (α₀/√n, as in the paper)",
    ),
    option(
        "step",
        "auto",
        "the first step size α₀ of --steps sqrt; auto derives it from the distances and slopes seen",
    ),
    option("average", "linear", "the average of the iterates that --steps sqrt returns: linear or step-size"),
    option(
        "preconditioner",
        "seen",
        "the metric H of --steps sqrt: seen (by the largest entries of the subgradients so far), data (fixed before \
         the first step by the largest that the data allow, as in EC.3 of the paper) or none",
    ),
    option(
        "dual",
        "any",
        "the optimal dual that gives the slopes where there are several: any (the solver's) or least-norm (the \
         paper's: the smallest ‖Eᵀπ‖₁ of linear recourse, the smallest ‖π‖ of quadratic and conic recourse, by a \
         second program)",
    ),
    option(
        "stop",
        "gap",
        "the criterion that ends --steps sqrt before its limits: gap (where the verified estimate is within the gap of \
         the lower bound), iterations (never), or bounds (where F̄_n is within the gap of F̲_n, as the paper proposes; \
         Δ̃ is --margin, or half of the gap where that is auto)",
    ),
    option(
        "start",
        "nominal",
        "the first x: nominal (optimal for the nominal scenario), zero, support (optimal for the nominal and a bad \
         scenario), or an object {\"name\": value, …}; @FILE takes it from a result",
    ),
];

/// The rule for the length of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Steps {
    /// Toward a level, with memory.
    #[default]
    Level,
    /// α₀/√n.
    Sqrt,
}

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Level => "level",
            Self::Sqrt => "sqrt",
        })
    }
}

impl FromStr for Steps {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "level" => Ok(Self::Level),
            "sqrt" => Ok(Self::Sqrt),
            _ => Err(format!("\"{text}\" is no rule for steps; level and sqrt are")),
        }
    }
}

/// The first x.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum Start {
    /// Optimal for the nominal scenario.
    #[default]
    Nominal,
    /// The point of X nearest to zero.
    Zero,
    /// Optimal for the nominal scenario and the worst of a few support points.
    Support,
    /// A decision by names; variables that are not named are zero.
    Given(Vec<(String, f64)>),
}

impl Serialize for Start {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Nominal => to.serialize_str("nominal"),
            Self::Zero => to.serialize_str("zero"),
            Self::Support => to.serialize_str("support"),
            Self::Given(values) => to.collect_map(values.iter().map(|(name, value)| (name, value))),
        }
    }
}

impl<'de> Deserialize<'de> for Start {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Value::deserialize(from)? {
            Value::Object(mut names) => {
                // A result has its decision under "x".
                if let Some(Value::Object(_)) = names.get("x")
                    && let Some(Value::Object(decision)) = names.remove("x")
                {
                    names = decision;
                }
                let number = |(name, value): (String, Value)| match value.as_f64() {
                    Some(number) => Ok((name, number)),
                    None => {
                        Err(D::Error::custom(format!("the start has {value} for \"{name}\", which is not a number")))
                    }
                };
                names.into_iter().map(number).collect::<Result<_, _>>().map(Self::Given)
            }
            Value::String(word) if word == "nominal" => Ok(Self::Nominal),
            Value::String(word) if word == "zero" => Ok(Self::Zero),
            Value::String(word) if word == "support" => Ok(Self::Support),
            other => Err(D::Error::custom(format!(
                "{other} is no start; nominal, zero, support or an object of names and numbers are"
            ))),
        }
    }
}

/// The settings of `sgd`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct SgdSettings {
    /// The separation; `Auto` is a chain as in Algorithm 1.
    #[serde(deserialize_with = "from_word", serialize_with = "as_word")]
    pub separation: SeparationKind,
    /// The rule for the length of a step.
    #[serde(deserialize_with = "from_word", serialize_with = "as_word")]
    pub steps: Steps,
    /// α₀ of `Steps::Sqrt`.
    pub step: AutoOr,
    /// The average that `Steps::Sqrt` returns.
    #[serde(deserialize_with = "from_word", serialize_with = "as_word")]
    pub average: Averaging,
    /// The metric of `Steps::Sqrt`.
    #[serde(deserialize_with = "from_word", serialize_with = "as_word")]
    pub preconditioner: Preconditioner,
    /// The choice among optimal duals.
    #[serde(deserialize_with = "from_word", serialize_with = "as_word")]
    pub dual: DualChoice,
    /// When `Steps::Sqrt` ends before its limits.
    #[serde(deserialize_with = "from_word", serialize_with = "as_word")]
    pub stop: StopRule,
    /// The first x.
    pub start: Start,
    /// The chains.
    #[serde(flatten)]
    pub soft: SoftSettings,
}

/// w of Section 5.1 of the paper.
const PAPER_TEMPERATURE: f64 = 1e-3;

/// κ of Section 5.1 of the paper, for its adaptive proposal.
const PAPER_KAPPA: f64 = 10.0;

impl SgdSettings {
    /// Algorithm 1 as printed: one chain from a uniform state, one transition per iteration, the dual of Lemma 1 (or
    /// EC.1), α_n = 1/√n, H of EC.3 fixed beforehand, and the linear average of all N iterates as the decision. Nothing
    /// else moves x or the chain, and nothing but a limit ends the run.
    ///
    /// Uniform candidates, Metropolis acceptance and w = 0.001 are those of Section 5.1 of the paper, and so are κ = 10
    /// and no uniform draws beside where another option asks for adaptive candidates.
    pub fn paper() -> Self {
        Self {
            steps: Steps::Sqrt,
            step: AutoOr::Given(1.0),
            preconditioner: Preconditioner::Data,
            dual: DualChoice::LeastNorm,
            stop: StopRule::Iterations,
            soft: SoftSettings {
                proposal: ProposalKind::Uniform,
                acceptance: Acceptance::Metropolis,
                temperature: Temperature::Given(PAPER_TEMPERATURE),
                kappa: AutoOr::Given(PAPER_KAPPA),
                share: 0.0,
                ..SoftSettings::default()
            },
            ..Self::default()
        }
    }

    /// The same settings with another separation.
    pub fn with_separation(self, separation: SeparationKind) -> Self {
        Self { separation, ..self }
    }

    /// The same settings with another rule for the length of a step.
    pub fn with_steps(self, steps: Steps) -> Self {
        Self { steps, ..self }
    }
}
