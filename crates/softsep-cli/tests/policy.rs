//! `--policy`: an explicit policy beside the result, and no run for which there cannot be one.
#![allow(clippy::unwrap_used)]

mod common;

use common::{DEPOT, TestFolder, keys};
use serde_json::Value;

/// A problem without recourse to some scenarios.
fn short() -> String {
    let short = DEPOT.replace(", {\"name\": \"emergency\", \"cost\": 150}", "").replace(", \"emergency\": 1", "");
    short.replace("\"upper\": 800", "\"upper\": 200")
}

/// Checks a policy for the depot at both ends of the set and in the middle, and returns its upper bound.
#[track_caller]
fn checked(policy: &Value, open: f64, capacity: f64) -> f64 {
    assert_eq!(keys(policy), ["format", "problem", "upper_bound", "x", "recourse"]);
    assert_eq!(policy["format"], "softsep-policy/1");
    assert_eq!(policy["problem"], "one depot, one customer");
    assert_eq!(keys(&policy["x"]), ["open", "capacity"]);
    assert_eq!(keys(&policy["recourse"]), ["ship", "emergency"]);
    assert!((policy["x"]["open"].as_f64().unwrap() - open).abs() < 1e-6);
    assert!((policy["x"]["capacity"].as_f64().unwrap() - capacity).abs() < 1e-4);
    let upper = policy["upper_bound"].as_f64().unwrap();
    let capacity = policy["x"]["capacity"].as_f64().unwrap();
    for g in [0.0, 0.5, 1.0] {
        let at = |name: &str| {
            let policy = &policy["recourse"][name];
            policy["constant"].as_f64().unwrap()
                + policy["slopes"].get("g").map_or(0.0, |slope| slope.as_f64().unwrap() * g)
        };
        let (ship, emergency) = (at("ship"), at("emergency"));
        assert!(
            ship >= -1e-6
                && emergency >= -1e-6
                && ship <= capacity + 1e-5
                && ship + emergency >= 206.0 + 40.0 * g - 1e-5
        );
        assert!(400.0 * open + 18.0 * capacity + 22.0 * ship + 150.0 * emergency <= upper + 1e-5);
    }
    upper
}

