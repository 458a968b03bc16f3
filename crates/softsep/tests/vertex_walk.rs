//! Moves along the edges of polyhedra: the states against enumerated vertices, the moves, the law of a chain.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep::definition::{Complaints, Row, Variable};
use softsep::internals::certification::{Certifier, Judgement};
use softsep::internals::chain::{Acceptance, Chain, TransitionKernel};
use softsep::internals::proposal::Neighbour;
use softsep::internals::recourse::Linear;
use softsep::internals::uncertainty::build;
use softsep::internals::uncertainty::vertex_walk;
use softsep::proposal::{ProposalKind, ProposalOptions};
use softsep::recourse::{Answer, DualChoice, Recourse};
use softsep::run::{Clock, Purpose, stream};
use softsep::testing::{ProposalTrial, check_proposal};
use softsep::uncertainty::{Count, SetDefinition, Space, State, StateSpec, States, Uncertainty};
use softsep::{
    Assumed, ChainConstants, MethodSettings, ProbabilisticTarget, Problem, ProblemDefinition, Settings, solve,
};

const INF: f64 = f64::INFINITY;
/// More states are not enumerated here.
const FEW: usize = 20_000;

fn names(dim: usize) -> Vec<String> {
    (1..=dim).map(|index| format!("g{index}")).collect()
}

fn row(number: usize, terms: &[(usize, f64)], lower: f64, upper: f64) -> Row {
    let xi = terms.iter().map(|(index, value)| (format!("g{}", index + 1), *value)).collect();
    Row { xi, lower, upper, ..Row::new(format!("r{number}")) }
}

fn polyhedron(lower: &[f64], upper: &[f64], constraints: Vec<Row>) -> SetDefinition {
    SetDefinition::Polyhedron { lower: lower.to_vec(), upper: upper.to_vec(), constraints }
}

/// All entries of ξ with one coefficient.
fn all(dim: usize, value: f64) -> Vec<(usize, f64)> {
    (0..dim).map(|index| (index, value)).collect()
}

fn cube(dim: usize) -> SetDefinition {
    polyhedron(&vec![-1.0; dim], &vec![2.0; dim], vec![])
}

fn simplex(dim: usize) -> SetDefinition {
    polyhedron(&vec![0.0; dim], &vec![INF; dim], vec![row(0, &all(dim, 1.0), -INF, 1.0)])
}

/// Every vertex is on 2^(dim − 1) facets.
fn cross_polytope(dim: usize) -> SetDefinition {
    let signs = |number: usize| -> Vec<(usize, f64)> {
        (0..dim).map(|index| (index, if number >> index & 1 == 1 { 1.0 } else { -1.0 })).collect()
    };
    let rows = (0..1 << dim).map(|number| row(number, &signs(number), -INF, 1.0)).collect();
    polyhedron(&vec![-INF; dim], &vec![INF; dim], rows)
}

/// A pyramid over a regular polygon, all of whose sides meet at the apex.
fn pyramid(sides: usize) -> SetDefinition {
    let side = |number: usize| {
        let (sin, cos) = (number as f64 * std::f64::consts::TAU / sides as f64).sin_cos();
        let terms = [(0, (1e6 * cos).round() / 1e6), (1, (1e6 * sin).round() / 1e6), (2, 1.0)];
        row(number, &terms.into_iter().filter(|(_, value)| *value != 0.0).collect::<Vec<_>>(), -INF, 1.0)
    };
    polyhedron(&[-INF, -INF, 0.0], &[INF; 3], (0..sides).map(side).collect())
}

/// Doubly stochastic matrices: dimension (n − 1)², and a vertex for each permutation, on more facets than that.
fn birkhoff(n: usize) -> SetDefinition {
    let line = |number: usize, entry: &dyn Fn(usize) -> usize| {
        row(number, &(0..n).map(|k| (entry(k), 1.0)).collect::<Vec<_>>(), 1.0, 1.0)
    };
    let mut rows: Vec<Row> = (0..n).map(|i| line(i, &|k| n * i + k)).collect();
    rows.extend((0..n).map(|i| line(n + i, &|k| n * k + i)));
    polyhedron(&vec![0.0; n * n], &vec![INF; n * n], rows)
}

