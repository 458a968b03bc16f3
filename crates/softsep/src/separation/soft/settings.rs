//! The settings of soft separation.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::weights::{self, Weights};
use crate::chain::Acceptance;
use crate::proposal;
use crate::recourse::DualChoice;
use crate::theory::Adaptive;
use crate::uncertainty::ReferenceMeasure;

/// The largest number of chains side by side.
const MOST_CHAINS: u32 = 4096;

/// Where soft separation searches, and how its chains move.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct SoftSettings {
    /// Whether chains search alone or with ascents.
    #[serde(skip)]
    pub search: Search,
    /// Whether every integer assignment of x has a chain of its own (Algorithm 2), and how these catch up.
    #[serde(skip)]
    pub per_assignment: Option<CatchUp>,
    /// The choice among optimal duals, whose slopes are those of the answer and of the chains' proposals.
    #[serde(skip)]
    pub dual: DualChoice,
    /// The proposal of the chains.
    #[serde(deserialize_with = "from_word", serialize_with = "as_word")]
    pub proposal: proposal::ProposalKind,
    /// The weights of the weighted proposal.
    #[serde(deserialize_with = "weights::from_option", serialize_with = "weights::as_option")]
    pub weights: Option<Weights>,
    /// The acceptance rule of the chains.
    #[serde(deserialize_with = "from_word", serialize_with = "as_word")]
    pub acceptance: Acceptance,
    /// The temperature w of the chains.
    pub temperature: Temperature,
    /// Δ⋆ for the adaptive temperature; `Auto` takes 0.1 % of the objective. Δ̃ for the early termination of `sgd`.
    pub margin: AutoOr,
    /// κ of the adaptive proposal; `Auto` grows with the dimension, and while few candidates are accepted.
    pub kappa: AutoOr,
    /// The share of uniform draws in the adaptive and in the weighted proposal.
    #[serde(deserialize_with = "share")]
    pub share: f64,
    /// Transitions of each chain per call.
    #[serde(deserialize_with = "positive_count")]
    pub transitions: u64,
    /// The number of chains side by side.
    #[serde(deserialize_with = "chains")]
    pub chains: u32,
    /// The function that chains sample by.
    #[serde(deserialize_with = "from_word", serialize_with = "as_word")]
    pub score: Score,
    /// The reference measure on the boundary of an ellipsoid.
    #[serde(deserialize_with = "from_word", serialize_with = "as_word")]
    pub reference: ReferenceMeasure,
    /// The temperatures of a thorough search.
    #[serde(deserialize_with = "from_word", serialize_with = "as_word")]
    pub schedule: Schedule,
    /// The largest number of recourse solves of a thorough search; `None` where it ends by its own rule.
    #[serde(skip)]
    pub thorough_solves: Option<u64>,
}

impl Default for SoftSettings {
    fn default() -> Self {
        Self {
            search: Search::default(),
            per_assignment: None,
            dual: DualChoice::default(),
            proposal: proposal::ProposalKind::default(),
            weights: None,
            acceptance: Acceptance::default(),
            temperature: Temperature::default(),
            margin: AutoOr::default(),
            kappa: AutoOr::default(),
            share: 0.05,
            transitions: 1,
            chains: 1,
            score: Score::default(),
            reference: ReferenceMeasure::default(),
            schedule: Schedule::default(),
            thorough_solves: None,
        }
    }
}

impl SoftSettings {
    /// The same settings for chains that search with ascents, for all decisions alike.
    pub(crate) fn combined(&self) -> Self {
        Self { search: Search::Combined, per_assignment: None, ..self.clone() }
    }
}

/// The parts of soft separation that a call of normal effort uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Search {
    /// Ascents from known scenarios, then a transition of the chains, then an ascent from a random end of the set.
    #[default]
    Combined,
    /// Transitions of the chains alone, as in the paper's algorithms: the answer is the scenario of a chain's state.
    Chains,
}

impl fmt::Display for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Combined => "combined",
            Self::Chains => "chains",
        })
    }
}

impl FromStr for Search {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "combined" => Ok(Self::Combined),
            "chains" => Ok(Self::Chains),
            _ => Err(format!("\"{word}\" is no search; combined and chains are")),
        }
    }
}

/// The temperatures of a thorough search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Schedule {
    /// Replicas on a ladder of temperatures, which swap.
    #[default]
    Tempering,
    /// Replicas whose temperature falls together, again and again, without swaps.
    Annealing,
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tempering => "tempering",
            Self::Annealing => "annealing",
        })
    }
}

