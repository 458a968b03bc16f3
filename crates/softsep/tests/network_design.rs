//! Network designs with capacities far above the demands, whose node relaxations HiGHS once failed on.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use softsep::definition::{Row, Variable};
use softsep::uncertainty::{SetDefinition, Sides};
use softsep::{Problem, ProblemDefinition, Settings, Status, solve};

/// A multi-commodity network design: open arcs at a cost, then route the demands, of which at most `budget` are high.
struct Design {
    nodes: usize,
    commodities: usize,
    budget: f64,
    /// Multiple of all costs.
    cost: f64,
    /// Capacity of an open arc.
    capacity: f64,
    seed: u64,
}

impl Design {
    fn problem(&self) -> Problem {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let mut file = ProblemDefinition::default();
        let arcs: Vec<(usize, usize)> =
            (0..self.nodes).flat_map(|i| (0..self.nodes).filter(move |j| *j != i).map(move |j| (i, j))).collect();
        let mut draw = |low: f64, high: f64| rng.random_range(low..high).round();
        for (i, j) in &arcs {
            file.first_stage.variables.push(Variable::binary(format!("open {i} {j}"), self.cost * draw(50.0, 200.0)));
        }
        let ends: Vec<(usize, usize)> = (0..self.commodities)
            .map(|k| (k % self.nodes, (k + 1 + draw(0.0, (self.nodes - 2) as f64) as usize) % self.nodes))
            .collect();
        for (i, j) in &arcs {
            let mut row = Row::new(format!("capacity {i} {j}"));
            row.x = vec![(format!("open {i} {j}"), self.capacity)];
            row.lower = 0.0;
            for k in 0..self.commodities {
                row.y.push((format!("flow {i} {j} {k}"), -1.0));
                file.recourse.variables.push(Variable::new(format!("flow {i} {j} {k}"), self.cost * draw(1.0, 10.0)));
            }
            file.recourse.constraints.push(row);
        }
        let (mut center, mut scale) = (Vec::new(), Vec::new());
        for (k, (from, to)) in ends.iter().enumerate() {
            file.recourse.variables.push(Variable::new(format!("unmet {k}"), self.cost * 200.0));
            file.uncertainty.parameters.push(format!("demand {k}"));
            center.push(draw(5.0, 15.0));
            scale.push(draw(2.0, 8.0));
            for node in 0..self.nodes {
                let mut row = Row::new(format!("balance {node} {k}"));
                for (i, j) in &arcs {
                    let sign = f64::from(*i == node) - f64::from(*j == node);
                    if sign != 0.0 {
                        row.y.push((format!("flow {i} {j} {k}"), sign));
                    }
                }
                let sign = f64::from(*from == node) - f64::from(*to == node);
                if sign != 0.0 {
                    row.y.push((format!("unmet {k}"), sign));
                    row.xi = vec![(format!("demand {k}"), -sign)];
                }
                (row.lower, row.upper) = (0.0, 0.0);
                file.recourse.constraints.push(row);
            }
        }
        file.uncertainty.set = SetDefinition::Budget { budget: self.budget, sides: Sides::One, center, scale };
        Problem::new(&file).unwrap()
    }
}

/// With costs of 1e5 and capacities of 1e6 cuts have coefficients of 1e11 beside a 1. HiGHS called some relaxations
/// unbounded and failed on others, and the run ended with nothing.
#[test]
fn a_relaxation_that_cannot_be_solved_does_not_end_the_run() {
    for seed in [1, 5] {
        let problem = Design { nodes: 5, commodities: 5, budget: 4.0, cost: 1e5, capacity: 1e6, seed }.problem();
        let run = |method: &str| {
            let settings = Settings {
                method: method.parse().unwrap(),
                time_limit: Some(Duration::from_secs(30)),
                ..Settings::default()
            };
            solve(&problem, &settings).unwrap()
        };
        let (tree, ccg) = (run("branch-and-cut"), run("ccg"));
        let (lower, best) = (tree.bounds.lower().unwrap(), tree.bounds.best().unwrap().value);
        let optimum = ccg.bounds.best().unwrap().value;
        assert_eq!(ccg.status, Status::Optimal, "{ccg:?}");
        assert!(lower <= optimum * (1.0 + 1e-6), "{seed}: {lower} is above {optimum}");
        assert!(best >= optimum * (1.0 - 1e-3), "{seed}: {best} is below {optimum}");
    }
}
