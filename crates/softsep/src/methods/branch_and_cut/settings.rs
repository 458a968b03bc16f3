//! The settings of `branch-and-cut`.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::chain::Acceptance;
use crate::methods::soft_options::{SOFT_OPTIONS, joined};
use crate::methods::{OptionInfo, PRESET_OPTION, SEPARATION_OPTION};
use crate::proposal::ProposalKind;
use crate::separation::soft::{AutoOr, CatchUp, Search, Temperature, as_word, from_word, positive_count};
use crate::separation::{SeparationKind, SoftSettings};

/// The options that `softsep solve --help` lists.
pub(super) const OPTIONS: &[OptionInfo] =
    &joined::<{ OWN_OPTIONS.len() + SOFT_OPTIONS.len() }>(&[OWN_OPTIONS, SOFT_OPTIONS]);

const OWN_OPTIONS: &[OptionInfo] = &[
    PRESET_OPTION,
    SEPARATION_OPTION,
    OptionInfo {
        name: "search",
        default: "combined",
        help: "what looks for scenarios at integral points: combined (ascents from known scenarios, then the chain of \
            the integer assignment) or chains (that chain alone, at every call, whose calls also certify: Algorithms 2 \
            and 3 as printed)",
    },
    OptionInfo {
        name: "tree",
        default: "single",
        help: "single (one tree, to which cuts come while it is searched) or multi (the master is solved to the end \
            again after each round of cuts)",
    },
    OptionInfo {
        name: "root",
        default: "bundle",
        help: "who solves the relaxation and hands its cuts to the tree: bundle, sgd (with its steps toward a level, \
            which are not those of Algorithm 1), paper (Algorithm 1 as printed: sgd --preset \
            paper with the chain options given here), or none",
    },
    OptionInfo {
        name: "root-iterations",
        default: "auto",
        help: "iterations of the root's method; auto lets it end by its own rule",
    },
    OptionInfo {
        name: "nodes",
        default: "none",
        help: "nodes of one tree after which the search ends with what it has; none is no limit",
    },
    OptionInfo {
        name: "copies",
        default: "auto",
        help: "scenarios with a copy of the recourse in the tree's relaxation (partial Benders decomposition), where \
            the recourse is linear: those with the largest cuts at the decision of the root's method; auto begins \
            without copies and restarts with four where the lower bound rises slowly",
    },
    OptionInfo {
        name: "near",
        default: "auto",
        help: "c₀ of Algorithm 2: a chain makes one transition where the continuous part of x has moved by at most \
            c₀/κᵖ, and g(κ) elsewhere; auto is 1 % of its size, or Δ⋆/(2η̄L′) where these are known",
    },
    OptionInfo { name: "power", default: "0.75", help: "p of Algorithm 2, above 0" },
    OptionInfo {
        name: "epsilon-cert",
        default: "auto",
        help: "ε_cert of --search chains, in units of cost: a scenario refutes an incumbent that costs more than the \
            relaxation says by more than this, and the certified bound is higher by as much; auto is half of the gap",
    },
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
    /// Algorithm 1 as printed, with the chains of the tree.
    Paper,
    /// Nobody: the tree begins with what it finds.
    None,
}

impl fmt::Display for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bundle => "bundle",
            Self::Sgd => "sgd",
            Self::Paper => "paper",
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
            "paper" => Ok(Self::Paper),
            "none" => Ok(Self::None),
            _ => Err(format!("\"{text}\" does not solve relaxations; bundle, sgd, paper and none are to choose from")),
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
    /// The iterations of that method; its own rule where `None`.
    #[serde(deserialize_with = "iterations", serialize_with = "as_iterations")]
    pub root_iterations: Option<u64>,
    /// The search at integral points: `Chains` is Algorithms 2 and 3 as printed.
    #[serde(deserialize_with = "from_word", serialize_with = "as_word")]
    pub search: Search,
    /// The chains. Each integer assignment has one, which makes as many transitions as Algorithm 2 says, so that
    /// [`SoftSettings::chains`] and [`SoftSettings::transitions`] must be 1.
    #[serde(flatten)]
    pub soft: SoftSettings,
    /// ε_cert of EC.3, in units of cost, with [`Search::Chains`]; `Auto` is half of the gap.
    #[serde(deserialize_with = "slack")]
    pub epsilon_cert: AutoOr,
    /// c₀ of Algorithm 2.
    pub near: AutoOr,
    /// p of Algorithm 2.
    #[serde(deserialize_with = "power")]
    pub power: f64,
    /// The largest number of nodes of one tree.
    #[serde(deserialize_with = "limit", serialize_with = "as_limit")]
    pub nodes: Option<u64>,
    /// The number of scenarios with a copy of the recourse in the relaxation of one tree; where `None`, none at first,
    /// and some where the lower bound rises slowly.
    #[serde(deserialize_with = "copies", serialize_with = "as_copies")]
    pub copies: Option<usize>,
    /// Whether another method continues where the lower bound rises slowly and a proof is wanted: the search then ends
    /// in place of a restart with copies.
    #[serde(skip)]
    pub(in crate::methods) hands_over: bool,
}

