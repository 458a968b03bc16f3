//! How laws and kernels move with the incumbent and the temperature together (the lemma behind Proposition 2), and the
//! shares of balls in a convex body (the proof of Example 10).

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep::internals::chain::Acceptance;
use softsep::internals::theory::*;
use softsep_paper::theory::*;

use super::{RULES, Scores, distance, point, proposals};

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum()
}

/// ‖p_(x,w) − p_(y,v)‖₁ ≤ 2L'‖x − y‖/max(w, v) + 2Δ|1/w − 1/v|, and the same for rows of the kernels with 4L' and 2Δ
/// (Metropolis) or L' and Δ/2 (Barker). Δ, the largest difference of two scores, stands for its bound L'_ξ·diam(Ξ).
#[test]
fn laws_and_kernels_move_with_the_incumbent_and_the_temperature() {
    let mut rng = ChaCha8Rng::seed_from_u64(14);
    let (mut closest, mut of_law) = ([0.0_f64; 2], 0.0_f64);
    for round in 0..2000 {
        let states = rng.random_range(2..=5);
        let scores = Scores::random(&mut rng, states, 1.0);
        let x = point(&mut rng);
        // Now and then one of the two stays.
        let moved = if round % 3 == 0 { 0.0 } else { 0.1 };
        let y = [x[0] + moved * rng.random::<f64>(), x[1] - moved * rng.random::<f64>()];
        let w = rng.random_range(0.2..1.0);
        let v = if round % 3 == 1 { w } else { w * rng.random_range(0.9..1.1) };
        let spread = |x| {
            let scores = scores.at(x);
            let most = scores.iter().copied().fold(f64::MIN, f64::max);
            most - scores.iter().copied().fold(f64::MAX, f64::min)
        };
        let by_x = distance(x, y) / f64::max(w, v);
        let by_w = f64::max(spread(x), spread(y)) * (1.0 / w - 1.0 / v).abs();
        for proposal in proposals(&mut rng, states) {
            for (rule, closest) in RULES.into_iter().zip(&mut closest) {
                let at = |x, w| Transitions::new(&scores.at(x), &proposal, rule, w).unwrap();
                let (p, q) = (at(x, w), at(y, v));
                let law = apart(p.law(), q.law());
                assert!(law <= (2.0 * by_x + 2.0 * by_w) * (1.0 + 1e-9) + 1e-14, "round {round}: {law}");
                let factors = if rule == Acceptance::Metropolis { (4.0, 2.0) } else { (1.0, 0.5) };
                let bound = factors.0 * by_x + factors.1 * by_w;
                for i in 0..states {
                    let row = apart(p.row(i), q.row(i));
                    assert!(row <= bound * (1.0 + 1e-9) + 1e-14, "round {round}, {rule:?}: {row} above {bound}");
                    *closest = closest.max(if bound > 1e-9 { row / bound } else { 0.0 });
                }
                of_law = of_law.max(if by_x + by_w > 1e-9 { law / (2.0 * (by_x + by_w)) } else { 0.0 });
            }
        }
    }
    assert!(closest.iter().all(|share| *share > 0.4) && of_law > 0.2, "{closest:?} {of_law}");
}

/// Whether a point is in a body.
type Member = fn([f64; 2]) -> bool;

/// A ball of radius r around any point of a convex body has at least the share (r/D)^d of its volume, counted on a
/// grid: a triangle and a rectangle, around corners, edges and inner points.
#[test]
fn balls_of_a_body_have_their_share() {
    let is_in_triangle = |p: [f64; 2]| p[0] >= 0.0 && p[1] >= 0.0 && p[0] + 2.0 * p[1] <= 1.0;
    let is_in_rectangle = |p: [f64; 2]| (0.0..=1.0).contains(&p[0]) && (0.0..=0.3).contains(&p[1]);
    let bodies: [(Member, f64, [[f64; 2]; 4]); 2] = [
        (is_in_triangle, f64::hypot(1.0, 0.5), [[0.0, 0.0], [1.0, 0.0], [0.0, 0.5], [0.3, 0.2]]),
        (is_in_rectangle, f64::hypot(1.0, 0.3), [[0.0, 0.0], [1.0, 0.3], [0.5, 0.0], [0.4, 0.1]]),
    ];
    for (is_inside, diameter, centres) in bodies {
        let space = MetricSpace::body(2, diameter, 1.0);
        assert_eq!((space.mass, space.dim, space.diameter), (1.0, 2.0, diameter));
        let grid = |k: i32| (f64::from(k) + 0.5) / 600.0;
        let members: Vec<[f64; 2]> =
            (0..600 * 600).map(|k| [grid(k / 600), grid(k % 600)]).filter(|p| is_inside(*p)).collect();
        for centre in centres {
            assert!(is_inside(centre));
            for radius in [0.1, 0.25, 0.5, 0.9, diameter] {
                let near = members.iter().filter(|p| distance(**p, centre) <= radius).count();
                let (share, least) = (near as f64 / members.len() as f64, (radius / diameter).powi(2));
                // The grid counts an area up to its boundary's length times its spacing.
                assert!(share >= least - 0.03 * radius, "{centre:?}, r = {radius}: {share} below {least}");
            }
        }
    }
}
