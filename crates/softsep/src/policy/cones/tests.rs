//! The bounds of the counterparts against points of the region: always safe, and exact where the docs say so.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::definition::VariableKind;
use crate::recourse::{ConicProgram, ConicStatus};
use crate::run::Clock;
use crate::uncertainty::{Shape, ShapeRow};

fn random(rng: &mut ChaCha8Rng, len: usize) -> Vec<f64> {
    (0..len).map(|_| rng.random_range(-1.0..1.0)).collect()
}

/// A block with random coefficients in `dim` entries of ξ.
fn block(kind: ConeKind, len: usize, dim: usize, rng: &mut ChaCha8Rng) -> ConeBlock {
    let entry = |rng: &mut ChaCha8Rng| {
        let mut entry = Expression::new(dim);
        entry.constant = rng.random_range(-1.0..1.0);
        random(rng, dim).into_iter().enumerate().for_each(|(coordinate, slope)| entry.add_slope(coordinate, slope));
        entry
    };
    ConeBlock { kind, entries: (0..len).map(|_| entry(rng)).collect() }
}

/// The least number of units that brings a block into its cone for every ξ, by the counterpart: a program with the
/// number of units as its only column.
fn needed(counterpart: &ConicCounterpart, block: &ConeBlock) -> f64 {
    let mut program = ConicProgram::new(0.0);
    let units = program.col(1.0, f64::NEG_INFINITY, f64::INFINITY, VariableKind::Continuous);
    let mut lifted = block.clone();
    let len = lifted.len();
    for (index, entry) in lifted.entries.iter_mut().enumerate() {
        entry.terms.push((units, depth::unit(block.kind, len, index)));
    }
    let proof = counterpart.require(&mut program, &lifted, 0.0).unwrap();
    let solution = program.solve(&Clock::unlimited()).unwrap();
    assert_eq!(solution.status, ConicStatus::Solved);
    let mut values = solution.primal;
    // The depth that the numbers prove, not the solver's value.
    values[units] -= counterpart.depth(&lifted, &proof, &values);
    let again = counterpart.depth(&lifted, &proof, &values);
    assert!(again.abs() < 1e-9, "{again}");
    values[units]
}

/// The least number of units that brings a block into its cone at given points.
fn needed_at(block: &ConeBlock, points: &[Vec<f64>]) -> f64 {
    let numbers = block.numbers(&[]);
    points.iter().map(|xi| -numbers.at(xi).depth(block.kind)).fold(f64::NEG_INFINITY, f64::max)
}

const KINDS: [(ConeKind, usize); 4] = [
    (ConeKind::SecondOrder, 4),
    (ConeKind::Exponential, 3),
    (ConeKind::Power { alpha: 0.3 }, 3),
    #[cfg(feature = "psd")]
    (ConeKind::Semidefinite, 3),
    #[cfg(not(feature = "psd"))]
    (ConeKind::SecondOrder, 3),
];

/// The kind of a test polytope.
#[derive(Debug, Clone, Copy, PartialEq)]
enum PolytopeKind {
    Simplex,
    Box,
    Budget,
}

/// A polytope in `dim` entries and its corners.
fn corners(kind: PolytopeKind, dim: usize) -> (Shape, Vec<Vec<f64>>) {
    let base: Vec<f64> = (0..dim).map(|entry| 0.5 - 0.25 * entry as f64).collect();
    let columns: Vec<(usize, f64)> = (0..dim).map(|entry| (entry, if entry % 2 == 0 { 0.4 } else { -0.6 })).collect();
    let all = |limit| ShapeRow { terms: (0..dim).map(|column| (column, 1.0)).collect(), limit, equal: false };
    let caps = (0..dim).map(|column| ShapeRow { terms: vec![(column, 1.0)], limit: 1.0, equal: false });
    let (rows, most) = match kind {
        PolytopeKind::Simplex => (vec![all(1.0)], 1),
        PolytopeKind::Box => (caps.collect(), dim),
        PolytopeKind::Budget => (caps.chain([all(2.0)]).collect(), 2),
    };
    let mut points = Vec::new();
    for mask in (0..1_u32 << dim).filter(|mask| mask.count_ones() as usize <= most) {
        let mut xi = base.clone();
        columns
            .iter()
            .enumerate()
            .filter(|(k, _)| mask >> k & 1 == 1)
            .for_each(|(_, &(entry, step))| xi[entry] += step);
        points.push(xi);
    }
    (Shape { polytope: Some(Polytope { base, columns, rows }), ball: None }, points)
}