impl Default for BranchAndCutSettings {
    fn default() -> Self {
        let CatchUp { near, power, .. } = CatchUp::default();
        Self {
            separation: SeparationKind::default(),
            tree: TreeKind::default(),
            root: Root::default(),
            root_iterations: None,
            search: Search::default(),
            soft: SoftSettings::default(),
            epsilon_cert: AutoOr::Auto,
            near,
            power,
            nodes: None,
            copies: None,
            hands_over: false,
        }
    }
}

impl BranchAndCutSettings {
    /// Algorithm 3 as printed: the root by Algorithm 1, at every integral point of one tree a call of Algorithm 2,
    /// which also certifies, and cuts from nothing else. Uniform candidates, Metropolis acceptance and w = 1, as in
    /// Section 5.2 of the paper.
    ///
    /// ε_opt is the relative gap of the run, ε_false is 1 − confidence, and ε_cert is half of the gap; no constant is
    /// assumed: see [`Assumed`](crate::Assumed).
    pub fn paper() -> Self {
        Self {
            root: Root::Paper,
            search: Search::Chains,
            soft: SoftSettings {
                proposal: ProposalKind::Uniform,
                acceptance: Acceptance::Metropolis,
                temperature: Temperature::Given(1.0),
                ..SoftSettings::default()
            },
            ..Self::default()
        }
    }

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

    /// The same settings with another ε_cert, in units of cost.
    pub fn with_epsilon_cert(self, epsilon_cert: f64) -> Self {
        Self { epsilon_cert: AutoOr::Given(epsilon_cert), ..self }
    }

    /// The same settings with so many scenario copies in the relaxation of one tree.
    pub fn with_copies(self, copies: usize) -> Self {
        Self { copies: Some(copies), ..self }
    }

    /// The same settings with so many iterations of the root's method.
    pub fn with_root_iterations(self, iterations: u64) -> Self {
        Self { root_iterations: Some(iterations), ..self }
    }

    /// The settings of the chains, one for each integer assignment.
    pub(super) fn chains(&self) -> SoftSettings {
        let catch_up = CatchUp { near: self.near, power: self.power, theory: None };
        SoftSettings { search: self.search, per_assignment: Some(catch_up), ..self.soft.clone() }
    }
}

/// Reads ε_cert: a number from 0 on, or auto.
fn slack<'de, D: Deserializer<'de>>(from: D) -> Result<AutoOr, D::Error> {
    match Value::deserialize(from)? {
        Value::String(word) if word == "auto" => Ok(AutoOr::Auto),
        value => match value.as_f64().filter(|slack| slack.is_finite() && *slack >= 0.0) {
            Some(slack) => Ok(AutoOr::Given(slack)),
            None => Err(D::Error::custom(format!("{value} is neither a number from 0 on nor auto"))),
        },
    }
}

fn iterations<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    match Value::deserialize(from)? {
        Value::String(word) if word == "auto" => Ok(None),
        value => positive_count(value).map(Some).map_err(D::Error::custom),
    }
}

fn as_iterations<S: Serializer>(iterations: &Option<u64>, to: S) -> Result<S::Ok, S::Error> {
    match iterations {
        Some(iterations) => to.serialize_u64(*iterations),
        None => to.serialize_str("auto"),
    }
}

fn copies<'de, D: Deserializer<'de>>(from: D) -> Result<Option<usize>, D::Error> {
    match Value::deserialize(from)? {
        Value::String(word) if word == "auto" => Ok(None),
        value => match value.as_u64().and_then(|count| usize::try_from(count).ok()) {
            Some(count) => Ok(Some(count)),
            None => Err(D::Error::custom(format!("{value} is neither an integer from 0 on nor auto"))),
        },
    }
}

fn as_copies<S: Serializer>(copies: &Option<usize>, to: S) -> Result<S::Ok, S::Error> {
    match copies {
        Some(count) => to.serialize_u64(*count as u64),
        None => to.serialize_str("auto"),
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
