//! Projections against enumeration of active sets, against the variational inequality on larger sets, and proofs that X
//! is empty.
#![allow(clippy::unwrap_used)]

use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep_lp::{Lp, Model, Status};

use super::*;
use crate::definition::Variable;
use crate::model::ProblemDefinition;
use crate::model::{FirstStage, Sparse};
use crate::uncertainty::SetDefinition;

const INF: f64 = f64::INFINITY;

/// A problem whose first stage has these bounds and rows. The rest of it does not matter.
fn problem(bounds: &[(f64, f64)], rows: &[(Vec<f64>, f64, f64)]) -> Problem {
    let mut file = ProblemDefinition::default();
    for (j, &(lower, upper)) in bounds.iter().enumerate() {
        file.first_stage.variables.push(Variable::new(format!("x{j}"), 0.0).bounded(lower, upper));
    }
    for (i, (terms, lower, upper)) in rows.iter().enumerate() {
        let mut row = crate::definition::Row::new(format!("r{i}"));
        row.x = terms.iter().enumerate().map(|(j, &value)| (format!("x{j}"), value)).collect();
        (row.lower, row.upper) = (*lower, *upper);
        file.first_stage.constraints.push(row);
    }
    file.uncertainty.parameters.push("g".into());
    file.uncertainty.set = SetDefinition::Box { lower: vec![0.0], upper: vec![1.0] };
    Problem::new(&file).unwrap()
}

/// Parameters of a random X.
#[derive(Clone, Copy)]
struct RandomSet {
    dim: usize,
    rows: usize,
    /// Small integers as data: ties, dependent rows, degenerate vertices.
    integral: bool,
    /// Rows and variables in units from 1e-4 to 1e4.
    units: bool,
    /// The sides are set around a point, so that X is not empty.
    nonempty: bool,
}

fn random_problem(kind: RandomSet, rng: &mut ChaCha8Rng) -> Problem {
    let unit = |rng: &mut ChaCha8Rng| if kind.units { 10.0_f64.powf(rng.random_range(-4.0..4.0)) } else { 1.0 };
    let number = |rng: &mut ChaCha8Rng| {
        if kind.integral { f64::from(rng.random_range(-2..=2)) } else { rng.random_range(-2.0..2.0) }
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

/// The projection by enumeration: the nearest point of X that is optimal for some set of active constraints.
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
        // In √H·(v − x): the minimum-norm solution, by Householder's QR of the normals.
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

/// A point at some distance from X, in the units of the bounds.
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

/// The maximum of `(x − v)ᵀH(z − v)` over z in X around v, relative to the squared distance. It is 0 for the
/// projection, and only for it, since X is convex. (Far from v the rounding error of the gradient would dominate.)
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
        let kind = RandomSet { dim, rows, integral: round % 3 == 0, units: false, nonempty: round % 5 > 0 };
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
                    outcome.is_err() && projection.empty,
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
            assert!(
                off < 1e-7 || v == expected,
                "round {round}: {v:?} is not {expected:?} in {h:?}, X = {:?}",
                problem.first
            );
            assert!(problem.first.violation(&v).is_none_or(|violation| violation.amount <= 1e-9));
        }
    }
    assert!(moved > 1000 && empty > 20, "{moved} moved, {empty} empty");
    assert!(worst < 1e-10, "off by {worst:e}");
}

#[test]
fn larger_projections_satisfy_the_variational_inequality() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut worst = 0.0_f64;
    for round in 0..200 {
        let kind = RandomSet {
            dim: rng.random_range(5..40),
            rows: rng.random_range(1..12),
            integral: round % 2 == 0,
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
            // The projection of the projection is itself.
            let again = v.clone();
            projection.project(&mut v).unwrap();
            assert_eq!(v, again);
        }
    }
    assert!(worst < 1e-8, "{worst:e}");
}

#[test]
fn the_projection_does_not_depend_on_units() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for round in 0..100 {
        let (dim, rows) = (rng.random_range(2..12), rng.random_range(1..8));
        let kind = RandomSet { dim, rows, integral: round % 2 == 0, units: false, nonempty: true };
        let plain = random_problem(kind, &mut rng);
        let units: Vec<f64> = (0..dim).map(|_| 10.0_f64.powi(rng.random_range(-6..=6))).collect();
        let mut scaled = plain.clone();
        let first = &mut scaled.first;
        first.rows = Sparse::new(dim);
        for j in 0..dim {
            first.lower[j] *= units[j];
            first.upper[j] *= units[j];
        }
        for row in 0..rows {
            let unit = 10.0_f64.powi(rng.random_range(-6..=6));
            first.rows.push_row(plain.first.rows.row(row).map(|(j, value)| (j, unit * value / units[j])));
            first.row_lower[row] *= unit;
            first.row_upper[row] *= unit;
            first.row_scale[row] *= unit;
        }
        let x = random_point(&plain.first, &mut rng);
        let mut v = x.clone();
        Projection::new(&plain, &Clock::unlimited()).project(&mut v).unwrap();
        let mut projection = Projection::new(&scaled, &Clock::unlimited());
        let h: Vec<f64> = units.iter().map(|unit| 1.0 / (unit * unit)).collect();
        projection.set_metric(&h);
        let mut w: Vec<f64> = x.iter().zip(&units).map(|(x, unit)| x * unit).collect();
        projection.project(&mut w).unwrap();
        let size = x.iter().chain(&v).fold(1.0, |size: f64, x| size.max(x.abs()));
        for j in 0..dim {
            assert!(
                (w[j] / units[j] - v[j]).abs() < 1e-8 * size,
                "round {round}: {w:?} in units {units:?} is not {v:?}"
            );
        }
    }
}

