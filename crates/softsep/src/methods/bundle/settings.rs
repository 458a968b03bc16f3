//! The options of `bundle`.

use std::str::FromStr;

use serde::Deserialize;

use crate::methods::OptionInfo;
use crate::methods::options::by_word;
use crate::methods::soft::chains;

/// What `softsep solve --help` lists.
pub(super) const OPTIONS: &[OptionInfo] = &[
    OptionInfo {
        name: "stabilisation",
        default: "level",
        help: "where the next question is asked: level (the point nearest to the best decision where the cuts promise \
            enough) or in-out (half-way \
               between the best decision and the master's)",
    },
    OptionInfo { name: "chains", default: "1", help: "chains side by side" },
];

/// Where the next question is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Stabilisation {
    /// Nearest to the best decision, where the cuts allow a level.
    #[default]
    Level,
    /// Half-way between the best decision and the master's.
    InOut,
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

/// All of them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct BundleSettings {
    #[serde(deserialize_with = "by_word")]
    pub(super) stabilisation: Stabilisation,
    #[serde(deserialize_with = "chains")]
    pub(super) chains: u32,
}

impl Default for BundleSettings {
    fn default() -> Self {
        Self { stabilisation: Stabilisation::default(), chains: 1 }
    }
}
