//! Every sampler against exact probabilities: all states of small sets by chi-square, laws on spheres and in bodies by
//! their moments and marginals.
//!
//! Seeds are fixed. Each statistic is compared with a bound that a right sampler would pass all but one time in a
//! million.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use softsep::definition::{Complaints, ScenarioList};
use softsep::internals::uncertainty::build;
use softsep::run::Random;
use softsep::uncertainty::{CachedTilt, SetDefinition, Sides, Space, State, StateSpec, States, Trend, Uncertainty};

/// The normal quantile of one in a million.
const QUANTILE: f64 = 4.753;
const CONVEX: StateSpec = StateSpec {
    convex: true,
    trends: Vec::new(),
    reference: softsep::uncertainty::ReferenceMeasure::Sphere,
    edges: false,
};

fn made(set: &SetDefinition, dim: usize) -> Arc<dyn Uncertainty> {
    let names: Vec<String> = (1..=dim).map(|index| format!("g{index}")).collect();
    let mut complaints = Complaints::new();
    build(set, &names, "uncertainty.set", &mut complaints).unwrap_or_else(|| panic!("{set:?}: {complaints}"))
}

fn budget(budget: f64, sides: Sides, scale: &[f64]) -> SetDefinition {
    SetDefinition::Budget {
        budget,
        sides,
        center: (0..scale.len()).map(|entry| entry as f64).collect(),
        scale: scale.to_vec(),
    }
}

fn rising(scale: &[f64]) -> StateSpec {
    let trend = |scale: &f64| if *scale < 0.0 { Trend::Falling } else { Trend::Rising };
    StateSpec { trends: scale.iter().map(trend).collect(), ..CONVEX }
}

/// Compares counts of outcomes with their probabilities; rare outcomes are taken together.
fn chi_square(counts: &[u64], probabilities: &[f64], what: &str) {
    let draws = counts.iter().sum::<u64>() as f64;
    let total: f64 = probabilities.iter().sum();
    assert!((total - 1.0).abs() < 1e-9, "{what}: the probabilities add up to {total}");
    let (mut statistic, mut bins, mut rare) = (0.0, 0, (0.0, 0.0));
    let mut add = |seen: f64, expected: f64| {
        statistic += (seen - expected).powi(2) / expected;
        bins += 1;
    };
    for (&count, probability) in counts.iter().zip(probabilities) {
        let expected = draws * probability;
        if expected >= 10.0 {
            add(count as f64, expected);
        } else {
            assert!(count == 0 || expected > 1e-7, "{what}: an outcome of probability {probability} was drawn");
            rare = (rare.0 + count as f64, rare.1 + expected);
        }
    }
    if rare.1 >= 10.0 {
        add(rare.0, rare.1);
    } else {
        assert!(rare.0 < 40.0, "{what}: {} draws of outcomes where {} are expected", rare.0, rare.1);
    }
    // Of a single bin the rare outcomes have told all.
    let free = f64::from((bins - 1).max(1));
    // Wilson and Hilferty's approximation of the quantile.
    let bound = free * (1.0 - 2.0 / (9.0 * free) + QUANTILE * (2.0 / (9.0 * free)).sqrt()).powi(3);
    assert!(statistic <= bound, "{what}: chi-square {statistic} with {free} degrees of freedom");
}

/// A mean of draws against the exact one, given the standard deviation of a draw.
fn check_mean(sum: f64, draws: usize, mean: f64, deviation: f64, what: &str) {
    let found = sum / draws as f64;
    let bound = QUANTILE * deviation / (draws as f64).sqrt() + 1e-12;
    assert!((found - mean).abs() <= bound, "{what}: a mean of {found}, and {mean} ± {bound} is right");
}

