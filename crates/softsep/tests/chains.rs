//! Every proposal through the conformance suite, and every chain's long-run law against p_x itself: by enumeration on
//! finite sets, by quadrature on spheres and in bodies.
//!
//! The recourse problems have generic numbers and the engine picks duals by least slope, so that each state has one
//! dual (see `softsep::internals::chain`).
//!
//! A run goes on until batches of it show that its distance in total variation from its own law, expected to be e,
//! passes 0.01 only if it exceeds e by four standard errors of the worst event: once in 30 000 times. All seeds are
//! fixed.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "chains/neighbours.rs"]
mod neighbours;
#[path = "chains/refusals.rs"]
mod refusals;
#[path = "chains/replicas.rs"]
mod replicas;
#[path = "chains/surface.rs"]
mod surface;
#[path = "chains/trajectories.rs"]
mod trajectories;

use std::collections::BTreeMap;
use std::f64::consts::{PI, TAU};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep::definition::{Row, ScenarioList, Variable};
use softsep::internals::chain::{Acceptance, Chain, Chains, TransitionKernel};
use softsep::internals::proposal::Uniform;
use softsep::internals::proposal::{
    Geodesic, Hamiltonian, HitAndRun, KernelMixture, Langevin, LangevinOnSphere, Neighbour, ProposalMixture,
    RandomStep, Tangent, Tilted, TiltedChord, Weighted,
};
use softsep::internals::recourse::Linear;
use softsep::proposal::{ChainState, Proposal, ProposalKind, ProposalOptions};
use softsep::recourse::{Answer, DualChoice, Recourse};
use softsep::run::{Clock, Purpose, Random};
use softsep::testing::{ProposalTrial, check_proposal};
use softsep::uncertainty::{ReferenceMeasure, SetDefinition, Sides, Space, State, StateSpec, States};
use softsep::{Problem, ProblemDefinition};

const BATCH: u64 = 10_000;
const DISTANCE: f64 = 0.01;

fn is_soak() -> bool {
    std::env::var_os("SOFTSEP_SOAK").is_some()
}

