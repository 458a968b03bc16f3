//! The settings of `branch-and-cut`.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::methods::soft_options::{SOFT_OPTIONS, joined};
use crate::methods::{OptionInfo, SEPARATION_OPTION};
use crate::separation::soft::{AutoOr, CatchUp, as_word, from_word};
use crate::separation::{SeparationKind, SoftSettings};

/// The options that `softsep solve --help` lists.
pub(super) const OPTIONS: &[OptionInfo] =
    &joined::<{ OWN_OPTIONS.len() + SOFT_OPTIONS.len() }>(&[OWN_OPTIONS, SOFT_OPTIONS]);

const OWN_OPTIONS: &[OptionInfo] = &[
    SEPARATION_OPTION,
    OptionInfo {
        name: "tree",
        default: "single",
        help: "single (one tree, to which cuts come while it is searched) or multi (the master is solved to the end \
            again after each round of cuts)",
    },
    OptionInfo {
        name: "root",
        default: "bundle",
        help: "who solves the relaxation and hands its cuts to the tree: bundle, sgd (with its \
            steps toward a level, which are not those of Algorithm 1), or none",
    },
    OptionInfo {
        name: "nodes",
        default: "none",
        help: "nodes of one tree after which the search ends with what it has; none is no limit",
    },
    OptionInfo {
        name: "near",
        default: "auto",
        help: "c₀ of Algorithm 2: a chain makes one transition where the continuous part of x has moved by at most \
            c₀/κᵖ; auto is 1 % of its size",
    },
    OptionInfo { name: "power", default: "0.75", help: "p of Algorithm 2, above 0" },
];

/// How masters are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum TreeKind {
    /// One tree.
    #[default]
    Single,
    /// A new one for each round.
    Multi,
}

impl fmt::Display for TreeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Single => "single",
            Self::Multi => "multi",
        })
    }
}

impl FromStr for TreeKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "single" => Ok(Self::Single),
            "multi" => Ok(Self::Multi),
            _ => Err(format!("\"{text}\" is no kind of tree; single and multi are")),
        }
    }
}

/// Who solves the relaxation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Root {
    /// Cutting planes.
    #[default]
    Bundle,
    /// `sgd` with its default steps, toward a level.
    Sgd,
    /// Nobody: the tree begins with what it finds.
    None,
}

impl fmt::Display for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bundle => "bundle",
            Self::Sgd => "sgd",
            Self::None => "none",
        })
    }
}

impl FromStr for Root {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "bundle" => Ok(Self::Bundle),
            "sgd" => Ok(Self::Sgd),
            "none" => Ok(Self::None),
            _ => Err(format!("\"{text}\" does not solve relaxations; bundle, sgd and none are to choose from")),
        }
    }
}

/// The settings of `branch-and-cut`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct BranchAndCutSettings {
    /// The separation.
    #[serde(deserialize_with = "from_word", serialize_with = "as_word")]
    pub separation: SeparationKind,
    /// How masters are searched.
    #[serde(deserialize_with = "from_word", serialize_with = "as_word")]
    pub tree: TreeKind,
    /// The method that solves the relaxation.
    #[serde(deserialize_with = "from_word", serialize_with = "as_word")]
    pub root: Root,
    /// The chains. Each integer assignment has one, which makes as many transitions as Algorithm 2 says, so that
    /// [`SoftSettings::chains`] and [`SoftSettings::transitions`] must be 1.
    #[serde(flatten)]
    pub soft: SoftSettings,
    /// c₀ of Algorithm 2.
    pub near: AutoOr,
    /// p of Algorithm 2.
    #[serde(deserialize_with = "power")]
    pub power: f64,
    /// The largest number of nodes of one tree.
    #[serde(deserialize_with = "limit", serialize_with = "as_limit")]
    pub nodes: Option<u64>,
}

impl Default for BranchAndCutSettings {
    fn default() -> Self {
        let CatchUp { near, power } = CatchUp::default();
        Self {
            separation: SeparationKind::default(),
            tree: TreeKind::default(),
            root: Root::default(),
            soft: SoftSettings::default(),
            near,
            power,
            nodes: None,
        }
    }
}

impl BranchAndCutSettings {
    /// The same settings with another separation.
    pub fn with_separation(self, separation: SeparationKind) -> Self {
        Self { separation, ..self }
    }

    /// The same settings with another kind of tree.
    pub fn with_tree(self, tree: TreeKind) -> Self {
        Self { tree, ..self }
    }

    /// The same settings with another method for the relaxation.
    pub fn with_root(self, root: Root) -> Self {
        Self { root, ..self }
    }

    /// When the chain of an integer assignment makes more than one transition.
    pub(super) fn catch_up(&self) -> CatchUp {
        CatchUp { near: self.near, power: self.power }
    }
}

fn limit<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    match Value::deserialize(from)? {
        Value::String(word) if word == "none" => Ok(None),
        value => match value.as_u64().filter(|&limit| limit > 0) {
            Some(limit) => Ok(Some(limit)),
            None => Err(D::Error::custom(format!("{value} is neither an integer from 1 on nor none"))),
        },
    }
}

fn as_limit<S: Serializer>(limit: &Option<u64>, to: S) -> Result<S::Ok, S::Error> {
    match limit {
        Some(limit) => to.serialize_u64(*limit),
        None => to.serialize_str("none"),
    }
}

fn power<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let value = Value::deserialize(from)?;
    let power = value.as_f64().filter(|power| power.is_finite() && *power > 0.0);
    power.ok_or_else(|| D::Error::custom(format!("{value} is not a positive number")))
}
