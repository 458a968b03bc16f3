//! `solve --report`: a whole page, however the run ends, and no run whose page could not be written.
#![allow(clippy::unwrap_used)]

mod common;

use common::{DEPOT, TestFolder};

/// A page from its first to its last character.
#[track_caller]
fn whole(page: &str) {
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"), "{page}");
}

#[test]
fn a_page_is_written_beside_the_result() {
    let folder = TestFolder::with_depot();
    let ended = folder.run("solve depot.json --report depot.html --out result.json --quiet");
    assert!(ended.done().starts_with("status       optimal"));
    let page = folder.text("depot.html");
    whole(&page);
    for part in
        ["one depot, one customer", ">Optimal<", ">10240<", "deterministic", "softsep solve depot.json --method auto"]
    {
        assert!(page.contains(part), "no {part}");
    }
    assert_eq!(folder.names(), ["depot.html", "depot.json", "result.json"], "nothing is left beside it");
    // A page that is there already is replaced, and the options given can be given again.
    folder.run("solve depot.json --report depot.html --method ccg --seed 7 --gap 1e-5 --separation scan").done();
    let page = folder.text("depot.html");
    whole(&page);
    let line = page.split("<pre><code>").nth(1).and_then(|rest| rest.split("</code>").next()).unwrap();
    assert_eq!(line, "softsep solve depot.json --method ccg --gap 1e-5 --seed 7 --separation scan");
    folder.run(line.strip_prefix("softsep ").unwrap()).done();
}

#[test]
fn a_problem_without_optimum_has_a_page() {
    let folder = TestFolder::empty();
    let short = DEPOT.replace(", {\"name\": \"emergency\", \"cost\": 150}", "").replace(", \"emergency\": 1", "");
    folder.put("short.json", &short.replace("\"upper\": 800", "\"upper\": 200"));
    folder.run("solve short.json --report short.html").done();
    let page = folder.text("short.html");
    whole(&page);
    for part in [">Infeasible<", "Why there is no decision", "<bdi>demand</bdi>", "A scenario without recourse"] {
        assert!(page.contains(part), "no {part}");
    }
    folder.put("free.json", &DEPOT.replace("\"cost\": 150", "\"cost\": -150"));
    folder.run("solve free.json --report free.html").done();
    let page = folder.text("free.html");
    whole(&page);
    for part in [">Unbounded<", "Why there is no optimum", "<bdi>emergency</bdi>"] {
        assert!(page.contains(part), "no {part}");
    }
}

#[test]
fn a_run_without_time_has_a_page() {
    let folder = TestFolder::with_long();
    let result = folder.run("solve long.json --method extensive --time-limit 0.001 --report long.html --json").json();
    assert_eq!(result["stop"], "time_limit");
    let page = folder.text("long.html");
    whole(&page);
    assert!(page.contains("the time limit is reached") && page.contains("--time-limit 0.001"));
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_has_a_page() {
    use std::process::{Command, Stdio};
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    let folder = TestFolder::empty();
    folder.run("generate location-transportation --n 30 --uncertainty ellipsoid --out long.json").done();
    let mut command = folder.command("solve long.json --method benders --gap 1e-9 --trace run.csv --report long.html");
    let run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    while !std::fs::read_to_string(folder.path("run.csv")).is_ok_and(|text| text.lines().count() > 1) {
        assert!(started.elapsed() < Duration::from_secs(30), "the run does not get going");
        sleep(Duration::from_millis(50));
    }
    assert!(!folder.path("long.html").exists(), "a page is there before the run has ended");
    assert!(Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap().success());
    assert_eq!(run.wait_with_output().unwrap().status.code(), Some(130));
    let page = folder.text("long.html");
    whole(&page);
    assert!(page.contains("interrupted") && page.contains("Bounds over recourse solves"));
}

#[test]
fn unwritable_files_are_refused_before_the_run() {
    let folder = TestFolder::with_depot();
    folder.run("solve depot.json --report nowhere/depot.html").refused(&["nowhere/depot.html: cannot be written"]);
    folder.run("solve depot.json --report .").refused(&[]);
    folder.run("solve depot.json --report -").refused(&["--report -", "name a file"]);
    folder.run("solve depot.json --report depot.json").refused(&["used for something else"]);
    for other in ["--out", "--trace", "--log"] {
        folder.run(&format!("solve depot.json {other} same --report same")).refused(&["used for something else"]);
    }
    assert_eq!(folder.names(), ["depot.json"]);
    // A page that was there is not touched by a run that fails.
    folder.put("depot.html", "old");
    folder.put("bad.json", "{}");
    assert_eq!(folder.run("solve bad.json --report depot.html").code, Some(2));
    assert_eq!(folder.text("depot.html"), "old");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_fails_after_the_result() {
    let folder = TestFolder::with_depot();
    let ended = folder.run("solve depot.json --report /dev/full");
    assert_eq!(ended.code, Some(1));
    assert!(ended.stdout.starts_with("status       optimal"), "the result is not lost: {ended:?}");
    assert!(ended.stderr.starts_with("error: /dev/full: "), "{ended:?}");
}