/// A problem over a set whose recourse repairs three rows, at costs that differ by row and side, with two helpers that
/// serve all rows and are scarce. All numbers are generic: no ties.
fn problem(set: SetDefinition, dim: usize, seed: u64) -> Problem {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut file = ProblemDefinition { name: format!("{} {dim} {seed}", kind(&set)), ..ProblemDefinition::default() };
    file.first_stage.variables.push(Variable::new("x", 1.0).bounded(0.0, 1.0));
    file.uncertainty.parameters = (0..dim).map(|j| format!("g{j}")).collect();
    file.uncertainty.set = set;
    for helper in ["z0", "z1"] {
        file.recourse
            .variables
            .push(Variable::new(helper, rng.random_range(0.1..1.0)).bounded(0.0, rng.random_range(0.2..0.5)));
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

fn kind(set: &SetDefinition) -> &'static str {
    match set {
        SetDefinition::Scenarios { .. } => "scenarios",
        SetDefinition::Box { .. } => "box",
        SetDefinition::L1 { .. } => "l1",
        SetDefinition::Budget { .. } => "budget",
        SetDefinition::Ellipsoid { .. } => "ellipsoid",
        SetDefinition::Polyhedron { .. } => "polyhedron",
        SetDefinition::Custom(set) => set.kind(),
        _ => "another",
    }
}

fn numbers(rng: &mut ChaCha8Rng, count: usize, low: f64, high: f64) -> Vec<f64> {
    (0..count).map(|_| rng.random_range(low..high)).collect()
}

/// Sets with at most thirteen states.
fn finite_sets(seed: u64) -> Vec<Problem> {
    let rng = &mut ChaCha8Rng::seed_from_u64(seed);
    let mut points = ScenarioList::new(3);
    (0..13).for_each(|_| points.push(&numbers(rng, 3, -1.0, 1.0)));
    let (center, scale) = (numbers(rng, 3, -0.5, 0.5), numbers(rng, 3, 0.3, 1.0));
    let budget = |budget, sides| SetDefinition::Budget { budget, sides, center: center.clone(), scale: scale.clone() };
    let sets = [
        SetDefinition::scenarios(points),
        SetDefinition::Box { lower: numbers(rng, 3, -1.0, -0.2), upper: numbers(rng, 3, 0.2, 1.0) },
        SetDefinition::L1 { center: center.clone(), scale: scale.clone() },
        budget(1.6, Sides::One),
        budget(1.0, Sides::Two),
    ];
    sets.into_iter().map(|set| problem(set, 3, seed)).collect()
}

fn state_spec(convex: bool) -> StateSpec {
    StateSpec { convex, ..StateSpec::default() }
}

fn engine(problem: &Problem) -> Linear {
    let mut engine = Linear::new(problem, &Clock::unlimited()).unwrap().with_dual(DualChoice::LeastNorm).unwrap();
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

/// What a chain should do: its kernel but for the acceptance, and the probabilities of the bins that its states fall
/// into.
struct Target<'a> {
    problem: &'a Problem,
    states: &'a dyn States,
    temperature: f64,
    bin: &'a dyn Fn(&ChainState) -> usize,
    want: Vec<f64>,
}

impl Target<'_> {
    /// Suite and laws of one proposal.
    fn check(&self, name: &str, proposal: &dyn Proposal) {
        let Self { problem, states, temperature, .. } = *self;
        check_proposal(&ProposalTrial { problem, states, proposal, temperature }, &mut engine(problem), 5);
        for acceptance in [Acceptance::Metropolis, Acceptance::Barker] {
            let kernel = TransitionKernel { states, proposal, acceptance, temperature };
            let (distance, steps, chain) = self.run(&kernel);
            let diagnostics = chain.diagnostics();
            println!(
                "{:<16} {name:<24} {:<10} tv {distance:.4}  steps {steps:>8}  moved {:.2}  worth {:.3}",
                problem.name,
                format!("{acceptance:?}"),
                diagnostics.acceptance().unwrap(),
                diagnostics.effective_draws().unwrap() / steps as f64
            );
            assert!(distance <= DISTANCE, "{}, {name}, {acceptance:?}: {distance} from its law", problem.name);
        }
    }

    fn run(&self, kernel: &TransitionKernel) -> (f64, u64, Chain) {
        let errors = if is_soak() { 8.0 } else { 4.0 };
        let mut engine = engine(self.problem);
        let mut chain = Chain::new(self.problem, self.states, 11, 0);
        let mut batches: Vec<Vec<f64>> = Vec::new();
        let mut bin = (self.bin)(chain.current());
        loop {
            let mut batch = vec![0.0; self.want.len()];
            for _ in 0..BATCH {
                if chain.step(kernel, &mut engine).unwrap() {
                    bin = (self.bin)(chain.current());
                }
                batch[bin] += 1.0 / BATCH as f64;
            }
            batches.push(batch);
            if batches.len() >= 30 && batches.len().is_multiple_of(10) {
                let (mean, expected, worst) = errors_of(&batches);
                if expected + errors * worst <= DISTANCE {
                    let distance =
                        0.5 * mean.iter().zip(&self.want).map(|(found, want)| (found - want).abs()).sum::<f64>();
                    return (distance, batches.len() as u64 * BATCH, chain);
                }
            }
            assert!(batches.len() < 10_000, "{}: the chain does not mix: {:?}", self.problem.name, chain.diagnostics());
        }
    }
}

