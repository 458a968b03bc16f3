//! The conic engine on random problems with fixed seeds: optimality conditions, finite differences, validity of cuts,
//! agreement with the simplex method, independence of earlier solves.
#![allow(clippy::unwrap_used)]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep_lp::{Lp, Model, Status};

use super::tests::{INF, Sketch, answer_at, close, fresh, product};
use super::*;
use crate::definition::ConeKind;

fn uniform(rng: &mut ChaCha8Rng, count: usize) -> Vec<f64> {
    (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
}

fn terms(rng: &mut ChaCha8Rng, count: usize) -> Vec<(usize, f64)> {
    uniform(rng, count).into_iter().enumerate().collect()
}

const COLS: usize = 5;

/// Three x, two ξ, five y with bounds of every kind, and rows of every kind that hold at y = 0 around x = 0, ξ = 0.
fn random_sketch(rng: &mut ChaCha8Rng) -> Sketch {
    let bounds = [(0.0, INF), (-2.0, 2.0), (-INF, INF), (-INF, 3.0), (0.0, 1.0)];
    let cols: Vec<_> = bounds.iter().map(|&(lower, upper)| (rng.random_range(-1.0..1.0), lower, upper)).collect();
    let mut sketch = Sketch::new(3, 2, &cols);
    for (lower, upper) in [(-3.0, INF), (-INF, 3.0), (-3.0, 3.0), (0.0, 0.0)] {
        sketch = sketch.row(&terms(rng, COLS), &terms(rng, 3), &terms(rng, 2), lower, upper);
    }
    sketch
}

/// H = M Mᵀ with a square random M, which almost surely is positive definite.
fn with_random_quadratic(mut sketch: Sketch, rng: &mut ChaCha8Rng) -> Sketch {
    let m: Vec<Vec<f64>> = (0..COLS).map(|_| uniform(rng, COLS)).collect();
    for i in 0..COLS {
        for j in 0..=i {
            sketch = sketch.quadratic(i, j, product(&m[i], &m[j]) + if i == j { 0.1 } else { 0.0 });
        }
    }
    sketch
}

#[test]
fn random_quadratic_programs_satisfy_the_optimality_conditions() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for _ in 0..40 {
        let sketch = random_sketch(&mut rng);
        let problem = with_random_quadratic(sketch, &mut rng).problem();
        let model = &problem.recourse;
        let mut engine = fresh(&problem);
        let (x, xi) = (uniform(&mut rng, 3), uniform(&mut rng, 2));
        let answer = answer_at(&mut engine, &problem, &x, &xi);
        assert_eq!(answer.outcome, RecourseOutcome::Solved);
        let (mut y, mut pi) = (vec![0.0; COLS], vec![0.0; model.rows()]);
        engine.decision(&mut y);
        engine.dual(&mut pi);

        assert!(close(answer.value, product(&model.cost, &y) + model.quadratic.half_square(&y), 1e-7));
        let mut activity = vec![0.0; model.rows()];
        model.shift(&x, &xi, &mut activity);
        model.g.mul_add(1.0, &y, &mut activity);
        for row in 0..model.rows() {
            let (lower, upper) = (model.row_lower[row], model.row_upper[row]);
            complementary(activity[row], lower, upper, pi[row]);
        }
        let mut reduced = model.cost.clone();
        model.quadratic.mul_add(1.0, &y, &mut reduced);
        model.g.transpose_mul_add(-1.0, &pi, &mut reduced);
        for col in 0..COLS {
            complementary(y[col], model.lower[col], model.upper[col], reduced[col]);
        }
    }
}

/// Checks that the value is within its bounds, and that a multiplier is nonzero only where the bound of its sign is
/// met.
fn complementary(value: f64, lower: f64, upper: f64, multiplier: f64) {
    assert!(value >= lower - 1e-7 && value <= upper + 1e-7);
    if multiplier > 1e-5 {
        assert!((value - lower).abs() < 1e-4, "{value} is above {lower} with multiplier {multiplier}");
    } else if multiplier < -1e-5 {
        assert!((value - upper).abs() < 1e-4, "{value} is below {upper} with multiplier {multiplier}");
    }
}

