//! Rigorous lower bounds on the depth of a vector in a cone, measured along a direction in its interior.
//!
//! Each cone K has a unit e in its interior: (1, 0, …) for second-order cones, the identity for semidefinite ones. The
//! depth of v is the largest r with `v − r·e ∈ K`; it is negative outside of K. Depths are superadditive because K is
//! closed under sums: the depth of one term can compensate the deficit of another.

use faer::{Mat, Side};

use crate::definition::ConeKind;
use crate::numeric::norm;
use crate::numeric::tolerances::SUMMATION_TOL;

/// Bisections in the search for a depth without closed form.
const BISECTIONS: usize = 100;

/// Relative error of `exp` and powers with rounded arguments.
const POWER_TOL: f64 = 1e-12;

/// A vector computed as a sum, with the total magnitude of its terms.
#[derive(Debug, Clone)]
pub(super) struct SizedSum {
    pub(super) value: Vec<f64>,
    pub(super) size: f64,
}

impl SizedSum {
    pub(super) fn zero(len: usize) -> Self {
        Self { value: vec![0.0; len], size: 0.0 }
    }

    /// Adds a multiple of another sum.
    pub(super) fn add(&mut self, factor: f64, other: &SizedSum) {
        self.value.iter_mut().zip(&other.value).for_each(|(value, other)| *value += factor * other);
        self.size += factor.abs() * other.size;
    }

    /// Adds a multiple of the cone's unit.
    pub(super) fn add_unit(&mut self, kind: ConeKind, by: f64) {
        let len = self.value.len();
        self.value.iter_mut().enumerate().for_each(|(index, value)| *value += by * unit(kind, len, index));
        self.size += by.abs() * len as f64;
    }

    /// A lower bound on the depth of the exact sum: accounts for rounding errors.
    pub(super) fn depth(&self, kind: ConeKind) -> f64 {
        depth(kind, &self.value) - SUMMATION_TOL * units_per_norm(kind) * self.size
    }
}

/// An entry of the cone's unit.
pub(super) fn unit(kind: ConeKind, len: usize, index: usize) -> f64 {
    match (kind, index) {
        (ConeKind::SecondOrder, 0) | (ConeKind::Power { .. }, 0 | 1) => 1.0,
        (ConeKind::SecondOrder | ConeKind::Power { .. }, _) => 0.0,
        // Well inside v·exp(u/v) ≤ w: 1/e is below 1.
        (ConeKind::Exponential, 0) => -1.0,
        (ConeKind::Exponential, _) => 1.0,
        (ConeKind::Semidefinite, _) => {
            let is_diagonal =
                (0..len).map(|k| k * (k + 3) / 2).take_while(|&diagonal| diagonal <= index).any(|d| d == index);
            if is_diagonal { 1.0 } else { 0.0 }
        }
    }
}

/// The number of units that brings any vector of length one into the cone.
pub(super) fn units_per_norm(kind: ConeKind) -> f64 {
    match kind {
        // r + v₀ ≥ ‖v̄‖ holds for r ≥ √2.
        ConeKind::SecondOrder => std::f64::consts::SQRT_2,
        ConeKind::Semidefinite => 1.0,
        // (1 − d)·(…) ≥ d holds for d ≤ ½.
        ConeKind::Power { .. } => 2.0,
        // Holds for d ≤ ¼: (1 + d)·exp((−1 + d)/(1 + d)) = 0.686 ≤ 1 − d.
        ConeKind::Exponential => 4.0,
    }
}

/// A lower bound on the largest r with `v − r·e` in the cone, without the rounding errors of v itself.
fn depth(kind: ConeKind, v: &[f64]) -> f64 {
    match (kind, v) {
        (ConeKind::SecondOrder, [first, rest @ ..]) => first - norm(rest),
        (ConeKind::Semidefinite, _) => least_eigenvalue(v),
        (ConeKind::Exponential, &[u, v, w]) => {
            let is_member = |r: f64| {
                let (u, v, w) = (u + r, v - r, w - r);
                v > 0.0 && v * (u / v).exp() * (1.0 + POWER_TOL) <= w || v >= 0.0 && u <= 0.0 && w >= v
            };
            bisect_depth(v.min(w), u.hypot(v).hypot(w) * units_per_norm(kind), is_member)
        }
        (ConeKind::Power { alpha }, &[x, y, z]) => {
            let is_member = |r: f64| {
                let (x, y) = (x - r, y - r);
                x >= 0.0 && y >= 0.0 && x.powf(alpha) * y.powf(1.0 - alpha) * (1.0 - POWER_TOL) >= z.abs()
            };
            bisect_depth(x.min(y), x.hypot(y).hypot(z) * units_per_norm(kind), is_member)
        }
        // Cones of other lengths are rejected when a program is built.
        _ => f64::NEG_INFINITY,
    }
}

