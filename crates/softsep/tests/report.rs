//! The page of a run: what is on it, that it is well formed whatever the names are, that it needs nothing else and says
//! nothing false.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "report/markup.rs"]
mod markup;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use markup::{Element, parse};

use softsep::definition::{Row, Variable};
use softsep::methods::MethodSettings;
use softsep::report::{History, HtmlReport};
use softsep::run::{Assumption, Attested, Clock, Event, Limits, Observer, ProbabilisticBound, Record, Run, Source};
use softsep::uncertainty::SetDefinition;
use softsep::{Certify, Outcome, Problem, ProblemDefinition, Settings, Status, solve_with};

/// A history on a clock that shows the number of the iteration, so that pages can be compared.
#[derive(Default)]
struct Timeless(History);

impl Observer for Timeless {
    fn see(&mut self, event: &Event) {
        match event {
            Event::Step(record) => {
                let mut record: Record = (*record).clone();
                record.seconds = record.iteration as f64;
                self.0.see(&Event::Step(&record));
            }
            other => self.0.see(other),
        }
    }
}

/// The outcome of a run and its page.
fn report(problem: &Problem, settings: &Settings) -> (Outcome, String) {
    let mut history = Timeless::default();
    let mut outcome = solve_with(problem, settings, &mut history, &Default::default()).unwrap();
    outcome.seconds = outcome.iterations as f64 + 1.0;
    let page =
        HtmlReport { problem, file: Some("problem.json"), settings, outcome: &outcome, history: &history.0 }.page();
    (outcome, page)
}

fn with(method: &str) -> Settings {
    Settings { method: method.parse().unwrap(), ..Settings::default() }
}

fn problems() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../problems");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.to_str().is_some_and(|name| name.ends_with(".json") && !name.ends_with(".expected.json")));
    files.sort();
    assert!(files.len() > 30);
    files
}

fn problem(name: &str) -> Problem {
    softsep::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../problems").join(name)).unwrap()
}

/// What the cards show: head, value.
fn figures(page: &Element) -> Vec<(String, String)> {
    let cards = page.find("class", "figures").map_or(Vec::new(), |figures| figures.children().collect());
    cards.iter().map(|card| (card.all("dt")[0].text(), card.all("dd")[0].text())).collect()
}

fn value_of(page: &Element, head: &str) -> String {
    figures(page).into_iter().find(|(found, _)| found == head).unwrap_or_else(|| panic!("no {head}")).1
}

/// The texts of a table's rows.
fn rows(page: &Element, label: &str) -> Vec<Vec<String>> {
    let table = page.find("aria-label", label).unwrap_or_else(|| panic!("no table {label}"));
    let body = &table.all("tbody")[0];
    body.children().map(|row| row.children().map(|cell| cell.text()).collect()).collect()
}

#[test]
fn every_kind_of_problem_has_a_good_page() {
    let (mut seen, mut pages) = (Vec::new(), 0);
    for file in problems() {
        let problem = softsep::read(&file).unwrap();
        let settings = Settings { time_limit: Some(Duration::from_secs(20)), ..Settings::default() };
        if MethodSettings::Auto.build().accepts(&problem).is_err() {
            continue;
        }
        let (outcome, text) = report(&problem, &settings);
        pages += 1;
        let page = parse(&text).unwrap_or_else(|fault| panic!("{}: {fault}", file.display()));
        assert_eq!(page.all("h1")[0].text(), problem.name);
        let badge = page
            .all("span")
            .into_iter()
            .find(|span| span.attribute("class").is_some_and(|class| class.starts_with("badge")));
        assert_eq!(badge.unwrap().text(), format!("{:?}", outcome.status));
        assert_eq!(figures(&page).is_empty(), outcome.verdict.is_some());
        assert_eq!(
            page.find("aria-label", "The decision").is_some(),
            outcome.bounds.best().is_some_and(|best| best.x.iter().any(|x| *x != 0.0))
        );
        if outcome.status == Status::Infeasible {
            assert!(text.contains("Why there is no decision"), "{}", file.display());
        }
        if outcome.status == Status::Unbounded {
            assert!(text.contains("Why there is no optimum"), "{}", file.display());
        }
        if !seen.contains(&outcome.status) {
            seen.push(outcome.status);
        }
    }
    assert!(seen.len() >= 3 && pages >= 30, "only {seen:?} on {pages} pages were seen");
}

