//! A block that is in its cone for every u of the unit ball.
//!
//! A block in a second-order cone is a linear map from (1, u) to (t, v), and what is asked is that it maps one
//! second-order cone into another. These maps have an exact description by a matrix inequality (Hildebrand, *An LMI
//! description for the cone of Lorentz-positive maps*, 2007). Let `W(x)` be the matrix with x₀ + x₁ and then x₀ − x₁
//! all along its diagonal and x₂, x₃, … in its first row and column. The products zzᵀ with W are all rays of the cone's
//! boundary, so the map is positive if and only if `(z⊗w)ᵀ·(W⊗W)(map)·(z⊗w) ≥ 0` for all z, w, and
//!
//! ```text
//! (W⊗W)(map) + X ≽ 0,    X a sum of products of two skew matrices
//! ```
//!
//! proves that, since `(z⊗w)ᵀX(z⊗w) = 0`. (That there is such an X for every positive map is the theorem, and not
//! needed for a proof.) A unit more in t adds the identity. The matrix has (entries − 1)·(axes) rows; where that is too
//! many, and for other cones, the ball is replaced by a polytope around it.

use super::block::{Affines, Block, Numbers};
use super::depth::Sum;
use super::polytope::in_cone;
use crate::definition::{ConeKind, VariableKind};
use crate::recourse::{Program, RecourseError};
use crate::uncertainty::{Polytope, ShapeRow};

/// Rows of the largest matrix that is asked for: one step of an interior point takes time with their sixth power.
pub(super) const LARGEST: usize = 30;

/// The sides of the two factors: at least two rows each.
#[derive(Debug, Clone, Copy)]
struct Sides {
    of_block: usize,
    of_ball: usize,
}

impl Sides {
    fn of(len: usize, axes: usize) -> Self {
        Self { of_block: len.max(3) - 1, of_ball: axes }
    }

    /// Calls back for each entry on or above the diagonal, by columns: what coefficients of the map (which coordinate,
    /// with 0 for the constant; which entry) it is the sum of, and the number of the skew product in it with its sign.
    fn each(self, mut entry: impl FnMut(bool, &[(usize, usize, f64)], Option<(usize, f64)>)) {
        let side = self.of_block * self.of_ball;
        let pairs_of_ball = self.of_ball * (self.of_ball - 1) / 2;
        let pair = |low: usize, high: usize| high * (high - 1) / 2 + low;
        let mut parts = Vec::with_capacity(4);
        for column in 0..side {
            for row in 0..=column {
                let ((i, k), (j, l)) =
                    ((row / self.of_ball, row % self.of_ball), (column / self.of_ball, column % self.of_ball));
                parts.clear();
                for (of_block, a) in places(i, j).into_iter().flatten() {
                    for (of_ball, b) in places(k, l).into_iter().flatten() {
                        parts.push((of_ball, of_block, a * b));
                    }
                }
                let skew = (i < j && k != l).then(|| {
                    let number = pair(i, j) * pairs_of_ball + pair(k.min(l), k.max(l));
                    (number, if k < l { 1.0 } else { -1.0 })
                });
                entry(row == column, &parts, skew);
            }
        }
    }

    fn skew_products(self) -> usize {
        self.of_block * (self.of_block - 1) / 2 * (self.of_ball * (self.of_ball - 1) / 2)
    }
}

/// Which entries of x stand at a place of W(x), and with which sign.
fn places(row: usize, column: usize) -> [Option<(usize, f64)>; 2] {
    match (row.min(column), row.max(column)) {
        (0, 0) => [Some((0, 1.0)), Some((1, 1.0))],
        (low, high) if low == high => [Some((0, 1.0)), Some((1, -1.0))],
        (0, high) => [Some((high + 1, 1.0)), None],
        _ => [None, None],
    }
}

