//! Every proposal through the conformance suite, and every chain's long-run law against p_x itself: by enumeration on finite sets, by quadrature on
//! spheres and in bodies.
//!
//! The recourse problems have generic numbers and the engine picks duals by least slope, so that each state has one dual (see `softsep::chain`).
//!
//! A run goes on until its scores are worth 200 000 independent draws (as its diagnostics estimate). The law is compared on at most 13 states or bins, so
//! that the expected distance in total variation of an exact chain is at most √(13/(2π·200 000)) ≈ 0.0032, and it exceeds 0.01 with probability at most
//! exp(−2·200 000·0.0068²) < 1e-8 (McDiarmid). All seeds are fixed.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep::Problem;
use softsep::chain::{Acceptance, Chain, Chains, Kernel};
use softsep::format::{Points, ProblemFile, Row, SetFile, Sides, Variable};
use softsep::proposal::{
    Alternate, Choice, Geodesic, HitAndRun, Langevin, Mixture, Options, Place, Proposal, Tilted, Uniform, Weighted,
};
use softsep::recourse::{Answer, DualChoice, Linear, Recourse};
use softsep::run::{Clock, Purpose};
use softsep::testing::{Trial, check_proposal};
use softsep::uncertainty::{Reach, Space, State, States};

const DRAWS: f64 = 200_000.0;
const DISTANCE: f64 = 0.01;

fn is_soak() -> bool {
    std::env::var_os("SOFTSEP_SOAK").is_some()
}

/// A problem over a set whose recourse repairs three rows, at costs that differ by row and side, with two helpers that serve all rows and are scarce.
/// All numbers are generic: no ties.
fn problem(set: SetFile, dim: usize, seed: u64) -> Problem {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut file = ProblemFile { name: format!("{} {dim} {seed}", kind(&set)), ..ProblemFile::default() };
    file.first_stage.variables.push(Variable::new("x", 1.0).bounded(0.0, 1.0));
    file.uncertainty.parameters = (0..dim).map(|j| format!("g{j}")).collect();
    file.uncertainty.set = set;
    for helper in ["z0", "z1"] {
        file.recourse.variables.push(Variable::new(helper, rng.random_range(0.1..1.0)).bounded(0.0, rng.random_range(0.2..0.5)));
    }
    for i in 0..3 {
        let mut row = Row::new(format!("r{i}"));
        for (side, sign) in [("more", 1.0), ("less", -1.0)] {
            file.recourse.variables.push(Variable::new(format!("{side}{i}"), rng.random_range(1.0..4.0)));
            row.y.push((format!("{side}{i}"), sign));
        }
        row.y.extend(["z0", "z1"].map(|helper| (helper.to_owned(), rng.random_range(-1.0..1.0))));
        row.x = vec![("x".into(), rng.random_range(-1.0..1.0))];
        row.xi = (0..dim).map(|j| (format!("g{j}"), rng.random_range(-1.0..1.0))).collect();
        row.lower = rng.random_range(-0.3..0.3);
        row.upper = row.lower;
        file.recourse.constraints.push(row);
    }
    Problem::new(&file).unwrap_or_else(|complaints| panic!("seed {seed}: {complaints}"))
}

fn kind(set: &SetFile) -> &'static str {
    match set {
        SetFile::Scenarios { .. } => "scenarios",
        SetFile::Box { .. } => "box",
        SetFile::L1 { .. } => "l1",
        SetFile::Budget { .. } => "budget",
        SetFile::Ellipsoid { .. } => "ellipsoid",
        SetFile::Polyhedron { .. } => "polyhedron",
    }
}

fn numbers(rng: &mut ChaCha8Rng, count: usize, low: f64, high: f64) -> Vec<f64> {
    (0..count).map(|_| rng.random_range(low..high)).collect()
}

/// Sets with at most thirteen states.
fn finite_sets(seed: u64) -> Vec<Problem> {
    let rng = &mut ChaCha8Rng::seed_from_u64(seed);
    let mut points = Points::new(3);
    (0..13).for_each(|_| points.push(&numbers(rng, 3, -1.0, 1.0)));
    let (center, scale) = (numbers(rng, 3, -0.5, 0.5), numbers(rng, 3, 0.3, 1.0));
    let budget = |budget, sides| SetFile::Budget { budget, sides, center: center.clone(), scale: scale.clone() };
    let sets = [
        SetFile::Scenarios { points, file: None },
        SetFile::Box { lower: numbers(rng, 3, -1.0, -0.2), upper: numbers(rng, 3, 0.2, 1.0) },
        SetFile::L1 { center: center.clone(), scale: scale.clone() },
        budget(2.0, Sides::One),
        budget(1.6, Sides::One),
        budget(1.0, Sides::Two),
    ];
    sets.into_iter().map(|set| problem(set, 3, seed)).collect()
}

fn reach(convex: bool) -> Reach {
    Reach { convex, ..Reach::default() }
}

fn engine(problem: &Problem) -> Linear {
    let mut engine = Linear::new(problem, &Clock::unlimited()).unwrap().with_dual(DualChoice::LeastSlope).unwrap();
    engine.at(&[0.4]);
    engine
}

fn score(problem: &Problem, engine: &mut Linear, xi: &[f64]) -> f64 {
    let mut answer = Answer::new(problem);
    engine.solve(xi, &mut answer).unwrap();
    answer.value
}

