//! Projections against enumeration of active sets, against HiGHS on larger ones, and against proofs of emptiness.
#![allow(clippy::unwrap_used)]

use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep_lp::{Lp, Model, Status};

use super::*;
use crate::format::{ProblemFile, SetFile, Variable};
use crate::model::FirstStage;

const INF: f64 = f64::INFINITY;

/// A problem whose first stage has these bounds and rows; nothing else about it matters.
fn problem(bounds: &[(f64, f64)], rows: &[(Vec<f64>, f64, f64)]) -> Problem {
    let mut file = ProblemFile::default();
    for (j, &(lower, upper)) in bounds.iter().enumerate() {
        file.first_stage.variables.push(Variable::new(format!("x{j}"), 0.0).bounded(lower, upper));
    }
    for (i, (terms, lower, upper)) in rows.iter().enumerate() {
        let mut row = crate::format::Row::new(format!("r{i}"));
        row.x = terms.iter().enumerate().map(|(j, &value)| (format!("x{j}"), value)).collect();
        (row.lower, row.upper) = (*lower, *upper);
        file.first_stage.constraints.push(row);
    }
    file.uncertainty.parameters.push("g".into());
    file.uncertainty.set = SetFile::Box { lower: vec![0.0], upper: vec![1.0] };
    Problem::new(&file).unwrap()
}

/// What a random X is made of.
#[derive(Clone, Copy)]
struct Kind {
    dim: usize,
    rows: usize,
    /// Small whole numbers: ties, dependent rows, vertices where many constraints meet.
    whole: bool,
    /// Rows and variables in units from 1e-4 to 1e4.
    units: bool,
    /// The sides are set around a point, so that X has one.
    nonempty: bool,
}

