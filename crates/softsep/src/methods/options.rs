//! How options of methods are read. What is wrong with a value is said in words that tell what would be right, never in
//! types.

use std::str::FromStr;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// Parses a method's options into its settings.
pub(super) fn parse_options<S: DeserializeOwned>(options: &Map<String, Value>) -> Result<S, String> {
    serde_json::from_value(Value::Object(options.clone())).map_err(|error| error.to_string())
}

/// Reads a word by what knows it; a value that is no word is a wrong one.
pub(super) fn by_word<'de, T: FromStr<Err = String>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    let word = match Value::deserialize(from)? {
        Value::String(word) => word,
        other => other.to_string(),
    };
    word.parse().map_err(D::Error::custom)
}

/// Reads a whole number from 1 on.
pub(super) fn count<'de, T: TryFrom<u64>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    let value = Value::deserialize(from)?;
    let count = value
        .as_u64()
        .filter(|count| *count > 0)
        .ok_or_else(|| D::Error::custom(format!("{value} is not a whole number from 1 on")))?;
    T::try_from(count).map_err(|_| D::Error::custom(format!("{value} is more than there can be")))
}
