//! The settings of `bundle`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::methods::{OptionInfo, SCHEDULE_OPTION, SEPARATION_OPTION};
use crate::separation::SeparationKind;
use crate::separation::soft::{Schedule, as_word, chains, from_word};

/// The options that `softsep solve --help` lists.
pub(super) const OPTIONS: &[OptionInfo] = &[
    SEPARATION_OPTION,
    OptionInfo {
        name: "stabilisation",
        default: "level",
        help: "where the next separation is: level (the point nearest to the incumbent where the cuts allow a level) \
               or in-out (half-way between the incumbent and the master's decision)",
    },
    OptionInfo { name: "chains", default: "1", help: "chains side by side" },
    SCHEDULE_OPTION,
];

/// The point of the next separation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Stabilisation {
    /// The point nearest to the incumbent where the cuts allow a level.
    #[default]
    Level,
    /// Half-way between the incumbent and the master's decision.
    InOut,
}

impl fmt::Display for Stabilisation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Level => "level",
            Self::InOut => "in-out",
        })
    }
}

impl FromStr for Stabilisation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "level" => Ok(Self::Level),
            "in-out" => Ok(Self::InOut),
            _ => Err(format!("\"{text}\" is no stabilisation; level and in-out are")),
        }
    }
}

/// The settings of `bundle`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct BundleSettings {
    /// The separation.
    #[serde(deserialize_with = "from_word", serialize_with = "as_word")]
    pub separation: SeparationKind,
    /// The point of the next separation.
    #[serde(deserialize_with = "from_word", serialize_with = "as_word")]
    pub stabilisation: Stabilisation,
    /// The number of chains side by side.
    #[serde(deserialize_with = "chains")]
    pub chains: u32,
    /// The temperatures of the search that verifies the incumbent.
    #[serde(deserialize_with = "from_word", serialize_with = "as_word")]
    pub schedule: Schedule,
}

impl Default for BundleSettings {
    fn default() -> Self {
        Self {
            separation: SeparationKind::default(),
            stabilisation: Stabilisation::default(),
            chains: 1,
            schedule: Schedule::default(),
        }
    }
}

impl BundleSettings {
    /// The same settings with another separation.
    pub fn with_separation(self, separation: SeparationKind) -> Self {
        Self { separation, ..self }
    }

    /// The same settings with so many chains side by side.
    pub fn with_chains(self, chains: u32) -> Self {
        Self { chains, ..self }
    }
}
