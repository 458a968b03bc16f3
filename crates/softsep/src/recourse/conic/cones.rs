//! Projection of multipliers into dual cones, and of slacks into cones.
//!
//! A bound proved by duality holds for every multiplier in the dual cone, and for none outside of it. Interior-point
//! multipliers are inside up to rounding, so each correction below changes them by about as much. Its effect on the
//! bound is part of the duality gap, which is checked afterwards.

use std::ops::Range;

use super::standard_form::matrix_side;
use crate::definition::ConeKind;
use crate::numeric::dot;

/// Returns the linear map that takes multipliers `z[entries]` in the dual of a cone into the cone itself, and no
/// others: one list of terms per row of the cone.
pub(super) fn dual_cone_rows(kind: ConeKind, entries: Range<usize>) -> Vec<Vec<(usize, f64)>> {
    let at = entries.start;
    match kind {
        // −u·exp(v/u − 1) ≤ w.
        ConeKind::Exponential => vec![vec![(at, 1.0), (at + 1, -1.0)], vec![(at, -1.0)], vec![(at + 2, 1.0)]],
        ConeKind::Power { alpha } => {
            vec![vec![(at, alpha.recip())], vec![(at + 1, (1.0 - alpha).recip())], vec![(at + 2, 1.0)]]
        }
        // Self-dual.
        ConeKind::SecondOrder | ConeKind::Semidefinite => entries.map(|entry| vec![(entry, 1.0)]).collect(),
    }
}

/// Moves `z` into the dual of a cone. `matrix` is scratch for the square matrix of a semidefinite cone.
pub(super) fn into_dual_cone(kind: ConeKind, z: &mut [f64], matrix: &mut [f64]) {
    match (kind, &mut *z) {
        // Self-dual.
        (ConeKind::SecondOrder, [first, rest @ ..]) => {
            *first = first.max(rest.iter().map(|entry| entry * entry).sum::<f64>().sqrt());
        }
        (ConeKind::Exponential, [u, v, w]) => into_dual_exponential(u, v, w),
        // (u/α)^α (v/(1−α))^(1−α) ≥ |w|, u, v ≥ 0.
        (ConeKind::Power { alpha }, [u, v, w]) => {
            (*u, *v) = (u.max(0.0), v.max(0.0));
            let limit = (*u / alpha).powf(alpha) * (*v / (1.0 - alpha)).powf(1.0 - alpha);
            *w = w.clamp(-limit, limit);
        }
        (ConeKind::Semidefinite, _) => lift_into_semidefinite(z, matrix),
        // Cones of other lengths are rejected when the program is built.
        _ => {}
    }
}

/// Moves `s` into a cone. `matrix` is as in [`into_dual_cone`].
pub(super) fn into_cone(kind: ConeKind, s: &mut [f64], matrix: &mut [f64]) {
    // The inverse of the map of `dual_cone_rows` takes the cone into its dual, where the move is made.
    match (kind, &mut *s) {
        (ConeKind::Exponential, [a, b, c]) => {
            let mut z = [-*b, -*b - *a, *c];
            let outside = z;
            into_dual_cone(kind, &mut z, matrix);
            if z != outside {
                (*a, *b, *c) = (z[0] - z[1], -z[0], z[2]);
            }
        }
        (ConeKind::Power { alpha }, [a, b, c]) => {
            let mut z = [alpha * *a, (1.0 - alpha) * *b, *c];
            into_dual_cone(kind, &mut z, matrix);
            (*a, *b, *c) = (a.max(0.0), b.max(0.0), z[2]);
        }
        // Self-dual.
        _ => into_dual_cone(kind, s, matrix),
    }
}

/// Returns the unit normal of a dual cone's boundary near `z`, or zeros where it has none or is not smooth.
pub(super) fn dual_cone_normal(kind: ConeKind, z: &[f64]) -> Vec<f64> {
    let mut normal = match (kind, z) {
        (ConeKind::SecondOrder, [_, rest @ ..]) => {
            let norm = dot(rest, rest).sqrt();
            std::iter::once(1.0).chain(rest.iter().map(|entry| -entry / norm)).collect()
        }
        (ConeKind::Exponential, &[u, _, w]) => vec![-(-w / u).ln(), 1.0, -u / w],
        (ConeKind::Power { alpha }, &[u, v, w]) => {
            let limit = (u / alpha).powf(alpha) * (v / (1.0 - alpha)).powf(1.0 - alpha);
            vec![alpha * limit / u, (1.0 - alpha) * limit / v, -w.signum()]
        }
        _ => vec![0.0; z.len()],
    };
    let norm = dot(&normal, &normal).sqrt();
    let scale = if norm > 0.0 && norm.is_finite() { norm.recip() } else { 0.0 };
    normal.iter_mut().for_each(|entry| *entry = if scale > 0.0 { *entry * scale } else { 0.0 });
    normal
}

