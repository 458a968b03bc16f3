//! Lemma 1 of the paper: among the optimal duals of a scenario, the engine with `DualChoice::LeastNorm` reports one
//! with the least ‖Eᵀπ‖₁. Lemma EC.1: for quadratic and conic recourse it is the one with the least ‖π‖.
#![allow(clippy::unwrap_used, clippy::panic)]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep::definition::{ConeDefinition, ConeKind, Row, Variable};
use softsep::internals::recourse::{Conic, Linear};
use softsep::recourse::{Answer, DualChoice, Recourse};
use softsep::run::Clock;
use softsep::uncertainty::SetDefinition;
use softsep::{Problem, ProblemDefinition};
use softsep_lp::{Lp, Model, Status};

/// `min bᵀy` over `Gy + Ex + Uξ ≥ h, y ≥ 0` with small integers, so that ties are frequent. The last columns of G are
/// those of the identity, at a cost of 9: there is recourse for every (x, ξ).
struct Instance {
    b: Vec<f64>,
    g: Vec<Vec<f64>>,
    e: Vec<Vec<f64>>,
    u: Vec<Vec<f64>>,
    h: Vec<f64>,
}

const ROWS: usize = 4;
const DIM_X: usize = 3;
const DIM_XI: usize = 2;

impl Instance {
    fn random(rng: &mut ChaCha8Rng) -> Self {
        let mut integers = |count: usize, low: i32, high: i32| -> Vec<f64> {
            (0..count).map(|_| f64::from(rng.random_range(low..=high))).collect()
        };
        let mut b = integers(3, 1, 5);
        b.extend([9.0; ROWS]);
        let mut g: Vec<Vec<f64>> = (0..ROWS).map(|_| integers(3, -1, 2)).collect();
        for (i, row) in g.iter_mut().enumerate() {
            row.extend((0..ROWS).map(|j| f64::from(u8::from(i == j))));
        }
        let e = (0..ROWS).map(|_| integers(DIM_X, -1, 2)).collect();
        let u = (0..ROWS).map(|_| integers(DIM_XI, -1, 1)).collect();
        Self { b, g, e, u, h: integers(ROWS, -1, 3) }
    }

    fn problem(&self) -> Problem {
        let terms = |name: &str, values: &[f64]| -> Vec<(String, f64)> {
            values.iter().enumerate().map(|(j, value)| (format!("{name}{j}"), *value)).collect()
        };
        let mut file = ProblemDefinition::default();
        file.first_stage.variables =
            (0..DIM_X).map(|j| Variable::new(format!("x{j}"), 0.0).bounded(-2.0, 2.0)).collect();
        file.uncertainty.parameters = (0..DIM_XI).map(|j| format!("xi{j}")).collect();
        file.uncertainty.set = SetDefinition::Box { lower: vec![-2.0; DIM_XI], upper: vec![2.0; DIM_XI] };
        file.recourse.variables =
            self.b.iter().enumerate().map(|(j, &cost)| Variable::new(format!("y{j}"), cost)).collect();
        for i in 0..ROWS {
            let mut row = Row::new(format!("row{i}"));
            (row.y, row.x, row.xi) = (terms("y", &self.g[i]), terms("x", &self.e[i]), terms("xi", &self.u[i]));
            row.lower = self.h[i];
            file.recourse.constraints.push(row);
        }
        Problem::new(&file).unwrap_or_else(|complaints| panic!("{complaints}"))
    }

    /// The optimal duals, in the columns 0, 1, … of a program: π ≥ 0, Gᵀπ ≤ b (y ≥ 0 stands in for slack rows) and
    /// `πᵀ(h − Ex − Uξ) = value`. Their costs are given.
    fn optimal_duals(&self, costs: &[f64], x: &[f64], xi: &[f64], value: f64) -> Model {
        let mut model = Model::new();
        let pi: Vec<usize> = costs.iter().map(|cost| model.add_col(*cost, 0.0, f64::INFINITY)).collect();
        let along = |of: &dyn Fn(usize) -> f64| -> Vec<(usize, f64)> { pi.iter().map(|&i| (i, of(i))).collect() };
        for (j, cost) in self.b.iter().enumerate() {
            model.add_row(f64::NEG_INFINITY, *cost, &along(&|i| self.g[i][j]));
        }
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        model.add_row(value, value, &along(&|i| self.h[i] - dot(&self.e[i], x) - dot(&self.u[i], xi)));
        model
    }

