//! Every uncertainty set against its contract, and its enumeration against counting formulas and brute force.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep::definition::{Complaints, Row, ScenarioList};
use softsep::internals::uncertainty::build;
use softsep::testing::check_set;
use softsep::uncertainty::{Count, SetDefinition, Sides, Uncertainty};

const INF: f64 = f64::INFINITY;

fn names(dim: usize) -> Vec<String> {
    (1..=dim).map(|index| format!("g{index}")).collect()
}

fn made(set: &SetDefinition, dim: usize) -> Arc<dyn Uncertainty> {
    let mut complaints = Complaints::new();
    build(set, &names(dim), "uncertainty.set", &mut complaints).unwrap_or_else(|| panic!("{set:?}: {complaints}"))
}

fn check(set: &SetDefinition, dim: usize, seed: u64) {
    check_set(&*made(set, dim), &names(dim), seed);
}

fn count(set: &SetDefinition, dim: usize) -> Count {
    made(set, dim).extremes()
}

fn boxed(lower: &[f64], upper: &[f64]) -> SetDefinition {
    SetDefinition::Box { lower: lower.to_vec(), upper: upper.to_vec() }
}

fn budget(budget: f64, sides: Sides, scale: &[f64]) -> SetDefinition {
    let center = (0..scale.len()).map(|index| index as f64 - 1.0).collect();
    SetDefinition::Budget { budget, sides, center, scale: scale.to_vec() }
}

fn ellipsoid(center: &[f64], rows: &[&[f64]]) -> SetDefinition {
    SetDefinition::Ellipsoid { center: center.to_vec(), matrix: rows.iter().map(|row| row.to_vec()).collect() }
}

fn row(number: usize, xi: &[(usize, f64)], lower: f64, upper: f64) -> Row {
    let xi = xi.iter().map(|&(index, coefficient)| (format!("g{}", index + 1), coefficient)).collect();
    Row { xi, lower, upper, ..Row::new(format!("row {number}")) }
}

fn polyhedron(lower: &[f64], upper: &[f64], rows: Vec<Row>) -> SetDefinition {
    SetDefinition::Polyhedron { lower: lower.to_vec(), upper: upper.to_vec(), constraints: rows }
}

fn scenarios(rows: &[&[f64]]) -> SetDefinition {
    let mut points = ScenarioList::new(rows.first().map_or(0, |row| row.len()));
    rows.iter().for_each(|row| points.push(row));
    SetDefinition::scenarios(points)
}

/// A list on the boundary of the ellipse with semi-axes 2 and ½ around (0, 1).
fn drawn(rows: &[&[f64]]) -> SetDefinition {
    let mut points = ScenarioList::new(2);
    rows.iter().for_each(|row| points.push(row));
    let drawn_from = Some(Box::new(ellipsoid(&[0.0, 1.0], &[&[2.0, 0.0], &[0.0, 0.5]])));
    SetDefinition::Scenarios { points, file: None, drawn_from }
}

/// The set of Zeng and Zhao's location–transportation example.
fn zeng_zhao() -> SetDefinition {
    let rows = vec![row(0, &[(0, 1.0), (1, 1.0), (2, 1.0)], -INF, 1.8), row(1, &[(0, 1.0), (1, 1.0)], -INF, 1.2)];
    polyhedron(&[0.0; 3], &[1.0; 3], rows)
}

