//! From an instance to its evaluation, as a user would go.
#![allow(clippy::unwrap_used)]

mod common;

use common::{TestFolder, keys};
use serde_json::Value;

#[test]
fn generate_check_solve_evaluate() {
    let folder = TestFolder::empty();
    let sets = [
        "budget --gamma 0.5",
        "scenarios --scenarios 300",
        "scenarios --scenarios 200",
        "budget --gamma 0.5 --mixed-integer",
    ];
    for (set, seed) in sets.into_iter().zip(1..) {
        let name = format!("p{seed}.json");
        folder
            .run(&format!("generate location-transportation --n 4 --uncertainty {set} --seed {seed} --out {name}"))
            .done();
        let checked = folder.run(&format!("check {name} --json"));
        checked.done();
        let methods = checked.json()["methods"].as_array().unwrap().clone();
        let keeps_integers = |method: &Value| method["name"] != "sgd" && method["name"] != "bundle";
        let applies =
            |method: &Value| method["applies"] == (keeps_integers(method) || !set.ends_with("--mixed-integer"));
        assert!(!methods.is_empty() && methods.iter().all(applies), "{methods:?}");
        folder.run(&format!("check {name}")).done();
        folder.run(&format!("solve {name} --gap 1e-6 --out r{seed}.json")).done();
        let result = folder.json(&format!("r{seed}.json"));
        assert_eq!(result["status"], "optimal");
        let evaluation = folder.run(&format!("evaluate {name} --x r{seed}.json --json"));
        evaluation.done();
        let evaluation = evaluation.json();
        let (cost, objective) = (evaluation["objective"].as_f64().unwrap(), result["objective"].as_f64().unwrap());
        assert!((cost - objective).abs() < 1e-6 * objective, "{cost} against {objective}");
        assert_eq!((&evaluation["status"], &evaluation["exact"]), (&"feasible".into(), &true.into()));
    }
    let lists: Vec<String> = folder.names().into_iter().filter(|name| name.ends_with(".csv")).collect();
    assert_eq!(lists, ["p2.csv"], "only the list of more than 200 scenarios is a file of its own");
    assert_eq!(folder.text("p2.csv").lines().count(), 301);
}

#[test]
fn every_family_is_drawn_and_solved_in_several_ways() {
    let folder = TestFolder::empty();
    for family in ["inventory --n 4", "energy --n 4", "network --n 3"] {
        // A curved set has no list of extreme points, and a search of it closes the last digits slowly.
        let sets = [("budget --gamma 0.4", 3, 1e-6), ("scenarios --scenarios 30", 3, 1e-6), ("ellipsoid", 2, 1e-2)];
        for (set, ways, gap) in sets {
            folder.run(&format!("generate {family} --uncertainty {set} --seed 2 --out drawn.json")).done();
            folder.run("check drawn.json").done();
            let (mut most, mut least) = (f64::NEG_INFINITY, f64::INFINITY);
            for how in &["ccg", "bundle --certify exact", "extensive"][..ways] {
                let result = folder.run(&format!("solve drawn.json --gap {gap} --json --method {how}")).json();
                let ended = (&result["status"], &result["certificate"]["kind"]);
                assert_eq!(ended, (&"optimal".into(), &"deterministic".into()), "{family}, {set}, {how}: {result}");
                most = most.max(result["lower_bound"].as_f64().unwrap());
                least = least.min(result["upper_bound"].as_f64().unwrap());
            }
            // One optimum lies between the bounds of all of them.
            assert!(most > 0.0 && most <= least * (1.0 + 1e-9), "{family}, {set}: at least {most}, at most {least}");
        }
    }
}

#[test]
fn the_standard_output_holds_the_same_instance() {
    let folder = TestFolder::empty();
    let command = "generate location-transportation --n 3 --uncertainty budget --gamma 0.5 --seed 9";
    let printed = folder.run(command);
    printed.done();
    assert_eq!(printed.stderr, "");
    folder.run(&format!("{command} --out written.json")).done();
    assert_eq!(printed.stdout, folder.text("written.json"));
    // A list that a file would have beside it is inside.
    let list = folder.run("generate location-transportation --n 3 --uncertainty scenarios --scenarios 500");
    assert_eq!(list.json()["uncertainty"]["set"]["points"].as_array().unwrap().len(), 500);
}

