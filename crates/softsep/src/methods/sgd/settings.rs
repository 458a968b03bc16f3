//! The options of `sgd`.

use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::average::Averaging;
use crate::chain::Acceptance;
use crate::methods::OptionInfo;
use crate::methods::options::{by_word, count};
use crate::methods::soft::{ChainSettings, Choice, Score, Temperature, chains};
use crate::proposal;
use crate::uncertainty::ReferenceMeasure;

const fn option(name: &'static str, default: &'static str, help: &'static str) -> OptionInfo {
    OptionInfo { name, default, help }
}

/// What `softsep solve --help` lists.
pub(super) const OPTIONS: &[OptionInfo] = &[
    option(
        "steps",
        "level",
        "how long a step of x is: level (toward a level, for the worst of all cuts seen, many times between two calls \
         of the chain) or sqrt (α₀/√n, \
         as in the paper)",
    ),
    option("step", "auto", "α₀ of --steps sqrt; auto finds a scale from the distances and slopes seen"),
    option("average", "linear", "what --steps sqrt returns: the linear or the step-size average of the iterates"),
    option(
        "start",
        "nominal",
        "the first x: nominal (optimal for a typical scenario), zero, support (optimal for a bad scenario too), or an \
         object {\"name\": value, …}; \
         @FILE takes it from a result",
    ),
    option(
        "proposal",
        "auto",
        "where the chain may go next: uniform, adaptive (leaning along the recourse's slope), hit-and-run, geodesic, \
         langevin, or auto",
    ),
    option("acceptance", "metropolis", "when the chain goes there: metropolis or barker"),
    option(
        "temperature",
        "auto",
        "w, in units of the objective: the chain hardly tells scenarios apart that cost so little more or less; auto \
         is a small share of the gap \
         asked for, adaptive falls with the iterations as in Proposition 2",
    ),
    option(
        "margin",
        "auto",
        "for --temperature adaptive: by how much the worst scenario is worse than the next (Δ⋆); auto takes 0.1 % of \
         the objective",
    ),
    option(
        "kappa",
        "auto",
        "how much the adaptive proposal leans; auto grows with the dimension, and more where few candidates are taken",
    ),
    option("share", "0.05", "how often the adaptive proposal draws uniformly instead"),
    option("transitions", "1", "transitions of each chain per iteration"),
    option("chains", "1", "chains side by side"),
    option("score", "exact", "what the chain climbs: exact, or moreau:TAU for the Moreau envelope with parameter TAU"),
    option(
        "reference",
        "sphere",
        "on the boundary of an ellipsoid, what uniform means: sphere (before the map A) or surface (by area)",
    ),
];

/// The rule for the length of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Steps {
    /// Toward a level, with memory.
    #[default]
    Level,
    /// α₀/√n.
    Sqrt,
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
pub(super) enum Start {
    /// Optimal for the nominal scenario.
    #[default]
    Nominal,
    /// The point of X nearest to zero.
    Zero,
    /// Optimal for the nominal scenario and the worst of a few support points.
    Support,
    /// By names; what is not named is zero.
    Given(Map<String, Value>),
}

impl<'de> Deserialize<'de> for Start {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Value::deserialize(from)? {
            Value::Object(names) => Ok(Self::Given(names)),
            Value::String(word) if word == "nominal" => Ok(Self::Nominal),
            Value::String(word) if word == "zero" => Ok(Self::Zero),
            Value::String(word) if word == "support" => Ok(Self::Support),
            other => Err(D::Error::custom(format!(
                "{other} is no start; nominal, zero, support or an object of names and numbers are"
            ))),
        }
    }
}

/// Reads a share of one.
fn share<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let value = Value::deserialize(from)?;
    let share = value.as_f64().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| D::Error::custom(format!("{value} is not a number between 0 and 1")))
}

/// All of them.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct SgdSettings {
    #[serde(deserialize_with = "by_word")]
    pub(super) steps: Steps,
    pub(super) step: Choice,
    #[serde(deserialize_with = "by_word")]
    pub(super) average: Averaging,
    pub(super) start: Start,
    #[serde(deserialize_with = "by_word")]
    pub(super) proposal: proposal::ProposalKind,
    #[serde(deserialize_with = "by_word")]
    pub(super) acceptance: Acceptance,
    pub(super) temperature: Temperature,
    pub(super) margin: Choice,
    pub(super) kappa: Choice,
    #[serde(deserialize_with = "share")]
    pub(super) share: f64,
    #[serde(deserialize_with = "count")]
    pub(super) transitions: u64,
    #[serde(deserialize_with = "chains")]
    pub(super) chains: u32,
    #[serde(deserialize_with = "by_word")]
    pub(super) score: Score,
    #[serde(deserialize_with = "by_word")]
    pub(super) reference: ReferenceMeasure,
}

impl Default for SgdSettings {
    fn default() -> Self {
        let ChainSettings { proposal, acceptance, temperature, margin, kappa, share, chains, score, reference } =
            ChainSettings::default();
        Self {
            steps: Steps::default(),
            step: Choice::default(),
            average: Averaging::default(),
            start: Start::default(),
            proposal,
            acceptance,
            temperature,
            margin,
            kappa,
            share,
            transitions: 1,
            chains,
            score,
            reference,
        }
    }
}

impl SgdSettings {
    /// What of it is about the chains.
    pub(super) fn of_chains(&self) -> ChainSettings {
        ChainSettings {
            proposal: self.proposal,
            acceptance: self.acceptance,
            temperature: self.temperature,
            margin: self.margin,
            kappa: self.kappa,
            share: self.share,
            chains: self.chains,
            score: self.score,
            reference: self.reference,
        }
    }
}
