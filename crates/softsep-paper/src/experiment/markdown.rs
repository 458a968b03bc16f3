//! A table of a study in Markdown: a row for each row of the paper, a column for each method.

use std::fmt::Write;

use softsep::VERSION;

use super::line::TableLine;
use super::prose;
use super::results::Results;
use super::setup::MethodSetup;
use super::study::Study;
use super::words::{mean_only, percent, printed_mean, ratio};

/// The table with a legend, and the facts that its numbers depend on.
pub(super) fn table(study: &Study, results: &Results, machines: &str, command: &str) -> String {
    let exhibit = study.exhibit;
    let mut text = format!("**{}: {}.** {}\n\n| instances |", exhibit.title(), exhibit.caption(), legend(study));
    for setup in &study.setups {
        let _ = write!(text, " {} |", setup.title());
    }
    let _ = writeln!(text, "\n|---|{}", "---|".repeat(study.setups.len()));
    for (row_index, row) in study.rows.iter().enumerate() {
        if results.is_open(row_index) {
            continue;
        }
        let _ = write!(text, "| {} |", row.title.replace('|', "\\|"));
        for (setup_index, setup) in study.setups.iter().enumerate() {
            let line = TableLine::new(study, results, row_index, setup_index);
            let _ = write!(text, " {} |", cell(study, *setup, &line));
        }
        text.push('\n');
    }
    text.push('\n');
    for (reason, rows) in prose::missing(study, results) {
        let _ = writeln!(text, "- {}: {reason}", rows.join("; "));
    }
    for note in prose::certificates(study, results).into_iter().chain([prose::gaps(study, results)]) {
        let _ = writeln!(text, "- {note}");
    }
    let _ = writeln!(text, "- softsep {VERSION}; {machines}; {}.", replications(study, results));
    let _ = writeln!(text, "- `{command}`");
    text
}

fn legend(study: &Study) -> String {
    format!(
        "Seconds to 0.1 % (printed; printed / ours), then the median gap at the end and the runs that proved 0.1 % \
         themselves. {} Runs were stopped after {} s; > has the time until then.",
        prose::clock(study),
        study.limit
    )
}

/// The cell of a row and a method.
fn cell(study: &Study, setup: MethodSetup, line: &TableLine) -> String {
    if line.runs == 0 {
        let words = if line.has_failed { "failed" } else { "–" };
        return if line.is_refused { "not taken" } else { words }.to_owned();
    }
    let mut text = mean_only(line.ours, study.limit);
    let beside = line.beside.map(|paper| ratio(paper, line.ours)).filter(|ratio| ratio != "–");
    let in_paper: Vec<String> =
        line.printed.map(printed_mean).into_iter().chain(beside.map(|r| format!("{r}×"))).collect();
    if !in_paper.is_empty() {
        let _ = write!(text, " ({})", in_paper.join("; "));
    }
    let mut end: Vec<String> = line.last.map(percent).into_iter().collect();
    let TableLine { runs, proved, likely, refuted, .. } = *line;
    match setup {
        // These prove nothing about the optimum.
        MethodSetup::Algorithm1 | MethodSetup::Adr => {}
        MethodSetup::Algorithm3 => {
            let lies = if refuted > 0 { format!(", {refuted} falsely") } else { String::new() };
            end.push(format!("certified {likely}/{runs}{lies}"));
        }
        _ => end.push(format!("proved {proved}/{runs}")),
    }
    if !end.is_empty() {
        let _ = write!(text, "<br>{}", end.join(", "));
    }
    text
}

/// The number of replications, which may differ from cell to cell.
fn replications(study: &Study, results: &Results) -> String {
    let cells = (0..study.rows.len()).flat_map(|row| (0..study.setups.len()).map(move |setup| (row, setup)));
    let counts: Vec<usize> =
        cells.map(|(row, setup)| results.measured(row, setup).count()).filter(|count| *count > 0).collect();
    match (counts.iter().min(), counts.iter().max()) {
        (Some(1), Some(1)) => format!("one replication, of seed {}", study.seed),
        (Some(least), Some(most)) if least < most => {
            format!("{least} to {most} replications, from seed {} on", study.seed)
        }
        (_, Some(most)) => format!("{most} replications, from seed {} on", study.seed),
        _ => "no replication yet".to_owned(),
    }
}
