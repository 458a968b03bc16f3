//! Affine policies against the engine: the cost of a policy at a scenario is at least Q there, and equal to Q where
//! the basis is optimal.
#![allow(clippy::unwrap_used)]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep::Problem;
use softsep::internals::recourse::{BasisPolicies, Interval, Linear};
use softsep::recourse::{Answer, Recourse, RecourseOutcome};
use softsep::run::Clock;
use softsep::testing::{Recipe, random_problem};

/// Each basic variable's part in Kξ, and last the cost's.
fn answer_to(slopes: &[f64], xi: &[f64]) -> Vec<f64> {
    let size = slopes.len() / xi.len();
    (0..size).map(|k| xi.iter().enumerate().map(|(col, xi)| slopes[col * size + k] * xi).sum()).collect()
}

#[test]
fn rules_bound_the_recourse_from_above_on_their_list() {
    let (mut made, mut optimal, mut loose) = (0, 0, 0);
    for seed in 0..400 {
        let recipe = Recipe { incomplete: seed % 4 == 0, units: seed % 5 == 0, ..Recipe::default() };
        let problem = Problem::new(&random_problem(&recipe, seed)).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut engine = Linear::new(&problem, &Clock::unlimited()).unwrap();
        let mut policies = BasisPolicies::new(&problem, &Clock::unlimited()).unwrap();
        let mut answer = Answer::new(&problem);
        let x: Vec<f64> = problem.first.upper.iter().map(|upper| rng.random_range(0.0..=*upper)).collect();
        let dim = problem.set.dim();
        let list: Vec<Vec<f64>> = (0..12).map(|_| (0..dim).map(|_| rng.random_range(-1.5..1.5)).collect()).collect();
        engine.at(&x);
        engine.solve(&list[0], &mut answer).unwrap();
        if answer.outcome != RecourseOutcome::Solved {
            continue;
        }
        let first = answer.value;
        let mut response = policies.response(&engine.warm_start(), &vec![1.5; dim]).unwrap();
        let values: Vec<Vec<f64>> = list.iter().map(|xi| answer_to(response.slopes(), xi)).collect();
        let own = policies.policy_of_basis(&mut response, &x);
        let basics = own.feasible_ranges.len();
        let ranges = |list: &[Vec<f64>]| -> Vec<Interval> {
            let of = |values: &Vec<f64>, k: usize| Interval { lower: values[k], upper: values[k] };
            (0..basics).map(|k| list.iter().fold(Interval::EMPTY, |range, values| range.hull(of(values, k)))).collect()
        };
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-7 * (1.0 + a.abs());
        // A rule for one scenario alone is optimal there.
        let alone = policies.min_cost_over(&response, &x, &ranges(&values[..1])).unwrap().unwrap() + values[0][basics];
        assert!(close(alone, first), "seed {seed}: {alone} and {first}");
        let over = policies.min_cost_over(&response, &x, &ranges(&values)).unwrap();
        for (xi, values) in list.iter().zip(&values) {
            engine.solve(xi, &mut answer).unwrap();
            if own.feasible_ranges.iter().zip(values).all(|(own, value)| own.lower <= *value && *value <= own.upper) {
                optimal += 1;
                assert!(close(own.cost + values[basics], answer.value), "seed {seed}");
            }
            if let Some(offset) = over {
                made += 1;
                let bound = offset + values[basics];
                assert!(
                    bound >= answer.value - 1e-7 * (1.0 + answer.value.abs()),
                    "seed {seed}: {bound} below {}",
                    answer.value
                );
                loose += u32::from(!close(bound, answer.value));
            }
        }
    }
    assert!(
        made > 1500 && optimal > 1000 && loose > 300 && loose < made,
        "{made} bounds, {loose} of them loose, {optimal} optimal"
    );
}