#[test]
fn the_figures_are_those_of_the_run() {
    let (outcome, text) = report(&problem("ellipsoid.json"), &with("ccg"));
    let page = parse(&text).unwrap();
    assert_eq!(outcome.status, Status::Optimal);
    let close = |head: &str, value: f64| {
        let shown: f64 = value_of(&page, head).parse().unwrap();
        assert!((shown - value).abs() <= 1e-8 * value.abs().max(1.0), "{head}: {shown}, not {value}");
    };
    close("Objective", outcome.bounds.best().unwrap().value);
    close("Lower bound", outcome.bounds.lower().unwrap());
    close("Upper bound", outcome.bounds.upper().unwrap());
    assert_eq!(value_of(&page, "Certificate"), "deterministic");
    // ξ = (20, 30) + (2 1; 1 3) u: the reach of an entry is the norm of its row.
    let scenario = rows(&page, "The scenario");
    assert_eq!(scenario.len(), 2);
    for row in &scenario {
        let (nominal, reach) = if row[0] == "north" { (20.0, 5f64.sqrt()) } else { (30.0, 10f64.sqrt()) };
        let numbers: Vec<f64> = row[5].split(" to ").map(|word| word.parse().unwrap()).collect();
        assert_eq!(row[2].parse(), Ok(nominal));
        assert!((numbers[0] - nominal + reach).abs() < 1e-7 && (numbers[1] - nominal - reach).abs() < 1e-7, "{row:?}");
        let change: f64 = row[3].parse().unwrap();
        assert!((row[1].parse::<f64>().unwrap() - nominal - change).abs() < 1e-7);
    }
    let changes: Vec<f64> = scenario.iter().map(|row| row[3].parse::<f64>().unwrap().abs()).collect();
    assert!(changes[0] >= changes[1], "the furthest from nominal comes first: {changes:?}");
    // Four charts, each with words for those who do not see it.
    let charts = page.all("svg");
    assert_eq!(charts.len(), 4);
    for chart in charts {
        assert_eq!((chart.all("title").len(), chart.all("desc").len()), (1, 1));
        let named = chart.attribute("aria-labelledby").unwrap();
        assert!(named.split(' ').all(|id| page.find("id", id).is_some()));
    }
    assert!(text.contains("softsep solve problem.json --method ccg --gap 0.001 --seed 1</code>"));
}

#[test]
fn an_estimate_is_never_called_a_bound() {
    for settings in [Settings { certify: Certify::None, ..with("benders") }, with("sgd")] {
        let (outcome, text) = report(&problem("ellipsoid.json"), &settings);
        let page = parse(&text).unwrap();
        let legend = page.find("class", "legend").unwrap().text();
        let proved = outcome.bounds.upper().is_some();
        assert!(!proved || settings.certify != Certify::None);
        assert_eq!(value_of(&page, "Upper bound") == "not known", !proved);
        assert_eq!(value_of(&page, "Gap") == "not known", !proved);
        assert_eq!(legend.contains("upper bound"), proved, "{legend}");
    }
}