#[test]
fn sets_written_by_hand_keep_the_contract() {
    for (set, dim) in [
        (scenarios(&[&[0.0, 1.0], &[2.0, 1.0], &[2.0, 1.0], &[-1.0, 0.5]]), 2),
        (scenarios(&[&[], &[]]), 0),
        (drawn(&[&[2.0, 1.0], &[0.0, 0.5], &[-1.2, 1.4]]), 2),
        (boxed(&[0.0, -1.0, 2.0], &[1.0, -1.0, 5.0]), 3),
        (boxed(&[], &[]), 0),
        (boxed(&[3.0], &[3.0]), 1),
        (SetDefinition::L1 { center: vec![1.0, 2.0, 3.0], scale: vec![1.0, 0.0, -2.0] }, 3),
        (SetDefinition::L1 { center: vec![1.0, 2.0], scale: vec![0.0, 0.0] }, 2),
        (budget(2.0, Sides::One, &[1.0, 2.0, 0.0, -1.0]), 4),
        (budget(1.5, Sides::One, &[1.0, 2.0, 3.0, -1.0]), 4),
        (budget(1.5, Sides::Two, &[1.0, 2.0, 0.0, 1.0]), 4),
        (budget(0.0, Sides::Two, &[1.0, 2.0]), 2),
        (budget(9.0, Sides::Two, &[1.0, 2.0]), 2),
        (ellipsoid(&[0.0, 1.0], &[&[2.0, 1.0], &[0.0, 1.0]]), 2),
        (ellipsoid(&[0.0, 1.0, 2.0], &[&[1.0, 2.0], &[2.0, 4.0], &[3.0, 6.0]]), 3),
        (ellipsoid(&[0.0, 1.0], &[&[], &[]]), 2),
        (ellipsoid(&[0.0], &[&[3.0, 4.0]]), 1),
        (ellipsoid(&[], &[]), 0),
        (zeng_zhao(), 3),
        (polyhedron(&[], &[], vec![]), 0),
        (
            polyhedron(
                &[-INF; 2],
                &[INF; 2],
                vec![row(0, &[(0, 1.0), (1, 1.0)], -1.0, 1.0), row(1, &[(0, 1.0), (1, -1.0)], -1.0, 1.0)],
            ),
            2,
        ),
        (polyhedron(&[0.0; 3], &[INF; 3], vec![row(0, &[(0, 1.0), (1, 2.0), (2, 4.0)], 4.0, 4.0)]), 3),
        (polyhedron(&[1.0, 0.0], &[1.0, 2.0], vec![row(0, &[(0, 1.0)], -INF, 1.0), row(1, &[], -1.0, INF)]), 2),
    ] {
        check(&set, dim, 1);
    }
}

fn random_set(kind: usize, dim: usize, rng: &mut ChaCha8Rng) -> SetDefinition {
    let sometimes_zero =
        |rng: &mut ChaCha8Rng| if rng.random_range(0..4) == 0 { 0.0 } else { rng.random_range(-3.0..3.0) };
    let center: Vec<f64> = (0..dim).map(|_| rng.random_range(-5.0..5.0)).collect();
    let scale: Vec<f64> = (0..dim).map(|_| sometimes_zero(rng)).collect();
    match kind {
        0 => {
            let mut points = ScenarioList::new(dim);
            for _ in 0..rng.random_range(1..30) {
                let point: Vec<f64> = (0..dim).map(|_| f64::from(rng.random_range(-3..=3))).collect();
                points.push(&point);
            }
            SetDefinition::scenarios(points)
        }
        1 => SetDefinition::Box {
            upper: center.iter().zip(&scale).map(|(lower, width)| lower + width.abs()).collect(),
            lower: center,
        },
        2 => SetDefinition::L1 { center, scale },
        3 => {
            let integral = f64::from(rng.random_range(0..=dim as i32));
            let budget = if rng.random() { integral } else { integral * rng.random_range(0.0..1.0) };
            SetDefinition::Budget { budget, sides: if rng.random() { Sides::One } else { Sides::Two }, center, scale }
        }
        4 => {
            let (rank, width) = (rng.random_range(0..=dim), rng.random_range(0..=dim + 1));
            let mut factor = |rows: usize, columns: usize| -> Vec<Vec<f64>> {
                (0..rows).map(|_| (0..columns).map(|_| rng.random_range(-2.0..2.0)).collect()).collect()
            };
            let (left, right) = (factor(dim, rank), factor(rank, width));
            let entry = |row: usize, column: usize| (0..rank).map(|k| left[row][k] * right[k][column]).sum();
            SetDefinition::Ellipsoid {
                center,
                matrix: (0..dim).map(|r| (0..width).map(|c| entry(r, c)).collect()).collect(),
            }
        }
        _ => random_polyhedron(dim, rng),
    }
}

