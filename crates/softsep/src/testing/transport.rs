//! Transportation problems of any size, for tests that need many more recourse variables than rows.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::definition::{Row, Variable};
use crate::model::ProblemDefinition;
use crate::uncertainty::{SetDefinition, Sides};

/// A random problem of `n` sites and `n` customers: capacity is bought first, then n² flows and an expensive emergency
/// source meet the demands. With `integers` a site has to be opened. The set is a budget set with Γ = n/4.
pub fn transport_problem(n: usize, integers: bool, seed: u64) -> ProblemDefinition {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut draw = |low: i32, high: i32| f64::from(rng.random_range(low..=high));
    let mut file = ProblemDefinition { name: format!("transport {n}, seed {seed}"), ..ProblemDefinition::default() };
    file.uncertainty.parameters = (0..n).map(|j| format!("g{j}")).collect();
    file.uncertainty.set =
        SetDefinition::Budget { budget: n as f64 / 4.0, sides: Sides::One, center: vec![0.0; n], scale: vec![1.0; n] };
    let flow = |i: usize, j: usize| format!("flow{i},{j}");
    for i in 0..n {
        let size = draw(800, 1200);
        file.first_stage.variables.push(Variable::new(format!("capacity{i}"), draw(10, 30)).bounded(0.0, size));
        if integers {
            file.first_stage.variables.push(Variable::binary(format!("open{i}"), draw(300, 400)));
            let mut link = Row::new(format!("link{i}"));
            link.x = vec![(format!("capacity{i}"), 1.0), (format!("open{i}"), -size)];
            link.upper = 0.0;
            file.first_stage.constraints.push(link);
        }
        let mut supply = Row::new(format!("supply{i}"));
        supply.y = (0..n).map(|j| (flow(i, j), -1.0)).collect();
        supply.x = vec![(format!("capacity{i}"), 1.0)];
        supply.lower = 0.0;
        file.recourse.constraints.push(supply);
        file.recourse.variables.extend((0..n).map(|j| Variable::new(flow(i, j), draw(20, 40))));
    }
    for j in 0..n {
        file.recourse.variables.push(Variable::new(format!("emergency{j}"), draw(100, 200)));
        let mut demand = Row::new(format!("demand{j}"));
        demand.y = (0..n).map(|i| (flow(i, j), 1.0)).chain([(format!("emergency{j}"), 1.0)]).collect();
        demand.lower = draw(200, 300);
        demand.xi = vec![(format!("g{j}"), -draw(20, 150))];
        file.recourse.constraints.push(demand);
    }
    file
}
