//! The theory's numbers against brute force: small chains written out as matrices, closed forms, quadrature and draws.
#![allow(clippy::unwrap_used)]

#[path = "theory/converge.rs"]
mod converge;
#[path = "theory/descent.rs"]
mod descent;
#[path = "theory/identify.rs"]
mod identify;
#[path = "theory/motion.rs"]
mod motion;
#[path = "theory/surrogate.rs"]
mod surrogate;

use std::f64::consts::PI;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep::internals::chain::Acceptance;
use softsep::internals::theory::*;
use softsep_paper::theory::*;

pub(crate) const RULES: [Acceptance; 2] = [Acceptance::Metropolis, Acceptance::Barker];

/// Scores that are affine in two entries of x, with slopes of length 1 at most.
pub(crate) struct Scores {
    base: Vec<f64>,
    slopes: Vec<[f64; 2]>,
}

impl Scores {
    pub(crate) fn random(rng: &mut ChaCha8Rng, states: usize, spread: f64) -> Self {
        let slope = |rng: &mut ChaCha8Rng| {
            let (angle, length) = (rng.random::<f64>() * 2.0 * PI, rng.random::<f64>());
            [length * angle.cos(), length * angle.sin()]
        };
        Self {
            base: (0..states).map(|_| spread * rng.random::<f64>()).collect(),
            slopes: (0..states).map(|_| slope(rng)).collect(),
        }
    }

    pub(crate) fn at(&self, x: [f64; 2]) -> Vec<f64> {
        self.base.iter().zip(&self.slopes).map(|(base, slope)| base + slope[0] * x[0] + slope[1] * x[1]).collect()
    }
}

pub(crate) fn point(rng: &mut ChaCha8Rng) -> [f64; 2] {
    [rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0)]
}

pub(crate) fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

fn law(rng: &mut ChaCha8Rng, states: usize) -> Vec<f64> {
    let weights: Vec<f64> = (0..states).map(|_| 0.05 + rng.random::<f64>()).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// The same row for every state.
fn from_anywhere(row: &[f64]) -> Vec<f64> {
    row.repeat(row.len())
}

pub(crate) fn uniform(states: usize) -> Vec<f64> {
    vec![1.0 / states as f64; states * states]
}

/// Uniform, independent and arbitrary positive proposals.
fn proposals(rng: &mut ChaCha8Rng, states: usize) -> [Vec<f64>; 3] {
    let any = (0..states).flat_map(|_| law(rng, states)).collect();
    [uniform(states), from_anywhere(&law(rng, states)), any]
}

#[test]
fn chains_keep_the_soft_law() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for _ in 0..200 {
        let states = rng.random_range(1..=8);
        let (spread, temperature) = (5.0 * rng.random::<f64>(), 0.2 + rng.random::<f64>());
        let scores = Scores::random(&mut rng, states, spread).at([0.0, 0.0]);
        for proposal in proposals(&mut rng, states) {
            for rule in RULES {
                let chain = Transitions::new(&scores, &proposal, rule, temperature).unwrap();
                assert!(chain.imbalance() <= 1e-14);
                for (a, b) in chain.stationary().iter().zip(chain.law()) {
                    assert!((a - b).abs() <= 1e-11 * b, "{a} is not {b}");
                }
                let mut next = vec![0.0; states];
                chain.step(chain.law(), &mut next);
                assert!(next.iter().zip(chain.law()).all(|(a, b)| (a - b).abs() < 1e-14));
                let norm = chain.fundamental_norm().unwrap();
                assert!(norm <= Mixing::new(1.0 - chain.dobrushin()).fundamental() * (1.0 + 1e-9));
                assert!(chain.dobrushin() <= 1.0 - chain.minorization() + 1e-14);
            }
        }
    }
    assert!(Transitions::new(&[0.0, 1.0], &uniform(3), Acceptance::Metropolis, 1.0).is_none());
    assert!(Transitions::new(&[0.0, f64::INFINITY], &uniform(2), Acceptance::Metropolis, 1.0).is_none());
}

