//! The conic engine where the answer is known: closed forms and limits. Also helpers for the other tests of the engine.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::*;
use crate::definition::{ConeKind, ScenarioList};
use crate::model::{Cone, FirstStage, Names, RecourseModel, Sparse, Symmetric};
use crate::run::Interrupt;
use crate::uncertainty::{Count, Part, SetError, Shape, StateSpec, States, TooMany, Uncertainty};

pub(super) const INF: f64 = f64::INFINITY;
pub(super) type Terms<'a> = &'a [(usize, f64)];

/// A set that only has a dimension.
#[derive(Debug)]
struct Anywhere(usize);

impl Uncertainty for Anywhere {
    fn kind(&self) -> &'static str {
        "anywhere"
    }
    fn dim(&self) -> usize {
        self.0
    }
    fn contains(&self, _: &[f64], _: f64) -> bool {
        true
    }
    fn support(&self, _: &[f64], _: &mut [f64]) -> Result<f64, SetError> {
        Err(SetError("unbounded".to_owned()))
    }
    fn nominal(&self, xi: &mut [f64]) {
        xi.fill(0.0);
    }
    fn extremes(&self) -> Count {
        Count::Exactly(0)
    }
    fn enumerate(&self, limit: usize) -> Result<std::borrow::Cow<'_, ScenarioList>, TooMany> {
        Err(TooMany { count: self.extremes(), limit })
    }
    fn shape(&self, _part: &Part) -> Option<Shape> {
        None
    }
    fn states(&self, _spec: &StateSpec) -> Result<Box<dyn States + '_>, SetError> {
        Err(SetError("unbounded".to_owned()))
    }
}

/// Builder of a recourse model.
pub(super) struct Sketch(RecourseModel);

impl Sketch {
    pub(super) fn new(x: usize, xi: usize, cols: &[(f64, f64, f64)]) -> Self {
        let mut cost_xi = Sparse::new(xi);
        cols.iter().for_each(|_| cost_xi.push_row([]));
        Self(RecourseModel {
            cost: cols.iter().map(|col| col.0).collect(),
            cost_xi,
            quadratic: Symmetric::default(),
            lower: cols.iter().map(|col| col.1).collect(),
            upper: cols.iter().map(|col| col.2).collect(),
            g: Sparse::new(cols.len()),
            e: Sparse::new(x),
            u: Sparse::new(xi),
            row_lower: Vec::new(),
            row_upper: Vec::new(),
            offset: Vec::new(),
            cones: Vec::new(),
            row_scale: Vec::new(),
        })
    }

    pub(super) fn quadratic(mut self, i: usize, j: usize, value: f64) -> Self {
        self.0.quadratic.push(i, j, value);
        self
    }

    pub(super) fn costs_move(mut self, by: &[Terms]) -> Self {
        self.0.cost_xi = Sparse::new(self.0.cost_xi.cols());
        by.iter().for_each(|terms| self.0.cost_xi.push_row(terms.iter().copied()));
        self
    }

    fn push(&mut self, y: Terms, x: Terms, xi: Terms, lower: f64, upper: f64, offset: f64) -> usize {
        self.0.g.push_row(y.iter().copied());
        self.0.e.push_row(x.iter().copied());
        self.0.u.push_row(xi.iter().copied());
        self.0.row_lower.push(lower);
        self.0.row_upper.push(upper);
        self.0.offset.push(offset);
        self.0.rows() - 1
    }

    pub(super) fn row(mut self, y: Terms, x: Terms, xi: Terms, lower: f64, upper: f64) -> Self {
        self.push(y, x, xi, lower, upper, 0.0);
        self
    }

    /// Adds a cone whose rows are in the model in reverse order.
    pub(super) fn cone(mut self, kind: ConeKind, rows: &[(Terms, Terms, Terms, f64)]) -> Self {
        let mut indices: Vec<usize> =
            rows.iter().rev().map(|&(y, x, xi, offset)| self.push(y, x, xi, -INF, INF, offset)).collect();
        indices.reverse();
        self.0.cones.push(Cone { kind, rows: indices });
        self
    }

