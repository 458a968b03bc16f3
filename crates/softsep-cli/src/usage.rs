//! Mistakes on the command line, in one line as all errors are.

use clap::Error;
use clap::error::ErrorKind;

use crate::exit::Failure;

/// The failure for an error of the command line. Requests for help or the version are none: the text is printed, and
/// the process ends.
pub(crate) fn failure(error: &Error) -> Failure {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            error.exit()
        }
        _ => Failure::unusable(line_of(&error.to_string())),
    }
}

/// The fault, the possible values and the tip of clap's message, which has a line for each; its usage and its pointer
/// to `--help` are left out.
fn line_of(message: &str) -> String {
    let mut line = String::new();
    let parts =
        message.lines().map(str::trim).take_while(|part| !part.starts_with("Usage:") && !part.starts_with("For more"));
    for part in parts.filter(|part| !part.is_empty()) {
        let part = part.strip_prefix("error: ").unwrap_or(part);
        match part.strip_prefix("tip: ") {
            // The tip on passing a word that begins with a dash as a file does not apply here.
            Some(tip) if tip.starts_with("to pass ") => continue,
            Some(tip) => line += &format!("; {tip}"),
            None if line.is_empty() => line += part,
            None if line.ends_with(':') || part.starts_with('[') => line += &format!(" {part}"),
            None => line += &format!(", {part}"),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::line_of;

    #[test]
    fn messages_become_one_line() {
        let usage = "\n\nUsage: softsep solve <PROBLEM>\n\nFor more information, try '--help'.\n";
        let said = |message: &str| line_of(&format!("{message}{usage}"));
        assert_eq!(
            said("error: invalid value 'maybe' for '--certify <KIND>'\n  [possible values: none, exact]"),
            "invalid value 'maybe' for '--certify <KIND>' [possible values: none, exact]"
        );
        assert_eq!(
            said("error: unexpected argument '--gapp' found\n\n  tip: a similar argument exists: '--gap'"),
            "unexpected argument '--gapp' found; a similar argument exists: '--gap'"
        );
        assert_eq!(
            said("error: the following required arguments were not provided:\n  --x <FILE>\n  <PROBLEM>"),
            "the following required arguments were not provided: --x <FILE>, <PROBLEM>"
        );
        assert_eq!(
            said("error: unexpected argument '--w' found\n\n  tip: to pass '--w' as a value, use '-- --w'"),
            "unexpected argument '--w' found"
        );
    }
}