/// Random half-spaces around a point, with rows that are redundant, repeated, or equations, in units that differ.
fn random(seed: u64) -> (SetDefinition, usize) {
    let rng = &mut ChaCha8Rng::seed_from_u64(seed);
    let dim = rng.random_range(2..=5);
    let units: Vec<f64> = (0..dim).map(|_| 10_f64.powi(rng.random_range(-3..=3))).collect();
    let inside: Vec<f64> = units.iter().map(|unit| unit * rng.random_range(-0.5..0.5)).collect();
    let mut rows = Vec::new();
    for number in 0..rng.random_range(2..=6) {
        let terms: Vec<(usize, f64)> =
            (0..dim).map(|index| (index, rng.random_range(-1.0..1.0) / units[index])).collect();
        let at: f64 = terms.iter().map(|(index, value)| value * inside[*index]).sum();
        rows.push(row(10 * number, &terms, -INF, at + rng.random_range(0.1..1.0)));
        if number == 0 {
            let twice: Vec<(usize, f64)> = terms.iter().map(|(index, value)| (*index, 2.0 * value)).collect();
            rows.push(row(1, &twice, -INF, 2.0 * rows[0].upper));
            rows.push(row(2, &terms, -INF, rows[0].upper + 5.0));
        }
        if number == 2 && dim > 2 {
            rows.push(row(3, &terms, at, at));
        }
    }
    let (mut lower, mut upper): (Vec<f64>, Vec<f64>) = units.iter().map(|unit| (-unit, *unit)).unzip();
    if seed.is_multiple_of(3) {
        (lower[0], upper[0]) = (inside[0], inside[0]);
    }
    (polyhedron(&lower, &upper, rows), dim)
}

fn made(set: &SetDefinition, dim: usize) -> Arc<dyn Uncertainty> {
    let mut complaints = Complaints::new();
    build(set, &names(dim), "set", &mut complaints).unwrap_or_else(|| panic!("{set:?}"))
}

fn xi_of(states: &dyn States, state: &State, dim: usize) -> Vec<f64> {
    let mut xi = vec![f64::NAN; dim];
    states.realize(state, &mut xi);
    xi
}

fn tight(state: &State, dim: usize) -> Vec<u64> {
    let State::Point(point) = state else { panic!("{state:?}") };
    // d facets, three vectors, a matrix.
    let found = (0..=dim).find(|d| d * (4 + d) == point.len()).unwrap();
    point[..found].iter().map(|facet| *facet as u64).collect()
}

fn bits(state: &State) -> Vec<u64> {
    let State::Point(point) = state else { panic!("{state:?}") };
    point.iter().map(|value| value.to_bits()).collect()
}

