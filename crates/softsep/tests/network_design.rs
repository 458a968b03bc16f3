//! Network designs of the kinds on which runs once failed: capacities far above the demands, costs of 3e8, a budget
//! that is written as a row with coefficients 1/deviation.
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
    /// Multiple of the centers of all demands.
    demand: f64,
    seed: u64,
}

impl Design {
    /// The problem with its budget set.
    fn problem(&self) -> Problem {
        Problem::new(&self.definition(|budget, center, scale| SetDefinition::Budget {
            budget,
            sides: Sides::One,
            center,
            scale,
        }))
        .unwrap()
    }

    /// The same problem, whose set is a polyhedron: a demand is between its center and that plus its deviation, and the
    /// demands over their deviations sum up to at most the budget plus the sum for the centers.
    fn with_polyhedron(&self) -> Problem {
        Problem::new(&self.definition(|budget, center, scale| {
            let mut row = Row::new("budget");
            row.xi = scale.iter().enumerate().map(|(k, scale)| (format!("demand {k}"), 1.0 / scale)).collect();
            row.upper = budget + center.iter().zip(&scale).map(|(center, scale)| center / scale).sum::<f64>();
            let upper = center.iter().zip(&scale).map(|(center, scale)| center + scale).collect();
            SetDefinition::Polyhedron { lower: center, upper, constraints: vec![row] }
        }))
        .unwrap()
    }

    fn definition(&self, set: impl Fn(f64, Vec<f64>, Vec<f64>) -> SetDefinition) -> ProblemDefinition {
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
            center.push(self.demand * draw(5.0, 15.0));
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
        file.uncertainty.set = set(self.budget, center, scale);
        file
    }
}

/// With costs of 1e5 and capacities of 1e6 cuts have coefficients of 1e11 beside a 1. HiGHS called some relaxations
/// unbounded and failed on others, and the run ended with nothing.
#[test]
fn a_relaxation_that_cannot_be_solved_does_not_end_the_run() {
    for seed in [1, 5] {
        let problem =
            Design { nodes: 5, commodities: 5, budget: 4.0, cost: 1e5, capacity: 1e6, demand: 1.0, seed }.problem();
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

/// The quoted sizes: 8 nodes, 12 commodities, four demands are high. All runs once failed, in ordinary units and with
/// costs of 3e8. No failure could be reproduced; this is the present behaviour.
#[test]
fn designs_of_8_nodes_and_12_commodities_have_bounds_whatever_the_unit_of_costs() {
    let mut bounds = Vec::new();
    for cost in [1.0, 3e8] {
        let problem =
            Design { nodes: 8, commodities: 12, budget: 4.0, cost, capacity: 30.0, demand: 1.0, seed: 1 }.problem();
        let settings = Settings {
            method: "branch-and-cut".parse().unwrap(),
            time_limit: Some(Duration::from_secs(10)),
            ..Settings::default()
        };
        let outcome = solve(&problem, &settings).unwrap();
        assert!(outcome.failure.is_none(), "{cost}: {:?}", outcome.failure);
        bounds.push((outcome.bounds.lower().unwrap() / cost, outcome.bounds.upper().map(|upper| upper / cost)));
    }
    for (lower, _) in &bounds {
        let is_below = |upper: Option<f64>| upper.is_none_or(|upper| *lower <= upper * (1.0 + 1e-6));
        assert!(bounds.iter().all(|(_, upper)| is_below(*upper)), "{bounds:?}");
    }
}

/// A polyhedron with coefficients 1/deviation and a side near 404 once made the programs of the set fail. No failure
/// could be reproduced; this is the present behaviour.
#[test]
fn a_budget_written_as_a_row_with_coefficients_1_over_deviation_has_the_same_optimum() {
    for (commodities, seed) in [(5, 1), (12, 2)] {
        let demand = 404.0 / (2.2 * commodities as f64);
        let design = Design { nodes: 4, commodities, budget: 4.0, cost: 1.0, capacity: 1e4, demand, seed };
        let optima = [design.problem(), design.with_polyhedron()].map(|problem| {
            let settings = Settings { gap: 1e-6, time_limit: Some(Duration::from_secs(30)), ..Settings::default() };
            let outcome = solve(&problem, &settings).unwrap();
            assert!(outcome.failure.is_none(), "{seed}: {:?}", outcome.failure);
            assert_eq!(outcome.status, Status::Optimal, "{seed}: {:?}", outcome.bounds);
            outcome.objective().unwrap()
        });
        assert!((optima[0] - optima[1]).abs() <= 2e-6 * optima[0].abs(), "{seed}: {optima:?}");
    }
}
