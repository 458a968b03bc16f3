//! The weights of the weighted proposal: prior knowledge of the scenarios of a list (Example 3 of the paper).

use std::fs;
use std::io::ErrorKind;
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// One weight for each scenario of a list, in the order of the list: finite, not negative. A scenario with twice the
/// weight is proposed twice as often.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    values: Arc<[f64]>,
    /// The file that they came from.
    file: Option<String>,
}

impl Weights {
    /// Weights by value. The error names the fault.
    pub fn new(values: Vec<f64>) -> Result<Self, String> {
        if values.is_empty() {
            return Err("there are no weights".into());
        }
        match values.iter().position(|&weight| !is_weight(weight)) {
            Some(at) => Err(format!("weight {} is {}; weights are finite and not negative", at + 1, values[at])),
            None => Ok(Self { values: values.into(), file: None }),
        }
    }

    /// Reads the weights of a text file with one number on each line. A first line that is no number is a header.
    pub fn read(file: &str) -> Result<Self, String> {
        let text = fs::read_to_string(file).map_err(|error| match error.kind() {
            ErrorKind::NotFound => format!("{file}: there is no such file"),
            ErrorKind::InvalidData => format!("{file}: is not UTF-8 text"),
            _ => format!("{file}: cannot be read: {error}"),
        })?;
        let mut values = Vec::new();
        for (line, cell) in text.trim_end().lines().enumerate() {
            match cell.trim().parse() {
                Ok(weight) if is_weight(weight) => values.push(weight),
                Err(_) if line == 0 => {}
                _ => {
                    let line = line + 1;
                    return Err(format!("{file}: line {line}: \"{cell}\" is not a number that is not negative"));
                }
            }
        }
        let weights = Self::new(values).map_err(|why| format!("{file}: {why}"))?;
        Ok(Self { file: Some(file.to_owned()), ..weights })
    }

    /// The weights in the order of the list.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}

fn is_weight(weight: f64) -> bool {
    weight.is_finite() && weight >= 0.0
}

/// A file as its name, so that an option given by name is written as it was read.
pub(super) fn as_option<S: Serializer>(weights: &Option<Weights>, to: S) -> Result<S::Ok, S::Error> {
    match weights {
        None => to.serialize_str("none"),
        Some(Weights { file: Some(file), .. }) => to.serialize_str(file),
        Some(weights) => weights.values().serialize(to),
    }
}

/// Reads the name of a file, a list of numbers, or `none`.
pub(super) fn from_option<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Weights>, D::Error> {
    let refuse = |value: &Value| D::Error::custom(format!("{value} is neither a file nor a list of numbers"));
    let weights = match Value::deserialize(from)? {
        Value::String(word) if word == "none" => return Ok(None),
        Value::String(file) => Weights::read(&file),
        Value::Array(values) => {
            let numbers = values.iter().map(|value| value.as_f64().ok_or_else(|| refuse(value)));
            Weights::new(numbers.collect::<Result<_, _>>()?)
        }
        other => return Err(refuse(&other)),
    };
    weights.map(Some).map_err(D::Error::custom)
}
