//! Early ends of a run: a time limit, Ctrl-C, and a closed pipe.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::TestFolder;

/// Starts a run, and returns once HiGHS works on the whole of the program.
fn start(folder: &TestFolder, arguments: &str) -> Child {
    let mut command = folder.command(&format!("{arguments} --log run.log"));
    let run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    while !fs::read_to_string(folder.path("run.log")).is_ok_and(|log| log.contains("solving for 6000 of 6000")) {
        assert!(started.elapsed() < Duration::from_secs(30), "the run does not get going");
        sleep(Duration::from_millis(50));
    }
    sleep(Duration::from_millis(500));
    run
}

fn interrupt(run: &Child) {
    assert!(Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap().success());
}

#[test]
fn ctrl_c_keeps_the_best_solution() {
    let folder = TestFolder::with_long();
    let run = start(&folder, "solve long.json --method extensive --out result.json");
    interrupt(&run);
    let asked = Instant::now();
    let output = run.wait_with_output().unwrap();
    assert!(asked.elapsed() < Duration::from_secs(5), "took {:?}", asked.elapsed());
    assert_eq!(output.status.code(), Some(130));
    assert!(String::from_utf8(output.stderr).unwrap().contains("best solution so far"));
    assert!(String::from_utf8(output.stdout).unwrap().contains("interrupted"));
    let result = folder.json("result.json");
    assert_eq!((&result["status"], &result["stop"]), (&"feasible".into(), &"interrupted".into()));
    assert!(result["x"].is_object());
}

#[test]
fn a_second_ctrl_c_leaves_at_once() {
    let folder = TestFolder::with_long();
    let run = start(&folder, "solve long.json --method extensive --out result.json");
    interrupt(&run);
    interrupt(&run);
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    // The run may have ended between the two signals; its result file is then whole.
    if folder.path("result.json").exists() {
        assert_eq!(folder.json("result.json")["stop"], "interrupted");
    }
}

#[test]
fn the_time_limit_holds_inside_highs() {
    let folder = TestFolder::with_long();
    let start = Instant::now();
    let run = folder.run("solve long.json --method extensive --time-limit 2 --json");
    let taken = start.elapsed();
    run.done();
    assert_eq!(run.json()["stop"], "time_limit");
    assert!(run.json()["seconds"].as_f64().unwrap() < 4.0, "{run:?}");
    assert!(taken < Duration::from_secs(6), "took {taken:?}");
}

#[test]
fn an_evaluation_without_time_bounds_from_below() {
    let folder = TestFolder::with_long();
    let capacities: Vec<String> = (1..=10).map(|i| format!("\"capacity_{i}\": 100")).collect();
    folder.put("x.json", &format!("{{{}}}", capacities.join(", ")));
    let short = folder.run("evaluate long.json --x x.json --time-limit 1e-6 --json").json();
    assert_eq!((&short["exact"], &short["upper_bound"]), (&false.into(), &serde_json::Value::Null));
    let whole = folder.run("evaluate long.json --x x.json --json").json();
    assert_eq!(whole["exact"], true);
    assert!(short["objective"].as_f64().unwrap() <= whole["objective"].as_f64().unwrap() + 1e-6, "{short} {whole}");
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let folder = TestFolder::with_depot();
    for arguments in
        ["generate location-transportation --n 40", "solve depot.json --json", "check depot.json", "methods", "--help"]
    {
        let mut run = folder.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(run.stdout.take());
        let output = run.wait_with_output().unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{arguments}");
        assert_eq!(output.status.code(), Some(0), "{arguments}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failure() {
    let folder = TestFolder::with_depot();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = folder.command("solve depot.json").stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("error: standard output: "));
    let ended = folder.run("solve depot.json --out /dev/full");
    assert_eq!(ended.code, Some(1));
    assert!(ended.stdout.starts_with("status       optimal"), "the result is not lost: {ended:?}");
    assert!(ended.stderr.starts_with("error: /dev/full: "), "{ended:?}");
}