#[test]
fn over_polytopes_blocks_are_safe_and_over_simplices_and_small_boxes_exact() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for (shaped, dim, is_exact) in [
        (PolytopeKind::Simplex, 3, true),
        (PolytopeKind::Simplex, 7, true),
        (PolytopeKind::Box, 3, true),
        (PolytopeKind::Box, 7, false),
        (PolytopeKind::Budget, 6, false),
    ] {
        let (shape, points) = corners(shaped, dim);
        let mut loose = 0;
        for (kind, len) in KINDS {
            for _ in 0..20 {
                let block = block(kind, len, dim, &mut rng);
                let counterpart = ConicCounterpart::new(SupportRegion::Shape(&shape), &vec![0.0; dim]);
                let (claimed, truth) = (needed(&counterpart, &block), needed_at(&block, &points));
                assert!(claimed >= truth - 1e-9, "{shaped:?} {kind:?}: {claimed} below {truth}");
                assert!(!is_exact || claimed <= truth + 1e-6, "{shaped:?} {kind:?}: {claimed} above {truth}");
                loose += u32::from(claimed > truth + 1e-3);
            }
        }
        assert_eq!(loose > 0, !is_exact, "{shaped:?} in {dim}: {loose} of 80 are loose");
    }
}

fn ball(dim: usize, rng: &mut ChaCha8Rng) -> Ball {
    Ball { center: random(rng, dim), columns: (0..dim).map(|_| random(rng, dim)).collect() }
}

/// Points of a ball's boundary, each moved in the direction in which the block needs more units.
fn boundary(ball: &Ball, block: &ConeBlock, count: usize, rng: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
    let at = |u: &[f64]| -> Vec<f64> {
        let length = u.iter().map(|u| u * u).sum::<f64>().sqrt();
        let mut xi = ball.center.clone();
        u.iter()
            .zip(&ball.columns)
            .for_each(|(u, axis)| xi.iter_mut().zip(axis).for_each(|(xi, axis)| *xi += u / length * axis));
        xi
    };
    let need = |u: &[f64]| needed_at(block, &[at(u)]);
    (0..count)
        .map(|_| {
            let mut u = random(rng, ball.columns.len());
            let mut reach = 0.5;
            while reach > 1e-5 {
                let other: Vec<f64> = u.iter().map(|u| u + reach * rng.random_range(-1.0..1.0)).collect();
                if need(&other) > need(&u) { u = other } else { reach *= 0.9 }
            }
            at(&u)
        })
        .collect()
}

#[test]
fn over_balls_blocks_are_safe_and_second_order_cones_exact() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut worst = 0.0_f64;
    for (kind, len) in KINDS.into_iter().chain([(ConeKind::SecondOrder, 2), (ConeKind::SecondOrder, 1)]) {
        for dim in [1, 2, 3] {
            for _ in 0..8 {
                let (ball, block) = (ball(dim, &mut rng), block(kind, len, dim, &mut rng));
                let truth = needed_at(&block, &boundary(&ball, &block, 20, &mut rng));
                let shape = Shape { polytope: None, ball: Some(ball) };
                let claimed = needed(&ConicCounterpart::new(SupportRegion::Shape(&shape), &vec![0.0; dim]), &block);
                assert!(claimed >= truth - 1e-9, "{kind:?} in {dim}: {claimed} below {truth}");
                let is_exact = dim == 1 || cfg!(feature = "psd") && kind == ConeKind::SecondOrder;
                assert!(!is_exact || claimed <= truth + 1e-4, "{kind:?} of {len} in {dim}: {claimed} above {truth}");
                worst = worst.max(claimed - truth);
            }
        }
    }
    assert!(worst > 1e-3, "nothing here is loose, so that exactness shows nothing");
}

