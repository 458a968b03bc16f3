//! `softsep diagnose`: plain words, the same twice, and refusals.
#![allow(clippy::unwrap_used)]

mod common;

use common::{TestFolder, keys};

/// A folder with a small list and with an ellipsoid.
fn folder() -> TestFolder {
    let folder = TestFolder::with_depot();
    folder.run("generate location-transportation --n 3 --uncertainty scenarios --scenarios 40 --out list.json").done();
    folder.run("generate location-transportation --n 3 --uncertainty ellipsoid --out ellipsoid.json").done();
    folder
}

#[test]
fn a_list_is_told_about() {
    let folder = folder();
    let text = folder.run("diagnose list.json");
    for part in [
        "decision     the best for the nominal scenario",
        "states       40 rows of a list; all were evaluated",
        "the largest that keeps the soft maximum within 0.1 % of the cost",
        "likeliest",
        "Δ     scores differ by at most",
        "the least share of its start that a step forgets: 0.025;",
        "after 10000 steps",
        "it exactly (Theorem 3)",
        "ρ: one more transition",
        "w ≤ ",
        "κ = ",
    ] {
        assert!(text.done().contains(part), "no {part:?} in {}", text.stdout);
    }
    // The best for the nominal scenario is what `solve` would find for it; any decision can be looked at.
    folder.run("solve list.json --out result.json --quiet").done();
    let given = folder.run("diagnose list.json --x result.json --temperature 5 --acceptance barker");
    assert!(given.done().contains("decision     that of result.json") && given.stdout.contains("w = 5, as given"));
    assert!(given.stdout.contains("a step forgets: 0.0125;"), "{}", given.stdout);
}

#[test]
fn a_bound_that_says_nothing_says_so() {
    let folder = folder();
    let warm = folder.run("diagnose list.json --temperature 1e9");
    assert!(warm.done().contains("vacuous (the bound is 1 or more)"), "{}", warm.stdout);
    assert!(warm.stdout.contains("no number of further calls certifies a decision"), "{}", warm.stdout);
    assert!(warm.stdout.contains("choose a smaller w"), "{}", warm.stdout);
    let sphere = folder.run("diagnose ellipsoid.json");
    assert!(sphere.done().contains("the unit sphere in 3 coordinates"), "{}", sphere.stdout);
    assert!(sphere.stdout.contains("not available for so few steps"), "{}", sphere.stdout);
    assert!(sphere.stdout.contains("certification are for finitely many states"), "{}", sphere.stdout);
    assert!(sphere.stdout.contains("(estimated from the draws)"), "{}", sphere.stdout);
}

#[test]
fn programs_read_the_same_numbers() {
    let folder = folder();
    let found = folder.run("diagnose list.json --json").json();
    assert_eq!(
        keys(&found),
        [
            "x",
            "feasible",
            "states",
            "first_cost",
            "temperature",
            "scores",
            "search",
            "score_error",
            "soft_error",
            "constants",
            "mixing",
            "movement",
            "identification",
            "certification",
            "convergence",
            "advice"
        ]
    );
    assert_eq!(found["states"]["count"], 40.0);
    assert_eq!(found["scores"]["exact"], true);
    assert_eq!(found["constants"]["spread"]["known"], "bounded");
    assert_eq!(found["mixing"]["gamma"].as_f64().unwrap(), 1.0 / 40.0);
    let cost = found["first_cost"].as_f64().unwrap() + found["scores"]["worst"].as_f64().unwrap();
    // The soft maximum is within the gap, which is what the temperature was chosen for.
    let off = found["scores"]["worst"].as_f64().unwrap() - found["scores"]["soft_maximum"].as_f64().unwrap();
    assert!(off <= 1e-3 * cost && off <= found["soft_error"]["value"].as_f64().unwrap() * (1.0 + 1e-9));
    // A chance that says nothing is null.
    let warm = folder.run("diagnose list.json --json --temperature 1e9").json();
    assert!(warm["identification"]["after"][2]["theorem_3"]["still"].is_null());
    assert!(warm["certification"]["rho"].is_null() && warm["certification"]["calls"].is_null());
    // Theorem 1 says nothing after few steps, and gives the α₀ that it is for where it says something.
    let after = &found["convergence"]["after"];
    assert!(after[0]["theorem_1"]["linear"].is_null() && keys(&after[0]).contains(&"proposition_2"));
    let sphere = folder.run("diagnose ellipsoid.json --json").json();
    assert!(keys(&sphere["convergence"]["after"][0]).contains(&"theorem_4"), "{sphere}");
    // The cost is that of `evaluate`.
    folder.put("x.json", &found["x"].to_string());
    let evaluated = folder.run("evaluate list.json --x x.json --json").json();
    assert!((evaluated["objective"].as_f64().unwrap() / cost - 1.0).abs() < 1e-9);
}