/// The sets with finitely many states, each with what is known of Q and how many states there are then.
fn finite_sets() -> Vec<(SetDefinition, usize, StateSpec, usize)> {
    let mixed = [1.0, -2.0, 0.5, 3.0, 0.0];
    let mut points = ScenarioList::new(2);
    [[0.0, 1.0], [2.0, 1.0], [2.0, 1.0], [-1.0, 0.5], [1e3, 2.0]].iter().for_each(|row| points.push(row));
    let boxed = SetDefinition::Box { lower: vec![0.0, -1.0, 2.0, 1.0], upper: vec![1.0, -1.0, 5.0, 1e3] };
    let partly = StateSpec { trends: vec![Trend::Falling, Trend::Rising, Trend::Unknown, Trend::Rising], ..CONVEX };
    let one_falls = StateSpec { trends: vec![Trend::Rising, Trend::Falling, Trend::Falling, Trend::Falling], ..CONVEX };
    let none = StateSpec { trends: vec![Trend::Falling; 4], ..CONVEX };
    vec![
        (SetDefinition::scenarios(points), 2, CONVEX, 5),
        (boxed.clone(), 4, CONVEX, 8),
        (boxed, 4, partly, 2),
        (SetDefinition::L1 { center: vec![1.0, 2.0, 3.0], scale: vec![1.0, 0.0, -2.0] }, 3, CONVEX, 4),
        (SetDefinition::L1 { center: vec![1.0], scale: vec![0.0] }, 1, CONVEX, 1),
        (budget(2.0, Sides::One, &mixed), 5, CONVEX, 1 + 4 + 6),
        (budget(2.3, Sides::One, &mixed), 5, CONVEX, 11 + 6 * 2),
        (budget(2.3, Sides::Two, &mixed), 5, CONVEX, 6 * 4 * 2 * 2),
        (budget(3.0, Sides::Two, &mixed), 5, CONVEX, 4 * 8),
        (budget(0.0, Sides::One, &mixed), 5, CONVEX, 1),
        (budget(0.7, Sides::One, &mixed), 5, CONVEX, 5),
        (budget(0.7, Sides::Two, &mixed), 5, CONVEX, 8),
        (budget(9.0, Sides::One, &mixed), 5, CONVEX, 16),
        (budget(9.0, Sides::Two, &mixed), 5, CONVEX, 16),
        (budget(2.0, Sides::One, &mixed), 5, rising(&mixed), 6),
        (budget(2.3, Sides::One, &mixed), 5, rising(&mixed), 12),
        (budget(2.3, Sides::Two, &mixed), 5, rising(&mixed), 12),
        (budget(2.9999, Sides::One, &[1.0; 7]), 7, rising(&[1.0; 7]), 21 * 5),
        (budget(1.0, Sides::One, &[1.0, 1.0, 1.0, -1.0]), 4, one_falls, 2),
        (budget(1.5, Sides::One, &[1.0; 4]), 4, none, 1),
        (SetDefinition::Ellipsoid { center: vec![1.0, 2.0], matrix: vec![vec![3.0], vec![4.0]] }, 2, CONVEX, 2),
    ]
}

fn tally(all: &[State], draws: usize, mut draw: impl FnMut(&mut State)) -> Vec<u64> {
    let mut counts = vec![0; all.len()];
    let mut state = State::Row(77);
    for _ in 0..draws {
        draw(&mut state);
        let place = all.iter().position(|other| *other == state);
        counts[place.unwrap_or_else(|| panic!("{state:?} is none of the states"))] += 1;
    }
    counts
}

#[test]
fn finite_states_are_drawn_with_their_probabilities() {
    let mut random = Random::seed_from_u64(1);
    for (set, dim, reach, count) in finite_sets() {
        let made = made(&set, dim);
        let states = made.states(&reach).unwrap();
        let all = states.enumerate(1000).unwrap();
        assert_eq!(
            (all.len(), states.space()),
            (count, Space::Finite(softsep::uncertainty::Count::Exactly(count as u128))),
            "{set:?}"
        );
        let uniform = vec![1.0 / count as f64; count];
        chi_square(
            &tally(&all, 40 * count + 4000, |state| states.draw(&mut random, state)),
            &uniform,
            &format!("ν of {set:?}"),
        );
        let tilt = states.tilt().unwrap();
        let mut cached = CachedTilt::default();
        for concentration in [0.3, 2.0, tilt.concentration(), 50.0, 1e4] {
            let slope: Vec<f64> = (0..dim).map(|_| random.random_range(-1.0..1.0)).collect();
            tilt.prepare(&slope, concentration, &mut cached);
            let weights: Vec<f64> = all.iter().map(|state| exponent(&*states, &cached, state)).collect();
            let most = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = weights.iter().map(|weight| (weight - most).exp()).sum();
            let log_mean = most + (sum / count as f64).ln();
            assert!(
                (cached.log_mean - log_mean).abs() < 1e-10 * (1.0 + log_mean.abs()),
                "{set:?} {concentration}: {} {log_mean}",
                cached.log_mean
            );
            let exact: Vec<f64> = weights.iter().map(|weight| (weight - most).exp() / sum).collect();
            for (state, exact) in all.iter().zip(&exact) {
                let density = tilt.log_density(&cached, state).exp() / count as f64;
                assert!(
                    (density - exact).abs() < 1e-9,
                    "{set:?} {concentration}: {state:?} has {density}, not {exact}"
                );
            }
            let counts = tally(&all, 40 * count + 4000, |state| tilt.draw(&cached, &mut random, state));
            chi_square(&counts, &exact, &format!("tilt {concentration} of {set:?}"));
        }
    }
}