/// Small integers, so that many rows meet in one vertex, hold with equality throughout, or are redundant.
fn random_polyhedron(dim: usize, rng: &mut ChaCha8Rng) -> SetDefinition {
    let mut integer = |from: i32, to: i32| f64::from(rng.random_range(from..=to));
    let member: Vec<f64> = (0..dim).map(|_| integer(0, 4) / 4.0).collect();
    let mut lower = vec![0.0; dim];
    let mut upper = vec![1.0; dim];
    let mut rows = Vec::new();
    for number in 0..integer(0, 5) as usize {
        let terms: Vec<(usize, f64)> = (0..dim).map(|index| (index, integer(-1, 2))).collect();
        let activity: f64 = terms.iter().map(|&(index, coefficient)| coefficient * member[index]).sum();
        let (below, above) = (integer(0, 3) / 2.0, integer(0, 3) / 2.0);
        rows.push(match integer(0, 5) as usize {
            0 => row(number, &terms, activity, activity),
            1 => row(number, &terms, activity - below, activity + above),
            2 => row(number, &terms, activity - below, INF),
            _ => row(number, &terms, -INF, activity + above),
        });
    }
    let index = integer(0, dim as i32 - 1) as usize;
    match integer(0, 3) as usize {
        0 => (lower[index], upper[index]) = (member[index], member[index]),
        1 => {
            // Bounded from above by a row alone.
            upper[index] = INF;
            rows.push(row(
                99,
                &(0..dim).map(|index| (index, 1.0)).collect::<Vec<_>>(),
                -INF,
                dim as f64 - 0.5 + member[index],
            ));
        }
        _ => {}
    }
    polyhedron(&lower, &upper, rows)
}

#[test]
fn random_sets_of_all_kinds_keep_the_contract() {
    for kind in 0..6 {
        for seed in 0..60 {
            let mut rng = ChaCha8Rng::seed_from_u64(1000 * kind as u64 + seed);
            let dim = rng.random_range(1..=5);
            check(&random_set(kind, dim, &mut rng), dim, seed);
        }
    }
}

#[test]
fn counts_follow_the_formulas() {
    let ones = [1.0; 6];
    assert_eq!(count(&boxed(&[0.0; 127], &[1.0; 127]), 127), Count::Exactly(1 << 127));
    assert!(matches!(count(&boxed(&[0.0; 200], &[1.0; 200]), 200), Count::MoreThan(_)));
    assert_eq!(count(&budget(2.0, Sides::One, &ones), 6), Count::Exactly(1 + 6 + 15));
    assert_eq!(count(&budget(2.25, Sides::One, &ones), 6), Count::Exactly(1 + 6 + 15 + 15 * 4));
    assert_eq!(count(&budget(2.0, Sides::Two, &ones), 6), Count::Exactly(15 * 4));
    assert_eq!(count(&budget(2.25, Sides::Two, &ones), 6), Count::Exactly(15 * 4 * 4 * 2));
    assert_eq!(count(&budget(6.5, Sides::Two, &ones), 6), Count::Exactly(64));
    assert_eq!(count(&budget(30.0 * 0.1, Sides::Two, &ones), 6), Count::Exactly(20 * 8));
    assert!(matches!(count(&budget(500.0, Sides::One, &[1.0; 1000]), 1000), Count::MoreThan(_)));
    assert_eq!(count(&ellipsoid(&[0.0; 2], &[&[1.0, 0.0], &[0.0, 1e-3]]), 2), Count::Infinite);
    assert_eq!(count(&zeng_zhao(), 3), Count::Exactly(12));
}

fn sorted(points: &ScenarioList) -> Vec<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = points.iter().map(<[f64]>::to_vec).collect();
    rows.sort_by(|a, b| a.partial_cmp(b).unwrap());
    rows
}

fn near(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-7)
}

fn same_points(a: &[Vec<f64>], b: &[Vec<f64>]) -> bool {
    a.len() == b.len() && a.iter().all(|a| b.iter().any(|b| near(a, b)))
}

