//! The effort of the run, and the command that reproduces it.

use std::fmt::Write;

use serde_json::Value;

use super::escape::text;
use crate::certify::{Assumed, Certify, ChainConstants, ProbabilisticTarget};
use crate::outcome::Outcome;
use crate::report::history::History;
use crate::settings::{Settings, Solver};

/// Returns the section.
pub(super) fn section(file: Option<&str>, settings: &Settings, outcome: &Outcome, history: &History) -> String {
    let mut html = String::from("<section>\n<h2>The run</h2>\n<dl class=\"run\">\n");
    let mut entry = |what: &str, value: &str| {
        let _ = writeln!(html, "<div><dt>{what}</dt><dd>{value}</dd></div>");
    };
    entry("Method", outcome.method);
    entry("Time", &format!("{:.2} s", outcome.seconds));
    entry("Iterations", &outcome.iterations.to_string());
    entry("Recourse solves", &outcome.recourse_solves.to_string());
    entry("Seed", &outcome.seed.to_string());
    entry("softsep", crate::VERSION);
    html.push_str("</dl>\n");
    if !history.notes().is_empty() {
        html.push_str("<h3>Messages of the method</h3>\n<ul>\n");
        for note in history.notes() {
            let _ = writeln!(html, "<li>{}</li>", text(note));
        }
        html.push_str("</ul>\n");
    }
    let _ = write!(
        html,
        "<h3>To run it again</h3>\n<pre><code>{}</code></pre>\n<p class=\"note\">The same problem, options and seed \
         give the same result to the last digit, on any \
         number of threads, unless a time limit or Ctrl-C ends the run.</p>\n</section>\n",
        text(&command(file, settings))
    );
    html
}

/// The command line with these settings.
fn command(file: Option<&str>, settings: &Settings) -> String {
    let mut line =
        format!("softsep solve {} --method {}", word(file.unwrap_or("PROBLEM")), word(settings.method.name()));
    let _ = write!(line, " --gap {:?} --seed {}", settings.gap, settings.seed);
    if let Some(limit) = settings.time_limit {
        let _ = write!(line, " --time-limit {}", limit.as_secs_f64());
    }
    if let Some(limit) = settings.iterations {
        let _ = write!(line, " --iterations {limit}");
    }
    if settings.solver != Solver::Highs {
        let _ = write!(line, " --solver {}", word(&settings.solver.to_string()));
    }
    match settings.certify {
        Certify::Free => {}
        Certify::Exact => line.push_str(" --certify exact"),
        Certify::None => line.push_str(" --certify none"),
        Certify::Probabilistic(ProbabilisticTarget { confidence, level, assumed }) => {
            let _ = write!(line, " --certify probabilistic --confidence {confidence:?} --violation {level:?}");
            let constants = match assumed {
                Assumed::Nothing => [None; 3],
                Assumed::Miss { rho } => [Some(("rho", rho)), None, None],
                Assumed::Chain(ChainConstants { margin, eta, lipschitz }) => [
                    eta.map(|eta| ("eta", eta)),
                    Some(("margin", margin)),
                    lipschitz.map(|lipschitz| ("lipschitz", lipschitz)),
                ],
            };
            for (name, value) in constants.into_iter().flatten() {
                let _ = write!(line, " --assume {name}={value:?}");
            }
        }
    }
    for (name, value) in settings.method.options() {
        let value = match value {
            Value::String(value) => word(&value),
            // A decision was read from a file whose name is not known here.
            Value::Object(_) => "@DECISION".to_owned(),
            other => word(&other.to_string()),
        };
        let _ = write!(line, " --{name} {value}");
    }
    line
}

/// Quotes a word for a shell.
fn word(raw: &str) -> String {
    let plain = |character: char| character.is_alphanumeric() || "-_./,:=@+%".contains(character);
    if !raw.is_empty() && raw.chars().all(plain) { raw.to_owned() } else { format!("'{}'", raw.replace('\'', "'\\''")) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::time::Duration;

    use serde_json::{Map, json};

    use super::*;
    use crate::methods::MethodSettings;

    #[test]
    fn a_command_has_all_that_matters() {
        let settings = Settings::default();
        assert_eq!(
            command(Some("depots.json"), &settings),
            "softsep solve depots.json --method auto --gap 0.001 --seed 1"
        );
        let options = Map::from_iter([
            ("chains".to_owned(), json!(4)),
            ("proposal".to_owned(), json!("uniform")),
            ("start".to_owned(), json!({"a": 1.0})),
        ]);
        let settings = Settings {
            method: MethodSettings::parse("sgd", &options).unwrap(),
            gap: 1e-7,
            time_limit: Some(Duration::from_millis(1500)),
            iterations: Some(9),
            seed: 7,
            threads: Some(2),
            certify: Certify::Exact,
            solver: "gurobi:/opt/gurobi".parse().unwrap(),
        };
        assert_eq!(
            command(Some("it's mine.json"), &settings),
            "softsep solve 'it'\\''s mine.json' --method sgd --gap 1e-7 --seed 7 --time-limit 1.5 --iterations 9 \
             --solver gurobi:/opt/gurobi --certify exact --start @DECISION --proposal uniform --chains 4"
        );
        let assumed = Assumed::Chain(ChainConstants::new(2.0).with_eta(0.5).with_lipschitz(3.0));
        let wanted = ProbabilisticTarget { confidence: 0.99, level: 0.01, assumed };
        let settings = Settings { certify: Certify::Probabilistic(wanted), ..Settings::default() };
        let ending = " --certify probabilistic --confidence 0.99 --violation 0.01 --assume eta=0.5 --assume margin=2.0 \
                      --assume lipschitz=3.0";
        assert!(command(None, &settings).ends_with(ending));
    }
}
