//! Supports, repairs and prices against what they must agree with, on random problems over every kind of set.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::support::{Ground, Support};
use super::*;
use crate::model::Problem;
use crate::run::Clock;
use crate::testing::{Recipe, random_problem};
use crate::uncertainty::{Part, Shape};

const SETS: [&str; 5] = ["box", "l1", "budget", "polyhedron", "ellipsoid"];

fn problem(set: &'static str, seed: u64) -> Problem {
    Problem::new(&random_problem(&Recipe { set, ..Recipe::default() }, seed)).unwrap()
}

fn whole(problem: &Problem) -> Shape {
    problem.set.shape(&Part::whole(problem.set.dim())).unwrap()
}

/// Ends of the set in random directions, and points between two of them.
fn members(problem: &Problem, count: usize, rng: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
    let mut end = || {
        let direction: Vec<f64> = (0..problem.set.dim()).map(|_| rng.random_range(-1.0..1.0)).collect();
        let mut xi = vec![0.0; problem.set.dim()];
        problem.set.support(&direction, &mut xi).unwrap();
        xi
    };
    let ends: Vec<_> = (0..count).map(|_| end()).collect();
    let between = ends.windows(2).map(|pair| pair[0].iter().zip(&pair[1]).map(|(a, b)| a.midpoint(*b)).collect());
    ends.iter().cloned().chain(between).collect()
}

#[test]
fn supports_are_maxima_and_never_below_them() {
    for set in SETS {
        for seed in 0..30 {
            let problem = problem(set, seed);
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let shape = whole(&problem);
            let mut support = Support::new(Ground::Shape(&shape)).unwrap();
            for _ in 0..10 {
                let slope: Vec<f64> = (0..problem.set.dim()).map(|_| rng.random_range(-9.0..9.0)).collect();
                let mut xi = vec![0.0; slope.len()];
                let base: f64 = slope.iter().zip(&support.middle).map(|(slope, middle)| slope * middle).sum();
                let exact = problem.set.support(&slope, &mut xi).unwrap() - base;
                let at_most = support.at_most(&slope, None).unwrap();
                let size = 1.0 + exact.abs();
                assert!(at_most >= exact - 1e-13 * size, "{set} seed {seed}: {at_most} is below {exact}");
                assert!(at_most <= exact + 1e-9 * size, "{set} seed {seed}: {at_most} is above {exact}");
            }
        }
    }
}

#[test]
fn any_share_bounds_a_part_of_an_ellipsoid() {
    for seed in 0..30 {
        let problem = problem("ellipsoid", seed);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut nominal = vec![0.0; problem.set.dim()];
        problem.set.nominal(&mut nominal);
        let mut part = Part { lower: vec![-1e3; nominal.len()], upper: vec![1e3; nominal.len()] };
        part.upper[0] = nominal[0];
        let shape = problem.set.shape(&part).unwrap();
        let mut support = Support::new(Ground::Shape(&shape)).unwrap();
        let mut random = || (0..nominal.len()).map(|_| rng.random_range(-3.0..3.0)).collect::<Vec<f64>>();
        let (slope, share) = (random(), random());
        let at_most = support.at_most(&slope, Some(&share)).unwrap();
        for xi in members(&problem, 200, &mut rng).iter().filter(|xi| xi[0] <= nominal[0]) {
            let value: f64 = (0..xi.len()).map(|entry| slope[entry] * (xi[entry] - support.middle[entry])).sum();
            assert!(value <= at_most + 1e-9, "seed {seed}: {value} at {xi:?} is above {at_most}");
        }
    }
}

