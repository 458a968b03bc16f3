//! The method of a run with its settings, typed; and the same by names, for the command line and other languages.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use super::adr::Adr;
use super::auto::Auto;
use super::benders::benders;
use super::branch_and_cut::BranchAndCut;
use super::bundle::Bundle;
use super::ccg::ccg;
use super::extensive::Extensive;
use super::sgd::Sgd;
use super::{
    AdrSettings, BranchAndCutSettings, BundleSettings, Entry, ExtensiveSettings, GenerationSettings, Method,
    SgdSettings,
};
use crate::error::Error;
use crate::proposal::ProposalKind;
use crate::separation::{SeparationKind, SoftSettings};

/// A method and its settings.
///
/// ```
/// use softsep::methods::{BundleSettings, GenerationSettings, MethodSettings};
/// use softsep::separation::SeparationKind;
///
/// let scan = MethodSettings::Ccg(GenerationSettings::default().with_separation(SeparationKind::Scan));
/// assert_eq!(scan.name(), "ccg");
/// // The same by names, where a file or a command line holds them.
/// assert_eq!("bundle".parse::<MethodSettings>()?, BundleSettings::default().into());
/// # Ok::<(), softsep::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum MethodSettings {
    /// Methods by the problem's class and size.
    #[default]
    Auto,
    /// Cutting planes with soft separation, for continuous x.
    Bundle(BundleSettings),
    /// One search tree with soft separation at its integral points, for mixed-integer x.
    BranchAndCut(BranchAndCutSettings),
    /// Subgradient descent with soft separation, for continuous x.
    Sgd(SgdSettings),
    /// Column-and-constraint generation.
    Ccg(GenerationSettings),
    /// Benders decomposition.
    Benders(GenerationSettings),
    /// Affine decision rules: an upper bound.
    Adr(AdrSettings),
    /// One scenario copy of the recourse for each scenario, all in one program.
    Extensive(ExtensiveSettings),
    /// A method of another crate.
    Custom(CustomMethod),
}

impl MethodSettings {
    /// A method by its name, with its default settings.
    pub fn named(name: &str) -> Result<Self, Error> {
        Self::parse(name, &Map::new())
    }

    /// A method and its options by name, as `softsep methods` lists them. The error says in words which values are
    /// right.
    pub fn parse(name: &str, options: &Map<String, Value>) -> Result<Self, Error> {
        Entry::find(name)?.parse(options)
    }

    /// The method of another crate.
    pub fn custom(method: impl Method + 'static) -> Self {
        Self::Custom(CustomMethod::new(method))
    }