#[test]
fn a_likely_bound_is_called_likely() {
    let problem = problem("ellipsoid.json");
    let (proved, _) = report(&problem, &with("ccg"));
    let (best, lower) = (proved.bounds.best().unwrap(), proved.bounds.lower().unwrap());
    let mut history = Timeless::default();
    let mut run = Run::new("sgd", Limits::default(), Clock::unlimited(), &mut history);
    run.lower(lower);
    run.estimate(&best.x, best.value, &best.worst);
    assert_eq!(run.tick(), None);
    let assumption = Assumption { name: "rho", value: 0.5, source: Source::Given };
    let likely = ProbabilisticBound { upper: best.value + 0.25, confidence: 0.99, assumes: vec![assumption] };
    run.attest(
        &best.x,
        best.value,
        Attested { likely: Some(likely), remarks: vec!["a <remark>".into()], ..Attested::default() },
    );
    let mut outcome = proved.clone();
    (outcome.bounds, outcome.status, outcome.method) = (run.bounds().clone(), Status::Optimal, "sgd");
    let settings = with("sgd");
    let text =
        HtmlReport { problem: &problem, file: None, settings: &settings, outcome: &outcome, history: &history.0 }
            .page();
    let page = parse(&text).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(value_of(&page, "Certificate"), "probabilistic");
    assert!((value_of(&page, "Upper bound").parse::<f64>().unwrap() - best.value - 0.25).abs() < 1e-6);
    assert!(page.find("class", "badge good").is_none(), "what is likely is not shown as sure");
    let legend = page.find("class", "legend").unwrap();
    let entries: Vec<String> = legend.children().map(|entry| entry.text()).collect();
    assert_eq!(entries[0], "upper bound that is likely to hold");
    assert!(!entries.contains(&"upper bound".to_owned()), "{entries:?}");
    assert!(page.find("class", "shade").is_none(), "the optimum is in no part of the chart for sure");
    for part in ["with probability 0.99", "rho = 0.5, given and not checked", "A &lt;remark&gt;."] {
        assert!(text.to_lowercase().contains(&part.to_lowercase()), "no {part}");
    }
}

#[test]
fn chains_tell_how_they_did() {
    let (_, text) = report(&problem("ellipsoid.json"), &with("sgd"));
    let page = parse(&text).unwrap();
    let chain = rows(&page, "The chain at the end");
    let heads: Vec<&str> = chain.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(heads, ["Acceptance", "Effective draws", "Steps since last move", "Temperature w", "Last step"]);
    let acceptance: f64 = chain[0][1].trim_end_matches(" %").parse().unwrap();
    assert!((0.0..=100.0).contains(&acceptance));
    assert_eq!(page.all("svg").len(), 6);
    assert!(!report(&problem("ellipsoid.json"), &with("ccg")).1.contains("The chain"));
}

/// Names that would break a page, were they put in as they are.
const EVIL: [&str; 5] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "</style></svg><b>",
    "&amp;'&#60;",
    "line\nbreak\u{202e}",
];

/// Orders for a demand, all of it named by the worst that there is.
fn evil(upper: f64) -> Problem {
    let mut file = ProblemDefinition { name: format!("{} {}", EVIL[0], EVIL[2]), ..ProblemDefinition::default() };
    file.first_stage.variables.push(Variable::new(EVIL[0], 5.0).bounded(0.0, upper));
    file.first_stage.variables.push(Variable::new(EVIL[1], 6.0).bounded(1.0, 2.0));
    file.uncertainty.parameters = EVIL.iter().map(|name| (*name).to_owned()).collect();
    file.uncertainty.set = SetDefinition::Box { lower: vec![1.0; 5], upper: vec![3.0; 5] };
    file.recourse.variables.push(Variable::new(EVIL[2], 9.0).bounded(0.0, upper));
    let mut row = Row::new(EVIL[3]);
    row.y = vec![(EVIL[2].into(), 1.0)];
    row.x = vec![(EVIL[0].into(), 1.0)];
    row.xi = EVIL.iter().map(|name| ((*name).to_owned(), -1.0)).collect();
    row.lower = 0.0;
    file.recourse.constraints.push(row);
    Problem::new(&file).unwrap()
}

