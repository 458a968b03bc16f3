//! Decisions without a certificate have recourse at every scenario, as far as a search can tell: checked against every
//! extreme point of small sets.
#![allow(clippy::unwrap_used)]

use softsep::methods::MethodSettings;
use softsep::recourse::{Answer, Outcome as RecourseOutcome, engine};
use softsep::run::Clock;
use softsep::testing::{Recipe, Size, random_problem};
use softsep::{Certify, Problem, Settings, Status, solve};

const SETS: [&str; 5] = ["box", "l1", "budget", "polyhedron", "scenarios"];

/// Whether each extreme point of the set has recourse at x.
fn has_recourse(problem: &Problem, x: &[f64]) -> bool {
    let mut engine = engine(problem, &Clock::unlimited()).unwrap();
    let mut answer = Answer::new(problem);
    engine.at(x);
    problem.set.enumerate(100_000).unwrap().iter().all(|xi| {
        engine.solve(xi, &mut answer).unwrap();
        answer.outcome != RecourseOutcome::Infeasible
    })
}

#[test]
fn decisions_without_a_certificate_have_recourse_at_every_extreme_point() {
    let mut decisions = 0;
    let mut without = Vec::new();
    let seeds: u64 = std::env::var("SEEDS").map_or(12, |seeds| seeds.parse().unwrap());
    for set in SETS {
        for size in [Size::Small, Size::Medium] {
            for seed in 0..seeds {
                let integers = seed % 3 == 2;
                let recipe = Recipe { set, size, integers, incomplete: true, ..Recipe::default() };
                let problem = Problem::new(&random_problem(&recipe, seed)).unwrap();
                let methods: &[&str] = if integers { &["branch-and-cut"] } else { &["bundle", "sgd", "branch-and-cut"] };
                for method in methods {
                    for iterations in [None, Some(1), Some(3)] {
                        let settings = Settings {
                            method: method.parse::<MethodSettings>().unwrap(),
                            certify: Certify::None,
                            iterations,
                            ..Settings::default()
                        };
                        let outcome = solve(&problem, &settings).unwrap();
                        if outcome.status != Status::Feasible {
                            continue;
                        }
                        decisions += 1;
                        if !has_recourse(&problem, outcome.x().unwrap()) {
                            without.push(format!("{set} {size:?} {seed} {method} {iterations:?} {:?}", outcome.stop));
                        }
                    }
                }
            }
        }
    }
    eprintln!("{decisions} decisions");
    assert!(without.is_empty(), "{} of {decisions} lack recourse: {without:#?}", without.len());
}