    pub(super) fn problem(self) -> Problem {
        let (x, xi) = (self.0.e.cols(), self.0.u.cols());
        let first = FirstStage {
            cost: vec![0.0; x],
            constant: 0.0,
            quadratic: Symmetric::default(),
            lower: vec![-INF; x],
            upper: vec![INF; x],
            kind: vec![Default::default(); x],
            rows: Sparse::new(x),
            row_lower: Vec::new(),
            row_upper: Vec::new(),
            row_scale: Vec::new(),
        };
        let names =
            Names { recourse_rows: (0..self.0.rows()).map(|row| format!("r{row}")).collect(), ..Names::default() };
        let set = std::sync::Arc::new(Anywhere(xi));
        Problem { name: String::new(), first, set, recourse: self.0, names, engine: None }
    }
}

pub(super) fn answer_at(engine: &mut Conic, problem: &Problem, x: &[f64], xi: &[f64]) -> Answer {
    let mut answer = Answer::new(problem);
    engine.at(x);
    engine.solve(xi, &mut answer).unwrap();
    answer
}

pub(super) fn fresh(problem: &Problem) -> Conic {
    Conic::new(problem, &Clock::unlimited()).unwrap()
}

pub(super) fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * b.abs().max(1.0)
}

pub(super) fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Checks value, slopes and cut at (x, ξ), and that the cut bounds `q(x', ξ)` from below on a grid around x.
fn check(problem: &Problem, x: f64, xi: f64, q: impl Fn(f64, f64) -> f64, slope_x: f64, slope_xi: f64) {
    let answer = answer_at(&mut fresh(problem), problem, &[x], &[xi]);
    assert_eq!(answer.outcome, RecourseOutcome::Solved);
    assert!(close(answer.value, q(x, xi), 1e-7), "{} is not {}", answer.value, q(x, xi));
    assert!(close(answer.slope_x[0], slope_x, 1e-4), "slope in x: {} is not {slope_x}", answer.slope_x[0]);
    assert!(close(answer.slope_xi[0], slope_xi, 1e-4), "slope in ξ: {} is not {slope_xi}", answer.slope_xi[0]);
    assert!(close(answer.value, answer.intercept + answer.slope_x[0] * x, 1e-13));
    for step in -20..=20 {
        let there = x + 0.1 * f64::from(step);
        let bound = answer.intercept + answer.slope_x[0] * there;
        assert!(bound <= q(there, xi) + 1e-7 * q(there, xi).abs().max(1.0), "the cut is {bound} at {there}");
    }
}

const FREE: (f64, f64, f64) = (1.0, -INF, INF);

#[test]
fn second_order_cone() {
    // y ≥ ‖(x + ξ − 1, 3)‖
    let rows: &[(Terms, Terms, Terms, f64)] =
        &[(&[(0, 1.0)], &[], &[], 0.0), (&[], &[(0, 1.0)], &[(0, 1.0)], 1.0), (&[], &[], &[], -3.0)];
    let problem = Sketch::new(1, 1, &[FREE]).cone(ConeKind::SecondOrder, rows).problem();
    let q = |x: f64, xi: f64| (x + xi - 1.0).hypot(3.0);
    check(&problem, 2.0, 3.0, q, 0.8, 0.8);
    check(&problem, -2.0, -1.0, q, -0.8, -0.8);
}

#[test]
fn exponential_cone() {
    // y ≥ exp(x + 2ξ) as (x + 2ξ, 1, y)
    let rows: &[(Terms, Terms, Terms, f64)] =
        &[(&[], &[(0, 1.0)], &[(0, 2.0)], 0.0), (&[], &[], &[], -1.0), (&[(0, 1.0)], &[], &[], 0.0)];
    let problem = Sketch::new(1, 1, &[FREE]).cone(ConeKind::Exponential, rows).problem();
    let q = |x: f64, xi: f64| (x + 2.0 * xi).exp();
    check(&problem, 0.5, 0.25, q, 1.0_f64.exp(), 2.0 * 1.0_f64.exp());
    check(&problem, -1.0, 0.0, q, (-1.0_f64).exp(), 2.0 * (-1.0_f64).exp());
}