#[test]
fn a_policy_is_written_beside_the_result() {
    let folder = TestFolder::with_depot();
    let ended = folder.run("solve depot.json --policy policy.json --out result.json");
    assert!(ended.done().starts_with("status       optimal"));
    assert_eq!(ended.stderr, "");
    assert!((checked(&folder.json("policy.json"), 1.0, 246.0) - 10240.0).abs() < 1e-2);
    assert_eq!(folder.names(), ["depot.json", "policy.json", "result.json"], "nothing is left beside it");
    // A decision given by the user: demand above the capacity, up to 246, costs 150 each.
    folder.put("plan.json", r#"{"open": 1, "capacity": 100}"#);
    let ended = folder.run("evaluate depot.json --x plan.json --policy policy.json --json");
    assert_eq!((ended.json()["objective"].as_f64().unwrap(), ended.stderr.as_str()), (26300.0, ""));
    assert!((checked(&folder.json("policy.json"), 1.0, 100.0) - 26300.0).abs() < 1e-2);
}

#[test]
fn problems_that_have_no_policies_are_refused_before_the_run() {
    let folder = TestFolder::empty();
    folder.put("plan.json", r#"{"open": 1, "capacity": 246}"#);
    let relaxed = DEPOT.replace("\"type\": \"binary\"", "\"upper\": 1");
    folder.put("moving.json", &relaxed.replace("\"cost\": 22", "\"cost\": 22, \"cost_xi\": {\"g\": 1}"));
    let why = "an affine policy needs costs that do not move with ξ, and some recourse variable here has \"cost_xi\"";
    for command in ["solve", "evaluate --x plan.json"] {
        folder.run(&format!("{command} moving.json")).done();
        let ended = folder.run(&format!("{command} moving.json --policy policy.json"));
        ended.refused(&[]);
        assert_eq!(ended.stderr, format!("error: moving.json: --policy: {why}; or leave --policy out\n"));
    }
    assert_eq!(folder.names(), ["moving.json", "plan.json"]);
}

#[test]
fn lists_and_quadratic_costs_have_policies_too() {
    let folder = TestFolder::empty();
    let list = DEPOT
        .replace(r#"{"kind": "box", "lower": [0], "upper": [1]}"#, r#"{"kind": "scenarios", "points": [[0], [1]]}"#);
    folder.put("list.json", &list);
    folder.run("solve list.json --policy policy.json").done();
    assert!((checked(&folder.json("policy.json"), 1.0, 246.0) - 10240.0).abs() < 1e-2);
    let curved = DEPOT.replace("\"recourse\": {", "\"recourse\": { \"quadratic\": [[\"ship\", \"ship\", 1]],");
    folder.put("curved.json", &curved);
    let solved = folder.run("solve curved.json --gap 1e-6 --policy curved-policy.json --json");
    solved.done();
    let (bound, optimum) = (
        folder.json("curved-policy.json")["upper_bound"].as_f64().unwrap(),
        solved.json()["objective"].as_f64().unwrap(),
    );
    assert!(
        bound >= optimum * (1.0 - 1e-7) && bound <= optimum * (1.0 + 1e-3),
        "{bound} for a worst case of {optimum}"
    );
}

#[test]
fn no_file_is_written_where_there_is_no_policy() {
    let folder = TestFolder::empty();
    folder.put("short.json", &short());
    let ended = folder.run("solve short.json --policy policy.json");
    assert!(ended.done().starts_with("status       infeasible"));
    let line = "policy: there is no decision to write a policy for; policy.json is not written\n";
    assert_eq!(ended.stderr, line);
    let ended = folder.run("solve short.json --policy policy.json --quiet --log run.log");
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(folder.text("run.log").ends_with(line));
    folder.put("plan.json", r#"{"open": 1, "capacity": 100}"#);
    let ended = folder.run("evaluate short.json --x plan.json --policy policy.json");
    ended.done();
    assert_eq!(
        ended.stderr,
        "policy: no affine policy that has an answer to every ξ was found; policy.json is not written\n"
    );
    assert!(!folder.path("policy.json").exists());
}

#[test]
fn no_policy_is_written_when_the_time_is_up() {
    let folder = TestFolder::empty();
    folder.run("generate location-transportation --n 30 --uncertainty ellipsoid --out long.json").done();
    folder.run("solve long.json --method bundle --certify none --time-limit 1 --out result.json").done();
    let ended = folder.run("evaluate long.json --x result.json --time-limit 0.001 --policy policy.json");
    ended.done();
    let line = "policy: the time limit is reached before an affine policy was found; policy.json is not written\n";
    assert_eq!(ended.stderr, line);
    assert!(!folder.path("policy.json").exists());
}

#[test]
fn unwritable_files_are_refused_before_the_run() {
    let folder = TestFolder::with_depot();
    folder.put("plan.json", r#"{"open": 1, "capacity": 246}"#);
    for command in ["solve depot.json", "evaluate depot.json --x plan.json"] {
        folder
            .run(&format!("{command} --policy nowhere/policy.json"))
            .refused(&["nowhere/policy.json: cannot be written"]);
        folder.run(&format!("{command} --policy .")).refused(&[]);
        folder.run(&format!("{command} --policy -")).refused(&["--policy -", "name a file"]);
        folder.run(&format!("{command} --policy depot.json")).refused(&["used for something else"]);
    }
    folder.run("evaluate depot.json --x plan.json --policy plan.json").refused(&["used for something else"]);
    for other in ["--out", "--trace", "--log", "--report"] {
        folder.run(&format!("solve depot.json {other} same --policy same")).refused(&["used for something else"]);
    }
    assert_eq!(folder.names(), ["depot.json", "plan.json"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_fails_after_the_result() {
    let folder = TestFolder::with_depot();
    let ended = folder.run("solve depot.json --policy /dev/full");
    assert_eq!(ended.code, Some(1));
    assert!(ended.stdout.starts_with("status       optimal"), "the result is not lost: {ended:?}");
    assert!(ended.stderr.starts_with("error: /dev/full: "), "{ended:?}");
}