/// The fundamental matrix is a sum of powers: its norm once more, without a factorisation.
#[test]
fn fundamental_norms_are_those_of_the_series() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for _ in 0..50 {
        let states = rng.random_range(2..=6);
        let scores = Scores::random(&mut rng, states, 2.0).at([0.0, 0.0]);
        for (proposal, rule) in proposals(&mut rng, states).iter().zip([RULES[0], RULES[1], RULES[0]]) {
            let chain = Transitions::new(&scores, proposal, rule, 0.8).unwrap();
            let mut norm = 0.0_f64;
            for i in 0..states {
                let mut power: Vec<f64> = (0..states).map(|j| f64::from(i == j)).collect();
                let mut row = power.clone();
                let mut next = vec![0.0; states];
                for _ in 0..5000 {
                    chain.step(&power, &mut next);
                    std::mem::swap(&mut power, &mut next);
                    row.iter_mut().zip(&power).zip(chain.law()).for_each(|((row, p), law)| *row += p - law);
                }
                norm = norm.max(row.iter().map(|value| value.abs()).sum());
            }
            assert!((chain.fundamental_norm().unwrap() - norm).abs() <= 1e-9 * norm);
        }
    }
}

/// Every example's γ against the largest that the matrix allows, and its C* against the matrix's own norm.
#[test]
fn minorizations_hold() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let holds = |chain: &Transitions, mixing: Mixing, what: &str| {
        assert!(mixing.gamma() > 0.0);
        assert!(
            mixing.gamma() <= chain.minorization() * (1.0 + 1e-12),
            "{what}: {mixing:?} above {}",
            chain.minorization()
        );
        assert!(chain.dobrushin() <= mixing.dobrushin() + 1e-12, "{what}");
        let norm = chain.fundamental_norm().unwrap();
        assert!(norm <= mixing.fundamental() * (1.0 + 1e-9), "{what}: {norm} above {}", mixing.fundamental());
        assert!(mixing.fundamental() <= 2.0 / mixing.gamma());
    };
    for _ in 0..300 {
        let states = rng.random_range(2..=8);
        let (spread, temperature) = (3.0 * rng.random::<f64>(), 0.3 + rng.random::<f64>());
        let scores = Scores::random(&mut rng, states, spread).at([0.0, 0.0]);
        let target = soft_law(&scores, None, temperature);
        for rule in RULES {
            // Example 5.
            let chain = Transitions::new(&scores, &uniform(states), rule, temperature).unwrap();
            let most = scores.iter().copied().fold(f64::MIN, f64::max);
            let least = scores.iter().copied().fold(f64::MAX, f64::min);
            let peak = target.iter().copied().fold(0.0, f64::max);
            holds(&chain, uniform_by_spread(rule, most - least, temperature), "spread");
            let by_peak = uniform_by_peak(rule, (states as f64 * peak).ln());
            holds(&chain, by_peak, "peak");
            holds(&chain, uniform_by_peak(rule, (states as f64).ln()), "states");
            let by_mellowmax = uniform_by_peak(rule, (most - mellowmax(&scores, None, temperature)) / temperature);
            assert!((by_mellowmax.gamma() / by_peak.gamma() - 1.0).abs() < 1e-12);

            // Example 3, with the paper's weaker constants.
            let row = law(&mut rng, states);
            let chain = Transitions::new(&scores, &from_anywhere(&row), rule, temperature).unwrap();
            let c = target.iter().zip(&row).map(|(p, q)| p / q).fold(1.0, f64::max);
            let both_sides = target.iter().zip(&row).map(|(p, q)| q / p).fold(c, f64::max);
            let mixing = independent(rule, c);
            holds(&chain, mixing, "independent");
            let paper =
                if rule == Acceptance::Metropolis { both_sides.powi(-2) } else { 1.0 / (1.0 + both_sides.powi(2)) };
            assert!(paper <= mixing.gamma() * (1.0 + 1e-12));

            // Example 4.
            let [_, _, any] = proposals(&mut rng, states);
            let chain = Transitions::new(&scores, &any, rule, temperature).unwrap();
            let entry = |i: usize, j: usize| any[i * states + j];
            let pairs = (0..states).flat_map(|i| (0..states).map(move |j| (i, j)));
            let kappa = pairs.map(|(i, j)| target[j] * entry(j, i) / (target[i] * entry(i, j))).fold(1.0, f64::max);
            let least_sum = (0..states).map(|j| (0..states).map(|i| entry(i, j)).fold(1.0, f64::min)).sum();
            holds(&chain, aligned(rule, kappa, least_sum), "aligned");
        }
    }
}