    /// The name of the method.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Auto => super::auto::ENTRY.name,
            Self::Bundle(_) => super::bundle::ENTRY.name,
            Self::BranchAndCut(_) => super::branch_and_cut::ENTRY.name,
            Self::Sgd(_) => super::sgd::ENTRY.name,
            Self::Ccg(_) => super::ccg::ENTRY.name,
            Self::Benders(_) => super::benders::ENTRY.name,
            Self::Adr(_) => super::adr::ENTRY.name,
            Self::Extensive(_) => super::extensive::ENTRY.name,
            Self::Custom(custom) => custom.0.name(),
        }
    }

    /// The separation of the method; `None` for a method that has none to choose.
    pub fn separation(&self) -> Option<&SeparationKind> {
        match self {
            Self::Bundle(settings) => Some(&settings.separation),
            Self::BranchAndCut(settings) => Some(&settings.separation),
            Self::Sgd(settings) => Some(&settings.separation),
            Self::Ccg(settings) | Self::Benders(settings) => Some(&settings.separation),
            Self::Auto | Self::Adr(_) | Self::Extensive(_) | Self::Custom(_) => None,
        }
    }

    /// The settings of soft separation; `None` for a method without.
    fn soft(&self) -> Option<&SoftSettings> {
        match self {
            Self::Bundle(settings) => Some(&settings.soft),
            Self::BranchAndCut(settings) => Some(&settings.soft),
            Self::Sgd(settings) => Some(&settings.soft),
            Self::Ccg(settings) | Self::Benders(settings) => Some(&settings.soft),
            Self::Auto | Self::Adr(_) | Self::Extensive(_) | Self::Custom(_) => None,
        }
    }

    /// The options that differ from the defaults, by name: [`parse`](Self::parse) makes equal settings of them, unless
    /// a separation, a proposal or the method is a custom one, which has no name.
    pub fn options(&self) -> Map<String, Value> {
        match self {
            Self::Bundle(settings) => changes(settings),
            Self::BranchAndCut(settings) => changes(settings),
            Self::Sgd(settings) => changes(settings),
            Self::Ccg(settings) | Self::Benders(settings) => changes(settings),
            Self::Extensive(settings) => changes(settings),
            Self::Auto | Self::Adr(_) | Self::Custom(_) => Map::new(),
        }
    }

    /// Whether some setting has a unit of the problem, or is a part of another crate, which may be in these units: a
    /// run with such settings is made in the problem's own units.
    pub(crate) fn has_units(&self) -> bool {
        const WITH_UNITS: [&str; 10] =
            ["preset", "steps", "step", "start", "search", "temperature", "margin", "epsilon-cert", "near", "weights"];
        let is_custom = matches!(self, Self::Custom(_))
            || matches!(self.separation(), Some(SeparationKind::Custom(_)))
            || matches!(self.soft().map(|soft| &soft.proposal), Some(ProposalKind::Custom(_)));
        is_custom || self.options().keys().any(|name| WITH_UNITS.contains(&name.as_str()))
    }

    /// Refuses values that make no sense, in the words of [`parse`](Self::parse).
    pub fn validate(&self) -> Result<(), Error> {
        if let Self::Custom(_) = self {
            return Ok(());
        }
        let mut options = self.options();
        if let Some(SeparationKind::Custom(_)) = self.separation() {
            options.remove(super::SEPARATION_OPTION.name);
        }
        if let Some(ProposalKind::Custom(_)) = self.soft().map(|soft| &soft.proposal) {
            options.remove("proposal");
        }
        // Weights are checked where they are made, and their file need not be there any more.
        options.remove("weights");
        Self::parse(self.name(), &options).map(|_| ())
    }

    /// Builds the method.
    pub fn build(&self) -> Arc<dyn Method> {
        match self.clone() {
            Self::Auto => Arc::new(Auto::new()),
            Self::Bundle(settings) => Arc::new(Bundle::new(settings)),
            Self::BranchAndCut(settings) => Arc::new(BranchAndCut::new(settings)),
            Self::Sgd(settings) => Arc::new(Sgd::new(settings)),
            Self::Ccg(settings) => Arc::new(ccg(settings)),
            Self::Benders(settings) => Arc::new(benders(settings)),
            Self::Adr(_) => Arc::new(Adr),
            Self::Extensive(settings) => Arc::new(Extensive::new(settings)),
            Self::Custom(CustomMethod(method)) => method,
        }
    }
}

/// The fields that differ from the defaults, in the order of their definition.
pub(super) fn changes<S: Serialize + Default>(settings: &S) -> Map<String, Value> {
    let fields = |settings: &S| match serde_json::to_value(settings) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    let defaults = fields(&S::default());
    fields(settings).into_iter().filter(|(name, value)| defaults.get(name) != Some(value)).collect()
}

/// The name of the method.
impl fmt::Display for MethodSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for MethodSettings {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::named(name)
    }
}

impl From<BundleSettings> for MethodSettings {
    fn from(settings: BundleSettings) -> Self {
        Self::Bundle(settings)
    }
}

impl From<BranchAndCutSettings> for MethodSettings {
    fn from(settings: BranchAndCutSettings) -> Self {
        Self::BranchAndCut(settings)
    }
}

impl From<SgdSettings> for MethodSettings {
    fn from(settings: SgdSettings) -> Self {
        Self::Sgd(settings)
    }
}

impl From<ExtensiveSettings> for MethodSettings {
    fn from(settings: ExtensiveSettings) -> Self {
        Self::Extensive(settings)
    }
}

/// A shared method of another crate; equal to its clones only.
#[derive(Clone)]
pub struct CustomMethod(Arc<dyn Method>);

impl CustomMethod {
    /// Wraps a method.
    pub fn new(method: impl Method + 'static) -> Self {
        Self(Arc::new(method))
    }
}

impl fmt::Debug for CustomMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CustomMethod({:?})", self.0.name())
    }
}