/// The standard deviation of the score under ν: at this temperature p_x is neither flat nor a point.
fn spread(problem: &Problem, states: &dyn States) -> f64 {
    let (mut engine, mut random) = (engine(problem), softsep::run::stream(1, Purpose::Estimate, 9));
    let (mut state, mut xi) = (states.blank(), vec![0.0; problem.set.dim()]);
    let scores: Vec<f64> = (0..4000)
        .map(|_| {
            states.draw(&mut random, &mut state);
            states.realize(&state, &mut xi);
            score(problem, &mut engine, &xi)
        })
        .collect();
    let mean = scores.iter().sum::<f64>() / 4000.0;
    (scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / 4000.0).sqrt()
}

/// What a chain should do: its kernel but for the acceptance, and the probabilities of the bins that its places fall into.
struct Target<'a> {
    problem: &'a Problem,
    states: &'a dyn States,
    temperature: f64,
    bin: &'a dyn Fn(&Place) -> usize,
    want: Vec<f64>,
}

impl Target<'_> {
    /// Suite and laws of one proposal.
    fn check(&self, name: &str, proposal: &dyn Proposal) {
        let Self { problem, states, temperature, .. } = *self;
        check_proposal(&Trial { problem, states, proposal, temperature }, &mut engine(problem), 5);
        for acceptance in [Acceptance::Metropolis, Acceptance::Barker] {
            let kernel = Kernel { states, proposal, acceptance, temperature };
            let (distance, steps, chain) = self.run(&kernel);
            let diagnostics = chain.diagnostics();
            println!(
                "{:<16} {name:<24} {:<10} tv {distance:.4}  steps {steps:>8}  moved {:.2}  worth {:.3}",
                problem.name,
                format!("{acceptance:?}"),
                diagnostics.acceptance().unwrap(),
                diagnostics.effective().unwrap() / steps as f64
            );
            assert!(distance <= DISTANCE, "{}, {name}, {acceptance:?}: {distance} from its law", problem.name);
        }
    }

    fn run(&self, kernel: &Kernel) -> (f64, u64, Chain) {
        let draws = DRAWS * if is_soak() { 10.0 } else { 1.0 };
        let mut engine = engine(self.problem);
        let mut chain = Chain::new(self.problem, self.states, 11, 0);
        let mut counts = vec![0_u64; self.want.len()];
        let (mut steps, mut bin) = (0, (self.bin)(chain.place()));
        while chain.diagnostics().effective().unwrap_or(0.0) < draws {
            for _ in 0..100_000 {
                if chain.step(kernel, &mut engine).unwrap() {
                    bin = (self.bin)(chain.place());
                }
                counts[bin] += 1;
            }
            steps += 100_000;
            assert!(steps as f64 <= 50.0 * draws, "{}: the chain does not mix: {:?}", self.problem.name, chain.diagnostics());
        }
        let distance =
            counts.iter().zip(&self.want).map(|(&count, want)| (count as f64 / steps as f64 - want).abs()).sum::<f64>();
        (0.5 * distance, steps, chain)
    }
}

/// Probabilities from scores and weights, summed by bin.
fn law(nodes: impl IntoIterator<Item = (f64, f64, usize)>, bins: usize, temperature: f64) -> Vec<f64> {
    let mut want = vec![0.0; bins];
    for (score, weight, bin) in nodes {
        want[bin] += weight * (score / temperature).exp();
    }
    let total: f64 = want.iter().sum();
    want.iter_mut().for_each(|want| *want /= total);
    let most = want.iter().fold(0.0_f64, |most, want| most.max(*want));
    assert!(most > 1.5 / bins as f64 && most < 0.8, "{want:?} is flat or a point");
    want
}

fn key(state: &State) -> Vec<u64> {
    match state {
        State::Row(row) => vec![*row as u64],
        State::Point(point) => point.iter().map(|value| value.to_bits()).collect(),
    }
}

#[test]
fn chains_on_finite_sets() {
    for problem in finite_sets(3) {
        let states = problem.set.states(&reach(true)).unwrap();
        let states = states.as_ref();
        let all = states.enumerate(13).unwrap();
        let index: BTreeMap<_, _> = all.iter().enumerate().map(|(index, state)| (key(state), index)).collect();
        let (mut engine, mut xi) = (engine(&problem), vec![0.0; 3]);
        let temperature = spread(&problem, states);
        let nodes = all.iter().enumerate().map(|(index, state)| {
            states.realize(state, &mut xi);
            (score(&problem, &mut engine, &xi), 1.0, index)
        });
        let want = law(nodes.collect::<Vec<_>>(), all.len(), temperature);
        let bin = |place: &Place| index[&key(&place.state)];
        let target = Target { problem: &problem, states, temperature, bin: &bin, want };
        target.check("uniform", &Uniform);
        for (concentration, share) in [(1.0, 0.0), (3.0, 0.3)] {
            target.check(&format!("tilted {concentration} {share}"), &Tilted { concentration, share });
        }
        if states.blank() == State::Row(0) {
            let weights: Vec<f64> = (0..all.len()).map(|row| (row % 4) as f64).collect();
            target.check("weighted", &Weighted::new(states, &weights, 0.2).unwrap());
        }
        let parts = || -> (Box<dyn Proposal>, Box<dyn Proposal>) {
            (Box::new(Tilted { concentration: 2.0, share: 0.0 }), Box::new(Uniform))
        };
        let (first, second) = parts();
        target.check("mixture", &Mixture::new(states, first, second, 0.4).unwrap());
        let (first, second) = parts();
        target.check("alternate", &Alternate::new(first, second, 0.4).unwrap());
    }
}
