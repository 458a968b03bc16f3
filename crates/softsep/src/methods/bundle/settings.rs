//! The settings of `bundle`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::methods::soft_options::{CHAIN_OPTIONS, SOFT_OPTIONS, joined};
use crate::methods::{OptionInfo, SEPARATION_OPTION};
use crate::separation::soft::{as_word, from_word};
use crate::separation::{SeparationKind, SoftSettings};

/// The options that `softsep solve --help` lists.
pub(super) const OPTIONS: &[OptionInfo] =
    &joined::<{ OWN_OPTIONS.len() + CHAIN_OPTIONS.len() + SOFT_OPTIONS.len() }>(&[
        OWN_OPTIONS,
        CHAIN_OPTIONS,
        SOFT_OPTIONS,
    ]);

const OWN_OPTIONS: &[OptionInfo] = &[
    SEPARATION_OPTION,
    OptionInfo {
        name: "stabilisation",
        default: "level",
        help: "the point of the next separation: level (the point nearest to the incumbent where the cuts allow a \
               level) or in-out (half-way between the incumbent and the master's decision)",
    },
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
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct BundleSettings {
    /// The separation.
    #[serde(deserialize_with = "from_word", serialize_with = "as_word")]
    pub separation: SeparationKind,
    /// The point of the next separation.
    #[serde(deserialize_with = "from_word", serialize_with = "as_word")]
    pub stabilisation: Stabilisation,
    /// The chains.
    #[serde(flatten)]
    pub soft: SoftSettings,
}

impl BundleSettings {
    /// The same settings with another separation.
    pub fn with_separation(self, separation: SeparationKind) -> Self {
        Self { separation, ..self }
    }

    /// The same settings with a number of chains side by side.
    pub fn with_chains(self, chains: u32) -> Self {
        Self { soft: SoftSettings { chains, ..self.soft }, ..self }
    }
}
