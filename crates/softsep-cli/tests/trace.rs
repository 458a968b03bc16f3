//! `solve --trace`: every iteration in a file that is whole, however the run ends.
#![allow(clippy::unwrap_used)]

mod common;

use common::TestFolder;
use serde_json::Value;

const HEADER: &str = "iteration,seconds,lower,best,certificate,gap,recourse_solves,scenarios,cuts,nodes,chain_value,\
                      acceptance,effective,still,temperature,step";

/// A directory with `depots.json`, which cuts take some hundred iterations to solve.
fn depots() -> TestFolder {
    let folder = TestFolder::empty();
    folder.run("generate location-transportation --n 8 --uncertainty budget --gamma 0.4 --out depots.json").done();
    folder
}

/// The rows of a CSV trace, after checks of the properties that all rows have.
fn rows(text: &str) -> Vec<Vec<String>> {
    assert!(text.ends_with('\n'), "the last row is cut");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(HEADER));
    let rows: Vec<Vec<String>> = lines.map(|line| line.split(',').map(str::to_owned).collect()).collect();
    let (mut seconds, mut lower) = (0.0, f64::NEG_INFINITY);
    for (index, row) in rows.iter().enumerate() {
        assert_eq!(row.len(), HEADER.split(',').count(), "{row:?}");
        assert_eq!(row[0], (index + 1).to_string());
        let number = |column: usize| row[column].parse::<f64>().unwrap();
        assert!(number(1) >= seconds, "time goes back in {row:?}");
        seconds = number(1);
        if !row[2].is_empty() {
            assert!(number(2) >= lower, "the bound falls in {row:?}");
            lower = number(2);
        }
        assert!(["deterministic", "none"].contains(&row[4].as_str()), "{row:?}");
        assert_eq!(row[5].is_empty(), row[4] == "none" || row[2].is_empty(), "a gap needs two bounds: {row:?}");
        assert!(row[10..].iter().all(String::is_empty), "no chain here: {row:?}");
    }
    rows
}

#[test]
fn every_iteration_has_a_row() {
    let folder = depots();
    let result = folder.run("solve depots.json --method benders --json --quiet --trace run.csv").json();
    let rows = rows(&folder.text("run.csv"));
    assert!(rows.len() > 5);
    assert_eq!(rows.len() as u64, result["iterations"].as_u64().unwrap());
    let last = rows.last().unwrap();
    assert_eq!(last[2].parse::<f64>().unwrap(), result["lower_bound"].as_f64().unwrap());
    assert_eq!(last[3].parse::<f64>().unwrap(), result["upper_bound"].as_f64().unwrap());
    assert_eq!(last[4], "deterministic");
    assert_eq!(last[5].parse::<f64>().unwrap(), result["gap"].as_f64().unwrap());
    assert_eq!(last[6].parse::<u64>().unwrap(), result["recourse_solves"].as_u64().unwrap());
    // The earlier file is replaced, also where a log is written beside it.
    folder.run("solve depots.json --method benders --iterations 3 --trace run.csv --log run.log").done();
    assert_eq!(self::rows(&folder.text("run.csv")).len(), 3);
    assert!(folder.text("run.log").contains("time (s)"));
}

#[test]
fn a_name_in_jsonl_gives_json_lines() {
    let folder = depots();
    let result = folder.run("solve depots.json --method benders --json --trace run.jsonl").json();
    let text = folder.text("run.jsonl");
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len() as u64, result["iterations"].as_u64().unwrap());
    let last = rows.last().unwrap();
    assert_eq!(last.as_object().unwrap().len(), HEADER.split(',').count());
    assert_eq!((&last["lower"], &last["best"]), (&result["lower_bound"], &result["upper_bound"]));
    assert!(HEADER.split(',').all(|column| last.get(column).is_some()) && last["acceptance"].is_null());
}

#[test]
fn an_estimate_has_the_certificate_none() {
    let folder = depots();
    folder.run("solve depots.json --method benders --certify none --iterations 4 --trace run.csv").done();
    for row in rows(&folder.text("run.csv")) {
        assert_eq!((row[4].as_str(), row[5].as_str()), ("none", ""));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_trace_that_cannot_be_written_fails_after_the_result() {
    let folder = depots();
    let ended = folder.run("solve depots.json --method benders --trace /dev/full");
    assert_eq!(ended.code, Some(1));
    assert!(ended.stdout.starts_with("status       optimal"), "the result is not lost: {ended:?}");
    assert!(ended.stderr.starts_with("error: /dev/full: "), "{ended:?}");
}

#[test]
fn a_time_limit_leaves_a_complete_file() {
    let folder = TestFolder::empty();
    folder.run("generate location-transportation --n 30 --uncertainty ellipsoid --out long.json").done();
    let result = folder.run("solve long.json --method benders --gap 1e-9 --time-limit 2 --json --trace run.csv").json();
    assert_eq!(result["stop"], "time_limit");
    assert_eq!(rows(&folder.text("run.csv")).len() as u64, result["iterations"].as_u64().unwrap());
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_complete_rows() {
    use std::process::{Command, Stdio};
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    let folder = TestFolder::empty();
    folder.run("generate location-transportation --n 30 --uncertainty ellipsoid --out long.json").done();
    for times in [1, 2] {
        let mut command = folder.command("solve long.json --method benders --gap 1e-9 --json --trace run.csv");
        let run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let started = Instant::now();
        while !std::fs::read_to_string(folder.path("run.csv")).is_ok_and(|text| text.lines().count() > 1) {
            assert!(started.elapsed() < Duration::from_secs(30), "the run does not get going");
            sleep(Duration::from_millis(50));
        }
        for _ in 0..times {
            assert!(Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap().success());
        }
        let output = run.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130));
        let rows = rows(&folder.text("run.csv"));
        // The second Ctrl-C leaves at once: rows may be missing, none is cut.
        if times == 1 {
            let result: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(rows.len() as u64, result["iterations"].as_u64().unwrap());
        }
        std::fs::remove_file(folder.path("run.csv")).unwrap();
    }
}