/// States and moves of one polytope against its enumerated vertices. Returns the numbers of states and vertices.
fn check(set: &SetDefinition, dim: usize, seed: u64) -> (usize, usize) {
    let states = vertex_walk(set, &names(dim), FEW).unwrap_or_else(|| panic!("{set:?}"));
    let set = made(set, dim);
    let listed = set.enumerate(FEW).unwrap();
    let found = states.enumerate(FEW).unwrap();
    assert_eq!(states.space(), Space::Finite(Count::Exactly(found.len() as u128)));
    assert!(states.enumerate(found.len() - 1).is_none());
    let widths = set.widths().unwrap();
    let near = |a: &[f64], b: &[f64]| {
        a.iter().zip(b).zip(&widths).all(|((a, b), width)| (a - b).abs() <= 1e-7 * width.max(1e-7))
    };
    let size = |xi: &[f64]| xi.iter().fold(1.0_f64, |size, entry| size.max(entry.abs()));
    // The ξ of states are members, and are the enumerated vertices.
    let mut met = BTreeSet::new();
    for state in &found {
        let xi = xi_of(states.as_ref(), state, dim);
        assert!(set.contains(&xi, 1e-9 * size(&xi)), "{set:?}: {xi:?} is no member");
        let vertex = listed.iter().position(|vertex| near(vertex, &xi));
        met.insert(vertex.unwrap_or_else(|| panic!("{set:?}: {xi:?} is no vertex")));
    }
    assert_eq!(met.len(), listed.len(), "{set:?}: vertices without a state");
    // Moves: d of them, each with probability 1/d, each the same backward.
    let dimension = tight(&found[0], dim).len();
    let index: BTreeMap<Vec<u64>, usize> =
        found.iter().enumerate().map(|(number, state)| (bits(state), number)).collect();
    assert_eq!(index.len(), found.len());
    let neighbours = states.neighbours().unwrap();
    let mut random = stream(seed, Purpose::Chain, 0);
    let mut to = states.blank();
    for from in found.iter().step_by(found.len().div_ceil(60)) {
        let mut reached = BTreeSet::new();
        for _ in 0..40 * dimension {
            neighbours.draw_neighbour(from, &mut random, &mut to);
            // Bit by bit a state of the enumeration.
            assert!(index.contains_key(&bits(&to)), "{set:?}: {to:?} is no state");
            reached.insert(index[&bits(&to)]);
        }
        assert_eq!(reached.len(), dimension, "{set:?}: {reached:?}");
        for number in reached {
            let to = &found[number];
            assert_ne!(from, to);
            let share = 1.0 / dimension as f64;
            assert_eq!((neighbours.probability(from, to), neighbours.probability(to, from)), (share, share));
            let (a, b) = (tight(from, dim), tight(to, dim));
            assert_eq!(a.iter().filter(|facet| b.contains(facet)).count(), dimension - 1);
        }
        assert_eq!(neighbours.probability(from, from), 0.0);
    }
    // Draws are states; vertices are found again, those of linear programs too; other members have some vertex.
    for _ in 0..20 {
        states.draw(&mut random, &mut to);
        assert!(index.contains_key(&bits(&to)));
    }
    for vertex in listed.iter() {
        assert!(states.locate(vertex, &mut to));
        assert!(index.contains_key(&bits(&to)) && near(&xi_of(states.as_ref(), &to, dim), vertex));
    }
    let (mut direction, mut end, mut other) = (vec![0.0; dim], vec![0.0; dim], vec![0.0; dim]);
    for _ in 0..20 {
        direction
            .iter_mut()
            .zip(&widths)
            .for_each(|(entry, width)| *entry = random.random_range(-1.0..1.0) / width.max(1e-7));
        set.support(&direction, &mut end).unwrap();
        assert!(states.locate(&end, &mut to));
        assert!(near(&xi_of(states.as_ref(), &to, dim), &end), "{set:?}: {end:?}");
        direction.iter_mut().for_each(|entry| *entry = -*entry);
        set.support(&direction, &mut other).unwrap();
        let middle: Vec<f64> = end.iter().zip(&other).map(|(a, b)| a.midpoint(*b)).collect();
        assert!(states.locate(&middle, &mut to) && index.contains_key(&bits(&to)));
    }
    assert!(!states.locate(&vec![f64::NAN; dim], &mut to) && index.contains_key(&bits(&to)));
    for mut state in [State::Row(3), State::Point(vec![])] {
        assert!(set.contains(&xi_of(states.as_ref(), &state, dim), 1e-9));
        neighbours.draw_neighbour(&state, &mut random, &mut to);
        assert!(index.contains_key(&bits(&to)));
        states.draw(&mut random, &mut state);
        assert!(index.contains_key(&bits(&state)));
    }
    (found.len(), listed.len())
}

#[test]
fn states_are_the_vertices_of_simple_polytopes() {
    for dim in 1..=8 {
        assert_eq!(check(&cube(dim), dim, 1), (1 << dim, 1 << dim));
        assert_eq!(check(&simplex(dim), dim, 1), (dim + 1, dim + 1));
    }
}

#[test]
fn a_vertex_on_more_facets_has_several_states() {
    assert_eq!(check(&pyramid(4), 3, 1).1, 5);
    assert_eq!(check(&pyramid(12), 3, 1), (22, 13));
    for dim in 2..=5 {
        let (states, vertices) = check(&cross_polytope(dim), dim, 1);
        assert!(states > vertices || dim == 2);
        assert_eq!(vertices, 2 * dim);
    }
    assert_eq!(check(&birkhoff(3), 9, 1).1, 6);
    assert_eq!(check(&birkhoff(4), 16, 1).1, 24);
}