/// The exponent of a tilt: of rows the weight, of points the weights' product with the coordinates.
fn exponent(states: &dyn States, cached: &CachedTilt, state: &State) -> f64 {
    assert!(states.tilt().is_some());
    match state {
        State::Row(row) => cached.weights[*row],
        State::Point(point) => cached.weights.iter().zip(point).map(|(a, b)| a * b).sum(),
    }
}

/// κ means the same for all: on average over the axes the exponent has the variance κ²/n under ν, n the dimension that
/// the states span; and where all states are at one distance from their mean it is within ±κ.
#[test]
fn concentrations_are_in_units_of_the_states_own() {
    for (set, dim, reach, count) in finite_sets().into_iter().filter(|set| set.3 > 2) {
        let made = made(&set, dim);
        let states = made.states(&reach).unwrap();
        let all = states.enumerate(1000).unwrap();
        let tilt = states.tilt().unwrap();
        let mut cached = CachedTilt::default();
        let (mut squares, mut axes) = (0.0, 0);
        let spent = matches!(set, SetDefinition::Budget { .. }) && !reach.trends.is_empty();
        let one_distance =
            !matches!(set, SetDefinition::Scenarios { .. } | SetDefinition::Budget { sides: Sides::One, .. }) || spent;
        for axis in 0..dim {
            let slope: Vec<f64> = (0..dim).map(|entry| f64::from(u8::from(entry == axis))).collect();
            tilt.prepare(&slope, 3.0, &mut cached);
            let weights: Vec<f64> = all.iter().map(|state| exponent(&*states, &cached, state)).collect();
            let mean = weights.iter().sum::<f64>() / count as f64;
            let square = weights.iter().map(|weight| (weight - mean).powi(2)).sum::<f64>() / count as f64;
            if square > 0.0 {
                (squares, axes) = (squares + square, axes + 1);
            }
            assert!(
                !one_distance || weights.iter().all(|weight| (weight - mean).abs() <= 3.0 + 1e-9),
                "{set:?}: {weights:?}"
            );
        }
        let spanned = axes - i32::from(spent);
        let variance = squares / f64::from(axes);
        assert!((variance - 9.0 / f64::from(spanned)).abs() < 1e-9, "{set:?}: {variance}");
    }
}

/// n = 300: the number of points leaves the range of a double, and the weights of κ = 10⁴ more so.
#[test]
fn budgets_of_many_entries_keep_their_marginals() {
    let mut random = Random::seed_from_u64(3);
    let n = 300;
    for (gamma, sides, reach) in [
        (90.0, Sides::One, CONVEX),
        (90.5, Sides::One, rising(&[1.0; 300])),
        (30.25, Sides::Two, CONVEX),
        (1.5, Sides::One, CONVEX),
        (299.5, Sides::Two, CONVEX),
    ] {
        let made = made(&budget(gamma, sides, &vec![1.0; n]), n);
        let states = made.states(&reach).unwrap();
        let mut state = states.blank();
        let mut sums = vec![0.0; n];
        let draws = 2000;
        for _ in 0..draws {
            states.draw(&mut random, &mut state);
            let State::Point(z) = &state else { panic!("{state:?}") };
            sums.iter_mut().zip(z).for_each(|(sum, z)| *sum += z.abs());
            let spent: f64 = z.iter().map(|z| z.abs()).sum();
            let saturated = sides == Sides::Two || !reach.trends.is_empty();
            assert!(if saturated { (spent - gamma).abs() < 1e-9 } else { spent <= gamma + 1e-9 }, "{gamma}: {spent}");
        }
        // By symmetry all entries have one mean.
        let mean = sums.iter().sum::<f64>() / (n * draws) as f64;
        let deviation = (mean * (1.0 - mean)).sqrt();
        for sum in sums {
            check_mean(sum, draws, mean, 1.1 * deviation, &format!("Γ = {gamma}"));
        }
        let tilt = states.tilt().unwrap();
        for concentration in [tilt.concentration(), 1e4, 1e6] {
            let slope: Vec<f64> = (0..n).map(|_| random.random_range(-1.0..1.0)).collect();
            let mut cached = CachedTilt::default();
            tilt.prepare(&slope, concentration, &mut cached);
            assert!(cached.log_mean.is_finite() && cached.table.iter().all(|entry| (0.0..=1.0).contains(entry)));
            for _ in 0..100 {
                tilt.draw(&cached, &mut random, &mut state);
                let density = tilt.log_density(&cached, &state);
                assert!(density.is_finite() && density > 0.0, "{gamma} {concentration}: {density}");
            }
        }
    }
}

