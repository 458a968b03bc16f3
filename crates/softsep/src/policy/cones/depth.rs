//! How deep a vector is in a cone, measured along one direction inside it, for sure.
//!
//! Each cone K has a unit e in its interior: (1, 0, …) for second-order cones, the identity for semidefinite ones. The
//! depth of v is the largest r with `v − r·e ∈ K`, negative outside. Depths add up: what one member of a sum lacks
//! another may give, since K is closed under sums.

use faer::{Mat, Side};

use crate::definition::ConeKind;

/// The share of the sum of all magnitudes that is taken off for what rounding may have lost: some hundred units in the
/// last place.
const ROUNDING: f64 = 1e-14;

/// Halvings in the search for a depth that has no closed form.
const HALVINGS: usize = 100;

/// What `exp` and powers may be off by, relative, when their arguments were rounded.
const INEXACT: f64 = 1e-12;

/// A vector that is a sum, and the size of what was summed.
#[derive(Debug, Clone)]
pub(super) struct Sum {
    pub(super) value: Vec<f64>,
    pub(super) size: f64,
}

impl Sum {
    pub(super) fn zero(len: usize) -> Self {
        Self { value: vec![0.0; len], size: 0.0 }
    }

    /// Adds a multiple of another sum.
    pub(super) fn add(&mut self, factor: f64, other: &Sum) {
        self.value.iter_mut().zip(&other.value).for_each(|(value, other)| *value += factor * other);
        self.size += factor.abs() * other.size;
    }

    /// Adds a multiple of the cone's unit.
    pub(super) fn lift(&mut self, kind: ConeKind, by: f64) {
        let len = self.value.len();
        self.value.iter_mut().enumerate().for_each(|(place, value)| *value += by * unit(kind, len, place));
        self.size += by.abs() * len as f64;
    }

    /// Its depth, from below: whatever rounding did to the sum.
    pub(super) fn depth(&self, kind: ConeKind) -> f64 {
        depth(kind, &self.value) - ROUNDING * roundness(kind) * self.size
    }
}

/// An entry of the cone's unit.
pub(super) fn unit(kind: ConeKind, len: usize, place: usize) -> f64 {
    match (kind, place) {
        (ConeKind::SecondOrder, 0) | (ConeKind::Power { .. }, 0 | 1) => 1.0,
        (ConeKind::SecondOrder | ConeKind::Power { .. }, _) => 0.0,
        // Well inside v·exp(u/v) ≤ w: 1/e is below 1.
        (ConeKind::Exponential, 0) => -1.0,
        (ConeKind::Exponential, _) => 1.0,
        (ConeKind::Semidefinite, _) => {
            let is_diagonal =
                (0..len).map(|k| k * (k + 3) / 2).take_while(|&diagonal| diagonal <= place).any(|d| d == place);
            if is_diagonal { 1.0 } else { 0.0 }
        }
    }
}

/// How many units bring any vector of length one into the cone.
pub(super) fn roundness(kind: ConeKind) -> f64 {
    match kind {
        // r + v₀ ≥ ‖v̄‖ holds from r = √2 on.
        ConeKind::SecondOrder => std::f64::consts::SQRT_2,
        ConeKind::Semidefinite => 1.0,
        // (1 − d)·(…) ≥ d up to d = ½.
        ConeKind::Power { .. } => 2.0,
        // Up to d = ¼: (1 + d)·exp((−1 + d)/(1 + d)) = 0.686 ≤ 1 − d.
        ConeKind::Exponential => 4.0,
    }
}

/// The largest r with `v − r·e` in the cone, from below but for the rounding of v itself.
fn depth(kind: ConeKind, v: &[f64]) -> f64 {
    match (kind, v) {
        (ConeKind::SecondOrder, [first, rest @ ..]) => {
            first - rest.iter().map(|entry| entry * entry).sum::<f64>().sqrt()
        }
        (ConeKind::Semidefinite, _) => least_eigenvalue(v),
        (ConeKind::Exponential, &[u, v, w]) => {
            let is_member = |r: f64| {
                let (u, v, w) = (u + r, v - r, w - r);
                v > 0.0 && v * (u / v).exp() * (1.0 + INEXACT) <= w || v >= 0.0 && u <= 0.0 && w >= v
            };
            deepest(v.min(w), u.hypot(v).hypot(w) * roundness(kind), is_member)
        }
        (ConeKind::Power { alpha }, &[x, y, z]) => {
            let is_member = |r: f64| {
                let (x, y) = (x - r, y - r);
                x >= 0.0 && y >= 0.0 && x.powf(alpha) * y.powf(1.0 - alpha) * (1.0 - INEXACT) >= z.abs()
            };
            deepest(x.min(y), x.hypot(y).hypot(z) * roundness(kind), is_member)
        }
        // Cones of other lengths are refused when a program is built.
        _ => f64::NEG_INFINITY,
    }
}

/// The largest r up to `most` that `is_member` says yes to, by halving: all below a member are members, and `−least` is
/// one.
fn deepest(most: f64, least: f64, is_member: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (-2.0 * least - f64::MIN_POSITIVE, most);
    if is_member(0.0) {
        low = 0.0;
    } else {
        high = high.min(0.0);
    }
    if !is_member(low) {
        return f64::NEG_INFINITY;
    }
    for _ in 0..HALVINGS {
        let middle = low.midpoint(high);
        if is_member(middle) { low = middle } else { high = middle }
    }
    low
}

/// The least eigenvalue of the matrix with this scaled upper triangle, from below.
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
    // Backward stable: the eigenvalues are those of a matrix some units in the last place away.
    let size = triangle.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
    let least = least - ROUNDING * side as f64 * size;
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

    /// Membership written out from the definition, with a tolerance.
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
    fn a_vector_less_its_depth_is_on_the_boundary() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for (kind, len) in KINDS {
            for _ in 0..300 {
                let value: Vec<f64> = (0..len).map(|_| rng.random_range(-3.0..3.0)).collect();
                let sum = Sum { size: value.iter().map(|v| v.abs()).sum(), value };
                let depth = sum.depth(kind);
                let mut at = sum.clone();
                at.lift(kind, -depth);
                assert!(is_member(kind, &at.value, 1e-9), "{kind:?} {:?} less {depth}", sum.value);
                at.lift(kind, -1e-6);
                assert!(!is_member(kind, &at.value, 1e-9), "{kind:?} {:?}: {depth} is too shallow", sum.value);
            }
        }
    }

    #[test]
    fn so_many_units_bring_any_vector_in() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        for (kind, len) in KINDS {
            for _ in 0..1000 {
                let v: Vec<f64> = (0..len).map(|_| rng.random_range(-1.0..1.0)).collect();
                let length = v.iter().map(|v| v * v).sum::<f64>().sqrt();
                let sum = Sum { value: v.iter().map(|v| v / length).collect(), size: 1.0 };
                assert!(sum.depth(kind) >= -roundness(kind) - 1e-9, "{kind:?} {:?}", sum.value);
            }
        }
    }
}
