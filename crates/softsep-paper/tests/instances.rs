//! The uncertainty sets of the paper's Section 5 as the text describes them.
#![allow(clippy::unwrap_used, clippy::panic)]

use softsep::uncertainty::{SetDefinition, Sides};
use softsep_paper::instances::{LocationTransportation, Uncertain, location_transportation};

fn set(n: usize, uncertainty: Uncertain, seed: u64) -> SetDefinition {
    let drawn = LocationTransportation { n, uncertainty, mixed_integer: false, seed };
    location_transportation(&drawn).unwrap().uncertainty.set
}

/// ξ = ½·1 + R·diag(a)·u with a rotation R: the columns of the matrix are orthogonal, their lengths are the semi-axes
/// in [0.1, 0.5], and R keeps orientation.
#[test]
fn ellipsoids_have_the_axes_and_the_center_of_the_text() {
    let mut lengths = Vec::new();
    for seed in 0..30 {
        let n = 2 + seed as usize % 3;
        let SetDefinition::Ellipsoid { center, matrix } = set(n, Uncertain::Ellipsoid, seed) else {
            panic!("seed {seed}")
        };
        assert_eq!(center, vec![0.5; n]);
        let product = |a: usize, b: usize| matrix.iter().map(|row| row[a] * row[b]).sum::<f64>();
        for a in 0..n {
            lengths.push(product(a, a).sqrt());
            assert!(
                (0..a).all(|b| product(a, b).abs() < 1e-12),
                "seed {seed}: columns {a} and another are not orthogonal"
            );
        }
        let m = &matrix;
        let determinant = match n {
            2 => m[0][0] * m[1][1] - m[0][1] * m[1][0],
            3 => (0..3)
                .map(|k| m[0][k] * (m[1][(k + 1) % 3] * m[2][(k + 2) % 3] - m[1][(k + 2) % 3] * m[2][(k + 1) % 3]))
                .sum(),
            _ => 1.0,
        };
        assert!(determinant > 0.0, "seed {seed}: {determinant}");
    }
    let (least, most) = lengths.iter().fold((1.0_f64, 0.0_f64), |(low, high), a| (low.min(*a), high.max(*a)));
    assert!((0.1..0.15).contains(&least) && (0.45..=0.5 + 1e-12).contains(&most), "from {least} to {most}");
}

/// 0 ≤ ξ ≤ 1 and 1ᵀξ ≤ nΓ.
#[test]
fn budgets_are_those_of_the_text() {
    for (n, gamma) in [(30, 0.1), (7, 0.5), (50, 0.9)] {
        let SetDefinition::Budget { budget, sides, center, scale } = set(n, Uncertain::Budget { gamma }, 3) else {
            panic!("n = {n}")
        };
        assert_eq!((budget, sides), (n as f64 * gamma, Sides::One));
        assert_eq!((center, scale), (vec![0.0; n], vec![1.0; n]));
    }
}