#[test]
fn power_cone() {
    // y^0.4 ≥ |x − ξ| as (y, 1, x − ξ)
    let rows: &[(Terms, Terms, Terms, f64)] =
        &[(&[(0, 1.0)], &[], &[], 0.0), (&[], &[], &[], -1.0), (&[], &[(0, 1.0)], &[(0, -1.0)], 0.0)];
    let problem = Sketch::new(1, 1, &[FREE]).cone(ConeKind::Power { alpha: 0.4 }, rows).problem();
    let q = |x: f64, xi: f64| (x - xi).abs().powf(2.5);
    check(&problem, 3.0, 1.0, q, 2.5 * 2.0_f64.powf(1.5), -2.5 * 2.0_f64.powf(1.5));
    check(&problem, -1.0, 0.5, q, -2.5 * 1.5_f64.powf(1.5), 2.5 * 1.5_f64.powf(1.5));
}

#[cfg(feature = "psd")]
#[test]
fn semidefinite_cone_in_the_scaled_upper_triangle_by_columns() {
    // The largest eigenvalue of [[1, 0, x], [0, −2, 0], [x, 0, ξ]]: y·I − M is positive semidefinite.
    let y: Terms = &[(0, 1.0)];
    let root = std::f64::consts::SQRT_2;
    let rows: &[(Terms, Terms, Terms, f64)] = &[
        (y, &[], &[], 1.0),
        (&[], &[], &[], 0.0),
        (y, &[], &[], -2.0),
        (&[], &[(0, -root)], &[], 0.0),
        (&[], &[], &[], 0.0),
        (y, &[], &[(0, -1.0)], 0.0),
    ];
    let problem = Sketch::new(1, 1, &[FREE]).cone(ConeKind::Semidefinite, rows).problem();
    let spread = |x: f64, xi: f64| ((1.0 - xi) / 2.0).hypot(x);
    let q = |x: f64, xi: f64| (1.0 + xi) / 2.0 + spread(x, xi);
    let slope_xi = |x: f64, xi: f64| 0.5 - (1.0 - xi) / 4.0 / spread(x, xi);
    for (x, xi) in [(2.0, 4.0), (-0.7, 0.3)] {
        check(&problem, x, xi, q, x / spread(x, xi), slope_xi(x, xi));
    }
}

#[cfg(not(feature = "psd"))]
#[test]
fn semidefinite_cones_are_refused_by_name() {
    let problem = Sketch::new(1, 1, &[FREE]).cone(ConeKind::Semidefinite, &[(&[(0, 1.0)], &[], &[], 0.0)]).problem();
    let refusal = Conic::new(&problem, &Clock::unlimited()).unwrap_err();
    assert!(matches!(&refusal, RecourseError::Unsupported(why) if why.contains("psd") && why.contains("r0")));
}

#[test]
fn malformed_cones_are_refused_by_name() {
    let problem = Sketch::new(1, 1, &[FREE]).cone(ConeKind::Exponential, &[(&[(0, 1.0)], &[], &[], 0.0)]).problem();
    let refusal = Conic::new(&problem, &Clock::unlimited()).unwrap_err();
    assert!(
        matches!(&refusal, RecourseError::Unsupported(why) if why.contains("exp") && why.contains("r0")),
        "{refusal}"
    );
}

#[test]
fn quadratic_and_moving_costs() {
    // (ξ − 4)y + y² over y ≤ x: y = min(x, 2 − ξ/2).
    let problem = Sketch::new(1, 1, &[(-4.0, -INF, INF)])
        .quadratic(0, 0, 2.0)
        .costs_move(&[&[(0, 1.0)]])
        .row(&[(0, 1.0)], &[(0, -1.0)], &[], -INF, 0.0)
        .problem();
    let best = |x: f64, xi: f64| x.min(2.0 - xi / 2.0);
    let q = |x: f64, xi: f64| (xi - 4.0) * best(x, xi) + best(x, xi).powi(2);
    check(&problem, 1.0, 1.0, q, -1.0, 1.0);
    check(&problem, 3.0, 1.0, q, 0.0, 1.5);
}

