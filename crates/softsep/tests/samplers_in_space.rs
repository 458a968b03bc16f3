//! Samplers of continuous laws against what is known of them exactly: on the sphere and on an ellipsoid's surface, in
//! balls, boxes, budgets and polytopes.
//!
//! Seeds are fixed. Each statistic is compared with a bound that a right sampler would pass all but one time in a
//! million.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use softsep::definition::{Complaints, Row};
use softsep::internals::uncertainty::build;
use softsep::run::Random;
use softsep::uncertainty::{
    CachedTilt, ReferenceMeasure, SetDefinition, Sides, Space, State, StateSpec, States, Tilt, Uncertainty,
};

/// The normal quantile of one in a million.
const QUANTILE: f64 = 4.9;
const CONVEX: StateSpec =
    StateSpec { convex: true, trends: Vec::new(), reference: ReferenceMeasure::Sphere, edges: false };
const SURFACE: StateSpec =
    StateSpec { convex: true, trends: Vec::new(), reference: ReferenceMeasure::Surface, edges: false };
const WHOLE: StateSpec =
    StateSpec { convex: false, trends: Vec::new(), reference: ReferenceMeasure::Sphere, edges: false };

fn made(set: &SetDefinition, dim: usize) -> Arc<dyn Uncertainty> {
    let names: Vec<String> = (1..=dim).map(|index| format!("g{index}")).collect();
    let mut complaints = Complaints::new();
    build(set, &names, "uncertainty.set", &mut complaints).unwrap_or_else(|| panic!("{set:?}: {complaints}"))
}

fn ball(dim: usize, halves: impl Fn(usize) -> f64) -> SetDefinition {
    let matrix =
        (0..dim).map(|row| (0..dim).map(|column| if row == column { halves(row) } else { 0.0 }).collect()).collect();
    SetDefinition::Ellipsoid { center: vec![0.0; dim], matrix }
}

