//! Options of `--method sgd`: files to start from, and one clear line with exit code 2 for what makes no sense.
#![allow(clippy::unwrap_used)]

mod common;

use common::TestFolder;

/// Places with an ellipsoid and with a list.
fn folder() -> TestFolder {
    let folder = TestFolder::empty();
    folder.run("generate location-transportation --n 3 --out depots.json").done();
    folder.run("generate location-transportation --n 3 --uncertainty scenarios --scenarios 40 --out list.json").done();
    folder
}

#[test]
fn a_start_from_a_file() {
    let folder = folder();
    folder.run("solve depots.json --method sgd --out first.json").done();
    let x = &folder.json("first.json")["x"];
    folder.put("names.json", &x.to_string());
    let again = |start: &str| {
        let mut result =
            folder.run(&format!("solve depots.json --method sgd --iterations 1 --json --start {start}")).json();
        result.as_object_mut().unwrap().remove("seconds").unwrap();
        result
    };
    let from_result = again("@first.json");
    assert_eq!(from_result, again("@names.json"));
    assert_eq!(from_result, again(&x.to_string()));
    assert_ne!(from_result["x"], again("zero")["x"]);
}

#[test]
fn files_that_hold_no_start() {
    let folder = folder();
    folder.put("text.json", "{\"capacity_1\": ");
    folder.put("list_of.json", "[1, 2]");
    folder.put("words.json", "{\"capacity_1\": \"much\"}");
    folder.put("other.json", "{\"capacity_1\": 1, \"warehouse\": 2}");
    folder.put("empty.json", "{\"format\": \"aro-result/1\"}");
    for (file, said) in [
        ("nope.json", "nope.json: there is no such file"),
        ("text.json", "text.json: "),
        ("list_of.json", "list_of.json: must be an object of names and numbers"),
        ("words.json", "words.json: "),
        ("empty.json", "this result holds no decision"),
        ("depots.json", "neither a result"),
        ("other.json", "the start names \"warehouse\", which is not a first-stage variable"),
        ("", "there is no such file"),
    ] {
        folder.run(&format!("solve depots.json --method sgd --start @{file}")).refused(&[said]);
    }
    folder
        .run("solve depots.json --method sgd --start {\"capacity\":1}")
        .refused(&["\"capacity\"", "did you mean \"capacity_1\""]);
}

#[test]
fn values_that_make_no_sense() {
    let folder = folder();
    for (wrong, right) in [
        ("--steps long", "level and sqrt"),
        ("--step -1", "positive number nor auto"),
        ("--average none", "linear and step-size"),
        ("--start here", "nominal, zero, support"),
        ("--dual best", "any and least-norm"),
        ("--preconditioner best", "seen, data and none"),
        ("--stop never", "gap, iterations and bounds"),
        ("--preset papers", "paper is"),
        (
            "--proposal none",
            "uniform, weighted, adaptive, hit-and-run, geodesic, tangent, langevin, hamiltonian, local are",
        ),
        ("--acceptance always", "metropolis and barker"),
        ("--temperature 0", "positive number nor auto nor adaptive"),
        ("--margin x", "positive number nor auto"),
        ("--kappa nan", "positive number nor auto"),
        ("--share 2", "between 0 and 1"),
        ("--transitions 0", "integer from 1 on"),
        ("--chains 1.5", "integer from 1 on"),
        ("--chains 5000", "4096"),
        ("--score moreau:x", "moreau:TAU with a positive number TAU"),
        ("--reference volume", "sphere and surface"),
    ] {
        let ended = folder.run(&format!("solve depots.json --method sgd {wrong}"));
        ended.refused(&[wrong.split(' ').next().unwrap(), right]);
        assert!(!ended.stderr.contains("variant") && !ended.stderr.contains("invalid type"), "{ended:?}");
    }
    for method in ["ccg", "benders", "bundle", "sgd", "branch-and-cut"] {
        let ended = folder.run(&format!("solve depots.json --method {method} --separation foo"));
        ended.refused(&[
            "--separation",
            "\"foo\" is no separation; auto, soft, scan, split, bilinear, kkt and cascade are",
        ]);
    }
}

#[test]
fn what_does_not_go_with_the_problem() {
    let folder = folder();
    for (wrong, right) in [
        ("depots.json --proposal hit-and-run", "uniform, adaptive, geodesic, tangent, langevin, local would work"),
        ("list.json --proposal langevin", "uniform, adaptive, local would work"),
        ("depots.json --temperature adaptive", "leave --temperature out"),
        ("depots.json --stop bounds", "--stop and --preconditioner are for --steps sqrt"),
    ] {
        folder.run(&format!("solve --method sgd {wrong}")).refused(&[right]);
    }
    folder.run("solve list.json --method sgd --temperature adaptive --margin 10").done();
}