/// By how much a policy misses a row, a bound or its own promise at ξ.
fn missed(problem: &Problem, x: &[f64], proved: &Proved, xi: &[f64]) -> f64 {
    let recourse = &problem.recourse;
    let (mut y, mut shift) = (vec![0.0; recourse.dim()], vec![0.0; recourse.rows()]);
    proved.policy.at(xi, &mut y);
    recourse.shift(x, xi, &mut shift);
    let cost: f64 = recourse.cost.iter().zip(&y).map(|(cost, y)| cost * y).sum();
    let mut most = (cost - proved.value) / (1.0 + proved.value.abs());
    for i in 0..recourse.rows() {
        let activity = recourse.g.dot(i, &y) + shift[i];
        let size = 1.0 + activity.abs() + shift[i].abs();
        most = most.max((recourse.row_lower[i] - activity).max(activity - recourse.row_upper[i]) / size);
    }
    for j in 0..recourse.dim() {
        most = most.max((recourse.lower[j] - y[j]).max(y[j] - recourse.upper[j]) / (1.0 + y[j].abs()));
    }
    most
}

#[test]
fn what_a_solver_blurs_is_repaired() {
    let (mut repaired, mut asked) = (0, 0);
    for set in SETS {
        for seed in 0..30 {
            let problem = problem(set, seed);
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let shape = whole(&problem);
            let x: Vec<f64> = problem.first.upper.iter().map(|upper| 0.5 * upper.min(10.0)).collect();
            let full = Dependence::full(&problem);
            let solved = Affine::new(&problem, Region::Shape(&shape), &full, Decision::Fixed(&x))
                .solve(&Clock::unlimited())
                .unwrap();
            if solved.ended != Ended::Optimal {
                continue;
            }
            let mut blurred = solved.policy.clone();
            for slope in blurred.slopes.iter_mut().flatten() {
                slope.1 *= 1.0 + 1e-6 * rng.random_range(-1.0..1.0);
            }
            asked += 1;
            let Some(proved) = Repair::over_shape(&problem, &x, &shape).run(&blurred, &Clock::unlimited()).unwrap()
            else {
                continue;
            };
            repaired += 1;
            assert!(proved.value >= solved.value - 1e-7 * (1.0 + solved.value.abs()), "{set} seed {seed}");
            assert!(proved.value <= solved.value + 1e-4 * (1.0 + solved.value.abs()), "{set} seed {seed}: {proved:?}");
            for proved in [&proved, &Proved { policy: solved.policy, value: solved.value }] {
                for xi in members(&problem, 30, &mut rng) {
                    let missed = missed(&problem, &x, proved, &xi);
                    assert!(missed <= 1e-9, "{set} seed {seed}: missed by {missed:e} at {xi:?}");
                }
            }
        }
    }
    assert!(asked > 60 && 10 * repaired >= 9 * asked, "{repaired} of {asked}");
}

#[test]
fn a_policy_that_grew_until_nothing_pays_is_as_good_as_the_full_one() {
    let mut smaller = 0;
    for set in SETS {
        for seed in 0..20 {
            let problem = problem(set, seed);
            let shape = whole(&problem);
            let x: Vec<f64> = problem.first.upper.iter().map(|upper| 0.5 * upper.min(10.0)).collect();
            let best = |dependence: &Dependence| {
                let program =
                    Affine::new(&problem, Region::Shape(&shape), dependence, Decision::Fixed(&x)).with_prices();
                program.solve(&Clock::unlimited()).unwrap()
            };
            let full = Dependence::full(&problem);
            let goal = best(&full);
            let mut dependence = Dependence::fixed(&problem);
            let mut solved = best(&dependence);
            if goal.ended != Ended::Optimal || solved.ended != Ended::Optimal {
                continue;
            }
            while let Some(moments) = &solved.moments {
                if moments.grow(&problem, &mut dependence, 4) == 0 {
                    break;
                }
                solved = best(&dependence);
            }
            let (grown, all) = (solved.value, goal.value);
            assert!(grown <= all + 1e-5 * (1.0 + all.abs()), "{set} seed {seed}: {grown} where {all} is possible");
            smaller += usize::from(dependence.coefficients() < full.coefficients());
        }
    }
    assert!(smaller > 20, "{smaller}");
}
