//! The advice of refusals, followed: it never leads to another refusal.
#![allow(clippy::unwrap_used)]

use serde_json::{Map, Value};
use softsep::methods::METHODS;
use softsep::testing::{Recipe, random_problem};
use softsep::{MethodSettings, Problem};

fn options(given: &[(&str, &str)]) -> Map<String, Value> {
    given.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect()
}

fn takes(method: &str, given: &[(&str, &str)], problem: &Problem) -> Result<(), String> {
    let method = MethodSettings::parse(method, &options(given)).unwrap();
    method.build().accepts(problem).map_err(|refusal| refusal.instead)
}

/// Follows the advice to this method with this option.
fn follow(method: &str, given: &[(&str, &str)], advice: &str, problem: &Problem) -> Result<(), String> {
    if let Some((_, named)) = advice.split_once("--method ") {
        let named = named.split_whitespace().next().unwrap();
        return takes(named, &[], problem);
    }
    match given.iter().find(|(name, _)| advice.contains(&format!("leave --{name}"))) {
        Some(_) => takes(method, &[], problem),
        None => Ok(()),
    }
}

#[test]
fn advice_never_leads_to_another_refusal() {
    let separations = ["soft", "scan", "split", "bilinear", "kkt", "cascade"].map(|kind| ("separation", kind));
    let mut followed = 0;
    for set in ["scenarios", "box", "l1", "budget", "ellipsoid", "polyhedron"] {
        for features in 0..32_u32 {
            let has = |bit: u32| features >> bit & 1 == 1;
            let recipe = Recipe {
                set,
                integers: has(0),
                quadratic_first: has(1),
                quadratic: has(2),
                cone: has(3),
                cost_xi: has(4),
                ..Recipe::default()
            };
            let problem = Problem::new(&random_problem(&recipe, u64::from(features))).unwrap();
            for entry in METHODS {
                let known = |name: &str| entry.options.iter().any(|option| option.name == name);
                let ways = separations.iter().chain(&[("tree", "multi")]).filter(|(name, _)| known(name));
                for given in ways.map(std::slice::from_ref).chain([&[] as &[_]]) {
                    let Err(advice) = takes(entry.name, given, &problem) else { continue };
                    followed += 1;
                    let again = follow(entry.name, given, &advice, &problem);
                    assert_eq!(again, Ok(()), "{recipe:?}, {} {given:?}: \"{advice}\"", entry.name);
                }
            }
        }
    }
    assert!(followed > 500, "{followed}");
}
