//! A study as one self-contained page of HTML: our numbers beside the paper's, the chart, how it was measured, the
//! commands.

use std::fmt::Write;

use crate::instances::Uncertain;
use softsep::VERSION;
use softsep::internals::report::{STYLE, html_text as text};

use super::chart::{self, Chart};
use super::line::{TableLine, median};
use super::plot::gap_after;
use super::prose;
use super::record::{Effort, Measurement};
use super::results::{Results, Timing, mean, quartiles};
use super::setup::MethodSetup;
use super::study::{Study, StudyRow};
use super::words::{grouped, mean_only, percent, printed, ratio, timing};

/// The style of this page beyond that of reports.
const OWN_STYLE: &str = include_str!("page.css");

/// The parts of a page.
pub(super) struct Page<'a> {
    pub(super) study: &'a Study,
    pub(super) results: &'a Results,
    pub(super) chart: &'a Chart,
    /// All machines that ran a cell.
    pub(super) machines: &'a str,
    pub(super) command: &'a str,
    /// Cells that are done.
    pub(super) done: usize,
    /// Cells that are asked for.
    pub(super) cells: usize,
}

/// A rebound is a gap above this multiple of the smallest so far.
const REBOUND: f64 = 1.5;

/// Smaller gaps count as this one.
const LEAST: f64 = 1e-9;

