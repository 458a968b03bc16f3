//! `solve`: what it prints, what it writes, and that threads do not matter.
#![allow(clippy::unwrap_used)]

mod common;

use common::{DEPOT, TestFolder, keys};
use serde_json::Value;

#[test]
fn the_result_has_the_keys_of_the_format() {
    let folder = TestFolder::with_depot();
    let result = folder.run("solve depot.json --json");
    result.done();
    assert_eq!(result.stderr, "", "no terminal, so no progress line");
    let result = result.json();
    // Those of the format, and what is known of the recourse.
    let expected = "format status stop objective lower_bound upper_bound gap certificate x recourse worst_case method \
                    seed iterations recourse_solves seconds version";
    assert_eq!(keys(&result), expected.split_whitespace().collect::<Vec<_>>());
    assert_eq!(result["format"], "aro-result/1");
    assert_eq!(result["status"], "optimal");
    assert!((result["objective"].as_f64().unwrap() - 10240.0).abs() < 1e-5);
    assert_eq!(result["certificate"]["kind"], "deterministic");
    assert_eq!(keys(&result["x"]), ["open", "capacity"]);
    assert_eq!(keys(&result["worst_case"]), ["xi", "recourse_cost", "y"]);
}

#[test]
fn the_result_goes_where_it_is_sent() {
    let folder = TestFolder::with_depot();
    let ended = folder.run("solve depot.json --out result.json --log run.log --quiet");
    assert!(ended.done().starts_with("status       optimal"));
    assert_eq!(ended.stderr, "");
    assert_eq!(folder.json("result.json")["status"], "optimal");
    let log = folder.text("run.log");
    assert!(log.contains("time (s)") && log.contains("objective    10240"), "{log}");
    assert_eq!(folder.names(), ["depot.json", "result.json", "run.log"]);
    // A result that is there already is replaced.
    folder.put("result.json", "old");
    folder.run("solve depot.json --out result.json").done();
    assert_eq!(folder.json("result.json")["status"], "optimal");
}

#[test]
fn the_log_goes_to_the_standard_error_and_to_a_file() {
    let folder = TestFolder::with_depot();
    let verbose = folder.run("solve depot.json --verbose --log run.log");
    verbose.done();
    assert!(verbose.stderr.contains("time (s)"), "{verbose:?}");
    assert!(folder.text("run.log").contains("time (s)"));
    assert!(folder.run("solve depot.json --log -").stderr.contains("time (s)"));
    assert_eq!(folder.names(), ["depot.json", "run.log"]);
}

#[test]
fn problems_without_optimum_are_results_too() {
    let folder = TestFolder::empty();
    let short = DEPOT.replace(", {\"name\": \"emergency\", \"cost\": 150}", "").replace(", \"emergency\": 1", "");
    folder.put("short.json", &short.replace("\"upper\": 800", "\"upper\": 200"));
    let result = folder.run("solve short.json --json");
    result.done();
    assert_eq!(result.json()["status"], "infeasible");
    assert_eq!(result.json()["infeasible"]["stage"], "recourse");
    folder.put("free.json", &DEPOT.replace("\"cost\": 150", "\"cost\": -150"));
    let result = folder.run("solve free.json --json");
    result.done();
    assert_eq!(result.json()["status"], "unbounded");
}

#[test]
fn an_estimate_is_no_bound() {
    let folder = TestFolder::with_depot();
    let result = folder.run("solve depot.json --certify none --json");
    result.done();
    assert_eq!(result.json()["upper_bound"], Value::Null);
    assert_eq!(result.json()["certificate"]["kind"], "none");
}

#[test]
fn threads_do_not_change_the_result() {
    let folder = TestFolder::empty();
    let family = "generate location-transportation --n 4 --uncertainty scenarios --scenarios 150 --mixed-integer";
    folder.run(&format!("{family} --out list.json")).done();
    assert_eq!(folder.names(), ["list.json"], "a short list stays in the file");
    let on = |threads: u32| {
        let mut result = folder.run(&format!("solve list.json --json --threads {threads}")).json();
        result.as_object_mut().unwrap().remove("seconds").unwrap();
        result
    };
    let one = on(1);
    assert_eq!(one["status"], "optimal");
    assert_eq!(one, on(2));
}

/// Weights of scenarios from a file.
#[test]
fn weights_of_scenarios() {
    let folder = TestFolder::empty();
    folder.run("generate location-transportation --n 3 --uncertainty scenarios --scenarios 40 --out list.json").done();
    folder.put("weights.csv", &format!("weight\n{}", "3\n1\n".repeat(20)));
    folder.put("few.csv", "1\n2\n");
    folder.put("bad.csv", "weight\n1\n-2\n");
    for method in ["sgd", "bundle", "branch-and-cut", "ccg", "benders"] {
        folder.run(&format!("solve list.json --method {method} --proposal weighted --weights weights.csv")).done();
    }
    folder.run("solve list.json --method bundle --proposal weighted --weights weights.csv --report run.html").done();
    assert!(folder.text("run.html").contains("--proposal weighted --weights weights.csv"));
    let refused = |given: &str, parts: &[&str]| {
        folder.run(&format!("solve list.json --method bundle --proposal weighted {given}")).refused(parts);
    };
    refused("--weights few.csv", &["2 weights are given where there are 40 scenarios"]);
    refused("--weights bad.csv", &["--weights: bad.csv: line 3", "is not a number that is not negative"]);
    refused("--weights none.csv", &["--weights: none.csv: there is no such file"]);
    refused("", &["needs a weight for each scenario (--weights FILE)"]);
}