#[test]
fn vertices_of_boxes_and_budgets_written_as_polyhedra() {
    for (dim, full, part) in [(3, 1, 0.0), (4, 2, 0.5), (6, 3, 0.25), (8, 2, 0.0), (10, 10, 0.0)] {
        let gamma = full as f64 + part;
        let set =
            SetDefinition::Budget { budget: gamma, sides: Sides::One, center: vec![0.0; dim], scale: vec![1.0; dim] };
        let all: Vec<(usize, f64)> = (0..dim).map(|index| (index, 1.0)).collect();
        let written = made(&polyhedron(&vec![0.0; dim], &vec![1.0; dim], vec![row(0, &all, -INF, gamma)]), dim);
        let listed = sorted(&made(&set, dim).enumerate(100_000).unwrap());
        assert!(same_points(&sorted(&written.enumerate(100_000).unwrap()), &listed), "{dim} {gamma}");
    }
    for (dim, gamma) in [(2, 1.5), (3, 2.0), (4, 2.5), (4, 0.5)] {
        let set =
            SetDefinition::Budget { budget: gamma, sides: Sides::Two, center: vec![0.0; dim], scale: vec![1.0; dim] };
        let signs = |number: usize| {
            (0..dim).map(|index| (index, if number >> index & 1 == 1 { 1.0 } else { -1.0 })).collect::<Vec<_>>()
        };
        let rows = (0..1 << dim).map(|number| row(number, &signs(number), -INF, gamma)).collect();
        let written = made(&polyhedron(&vec![-1.0; dim], &vec![1.0; dim], rows), dim);
        let listed = sorted(&made(&set, dim).enumerate(100_000).unwrap());
        assert!(same_points(&sorted(&written.enumerate(100_000).unwrap()), &listed), "{dim} {gamma}");
    }
}

/// The inequalities `aᵀξ ≤ b` of a polyhedron.
fn inequalities(set: &SetDefinition) -> Vec<(Vec<f64>, f64)> {
    let SetDefinition::Polyhedron { lower, upper, constraints } = set else { panic!("not a polyhedron") };
    let names = names(lower.len());
    let mut rows: Vec<(Vec<f64>, f64, f64)> = Vec::new();
    for index in 0..lower.len() {
        rows.push((
            (0..lower.len()).map(|other| f64::from(u8::from(other == index))).collect(),
            lower[index],
            upper[index],
        ));
    }
    for row in constraints {
        let coefficient = |name| row.xi.iter().find(|(other, _)| other == name).map_or(0.0, |term| term.1);
        rows.push((names.iter().map(coefficient).collect(), row.lower, row.upper));
    }
    let both = rows.into_iter().flat_map(|(a, lower, upper)| [(a.iter().map(|a| -a).collect(), -lower), (a, upper)]);
    both.filter(|(_, bound)| bound.is_finite()).collect()
}

/// Every point where as many inequalities as there are dimensions are tight, if it satisfies the others.
fn brute_force_vertices(set: &SetDefinition, dim: usize) -> Vec<Vec<f64>> {
    let rows = inequalities(set);
    let mut found: Vec<Vec<f64>> = Vec::new();
    for chosen in (0_u32..1 << rows.len()).filter(|chosen| chosen.count_ones() as usize == dim) {
        let system: Vec<&(Vec<f64>, f64)> =
            (0..rows.len()).filter(|row| chosen >> row & 1 == 1).map(|row| &rows[row]).collect();
        let Some(point) = solve(&system, dim) else { continue };
        let inside = rows.iter().all(|(a, b)| a.iter().zip(&point).map(|(a, x)| a * x).sum::<f64>() <= b + 1e-9);
        if inside && !found.iter().any(|other| near(other, &point)) {
            found.push(point);
        }
    }
    found
}