#[test]
fn random_polytopes_with_redundant_rows_equations_and_fixed_parameters() {
    for seed in 0..200 {
        let (set, dim) = random(seed);
        check(&set, dim, seed);
    }
}

/// A problem whose recourse repairs three rows at costs that differ; all numbers are generic.
fn problem(set: SetDefinition, dim: usize, seed: u64) -> Problem {
    let rng = &mut ChaCha8Rng::seed_from_u64(seed);
    let mut file = ProblemDefinition { name: format!("polyhedron {dim} {seed}"), ..ProblemDefinition::default() };
    file.first_stage.variables.push(Variable::new("x", 1.0).bounded(0.0, 1.0));
    file.uncertainty.parameters = names(dim);
    file.uncertainty.set = set;
    for number in 0..3 {
        let mut row = Row::new(format!("r{number}"));
        for (side, sign) in [("more", 1.0), ("less", -1.0)] {
            file.recourse.variables.push(Variable::new(format!("{side}{number}"), rng.random_range(1.0..4.0)));
            row.y.push((format!("{side}{number}"), sign));
        }
        row.x = vec![("x".into(), rng.random_range(-1.0..1.0))];
        row.xi = names(dim).into_iter().map(|name| (name, rng.random_range(-1.0..1.0))).collect();
        row.lower = rng.random_range(-0.3..0.3);
        row.upper = row.lower;
        file.recourse.constraints.push(row);
    }
    Problem::new(&file).unwrap()
}

fn engine(problem: &Problem) -> Linear {
    let mut engine = Linear::new(problem, &Clock::unlimited()).unwrap().with_dual(DualChoice::LeastNorm).unwrap();
    engine.at(&[0.4]);
    engine
}

/// Detailed balance, exactly, and the long-run law of chains against p_x by enumeration.
#[test]
fn chains_along_edges_have_their_law() {
    const STEPS: u32 = 2_000_000;
    for (set, dim) in [(pyramid(6), 3), (cross_polytope(3), 3), (cube(3), 3), (birkhoff(3), 9)] {
        let states = vertex_walk(&set, &names(dim), FEW).unwrap();
        let states = states.as_ref();
        let problem = &problem(set, dim, 4);
        let proposal = &Neighbour::of(states).unwrap();
        let found = states.enumerate(FEW).unwrap();
        let index: BTreeMap<_, _> = found.iter().enumerate().map(|(number, state)| (bits(state), number)).collect();
        let (mut solver, mut answer) = (engine(problem), Answer::new(problem));
        let scores: Vec<f64> = found
            .iter()
            .map(|state| {
                solver.solve(&xi_of(states, state, dim), &mut answer).unwrap();
                answer.value
            })
            .collect();
        let best = scores.iter().fold(f64::NEG_INFINITY, |best, score| best.max(*score));
        let temperature = 0.4 * (best - scores.iter().fold(f64::INFINITY, |least, score| least.min(*score)));
        check_proposal(&ProposalTrial { problem, states, proposal, temperature }, &mut engine(problem), 5);
        let weights: Vec<f64> = scores.iter().map(|score| ((score - best) / temperature).exp()).collect();
        let total: f64 = weights.iter().sum();
        for acceptance in [Acceptance::Metropolis, Acceptance::Barker] {
            let kernel = TransitionKernel { states, proposal, acceptance, temperature };
            let mut chain = Chain::new(problem, states, 11, 0);
            let mut visits = vec![0.0; found.len()];
            let mut at = index[&bits(&chain.current().state)];
            for _ in 0..STEPS {
                if chain.step(&kernel, &mut solver).unwrap() {
                    at = index[&bits(&chain.current().state)];
                }
                visits[at] += 1.0 / f64::from(STEPS);
            }
            let distance = 0.5 * visits.iter().zip(&weights).map(|(v, w)| (v - w / total).abs()).sum::<f64>();
            println!("{} states, {acceptance:?}: {distance:.5}", found.len());
            assert!(distance < 0.01, "{}, {acceptance:?}: {distance} from its law", problem.name);
        }
    }
}

