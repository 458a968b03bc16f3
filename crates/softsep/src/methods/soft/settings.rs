//! How the chains of a method are set up.

use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::chain::Acceptance;
use crate::methods::options::count;
use crate::proposal;
use crate::uncertainty::ReferenceMeasure;

/// The chains of a method.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::methods) struct ChainSettings {
    pub(in crate::methods) proposal: proposal::ProposalKind,
    pub(in crate::methods) acceptance: Acceptance,
    pub(in crate::methods) temperature: Temperature,
    pub(in crate::methods) margin: Choice,
    pub(in crate::methods) kappa: Choice,
    pub(in crate::methods) share: f64,
    pub(in crate::methods) chains: u32,
    pub(in crate::methods) score: Score,
    pub(in crate::methods) reference: ReferenceMeasure,
}

impl Default for ChainSettings {
    fn default() -> Self {
        Self {
            proposal: proposal::ProposalKind::default(),
            acceptance: Acceptance::default(),
            temperature: Temperature::default(),
            margin: Choice::default(),
            kappa: Choice::default(),
            share: 0.05,
            chains: 1,
            score: Score::default(),
            reference: ReferenceMeasure::default(),
        }
    }
}

/// Chains that may run side by side.
const CHAINS: u32 = 4096;

/// Reads how many chains there are.
pub(in crate::methods) fn chains<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let chains: u64 = count(from)?;
    let few_enough = u32::try_from(chains).ok().filter(|chains| *chains <= CHAINS);
    few_enough.ok_or_else(|| D::Error::custom(format!("{chains} chains are more than {CHAINS}")))
}

/// A number, or the word that leaves it to the method.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(in crate::methods) enum Choice {
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
pub(in crate::methods) enum Temperature {
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
pub(in crate::methods) enum Score {
    /// Q.
    #[default]
    Exact,
    /// Its Moreau envelope with this τ.
    Moreau(f64),
}

impl FromStr for Score {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let tau = word
            .strip_prefix("moreau:")
            .and_then(|tau| tau.parse().ok())
            .filter(|tau: &f64| tau.is_finite() && *tau > 0.0);
        match (word, tau) {
            ("exact", _) => Ok(Self::Exact),
            (_, Some(tau)) => Ok(Self::Moreau(tau)),
            _ => Err(format!("\"{word}\" is no score; exact and moreau:TAU with a positive number TAU are")),
        }
    }
}
