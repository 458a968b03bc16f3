//! The conic engine on recourse that is infeasible, feasible by a small margin, or unbounded.

use super::tests::{INF, Sketch, Terms, answer_at, close, fresh, product};
use super::*;
use crate::definition::ConeKind;

/// Checks that the recourse is infeasible at x by a verified certificate, and feasible at `feasible`. Returns the
/// certificate.
fn check_infeasible(problem: &Problem, x: f64, feasible: f64) -> Vec<f64> {
    let mut engine = fresh(problem);
    assert_eq!(answer_at(&mut engine, problem, &[feasible], &[0.0]).outcome, RecourseOutcome::Solved);
    let answer = answer_at(&mut engine, problem, &[x], &[0.0]);
    assert_eq!((answer.outcome, answer.value), (RecourseOutcome::Infeasible, INF));
    assert!(answer.intercept + answer.slope_x[0] * x > 1e-3);
    assert!(answer.intercept + answer.slope_x[0] * feasible <= 1e-6);
    let mut pi = vec![0.0; problem.recourse.rows()];
    engine.dual(&mut pi);
    assert!(close(pi.iter().fold(0.0, |norm: f64, pi| norm.max(pi.abs())), 1.0, 1e-15));
    let mut y = vec![1.0; problem.recourse.dim()];
    engine.decision(&mut y);
    assert!(y.iter().all(|&y| y == 0.0));
    pi
}

/// Checks that the cost falls along the ray, and that a row that cannot hold for small x makes the recourse infeasible.
fn check_unbounded(sketch: impl Fn() -> Sketch) {
    let problem = sketch().problem();
    let mut engine = fresh(&problem);
    let answer = answer_at(&mut engine, &problem, &[1.0], &[0.0]);
    assert_eq!((answer.outcome, answer.value), (RecourseOutcome::Unbounded, -INF));
    assert_eq!((answer.slope_x[0], answer.slope_xi[0], answer.cut()), (0.0, 0.0, None));
    let mut ray = vec![0.0; problem.recourse.dim()];
    engine.decision(&mut ray);
    assert!(product(&problem.recourse.cost, &ray) < -0.1);
    let blocked = sketch().row(&[], &[(0, 1.0)], &[], 5.0, INF).problem();
    let answer = answer_at(&mut fresh(&blocked), &blocked, &[1.0], &[0.0]);
    assert_eq!(answer.outcome, RecourseOutcome::Infeasible);
    // The deepest cut is x ≥ 5.
    assert!(close(answer.intercept, 5.0, 1e-5) && close(answer.slope_x[0], -1.0, 1e-5));
}

#[test]
fn linear_certificates() {
    // y in [0, 1] and y ≥ 3 − x
    let problem = Sketch::new(1, 1, &[(1.0, 0.0, 1.0)]).row(&[(0, 1.0)], &[(0, 1.0)], &[], 3.0, INF).problem();
    assert!(close(check_infeasible(&problem, 0.0, 2.5)[0], 1.0, 1e-12));
    check_unbounded(|| Sketch::new(1, 1, &[(-1.0, 0.0, INF)]).row(&[(0, 1.0)], &[], &[], 0.0, INF));
}

#[test]
fn second_order_certificates() {
    let rows: &[(Terms, Terms, Terms, f64)] = &[(&[], &[(0, 1.0)], &[], 1.0), (&[(0, 1.0)], &[], &[], 0.0)];
    let problem = Sketch::new(1, 1, &[(1.0, -INF, INF)]).cone(ConeKind::SecondOrder, rows).problem();
    let pi = check_infeasible(&problem, -1.0, 2.0);
    assert!(pi[1] >= pi[0].abs());
    let rows: &[(Terms, Terms, Terms, f64)] = &[(&[(0, 1.0)], &[], &[], 0.0), (&[(1, 1.0)], &[(0, 1.0)], &[], 0.0)];
    check_unbounded(|| Sketch::new(1, 1, &[(-1.0, -INF, INF), (0.5, -INF, INF)]).cone(ConeKind::SecondOrder, rows));
}

#[test]
fn exponential_certificates() {
    // y ≥ 0 and exp(y) ≤ x − 1
    let rows: &[(Terms, Terms, Terms, f64)] =
        &[(&[(0, 1.0)], &[], &[], 0.0), (&[], &[], &[], -1.0), (&[], &[(0, 1.0)], &[], 1.0)];
    let problem = Sketch::new(1, 1, &[(1.0, 0.0, INF)]).cone(ConeKind::Exponential, rows).problem();
    check_infeasible(&problem, 0.0, 3.0);
    let rows: &[(Terms, Terms, Terms, f64)] =
        &[(&[], &[(0, 1.0)], &[], 0.0), (&[], &[], &[], -1.0), (&[(0, 1.0)], &[], &[], 0.0)];
    check_unbounded(|| Sketch::new(1, 1, &[(-1.0, -INF, INF)]).cone(ConeKind::Exponential, rows));
}