impl PartialEq for CustomMethod {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

#[cfg(test)]
#[allow(clippy::panic)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::methods::METHODS;

    #[test]
    fn options_by_name_and_typed_settings_are_the_same_thing() {
        for entry in METHODS {
            let settings = MethodSettings::named(entry.name).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!((settings.name(), settings.build().name()), (entry.name, entry.name));
            assert_eq!(settings.options(), Map::new(), "{}", entry.name);
        }
        for (name, options) in [
            ("ccg", json!({"separation": "scan", "proposal": "weighted", "weights": [1.0, 0.0, 2.5]})),
            ("benders", json!({"temperature": 3.5, "acceptance": "barker", "transitions": 2})),
            ("bundle", json!({"separation": "soft", "stabilisation": "in-out", "chains": 3, "score": "moreau:0.5"})),
            (
                "branch-and-cut",
                json!({"tree": "multi", "root": "sgd", "near": 0.5, "nodes": 9, "proposal": "uniform",
                    "temperature": 2.0, "acceptance": "barker", "score": "moreau:1.0", "reference": "surface"}),
            ),
            ("extensive", json!({"max-copies": 7})),
            (
                "sgd",
                json!({"steps": "sqrt", "step": 2.0, "average": "step-size", "start": {"a": 1.0},
                    "proposal": "langevin",
                    "acceptance": "barker", "temperature": "adaptive", "margin": 0.1, "kappa": 2.5, "share": 0.5,
                    "transitions": 4, "chains": 2, "score": "moreau:0.5", "reference": "surface"}),
            ),
        ] {
            let Value::Object(options) = options else { panic!("{name} has no object of options") };
            let settings = MethodSettings::parse(name, &options).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(settings.options(), options, "{name}");
            assert!(settings.validate().is_ok(), "{name}");
        }
    }

    #[test]
    fn typed_settings_are_held_to_the_same_limits_as_options() {
        let refused = MethodSettings::from(BundleSettings::default().with_chains(0)).validate();
        assert_eq!(
            refused.map_err(|error| error.to_string()),
            Err("method \"bundle\": 0 is not an integer from 1 on".into())
        );
        let mut descent = SgdSettings::default();
        descent.soft.share = f64::NAN;
        assert!(MethodSettings::from(descent).validate().is_err());
        // Algorithm 2 gives every assignment one chain, and says how far it goes.
        let mut tree = BranchAndCutSettings::default();
        tree.soft.transitions = 2;
        assert!(MethodSettings::from(tree).validate().is_err());
    }

    #[test]
    fn weights_come_from_a_file() {
        let path = std::env::temp_dir().join(format!("softsep-weights-{}.csv", std::process::id()));
        let name = path.display().to_string();
        let parsed = |text: &str| {
            std::fs::write(&path, text).unwrap_or_else(|error| panic!("{error}"));
            let options = Map::from_iter([("weights".to_owned(), Value::from(name.clone()))]);
            MethodSettings::parse("bundle", &options)
        };
        for text in ["weight\n1\n0.5\n2e1\n", "1\r\n 0.5\r\n20\r\n\r\n", "1\n0.5\n20"] {
            let Ok(MethodSettings::Bundle(settings)) = parsed(text) else { panic!("{text:?}") };
            assert_eq!(settings.soft.weights.as_ref().map(|weights| weights.values()), Some(&[1.0, 0.5, 20.0][..]));
            let settings = MethodSettings::from(settings);
            assert_eq!(settings.options(), Map::from_iter([("weights".to_owned(), Value::from(name.clone()))]));
        }
        for (text, why) in [
            ("weight\n1\nmuch\n", "line 3: \"much\" is not a number that is not negative"),
            ("1\n-1\n", "line 2: \"-1\" is not"),
            ("1\n\n2\n", "line 2: \"\" is not"),
            ("inf\n1\n", "line 1: \"inf\" is not"),
            ("weight\n", "there are no weights"),
        ] {
            let said = parsed(text).map_err(|error| error.to_string());
            assert!(said.as_ref().is_err_and(|said| said.contains(why) && said.contains(&name)), "{text:?}: {said:?}");
        }
        std::fs::remove_file(&path).unwrap_or_else(|error| panic!("{error}"));
    }
}
