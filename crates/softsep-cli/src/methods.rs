//! `softsep methods`: the registry in words.

use clap::Args;
use serde_json::{Value, json};
use softsep::methods::{Entry, METHODS};

use crate::exit::{Exit, Failure};
use crate::output::{print, print_json};

const EXAMPLES: &str = "\
Examples:
  softsep methods
  softsep methods --json | jq '.[].name'

\"softsep check PROBLEM\" lists those that apply to a problem.";

/// List the methods, with the problems that each accepts and its guarantee
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Methods {
    /// Print a JSON array in place of the text
    #[arg(long)]
    json: bool,
}

/// Columns of a terminal of usual width.
const WIDTH: usize = 100;

impl Methods {
    /// Prints.
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        if self.json {
            print_json(&METHODS.iter().map(json_of).collect())?;
        } else {
            print(&METHODS.iter().map(text_of).collect::<Vec<_>>().join("\n"))?;
        }
        Ok(Exit::Done)
    }
}

fn json_of(entry: &Entry) -> Value {
    let options = entry.options.iter().map(|option| {
        // Numbers as numbers; text that is no JSON stays a string.
        let default: Value = serde_json::from_str(option.default).unwrap_or_else(|_| option.default.into());
        json!({"name": option.name, "default": default, "help": option.help})
    });
    json!({
        "name": entry.name,
        "summary": entry.summary,
        "accepts": entry.accepts,
        "guarantees": entry.guarantees,
        "options": options.collect::<Vec<_>>(),
    })
}

fn text_of(entry: &Entry) -> String {
    let options =
        entry.options.iter().map(|option| format!("--{}: {} (default {})", option.name, option.help, option.default));
    let parts = [
        ("does", entry.summary.to_owned()),
        ("accepts", entry.accepts.to_owned()),
        ("guarantees", entry.guarantees.to_owned()),
    ];
    let options = options.map(|option| ("option", option));
    let lines = parts.into_iter().chain(options).map(|(label, text)| wrapped(&format!("  {label:<12}"), &text));
    format!("{}\n{}", entry.name, lines.collect::<String>())
}

/// The text after its label, in lines that fit, each below the first.
fn wrapped(label: &str, text: &str) -> String {
    let margin = label.chars().count();
    let (mut lines, mut column) = (label.to_owned(), margin);
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > margin && column + 1 + length > WIDTH {
            lines += "\n";
            lines += &" ".repeat(margin);
            column = margin;
        } else if column > margin {
            lines.push(' ');
            column += 1;
        }
        lines += word;
        column += length;
    }
    lines + "\n"
}
