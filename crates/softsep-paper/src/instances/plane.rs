//! Random points in the plane, and links between them.

use std::f64::consts::TAU;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Points of a square of side 100, ordered by angle around its centre.
pub(super) struct Plane {
    points: Vec<[f64; 2]>,
}

impl Plane {
    /// Draws n points, uniform.
    pub(super) fn draw(n: usize, mut rng: ChaCha8Rng) -> Self {
        let mut points: Vec<[f64; 2]> =
            (0..n).map(|_| [rng.random_range(-50.0..=50.0), rng.random_range(-50.0..=50.0)]).collect();
        let angle = |point: &[f64; 2]| point[1].atan2(point[0]).rem_euclid(TAU);
        points.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
        Self { points }
    }

    /// The distance of two points.
    pub(super) fn distance(&self, from: usize, to: usize) -> f64 {
        let ([a, b], [c, d]) = (self.points[from], self.points[to]);
        ((a - c).powi(2) + (b - d).powi(2)).sqrt()
    }

    /// Pairs of points, each once: a ring through all of them, so that every point is reached in two ways, and the
    /// shortest others, half as many as there are points.
    pub(super) fn links(&self) -> Vec<(usize, usize)> {
        let n = self.points.len();
        let is_next = |from: usize, to: usize| to == from + 1 || (from == 0 && to + 1 == n);
        let pairs = (0..n).flat_map(|from| (from + 1..n).map(move |to| (from, to)));
        let (mut links, mut others): (Vec<_>, Vec<_>) = pairs.partition(|&(from, to)| is_next(from, to));
        others.sort_by(|a, b| self.distance(a.0, a.1).total_cmp(&self.distance(b.0, b.1)));
        links.extend(others.into_iter().take(n / 2));
        links
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn every_point_has_two_links_and_no_pair_is_repeated() {
        for (n, count) in [(1, 0), (2, 1), (3, 3), (4, 6), (5, 7), (20, 30)] {
            let plane = Plane::draw(n, ChaCha8Rng::seed_from_u64(4));
            let mut links = plane.links();
            assert_eq!(links.len(), count, "n = {n}");
            let degree = |point| links.iter().filter(|link| link.0 == point || link.1 == point).count();
            assert!((0..n).all(|point| degree(point) >= 2.min(n - 1)), "n = {n}");
            assert!(links.iter().all(|&(from, to)| from < to && plane.distance(from, to) > 0.0), "n = {n}");
            links.sort_unstable();
            links.dedup();
            assert_eq!(links.len(), count, "n = {n}");
        }
    }
}