fn point(state: &State) -> &[f64] {
    match state {
        State::Point(point) => point,
        State::Row(row) => panic!("row {row}"),
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Mean and variance of what is seen, against the exact mean.
#[derive(Default)]
struct Mean {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Mean {
    fn see(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    fn check(&self, exact: f64, what: &str) {
        let mean = self.sum / self.count;
        let bound = QUANTILE * ((self.squares / self.count - mean * mean).max(0.0) / self.count).sqrt() + 1e-12;
        assert!((mean - exact).abs() <= bound, "{what}: a mean of {mean}, and {exact} is right, give or take {bound}");
    }
}

/// Counts in bins of equal probability.
fn check_bins(counts: &[u64], what: &str) {
    let draws: u64 = counts.iter().sum();
    let expected = draws as f64 / counts.len() as f64;
    let statistic: f64 = counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
    let free = counts.len() as f64 - 1.0;
    let bound = free * (1.0 - 2.0 / (9.0 * free) + QUANTILE * (2.0 / (9.0 * free)).sqrt()).powi(3);
    assert!(statistic <= bound, "{what}: chi-square {statistic} with {free} degrees of freedom");
}

/// Moments 1 and 2 of the cosine under a von Mises–Fisher law, by Simpson's rule in the angle over where the density
/// is.
fn cosine_moments(dim: usize, concentration: f64) -> (f64, f64) {
    let log_density =
        |angle: f64| -concentration * 2.0 * (angle / 2.0).sin().powi(2) + (dim as f64 - 2.0) * angle.sin().ln();
    let log_density =
        |angle: f64| if dim == 2 { -concentration * 2.0 * (angle / 2.0).sin().powi(2) } else { log_density(angle) };
    let steps = 100_000;
    let end = std::f64::consts::PI.min(40.0 * (dim as f64 / concentration).sqrt());
    let angles = (1..steps).map(|step| end * f64::from(step) / f64::from(steps));
    let most = angles.clone().map(log_density).fold(f64::NEG_INFINITY, f64::max).max(if dim == 2 {
        0.0
    } else {
        f64::NEG_INFINITY
    });
    let (mut mass, mut first, mut second) = (0.0, 0.0, 0.0);
    let mut add = |angle: f64, factor: f64| {
        let weight = factor * (log_density(angle) - most).exp();
        mass += weight;
        first += weight * angle.cos();
        second += weight * angle.cos().powi(2);
    };
    angles.enumerate().for_each(|(step, angle)| add(angle, if step % 2 == 0 { 4.0 } else { 2.0 }));
    if dim == 2 {
        add(0.0, 1.0);
        add(end, 1.0);
    }
    (first / mass, second / mass)
}

/// Aims at a random slope and returns it as a unit vector.
fn aimed(tilt: &dyn Tilt, dim: usize, concentration: f64, random: &mut Random, cached: &mut CachedTilt) -> Vec<f64> {
    let slope: Vec<f64> = (0..dim).map(|_| random.random_range(-1.0..1.0)).collect();
    tilt.prepare(&slope, concentration, cached);
    let length = dot(&slope, &slope).sqrt();
    slope.iter().map(|entry| entry / length).collect()
}

#[test]
fn von_mises_fisher_draws_have_their_moments() {
    let mut random = Random::seed_from_u64(1);
    for dim in [2, 3, 30, 300] {
        let set = made(&ball(dim, |_| 1.0), dim);
        let states = set.states(&CONVEX).unwrap();
        assert_eq!(states.space(), Space::Sphere(dim));
        let tilt = states.tilt().unwrap();
        let mut cached = CachedTilt::default();
        let mut state = states.blank();
        for concentration in [0.01, 1.0, 20.0, 5.0 * dim as f64, 1e6] {
            let slope = aimed(tilt, dim, concentration, &mut random, &mut cached);
            // Some direction orthogonal to the slope.
            let mut across = vec![0.0; dim];
            (across[0], across[1]) = (slope[1], -slope[0]);
            let length = dot(&across, &across).sqrt();
            let (first, second) = cosine_moments(dim, concentration);
            let mut means: [Mean; 4] = Default::default();
            let mut xi = vec![0.0; dim];
            for _ in 0..20_000 {
                tilt.draw(&cached, &mut random, &mut state);
                states.realize(&state, &mut xi);
                assert!((dot(&xi, &xi) - 1.0).abs() < 1e-12);
                let apart: f64 = xi.iter().zip(&slope).map(|(xi, slope)| (xi - slope).powi(2)).sum();
                let (cosine, aside) = (1.0 - 0.5 * apart, dot(&xi, &across) / length);
                [cosine, cosine * cosine, aside, aside * aside]
                    .iter()
                    .zip(&mut means)
                    .for_each(|(value, mean)| mean.see(*value));
            }
            let what = format!("dimension {dim}, concentration {concentration}");
            // The rest of the square is spread evenly over the other directions.
            let exact = [first, second, 0.0, (1.0 - second) / (dim as f64 - 1.0)];
            means.iter().zip(exact).for_each(|(mean, exact)| mean.check(exact, &what));
        }
    }
}

/// In three dimensions the cosine has the distribution function (e^(κw) − e^(−κ))/(e^κ − e^(−κ)); in two the angle has
/// von Mises' density.
#[test]
fn von_mises_fisher_draws_have_their_distribution() {
    const BINS: usize = 50;
    let mut random = Random::seed_from_u64(2);
    for concentration in [0.2, 3.0, 40.0, 1e4] {
        let steps = 200_000;
        let reach = std::f64::consts::PI.min(40.0 / f64::sqrt(concentration));
        let density = |step: usize| {
            (-2.0 * concentration * (0.5 * reach * (step as f64 + 0.5) / steps as f64).sin().powi(2)).exp()
        };
        let mut cumulated: Vec<f64> = (0..steps)
            .scan(0.0, |sum, step| {
                *sum += density(step);
                Some(*sum)
            })
            .collect();
        let total = cumulated[steps - 1];
        cumulated.iter_mut().for_each(|value| *value /= total);
        for dim in [2, 3] {
            let set = made(&ball(dim, |_| 1.0), dim);
            let states = set.states(&CONVEX).unwrap();
            let tilt = states.tilt().unwrap();
            let mut cached = CachedTilt::default();
            let slope = aimed(tilt, dim, concentration, &mut random, &mut cached);
            let mut state = states.blank();
            let mut xi = vec![0.0; dim];
            let mut counts = [0; BINS];
            let mut left = Mean::default();
            for _ in 0..50_000 {
                tilt.draw(&cached, &mut random, &mut state);
                states.realize(&state, &mut xi);
                let apart: f64 = xi.iter().zip(&slope).map(|(xi, slope)| (xi - slope).powi(2)).sum();
                let share = if dim == 3 {
                    let below = 0.5 * apart;
                    (-concentration * below).exp_m1() / (-2.0 * concentration).exp_m1()
                } else {
                    left.see(f64::from(u8::from(slope[0] * xi[1] > slope[1] * xi[0])));
                    let angle = 2.0 * (0.5 * apart.sqrt()).min(1.0).asin();
                    let place = angle / reach * steps as f64 - 0.5;
                    cumulated[(place.max(0.0) as usize).min(steps - 1)]
                };
                counts[((share * BINS as f64) as usize).min(BINS - 1)] += 1;
            }
            check_bins(&counts, &format!("dimension {dim}, concentration {concentration}"));
            if dim == 2 {
                left.check(0.5, "sides");
            }
        }
    }
}

/// The density of a tilt is one on average under ν, and the mean of its inverse under the tilt is one too. So with both
/// laws on an ellipsoid.
#[test]
fn densities_on_spheres_are_with_respect_to_the_reference() {
    let mut random = Random::seed_from_u64(3);
    for (dim, reach) in [(2, CONVEX), (2, SURFACE), (3, SURFACE), (5, CONVEX), (5, SURFACE), (20, SURFACE)] {
        let set = made(&ball(dim, |axis| 1.0 + 3.0 * axis as f64), dim);
        let states = set.states(&reach).unwrap();
        let (tilt, walk) = (states.tilt().unwrap(), states.local_coordinates().unwrap());
        let mut cached = CachedTilt::default();
        let mut state = states.blank();
        let mut means: [Mean; 3] = Default::default();
        aimed(tilt, dim, 1.5, &mut random, &mut cached);
        for _ in 0..50_000 {
            states.draw(&mut random, &mut state);
            means[0].see(tilt.log_density(&cached, &state).exp());
            // 1/(ν's density) has mean one over the sphere's total.
            means[2].see((walk.log_mass().unwrap() - walk.log_reference(point(&state))).exp());
            tilt.draw(&cached, &mut random, &mut state);
            means[1].see((-tilt.log_density(&cached, &state)).exp());
        }
        means.iter().for_each(|mean| mean.check(1.0, &format!("{dim} {reach:?}")));
        tilt.prepare(&vec![0.0; dim], 1.5, &mut cached);
        assert_eq!(tilt.log_density(&cached, &state), 0.0, "a slope of zero gives ν");
    }
}

/// On an ellipse, arcs of equal length are equally likely under the law by surface; under the other, arcs of equal
/// angle are.
#[test]
fn an_ellipse_is_drawn_from_by_length() {
    const BINS: usize = 40;
    let (a, b) = (5.0, 0.5);
    // Cumulated length over the angle, about the center of the circle that it is the image of.
    let steps = 400_000;
    let speed = |step: usize| {
        let (sine, cosine) = (std::f64::consts::TAU * (step as f64 + 0.5) / steps as f64).sin_cos();
        (a * sine).hypot(b * cosine)
    };
    let cumulated: Vec<f64> = (0..steps)
        .scan(0.0, |sum, step| {
            *sum += speed(step);
            Some(*sum)
        })
        .collect();
    let turned = |x: f64, y: f64| SetDefinition::Ellipsoid {
        center: vec![3.0, -1.0],
        matrix: vec![vec![a * x, -b * y], vec![a * y, b * x]],
    };
    let mut random = Random::seed_from_u64(4);
    for reach in [SURFACE, CONVEX] {
        let set = made(&turned(0.6, 0.8), 2);
        let states = set.states(&reach).unwrap();
        let (mut state, mut xi) = (states.blank(), vec![0.0; 2]);
        let mut counts = [0; BINS];
        for _ in 0..40_000 {
            states.draw(&mut random, &mut state);
            states.realize(&state, &mut xi);
            let (dx, dy) = (xi[0] - 3.0, xi[1] + 1.0);
            let angle = ((0.6 * dy - 0.8 * dx) / b).atan2((0.6 * dx + 0.8 * dy) / a).rem_euclid(std::f64::consts::TAU);
            let share = angle / std::f64::consts::TAU;
            let share = match reach.reference {
                ReferenceMeasure::Surface => {
                    cumulated[((share * steps as f64) as usize).min(steps - 1)] / cumulated[steps - 1]
                }
                ReferenceMeasure::Sphere => share,
            };
            counts[((share * BINS as f64) as usize).min(BINS - 1)] += 1;
        }
        check_bins(&counts, &format!("{reach:?}"));
    }
}

/// Means of |u_0|, u_0² and |u|² over draws from the whole of a set.
fn body_moments(states: &dyn States, draws: usize, random: &mut Random) -> [Mean; 3] {
    let mut means: [Mean; 3] = Default::default();
    let mut state = states.blank();
    for _ in 0..draws {
        states.draw(random, &mut state);
        let u = point(&state);
        [u[0].abs(), u[0] * u[0], dot(u, u)].iter().zip(&mut means).for_each(|(value, mean)| mean.see(*value));
    }
    means
}

#[test]
fn bodies_with_exact_draws_have_their_moments() {
    let mut random = Random::seed_from_u64(5);
    let n = 7.0;
    let sets = [
        (ball(7, |axis| 10_f64.powi(axis as i32 - 3)), [None, Some(1.0 / (n + 2.0)), Some(n / (n + 2.0))]),
        (SetDefinition::Box { lower: vec![-3.0; 7], upper: vec![1.0; 7] }, [Some(0.5), Some(1.0 / 3.0), Some(n / 3.0)]),
        // A share of a Dirichlet law with n + 1 parameters of one: mean 1/(n + 1), second moment 2/((n + 1)(n + 2)).
        (
            SetDefinition::L1 { center: vec![0.0; 7], scale: vec![2.0; 7] },
            [Some(1.0 / (n + 1.0)), Some(2.0 / ((n + 1.0) * (n + 2.0))), Some(2.0 * n / ((n + 1.0) * (n + 2.0)))],
        ),
        (
            SetDefinition::Budget { budget: 0.25, sides: Sides::One, center: vec![0.0; 7], scale: vec![2.0; 7] },
            [Some(1.0 / (n + 1.0)), Some(2.0 / ((n + 1.0) * (n + 2.0))), None],
        ),
        (
            SetDefinition::Budget { budget: 7.0, sides: Sides::One, center: vec![0.0; 7], scale: vec![2.0; 7] },
            [Some(0.5), Some(1.0 / 3.0), Some(n / 3.0)],
        ),
    ];
    for (set, exact) in sets {
        let made = made(&set, 7);
        let states = made.states(&WHOLE).unwrap();
        assert_eq!((states.space(), states.draws_exactly()), (Space::Body(7), true), "{set:?}");
        let means = body_moments(&*states, 30_000, &mut random);
        for (mean, exact) in means.iter().zip(exact) {
            exact.iter().for_each(|exact| mean.check(*exact, &format!("{set:?}")));
        }
    }
}

/// Within a budget against plain rejection from the cube, whose points within the budget are uniform there.
#[test]
fn bodies_of_budgets_have_the_moments_of_rejection() {
    let mut random = Random::seed_from_u64(6);
    for (n, budget, sides) in
        [(3, 1.2, Sides::One), (5, 1.7, Sides::Two), (6, 2.5, Sides::One), (8, 4.5, Sides::Two), (4, 3.9, Sides::One)]
    {
        let set = SetDefinition::Budget { budget, sides, center: vec![1.0; n], scale: vec![-2.0; n] };
        let made = made(&set, n);
        let states = made.states(&WHOLE).unwrap();
        assert!(states.draws_exactly());
        let means = body_moments(&*states, 30_000, &mut random);
        let mut wanted: [Mean; 3] = Default::default();
        while wanted[0].count < 300_000.0 {
            let u: Vec<f64> = (0..n).map(|_| random.random::<f64>()).collect();
            if u.iter().sum::<f64>() <= budget {
                [u[0], u[0] * u[0], dot(&u, &u)].iter().zip(&mut wanted).for_each(|(value, mean)| mean.see(*value));
            }
        }
        for (mean, wanted) in means.iter().zip(&wanted) {
            // The other side has ten times as many draws: its own error takes a twentieth off the bound, which is then
            // passed three times in a million.
            mean.check(wanted.sum / wanted.count, &format!("{set:?}"));
        }
    }
}

/// Hit-and-run is near enough to uniform that twenty thousand draws do not tell: a box, a box cut in half, and the flat
/// simplex, as polyhedra.
#[test]
fn hit_and_run_draws_are_nearly_uniform() {
    let mut random = Random::seed_from_u64(7);
    let n = 6;
    let terms = |count: usize| (1..=count).map(|index| (format!("g{index}"), 1.0)).collect::<Vec<_>>();
    let polyhedron =
        |rows: Vec<Row>| SetDefinition::Polyhedron { lower: vec![0.0; n], upper: vec![1.0; n], constraints: rows };
    let half = Row { xi: terms(n), upper: n as f64 / 2.0, ..Row::new("half") };
    let simplex = Row { xi: terms(n), lower: 1.0, upper: 1.0, ..Row::new("simplex") };
    let flat = 1.0 / n as f64;
    for (set, dim, exact) in [
        (polyhedron(vec![]), n, [0.5, 1.0 / 3.0]),
        (polyhedron(vec![simplex]), n - 1, [flat, 2.0 * flat / (n as f64 + 1.0)]),
        // In half of the cube, by symmetry: E|ξ − ½|² is that of the cube.
        (polyhedron(vec![half]), n, [f64::NAN, f64::NAN]),
    ] {
        let made = made(&set, n);
        let states = made.states(&WHOLE).unwrap();
        assert_eq!((states.space(), states.draws_exactly()), (Space::Body(dim), false), "{set:?}");
        let (mut state, mut xi) = (states.blank(), vec![0.0; n]);
        let mut means: [Mean; 3] = Default::default();
        for _ in 0..20_000 {
            states.draw(&mut random, &mut state);
            states.realize(&state, &mut xi);
            let spread: f64 = xi.iter().map(|xi| (xi - 0.5).powi(2)).sum();
            [xi[0], xi[0] * xi[0], spread].iter().zip(&mut means).for_each(|(value, mean)| mean.see(*value));
        }
        if exact[0].is_nan() {
            means[2].check(n as f64 / 12.0, &format!("{set:?}"));
        } else {
            means.iter().zip(exact).for_each(|(mean, exact)| mean.check(exact, &format!("{set:?}")));
        }
    }
}

/// A polyhedron whose vertices are too many is a body even where Q is convex.
#[test]
fn a_polyhedron_of_many_vertices_is_a_body() {
    let n = 30;
    let set = made(&SetDefinition::Polyhedron { lower: vec![0.0; n], upper: vec![1.0; n], constraints: vec![] }, n);
    let states = set.states(&CONVEX).unwrap();
    assert_eq!(states.space(), Space::Body(n));
    let mut random = Random::seed_from_u64(8);
    let (mut state, mut xi) = (states.blank(), vec![0.0; n]);
    states.draw(&mut random, &mut state);
    states.realize(&state, &mut xi);
    assert!(set.contains(&xi, 1e-9));
}

#[test]
fn volumes_are_those_of_school() {
    use std::f64::consts::PI;
    let cross = |dim: usize| SetDefinition::L1 { center: vec![0.0; dim], scale: vec![3.0; dim] };
    let boxed = |dim: usize| SetDefinition::Box { lower: vec![0.0; dim], upper: vec![9.0; dim] };
    let budget = SetDefinition::Budget { budget: 0.5, sides: Sides::One, center: vec![0.0; 3], scale: vec![1.0; 3] };
    for (set, dim, volume) in [
        (ball(1, |_| 5.0), 1, 2.0),
        (ball(2, |_| 5.0), 2, PI),
        (ball(3, |_| 5.0), 3, 4.0 / 3.0 * PI),
        (ball(4, |_| 5.0), 4, PI * PI / 2.0),
        (cross(2), 2, 2.0),
        (cross(3), 3, 4.0 / 3.0),
        (boxed(3), 3, 8.0),
        (budget, 3, 1.0 / 6.0),
    ] {
        let made = made(&set, dim);
        let states = made.states(&WHOLE).unwrap();
        let found = states.local_coordinates().unwrap().log_mass().unwrap().exp();
        assert!((found - volume).abs() < 1e-12 * volume, "{set:?}: {found}, not {volume}");
    }
}

/// The mean direction of the adaptive proposal on an ellipsoid is Aᵀs/‖Aᵀs‖ for a slope s in ξ: at a huge concentration
/// draws are where the slope's support is, center + A·Aᵀs/‖Aᵀs‖, also where A is not square.
#[test]
fn the_mean_direction_of_a_tilt_is_where_the_slope_leads() {
    let mut random = Random::seed_from_u64(9);
    for (dim, columns) in [(2, 2), (3, 3), (5, 5), (4, 3), (3, 5)] {
        let mut numbers = |count: usize| -> Vec<f64> { (0..count).map(|_| random.random_range(-1.0..1.0)).collect() };
        let (center, slope) = (numbers(dim), numbers(dim));
        let matrix: Vec<Vec<f64>> = (0..dim).map(|_| numbers(columns)).collect();
        let back: Vec<f64> = (0..columns).map(|k| matrix.iter().zip(&slope).map(|(row, s)| row[k] * s).sum()).collect();
        let length = dot(&back, &back).sqrt();
        let mean: Vec<f64> =
            center.iter().zip(&matrix).map(|(center, row)| center + dot(row, &back) / length).collect();
        let set = made(&SetDefinition::Ellipsoid { center, matrix }, dim);
        let states = set.states(&CONVEX).unwrap();
        let tilt = states.tilt().unwrap();
        let (mut cached, mut state, mut xi) = (CachedTilt::default(), states.blank(), vec![0.0; dim]);
        tilt.prepare(&slope, 1e12, &mut cached);
        for _ in 0..10 {
            tilt.draw(&cached, &mut random, &mut state);
            states.realize(&state, &mut xi);
            // A draw is off by about 1/√κ = 1e-6 along each axis.
            assert!(xi.iter().zip(&mean).all(|(xi, mean)| (xi - mean).abs() < 1e-4), "{xi:?} is not near {mean:?}");
        }
    }
}