#[test]
fn slopes_agree_with_differences_and_cuts_hold_elsewhere() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let step = 1e-4;
    for _ in 0..20 {
        let sketch = random_sketch(&mut rng);
        let moves: Vec<_> = (0..COLS).map(|_| terms(&mut rng, 2)).collect();
        let moves: Vec<_> = moves.iter().map(Vec::as_slice).collect();
        let problem = with_random_quadratic(sketch, &mut rng).costs_move(&moves).problem();
        let mut engine = fresh(&problem);
        let (x, xi) = (uniform(&mut rng, 3), uniform(&mut rng, 2));
        let answer = answer_at(&mut engine, &problem, &x, &xi);

        // A convex piecewise quadratic function has kinks in its slope: a difference lies between the slopes at its two
        // ends, so the error is at most the step times the curvature.
        for k in 0..3 {
            let mut difference = 0.0;
            for side in [1.0, -1.0] {
                let mut there = x.clone();
                there[k] += side * step;
                difference += side * answer_at(&mut engine, &problem, &there, &xi).value / (2.0 * step);
            }
            assert!(
                close(answer.slope_x[k], difference, 1e-3),
                "slope in x: {} is not {difference}",
                answer.slope_x[k]
            );
        }
        for k in 0..2 {
            let mut difference = 0.0;
            for side in [1.0, -1.0] {
                let mut there = xi.clone();
                there[k] += side * step;
                difference += side * answer_at(&mut engine, &problem, &x, &there).value / (2.0 * step);
            }
            assert!(
                close(answer.slope_xi[k], difference, 1e-3),
                "slope in ξ: {} is not {difference}",
                answer.slope_xi[k]
            );
        }
        for _ in 0..10 {
            let there = uniform(&mut rng, 3);
            let value = answer_at(&mut engine, &problem, &there, &xi).value;
            assert!(answer.intercept + product(&answer.slope_x, &there) <= value + 1e-6 * value.abs().max(1.0));
        }
    }
}

#[test]
fn random_linear_programs_agree_with_the_simplex_method() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut seen = [0; 3];
    for _ in 0..300 {
        let problem = random_sketch(&mut rng).problem();
        let model = &problem.recourse;
        let (x, xi): (Vec<f64>, Vec<f64>) = (uniform(&mut rng, 3), uniform(&mut rng, 2));
        let x: Vec<f64> = x.iter().map(|x| 8.0 * x).collect();
        let mut shift = vec![0.0; model.rows()];
        model.shift(&x, &xi, &mut shift);
        let mut lp = Model::new();
        for col in 0..COLS {
            lp.add_col(model.cost[col], model.lower[col], model.upper[col]);
        }
        for (row, shift) in shift.iter().enumerate() {
            let terms: Vec<_> = model.g.row(row).collect();
            lp.add_row(model.row_lower[row] - shift, model.row_upper[row] - shift, &terms);
        }
        let mut lp = Lp::new(&lp).unwrap();
        let status = lp.solve().unwrap();
        let answer = answer_at(&mut fresh(&problem), &problem, &x, &xi);
        seen[answer.outcome as usize] += 1;
        match answer.outcome {
            RecourseOutcome::Solved => {
                assert_eq!(status, Status::Optimal);
                assert!(close(answer.value, lp.objective(), 1e-6), "{} is not {}", answer.value, lp.objective());
            }
            RecourseOutcome::Infeasible => {
                assert!(matches!(status, Status::Infeasible), "{status:?}");
                assert!(answer.intercept + product(&answer.slope_x, &x) > 0.0);
            }
            RecourseOutcome::Unbounded => assert!(matches!(status, Status::Unbounded), "{status:?}"),
        }
    }
    assert!(seen.iter().all(|&count| count > 5), "{seen:?}");
}

#[test]
fn answers_do_not_depend_on_the_solves_before() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let kinds = [
        ConeKind::SecondOrder,
        ConeKind::Exponential,
        ConeKind::Power { alpha: 0.3 },
        #[cfg(feature = "psd")]
        ConeKind::Semidefinite,
    ];
    for kind in kinds {
        let moves: Vec<_> = (0..COLS).map(|_| terms(&mut rng, 2)).collect();
        let moves: Vec<_> = moves.iter().map(Vec::as_slice).collect();
        let problem = random_sketch(&mut rng)
            .costs_move(&moves)
            .cone(
                kind,
                &[
                    (&[(0, 1.0)], &[(0, 0.1)], &[], -1.0),
                    (&[(1, 1.0)], &[], &[(0, 0.1)], -2.0),
                    (&[(2, 0.5)], &[(1, 0.1)], &[], -3.0),
                ],
            )
            .problem();
        let mut used = fresh(&problem);
        let mut outcomes = Vec::new();
        for round in 0..30 {
            // A large x makes the recourse infeasible at times, costs that depend on ξ make it unbounded at times.
            let size = if round % 3 == 0 { 30.0 } else { 1.0 };
            let (x, xi): (Vec<f64>, _) =
                (uniform(&mut rng, 3).iter().map(|x| size * x).collect(), uniform(&mut rng, 2));
            used.start_from(&used.warm_start()).unwrap();
            let answer = answer_at(&mut used, &problem, &x, &xi);
            assert_eq!(answer, answer_at(&mut fresh(&problem), &problem, &x, &xi));
            outcomes.push(answer.outcome);
        }
        assert!(
            outcomes.contains(&RecourseOutcome::Solved) && outcomes.contains(&RecourseOutcome::Infeasible),
            "{kind:?}: {outcomes:?}"
        );
    }
}