/// Whether the matrix inequality is used for a block: with one axis the polytope around the ball is the ball.
pub(super) fn has_matrix(kind: ConeKind, len: usize, axes: usize) -> bool {
    let Sides { of_block, of_ball } = Sides::of(len, axes);
    cfg!(feature = "psd") && kind == ConeKind::SecondOrder && axes >= 2 && of_block * of_ball <= LARGEST
}

/// Asks for a block of a second-order cone, a function of u, in it on all of the ball, `room` units deep. Returns the
/// first column of X.
pub(super) fn hold(program: &mut dyn Program, block: &Block, room: f64) -> Result<usize, RecourseError> {
    let sides = Sides::of(block.len(), block.dim());
    let columns: Vec<usize> = (0..sides.skew_products())
        .map(|_| program.col(0.0, f64::NEG_INFINITY, f64::INFINITY, VariableKind::Continuous))
        .collect();
    let constant = block.at(&[]);
    let slopes: Vec<Affines> = (0..block.dim()).map(|axis| block.step(axis, 1.0)).collect();
    let mut triangle: Affines = Vec::new();
    sides.each(|is_diagonal, parts, skew| {
        let scale = if is_diagonal { 1.0 } else { std::f64::consts::SQRT_2 };
        let mut entry = (0.0, Vec::new());
        for &(coordinate, place, sign) in parts {
            let affine = if coordinate == 0 { constant.get(place) } else { slopes[coordinate - 1].get(place) };
            // A block of two entries has nothing in the third.
            let Some((number, terms)) = affine else { continue };
            entry.0 += scale * sign * number;
            entry.1.extend(terms.iter().map(|&(column, value)| (column, scale * sign * value)));
        }
        entry.1.extend(skew.map(|(number, sign)| (columns[number], scale * sign)));
        triangle.push(entry);
    });
    in_cone(program, ConeKind::Semidefinite, triangle, room)?;
    Ok(columns.first().copied().unwrap_or(0))
}

/// How deep a block in numbers, a function of u, is in its second-order cone on all of the ball at least, by the X
/// among these values.
pub(super) fn depth(numbers: &Numbers, first: usize, values: &[f64]) -> f64 {
    let sides = Sides::of(numbers.constant.value.len(), numbers.slopes.len());
    let mut triangle = Sum { value: Vec::new(), size: 0.0 };
    sides.each(|is_diagonal, parts, skew| {
        let scale = if is_diagonal { 1.0 } else { std::f64::consts::SQRT_2 };
        let mut entry = 0.0;
        for &(coordinate, place, sign) in parts {
            let sum = if coordinate == 0 { &numbers.constant } else { &numbers.slopes[coordinate - 1] };
            entry += scale * sign * sum.value.get(place).copied().unwrap_or(0.0);
            triangle.size += scale * sum.size;
        }
        if let Some((number, sign)) = skew {
            entry += scale * sign * values[first + number];
            triangle.size += scale * values[first + number].abs();
        }
        triangle.value.push(entry);
    });
    triangle.depth(ConeKind::Semidefinite)
}

/// A polytope around the unit ball in so many axes: |uₖ| ≤ 1 and Σ|uₖ| ≤ √n.
pub(super) fn around(axes: usize) -> Polytope {
    let columns: Vec<(usize, f64)> = (0..axes).flat_map(|axis| [(axis, 1.0), (axis, -1.0)]).collect();
    let single = |column: usize| ShapeRow { terms: vec![(column, 1.0)], limit: 1.0, equal: false };
    let mut rows: Vec<ShapeRow> = (0..columns.len()).map(single).collect();
    if axes > 1 {
        // Outward: the root may have been rounded down.
        let limit = (axes as f64).sqrt() * (1.0 + f64::EPSILON);
        rows.push(ShapeRow { terms: (0..columns.len()).map(|column| (column, 1.0)).collect(), limit, equal: false });
    }
    Polytope { base: vec![0.0; axes], columns, rows }
}