#[test]
fn parts_of_balls_are_safe_and_tighter_the_narrower_they_are() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for (kind, len) in KINDS {
        for _ in 0..10 {
            let (ball, block) = (ball(2, &mut rng), block(kind, len, 2, &mut rng));
            let mut gaps = Vec::new();
            for width in [1.0, 0.1, 0.01] {
                let base = ball.center.clone();
                let rows =
                    (0..2).map(|column| ShapeRow { terms: vec![(column, 1.0)], limit: 1.0, equal: false }).collect();
                let polytope = Polytope { base: base.clone(), columns: vec![(0, width), (1, -width)], rows };
                let shape = Shape { polytope: Some(polytope), ball: Some(ball.clone()) };
                let claimed = needed(&ConicCounterpart::new(SupportRegion::Shape(&shape), &[0.0; 2]), &block);
                // Members of both: on the segments from the center to the box's corners, as far as the ball reaches.
                let inverse = |d: &[f64; 2]| {
                    let (a, b) = (&ball.columns[0], &ball.columns[1]);
                    let det = a[0] * b[1] - a[1] * b[0];
                    ((d[0] * b[1] - d[1] * b[0]) / det).hypot((a[0] * d[1] - a[1] * d[0]) / det)
                };
                let points: Vec<Vec<f64>> = (0..=20)
                    .flat_map(|i| (0..=20).map(move |j| [width * f64::from(i) / 20.0, -width * f64::from(j) / 20.0]))
                    .filter(|d| inverse(d) <= 1.0)
                    .map(|d| vec![base[0] + d[0], base[1] + d[1]])
                    .collect();
                let truth = needed_at(&block, &points);
                assert!(claimed >= truth - 1e-9, "{kind:?}: {claimed} below {truth}");
                gaps.push(claimed - truth);
            }
            assert!(gaps[2] <= 0.05, "{kind:?}: {gaps:?}");
        }
    }
}

/// The least s for a quadratic cost with random coefficients, by the counterpart and at points.
#[test]
fn quadratic_bounds_are_safe_and_exact_over_balls() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for round in 0..40 {
        let is_part = round % 2 == 1;
        let ball = ball(2, &mut rng);
        let polytope = is_part.then(|| Polytope {
            base: ball.center.clone(),
            columns: vec![(0, 0.2), (1, 0.2)],
            rows: (0..2).map(|column| ShapeRow { terms: vec![(column, 1.0)], limit: 1.0, equal: false }).collect(),
        });
        let plain = block(ConeKind::SecondOrder, 4, 2, &mut rng);
        let mut program = ConicProgram::new(0.0);
        let tau = program.col(1.0, f64::NEG_INFINITY, f64::INFINITY, VariableKind::Continuous);
        let mut above = plain.entries[0].clone();
        above.terms.push((tau, 1.0));
        let square = QuadraticBound::new(&above, &plain.entries[1..], 0.7);
        let shape = Shape { polytope: polytope.clone(), ball: Some(ball.clone()) };
        let counterpart = ConicCounterpart::new(SupportRegion::Shape(&shape), &[0.0; 2]);
        let proof = counterpart.require_quadratic(&mut program, &square).unwrap();
        let values = program.solve(&Clock::unlimited()).unwrap().primal;
        let numbers = plain.numbers(&[]);
        let mut members: Vec<Vec<f64>> = Vec::new();
        for _ in 0..20_000 {
            let angle = rng.random_range(0.0..std::f64::consts::TAU);
            let radius = if is_part { rng.random_range(0.0_f64..1.0).sqrt() } else { 1.0 };
            let xi: Vec<f64> = (0..2)
                .map(|entry| {
                    ball.center[entry]
                        + radius * (angle.cos() * ball.columns[0][entry] + angle.sin() * ball.columns[1][entry])
                })
                .collect();
            if !is_part || (0..2).all(|entry| (0.0..=0.2).contains(&(xi[entry] - ball.center[entry]))) {
                members.push(xi);
            }
        }
        let values_at = |xi: &Vec<f64>| numbers.at(xi).value;
        let need = |v: Vec<f64>| 0.5 * v[1..].iter().map(|w| w * w).sum::<f64>() - v[0];
        let truth = members.iter().map(|xi| need(values_at(xi))).fold(f64::NEG_INFINITY, f64::max);
        let most = values[tau] + members.iter().map(|xi| values_at(xi)[0]).fold(f64::NEG_INFINITY, f64::max);
        let claimed = values[tau] + counterpart.excess(&square, &proof, &values, most);
        assert!(claimed >= truth - 1e-9, "{round}: {claimed} below {truth}");
        assert!(
            members.len() < 100 || claimed <= truth + if is_part { 0.1 } else { 1e-5 },
            "{round}: {claimed} above {truth}"
        );
    }
}
