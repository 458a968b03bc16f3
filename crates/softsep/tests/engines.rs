//! Every recourse engine through the conformance suite, on thousands of small random problems.
#![allow(clippy::unwrap_used, clippy::panic)]

use softsep::Problem;
use softsep::internals::recourse::{Conic, Fixed, Linear};
use softsep::recourse::{DualChoice, Recourse};
use softsep::run::Clock;
use softsep::testing::{Recipe, check_engine, random_problem};

/// `make soak` asks for twenty times as many problems.
fn many(count: u64) -> std::ops::Range<u64> {
    0..count * if std::env::var_os("SOFTSEP_SOAK").is_some() { 20 } else { 1 }
}

fn problem(recipe: &Recipe, seed: u64) -> Problem {
    Problem::new(&random_problem(recipe, seed)).unwrap_or_else(|complaints| panic!("seed {seed}: {complaints}"))
}

#[test]
fn simplex_on_linear_recourse() {
    for seed in many(1500) {
        let problem = problem(&Recipe { incomplete: seed % 3 == 0, units: seed % 4 == 0, ..Recipe::default() }, seed);
        let mut engine = Linear::new(&problem, &Clock::unlimited()).unwrap();
        let mut other = Conic::new(&problem, &Clock::unlimited()).unwrap();
        check_engine(&problem, &mut engine, &mut other, seed);
    }
}

#[test]
fn simplex_with_hints_of_another() {
    for seed in many(300) {
        let problem = problem(&Recipe { incomplete: seed % 3 == 0, units: seed % 4 == 0, ..Recipe::default() }, seed);
        let mut engine = Linear::new(&problem, &Clock::unlimited()).unwrap();
        let mut other = Linear::new(&problem, &Clock::unlimited()).unwrap();
        check_engine(&problem, &mut engine, &mut other, seed);
    }
}

#[test]
fn rows_alone_where_there_is_nothing_to_decide() {
    for seed in many(200) {
        let mut file = random_problem(&Recipe { units: seed % 2 == 0, ..Recipe::default() }, seed);
        file.recourse.variables.clear();
        file.recourse.constraints.iter_mut().for_each(|row| row.y.clear());
        let problem = Problem::new(&file).unwrap();
        let mut engine = Fixed::new(&problem).unwrap();
        let mut other = Fixed::new(&problem).unwrap();
        check_engine(&problem, &mut engine, &mut other, seed);
    }
}

#[test]
fn simplex_with_costs_that_move() {
    for seed in many(500) {
        let problem = problem(&Recipe { cost_xi: true, incomplete: seed % 3 == 0, ..Recipe::default() }, seed);
        let mut engine = Linear::new(&problem, &Clock::unlimited()).unwrap();
        let mut other = Conic::new(&problem, &Clock::unlimited()).unwrap();
        check_engine(&problem, &mut engine, &mut other, seed);
    }
}

#[test]
fn simplex_with_the_least_slope() {
    for seed in many(500) {
        let problem = problem(&Recipe { cost_xi: seed % 4 == 0, ..Recipe::default() }, seed);
        let mut engine = Linear::new(&problem, &Clock::unlimited()).unwrap().with_dual(DualChoice::LeastNorm).unwrap();
        let mut other = Linear::new(&problem, &Clock::unlimited()).unwrap();
        check_engine(&problem, &mut engine, &mut other, seed);
    }
}

#[test]
fn interior_point_with_the_least_norm() {
    let (mut solves, mut unselected) = (0, 0);
    for seed in many(150) {
        let recipe = Recipe { quadratic: seed % 2 == 0, cone: seed % 3 == 0, ..Recipe::default() };
        let problem = problem(&recipe, seed);
        let new = || Conic::new(&problem, &Clock::unlimited()).unwrap();
        let (mut engine, mut other) = (new().with_dual(DualChoice::LeastNorm), new());
        check_engine(&problem, &mut engine, &mut other, seed);
        (solves, unselected) = (solves + engine.work().solves, unselected + engine.work().unselected);
    }
    assert!(20 * unselected <= solves, "{unselected} of {solves} duals could not be selected");
}

#[test]
fn interior_point_on_linear_quadratic_and_conic_recourse() {
    for seed in many(600) {
        let recipe = Recipe {
            quadratic: seed % 2 == 0,
            cone: seed % 3 == 0,
            cost_xi: seed % 5 == 0,
            incomplete: seed % 7 == 0,
            ..Recipe::default()
        };
        let problem = problem(&recipe, seed);
        let mut engine = Conic::new(&problem, &Clock::unlimited()).unwrap();
        let mut other = Conic::new(&problem, &Clock::unlimited()).unwrap();
        check_engine(&problem, &mut engine, &mut other, seed);
    }
}