/// Gaussian elimination with row pivots; `None` if singular.
fn solve(system: &[&(Vec<f64>, f64)], dim: usize) -> Option<Vec<f64>> {
    let mut m: Vec<Vec<f64>> = system.iter().map(|(a, b)| a.iter().copied().chain([*b]).collect()).collect();
    for column in 0..dim {
        let pivot = (column..dim).max_by(|&a, &b| m[a][column].abs().total_cmp(&m[b][column].abs()))?;
        m.swap(column, pivot);
        let lead = m[column].clone();
        if lead[column].abs() < 1e-9 {
            return None;
        }
        for (_, other) in m.iter_mut().enumerate().filter(|(number, _)| *number != column) {
            let factor = other[column] / lead[column];
            other.iter_mut().zip(&lead).for_each(|(entry, lead)| *entry -= factor * lead);
        }
    }
    Some((0..dim).map(|index| m[index][dim] / m[index][index]).collect())
}

/// The image of a polyhedron under `ξ → size·ξ + shift`, entry by entry: all its numbers rounded, its scales apart.
fn stretched(set: &SetDefinition, sizes: &[f64], shift: f64) -> SetDefinition {
    let SetDefinition::Polyhedron { lower, upper, constraints } = set else { panic!("not a polyhedron") };
    let image = |bounds: &[f64]| bounds.iter().zip(sizes).map(|(bound, size)| size * bound + shift).collect::<Vec<_>>();
    let mut rows = constraints.clone();
    for row in &mut rows {
        for (name, coefficient) in &mut row.xi {
            *coefficient /= sizes[name[1..].parse::<usize>().unwrap() - 1];
        }
        let moved: f64 = row.xi.iter().map(|(_, coefficient)| coefficient * shift).sum();
        (row.lower, row.upper) = (row.lower + moved, row.upper + moved);
    }
    polyhedron(&image(lower), &image(upper), rows)
}

#[test]
fn vertices_of_random_polyhedra_against_brute_force() {
    for seed in 0..400 {
        let mut rng = ChaCha8Rng::seed_from_u64(50_000 + seed);
        let dim = rng.random_range(1..=4);
        let set = random_polyhedron(dim, &mut rng);
        let wanted = brute_force_vertices(&set, dim);
        let found = sorted(&made(&set, dim).enumerate(10_000).unwrap());
        assert!(same_points(&found, &wanted), "{set:?}: found {found:?}, wanted {wanted:?}");
        let sizes: Vec<f64> =
            (0..dim).map(|_| 10_f64.powi(rng.random_range(-3..=3)) * rng.random_range(0.5..2.0)).collect();
        let shift = rng.random_range(-1.0..1.0);
        let image = stretched(&set, &sizes, shift);
        let mut found = sorted(&made(&image, dim).enumerate(10_000).unwrap());
        let back = |point: &mut Vec<f64>| {
            point.iter_mut().zip(&sizes).for_each(|(entry, size)| *entry = (*entry - shift) / size)
        };
        found.iter_mut().for_each(back);
        assert!(same_points(&found, &wanted), "{image:?}: found {found:?}, wanted {wanted:?}");
    }
}

#[test]
fn a_polyhedron_with_too_many_vertices_is_not_enumerated() {
    let set = made(&polyhedron(&[0.0; 30], &[1.0; 30], vec![]), 30);
    let begun = std::time::Instant::now();
    assert!(matches!(set.extremes(), Count::MoreThan(_)));
    assert!(set.enumerate(1000).is_err());
    assert!(begun.elapsed().as_secs() < 10);
}

#[test]
fn a_polyhedron_answers_the_same_whatever_was_asked_before() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let set = made(&random_polyhedron(5, &mut rng), 5);
    let asked: Vec<Vec<f64>> = (0..60).map(|_| (0..5).map(|_| f64::from(rng.random_range(-1..=1))).collect()).collect();
    let answer = |direction: &Vec<f64>| {
        let mut xi = vec![0.0; 5];
        (set.support(direction, &mut xi).unwrap(), xi)
    };
    let in_order: Vec<_> = asked.iter().map(answer).collect();
    let mut backwards: Vec<_> = asked.iter().rev().map(answer).collect();
    backwards.reverse();
    assert_eq!(in_order, backwards);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| asked.iter().map(answer).collect::<Vec<_>>())).collect();
        threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), in_order));
    });
}