#[test]
fn far_bounds_do_not_weaken_the_bound() {
    // Upper bounds of 1e9 that are never active: a multiplier of rounding size, evaluated there, would exceed the gap
    // that is allowed.
    let problem = Sketch::new(1, 1, &[(1.0, 0.0, 1e9), (3.0, 0.0, 1e9)])
        .row(&[(0, 1.0), (1, 1.0)], &[(0, -1.0)], &[(0, -1.0)], 0.0, INF)
        .row(&[(0, 1.0)], &[], &[], -INF, 5.0)
        .problem();
    let mut engine = fresh(&problem);
    let answer = answer_at(&mut engine, &problem, &[4.0], &[3.0]);
    assert!(close(answer.value, 11.0, 1e-7) && close(answer.slope_x[0], 3.0, 1e-6));
    assert_eq!(engine.work().recovered, 0);
    assert_eq!(engine.work().solves, 1);
    assert!(engine.work().iterations > 0);
}

#[test]
fn recourse_without_rows_is_solved() {
    let problem = Sketch::new(1, 1, &[(-2.0, -INF, INF)]).quadratic(0, 0, 1.0).problem();
    assert!(close(answer_at(&mut fresh(&problem), &problem, &[1.0], &[1.0]).value, -2.0, 1e-8));
}

#[test]
fn limits_stop_a_solve() {
    let problem = Sketch::new(1, 1, &[FREE]).row(&[(0, 1.0)], &[], &[], 0.0, INF).problem();
    let interrupt = Arc::new(AtomicBool::new(true));
    let clocks = [
        (Clock::new(Some(Duration::from_nanos(1)), Arc::default()), Interrupt::TimeLimit),
        (Clock::new(None, interrupt), Interrupt::Interrupted),
    ];
    for (clock, stop) in clocks {
        let mut engine = Conic::new(&problem, &clock).unwrap();
        engine.at(&[0.0]);
        assert_eq!(engine.solve(&[0.0], &mut Answer::new(&problem)), Err(RecourseError::Interrupted(stop)));
        assert_eq!(engine.work().solves, 0);
    }
}

#[test]
fn a_conic_program_is_solved_on_its_own() {
    let program = |least: f64, cost: f64| {
        let mut program = ConicProgram::new(10.0);
        let (a, b) = (program.add_col(cost, 0.0, INF), program.add_col(2.0, 0.0, 4.0));
        program.add_quadratic(b, b, 2.0);
        program.add_row(least, 7.0, [(b, 1.0)]);
        program
            .add_cone(ConeKind::SecondOrder, [(vec![(a, 1.0)], 0.0), (vec![(b, 1.0)], 0.0), (vec![], -4.0)])
            .unwrap();
        program.solve(&Clock::unlimited()).unwrap()
    };
    // a = 5, b = 3 costs 5 + 6 + 9 + 10.
    let solved = program(3.0, 1.0);
    assert_eq!(solved.status, ConicStatus::Solved);
    assert!(close(solved.dual_objective, 30.0, 1e-7));
    assert!(close(solved.primal[0], 5.0, 1e-6) && close(solved.primal[1], 3.0, 1e-6));
    assert!(close(solved.row_duals[0], 8.6, 1e-5));
    let infeasible = program(5.0, 1.0);
    assert_eq!(infeasible.status, ConicStatus::Infeasible);
    assert_eq!(infeasible.dual_objective, INF);
    assert!(close(infeasible.row_duals[0], 1.0, 1e-9));
    let unbounded = program(3.0, -1.0);
    assert_eq!((unbounded.status, unbounded.dual_objective), (ConicStatus::Unbounded, -INF));
    assert!(close(unbounded.primal[0], 1.0, 1e-9) && unbounded.primal[1].abs() < 1e-5);
}