#[test]
fn tiny_mixing_keeps_its_digits() {
    let mixing = uniform_by_spread(Acceptance::Metropolis, 100.0, 1.0);
    assert_eq!(mixing.dobrushin(), 1.0);
    assert!((mixing.rate() / (-100.0_f64).exp() - 1.0).abs() < 1e-12);
    assert!((mixing.contraction_after(100.0_f64.exp()) - (-1.0_f64).exp()).abs() < 1e-12);
    assert_eq!(uniform_by_spread(Acceptance::Barker, 1e4, 1.0).gamma(), 0.0);
}

#[test]
fn kernels_and_laws_move_as_their_moduli_say() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let mut closest = [0.0_f64; 2];
    for _ in 0..2000 {
        let states = rng.random_range(2..=6);
        let temperature = 0.1 + rng.random::<f64>();
        let scores = Scores::random(&mut rng, states, 0.3);
        let (x, y) = (point(&mut rng), point(&mut rng));
        let y = [x[0] + 0.1 * y[0], x[1] + 0.1 * y[1]];
        let apart = distance(x, y);
        for proposal in proposals(&mut rng, states) {
            for (rule, closest) in RULES.into_iter().zip(&mut closest) {
                let at = |x| Transitions::new(&scores.at(x), &proposal, rule, temperature).unwrap();
                let (p, q) = (at(x), at(y));
                let apart_1 = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f64>();
                for i in 0..states {
                    let sum = apart_1(p.row(i), q.row(i));
                    let bound = kernel_rows(rule, 1.0, temperature) * apart;
                    assert!(
                        sum <= bound * (1.0 + 1e-9)
                            && 0.5 * sum <= kernel_variation(rule, 1.0, temperature) * apart * (1.0 + 1e-9)
                    );
                    *closest = closest.max(sum / bound);
                }
                let moved = apart_1(p.law(), q.law());
                assert!(moved <= 0.5 * law_modulus(1.0, temperature) * apart * (1.0 + 1e-9), "half the modulus does");
            }
        }
    }
    // The bounds are not idle.
    assert!(closest.iter().all(|share| *share > 0.4), "{closest:?}");
}

/// Sums of a row move by nearly 4L/w for Metropolis: 2L/w, which the paper quotes in one place, is not enough.
#[test]
fn rows_of_metropolis_move_by_more_than_twice_the_slope() {
    let (step, temperature) = (1e-3, 1.0);
    let proposal = [0.01, 0.99, 0.99, 0.01];
    let before = Transitions::new(&[0.0, 0.0], &proposal, Acceptance::Metropolis, temperature).unwrap();
    let after = Transitions::new(&[step, -step], &proposal, Acceptance::Metropolis, temperature).unwrap();
    let sum: f64 = before.row(0).iter().zip(after.row(0)).map(|(a, b)| (a - b).abs()).sum();
    assert!(sum > 3.9 * step && sum <= kernel_rows(Acceptance::Metropolis, 1.0, temperature) * step);
}

#[test]
fn soft_maxima_lie_within_their_bounds() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for _ in 0..500 {
        let states = rng.random_range(1..=20);
        let temperature = 10.0_f64.powf(rng.random_range(-3.0..2.0));
        let scores: Vec<f64> = (0..states).map(|_| rng.random_range(-1e3..1e3)).collect();
        let most = scores.iter().copied().fold(f64::MIN, f64::max);
        let soft = mellowmax(&scores, None, temperature);
        assert!(soft <= most && soft >= most - finite_error(states as f64, temperature) - 1e-9);
        let weights = law(&mut rng, states);
        let weighted = mellowmax(&scores, Some(&weights), temperature);
        let lightest = weights.iter().copied().fold(1.0, f64::min);
        assert!(weighted <= most && weighted >= most + temperature * lightest.ln() - 1e-9);
        let equal = vec![1.0 / states as f64; states];
        assert!((mellowmax(&scores, Some(&equal), temperature) - soft).abs() < 1e-9 * temperature.max(1.0));
        let p = soft_law(&scores, None, temperature);
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((states as f64 * p.iter().copied().fold(0.0, f64::max)).ln() - (most - soft) / temperature < 1e-9);
    }
    // Huge scores and tiny temperatures neither overflow nor vanish.
    assert_eq!(mellowmax(&[1e300, 1e300], None, 1e-300), 1e300);
    assert!((mellowmax(&[5.0, 4.0], None, 1e-3) - (5.0 - 1e-3 * 2.0_f64.ln())).abs() < 1e-12);
    assert_eq!(mellowmax(&[], None, 1.0), f64::NEG_INFINITY);
    assert_eq!(soft_law(&[f64::INFINITY, 0.0, f64::INFINITY], None, 1.0), [0.5, 0.0, 0.5]);
}

