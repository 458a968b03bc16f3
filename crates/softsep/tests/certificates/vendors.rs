//! Budget sets whose worst case is known in closed form, however many extreme points they have: each entry of ξ moves
//! the sales of one vendor alone.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep::definition::{Row, Variable};
use softsep::recourse::{Answer, engine};
use softsep::run::Clock;
use softsep::uncertainty::{SetDefinition, Sides};
use softsep::{Problem, ProblemDefinition};

/// Orders x; sells `demand + rise·z`; shortage and leftover stock have their prices. The cost is convex in z, and may
/// rise or fall with it.
struct Vendor {
    price: f64,
    demand: f64,
    rise: f64,
    short: f64,
    left: f64,
}

impl Vendor {
    fn cost(&self, x: f64, z: f64) -> f64 {
        let lack = self.demand + self.rise * z - x;
        (self.short * lack).max(-self.left * lack)
    }
}

/// Vendors, at most `budget` of which sell more than usual.
pub(crate) struct Vendors {
    pub(crate) problem: Problem,
    vendors: Vec<Vendor>,
    budget: f64,
}

impl Vendors {
    pub(crate) fn new(n: usize, gamma: f64, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut vendor = || Vendor {
            price: rng.random_range(1.0..3.0),
            demand: rng.random_range(10.0..20.0),
            rise: rng.random_range(5.0..15.0),
            short: rng.random_range(4.0..9.0),
            left: rng.random_range(0.5..4.0),
        };
        let vendors: Vec<Vendor> = (0..n).map(|_| vendor()).collect();
        let budget = gamma * n as f64;
        let mut file = ProblemDefinition {
            name: format!("{n} vendors, budget {budget}, seed {seed}"),
            ..ProblemDefinition::default()
        };
        let set = SetDefinition::Budget { budget, sides: Sides::One, center: vec![0.0; n], scale: vec![1.0; n] };
        file.uncertainty.set = set;
        for (i, vendor) in vendors.iter().enumerate() {
            file.first_stage.variables.push(Variable::new(format!("x{i}"), vendor.price).bounded(0.0, 50.0));
            file.uncertainty.parameters.push(format!("g{i}"));
            let mut balance = Row::new(format!("balance{i}"));
            for (name, cost, sign) in [("short", vendor.short, 1.0), ("left", vendor.left, -1.0)] {
                file.recourse.variables.push(Variable::new(format!("{name}{i}"), cost));
                balance.y.push((format!("{name}{i}"), sign));
            }
            (balance.x, balance.xi) = (vec![(format!("x{i}"), 1.0)], vec![(format!("g{i}"), -vendor.rise)]);
            (balance.lower, balance.upper) = (vendor.demand, vendor.demand);
            file.recourse.constraints.push(balance);
        }
        Self { problem: Problem::new(&file).unwrap(), vendors, budget }
    }

    /// f(x) plus the worst recourse cost. Extreme points have entries of 0 and 1, and one in between at most: the best
    /// ones are those that gain most.
    pub(crate) fn cost(&self, x: &[f64]) -> f64 {
        let usual: f64 = self.vendors.iter().zip(x).map(|(vendor, x)| vendor.cost(*x, 0.0)).sum();
        let gain = |i: usize, z: f64| (self.vendors[i].cost(x[i], z) - self.vendors[i].cost(x[i], 0.0)).max(0.0);
        let (full, rest) = (self.budget.floor() as usize, self.budget.fract());
        let mut order: Vec<usize> = (0..x.len()).collect();
        order.sort_by(|a, b| gain(*b, 1.0).total_cmp(&gain(*a, 1.0)));
        let with_part = |part: usize| {
            let others = order.iter().filter(|i| **i != part).take(full);
            gain(part, rest) + others.map(|i| gain(*i, 1.0)).sum::<f64>()
        };
        let none: f64 = order.iter().take(full).map(|i| gain(*i, 1.0)).sum();
        let gained = (0..x.len()).map(with_part).fold(none, f64::max);
        self.problem.first.value(x) + usual + gained
    }
}

#[test]
fn the_closed_form_is_the_worst_of_all_extreme_points() {
    for (n, gamma) in [(4, 0.5), (5, 0.3), (6, 0.7), (7, 0.9)] {
        for seed in 0..5 {
            let vendors = Vendors::new(n, gamma, seed);
            let problem = &vendors.problem;
            let mut rng = ChaCha8Rng::seed_from_u64(!seed);
            let x: Vec<f64> = (0..n).map(|_| rng.random_range(5.0..35.0)).collect();
            let mut engine = engine(problem, &Clock::unlimited()).unwrap();
            let mut answer = Answer::new(problem);
            engine.at(&x);
            let points = problem.set.enumerate(10_000).unwrap();
            let costs = points.iter().map(|xi| {
                engine.solve(xi, &mut answer).unwrap();
                problem.first.value(&x) + answer.value
            });
            let worst = costs.fold(f64::NEG_INFINITY, f64::max);
            assert!(
                (worst - vendors.cost(&x)).abs() <= 1e-9 * worst,
                "{}: {worst}, not {}",
                problem.name,
                vendors.cost(&x)
            );
        }
    }
}
