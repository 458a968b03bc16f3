//! Settings of methods from options by name, for the command line and other languages. An error says in words which
//! values are right, never in types.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::OptionInfo;

/// Parses the options of a method into its settings. An option that the method does not have is an error.
pub(super) fn parse_options<S: DeserializeOwned>(
    options: &Map<String, Value>,
    known: &[OptionInfo],
) -> Result<S, String> {
    if let Some(name) = options.keys().find(|name| known.iter().all(|option| option.name != *name)) {
        return Err(match known.iter().map(|option| option.name).collect::<Vec<_>>() {
            names if names.is_empty() => format!("it has no option \"{name}\", and none at all"),
            names => format!("it has no option \"{name}\"; its options are {}", names.join(", ")),
        });
    }
    serde_json::from_value(Value::Object(options.clone())).map_err(|error| error.to_string())
}
