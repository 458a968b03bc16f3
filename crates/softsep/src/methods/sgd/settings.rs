//! The options of `sgd`.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::average::Averaging;
use crate::chain::Acceptance;
use crate::methods::OptionInfo;
use crate::proposal;
use crate::uncertainty::Reference;

const fn option(name: &'static str, default: &'static str, help: &'static str) -> OptionInfo {
    OptionInfo { name, default, help }
}

/// What `softsep solve --help` lists.
pub(super) const OPTIONS: &[OptionInfo] = &[
    option(
        "steps",
        "level",
        "how long a step of x is: level (toward a level, for the worst of all cuts seen, many times between two calls of the chain) or sqrt (α₀/√n, \
         as in the paper)",
    ),
    option("step", "auto", "α₀ of --steps sqrt; auto finds a scale from the distances and slopes seen"),
    option("average", "linear", "what --steps sqrt returns: the linear or the step-size average of the iterates"),
    option(
        "start",
        "nominal",
        "the first x: nominal (optimal for a typical scenario), zero, support (optimal for a bad scenario too), or an object {\"name\": value, …}; \
         @FILE takes it from a result",
    ),
    option(
        "proposal",
        "auto",
        "where the chain may go next: uniform, adaptive (leaning along the recourse's slope), hit-and-run, geodesic, langevin, or auto",
    ),
    option("acceptance", "metropolis", "when the chain goes there: metropolis or barker"),
    option(
        "temperature",
        "auto",
        "w, in units of the objective: the chain hardly tells scenarios apart that cost so little more or less; auto is a small share of the gap \
         asked for, adaptive falls with the iterations as in Proposition 2",
    ),
    option(
        "margin",
        "auto",
        "for --temperature adaptive: by how much the worst scenario is worse than the next (Δ⋆); auto takes 0.1 % of the objective",
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

/// A number, or the word that leaves it to the method.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) enum Choice {
    /// Whatever suits.
    #[default]
    Auto,
    /// This number.
    Given(f64),
}

fn positive(value: &Value) -> Option<f64> {
    value.as_f64().filter(|value| value.is_finite() && *value > 0.0)
}

impl<'de> Deserialize<'de> for Choice {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Value::deserialize(from)? {
            Value::String(word) if word == "auto" => Ok(Self::Auto),
            value => positive(&value)
                .map(Self::Given)
                .ok_or_else(|| D::Error::custom(format!("{value} is neither a positive number nor auto"))),
        }
    }
}

/// w.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) enum Temperature {
    /// A share of the gap asked for.
    #[default]
    Auto,
    /// The schedule of Proposition 2.
    Adaptive,
    /// Fixed.
    Given(f64),
}

impl<'de> Deserialize<'de> for Temperature {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Value::deserialize(from)? {
            Value::String(word) if word == "auto" => Ok(Self::Auto),
            Value::String(word) if word == "adaptive" => Ok(Self::Adaptive),
            value => positive(&value)
                .map(Self::Given)
                .ok_or_else(|| D::Error::custom(format!("{value} is neither a positive number nor auto nor adaptive"))),
        }
    }
}

/// What the chain climbs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) enum Score {
    /// Q.
    #[default]
    Exact,
    /// Its Moreau envelope with this τ.
    Moreau(f64),
}

impl<'de> Deserialize<'de> for Score {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let word = String::deserialize(from)?;
        let tau = word.strip_prefix("moreau:").and_then(|tau| tau.parse().ok()).filter(|tau: &f64| tau.is_finite() && *tau > 0.0);
        match (word.as_str(), tau) {
            ("exact", _) => Ok(Self::Exact),
            (_, Some(tau)) => Ok(Self::Moreau(tau)),
            _ => Err(D::Error::custom(format!("\"{word}\" is no score; exact and moreau:TAU with a positive number TAU are"))),
        }
    }
}

/// The rule for the length of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Steps {
    /// Toward a level, with memory.
    #[default]
    Level,
    /// α₀/√n.
    Sqrt,
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

/// Reads a word by what knows it.
fn by_word<'de, T: std::str::FromStr<Err = String>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    String::deserialize(from)?.parse().map_err(D::Error::custom)
}

/// All of them.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct SgdSettings {
    pub(super) steps: Steps,
    pub(super) step: Choice,
    pub(super) average: Averaging,
    pub(super) start: Start,
    #[serde(deserialize_with = "by_word")]
    pub(super) proposal: proposal::Choice,
    #[serde(deserialize_with = "by_word")]
    pub(super) acceptance: Acceptance,
    pub(super) temperature: Temperature,
    pub(super) margin: Choice,
    pub(super) kappa: Choice,
    pub(super) share: f64,
    pub(super) transitions: u64,
    pub(super) chains: u32,
    pub(super) score: Score,
    #[serde(deserialize_with = "by_word")]
    pub(super) reference: Reference,
}

impl Default for SgdSettings {
    fn default() -> Self {
        Self {
            steps: Steps::default(),
            step: Choice::default(),
            average: Averaging::default(),
            start: Start::default(),
            proposal: proposal::Choice::default(),
            acceptance: Acceptance::default(),
            temperature: Temperature::default(),
            margin: Choice::default(),
            kappa: Choice::default(),
            share: 0.05,
            transitions: 1,
            chains: 1,
            score: Score::default(),
            reference: Reference::default(),
        }
    }
}

impl SgdSettings {
    /// Refuses what makes no sense.
    pub(super) fn validate(&self) -> Result<(), String> {
        if self.transitions == 0 {
            return Err("the number of transitions must be at least 1".into());
        }
        if self.chains == 0 {
            return Err("the number of chains must be at least 1".into());
        }
        if !(0.0..=1.0).contains(&self.share) {
            return Err(format!("a share of {} is not between 0 and 1", self.share));
        }
        Ok(())
    }
}