    /// The paper's auxiliary program: the least ‖Eᵀπ‖₁ over the optimal duals.
    fn least_norm(&self, x: &[f64], xi: &[f64], value: f64) -> f64 {
        let mut model = self.optimal_duals(&[0.0; ROWS], x, xi, value);
        let z: Vec<usize> = (0..DIM_X).map(|_| model.add_col(1.0, 0.0, f64::INFINITY)).collect();
        let along = |of: &dyn Fn(usize) -> f64| -> Vec<(usize, f64)> { (0..ROWS).map(|i| (i, of(i))).collect() };
        for (j, &z) in z.iter().enumerate() {
            for sign in [1.0, -1.0] {
                let mut terms = along(&|i| sign * self.e[i][j]);
                terms.push((z, -1.0));
                model.add_row(f64::NEG_INFINITY, 0.0, &terms);
            }
        }
        let mut lp = Lp::new(&model).unwrap();
        assert_eq!(lp.solve().unwrap(), Status::Optimal);
        lp.objective()
    }
}

fn norm_1(values: &[f64]) -> f64 {
    values.iter().map(|value| value.abs()).sum()
}

/// At x and ξ of integers, where duals tie, against the paper's program. The solver's own choice is often longer.
#[test]
fn the_selected_dual_has_the_least_slope() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let (mut solved, mut longer) = (0, 0);
    for round in 0..60 {
        let instance = Instance::random(&mut rng);
        let problem = instance.problem();
        let mut least = Linear::new(&problem, &Clock::unlimited()).unwrap().with_dual(DualChoice::LeastNorm).unwrap();
        let mut any = Linear::new(&problem, &Clock::unlimited()).unwrap();
        for _ in 0..5 {
            let mut integers =
                |count: usize| -> Vec<f64> { (0..count).map(|_| f64::from(rng.random_range(-2..=2))).collect() };
            let (x, xi) = (integers(DIM_X), integers(DIM_XI));
            let [selected, usual] = [&mut least, &mut any].map(|engine| {
                let mut answer = Answer::new(&problem);
                engine.at(&x);
                engine.solve(&xi, &mut answer).unwrap();
                answer
            });
            assert!((selected.value - usual.value).abs() <= 1e-6, "round {round}: one value, whatever the dual");
            let (found, wanted) = (norm_1(&selected.slope_x), instance.least_norm(&x, &xi, usual.value));
            assert!((found - wanted).abs() <= 1e-5 * (1.0 + wanted), "round {round}: ‖Eᵀπ‖₁ is {found}, not {wanted}");
            solved += 1;
            longer += u32::from(norm_1(&usual.slope_x) > wanted + 1e-3);
        }
    }
    assert!(solved == 300 && longer > 20, "{longer} of {solved} duals of the solver were longer");
}

/// The selected slope is a function of (x, ξ), as measurability needs: after other solves it is that of a new engine.
/// The solver's own choice is not, where duals tie.
#[test]
fn the_selected_slope_does_not_depend_on_earlier_solves() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let [mut selected, mut usual] = [0; 2];
    for _ in 0..60 {
        let instance = Instance::random(&mut rng);
        let problem = instance.problem();
        let new = |dual| Linear::new(&problem, &Clock::unlimited()).unwrap().with_dual(dual).unwrap();
        let mut old = [DualChoice::LeastNorm, DualChoice::Any].map(new);
        for _ in 0..8 {
            let mut integers =
                |count: usize| -> Vec<f64> { (0..count).map(|_| f64::from(rng.random_range(-2..=2))).collect() };
            let (x, xi) = (integers(DIM_X), integers(DIM_XI));
            let slope = |engine: &mut Linear| {
                let mut answer = Answer::new(&problem);
                engine.at(&x);
                engine.solve(&xi, &mut answer).unwrap();
                answer.slope_x
            };
            let apart = |a: &[f64], b: &[f64]| a.iter().zip(b).any(|(a, b)| (a - b).abs() > 1e-6);
            let [least, any] = &mut old;
            let (found, wanted) = (slope(least), slope(&mut new(DualChoice::LeastNorm)));
            selected += u32::from(apart(&found, &wanted));
            usual += u32::from(apart(&slope(any), &slope(&mut new(DualChoice::Any))));
        }
    }
    assert!(selected == 0 && usual > 5, "{selected} of 480 selected slopes depend on the past, {usual} of the others");
}