impl Page<'_> {
    /// The page.
    pub(super) fn write(&self) -> String {
        let exhibit = self.study.exhibit;
        let title = text(&format!("{}: {}", exhibit.title(), exhibit.caption()));
        let mut html = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
             <meta name=\"color-scheme\" content=\"light dark\"/>\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n\
             <title>{title} – softsep</title>\n<style>\n{STYLE}{}{OWN_STYLE}</style>\n</head>\n<body>\n<main>\n",
            chart::page_style()
        );
        self.header(&title, &mut html);
        html.push_str("<section>\n<h2>Chart</h2>\n<div class=\"charts\">\n");
        for element in self.chart.elements("chart") {
            let _ = writeln!(html, "<figure>{element}</figure>");
        }
        let _ = write!(html, "</div>\n{}</section>\n", self.chart.legend_list());
        if exhibit.is_figure() {
            self.gaps(&mut html)
        } else {
            self.times(&mut html)
        }
        self.missing(&mut html);
        self.measured_how(&mut html);
        self.again(&mut html);
        html.push_str("</main>\n</body>\n</html>\n");
        html
    }

    fn header(&self, title: &str, html: &mut String) {
        let study = self.study;
        let (class, word) = if self.done == self.cells { ("good", "Complete") } else { ("fair", "Not complete") };
        let _ = write!(
            html,
            "<header>\n<p class=\"kicker\">softsep paper</p>\n<h1>{title}</h1>\n\
             <p class=\"status\"><span class=\"badge {class}\">{word}</span> <span>{} of {} cells</span></p>\n<dl \
             class=\"facts\">\n",
            self.done, self.cells
        );
        let replications = match study.replications {
            1 => format!("1, of seed {}", study.seed),
            count => format!(
                "{}{count}, of seeds {} to {}",
                study.replicate_below.map_or("", |_| "up to "),
                study.seed,
                study.seed_of(count)
            ),
        };
        let facts = [
            ("machine", self.machines.to_owned()),
            ("version", format!("softsep {VERSION}")),
            ("replications", replications),
            ("time limit", format!("{} s for each run", study.limit)),
            ("command", self.command.to_owned()),
        ];
        for (head, words) in facts {
            let _ = writeln!(html, "<div><dt>{head}</dt><dd>{}</dd></div>", text(&words));
        }
        html.push_str("</dl>\n</header>\n");
    }

    /// The table of times.
    fn times(&self, html: &mut String) {
        html.push_str(
            "<section>\n<h2>Seconds, ours beside the paper's</h2>\n<div class=\"scroll\" \
             tabindex=\"0\">\n<table>\n<thead><tr><th>instances</th><th>method</th>",
        );
        for head in [
            "paper",
            "ours, to 0.1 %",
            "paper / ours",
            "to 0.01 %",
            "to its own proof",
            "solves to 0.1 %",
            "gap at start",
            "gap at end",
        ] {
            let _ = write!(html, "<th class=\"number\">{head}</th>");
        }
        html.push_str("</tr></thead>\n");
        for (row_index, row) in self.study.rows.iter().enumerate() {
            html.push_str("<tbody class=\"group\">\n");
            for (setup_index, setup) in self.study.setups.iter().enumerate() {
                let is_ours = setup.column().is_none();
                let _ = write!(html, "<tr{}>", if is_ours { " class=\"ours\"" } else { "" });
                if setup_index == 0 {
                    let _ = write!(html, "<th rowspan=\"{}\">{}</th>", self.study.setups.len(), text(&row.title));
                }
                let _ = write!(html, "<td>{}</td>", text(setup.title()));
                for cell in self.line(row_index, setup_index, *setup) {
                    let _ = write!(html, "<td class=\"number\">{}</td>", text(&cell));
                }
                html.push_str("</tr>\n");
            }
            html.push_str("</tbody>\n");
        }
        html.push_str("</table>\n</div>\n");
        if let Some(words) = prose::certificates(self.study, self.results) {
            let _ = writeln!(html, "<p>{}</p>", text(&words));
        }
        html.push_str("</section>\n");
    }

    /// The cells of a line: the paper's time, ours, the ratio, and columns that the paper does not print.
    fn line(&self, row_index: usize, setup_index: usize, setup: MethodSetup) -> [String; 8] {
        let (study, limit) = (self.study, self.study.limit);
        let runs = || self.results.measured(row_index, setup_index);
        let when = |of: fn(&Measurement) -> Option<Effort>| mean_only(Timing::of(study, runs(), of), limit);
        let line = TableLine::new(study, self.results, row_index, setup_index);
        let words = |value: Option<f64>| value.map_or("–".to_owned(), percent);
        let is_rule = setup == MethodSetup::Adr;
        let solves = || median(runs().filter_map(|run| run.coarse).map(|effort| effort.solves as f64));
        [
            line.printed.map_or("–".to_owned(), printed),
            if line.is_refused { "not taken".to_owned() } else { timing(line.ours, limit) },
            line.beside.map_or("–".to_owned(), |paper| ratio(paper, line.ours)),
            if is_rule { "–".to_owned() } else { when(|run| run.fine) },
            if setup.is_endless() { "–".to_owned() } else { when(|run| run.proved) },
            if is_rule { None } else { solves() }.map_or("–".to_owned(), |solves| grouped(solves.round() as u64)),
            if is_rule { "–".to_owned() } else { words(median(runs().filter_map(|run| run.start))) },
            words(line.last),
        ]
    }

    /// The table of gaps of a figure.
    fn gaps(&self, html: &mut String) {
        let last = self.study.iterations.unwrap_or(1);
        let mut moments: Vec<u64> = [10, 100, 1_000, 10_000].into_iter().filter(|moment| *moment < last).collect();
        moments.push(last);
        html.push_str(
            "<section>\n<h2>Gaps at the start and after so many iterations: median (quartiles)</h2>\n<div \
            class=\"scroll\" tabindex=\"0\">\n<table>\n<thead><tr><th>curve</th>",
        );
        html.push_str("<th class=\"number\">start</th>");
        for moment in &moments {
            let _ = write!(html, "<th class=\"number\">{}</th>", grouped(*moment));
        }
        html.push_str("<th class=\"number\">rebounds</th></tr></thead>\n<tbody>\n");
        for (row_index, row) in self.study.rows.iter().enumerate() {
            let _ = write!(html, "<tr><th>{}</th>", text(&row.title));
            let paths: Vec<&Measurement> = self.results.measured(row_index, 0).collect();
            // Iteration 1 holds the start: averages come later.
            for moment in [1].iter().chain(&moments) {
                let mut sample: Vec<f64> = paths.iter().filter_map(|run| gap_after(&run.path, *moment)).collect();
                let words = if sample.is_empty() {
                    "–".to_owned()
                } else {
                    let [low, median, high] = quartiles(&mut sample);
                    format!("{} ({}–{})", percent(median), bare(low), bare(high))
                };
                let _ = write!(html, "<td class=\"number\">{words}</td>");
            }
            let rebounds: Vec<f64> = paths.iter().map(|run| rebounds(&run.path)).collect();
            let words = if rebounds.is_empty() { "–".to_owned() } else { format!("{:.1}", mean(&rebounds).0) };
            let _ = writeln!(html, "<td class=\"number\">{words}</td></tr>");
        }
        let _ = writeln!(html, "</tbody>\n</table>\n</div>\n<p>{}</p>\n</section>", prose::REBOUNDS);
    }

    /// Cells that were refused or failed.
    fn missing(&self, html: &mut String) {
        let reasons = prose::missing(self.study, self.results);
        if reasons.is_empty() {
            return;
        }
        html.push_str("<section>\n<h2>What is missing</h2>\n<ul>\n");
        for (reason, rows) in reasons {
            let _ = writeln!(html, "<li>{}: {}</li>", text(&rows.join("; ")), text(&reason));
        }
        html.push_str("</ul>\n</section>\n");
    }

    fn measured_how(&self, html: &mut String) {
        html.push_str("<section>\n<h2>How this was measured</h2>\n");
        for paragraph in prose::how_measured(self.study, self.results) {
            let _ = writeln!(html, "<p>{}</p>", text(&paragraph));
        }
        html.push_str("</section>\n");
    }

    fn again(&self, html: &mut String) {
        let _ = write!(
            html,
            "<section>\n<h2>Run it again</h2>\n<p>All of it; cells that are finished are not run \
             again:</p>\n<pre><code>{}</code></pre>\n",
            text(self.command)
        );
        if let Some(row) = self.study.rows.last() {
            let mut lines = format!("{}\n", generate(row, self.study.seed));
            for setup in &self.study.setups {
                let end = match (setup.is_endless(), self.study.iterations) {
                    (true, Some(iterations)) => format!(" --iterations {iterations}"),
                    _ => format!(" --time-limit {}", self.study.limit),
                };
                let _ = writeln!(
                    lines,
                    "softsep solve instance.json {}{end} --seed {}",
                    setup.command_options(row),
                    self.study.seed
                );
            }
            let lines: Vec<String> = lines.lines().map(text).collect();
            let _ = write!(
                html,
                "<p>One instance of the last row, and each method on it:</p>\n<pre><code>{}</code></pre>\n",
                lines.join("\n")
            );
        }
        html.push_str("</section>\n");
    }
}