#[test]
fn power_certificates() {
    // y ≤ 1 and y^0.3 ≥ |2 − x|
    let rows: &[(Terms, Terms, Terms, f64)] =
        &[(&[(0, 1.0)], &[], &[], 0.0), (&[], &[], &[], -1.0), (&[], &[(0, -1.0)], &[], -2.0)];
    let problem = Sketch::new(1, 1, &[(1.0, -INF, 1.0)]).cone(ConeKind::Power { alpha: 0.3 }, rows).problem();
    check_infeasible(&problem, 0.0, 1.5);
    check_unbounded(|| Sketch::new(1, 1, &[(-1.0, -INF, INF)]).cone(ConeKind::Power { alpha: 0.3 }, rows));
}

#[cfg(feature = "psd")]
#[test]
fn semidefinite_certificates() {
    // [[y, √½·(2 − x)], [·, 1]] with y ≤ 1
    let rows: &[(Terms, Terms, Terms, f64)] =
        &[(&[(0, 1.0)], &[], &[], 0.0), (&[], &[(0, -1.0)], &[], -2.0), (&[], &[], &[], -1.0)];
    let problem = Sketch::new(1, 1, &[(1.0, -INF, 1.0)]).cone(ConeKind::Semidefinite, rows).problem();
    check_infeasible(&problem, 0.0, 1.5);
    check_unbounded(|| Sketch::new(1, 1, &[(-1.0, -INF, INF)]).cone(ConeKind::Semidefinite, rows));
}

/// Follows feasibility cuts from far outside to the boundary of the feasible x, and solves close to it.
fn check_edge(sketch: Sketch, edge: f64) {
    let problem = sketch.problem();
    let mut engine = fresh(&problem);
    let (mut x, mut cuts) = (-3.0, 0);
    loop {
        let answer = answer_at(&mut engine, &problem, &[x], &[0.0]);
        if answer.outcome == RecourseOutcome::Solved {
            break;
        }
        cuts += 1;
        x = -answer.intercept / answer.slope_x[0];
        assert!(cuts < 8 && x <= edge + 1e-6, "after {cuts} cuts: {x}");
    }
    assert!((x - edge).abs() < 1e-6, "recourse at {x}");
    for (off, outcome) in [
        (1e-3, RecourseOutcome::Solved),
        (1e-9, RecourseOutcome::Solved),
        (0.0, RecourseOutcome::Solved),
        (-1e-5, RecourseOutcome::Infeasible),
    ] {
        assert_eq!(answer_at(&mut engine, &problem, &[edge + off], &[0.0]).outcome, outcome, "{off:e} from the edge");
    }
    // Within the tolerance of the boundary either answer is right, but there must be one.
    for off in [1e-11, -1e-11, -1e-9, -1e-8, -1e-7] {
        answer_at(&mut engine, &problem, &[edge + off], &[0.0]);
    }
}

#[test]
fn feasibility_cuts_lead_to_the_edge_and_it_is_solved_there() {
    check_edge(Sketch::new(1, 1, &[(1.0, 0.0, 1.0)]).row(&[(0, 1.0)], &[(0, 1.0)], &[], 3.0, INF), 2.0);
    check_edge(Sketch::new(1, 1, &[(1.0, 0.0, 1.0)]).row(&[(0, 1.0)], &[(0, 1.0)], &[], 3.0, 3.0), 2.0);
    // y ≤ 0 and ‖(y − 4, x − 4)‖ ≤ 5
    let rows: &[(Terms, Terms, Terms, f64)] =
        &[(&[], &[], &[], -5.0), (&[(0, 1.0)], &[], &[], 4.0), (&[], &[(0, 1.0)], &[], 4.0)];
    check_edge(Sketch::new(1, 1, &[(1.0, -INF, 0.0)]).cone(ConeKind::SecondOrder, rows), 1.0);
    // y ≥ 0 and exp(y) ≤ x − 1
    let rows: &[(Terms, Terms, Terms, f64)] =
        &[(&[(0, 1.0)], &[], &[], 0.0), (&[], &[], &[], -1.0), (&[], &[(0, 1.0)], &[], 1.0)];
    check_edge(Sketch::new(1, 1, &[(1.0, 0.0, INF)]).cone(ConeKind::Exponential, rows), 2.0);
    // y ≤ 1 and y^0.3 ≥ |2 − x|
    let rows: &[(Terms, Terms, Terms, f64)] =
        &[(&[(0, 1.0)], &[], &[], 0.0), (&[], &[], &[], -1.0), (&[], &[(0, -1.0)], &[], -2.0)];
    check_edge(Sketch::new(1, 1, &[(1.0, -INF, 1.0)]).cone(ConeKind::Power { alpha: 0.3 }, rows), 1.0);
}

#[cfg(feature = "psd")]
#[test]
fn feasibility_cuts_lead_to_the_edge_of_a_semidefinite_cone() {
    // y ≤ 1 and [[y, 2 − x], [2 − x, 1]]
    let root = std::f64::consts::SQRT_2;
    let rows: &[(Terms, Terms, Terms, f64)] =
        &[(&[(0, 1.0)], &[], &[], 0.0), (&[], &[(0, -root)], &[], -2.0 * root), (&[], &[], &[], -1.0)];
    check_edge(Sketch::new(1, 1, &[(1.0, -INF, 1.0)]).cone(ConeKind::Semidefinite, rows), 1.0);
}
