//! Support bounds, repairs and reduced measures against exact values, on random problems over every kind of set.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::support::{SupportBounds, SupportRegion};
use super::*;
use crate::model::Problem;
use crate::run::Clock;
use crate::testing::{Recipe, random_problem};
use crate::uncertainty::{Part, Shape};

const SETS: [&str; 5] = ["box", "l1", "budget", "polyhedron", "ellipsoid"];

fn problem(set: &'static str, seed: u64) -> Problem {
    Problem::new(&random_problem(&Recipe { set, ..Recipe::default() }, seed)).unwrap()
}

fn entire_shape(problem: &Problem) -> Shape {
    problem.set.shape(&Part::whole(problem.set.dim())).unwrap()
}

/// Maximisers in random directions, and midpoints of pairs of them.
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
fn support_bounds_are_tight_and_never_below_the_maximum() {
    for set in SETS {
        for seed in 0..30 {
            let problem = problem(set, seed);
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let shape = entire_shape(&problem);
            let mut support = SupportBounds::new(SupportRegion::Shape(&shape)).unwrap();
            for _ in 0..10 {
                let slope: Vec<f64> = (0..problem.set.dim()).map(|_| rng.random_range(-9.0..9.0)).collect();
                let mut xi = vec![0.0; slope.len()];
                let base: f64 = slope.iter().zip(&support.reference_point).map(|(slope, middle)| slope * middle).sum();
                let exact = problem.set.support(&slope, &mut xi).unwrap() - base;
                let upper = support.upper_bound(&slope, None).unwrap();
                let size = 1.0 + exact.abs();
                assert!(upper >= exact - 1e-13 * size, "{set} seed {seed}: {upper} is below {exact}");
                assert!(upper <= exact + 1e-9 * size, "{set} seed {seed}: {upper} is above {exact}");
            }
        }
    }
}

#[test]
fn any_share_gives_a_valid_bound_over_a_part_of_an_ellipsoid() {
    for seed in 0..30 {
        let problem = problem("ellipsoid", seed);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut nominal = vec![0.0; problem.set.dim()];
        problem.set.nominal(&mut nominal);
        let mut part = Part { lower: vec![-1e3; nominal.len()], upper: vec![1e3; nominal.len()] };
        part.upper[0] = nominal[0];
        let shape = problem.set.shape(&part).unwrap();
        let mut support = SupportBounds::new(SupportRegion::Shape(&shape)).unwrap();
        let mut random = || (0..nominal.len()).map(|_| rng.random_range(-3.0..3.0)).collect::<Vec<f64>>();
        let (slope, share) = (random(), random());
        let upper = support.upper_bound(&slope, Some(&share)).unwrap();
        for xi in members(&problem, 200, &mut rng).iter().filter(|xi| xi[0] <= nominal[0]) {
            let value: f64 =
                (0..xi.len()).map(|entry| slope[entry] * (xi[entry] - support.reference_point[entry])).sum();
            assert!(value <= upper + 1e-9, "seed {seed}: {value} at {xi:?} is above {upper}");
        }
    }
}

/// The largest violation of a row, a bound or the claimed cost by a policy at ξ.
fn largest_violation(problem: &Problem, x: &[f64], proven: &ProvenPolicy, xi: &[f64]) -> f64 {
    let recourse = &problem.recourse;
    let (mut y, mut shift) = (vec![0.0; recourse.dim()], vec![0.0; recourse.rows()]);
    proven.policy.at(xi, &mut y);
    recourse.shift(x, xi, &mut shift);
    let cost: f64 = recourse.cost.iter().zip(&y).map(|(cost, y)| cost * y).sum();
    let mut most = (cost - proven.value) / (1.0 + proven.value.abs());
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
fn perturbed_policies_are_repaired() {
    let (mut repaired, mut asked) = (0, 0);
    for set in SETS {
        for seed in 0..30 {
            let problem = problem(set, seed);
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let shape = entire_shape(&problem);
            let x: Vec<f64> = problem.first.upper.iter().map(|upper| 0.5 * upper.min(10.0)).collect();
            let full = Dependence::full(&problem);
            let solved = PolicyProgram::new(&problem, PolicyRegion::Shape(&shape), &full, Decision::Fixed(&x))
                .solve(&Clock::unlimited())
                .unwrap();
            if solved.status != PolicyStatus::Optimal {
                continue;
            }
            let mut perturbed = solved.policy.clone();
            for slope in perturbed.slopes.iter_mut().flatten() {
                slope.1 *= 1.0 + 1e-6 * rng.random_range(-1.0..1.0);
            }
            asked += 1;
            let Ok(proven) = Repair::over_shape(&problem, &x, &shape).run(&perturbed, &Clock::unlimited()).unwrap()
            else {
                continue;
            };
            repaired += 1;
            assert!(proven.value >= solved.value - 1e-7 * (1.0 + solved.value.abs()), "{set} seed {seed}");
            assert!(proven.value <= solved.value + 1e-4 * (1.0 + solved.value.abs()), "{set} seed {seed}: {proven:?}");
            for proven in [&proven, &ProvenPolicy { policy: solved.policy, value: solved.value }] {
                for xi in members(&problem, 30, &mut rng) {
                    let violation = largest_violation(&problem, &x, proven, &xi);
                    assert!(violation <= 1e-9, "{set} seed {seed}: violated by {violation:e} at {xi:?}");
                }
            }
        }
    }
    assert!(asked > 60 && 10 * repaired >= 9 * asked, "{repaired} of {asked}");
}

#[test]
fn a_policy_grown_by_prices_is_as_good_as_the_full_one() {
    let mut smaller = 0;
    for set in SETS {
        for seed in 0..20 {
            let problem = problem(set, seed);
            let shape = entire_shape(&problem);
            let x: Vec<f64> = problem.first.upper.iter().map(|upper| 0.5 * upper.min(10.0)).collect();
            let best = |dependence: &Dependence| {
                let program =
                    PolicyProgram::new(&problem, PolicyRegion::Shape(&shape), dependence, Decision::Fixed(&x))
                        .with_reduced_measures();
                program.solve(&Clock::unlimited()).unwrap()
            };
            let full = Dependence::full(&problem);
            let goal = best(&full);
            let mut dependence = Dependence::none(&problem);
            let mut solved = best(&dependence);
            if goal.status != PolicyStatus::Optimal || solved.status != PolicyStatus::Optimal {
                continue;
            }
            while let Some(measures) = &solved.measures {
                if measures.grow(&problem, &mut dependence, 4) == 0 {
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
