//! Random streams, vectors and rotations.

use std::f64::consts::TAU;

use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The random numbers of an instance: one stream for each kind of data, so that draws of one kind do not change
/// another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Streams {
    /// The seed of all of them.
    pub(super) seed: u64,
}

impl Streams {
    /// The stream of one kind of data.
    pub(super) fn of(self, kind: u64) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(kind << 32);
        rng
    }

    /// Integers, uniform.
    pub(super) fn integers(self, kind: u64, count: usize, from: i32, to: i32) -> Vec<f64> {
        let mut rng = self.of(kind);
        (0..count).map(|_| f64::from(rng.random_range(from..=to))).collect()
    }

    /// A share of each of these, uniform.
    pub(super) fn shares(self, kind: u64, of: &[f64], from: f64, to: f64) -> Vec<f64> {
        let mut rng = self.of(kind);
        of.iter().map(|whole| rng.random_range(from..=to) * whole).collect()
    }
}

/// A standard normal number (Box and Muller).
pub(super) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    // `random` is in [0, 1); the logarithm needs (0, 1].
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    radius * (TAU * rng.random::<f64>()).cos()
}

/// A point on the unit sphere, uniform.
pub(super) fn on_sphere(dim: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    loop {
        let mut point: Vec<f64> = (0..dim).map(|_| normal(rng)).collect();
        let norm = point.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
        if norm > 0.0 {
            point.iter_mut().for_each(|entry| *entry /= norm);
            return point;
        }
    }
}

/// A point on the boundary of `{diag(a)u : ‖u‖ ≤ 1}`, uniform by area, as the u that it comes from.
///
/// The map `u → diag(a)u` stretches the sphere's area at u by a constant times `‖diag(a)⁻¹u‖`, which is at most `1/min
/// a`; the paper's Example 6 accepts with the share of that maximum.
pub(super) fn on_ellipsoid(semi_axes: &[f64], rng: &mut ChaCha8Rng) -> Vec<f64> {
    let shortest = semi_axes.iter().copied().fold(f64::INFINITY, f64::min);
    loop {
        let u = on_sphere(semi_axes.len(), rng);
        let stretch = u.iter().zip(semi_axes).map(|(u, a)| (u / a).powi(2)).sum::<f64>().sqrt();
        if rng.random::<f64>() < stretch * shortest {
            return u;
        }
    }
}

/// A rotation from the Haar distribution on SO(n): the Q of a Gaussian matrix, with the signs that make R's diagonal
/// positive (Mezzadri, 2007), and one column turned round if it is a reflection.
pub(super) fn rotation(dim: usize, rng: &mut ChaCha8Rng) -> Mat<f64> {
    let mut gaussian = Mat::<f64>::zeros(dim, dim);
    for column in 0..dim {
        for row in 0..dim {
            gaussian[(row, column)] = normal(rng);
        }
    }
    let factors = gaussian.qr();
    let (mut q, r) = (factors.compute_Q(), factors.thin_R());
    for column in 0..dim {
        if r[(column, column)] < 0.0 {
            turn_round(&mut q, column);
        }
    }
    if dim > 0 && q.determinant() < 0.0 {
        turn_round(&mut q, 0);
    }
    q
}

fn turn_round(matrix: &mut Mat<f64>, column: usize) {
    for row in 0..matrix.nrows() {
        matrix[(row, column)] = -matrix[(row, column)];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotation_is_orthogonal_and_keeps_orientation() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for dim in [1, 2, 3, 8, 30] {
            let r = rotation(dim, &mut rng);
            let product = r.transpose() * &r;
            for row in 0..dim {
                for column in 0..dim {
                    let want = if row == column { 1.0 } else { 0.0 };
                    assert!((product[(row, column)] - want).abs() < 1e-12);
                }
            }
            assert!((r.determinant() - 1.0).abs() < 1e-10);
        }
    }

    /// The entries of a Haar matrix have mean 0 and variance 1/n. The mean of 4000 squares has a standard error below
    /// √(2/9)/√4000 = 0.0075; six of them are never passed by chance.
    #[test]
    fn a_rotation_favours_no_direction() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let (mut mean, mut square) = (0.0, 0.0);
        for _ in 0..4000 {
            let entry = rotation(3, &mut rng)[(0, 0)];
            mean += entry / 4000.0;
            square += entry * entry / 4000.0;
        }
        assert!(mean.abs() < 0.055 && (square - 1.0 / 3.0).abs() < 0.045, "{mean} {square}");
    }

    /// On an ellipse, uniform by arc length: the share of the points in the first half of the quarter arc, by angle of
    /// u, equals the share of its length. Standard error 0.5/√20000 = 0.0035.
    #[test]
    fn points_on_an_ellipse_are_uniform_by_length() {
        let semi_axes = [0.5, 0.1];
        let speed = |angle: f64| ((0.5 * angle.sin()).powi(2) + (0.1 * angle.cos()).powi(2)).sqrt();
        let length =
            |to: f64| (0..2000).map(|step| speed((f64::from(step) + 0.5) / 2000.0 * to) * to / 2000.0).sum::<f64>();
        let want = length(TAU / 8.0) / length(TAU / 4.0);
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let flat = (0..20_000).map(|_| on_ellipsoid(&semi_axes, &mut rng)).filter(|u| u[0].abs() > u[1].abs()).count();
        assert!((flat as f64 / 20_000.0 - want).abs() < 0.02, "{flat} {want}");
    }
}