/// The closed form against a search over r, and the bound itself against cones, the worst of all scores, on an
/// interval.
#[test]
fn general_soft_maxima_lie_within_their_bounds() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    for _ in 0..200 {
        let space = MetricSpace {
            lipschitz: 5.0 * rng.random::<f64>(),
            diameter: 0.5 + rng.random::<f64>(),
            dim: rng.random_range(0.5..5.0),
            mass: rng.random_range(0.3..1.0),
        };
        let temperature = rng.random_range(0.01..2.0);
        let at = |r: f64| {
            space.lipschitz * r - temperature * space.mass.ln() + space.dim * temperature * (space.diameter / r).ln()
        };
        let searched = (1..=20_000).map(|k| at(space.diameter * f64::from(k) / 20_000.0)).fold(f64::INFINITY, f64::min);
        let searched = searched.min(space.lipschitz * space.diameter);
        let closed = space.error(temperature);
        assert!(
            closed <= searched + 1e-12 && closed >= searched - 1e-4 * (1.0 + searched),
            "{closed} is not {searched}"
        );

        // Scores −L·|t − at| on [0, D]: the mean of exp(score/w) is an integral known in closed form.
        let interval = MetricSpace::body(1, space.diameter, space.lipschitz);
        let (steep, top) = (space.lipschitz / temperature, space.diameter * rng.random::<f64>());
        let half = |length: f64| if steep > 0.0 { -(-steep * length).exp_m1() / steep } else { length };
        let below = -temperature * ((half(top) + half(space.diameter - top)) / space.diameter).ln();
        assert!((-1e-12..=interval.error(temperature) + 1e-12).contains(&below));
    }
}

#[test]
fn caps_have_their_share() {
    for k in 0..=40 {
        let angle = PI * f64::from(k) / 40.0;
        assert!((cap(2, angle) - angle / PI).abs() < 1e-14);
        assert!((cap(3, angle) - 0.5 * (1.0 - angle.cos())).abs() < 1e-14);
        // d = 4: ∫ sin² = (θ − sin θ cos θ)/2 of π/2.
        assert!((cap(4, angle) - (angle - angle.sin() * angle.cos()) / PI).abs() < 1e-14);
    }
    for dim in [2, 3, 5, 8, 20, 101] {
        // Simpson's rule over the density.
        let panels = 20_000;
        let simpson = |end: f64| {
            let height = |k: usize| (end * k as f64 / panels as f64).sin().powi(dim as i32 - 2);
            let inner: f64 = (1..panels).map(|k| if k % 2 == 1 { 4.0 * height(k) } else { 2.0 * height(k) }).sum();
            (height(0) + inner + height(panels)) * end / (3.0 * panels as f64)
        };
        let whole = simpson(PI);
        for angle in [1e-3, 0.1, 0.5, 1.0, 1.4, 1.56, 1.6, 2.5, 3.1] {
            let (exact, share) = (simpson(angle) / whole, cap(dim, angle));
            assert!((share - exact).abs() <= 1e-9 * exact + 1e-13, "{dim} {angle}: {share} is not {exact}");
            assert!(share >= (angle / PI).powi(dim as i32 - 1) * (1.0 - 1e-12), "mass 1 does");
            if angle <= PI / 2.0 {
                assert!(cap_below(dim, angle) <= share * (1.0 + 1e-12));
            }
        }
    }
}

