//! The options of `sgd`.

use serde::Deserialize;
use serde_json::Value;

use super::average::Averaging;
use crate::methods::OptionInfo;
use crate::model::Problem;

/// What `softsep solve --help` lists.
pub(super) const OPTIONS: &[OptionInfo] = &[
    OptionInfo { name: "proposal", default: "auto", help: "where the chain may go next: uniform, adaptive (tilted by the recourse's slope), or auto" },
    OptionInfo { name: "acceptance", default: "metropolis", help: "when it goes there: metropolis or barker" },
    OptionInfo {
        name: "temperature",
        default: "auto",
        help: "w: how much worse a scenario the chain may accept, in units of the objective; auto is a small share of the gap asked for, adaptive \
               falls as in Proposition 2",
    },
    OptionInfo { name: "kappa", default: "auto", help: "how much the adaptive proposal leans along the slope; auto grows with the dimension" },
    OptionInfo { name: "transitions", default: "1", help: "transitions of the chain per iteration" },
    OptionInfo { name: "steps", default: "level", help: "the rule for the length of a step: level (toward a level, with memory of all cuts seen) or sqrt (α₀/√n)" },
    OptionInfo { name: "step", default: "auto", help: "α₀ of --steps sqrt; auto finds a scale from the distances and slopes seen" },
    OptionInfo { name: "average", default: "linear", help: "what --steps sqrt returns: the linear or the step-size average" },
    OptionInfo { name: "start", default: "nominal", help: "the first x: nominal (optimal for a typical scenario), zero, support (optimal for a bad scenario), or an object {\"name\": value, …}" },
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

impl<'de> Deserialize<'de> for Choice {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Value::deserialize(from)? {
            Value::String(word) if word == "auto" => Ok(Self::Auto),
            Value::Number(number) => match number.as_f64() {
                Some(value) if value.is_finite() && value > 0.0 => Ok(Self::Given(value)),
                _ => Err(serde::de::Error::custom(format!("{number} is not a positive number"))),
            },
            other => Err(serde::de::Error::custom(format!("{other} is neither a positive number nor auto"))),
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
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Value::deserialize(from)? {
            Value::String(word) if word == "adaptive" => Ok(Self::Adaptive),
            other => match serde_json::from_value(other) {
                Ok(Choice::Auto) => Ok(Self::Auto),
                Ok(Choice::Given(value)) => Ok(Self::Given(value)),
                Err(_) => Err(serde::de::Error::custom("it is a positive number, auto or adaptive")),
            },
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
    /// Optimal for the worst of a few support points.
    Support,
    /// By names; what is not named is zero.
    Given(serde_json::Map<String, Value>),
}

impl<'de> Deserialize<'de> for Start {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Value::deserialize(from)? {
            Value::Object(names) => Ok(Self::Given(names)),
            Value::String(word) if word == "nominal" => Ok(Self::Nominal),
            Value::String(word) if word == "zero" => Ok(Self::Zero),
            Value::String(word) if word == "support" => Ok(Self::Support),
            other => Err(serde::de::Error::custom(format!("{other} is no start; nominal, zero, support or an object of names and numbers are"))),
        }
    }
}

/// Where candidates come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ProposalChoice {
    /// Adaptive where there is a tilt.
    #[default]
    Auto,
    /// From ν.
    Uniform,
    /// Tilted.
    Adaptive,
}

/// When candidates are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum AcceptanceChoice {
    /// Metropolis–Hastings.
    #[default]
    Metropolis,
    /// Barker.
    Barker,
}

/// All of them.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct SgdSettings {
    pub(super) proposal: ProposalChoice,
    pub(super) acceptance: AcceptanceChoice,
    pub(super) temperature: Temperature,
    pub(super) kappa: Choice,
    pub(super) transitions: usize,
    pub(super) steps: Steps,
    pub(super) step: Choice,
    pub(super) average: Averaging,
    pub(super) start: Start,
}

impl Default for SgdSettings {
    fn default() -> Self {
        Self {
            proposal: ProposalChoice::default(),
            acceptance: AcceptanceChoice::default(),
            temperature: Temperature::default(),
            kappa: Choice::default(),
            transitions: 1,
            steps: Steps::default(),
            step: Choice::default(),
            average: Averaging::default(),
            start: Start::default(),
        }
    }
}

impl SgdSettings {
    /// Refuses what makes no sense.
    pub(super) fn validate(&self) -> Result<(), String> {
        if self.transitions == 0 {
            return Err("the number of transitions must be at least 1".into());
        }
        Ok(())
    }

    /// What the chain walks on, in words.
    pub(super) fn words(&self, problem: &Problem) -> String {
        format!("the {}", problem.set.kind())
    }
}
