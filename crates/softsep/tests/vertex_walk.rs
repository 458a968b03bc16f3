//! Moves along the edges of polyhedra: the states against enumerated vertices, the moves, the law of a chain.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep::definition::{Complaints, Row, Variable};
use softsep::internals::chain::{Acceptance, Chain, TransitionKernel};
use softsep::internals::proposal::Neighbour;
use softsep::internals::recourse::{DualChoice, Linear};
use softsep::internals::uncertainty::vertex_walk;
use softsep::proposal::{ProposalKind, ProposalOptions};
use softsep::recourse::{Answer, Recourse};
use softsep::run::{Clock, Purpose, stream};
use softsep::testing::{Trial, check_proposal};
use softsep::uncertainty::{Count, SetDefinition, Space, State, StateSpec, States, Uncertainty, build};
use softsep::{Problem, ProblemDefinition};

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
        row(number, &[(0, cos), (1, sin), (2, 1.0)], -INF, 1.0)
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
            rows.push(row(3, &terms.iter().rev().copied().collect::<Vec<_>>()[..2], -INF, INF));
            rows.pop();
            let last = rows.last_mut().unwrap();
            (last.lower, last.upper) = (at, at);
        }
    }
    let (mut lower, mut upper): (Vec<f64>, Vec<f64>) = units.iter().map(|unit| (-unit, *unit)).unzip();
    if seed.is_multiple_of(3) {
        (lower[0], upper[0]) = (inside[0], inside[0]);
    }
    (polyhedron(&lower, &upper, rows), dim)
}

fn made(set: &SetDefinition, dim: usize) -> std::sync::Arc<dyn Uncertainty> {
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