#[test]
fn the_knapsack_and_the_active_set_agree_on_one_row() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let mut met = 0;
    for round in 0..400 {
        let dim = rng.random_range(1..30);
        let problem = random_problem(
            RandomSet { dim, rows: 1, integral: round % 2 == 0, units: round % 3 == 0, nonempty: true },
            &mut rng,
        );
        let (x, h) = (random_point(&problem.first, &mut rng), random_metric(dim, round % 4 > 1, &mut rng));
        let inverse_metric: Vec<f64> = h.iter().map(|h| h.recip()).collect();
        let polyhedron = FirstStagePolyhedron::new(&problem.first);
        let clamped: Vec<f64> = (0..dim).map(|j| polyhedron.clamp(j, x[j])).collect();
        let Some(ConstraintSide::Row(row, sign)) = polyhedron.most_violated(&clamped, &inverse_metric) else {
            continue;
        };
        let mut v = clamped;
        assert!(
            knapsack::project(&polyhedron, row, sign, &x, &inverse_metric, &mut v),
            "round {round}: {:?}",
            problem.first
        );
        let mut other = x.clone();
        ActiveSet::new(dim).project(&polyhedron, &x, &inverse_metric, &mut other).unwrap();
        let off = (distance(&h, &v, &other) / distance(&h, &x, &other)).sqrt();
        assert!(off < 1e-9, "round {round}: {off:e}");
        met += 1;
    }
    assert!(met > 150, "{met}");
}

#[test]
fn the_interior_point_method_agrees() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for round in 0..100 {
        let dim = rng.random_range(2..20);
        let problem = random_problem(
            RandomSet { dim, rows: 5, integral: round % 2 == 0, units: false, nonempty: true },
            &mut rng,
        );
        let mut projection = Projection::new(&problem, &Clock::unlimited());
        projection.set_metric(&random_metric(dim, false, &mut rng));
        let x = random_point(&problem.first, &mut rng);
        let mut v = x.clone();
        projection.project(&mut v).unwrap();
        projection.project_by_clarabel(&x).unwrap();
        let off = distance(&projection.metric, &v, &projection.v).sqrt();
        assert!(off < 1e-4 * (1.0 + distance(&projection.metric, &v, &x).sqrt()), "round {round}: {off:e}");
    }
}

#[test]
fn added_rows_shrink_the_set_until_it_is_empty() {
    let problem = problem(&[(0.0, 4.0), (0.0, 4.0)], &[]);
    let mut projection = Projection::new(&problem, &Clock::unlimited());
    let mut x = [5.0, 3.0];
    projection.project(&mut x).unwrap();
    assert_eq!(x, [4.0, 3.0]);
    projection.add_row(-5e-5, &[1e-5, 1e-5]);
    projection.project(&mut x).unwrap();
    assert!((x[0] - 3.0).abs() < 1e-12 && (x[1] - 2.0).abs() < 1e-12, "{x:?}");
    let side = projection.add_row(-6e6, &[3e6, 0.0]);
    projection.set_metric(&[1e-3, 1e3]);
    x = [4.0, 4.0];
    projection.project(&mut x).unwrap();
    assert!((x[0] - 1.0).abs() < 1e-5 && (x[0] + x[1] - 5.0).abs() < 1e-9, "{x:?}");
    projection.set_intercept(side, -4.5e6);
    x = [4.0, 4.0];
    projection.project(&mut x).unwrap();
    assert!((x[0] - 1.0).abs() < 1e-5 && (x[0] + x[1] - 5.0).abs() < 1e-9, "{x:?}");
    x = [0.0, 0.0];
    projection.project(&mut x).unwrap();
    assert_eq!(x, [0.0, 0.0]);
    let other = projection.add_row(7.0, &[-1.0, -1.0]);
    let error = projection.project(&mut x).unwrap_err();
    assert!(projection.empty && error.to_string().contains("no x satisfies"), "{error}");
    assert!(projection.project(&mut x).is_err());
    projection.set_intercept(other, 4.0);
    projection.project(&mut x).unwrap();
    assert!((x[0] + x[1] - 4.0).abs() < 1e-9, "{x:?}");
}

#[test]
fn only_finite_points_are_projected() {
    let problem = problem(&[(0.0, 4.0)], &[]);
    let mut projection = Projection::new(&problem, &Clock::unlimited());
    assert!(projection.project(&mut [f64::NAN]).is_err() && projection.project(&mut [INF]).is_err());
    assert!(!projection.empty);
}