/// Moves `(u, v, w)` into the dual of `{v·exp(u/v) ≤ w}`: the closure of `{u < 0, w > 0, v ≥ u + u·ln(−w/u)}`, which at
/// u = 0 is `{v, w ≥ 0}`.
fn into_dual_exponential(u: &mut f64, v: &mut f64, w: &mut f64) {
    if *u < 0.0 && *w > 0.0 {
        *v = v.max(*u + *u * (-*w / *u).ln());
    } else {
        (*u, *v, *w) = (0.0, v.max(0.0), w.max(0.0));
    }
}

/// Adds a multiple of the identity, so that the matrix has a Cholesky factor. The multiples tried grow fourfold from
/// rounding size. The semidefinite cone is self-dual.
fn lift_into_semidefinite(z: &mut [f64], matrix: &mut [f64]) {
    let side = matrix_side(z.len());
    let size = z.iter().fold(0.0, |size: f64, entry| size.max(entry.abs()));
    // Eigenvalues are at least −side·size, so the loop ends by then. The limit on its steps only guards against NaN.
    let mut lift = 0.0;
    for step in 0..64 {
        if size == 0.0 || factorises(z, lift, side, matrix) {
            break;
        }
        lift = size * f64::EPSILON * 4.0_f64.powi(step);
    }
    for k in 0..side {
        z[k * (k + 3) / 2] += lift;
    }
}

/// Returns whether the matrix with the scaled upper triangle `z`, plus `lift` times the identity, has a Cholesky
/// factor.
fn factorises(z: &[f64], lift: f64, side: usize, factor: &mut [f64]) -> bool {
    // Row k of the lower factor L is stored at factor[k·side ..]: L Lᵀ = M.
    for k in 0..side {
        for j in 0..=k {
            let entry = z[k * (k + 1) / 2 + j];
            let entry = if j == k { entry + lift } else { entry * std::f64::consts::FRAC_1_SQRT_2 };
            let product: f64 = (0..j).map(|i| factor[k * side + i] * factor[j * side + i]).sum();
            let rest = entry - product;
            factor[k * side + j] = if j < k {
                rest / factor[j * side + j]
            } else if rest > 0.0 {
                rest.sqrt()
            } else {
                return false;
            };
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_stay_and_others_move_onto_the_boundary() {
        let repaired = |kind, z: &[f64]| {
            let mut z = z.to_vec();
            into_dual_cone(kind, &mut z, &mut [0.0; 9]);
            z
        };
        assert_eq!(repaired(ConeKind::SecondOrder, &[6.0, 3.0, 4.0]), [6.0, 3.0, 4.0]);
        assert_eq!(repaired(ConeKind::SecondOrder, &[4.0, 3.0, 4.0]), [5.0, 3.0, 4.0]);
        assert_eq!(repaired(ConeKind::Exponential, &[-1.0, 0.0, 1.0]), [-1.0, 0.0, 1.0]);
        assert_eq!(repaired(ConeKind::Exponential, &[-1.0, -2.0, 1.0]), [-1.0, -1.0, 1.0]);
        assert_eq!(repaired(ConeKind::Exponential, &[1e-12, -1e-12, 2.0]), [0.0, 0.0, 2.0]);
        assert_eq!(repaired(ConeKind::Power { alpha: 0.5 }, &[0.5, 0.5, -2.0]), [0.5, 0.5, -1.0]);
        assert_eq!(repaired(ConeKind::Semidefinite, &[0.0; 6]), [0.0; 6]);
        assert_eq!(repaired(ConeKind::Semidefinite, &[2.0, 1.0, 2.0]), [2.0, 1.0, 2.0]);
        // [[1, 2], [2, 1]] has the eigenvalue −1: the lift is at least 1, and less than fourfold that.
        let lifted = repaired(ConeKind::Semidefinite, &[1.0, 2.0 * std::f64::consts::SQRT_2, 1.0]);
        assert!((2.0..5.0).contains(&lifted[0]) && lifted[0] == lifted[2]);
    }

    #[test]
    fn slacks_move_into_the_cone_and_members_stay() {
        let moved = |kind, s: &[f64]| {
            let mut s = s.to_vec();
            into_cone(kind, &mut s, &mut [0.0; 9]);
            s
        };
        let is_exponential = |s: &[f64]| s[1] * (s[0] / s[1]).exp() <= s[2] * (1.0 + 1e-12);
        assert_eq!(moved(ConeKind::Exponential, &[1.0, 1.0, 3.0]), [1.0, 1.0, 3.0]);
        assert!(is_exponential(&moved(ConeKind::Exponential, &[1.0, 1.0, 2.5])));
        assert_eq!(moved(ConeKind::Power { alpha: 0.5 }, &[1.0, 4.0, 2.0]), [1.0, 4.0, 2.0]);
        assert_eq!(moved(ConeKind::Power { alpha: 0.5 }, &[1.0, 4.0, -3.0]), [1.0, 4.0, -2.0]);
        assert_eq!(moved(ConeKind::SecondOrder, &[4.0, 3.0, 4.0]), [5.0, 3.0, 4.0]);
    }
}
