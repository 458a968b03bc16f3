//! Lemma 1 of the paper: among the optimal duals of a scenario, the engine with `DualChoice::LeastNorm` reports one
//! with the least ‖Eᵀπ‖₁.
#![allow(clippy::unwrap_used, clippy::panic)]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep::definition::{Row, Variable};
use softsep::internals::recourse::Linear;
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

    /// The paper's auxiliary program: the least ‖Eᵀπ‖₁ over π ≥ 0, Gᵀπ ≤ b (y ≥ 0 stands in for slack rows) and
    /// `πᵀ(h − Ex − Uξ) = value`.
    fn least_norm(&self, x: &[f64], xi: &[f64], value: f64) -> f64 {
        let mut model = Model::new();
        let pi: Vec<usize> = (0..ROWS).map(|_| model.add_col(0.0, 0.0, f64::INFINITY)).collect();
        let z: Vec<usize> = (0..DIM_X).map(|_| model.add_col(1.0, 0.0, f64::INFINITY)).collect();
        let along = |of: &dyn Fn(usize) -> f64| -> Vec<(usize, f64)> { pi.iter().map(|&i| (i, of(i))).collect() };
        for (j, cost) in self.b.iter().enumerate() {
            model.add_row(f64::NEG_INFINITY, *cost, &along(&|i| self.g[i][j]));
        }
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        model.add_row(value, value, &along(&|i| self.h[i] - dot(&self.e[i], x) - dot(&self.u[i], xi)));
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