#[test]
fn names_stay_text() {
    for (upper, status) in [(100.0, Status::Optimal), (2.0, Status::Infeasible)] {
        let problem = evil(upper);
        let settings = Settings::default();
        let mut history = Timeless::default();
        let outcome = solve_with(&problem, &settings, &mut history, &Default::default()).unwrap();
        assert_eq!(outcome.status, status);
        let text = HtmlReport {
            problem: &problem,
            file: Some("<i>.json"),
            settings: &settings,
            outcome: &outcome,
            history: &history.0,
        }
        .page();
        let page = parse(&text).unwrap_or_else(|fault| panic!("{fault}"));
        for tag in ["script", "img", "b", "i"] {
            assert!(page.all(tag).is_empty(), "a name became a <{tag}>");
        }
        assert_eq!(page.all("h1")[0].text(), problem.name);
        let scenario = rows(&page, "The scenario");
        for name in &EVIL[..4] {
            assert!(scenario.iter().any(|row| row[0] == *name), "{name} is not shown as it is: {scenario:?}");
        }
        assert!(scenario.iter().any(|row| row[0] == "line\\nbreak\u{202e}"));
        assert!(page.all("pre")[0].text().contains("'<i>.json'"));
        if status == Status::Infeasible {
            assert_eq!(page.find("class", "names").unwrap().all("li")[0].text(), EVIL[3]);
        }
    }
}

#[test]
fn a_page_needs_nothing_else() {
    for name in ["ellipsoid.json", "scenarios-csv.json", "infeasible-recourse.json"] {
        let (_, text) = report(&problem(name), &Settings::default());
        let page = parse(&text).unwrap();
        for tag in ["script", "link", "img", "iframe", "object", "embed", "a", "use", "image"] {
            assert!(page.all(tag).is_empty(), "{name} has a <{tag}>");
        }
        for reference in ["src", "href", "xlink:href", "srcset", "action"] {
            assert!(page.find_any(reference).is_none(), "{name} has a {reference}");
        }
        let style = page.all("style")[0].text();
        assert!(!style.contains("url(") && !style.contains("@import"));
        assert!(!text.contains("http://") && !text.contains("https://"));
        let ids = page.attributes("id");
        let mut unique = ids.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), ids.len(), "an id is there twice: {ids:?}");
    }
}

#[test]
fn one_run_one_page_on_any_number_of_threads() {
    for (name, method) in [("scenarios.json", "ccg"), ("ellipsoid.json", "sgd")] {
        let on = |threads: usize| report(&problem(name), &Settings { threads: Some(threads), ..with(method) }).1;
        assert_eq!(on(1), on(2));
    }
}

#[test]
fn long_vectors_say_what_they_leave_out() {
    let mut file = ProblemDefinition::default();
    let mut row = Row::new("all");
    for index in 0..50 {
        file.first_stage
            .variables
            .push(Variable::new(format!("x{index}"), 1.0).bounded(if index < 45 { 1.0 } else { 0.0 }, 9.0));
        file.uncertainty.parameters.push(format!("d{index}"));
        row.xi.push((format!("d{index}"), -1.0));
    }
    file.uncertainty.set = SetDefinition::Budget {
        budget: 3.0,
        sides: softsep::uncertainty::Sides::One,
        center: vec![1.0; 50],
        scale: (0..50).map(|index| 1.0 + index as f64).collect(),
    };
    file.recourse.variables.push(Variable::new("buy", 0.5));
    row.y = vec![("buy".into(), 1.0)];
    row.lower = 0.0;
    file.recourse.constraints.push(row);
    let (_, text) = report(&Problem::new(&file).unwrap(), &Settings::default());
    let page = parse(&text).unwrap();
    assert_eq!(rows(&page, "The decision").len(), 20);
    assert!(text.contains("25 more are smaller;") && text.contains(">5 more are zero.<"));
    let scenario = rows(&page, "The scenario");
    assert_eq!(scenario.len(), 30);
    assert!(text.contains("20 more parameters are nearer to their nominal values;"));
    // The three dearest, at the end of their ranges.
    let first: Vec<[&str; 3]> =
        scenario.iter().take(4).map(|row| [row[0].as_str(), row[3].as_str(), row[5].as_str()]).collect();
    assert_eq!(
        first,
        [["d49", "+50", "1 to 51"], ["d48", "+49", "1 to 50"], ["d47", "+48", "1 to 49"], ["d0", "0", "1 to 2"]]
    );
}
