//! Settings of methods from options by name, for the command line and other languages. An error says in words which
//! values are right, never in types.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::method_settings::changes;
use super::{OptionInfo, PRESET_OPTION};

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

/// Parses the options of a method that has presets: `preset` names the settings to start from, and the other options
/// change single ones.
pub(super) fn parse_with_presets<S: Serialize + DeserializeOwned + Default>(
    options: &Map<String, Value>,
    known: &[OptionInfo],
    presets: &[(&str, S)],
) -> Result<S, String> {
    let mut given = options.clone();
    let Some(preset) = given.remove(PRESET_OPTION.name) else { return parse_options(options, known) };
    let named = preset.as_str().and_then(|word| presets.iter().find(|(name, _)| *name == word));
    let Some((_, settings)) = named else {
        let names: Vec<&str> = presets.iter().map(|(name, _)| *name).collect();
        return Err(format!("{preset} is no preset; {} is", names.join(", ")));
    };
    let mut all = changes(settings);
    all.extend(given);
    parse_options(&all, known)
}