#[test]
fn the_same_twice() {
    let folder = folder();
    for arguments in
        ["diagnose list.json", "diagnose list.json --samples 10 --seed 7", "diagnose ellipsoid.json --json"]
    {
        assert_eq!(folder.run(arguments).done(), folder.run(arguments).done());
    }
    let seeds = ["1", "2"].map(|seed| folder.run(&format!("diagnose ellipsoid.json --seed {seed}")).stdout);
    assert_ne!(seeds[0], seeds[1]);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = folder();
    for (wrong, right) in [
        ("--temperature 0", "the temperature is a positive number"),
        ("--temperature nan", "the temperature is a positive number"),
        ("--gap 0", "the gap is a positive number"),
        ("--samples 0", "the number of samples is an integer from 1"),
        ("--confidence 1", "the confidence is a number between 0 and 1"),
        ("--acceptance maybe", "metropolis and barker are"),
        ("--score moreau:0", "exact and moreau:TAU with a positive number TAU are"),
        ("--score moreau:1e9", "take a smaller moreau:TAU"),
        ("--reference area", "sphere and surface are"),
        ("--x nope.json", "nope.json: there is no such file"),
    ] {
        folder.run(&format!("diagnose list.json {wrong}")).refused(&[right]);
    }
    folder.run("diagnose nope.json").refused(&["nope.json: there is no such file"]);
    folder.put("half.json", r#"{"z_1": 1}"#);
    let refused = folder.run("diagnose list.json --x half.json");
    assert_eq!(refused.code, Some(2));
    // Capacity that does not suffice: some scenario has no recourse, and the theory nothing to say.
    folder.put(
        "short.json",
        r#"{"format": "aro/1",
            "first_stage": {"variables": [{"name": "x", "cost": 1, "upper": 3}]},
            "uncertainty": {"parameters": ["d"], "set": {"kind": "scenarios", "points": [[1], [2], [9]]}},
            "recourse": {"variables": [{"name": "y", "cost": 1, "upper": 4}],
                         "constraints": [{"name": "cover", "y": {"y": 1}, "x": {"x": 1}, "xi": {"d": -1},
                                          "lower": 0}]}}"#,
    );
    folder.run("diagnose short.json").refused(&["short.json: at 1 of the 3 evaluated states", "\"--x\" takes another"]);
}

/// Demand only costs more as it rises: of the depot's two extreme points one can be the worst, and any temperature will
/// do.
#[test]
fn one_state_needs_no_temperature() {
    let text = TestFolder::with_depot().run("diagnose depot.json");
    for part in
        ["states       one; all were evaluated", "the gap itself; every temperature suffices", "do not apply here"]
    {
        assert!(text.done().contains(part), "no {part:?} in {}", text.stdout);
    }
}

#[test]
fn a_decision_outside_of_its_bounds_is_warned_about() {
    let folder = folder();
    let mut x = folder.run("diagnose list.json --json").json()["x"].clone();
    x.as_object_mut().unwrap().values_mut().next().map(|value| *value = serde_json::json!(1e6)).unwrap();
    folder.put("x.json", &x.to_string());
    let text = folder.run("diagnose list.json --x x.json");
    assert!(text.done().contains("warning      the decision is not feasible for the first stage"), "{text:?}");
}

/// Scores with an error, and the surface of an ellipsoid as reference.
#[test]
fn scores_and_references_can_be_chosen() {
    let folder = folder();
    let text = folder.run("diagnose list.json --score moreau:1e-4");
    assert!(text.done().contains("scores       the Moreau envelope with τ = 1.000e-4, below the cost by "));
    assert!(text.stdout.contains("Proposition 2, on the averages of Algorithm 1, are for exact scores"));
    let found = folder.run("diagnose list.json --score moreau:1e-4 --json").json();
    assert!(found["score_error"]["value"].as_f64().unwrap() > 0.0 && found["convergence"].is_null());
    let exact = folder.run("diagnose list.json --json").json();
    assert_eq!(exact["score_error"]["value"], 0.0);
    assert!(found["temperature"].as_f64().unwrap() < exact["temperature"].as_f64().unwrap());
    let coarse = folder.run("diagnose list.json --score moreau:1 --temperature 1");
    assert!(coarse.done().contains("not available: the gap is not above 2ε"), "{}", coarse.stdout);
    assert!(coarse.stdout.contains("no w keeps the soft maximum within"), "{}", coarse.stdout);
    let [sphere, surface] =
        ["sphere", "surface"].map(|by| folder.run(&format!("diagnose ellipsoid.json --json --reference {by}")).json());
    assert!(surface["mixing"]["gamma"].as_f64().unwrap() < sphere["mixing"]["gamma"].as_f64().unwrap());
}