/// EC.2 of the paper to the letter, where the whole budget is spent: the index is κ·Pg/(r_Γ·‖Pg‖) with P = Id − 11ᵀ/n,
/// the normaliser is Z₁ of its recursion, and a draw assigns one entry after the other by quotients of Z.
#[test]
fn the_tilt_of_a_spent_budget_is_that_of_the_papers_recursion() {
    let mut random = Random::seed_from_u64(4);
    for (n, amount) in [(6, 2.4), (5, 1.0), (7, 3.75), (4, 0.5)] {
        let made = made(&budget(amount, Sides::One, &vec![1.0; n]), n);
        let states = made.states(&rising(&vec![1.0; n])).unwrap();
        let (ones, part) = (amount.floor(), amount.fract());
        let has_part = usize::from(part > 0.0);
        let all = states.enumerate(1000).unwrap();
        let tilt = states.tilt().unwrap();
        for kappa in [0.7, 3.0, 12.0] {
            let slope: Vec<f64> = (0..n).map(|_| random.random_range(-2.0..5.0)).collect();
            let mean = slope.iter().sum::<f64>() / n as f64;
            let length = slope.iter().map(|slope| (slope - mean).powi(2)).sum::<f64>().sqrt();
            let radius = (ones + part * part - amount * amount / n as f64).sqrt();
            let index: Vec<f64> = slope.iter().map(|slope| kappa * (slope - mean) / (radius * length)).collect();
            let mut cached = CachedTilt::default();
            tilt.prepare(&slope, kappa, &mut cached);
            for (weight, index) in cached.weights.iter().zip(&index) {
                assert!((weight - index).abs() < 1e-12 * kappa, "n = {n}: {:?} is not {index:?}", cached.weights);
            }

            // z[j][r][h]: the weight of all ways to place r ones and h parts from entry j on.
            let mut z = vec![vec![[0.0; 2]; ones as usize + 1]; n + 1];
            z[n][0][0] = 1.0;
            for j in (0..n).rev() {
                for r in 0..=ones as usize {
                    for h in 0..2 {
                        let one = if r > 0 { index[j].exp() * z[j + 1][r - 1][h] } else { 0.0 };
                        let fraction = if h == 1 { (part * index[j]).exp() * z[j + 1][r][0] } else { 0.0 };
                        z[j][r][h] = z[j + 1][r][h] + one + fraction;
                    }
                }
            }
            let normaliser = z[0][ones as usize][has_part];
            let log_sum = cached.log_mean + (all.len() as f64).ln();
            assert!((log_sum - normaliser.ln()).abs() < 1e-12 * (1.0 + kappa), "n = {n}: {log_sum} {normaliser}");
            for state in &all {
                let State::Point(point) = state else { panic!("{state:?}") };
                let (mut r, mut h, mut probability) = (ones as usize, has_part, 1.0);
                for (j, &value) in point.iter().enumerate() {
                    let before = z[j][r][h];
                    let weight = (value * index[j]).exp();
                    if value == 1.0 {
                        r -= 1;
                    } else if value > 0.0 {
                        h = 0;
                    }
                    probability *= weight * z[j + 1][r][h] / before;
                }
                let density = tilt.log_density(&cached, state).exp() / all.len() as f64;
                assert!((density - probability).abs() < 1e-12, "n = {n}: {state:?} has {density}, not {probability}");
            }
        }
    }
}