/// The means of batches by bin; the expected distance in total variation of these from the truth; the largest standard
/// error of an event's probability.
fn errors_of(batches: &[Vec<f64>]) -> (Vec<f64>, f64, f64) {
    let (count, bins) = (batches.len() as f64, batches[0].len());
    let mean: Vec<f64> = (0..bins).map(|bin| batches.iter().map(|batch| batch[bin]).sum::<f64>() / count).collect();
    let covariance = |a: usize, b: usize| {
        batches.iter().map(|batch| (batch[a] - mean[a]) * (batch[b] - mean[b])).sum::<f64>() / (count * (count - 1.0))
    };
    let covariances: Vec<Vec<f64>> = (0..bins).map(|a| (0..bins).map(|b| covariance(a, b)).collect()).collect();
    // For normal errors the mean of |e| is √(2/π) of the standard error.
    let expected = 0.5 * (0..bins).map(|bin| (2.0 / PI * covariances[bin][bin]).sqrt()).sum::<f64>();
    // The event and its complement as signs s: the variance of its probability is sᵀCs/4. Each row's signs are tried
    // and improved.
    let times = |signs: &[f64]| -> Vec<f64> {
        covariances.iter().map(|row| row.iter().zip(signs).map(|(c, s)| c * s).sum()).collect()
    };
    let worst = covariances.iter().fold(0.0_f64, |worst, row| {
        let mut signs: Vec<f64> = row.iter().map(|c| c.signum()).collect();
        for _ in 0..5 {
            signs = times(&signs).iter().map(|value| value.signum()).collect();
        }
        worst.max(times(&signs).iter().zip(&signs).map(|(c, s)| c * s).sum())
    });
    (mean, expected, 0.5 * worst.sqrt())
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

fn check_finite(problem: &Problem) {
    let states = problem.set.states(&state_spec(true)).unwrap();
    let states = states.as_ref();
    let all = states.enumerate(13).unwrap();
    let index: BTreeMap<_, _> = all.iter().enumerate().map(|(index, state)| (key(state), index)).collect();
    let (mut engine, mut xi) = (engine(problem), vec![0.0; problem.set.dim()]);
    let temperature = 1.5 * spread(problem, states);
    let nodes = all.iter().enumerate().map(|(index, state)| {
        states.realize(state, &mut xi);
        (score(problem, &mut engine, &xi), 1.0, index)
    });
    let want = law(nodes.collect::<Vec<_>>(), all.len(), temperature);
    let bin = |place: &ChainState| match place.state {
        State::Row(row) => row,
        State::Point(_) => index[&key(&place.state)],
    };
    let target = Target { problem, states, temperature, bin: &bin, want };
    target.check("uniform", &Uniform);
    target.check("tilted", &Tilted { concentration: 1.0, share: 0.0 });
    target.check("tilted with a share", &Tilted { concentration: 3.0, share: 0.3 });
    let neighbour = || Neighbour::of(states).unwrap();
    target.check("neighbour", &neighbour());
    if is_soak() {
        let mixed = ProposalMixture::new(states, Box::new(neighbour()), Box::new(Uniform), 0.3).unwrap();
        target.check("neighbour or uniform", &mixed);
    }
    if states.blank() == State::Row(0) {
        let weights: Vec<f64> = (0..all.len()).map(|row| (row % 3) as f64).collect();
        target.check("weighted", &Weighted::new(states, &weights, 0.5).unwrap());
    }
    // These know nothing of the set.
    if !matches!(problem.set.kind(), "scenarios" | "l1") {
        return;
    }
    let tilted = || Box::new(Tilted { concentration: 2.0, share: 0.0 });
    target.check("mixture", &ProposalMixture::new(states, tilted(), Box::new(Uniform), 0.4).unwrap());
    target.check("alternate", &KernelMixture::new(tilted(), Box::new(Uniform), 0.4).unwrap());
}

/// A tilt whose ratio is forgotten.
struct Forgetful(Tilted);

impl Proposal for Forgetful {
    fn prepare(&self, states: &dyn States, place: &mut ChainState, temperature: f64) {
        self.0.prepare(states, place, temperature);
    }

    fn propose(&self, states: &dyn States, from: &ChainState, random: &mut Random, to: &mut ChainState) {
        self.0.propose(states, from, random, to);
    }

    fn log_ratio(&self, _states: &dyn States, _from: &ChainState, _to: &ChainState) -> f64 {
        0.0
    }
}

/// The comparison of laws can fail.
#[test]
fn a_chain_with_a_wrong_ratio_is_caught() {
    let problem = &finite_sets(3)[0];
    let states = problem.set.states(&state_spec(true)).unwrap();
    let (mut engine, mut xi) = (engine(problem), vec![0.0; 3]);
    let temperature = 1.5 * spread(problem, states.as_ref());
    let nodes = states.enumerate(13).unwrap().into_iter().enumerate().map(|(row, state)| {
        states.realize(&state, &mut xi);
        (score(problem, &mut engine, &xi), 1.0, row)
    });
    let want = law(nodes.collect::<Vec<_>>(), 13, temperature);
    let row = |place: &ChainState| if let State::Row(row) = place.state { row } else { 0 };
    let target = Target { problem, states: states.as_ref(), temperature, bin: &row, want };
    for acceptance in [Acceptance::Metropolis, Acceptance::Barker] {
        let proposal = &Forgetful(Tilted { concentration: 1.0, share: 0.0 });
        let (distance, ..) =
            target.run(&TransitionKernel { states: states.as_ref(), proposal, acceptance, temperature });
        assert!(distance > 2.0 * DISTANCE, "{acceptance:?}: only {distance} from the law");
    }
}

#[test]
fn chains_on_lists() {
    finite_sets(3)[..1].iter().for_each(check_finite);
}

#[test]
fn chains_on_boxes_and_cross_polytopes() {
    finite_sets(3)[1..3].iter().for_each(check_finite);
}

#[test]
fn chains_on_budgets() {
    finite_sets(3)[3..].iter().for_each(check_finite);
}

fn ellipsoid(dim: usize, seed: u64) -> Problem {
    let rng = &mut ChaCha8Rng::seed_from_u64(seed);
    let matrix = (0..dim).map(|_| numbers(rng, dim, -1.0, 1.0)).collect();
    problem(SetDefinition::Ellipsoid { center: numbers(rng, dim, -0.5, 0.5), matrix }, dim, seed)
}

/// Twelve sectors of a circle; on a sphere, four times three that have the same area.
fn sector(u: &[f64]) -> usize {
    let turn = 0.5 + u[1].atan2(u[0]) / TAU;
    match u.get(2) {
        None => ((12.0 * turn) as usize).min(11),
        Some(height) => ((4.0 * turn) as usize).min(3) + 4 * ((1.5 * (1.0 + height)) as usize).min(2),
    }
}

/// Points of the sphere that stand for areas of the same size.
fn grid_on_sphere(dim: usize) -> Vec<Vec<f64>> {
    let angle = |step: usize, steps: usize| TAU * (step as f64 + 0.5) / steps as f64;
    if dim == 2 {
        return (0..6000).map(|step| vec![angle(step, 6000).cos(), angle(step, 6000).sin()]).collect();
    }
    let ring = |height: f64| {
        let radius = (1.0 - height * height).sqrt();
        (0..240).map(move |step| vec![radius * angle(step, 240).cos(), radius * angle(step, 240).sin(), height])
    };
    (0..120).flat_map(|step| ring((f64::from(step) + 0.5) / 60.0 - 1.0)).collect()
}

fn point(place: &ChainState) -> &[f64] {
    match &place.state {
        State::Point(point) => point,
        State::Row(_) => panic!("a row in a space of coordinates"),
    }
}

fn check_sphere(problem: &Problem, reference: ReferenceMeasure) {
    let states = problem.set.states(&StateSpec { reference, ..state_spec(true) }).unwrap();
    let states = states.as_ref();
    let dim = problem.set.dim();
    assert_eq!(states.space(), Space::Sphere(dim));
    let walk = states.local_coordinates().unwrap();
    let (mut engine, mut xi) = (engine(problem), vec![0.0; dim]);
    let temperature = spread(problem, states);
    let nodes: Vec<_> = grid_on_sphere(dim)
        .into_iter()
        .map(|u| {
            let (weight, bin) = (walk.log_reference(&u).exp(), sector(&u));
            states.realize(&State::Point(u), &mut xi);
            (score(problem, &mut engine, &xi), weight, bin)
        })
        .collect();
    let want = law(nodes, 12, temperature);
    let target = Target { problem, states, temperature, bin: &|place| sector(point(place)), want };
    let langevin = || Box::new(LangevinOnSphere::of(states, 1.0).unwrap());
    target.check("uniform", &Uniform);
    target.check("tilted", &Tilted { concentration: 1.0, share: 0.0 });
    target.check("tilted with a share", &Tilted { concentration: 5.0, share: 0.3 });
    target.check("geodesic", &Geodesic::of(states, 2.0).unwrap());
    target.check("random step", &RandomStep::of(states).unwrap());
    target.check("tangent", &Tangent::of(states, 1.0).unwrap());
    target.check("langevin", langevin().as_ref());
    target.check("langevin and uniform", &ProposalMixture::new(states, langevin(), Box::new(Uniform), 0.4).unwrap());
    target.check(
        "auto",
        ProposalKind::Auto
            .build(states, &ProposalOptions { concentration: Some(3.0), ..ProposalOptions::default() })
            .unwrap()
            .as_ref(),
    );
}

#[test]
fn chains_on_circles() {
    check_sphere(&ellipsoid(2, 7), ReferenceMeasure::Surface);
    if is_soak() {
        check_sphere(&ellipsoid(2, 6), ReferenceMeasure::Sphere);
    }
}

#[test]
fn chains_on_spheres() {
    check_sphere(&ellipsoid(3, 8), ReferenceMeasure::Surface);
}

/// Members of a body in the plane on a fine grid, and the bin of a four by three grid over its bounding box.
struct Plane {
    lower: [f64; 2],
    width: [f64; 2],
}

impl Plane {
    fn around(problem: &Problem) -> Self {
        let mut xi = vec![0.0; 2];
        let mut support = |direction: [f64; 2]| problem.set.support(&direction, &mut xi).unwrap();
        let lower = [-support([-1.0, 0.0]), -support([0.0, -1.0])];
        Self { width: [support([1.0, 0.0]) - lower[0], support([0.0, 1.0]) - lower[1]], lower }
    }

    fn bin(&self, xi: &[f64]) -> usize {
        let along = |axis: usize, parts: f64| {
            (parts * (xi[axis] - self.lower[axis]) / self.width[axis]).clamp(0.0, parts - 1.0) as usize
        };
        along(0, 4.0) + 4 * along(1, 3.0)
    }

    fn members(&self, problem: &Problem) -> Vec<Vec<f64>> {
        let at = |axis: usize, step: usize| self.lower[axis] + self.width[axis] * (step as f64 + 0.5) / 240.0;
        let all = (0..240 * 240).map(|step| vec![at(0, step / 240), at(1, step % 240)]);
        all.filter(|xi| problem.set.contains(xi, 0.0)).collect()
    }
}

fn check_body(problem: &Problem) {
    let states = problem.set.states(&state_spec(false)).unwrap();
    let states = states.as_ref();
    assert_eq!(states.space(), Space::Body(2));
    let (mut engine, plane) = (engine(problem), Plane::around(problem));
    let temperature = 2.0 * spread(problem, states);
    let nodes = plane.members(problem).into_iter().map(|xi| (score(problem, &mut engine, &xi), 1.0, plane.bin(&xi)));
    let want = law(nodes.collect::<Vec<_>>(), 12, temperature);
    let target = Target { problem, states, temperature, bin: &|place| plane.bin(&place.xi), want };
    if states.draws_exactly() {
        target.check("uniform", &Uniform);
    }
    target.check("tilted chord", &TiltedChord::of(states, 0.4).unwrap());
    target.check("hit-and-run", &HitAndRun::of(states).unwrap());
    target.check("random step", &RandomStep::of(states).unwrap());
    target.check("langevin", &Langevin::of(states, 1.5).unwrap());
    target.check("hamiltonian", &Hamiltonian::of(states, 1.0).unwrap());
    if is_soak() {
        let (langevin, chords) = (Langevin::of(states, 1.5).unwrap(), HitAndRun::of(states).unwrap());
        target.check("alternate", &KernelMixture::new(Box::new(langevin), Box::new(chords), 0.5).unwrap());
    }
}

#[test]
fn chains_in_bodies() {
    let rng = &mut ChaCha8Rng::seed_from_u64(4);
    check_body(&ellipsoid(2, 9));
    let mut cut = Row::new("cut");
    cut.xi = vec![("g0".into(), 1.0), ("g1".into(), 0.7)];
    cut.upper = 0.6;
    let set = SetDefinition::Polyhedron {
        lower: numbers(rng, 2, -1.0, -0.5),
        upper: numbers(rng, 2, 0.5, 1.0),
        constraints: vec![cut],
    };
    check_body(&problem(set, 2, 10));
    if is_soak() {
        check_body(&problem(
            SetDefinition::Box { lower: numbers(rng, 2, -1.0, -0.2), upper: numbers(rng, 2, 0.2, 1.0) },
            2,
            11,
        ));
    }
}

/// Bit for bit the same on any number of threads, after moves of the incumbent too.
#[test]
fn several_chains_do_the_same_on_any_number_of_threads() {
    for problem in [&finite_sets(3)[0], &ellipsoid(3, 8)] {
        let states = problem.set.states(&state_spec(true)).unwrap();
        let proposal = ProposalKind::Auto.build(states.as_ref(), &ProposalOptions::default()).unwrap();
        let temperature = spread(problem, states.as_ref());
        let kernel = TransitionKernel {
            states: states.as_ref(),
            proposal: proposal.as_ref(),
            acceptance: Acceptance::Metropolis,
            temperature,
        };
        let found = [1, 2, 4].map(|threads| {
            rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
                let mut chains = Chains::new(problem, states.as_ref(), 7, 9, &Clock::unlimited()).unwrap();
                assert!(chains.best().is_none());
                let mut trace = Vec::new();
                for x in [0.4, 0.1, 0.9] {
                    chains.set_incumbent(&[x]);
                    chains.step(&kernel, 300, &Clock::unlimited()).unwrap();
                    let best = chains.best().unwrap();
                    trace.push((best.xi.clone(), best.answer.clone(), chains.summary(), chains.solves()));
                    trace.extend(chains.iter().map(|chain| {
                        (chain.current().xi.clone(), chain.current().answer.clone(), chains.summary(), 0)
                    }));
                }
                trace
            })
        });
        assert_eq!(found[0], found[1]);
        assert_eq!(found[0], found[2]);
        // Chains differ from one another, and the best is the best of all scenarios asked for.
        let (best, own) = (&found[0][0], &found[0][1..10]);
        assert!(own.iter().any(|chain| chain.0 != own[0].0), "all chains do the same");
        assert!(own.iter().all(|chain| chain.1.value <= best.1.value));
        assert_eq!(best.2.steps, 9 * 300);
        let mut engine = engine(problem);
        assert!((score(problem, &mut engine, &best.0) - best.1.value).abs() < 1e-9);
        assert_eq!(best.1.value, best.2.largest_score);
    }
}