fn random_problem(kind: Kind, rng: &mut ChaCha8Rng) -> Problem {
    let unit = |rng: &mut ChaCha8Rng| if kind.units { 10.0_f64.powf(rng.random_range(-4.0..4.0)) } else { 1.0 };
    let number = |rng: &mut ChaCha8Rng| {
        if kind.whole { f64::from(rng.random_range(-2..=2)) } else { rng.random_range(-2.0..2.0) }
    };
    let units: Vec<f64> = (0..kind.dim).map(|_| unit(rng)).collect();
    let inside: Vec<f64> = (0..kind.dim).map(|_| number(rng)).collect();
    let around = |inside: f64, kinds: u32, rng: &mut ChaCha8Rng| {
        let below = inside - number(rng).abs();
        match rng.random_range(0..kinds) {
            0 => (below, INF),
            1 => (-INF, inside + number(rng).abs()),
            2 => (inside, inside),
            3 => (below, below.max(inside) + number(rng).abs()),
            _ => (-INF, INF),
        }
    };
    let bounds: Vec<_> = (0..kind.dim)
        .map(|j| {
            let (lower, upper) = around(inside[j], 5, rng);
            (units[j] * lower, units[j] * upper)
        })
        .collect();
    let rows: Vec<_> = (0..kind.rows)
        .map(|_| {
            let terms: Vec<f64> = (0..kind.dim).map(|_| if rng.random_bool(0.7) { number(rng) } else { 0.0 }).collect();
            let at = if kind.nonempty { product(&terms, &inside) } else { number(rng) };
            let (lower, upper) = around(at, 4, rng);
            let row_unit = unit(rng);
            let terms = terms.iter().zip(&units).map(|(value, unit)| row_unit * value / unit).collect();
            (terms, row_unit * lower, row_unit * upper)
        })
        .collect();
    problem(&bounds, &rows)
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn distance(h: &[f64], v: &[f64], x: &[f64]) -> f64 {
    0.5 * h.iter().zip(v).zip(x).map(|((h, v), x)| h * (v - x) * (v - x)).sum::<f64>()
}

/// The nearest of all points that are optimal for some set of active constraints and are in X.
fn enumerated(first: &FirstStage, h: &[f64], x: &[f64]) -> Option<Vec<f64>> {
    let mut constraints = Vec::new();
    for j in 0..first.dim() {
        let unit: Vec<f64> = (0..first.dim()).map(|k| f64::from(u8::from(k == j))).collect();
        constraints.push((unit, first.lower[j], first.upper[j]));
    }
    for row in 0..first.rows.rows() {
        let mut dense = vec![0.0; first.dim()];
        first.rows.row(row).for_each(|(j, value)| dense[j] = value);
        constraints.push((dense, first.row_lower[row], first.row_upper[row]));
    }
    let mut best: Option<Vec<f64>> = None;
    for code in 0..3_usize.pow(constraints.len() as u32) {
        let mut active = Vec::new();
        let mut rest = code;
        for (normal, lower, upper) in &constraints {
            match rest % 3 {
                1 => active.push((normal, *lower)),
                2 => active.push((normal, *upper)),
                _ => {}
            }
            rest /= 3;
        }
        if active.len() > first.dim() || active.iter().any(|(_, side)| side.is_infinite()) {
            continue;
        }
        // In √H·(v − x): the shortest vector with given products, by Householder's QR of the normals.
        let (count, dim) = (active.len(), first.dim());
        let mut v = x.to_vec();
        if count > 0 {
            let normals = Mat::from_fn(dim, count, |j, i| active[i].0[j] / h[j].sqrt());
            let factors = normals.qr();
            let (q, r) = (factors.compute_thin_Q(), factors.thin_R());
            let mut product_with_q = vec![0.0; count];
            for i in 0..count {
                let known: f64 = (0..i).map(|k| r[(k, i)] * product_with_q[k]).sum();
                product_with_q[i] = (active[i].1 - product(active[i].0, x) - known) / r[(i, i)];
            }
            for j in 0..dim {
                v[j] += (0..count).map(|i| product_with_q[i] * q[(j, i)]).sum::<f64>() / h[j].sqrt();
            }
        }
        if v.iter().any(|v| !v.is_finite()) {
            continue;
        }
        if first.violation(&v).is_none_or(|violation| violation.amount < 1e-10)
            && best.as_ref().is_none_or(|best| distance(h, &v, x) < distance(h, best, x))
        {
            best = Some(v);
        }
    }
    best
}

fn random_metric(dim: usize, uneven: bool, rng: &mut ChaCha8Rng) -> Vec<f64> {
    (0..dim).map(|_| if uneven { 10.0_f64.powf(rng.random_range(-4.0..4.0)) } else { 1.0 }).collect()
}

/// A point some units away from X, in the units of the bounds or of a point of X.
fn random_point(first: &FirstStage, rng: &mut ChaCha8Rng) -> Vec<f64> {
    (0..first.dim())
        .map(|j| {
            let size = [first.lower[j], first.upper[j]]
                .into_iter()
                .filter(|bound| bound.is_finite())
                .fold(0.0, |size: f64, bound| size.max(bound.abs()));
            rng.random_range(-3.0..3.0) * if size > 0.0 { size } else { 1.0 }
        })
        .collect()
}

/// By how much `(x − v)ᵀH(z − v)` can be above zero for a z in X around v, relative to the square of the distance: 0 for the projection, and only
/// for it, since X is convex. (Far away from v the rounding of the gradient would be seen, not its direction.)
fn variational_gap(first: &FirstStage, h: &[f64], x: &[f64], v: &[f64]) -> f64 {
    let cost: Vec<f64> = (0..x.len()).map(|j| h[j] * (v[j] - x[j])).collect();
    let size = cost.iter().fold(0.0_f64, |size, cost| size.max(cost.abs()));
    if size == 0.0 {
        return 0.0;
    }
    let around = (0..x.len()).map(|j| (x[j] - v[j]).abs()).fold(0.0, f64::max);
    let mut model = Model::new();
    for j in 0..x.len() {
        model.add_col(cost[j] / size, (first.lower[j] - v[j]).max(-around), (first.upper[j] - v[j]).min(around));
    }
    for row in 0..first.rows.rows() {
        let at = first.rows.dot(row, v);
        let terms: Vec<_> = first.rows.row(row).collect();
        model.add_row(first.row_lower[row] - at, first.row_upper[row] - at, &terms);
    }
    let mut lp = Lp::new(&model).unwrap();
    lp.set_tolerance(1e-9).unwrap();
    assert_eq!(lp.solve().unwrap(), Status::Optimal);
    -lp.objective() * size / (2.0 * distance(h, v, x))
}

#[test]
fn small_projections_are_those_of_enumeration() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let (mut moved, mut empty, mut worst) = (0, 0, 0.0_f64);
    for round in 0..600 {
        let (dim, rows) = (1 + round % 4, rng.random_range(0..=3));
        let kind = Kind { dim, rows, whole: round % 3 == 0, units: false, nonempty: round % 5 > 0 };
        let problem = random_problem(kind, &mut rng);
        let mut projection = Projection::new(&problem, &Clock::unlimited());
        for turn in 0..3 {
            let h = random_metric(dim, turn > 0, &mut rng);
            projection.set_metric(&h);
            let x = random_point(&problem.first, &mut rng);
            let mut v = x.clone();
            let outcome = projection.project(&mut v);
            let Some(expected) = enumerated(&problem.first, &h, &x) else {
                assert!(
                    outcome.is_err() && projection.is_empty(),
                    "round {round}: {outcome:?} at {v:?} in {h:?} for an empty X = {:?}",
                    problem.first
                );
                assert_eq!(v, x);
                empty += 1;
                continue;
            };
            outcome.unwrap();
            moved += usize::from(v != x);
            let off = (distance(&h, &v, &expected) / distance(&h, &x, &expected).max(1e-30)).sqrt();
            worst = worst.max(if v == expected { 0.0 } else { off });
            assert!(off < 1e-7 || v == expected, "round {round}: {v:?} is not {expected:?} in {h:?}, X = {:?}", problem.first);
            assert!(problem.first.violation(&v).is_none_or(|violation| violation.amount <= 1e-9));
        }
    }
    println!("{moved} moved, {empty} empty, off by {worst:e}");
    assert!(moved > 1000 && empty > 20, "{moved} moved, {empty} empty");
}

#[test]
fn larger_projections_satisfy_the_variational_inequality() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut worst = 0.0_f64;
    for round in 0..200 {
        let kind = Kind {
            dim: rng.random_range(5..40),
            rows: rng.random_range(1..12),
            whole: round % 2 == 0,
            units: round % 4 > 1,
            nonempty: true,
        };
        let problem = random_problem(kind, &mut rng);
        let mut projection = Projection::new(&problem, &Clock::unlimited());
        for turn in 0..4 {
            let h = random_metric(kind.dim, turn > 0, &mut rng);
            projection.set_metric(&h);
            let x = random_point(&problem.first, &mut rng);
            let mut v = x.clone();
            projection.project(&mut v).unwrap();
            assert!(
                problem.first.violation(&v).is_none_or(|violation| violation.amount <= 1e-9),
                "{:?}",
                problem.first.violation(&v)
            );
            let gap = variational_gap(&problem.first, &h, &x, &v);
            worst = worst.max(gap);
            assert!(gap < 1e-6, "round {round}, turn {turn}: {gap:e}");
            // Once more, it stays.
            let again = v.clone();
            projection.project(&mut v).unwrap();
            assert_eq!(v, again);
        }
    }
    println!("gap {worst:e}");
}