#[test]
fn caps_hold_their_share_of_draws() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let draws = 200_000;
    // Hoeffding: a share of draws is further off than this with probability 2e-9.
    let margin = ((1e9_f64).ln() / (2.0 * f64::from(draws))).sqrt();
    for (dim, angle) in [(2, 0.7), (3, 1.9), (5, 1.2), (9, 1.4)] {
        let mut inside = 0;
        for _ in 0..draws {
            // Normal entries, by Box and Muller; the direction is uniform.
            let entries: Vec<f64> = (0..dim)
                .map(|_| (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt() * (2.0 * PI * rng.random::<f64>()).cos())
                .collect();
            let length = entries.iter().map(|e| e * e).sum::<f64>().sqrt();
            inside += u32::from(entries[0] / length >= f64::cos(angle));
        }
        let share = f64::from(inside) / f64::from(draws);
        assert!((share - cap(dim, angle)).abs() <= margin, "{dim}: {share} is not {}", cap(dim, angle));
    }
}

#[test]
fn peaks_on_the_sphere_are_bounded() {
    for steep in [1e-3_f64, 0.3, 1.0, 7.0, 100.0, 1e5] {
        // In three dimensions the integral is elementary: with u = 2 sin(t/2) it is ½∫₀² u·exp(−steep·u) du.
        let share = if steep < 0.01 {
            1.0 - 4.0 / 3.0 * steep
        } else {
            (1.0 - (-2.0 * steep).exp() * (1.0 + 2.0 * steep)) / (2.0 * steep * steep)
        };
        let found = (-log_peak(3, steep, 1.0)).exp();
        assert!(
            (found / share - 1.0).abs() < if steep < 0.01 { 1e-5 } else { 1e-8 },
            "{steep}: {found} is not {share}"
        );
        for dim in [2, 3, 4, 10, 60] {
            let best = log_peak(dim, steep, 1.0);
            assert!(best >= 0.0 && best <= log_peak_paper(dim, steep, 1.0) + 1e-9, "{dim} {steep}");
            assert!(best <= MetricSpace::sphere(dim, steep).error(1.0) + 1e-9, "{dim} {steep}");
            // No score differs by more than L times the sphere's diameter.
            assert!(best <= 2.0 * steep + 1e-9);
        }
    }
    // On the circle, with scores that are cosines of slope L, the peak's density stays below.
    for steep in [0.5, 3.0, 40.0] {
        let points = 10_000;
        let scores: Vec<f64> =
            (0..points).map(|k| steep * (2.0 * PI * f64::from(k) / f64::from(points)).cos()).collect();
        let log_density = steep - mellowmax(&scores, None, 1.0);
        assert!(log_density <= log_peak(2, steep, 1.0) && log_density > 0.0);
    }
    // The paper's constant where its condition holds: C_d·(w/L)^(d−1).
    let (dim, temperature, lipschitz) = (4, 0.1, 2.0_f64);
    let sines = PI / 2.0;
    let constant = (2.0 / PI * 3.0_f64).powi(2) * (-3.0_f64).exp() / sines;
    let expected = constant * (temperature / lipschitz).powi(3);
    assert!(((-log_peak_paper(dim, lipschitz, temperature)).exp() / expected - 1.0).abs() < 1e-12);
}

/// Far and near states of cones and linear functions, whose shares are known.
#[test]
fn far_states_outweigh_near_ones_by_no_more_than_the_ratio() {
    for slack in [0.01, 0.3, 1.0, 3.9, 5.0, 50.0] {
        // −L·|t − at| on [0, D].
        let (diameter, lipschitz) = (2.0, 1.5);
        for at in [0.0, 0.4, 1.0, 2.0_f64] {
            let share = |below: f64| {
                let reach = below / lipschitz;
                ((at + reach).min(diameter) - (at - reach).max(0.0)) / diameter
            };
            assert!((1.0 - share(slack / 2.0)) / share(slack / 4.0) <= body_ratio(1, diameter, lipschitz, slack));
        }
        // L·u₁ on spheres: near its maximum it falls by L(1 − cos θ), which is less than the chord allows for.
        for dim in [2, 3, 7] {
            let share = |below: f64| cap(dim, (1.0 - below / lipschitz).max(-1.0).acos());
            let ratio = (1.0 - share(slack / 2.0)) / share(slack / 4.0);
            assert!(ratio <= sphere_ratio(dim, lipschitz, slack), "{dim} {slack}");
            // A cone around a point is as bad as it gets: then the near states are the cap itself.
            let cone = |below: f64| cap(dim, 2.0 * (0.5 * below / lipschitz).min(1.0).asin());
            let ratio = (1.0 - cone(slack / 2.0)) / cone(slack / 4.0);
            assert!(ratio <= sphere_ratio(dim, lipschitz, slack) && ratio >= 0.0, "{dim} {slack}");
        }
    }
    assert_eq!(finite_ratio(5.0), 4.0);
}

