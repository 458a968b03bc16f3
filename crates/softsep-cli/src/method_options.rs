//! The options of single methods, taken from the registry: a new method's options need no line here.

use std::path::Path;

use clap::error::Error as ClapError;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use serde_json::{Map, Value};
use softsep::methods::{Entry, METHODS, MethodSettings, OptionInfo};

use crate::decision;
use crate::exit::Failure;

/// The options given, by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct MethodOptions {
    given: Map<String, Value>,
}

impl MethodOptions {
    /// The method with these options, if all of them are options of it and have values that it takes.
    pub(crate) fn of(&self, method: &'static Entry) -> Result<MethodSettings, Failure> {
        for name in self.given.keys() {
            if !method.options.iter().any(|option| option.name == name) {
                let owners: Vec<String> = owners(name).map(|entry| format!("--method {}", entry.name)).collect();
                let owners = owners.join(" or ");
                return Err(Failure::unusable(format!(
                    "--{name} goes with {owners}, not with --method {}",
                    method.name
                )));
            }
        }
        let given = self
            .given
            .iter()
            .map(|(name, value)| Ok((name.clone(), resolved(value)?)))
            .collect::<Result<Map<_, _>, Failure>>()?;
        method.parse(&given).map_err(|error| {
            // The message of the method names a value only; name the option too, where one option alone is at fault.
            let at_fault = given.iter().find(|(name, value)| {
                let alone = Map::from_iter([((*name).clone(), (*value).clone())]);
                method.parse(&alone).is_err()
            });
            let said = error.to_string();
            let about = format!("method \"{}\": ", method.name);
            Failure::unusable(match at_fault {
                Some((name, _)) => format!("--{name}: {}", said.strip_prefix(&about).unwrap_or(&said)),
                None => said,
            })
        })
    }
}

/// The methods that have an option of this name.
fn owners(name: &str) -> impl Iterator<Item = &'static Entry> {
    METHODS.iter().filter(move |entry| entry.options.iter().any(|option| option.name == name))
}

/// Every option once, though several methods may have it.
fn options() -> impl Iterator<Item = &'static OptionInfo> {
    METHODS.iter().flat_map(|entry| {
        let is_first =
            move |option: &&OptionInfo| owners(option.name).next().is_some_and(|first| first.name == entry.name);
        entry.options.iter().filter(is_first)
    })
}

/// Reads the text as JSON (a number, a truth value); text that is no JSON stays a string.
fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

/// `@FILE` is the decision in that file: a result, or names and numbers.
fn resolved(value: &Value) -> Result<Value, Failure> {
    match value.as_str().and_then(|text| text.strip_prefix('@')) {
        Some(file) => Ok(decision::read_named(Path::new(file))?
            .into_iter()
            .map(|(name, value)| (name, Value::from(value)))
            .collect()),
        None => Ok(value.clone()),
    }
}

impl Args for MethodOptions {
    fn augment_args(command: Command) -> Command {
        options().fold(command, |command, option| {
            let methods: Vec<&str> = owners(option.name).map(|entry| entry.name).collect();
            command.arg(
                Arg::new(option.name)
                    .long(option.name)
                    .value_name("VALUE")
                    .allow_negative_numbers(true)
                    .help(format!("{} [default: {}]", sentence(option.help), option.default))
                    .help_heading(format!("Options of --method {}", methods.join(", "))),
            )
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for MethodOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, ClapError> {
        let mut options = Self::default();
        options.update_from_arg_matches(matches)?;
        Ok(options)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), ClapError> {
        for option in options() {
            if let Some(text) = matches.get_one::<String>(option.name) {
                self.given.insert(option.name.to_owned(), value(text));
            }
        }
        Ok(())
    }
}

/// With a capital at the start, as all help has, unless the first word is a symbol ("ε") or a value ("single (…)").
fn sentence(text: &str) -> String {
    let word = text.split([' ', ',']).next().unwrap_or_default();
    if word.len() < 2 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) || text[word.len()..].starts_with(" (") {
        return text.to_owned();
    }
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::sentence;

    #[test]
    fn help_starts_with_a_capital_except_for_symbols_and_values() {
        assert_eq!(sentence("transitions of each chain per call"), "Transitions of each chain per call");
        for symbol in ["ε_cert of --search chains", "c₀ of Algorithm 2", "p of Algorithm 2", "w, in units of cost"] {
            assert_eq!(sentence(symbol), symbol);
        }
        assert_eq!(sentence("single (one tree) or multi"), "single (one tree) or multi");
    }
}