/// Q(x) = max(1 − x, 1 − x/2, 1) at x = 0: every convex combination of the three slopes is a subgradient, and zero is
/// the shortest.
#[test]
fn a_kink_known_by_hand() {
    let mut file = ProblemDefinition::default();
    file.first_stage.variables.push(Variable::new("x", 0.0).bounded(-1.0, 1.0));
    file.recourse.variables.push(Variable::new("y", 1.0));
    for (name, slope) in [("steep", 1.0), ("less", 0.5), ("level", 0.0)] {
        let mut row = Row { y: vec![("y".into(), 1.0)], lower: 1.0, ..Row::new(name) };
        row.x = vec![("x".into(), slope)];
        file.recourse.constraints.push(row);
    }
    let problem = Problem::new(&file).unwrap();
    let mut engine = Linear::new(&problem, &Clock::unlimited()).unwrap().with_dual(DualChoice::LeastNorm).unwrap();
    let mut answer = Answer::new(&problem);
    for (x, value, slope) in [(0.0, 1.0, 0.0), (-0.5, 1.5, -1.0), (0.5, 1.0, 0.0)] {
        engine.at(&[x]);
        engine.solve(&[], &mut answer).unwrap();
        assert_eq!((answer.value, answer.slope_x[0] + 0.0), (value, slope), "at {x}");
    }
}

/// π has the least norm among the optimal duals exactly where πᵀv ≥ ‖π‖² for all of them, which a linear program
/// decides. The interior-point method's own dual is often longer.
#[test]
fn the_dual_of_the_interior_point_method_has_the_least_norm() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let (mut solved, mut longer, mut unselected) = (0, 0, 0);
    for round in 0..40 {
        let instance = Instance::random(&mut rng);
        let problem = instance.problem();
        let new = || Conic::new(&problem, &Clock::unlimited()).unwrap();
        let (mut least, mut any) = (new().with_dual(DualChoice::LeastNorm), new());
        for _ in 0..4 {
            let mut integers =
                |count: usize| -> Vec<f64> { (0..count).map(|_| f64::from(rng.random_range(-2..=2))).collect() };
            let (x, xi) = (integers(DIM_X), integers(DIM_XI));
            let [(pi, value), (usual, same)] = [&mut least, &mut any].map(|engine| {
                let (mut answer, mut pi) = (Answer::new(&problem), vec![0.0; ROWS]);
                engine.at(&x);
                engine.solve(&xi, &mut answer).unwrap();
                engine.dual(&mut pi);
                // Rows are scaled inside.
                pi.iter_mut().zip(&problem.recourse.row_scale).for_each(|(pi, scale)| *pi *= scale);
                (pi, answer.value)
            });
            assert!((value - same).abs() <= 1e-6, "round {round}: one value, whatever the dual");
            let square: f64 = pi.iter().map(|pi| pi * pi).sum();
            // The simplex method knows the value to the digits that an equation needs.
            let mut exact = Answer::new(&problem);
            let mut simplex = Linear::new(&problem, &Clock::unlimited()).unwrap();
            simplex.at(&x);
            simplex.solve(&xi, &mut exact).unwrap();
            let value = exact.value;
            let mut lp = Lp::new(&instance.optimal_duals(&pi, &x, &xi, value)).unwrap();
            assert_eq!(lp.solve().unwrap(), Status::Optimal, "round {round}");
            assert!(lp.objective() >= square - 1e-4 * (1.0 + square), "round {round}: {} {square}", lp.objective());
            solved += 1;
            longer += u32::from(usual.iter().map(|pi| pi * pi).sum::<f64>() > square + 1e-2);
        }
        unselected += least.work().unselected;
    }
    assert!(solved == 160 && longer > 20, "{longer} of {solved} duals of the solver were longer");
    assert!(unselected <= 3, "{unselected} of {solved} duals could not be selected");
}

/// The slope and the value of an engine with the dual of Lemma EC.1 at x, which must have been selected.
fn selected(file: &ProblemDefinition, x: f64) -> (f64, f64) {
    let problem = Problem::new(file).unwrap_or_else(|complaints| panic!("{complaints}"));
    let mut engine = Conic::new(&problem, &Clock::unlimited()).unwrap().with_dual(DualChoice::LeastNorm);
    let mut answer = Answer::new(&problem);
    engine.at(&[x]);
    engine.solve(&[], &mut answer).unwrap();
    assert_eq!(engine.work().unselected, 0);
    (answer.slope_x[0], answer.value)
}

