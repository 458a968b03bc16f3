//! `solve --report`: a whole page, however the run ends, and no run whose page could not be written.
#![allow(clippy::unwrap_used)]

mod common;

use common::{DEPOT, Place};

/// A page from its first to its last character.
#[track_caller]
fn whole(page: &str) {
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"), "{page}");
}

#[test]
fn a_page_beside_the_result() {
    let place = Place::with_depot();
    let ended = place.run("solve depot.json --report depot.html --out result.json --quiet");
    assert!(ended.done().starts_with("status       optimal"));
    let page = place.text("depot.html");
    whole(&page);
    for part in
        ["one depot, one customer", ">Optimal<", ">10240<", "deterministic", "softsep solve depot.json --method auto"]
    {
        assert!(page.contains(part), "no {part}");
    }
    assert_eq!(place.names(), ["depot.html", "depot.json", "result.json"], "nothing is left beside it");
    // A page that is there already is replaced, and the options given can be given again.
    place.run("solve depot.json --report depot.html --method ccg --seed 7 --gap 1e-5 --separation scan").done();
    let page = place.text("depot.html");
    whole(&page);
    let line = page.split("<pre><code>").nth(1).and_then(|rest| rest.split("</code>").next()).unwrap();
    assert_eq!(line, "softsep solve depot.json --method ccg --gap 1e-5 --seed 7 --separation scan");
    place.run(line.strip_prefix("softsep ").unwrap()).done();
}

#[test]
fn problems_without_optimum_have_one_too() {
    let place = Place::empty();
    let short = DEPOT.replace(", {\"name\": \"emergency\", \"cost\": 150}", "").replace(", \"emergency\": 1", "");
    place.put("short.json", &short.replace("\"upper\": 800", "\"upper\": 200"));
    place.run("solve short.json --report short.html").done();
    let page = place.text("short.html");
    whole(&page);
    for part in [">Infeasible<", "Why there is no decision", "<bdi>demand</bdi>", "A scenario without recourse"] {
        assert!(page.contains(part), "no {part}");
    }
    place.put("free.json", &DEPOT.replace("\"cost\": 150", "\"cost\": -150"));
    place.run("solve free.json --report free.html").done();
    let page = place.text("free.html");
    whole(&page);
    for part in [">Unbounded<", "Why there is no optimum", "<bdi>emergency</bdi>"] {
        assert!(page.contains(part), "no {part}");
    }
}

#[test]
fn a_run_without_time_has_one_too() {
    let place = Place::with_long();
    let result = place.run("solve long.json --method extensive --time-limit 0.001 --report long.html --json").json();
    assert_eq!(result["stop"], "time_limit");
    let page = place.text("long.html");
    whole(&page);
    assert!(page.contains("the time limit is reached") && page.contains("--time-limit 0.001"));
}

#[cfg(unix)]
#[test]
fn so_has_one_that_is_interrupted() {
    use std::process::{Command, Stdio};
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    let place = Place::empty();
    place.run("generate location-transportation --n 30 --uncertainty ellipsoid --out long.json").done();
    let mut command = place.command("solve long.json --method benders --gap 1e-9 --trace run.csv --report long.html");
    let run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let patience = Instant::now();
    while !std::fs::read_to_string(place.path("run.csv")).is_ok_and(|text| text.lines().count() > 1) {
        assert!(patience.elapsed() < Duration::from_secs(30), "the run does not get going");
        sleep(Duration::from_millis(50));
    }
    assert!(!place.path("long.html").exists(), "a page is there before the run has ended");
    assert!(Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap().success());
    assert_eq!(run.wait_with_output().unwrap().status.code(), Some(130));
    let page = place.text("long.html");
    whole(&page);
    assert!(page.contains("interrupted") && page.contains("Bounds over recourse solves"));
}

#[test]
fn what_cannot_be_written_is_told_before_the_run() {
    let place = Place::with_depot();
    place.run("solve depot.json --report nowhere/depot.html").refused(&["nowhere/depot.html: cannot be written"]);
    place.run("solve depot.json --report .").refused(&[]);
    place.run("solve depot.json --report -").refused(&["--report -", "name a file"]);
    place.run("solve depot.json --report depot.json").refused(&["used for something else"]);
    for other in ["--out", "--trace", "--log"] {
        place.run(&format!("solve depot.json {other} same --report same")).refused(&["used for something else"]);
    }
    assert_eq!(place.names(), ["depot.json"]);
    // A page that was there is not touched by a run that fails.
    place.put("depot.html", "old");
    place.put("bad.json", "{}");
    assert_eq!(place.run("solve bad.json --report depot.html").code, Some(2));
    assert_eq!(place.text("depot.html"), "old");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_fails_after_the_result() {
    let place = Place::with_depot();
    let ended = place.run("solve depot.json --report /dev/full");
    assert_eq!(ended.code, Some(1));
    assert!(ended.stdout.starts_with("status       optimal"), "the result is not lost: {ended:?}");
    assert!(ended.stderr.starts_with("error: /dev/full: "), "{ended:?}");
}
