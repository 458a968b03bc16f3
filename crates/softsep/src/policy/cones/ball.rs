//! Robust counterparts of cone blocks over the unit ball.
//!
//! A block of a second-order cone is a linear map from (1, u) to (t, v), and it must map one second-order cone into
//! another. Such maps have an exact description by a matrix inequality (Hildebrand, *An LMI description for the cone of
//! Lorentz-positive maps*, 2007). Let `W(x)` be the matrix with x₀ + x₁ in its first and x₀ − x₁ in its other diagonal
//! entries, and x₂, x₃, … in its first row and column. The products zzᵀ with W are all rays of the cone's boundary, so
//! that the map is positive if and only if `(z⊗w)ᵀ·(W⊗W)(map)·(z⊗w) ≥ 0` for all z, w. The inequality
//!
//! ```text
//! (W⊗W)(map) + X ≽ 0,    X a sum of products of two skew matrices
//! ```
//!
//! proves that, because `(z⊗w)ᵀX(z⊗w) = 0`. (The theorem states that such an X exists for every positive map; the proof
//! of a block does not need it.) One more unit in t adds the identity. The matrix has (entries − 1)·(axes) rows. If
//! that is too many, and for other cones, the ball is replaced by an enclosing polytope.

use super::block::{AffineVector, ConeBlock, NumericBlock};
use super::depth::SizedSum;
use super::polytope::require_in_cone;
use crate::definition::{ConeKind, VariableKind};
use crate::recourse::{ProgramBuilder, RecourseError};
use crate::uncertainty::{Polytope, ShapeRow};

/// Largest number of rows of a matrix inequality: the time of an interior point iteration grows with its sixth power.
pub(super) const MAX_MATRIX_ROWS: usize = 30;

/// The sizes of the two factors of the matrix, each at least two.
#[derive(Debug, Clone, Copy)]
struct FactorSizes {
    of_block: usize,
    of_ball: usize,
}

impl FactorSizes {
    fn of(len: usize, axes: usize) -> Self {
        Self { of_block: len.max(3) - 1, of_ball: axes }
    }

    /// Calls `entry` for each entry on or above the diagonal, by columns, with the coefficients of the map that it is
    /// the sum of (coordinate, with 0 for the constant; index in the block; sign), and the index of the skew product in
    /// it with its sign.
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
                for (of_block, a) in entries_at(i, j).into_iter().flatten() {
                    for (of_ball, b) in entries_at(k, l).into_iter().flatten() {
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

/// The entries of x at a position of W(x), with their signs.
fn entries_at(row: usize, column: usize) -> [Option<(usize, f64)>; 2] {
    match (row.min(column), row.max(column)) {
        (0, 0) => [Some((0, 1.0)), Some((1, 1.0))],
        (low, high) if low == high => [Some((0, 1.0)), Some((1, -1.0))],
        (0, high) => [Some((high + 1, 1.0)), None],
        _ => [None, None],
    }
}

/// Whether the matrix inequality is used for a block. With one axis, the enclosing polytope is the ball itself.
pub(super) fn has_matrix(kind: ConeKind, len: usize, axes: usize) -> bool {
    let FactorSizes { of_block, of_ball } = FactorSizes::of(len, axes);
    cfg!(feature = "psd") && kind == ConeKind::SecondOrder && axes >= 2 && of_block * of_ball <= MAX_MATRIX_ROWS
}

/// Requires a block of a second-order cone, a function of u, to be in its cone on the entire ball, with a depth of
/// `margin`. Returns the first column of X.
pub(super) fn require(
    program: &mut dyn ProgramBuilder,
    block: &ConeBlock,
    margin: f64,
) -> Result<usize, RecourseError> {
    let factors = FactorSizes::of(block.len(), block.dim());
    let columns: Vec<usize> = (0..factors.skew_products())
        .map(|_| program.col(0.0, f64::NEG_INFINITY, f64::INFINITY, VariableKind::Continuous))
        .collect();
    let constant = block.at(&[]);
    let slopes: Vec<AffineVector> = (0..block.dim()).map(|axis| block.step(axis, 1.0)).collect();
    let mut triangle: AffineVector = Vec::new();
    factors.each(|is_diagonal, parts, skew| {
        let scale = if is_diagonal { 1.0 } else { std::f64::consts::SQRT_2 };
        let mut entry = (0.0, Vec::new());
        for &(coordinate, index, sign) in parts {
            let affine = if coordinate == 0 { constant.get(index) } else { slopes[coordinate - 1].get(index) };
            // A block of two entries is padded with a zero third entry.
            let Some((number, terms)) = affine else { continue };
            entry.0 += scale * sign * number;
            entry.1.extend(terms.iter().map(|&(column, value)| (column, scale * sign * value)));
        }
        entry.1.extend(skew.map(|(number, sign)| (columns[number], scale * sign)));
        triangle.push(entry);
    });
    require_in_cone(program, ConeKind::Semidefinite, triangle, margin)?;
    Ok(columns.first().copied().unwrap_or(0))
}

/// A lower bound on the depth of a numeric block, a function of u, in its second-order cone over the ball, by the X at
/// these values.
pub(super) fn depth(numbers: &NumericBlock, first: usize, values: &[f64]) -> f64 {
    let factors = FactorSizes::of(numbers.constant.value.len(), numbers.slopes.len());
    let mut triangle = SizedSum { value: Vec::new(), size: 0.0 };
    factors.each(|is_diagonal, parts, skew| {
        let scale = if is_diagonal { 1.0 } else { std::f64::consts::SQRT_2 };
        let mut entry = 0.0;
        for &(coordinate, index, sign) in parts {
            let sum = if coordinate == 0 { &numbers.constant } else { &numbers.slopes[coordinate - 1] };
            entry += scale * sign * sum.value.get(index).copied().unwrap_or(0.0);
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

/// A polytope that encloses the unit ball in `axes` dimensions: |uₖ| ≤ 1 and Σ|uₖ| ≤ √n.
pub(super) fn enclosing_polytope(axes: usize) -> Polytope {
    let columns: Vec<(usize, f64)> = (0..axes).flat_map(|axis| [(axis, 1.0), (axis, -1.0)]).collect();
    let single = |column: usize| ShapeRow { terms: vec![(column, 1.0)], limit: 1.0, equal: false };
    let mut rows: Vec<ShapeRow> = (0..columns.len()).map(single).collect();
    if axes > 1 {
        // Rounded outward: the square root may have been rounded down.
        let limit = (axes as f64).sqrt() * (1.0 + f64::EPSILON);
        rows.push(ShapeRow { terms: (0..columns.len()).map(|column| (column, 1.0)).collect(), limit, equal: false });
    }
    Polytope { base: vec![0.0; axes], columns, rows }
}