/// The Poisson equation, solved by its series, stays within B_Z, L_Z and the drift of Proposition 1.
#[test]
fn poisson_solutions_stay_within_their_constants() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    for round in 0..200 {
        let states = rng.random_range(2..=6);
        let temperature = 0.3 + rng.random::<f64>();
        let (scores, rule) = (Scores::random(&mut rng, states, 2.0), RULES[round % 2]);
        let (x, y, best) = (point(&mut rng), point(&mut rng), point(&mut rng));
        let chain = |x| Transitions::new(&scores.at(x), &uniform(states), rule, temperature).unwrap();
        // Z and PZ = Z − e.
        let solution = |x| {
            let chain = chain(x);
            let change: Vec<f64> = scores.at(x).iter().zip(scores.at(best)).map(|(a, b)| a - b).collect();
            let mean: f64 = change.iter().zip(chain.law()).map(|(change, p)| change * p).sum();
            let error: Vec<f64> = change.iter().map(|change| change - mean).collect();
            let (mut term, mut sum) = (error.clone(), error.clone());
            for _ in 0..3000 {
                term = (0..states).map(|i| chain.row(i).iter().zip(&term).map(|(p, e)| p * e).sum()).collect();
                sum.iter_mut().zip(&term).for_each(|(sum, term)| *sum += term);
            }
            let ahead: Vec<f64> = sum.iter().zip(&error).map(|(z, e)| z - e).collect();
            (sum, ahead)
        };
        let fundamental = chain(x).fundamental_norm().unwrap().max(chain(y).fundamental_norm().unwrap());
        let diameter = 8.0_f64.sqrt();
        let constants = DescentConstants {
            lipschitz_f: 0.5,
            lipschitz_q: 1.0,
            diameter,
            fundamental,
            temperature,
            acceptance: rule,
        };
        let ((z, ahead), (z_y, ahead_y)) = (solution(x), solution(y));
        let size = |values: &[f64]| values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        let apart = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
        assert!(size(&z).max(size(&ahead)) <= constants.poisson_size());
        assert!(apart(&z, &z_y) <= constants.poisson_modulus() * distance(x, y) + 1e-9);
        let drift = constants.c1() / (2.0 * 1.5);
        assert!(apart(&ahead, &ahead_y) <= drift * distance(x, y) + 1e-9);
        let (b, l_p) = (2.0 * fundamental * diameter, 2.0 / temperature);
        let l_rows = if rule == Acceptance::Metropolis { 4.0 } else { 1.0 } / temperature;
        let l_z = fundamental * (2.0 + diameter * l_p) + 2.0 * fundamental * fundamental * diameter * (l_rows + l_p);
        assert!((constants.poisson_modulus() / l_z - 1.0).abs() < 1e-12);
        assert!((constants.c0(0.7) / (2.8 * b) - 1.0).abs() < 1e-12);
        assert!((drift / (l_rows * b + l_z) - 1.0).abs() < 1e-12);
    }
}

/// What the schedule of Proposition 2 is made for: |I|·exp(−Δ*/w_(k−1)) = (k + 1)^(−1/2).
#[test]
fn temperatures_fall_as_the_proof_needs() {
    for k in [1, 2, 10, 1000] {
        let (gap, states) = (0.7, 50.0);
        let left = states * (-gap / temperature_at(k - 1, gap, states)).exp();
        assert!((left * (k as f64 + 1.0).sqrt() - 1.0).abs() < 1e-12);
    }
}