impl FromStr for Schedule {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "tempering" => Ok(Self::Tempering),
            "annealing" => Ok(Self::Annealing),
            _ => Err(format!("\"{word}\" is no schedule; tempering and annealing are")),
        }
    }
}

/// When the chain of an integer assignment makes more than one transition (Algorithm 2, eqs. move-threshold and
/// transition-budget).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CatchUp {
    /// c₀: one transition is enough where the continuous part of x has moved by at most c₀/κᵖ; `Auto` is 1 % of its
    /// size, or the c₀ of `theory`.
    pub near: AutoOr,
    /// p.
    pub power: f64,
    /// The constants of Corollary 1 with c₀ and p, where they are known: g(κ) is the printed one then. Elsewhere it is
    /// ⌈p·ln κ/ln 2⌉.
    pub theory: Option<Adaptive>,
}

impl Default for CatchUp {
    fn default() -> Self {
        Self { near: AutoOr::Auto, power: 0.75, theory: None }
    }
}

/// A number, or an automatic choice.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum AutoOr {
    /// Chosen by the solver.
    #[default]
    Auto,
    /// This number.
    Given(f64),
}

impl Serialize for AutoOr {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => to.serialize_str("auto"),
            Self::Given(value) => to.serialize_f64(*value),
        }
    }
}

impl<'de> Deserialize<'de> for AutoOr {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Value::deserialize(from)? {
            Value::String(word) if word == "auto" => Ok(Self::Auto),
            value => positive(&value)
                .map(Self::Given)
                .ok_or_else(|| D::Error::custom(format!("{value} is neither a positive number nor auto"))),
        }
    }
}

/// The temperature w of the chains, in units of the objective.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Temperature {
    /// A small share of the gap asked for.
    #[default]
    Auto,
    /// The schedule of Proposition 2, which falls with the calls.
    Adaptive,
    /// Fixed.
    Given(f64),
}

impl Serialize for Temperature {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => to.serialize_str("auto"),
            Self::Adaptive => to.serialize_str("adaptive"),
            Self::Given(value) => to.serialize_f64(*value),
        }
    }
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

/// The function that chains sample by.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Score {
    /// Q.
    #[default]
    Exact,
    /// The Moreau envelope of Q with this τ.
    Moreau(f64),
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact => f.write_str("exact"),
            Self::Moreau(tau) => write!(f, "moreau:{tau:?}"),
        }
    }
}

impl FromStr for Score {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let tau = word.strip_prefix("moreau:").and_then(|tau| tau.parse().ok());
        match (word, tau.filter(|tau: &f64| tau.is_finite() && *tau > 0.0)) {
            ("exact", _) => Ok(Self::Exact),
            (_, Some(tau)) => Ok(Self::Moreau(tau)),
            _ => Err(format!("\"{word}\" is no score; exact and moreau:TAU with a positive number TAU are")),
        }
    }
}

fn positive(value: &Value) -> Option<f64> {
    value.as_f64().filter(|value| value.is_finite() && *value > 0.0)
}

/// Reads a word by its `FromStr`; a value that is no word is reported as it is written.
pub(crate) fn from_word<'de, T: FromStr<Err = String>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    let word = match Value::deserialize(from)? {
        Value::String(word) => word,
        other => other.to_string(),
    };
    word.parse().map_err(D::Error::custom)
}

/// Writes a word by its `Display`.
pub(crate) fn as_word<T: fmt::Display, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(value)
}

/// Reads an integer from 1 on.
pub(crate) fn positive_count<'de, T: TryFrom<u64>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    let value = Value::deserialize(from)?;
    let count = value
        .as_u64()
        .filter(|count| *count > 0)
        .ok_or_else(|| D::Error::custom(format!("{value} is not an integer from 1 on")))?;
    T::try_from(count).map_err(|_| D::Error::custom(format!("{value} is more than there can be")))
}

fn share<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let value = Value::deserialize(from)?;
    let share = value.as_f64().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| D::Error::custom(format!("{value} is not a number between 0 and 1")))
}

/// Reads a number of chains.
pub(crate) fn chains<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let chains: u64 = positive_count(from)?;
    let allowed = u32::try_from(chains).ok().filter(|chains| *chains <= MOST_CHAINS);
    allowed.ok_or_else(|| D::Error::custom(format!("{chains} chains are more than {MOST_CHAINS}")))
}