/// The largest r ≤ `most` for which `is_member` is true, by bisection. The members form an interval that is unbounded
/// below and contains `−least`.
fn bisect_depth(most: f64, least: f64, is_member: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (-2.0 * least - f64::MIN_POSITIVE, most);
    if is_member(0.0) {
        low = 0.0;
    } else {
        high = high.min(0.0);
    }
    if !is_member(low) {
        return f64::NEG_INFINITY;
    }
    for _ in 0..BISECTIONS {
        let middle = low.midpoint(high);
        if is_member(middle) { low = middle } else { high = middle }
    }
    low
}

/// A lower bound on the least eigenvalue of the matrix with this scaled upper triangle.
fn least_eigenvalue(triangle: &[f64]) -> f64 {
    let side = ((8 * triangle.len() + 1).isqrt() - 1) / 2;
    let entry = |row: usize, col: usize| {
        let (low, high) = (row.min(col), row.max(col));
        let value = triangle[high * (high + 1) / 2 + low];
        if row == col { value } else { value * std::f64::consts::FRAC_1_SQRT_2 }
    };
    let matrix = Mat::from_fn(side, side, entry);
    let Ok(values) = matrix.self_adjoint_eigenvalues(Side::Lower) else { return f64::NEG_INFINITY };
    let least =
        values.iter().fold(f64::INFINITY, |least: f64, value| if value.is_nan() { *value } else { least.min(*value) });
    // Backward stability: the eigenvalues are exact for a matrix that differs by some units in the last place.
    let size = norm(triangle);
    let least = least - SUMMATION_TOL * side as f64 * size;
    if least.is_nan() { f64::NEG_INFINITY } else { least }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    const KINDS: [(ConeKind, usize); 5] = [
        (ConeKind::SecondOrder, 4),
        (ConeKind::SecondOrder, 1),
        (ConeKind::Exponential, 3),
        (ConeKind::Power { alpha: 0.3 }, 3),
        (ConeKind::Semidefinite, 6),
    ];

    /// Membership by definition, with a tolerance.
    fn is_member(kind: ConeKind, v: &[f64], tolerance: f64) -> bool {
        match kind {
            ConeKind::SecondOrder => v[1..].iter().map(|x| x * x).sum::<f64>().sqrt() <= v[0] + tolerance,
            ConeKind::Exponential => {
                v[1] + tolerance > 0.0
                    && (v[1] + tolerance) * ((v[0] - tolerance) / (v[1] + tolerance)).exp() <= v[2] + tolerance
            }
            ConeKind::Power { alpha } => {
                (v[0] + tolerance).max(0.0).powf(alpha) * (v[1] + tolerance).max(0.0).powf(1.0 - alpha) >= v[2].abs()
            }
            ConeKind::Semidefinite => {
                // Sylvester: all leading minors of M + tolerance·I are positive.
                let off = std::f64::consts::FRAC_1_SQRT_2;
                let (a, d, f) = (v[0] + tolerance, v[2] + tolerance, v[5] + tolerance);
                let (b, c, e) = (v[1] * off, v[3] * off, v[4] * off);
                a > 0.0 && a * d - b * b > 0.0 && a * (d * f - e * e) - b * (b * f - c * e) + c * (b * e - c * d) > 0.0
            }
        }
    }

    #[test]
    fn subtracting_the_depth_reaches_the_boundary() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for (kind, len) in KINDS {
            for _ in 0..300 {
                let value: Vec<f64> = (0..len).map(|_| rng.random_range(-3.0..3.0)).collect();
                let sum = SizedSum { size: value.iter().map(|v| v.abs()).sum(), value };
                let depth = sum.depth(kind);
                let mut at = sum.clone();
                at.add_unit(kind, -depth);
                assert!(is_member(kind, &at.value, 1e-9), "{kind:?} {:?} less {depth}", sum.value);
                at.add_unit(kind, -1e-6);
                assert!(!is_member(kind, &at.value, 1e-9), "{kind:?} {:?}: {depth} is too shallow", sum.value);
            }
        }
    }

    #[test]
    fn units_per_norm_bring_any_unit_vector_into_the_cone() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        for (kind, len) in KINDS {
            for _ in 0..1000 {
                let v: Vec<f64> = (0..len).map(|_| rng.random_range(-1.0..1.0)).collect();
                let length = v.iter().map(|v| v * v).sum::<f64>().sqrt();
                let sum = SizedSum { value: v.iter().map(|v| v / length).collect(), size: 1.0 };
                assert!(sum.depth(kind) >= -units_per_norm(kind) - 1e-9, "{kind:?} {:?}", sum.value);
            }
        }
    }
}
