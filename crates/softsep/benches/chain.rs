//! A step of a chain beside the bare basis solve at the same ξ, in the same run, on location–transportation.
//!
//! Chains walk at a fixed x with their own proposals; the scenarios that a batch of steps solved are then solved again
//! by another engine, alone. Both engines hold the bases by then. The ratio is a step's time per recourse solve over
//! that of the bare solve; at most 3 is wanted.
#![allow(clippy::unwrap_used, missing_docs)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use softsep::Problem;
use softsep::internals::chain::{Acceptance, Chain, TransitionKernel};
use softsep::internals::recourse::Linear;
use softsep::proposal::{ProposalKind, ProposalOptions};
use softsep::recourse::{Answer, Recourse};
use softsep::run::Clock;
use softsep::uncertainty::StateSpec;
use softsep_paper::instances::{LocationTransportation, Uncertain, location_transportation};

/// Steps of a batch.
const BATCH: usize = 200;

fn problem(n: usize, uncertainty: Uncertain) -> Problem {
    let instance = LocationTransportation { n, uncertainty, mixed_integer: false, seed: 1 };
    Problem::new(&location_transportation(&instance).unwrap()).unwrap()
}

/// The standard deviation of the score along a chain that takes everything: a temperature at which the chain moves.
fn temperature(problem: &Problem, kernel: &TransitionKernel, engine: &mut Linear) -> f64 {
    let mut chain = Chain::new(problem, kernel.states, 2, 0);
    let scores: Vec<f64> = (0..300)
        .map(|_| {
            chain.step(kernel, engine).unwrap();
            chain.current().answer.value
        })
        .collect();
    let mean = scores.iter().sum::<f64>() / scores.len() as f64;
    (scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / scores.len() as f64).sqrt()
}

fn compare(n: usize, uncertainty: Uncertain, choice: ProposalKind, budget: Duration) {
    let problem = problem(n, uncertainty);
    // `cargo bench --bench chain -- ellipsoid-10-auto` runs one line.
    let kind = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    if kind.is_some_and(|kind| kind != format!("{}-{n}-{choice}", problem.set.kind())) {
        return;
    }
    // Hamiltonian moves are made in the whole set.
    let convex = choice != ProposalKind::Hamiltonian;
    let states = problem.set.states(&StateSpec { convex, ..StateSpec::default() }).unwrap();
    let proposal = choice.build(states.as_ref(), &ProposalOptions::default()).unwrap();
    let mut kernel = TransitionKernel {
        states: states.as_ref(),
        proposal: proposal.as_ref(),
        acceptance: Acceptance::Metropolis,
        temperature: 1e12,
    };
    let (mut engine, mut bare) =
        (Linear::new(&problem, &Clock::unlimited()).unwrap(), Linear::new(&problem, &Clock::unlimited()).unwrap());
    let x = vec![250.0; problem.first.dim()];
    engine.at(&x);
    bare.at(&x);
    kernel.temperature = temperature(&problem, &kernel, &mut engine).max(1e-6);
    let mut chain = Chain::new(&problem, kernel.states, 1, 0);
    let mut answer = Answer::new(&problem);
    let (mut chain_time, mut bare_time, mut solves, mut steps) = (Duration::ZERO, Duration::ZERO, 0_u32, 0_u32);
    let mut asked = Vec::new();
    let mut counted = (0, 0);
    let begin = Instant::now();
    while begin.elapsed() < budget + budget {
        // The first half of the time makes the bases known.
        let is_warm = begin.elapsed() > budget;
        let before = engine.work();
        let start = Instant::now();
        asked.clear();
        for _ in 0..BATCH {
            let solves = engine.work().solves;
            let moved = chain.step(&kernel, &mut engine).unwrap();
            // A trajectory asks several times on its way; its end stands for all of these.
            let state = if moved { chain.current() } else { chain.previous_or_rejected() };
            for _ in solves..engine.work().solves {
                asked.extend_from_slice(&state.xi);
            }
        }
        let chain_spent = start.elapsed();
        let start = Instant::now();
        for xi in asked.chunks(problem.set.dim()) {
            bare.solve(xi, &mut answer).unwrap();
            black_box(answer.value);
        }
        if is_warm {
            bare_time += start.elapsed();
            chain_time += chain_spent;
            solves += (asked.len() / problem.set.dim()) as u32;
            steps += BATCH as u32;
            counted.0 += engine.work().reused - before.reused;
            counted.1 += engine.work().solves - before.solves;
        }
    }
    println!(
        "{:<10} n = {n:<4} {:<11} step {:>9.2?}  bare solve {:>9.2?}  ratio {:>6.2}  reused {:>5.1} %  moved {:>4.2}  \
         {steps} steps",
        problem.set.kind(),
        choice.to_string(),
        chain_time / solves.max(1),
        bare_time / solves.max(1),
        chain_time.as_secs_f64() / bare_time.as_secs_f64(),
        100.0 * counted.0 as f64 / f64::max(counted.1 as f64, 1.0),
        chain.diagnostics().acceptance().unwrap_or(0.0),
    );
}

fn main() {
    for n in [10, 30, 100] {
        for uncertainty in [Uncertain::Scenarios(1000), Uncertain::Budget { gamma: 0.35 }, Uncertain::Ellipsoid] {
            for choice in [ProposalKind::Uniform, ProposalKind::Adaptive] {
                compare(n, uncertainty, choice, Duration::from_secs(1));
            }
            if matches!(uncertainty, Uncertain::Ellipsoid) {
                for choice in [
                    ProposalKind::Geodesic,
                    ProposalKind::Tangent,
                    ProposalKind::Langevin,
                    ProposalKind::Auto,
                    ProposalKind::Hamiltonian,
                ] {
                    compare(n, uncertainty, choice, Duration::from_secs(1));
                }
            }
        }
    }
}