fn with_one_y(rows: &[(f64, f64, f64)]) -> ProblemDefinition {
    let mut file = ProblemDefinition::default();
    file.first_stage.variables.push(Variable::new("x", 0.0).bounded(-2.0, 2.0));
    file.recourse.variables.push(Variable::new("y", 1.0).bounded(f64::NEG_INFINITY, f64::INFINITY));
    for (k, (y, x, lower)) in rows.iter().enumerate() {
        let mut row = Row { lower: *lower, ..Row::new(format!("row{k}")) };
        (row.y, row.x) = (vec![("y".into(), *y)], vec![("x".into(), *x)]);
        row.x.retain(|term| term.1 != 0.0);
        row.y.retain(|term| term.1 != 0.0);
        file.recourse.constraints.push(row);
    }
    file
}

/// 2y + 2x ≥ 2 and y ≥ 1 at x = 0: the optimal duals are 2π₁ + π₂ = 1, of which (2/5, 1/5) is the shortest. Its slope
/// is −2·2/5; that of the analytic centre (1/4, 1/2) would be −1/2. The quadratic cost ½y² has the same gradient at
/// y = 1.
#[test]
fn least_norms_at_kinks_of_linear_and_quadratic_recourse_known_by_hand() {
    let linear = with_one_y(&[(2.0, 2.0, 2.0), (1.0, 0.0, 1.0)]);
    let mut quadratic = linear.clone();
    quadratic.recourse.variables[0].cost = 0.0;
    quadratic.recourse.quadratic.push(("y".into(), "y".into(), 1.0));
    for (file, value) in [(&linear, 1.0), (&quadratic, 0.5)] {
        let (slope, found) = selected(file, 0.0);
        assert!((slope + 0.8).abs() < 1e-5 && (found - value).abs() < 1e-6, "{slope}, {found}");
    }
    assert!((selected(&linear, -1.0).0 + 1.0).abs() < 1e-5, "a single row holds");
}

/// y ≥ 2x and (y, x) in the second-order cone at x = 0: π + z₀ = 1 and |z₁| ≤ z₀, of which π = z₀ = ½, z₁ = 0 is the
/// shortest. Its slope is 2·½; that of the analytic centre π = 1/3 would be 2/3.
#[test]
fn the_least_norm_at_the_tip_of_a_cone_known_by_hand() {
    let inf = f64::INFINITY;
    let mut file = with_one_y(&[(1.0, -2.0, 0.0), (1.0, 0.0, -inf), (0.0, 1.0, -inf)]);
    let rows = vec!["row1".into(), "row2".into()];
    file.recourse.cones.push(ConeDefinition { kind: ConeKind::SecondOrder, rows });
    let (slope, value) = selected(&file, 0.0);
    assert!((slope - 1.0).abs() < 1e-5 && value.abs() < 1e-6, "{slope}, {value}");
}

/// Where a cone is smooth its dual is unique: y ≥ exp(x), and √(y·1) ≥ |x|.
#[test]
fn a_unique_dual_stays_in_the_dual_cones() {
    let inf = f64::INFINITY;
    let mut exponential = with_one_y(&[(0.0, 1.0, -inf), (0.0, 0.0, -inf), (1.0, 0.0, -inf)]);
    let mut power = with_one_y(&[(1.0, 0.0, -inf), (0.0, 0.0, -inf), (0.0, 1.0, -inf)]);
    for (file, kind) in [(&mut exponential, ConeKind::Exponential), (&mut power, ConeKind::Power { alpha: 0.5 })] {
        let rows = vec!["row0".into(), "row1".into(), "row2".into()];
        file.recourse.cones.push(ConeDefinition { kind, rows });
        // The constant 1 of the second row.
        file.recourse.constraints[1].offset = Some(-1.0);
    }
    for x in [-1.0, 0.3, 1.5_f64] {
        let (slope, value) = selected(&exponential, x);
        assert!((slope - x.exp()).abs() < 1e-3 && (value - x.exp()).abs() < 1e-5, "{x}: {slope}, {value}");
        let (slope, value) = selected(&power, x);
        assert!((slope - 2.0 * x).abs() < 1e-3 && (value - x * x).abs() < 1e-5, "{x}: {slope}, {value}");
    }
}
