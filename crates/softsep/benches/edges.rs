//! Moves along the edges of polyhedra: the time of a move, and the worst cost that chains with falling temperature find
//! on vertices and in the whole set, with the same number of recourse solves.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::hint::black_box;
use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep::definition::Row;
use softsep::internals::chain::{Acceptance, Chain, TransitionKernel};
use softsep::internals::diagnose::nominal_decision;
use softsep::internals::separation::Ascent;
use softsep::internals::uncertainty::vertex_walk;
use softsep::proposal::{ProposalKind, ProposalOptions};
use softsep::recourse::{Answer, engine};
use softsep::run::{Clock, Purpose, stream};
use softsep::uncertainty::{SetDefinition, StateSpec, States};
use softsep::{Problem, ProblemDefinition};
use softsep_paper::instances::{
    Inventory, LocationTransportation, Network, Uncertain, inventory, location_transportation, network,
};

/// Recourse solves of a chain.
const SOLVES: u64 = 5_000;
/// Runs of which the mean is shown.
const RUNS: u64 = 5;
/// Temperatures of a run.
const STAGES: u64 = 50;

/// A box with as many random dense rows as parameters: 3·dim facets.
fn time_moves(dim: usize) {
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    let names: Vec<String> = (0..dim).map(|index| format!("g{index}")).collect();
    let row = |number: usize, rng: &mut ChaCha8Rng| Row {
        xi: names.iter().map(|name| (name.clone(), rng.random_range(-1.0..1.0))).collect(),
        upper: 0.3 * (dim as f64).sqrt(),
        ..Row::new(format!("r{number}"))
    };
    let constraints = (0..dim).map(|number| row(number, rng)).collect();
    let set = SetDefinition::Polyhedron { lower: vec![-1.0; dim], upper: vec![1.0; dim], constraints };
    let states = vertex_walk(&set, &names, 0).unwrap();
    let mut random = stream(1, Purpose::Chain, 0);
    let (mut from, mut to) = (states.blank(), states.blank());
    states.draw(&mut random, &mut from);
    let (moves, begun) = (200_000 / dim, Instant::now());
    for _ in 0..moves {
        states.neighbours().unwrap().draw_neighbour(&from, &mut random, &mut to);
        std::mem::swap(&mut from, &mut to);
    }
    let each = begun.elapsed().as_secs_f64() / moves as f64;
    black_box(&from);
    let begun = Instant::now();
    (0..50).for_each(|_| states.draw(&mut random, &mut from));
    let draw = begun.elapsed().as_secs_f64() / 50.0;
    println!("{dim:>3} dimensions, {} facets: {:.1} µs per move, {:.0} µs per draw", 3 * dim, 1e6 * each, 1e6 * draw);
}

/// The problem over its budget set written as a polyhedron, with rows that limit overlapping groups of entries too.
fn over_polyhedron(mut file: ProblemDefinition) -> Problem {
    let SetDefinition::Budget { budget, center, scale, .. } = &file.uncertainty.set else { panic!("no budget") };
    let names = &file.uncertainty.parameters;
    let dim = names.len();
    let limit = |group: Vec<usize>, share: f64, number: usize| {
        let base: f64 = group.iter().map(|&index| center[index] / scale[index]).sum();
        let xi = group.iter().map(|&index| (names[index].clone(), scale[index].recip())).collect();
        Row { xi, upper: base + share, ..Row::new(format!("r{number}")) }
    };
    let mut rows = vec![limit((0..dim).collect(), *budget, 0)];
    for start in (0..dim).step_by(3) {
        let group: Vec<usize> = (0..6).map(|step| (start + step) % dim).collect();
        rows.push(limit(group, 2.5, start + 1));
    }
    let (lower, upper) = (center.clone(), center.iter().zip(scale).map(|(center, scale)| center + scale).collect());
    file.uncertainty.set = SetDefinition::Polyhedron { lower, upper, constraints: rows };
    Problem::new(&file).unwrap_or_else(|complaints| panic!("{complaints}"))
}

/// The worst cost that a chain finds whose temperature falls from `hot` to a thousandth of it.
fn anneal(problem: &Problem, x: &[f64], states: &dyn States, kind: ProposalKind, hot: f64, seed: u64) -> f64 {
    let proposal = kind.build(states, &ProposalOptions::default()).unwrap();
    let mut engine = engine(problem, &Clock::unlimited()).unwrap();
    engine.at(x);
    let mut chain = Chain::new(problem, states, seed, 0);
    chain.adapt_concentration();
    let mut worst = f64::NEG_INFINITY;
    while engine.work().solves < SOLVES {
        let stage = (STAGES * engine.work().solves / SOLVES) as f64;
        let temperature = hot * 1e-3_f64.powf(stage / (STAGES - 1) as f64);
        let kernel =
            TransitionKernel { states, proposal: proposal.as_ref(), acceptance: Acceptance::Metropolis, temperature };
        chain.step(&kernel, engine.as_mut()).unwrap();
        worst = worst.max(chain.current().answer.value);
    }
    worst
}