/// The command that draws an instance of a row.
fn generate(row: &StudyRow, seed: u64) -> String {
    let set = match row.uncertainty {
        Uncertain::Ellipsoid => "ellipsoid".to_owned(),
        Uncertain::Scenarios(count) => format!("scenarios --scenarios {count}"),
        Uncertain::Budget { gamma } => format!("budget --gamma {gamma}"),
        Uncertain::TotalBudget { total } => format!("budget --budget {total}"),
        Uncertain::Polyhedron { gamma } => format!("polyhedron --gamma {gamma}"),
    };
    let kind = if row.mixed_integer { " --mixed-integer" } else { "" };
    format!(
        "softsep generate location-transportation --n {} --uncertainty {set}{kind} --seed {seed} --out instance.json",
        row.n
    )
}

/// A gap in percent without the sign.
fn bare(share: f64) -> String {
    percent(share).trim_end_matches(" %").to_owned()
}

/// How often the gap rose to more than [`REBOUND`] times the smallest so far.
fn rebounds(path: &[(u64, f64)]) -> f64 {
    let (mut least, mut is_up, mut count) = (f64::INFINITY, false, 0.0);
    for &(_, gap) in path {
        least = least.min(gap).max(LEAST);
        let was_up = std::mem::replace(&mut is_up, gap > REBOUND * least);
        count += f64::from(u8::from(is_up && !was_up));
    }
    count
}