/// The states that are asked for by default stay the whole set, on which draws and statements are by volume.
#[test]
fn large_polyhedra_have_vertices_where_edges_are_asked_for() {
    let dim = 24;
    let mut rows = vec![row(0, &all(dim, 1.0), -INF, 7.5)];
    rows.push(row(1, &all(dim / 2, 1.0), 1.0, 4.25));
    let problem = problem(polyhedron(&vec![0.0; dim], &vec![1.0; dim], rows), dim, 3);
    let set = &problem.set;
    let states = |convex, edges| set.states(&StateSpec { convex, edges, ..StateSpec::default() }).unwrap();
    assert_eq!(states(true, false).space(), Space::Body(dim));
    assert_eq!(states(false, true).space(), Space::Body(dim));
    let edges = states(true, true);
    let Space::Finite(Count::MoreThan(known)) = edges.space() else { panic!("{}", edges.space()) };
    assert_eq!(Count::MoreThan(known), set.extremes());
    assert!(known > 100 && edges.enumerate(5000).is_none() && !edges.draws_exactly());
    let works = |kind: &ProposalKind| kind.build(edges.as_ref(), &ProposalOptions::default()).is_ok();
    let names: Vec<&str> = ProposalKind::NAMES.iter().filter(|(_, kind)| works(kind)).map(|(name, _)| *name).collect();
    assert_eq!(names, ["auto", "local"]);
    // Vertices of linear programs are found again.
    let mut random = stream(1, Purpose::Chain, 0);
    let (mut state, mut xi) = (edges.blank(), vec![0.0; dim]);
    for _ in 0..50 {
        let direction: Vec<f64> = (0..dim).map(|_| f64::from(random.random_range(-2..=2))).collect();
        set.support(&direction, &mut xi).unwrap();
        assert!(edges.locate(&xi, &mut state));
        let found = xi_of(edges.as_ref(), &state, dim);
        assert!(found.iter().zip(&xi).all(|(a, b)| (a - b).abs() < 1e-7), "{xi:?} and {found:?}");
    }
    // Draws that are not exact state nothing.
    let states: Arc<dyn States + '_> = Arc::from(edges);
    for assumed in [Assumed::Nothing, Assumed::Miss { rho: 0.5 }] {
        let wanted = ProbabilisticTarget { level: 0.1, assumed, ..ProbabilisticTarget::default() };
        let mut certifier =
            Certifier::new(&problem, Arc::clone(&states), wanted, 1e-3, 1, &Clock::unlimited()).unwrap();
        let Judgement::Stands { attested, .. } = certifier.certify(&[0.4], 1e6).unwrap() else { panic!("refuted") };
        assert_eq!((attested.likely, attested.violation), (None, None));
    }
    let chain = Assumed::Chain(ChainConstants::new(0.1).with_eta(0.5));
    let wanted = ProbabilisticTarget { assumed: chain, ..ProbabilisticTarget::default() };
    assert!(Certifier::new(&problem, states, wanted, 1e-3, 1, &Clock::unlimited()).is_err());
}

/// A method whose chains move along edges ends with a bound and an estimate as any other.
#[test]
fn chains_of_a_method_move_along_edges() {
    let dim = 24;
    let rows = vec![row(0, &all(dim, 1.0), -INF, 7.5)];
    let problem = problem(polyhedron(&vec![0.0; dim], &vec![1.0; dim], rows), dim, 3);
    let solved = |options: serde_json::Value| {
        let method = MethodSettings::parse("sgd", options.as_object().unwrap()).unwrap();
        solve(&problem, &Settings { method, ..Settings::default() }).unwrap()
    };
    let edges = solved(serde_json::json!({"proposal": "local"}));
    let body = solved(serde_json::json!({"proposal": "adaptive"}));
    let (a, b) = (edges.objective().unwrap(), body.objective().unwrap());
    assert!((a - b).abs() <= 0.01 * a.abs().max(b.abs()), "{a} along edges and {b} in the set");
    assert!(edges.bounds.lower().unwrap() <= a * (1.0 + 1e-6));
}
