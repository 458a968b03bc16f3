//! The `softsep` command: reads the command line and hands over to one of the commands.
#![forbid(unsafe_code)]

mod check;
mod decision;
mod diagnose;
mod evaluate;
mod exit;
mod generate;
mod interrupt;
mod method_options;
mod methods;
mod numbers;
mod output;
mod paper;
mod policy;
mod progress;
mod scale;
mod solve;
mod usage;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use exit::Failure;

const EXAMPLES: &str = "\
A first example:
  softsep generate location-transportation --n 5 --uncertainty budget --gamma 0.4 --out depots.json
  softsep solve depots.json --out result.json
  softsep evaluate depots.json --x result.json

Exit codes: 0 a result was produced, whatever its status; 1 the solver failed; 2 an unusable command
line or input; 130 after Ctrl-C, which still writes the best solution found.

\"softsep COMMAND --help\" explains a command and shows examples of it.";

/// Solve two-stage adaptive robust optimization problems
///
/// Choose x now; an adversary picks the worst ξ in an uncertainty set; then recourse y responds at the least cost.
/// Problems are aro/1 JSON files. Results go to the standard output, messages to the standard error.
#[derive(Debug, Parser)]
#[command(name = "softsep", version, after_help = EXAMPLES, arg_required_else_help = true, max_term_width = 100)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Solve(Box<solve::Solve>),
    Evaluate(evaluate::Evaluate),
    Check(check::Check),
    Diagnose(diagnose::Diagnose),
    Generate(generate::Generate),
    Methods(methods::Methods),
    Paper(paper::Paper),
}

fn main() -> ExitCode {
    let parsed = CommandLine::try_parse().map_err(|error| usage::failure(&error));
    let outcome = parsed.and_then(|line| match line.command {
        Command::Solve(command) => command.run(),
        Command::Evaluate(command) => command.run(),
        Command::Check(command) => command.run(),
        Command::Diagnose(command) => command.run(),
        Command::Generate(command) => command.run(),
        Command::Methods(command) => command.run(),
        Command::Paper(command) => command.run(),
    });
    outcome.unwrap_or_else(Failure::report).into()
}