/// The costs of a chain at one temperature after some numbers of solves.
fn descend(problem: &Problem, x: &[f64], states: &dyn States, kind: ProposalKind, cold: f64, seed: u64) -> [f64; 4] {
    let proposal = kind.build(states, &ProposalOptions::default()).unwrap();
    let mut engine = engine(problem, &Clock::unlimited()).unwrap();
    engine.at(x);
    let mut chain = Chain::new(problem, states, seed, 0);
    chain.adapt_concentration();
    let acceptance = Acceptance::Metropolis;
    let kernel = TransitionKernel { states, proposal: proposal.as_ref(), acceptance, temperature: cold };
    [10, 50, 200, 1000].map(|solves| {
        while engine.work().solves < solves {
            chain.step(&kernel, engine.as_mut()).unwrap();
        }
        chain.current().answer.value
    })
}

/// The worst cost that ascents from draws find.
fn ascend(problem: &Problem, x: &[f64], states: &dyn States, seed: u64) -> f64 {
    let mut engine = engine(problem, &Clock::unlimited()).unwrap();
    engine.at(x);
    let mut random = stream(seed, Purpose::Start, 0);
    let (mut state, mut xi) = (states.blank(), vec![0.0; problem.set.dim()]);
    let mut worst = f64::NEG_INFINITY;
    while engine.work().solves < SOLVES {
        states.draw(&mut random, &mut state);
        states.realize(&state, &mut xi);
        let mut ascent = Ascent::new(problem, engine.as_mut(), x);
        ascent.climb(&xi).unwrap();
        worst = worst.max(ascent.value());
    }
    worst
}

fn search(file: ProblemDefinition) {
    let problem = &over_polyhedron(file);
    let x = &nominal_decision(problem, &Clock::unlimited()).unwrap();
    let states = |edges| problem.set.states(&StateSpec { convex: true, edges, ..StateSpec::default() }).unwrap();
    let (vertices, body) = (states(true), states(false));
    println!("{}: {} parameters, vertices {}, set {}", problem.name, problem.set.dim(), vertices.space(), body.space());
    // The standard deviation of the cost over vertices.
    let mut random = stream(1, Purpose::Estimate, 0);
    let (mut state, mut xi, mut answer) = (vertices.blank(), vec![0.0; problem.set.dim()], Answer::new(problem));
    let mut solver = engine(problem, &Clock::unlimited()).unwrap();
    solver.at(x);
    let costs: Vec<f64> = (0..200)
        .map(|_| {
            vertices.draw(&mut random, &mut state);
            vertices.realize(&state, &mut xi);
            solver.solve(&xi, &mut answer).unwrap();
            answer.value
        })
        .collect();
    let mean = costs.iter().sum::<f64>() / 200.0;
    let hot = (costs.iter().map(|cost| (cost - mean).powi(2)).sum::<f64>() / 200.0).sqrt();
    println!("  200 drawn vertices cost {mean:.4} on average, ± {hot:.4}");
    let show = |name: &str, find: &dyn Fn(u64) -> f64| {
        let begun = Instant::now();
        let found: Vec<f64> = (0..RUNS).map(find).collect();
        let seconds = begun.elapsed().as_secs_f64() / RUNS as f64;
        let (mean, most) = (found.iter().sum::<f64>() / RUNS as f64, found.iter().fold(f64::MIN, |a, b| a.max(*b)));
        let least = found.iter().fold(f64::MAX, |a, b| a.min(*b));
        println!("  {name:<28} mean {mean:.4}, from {least:.4} to {most:.4}; {seconds:.2} s");
    };
    let (vertices, body) = (vertices.as_ref(), body.as_ref());
    show("chain along edges", &|seed| anneal(problem, x, vertices, ProposalKind::Local, hot, seed));
    show("chain in the set, adaptive", &|seed| anneal(problem, x, body, ProposalKind::Adaptive, hot, seed));
    show("chain in the set, local", &|seed| anneal(problem, x, body, ProposalKind::Local, hot, seed));
    let cold = |name: &str, states: &dyn States, kind: ProposalKind| {
        let runs: Vec<[f64; 4]> =
            (0..20).map(|seed| descend(problem, x, states, kind.clone(), 1e-3 * hot, seed)).collect();
        let means = [0, 1, 2, 3].map(|at| runs.iter().map(|run| run[at]).sum::<f64>() / 20.0);
        println!("  {name:<28} cold: mean after 10, 50, 200, 1000 solves {means:.1?}");
    };
    cold("chain along edges", vertices, ProposalKind::Local);
    cold("chain in the set, adaptive", body, ProposalKind::Adaptive);
    cold("chain in the set, local", body, ProposalKind::Local);
    show("ascents from vertices", &|seed| ascend(problem, x, vertices, seed));
    show("ascents from the set", &|seed| ascend(problem, x, body, seed));
}

fn main() {
    // `cargo test` runs benches without the flag.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    [10, 20, 40].into_iter().for_each(time_moves);
    let uncertainty = Uncertain::Budget { gamma: 0.35 };
    search(
        location_transportation(&LocationTransportation { n: 20, uncertainty, mixed_integer: false, seed: 1 }).unwrap(),
    );
    search(inventory(&Inventory { n: 20, uncertainty, seed: 1 }).unwrap());
    search(network(&Network { n: 20, uncertainty, seed: 1 }).unwrap());
}