#[test]
fn evaluations_have_their_keys() {
    let folder = TestFolder::with_depot();
    folder.put("x.json", r#"{"open": 1, "capacity": 246}"#);
    let evaluation = folder.run("evaluate depot.json --x x.json --json").json();
    let spec = "status objective exact upper_bound how first_cost xi recourse_cost y recourse_solves seconds";
    assert_eq!(keys(&evaluation), spec.split_whitespace().collect::<Vec<_>>());
    assert!((evaluation["objective"].as_f64().unwrap() - 10240.0).abs() < 1e-6);
    assert_eq!(evaluation["xi"]["g"], 1.0);
    // A decision outside X is evaluated, and said to be outside.
    folder.put("x.json", r#"{"open": 0, "capacity": 246}"#);
    let evaluation = folder.run("evaluate depot.json --x x.json --json").json();
    assert_eq!(evaluation["status"], "infeasible");
    assert_eq!(evaluation["violation"]["name"], "link");
    assert_eq!(evaluation["violation"]["lower"], Value::Null);
    assert!(folder.run("evaluate depot.json --x x.json").done().starts_with("status       infeasible"));
}

#[test]
fn decisions_without_recourse_cost_infinitely_much() {
    let folder = TestFolder::empty();
    let strict = common::DEPOT.replace(", \"emergency\": 1", "");
    folder.put("strict.json", &strict);
    folder.put("x.json", r#"{"open": 1, "capacity": 206}"#);
    let evaluation = folder.run("evaluate strict.json --x x.json --json");
    evaluation.done();
    let evaluation = evaluation.json();
    assert_eq!((&evaluation["status"], &evaluation["objective"]), (&"infeasible".into(), &Value::Null));
    assert_eq!(evaluation["xi"]["g"], 1.0);
    assert_eq!(evaluation["rows"], serde_json::json!(["supply", "demand"]));
}

#[test]
fn a_curved_set_is_solved_and_evaluated() {
    let folder = TestFolder::empty();
    folder.run("generate location-transportation --n 3 --out round.json").done();
    let methods = folder.run("check round.json --json").json()["methods"].clone();
    let ccg = methods.as_array().unwrap().iter().find(|method| method["name"] == "ccg").unwrap();
    assert!(ccg["promise"].as_str().unwrap().contains("as close as asked for"), "{methods}");
    let extensive = methods.as_array().unwrap().iter().find(|method| method["name"] == "extensive").unwrap();
    assert!(extensive["feature"].as_str().unwrap().contains("infinitely many"), "{methods}");
    let result = folder.run("solve round.json --gap 1e-4 --json").json();
    assert_eq!((&result["status"], &result["certificate"]["kind"]), (&"optimal".into(), &"deterministic".into()));
    // Any decision is bracketed, whether or not the bracket is closed.
    folder.put("x.json", r#"{"capacity_1": 300, "capacity_2": 300, "capacity_3": 300}"#);
    let evaluation = folder.run("evaluate round.json --x x.json --json").json();
    let (below, above) = (evaluation["objective"].as_f64().unwrap(), evaluation["upper_bound"].as_f64().unwrap());
    assert!(below <= above && above <= below * (1.0 + 2e-4), "{evaluation}");
    assert!(above >= result["lower_bound"].as_f64().unwrap(), "{evaluation}");
}

#[test]
fn coefficients_far_apart_get_a_hint() {
    let folder = TestFolder::empty();
    folder.put("wide.json", &common::DEPOT.replace("\"cost\": 150", "\"cost\": 1.5e12"));
    assert!(folder.run("check wide.json").done().contains("hint"));
    assert_eq!(folder.run("check wide.json --json").json()["coefficients"]["costs"]["wide"], true);
}

#[test]
fn methods_are_listed_and_every_help_shows_an_example() {
    let folder = TestFolder::empty();
    let methods = folder.run("methods --json").json();
    let first = &methods.as_array().unwrap()[0];
    assert_eq!(keys(first), ["name", "summary", "accepts", "guarantees", "options"]);
    assert!(folder.run("methods").done().contains("--max-copies"));
    assert!(folder.run("--version").done().starts_with("softsep "));
    let families = ["generate location-transportation", "generate inventory", "generate energy", "generate network"];
    for command in ["", "solve", "evaluate", "check", "generate", "methods"].into_iter().chain(families) {
        let help = folder.run(&format!("{command} --help"));
        assert!(help.done().contains("xample"), "{command} --help shows no example");
    }
}
