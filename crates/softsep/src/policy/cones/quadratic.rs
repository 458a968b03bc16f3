//! Robust upper bounds on a quadratic cost: `½‖w(ξ)‖² ≤ s(ξ)` for every ξ, with w = Ly. As a block of a second-order
//! cone, this is
//!
//! ```text
//! ‖(√2·w, s − 1)‖ ≤ s + 1
//! ```
//!
//! whose square is 2‖w‖² ≤ 4s. Over a ball, with `w = w₀ + Wu` and `s = s₀ + σᵀu`, the S-lemma gives an exact and
//! smaller matrix inequality: `s − ½‖w‖² ≥ 0` on ‖u‖ ≤ 1 if and only if for some μ ≥ 0
//!
//! ```text
//! ⎛ s₀ − μ   ½σᵀ   w₀ᵀ ⎞
//! ⎜  ½σ      μI    Wᵀ  ⎟ ≽ 0.
//! ⎝  w₀      W     2I  ⎠
//! ```
//!
//! μ multiplies 1 − ‖u‖², which is nonnegative on the ball. A part of a ball has further nonnegative functions, ζ(1 −
//! ζ) for each ζ that ranges from 0 to 1 across the part, and each can have a multiplier: this is safe, and tighter for
//! narrower parts. If the matrix would be too large, the bound is treated like any other block.

use super::ball::MAX_MATRIX_ROWS;
use super::block::{AffineVector, ConeBlock, NumericBlock};
use super::depth::SizedSum;
use super::polytope::require_in_cone;
use super::{BallRegion, ConeProof, ConicCounterpart};
use crate::definition::{ConeKind, VariableKind};
use crate::policy::robust::Expression;
use crate::recourse::{ProgramBuilder, RecourseError};

/// s and w in units of the cost's size: s is divided by the size, and w by its square root.
pub(in crate::policy) struct QuadraticBound {
    above: Expression,
    root: Vec<Expression>,
    size: f64,
}

/// The proof of a quadratic bound.
pub(in crate::policy) enum QuadraticProof {
    /// The proof of its block in the second-order cone.
    Block(ConeProof),
    /// The S-lemma: the first column of the multipliers, and the forms that they multiply.
    Matrix(usize, Vec<QuadraticForm>),
}

impl QuadraticBound {
    pub(in crate::policy) fn new(above: &Expression, root: &[Expression], size: f64) -> Self {
        let root = root.iter().map(|root| root.scaled(size.sqrt().recip(), 0.0)).collect();
        Self { above: above.scaled(size.recip(), 0.0), root, size }
    }

    /// The block of the second-order cone.
    pub(in crate::policy) fn block(&self) -> ConeBlock {
        let mut entries = vec![self.above.scaled(1.0, 1.0), self.above.scaled(1.0, -1.0)];
        entries.extend(self.root.iter().map(|root| root.scaled(std::f64::consts::SQRT_2, 0.0)));
        ConeBlock { kind: ConeKind::SecondOrder, entries }
    }

    /// The vector (s, w); its cone is not used.
    fn as_vector(&self) -> ConeBlock {
        let entries = [&self.above].into_iter().chain(&self.root).cloned().collect();
        ConeBlock { kind: ConeKind::SecondOrder, entries }
    }
}

impl ConicCounterpart {
    /// Requires a quadratic cost below a function of ξ, for every ξ.
    pub(in crate::policy) fn require_quadratic(
        &self,
        program: &mut dyn ProgramBuilder,
        bound: &QuadraticBound,
    ) -> Result<QuadraticProof, RecourseError> {
        let block = bound.block();
        let forms = self.nonnegative_forms().filter(|(ball_region, _)| {
            cfg!(feature = "psd")
                && !block.is_fixed()
                && 1 + ball_region.ball.columns.len() + bound.root.len() <= MAX_MATRIX_ROWS
        });
        let Some((ball_region, forms)) = forms else {
            return self.require(program, &block, 0.0).map(QuadraticProof::Block);
        };
        let vector = bound.as_vector().in_axes(&ball_region.ball);
        let columns: Vec<usize> =
            forms.iter().map(|_| program.col(0.0, 0.0, f64::INFINITY, VariableKind::Continuous)).collect();
        let constant = vector.at(&[]);
        let slopes: Vec<AffineVector> = (0..vector.dim()).map(|axis| vector.step(axis, 1.0)).collect();
        let mut triangle: AffineVector = Vec::new();
        each(vector.dim(), bound.root.len(), |position, part| {
            let scale = position.scale();
            let (mut number, mut terms) = (part.number, Vec::new());
            if let Some((axis, entry, factor)) = part.of_block {
                let affine = axis.map_or(&constant[entry], |axis| &slopes[axis][entry]);
                number += factor * affine.0;
                terms.extend(affine.1.iter().map(|&(column, value)| (column, scale * factor * value)));
            }
            if position.column <= vector.dim() {
                terms.extend(columns.iter().zip(&forms).map(|(&column, form)| (column, -scale * form.at(position))));
            }
            terms.retain(|term| term.1 != 0.0);
            triangle.push((scale * number, terms));
        });
        require_in_cone(program, ConeKind::Semidefinite, triangle, 0.0)?;
        Ok(QuadraticProof::Matrix(columns[0], forms))
    }

    /// Quadratic forms of u that are nonnegative on the region, if it is a ball or a part of one.
    fn nonnegative_forms(&self) -> Option<(&BallRegion, Vec<QuadraticForm>)> {
        let Self::Shape { polytope, ball: Some(ball_region) } = self else { return None };
        let (center, axes) = (&ball_region.ball.center, &ball_region.ball.columns);
        let mut forms = vec![QuadraticForm::within_ball(axes.len())];
        if let Some((polytope, _)) = polytope {
            // An entry with two columns is not a single ζ between 0 and 1.
            let is_alone =
                |column: &&(usize, f64)| polytope.columns.iter().filter(|other| other.0 == column.0).count() == 1;
            for &(entry, step) in polytope.columns.iter().filter(is_alone) {
                let slope: Vec<f64> = axes.iter().map(|axis| axis[entry] / step).collect();
                forms.push(QuadraticForm::between((center[entry] - polytope.base[entry]) / step, &slope));
            }
        }
        Some((&**ball_region, forms))
    }

    /// An upper bound on `½‖w‖² − s` over all ξ, given that s is at most `most`.
    ///
    /// A block with a deficit η proves `2‖w‖² ≤ (s + 1 + η)² − (s − 1)²`, which is `4s + 2ηs + 2η + η²`. A matrix with
    /// a deficit η proves the bound with η(1 + ‖u‖²) ≤ 2η added to s and (2 + η)I: `½‖w‖² ≤ (1 + ½η)(s + 2η)`.
    pub(in crate::policy) fn excess(
        &self,
        bound: &QuadraticBound,
        proof: &QuadraticProof,
        values: &[f64],
        most: f64,
    ) -> f64 {
        let most = most.max(0.0) / bound.size;
        let excess = match (self, proof) {
            (_, QuadraticProof::Block(proof)) => {
                let deficit = (-self.depth(&bound.block(), proof, values)).max(0.0);
                0.5 * deficit * (1.0 + most) + 0.25 * deficit * deficit
            }
            (Self::Shape { ball: Some(ball_region), .. }, QuadraticProof::Matrix(first, forms)) => {
                let numbers = bound.as_vector().numbers(values).in_axes(&ball_region.ball);
                let deficit = (-matrix_depth(&numbers, &values[*first..], forms)).max(0.0);
                0.5 * deficit * most + 2.0 * deficit + deficit * deficit
            }
            // `require_quadratic` creates no other combination.
            _ => f64::INFINITY,
        };
        excess * bound.size
    }
}

/// A quadratic function of u, as the symmetric matrix of a form in (1, u).
#[derive(Debug, Clone)]
pub(in crate::policy) struct QuadraticForm {
    side: usize,
    entries: Vec<f64>,
}

impl QuadraticForm {
    /// `1 − ‖u‖²`.
    fn within_ball(axes: usize) -> Self {
        let side = axes + 1;
        let mut entries = vec![0.0; side * side];
        (0..side).for_each(|k| entries[k * side + k] = if k == 0 { 1.0 } else { -1.0 });
        Self { side, entries }
    }

    /// `ζ(1 − ζ)` for `ζ = constant + slopeᵀu`.
    fn between(constant: f64, slope: &[f64]) -> Self {
        let side = slope.len() + 1;
        let of = |k: usize| if k == 0 { constant } else { slope[k - 1] };
        // The symmetric matrix of ζ·1 minus that of ζ².
        let linear = |row: usize, column: usize| match (row, column) {
            (0, 0) => constant,
            (0, k) | (k, 0) => 0.5 * slope[k - 1],
            _ => 0.0,
        };
        let entries = (0..side * side).map(|k| linear(k / side, k % side) - of(k / side) * of(k % side)).collect();
        Self { side, entries }
    }

    fn at(&self, position: MatrixPosition) -> f64 {
        self.entries[position.row * self.side + position.column]
    }
}

/// A position on or above the diagonal.
#[derive(Debug, Clone, Copy)]
struct MatrixPosition {
    row: usize,
    column: usize,
}

impl MatrixPosition {
    /// The factor of an entry in the scaled triangle of a semidefinite cone.
    fn scale(self) -> f64 {
        if self.row == self.column { 1.0 } else { std::f64::consts::SQRT_2 }
    }
}

/// An entry of the S-lemma matrix without the multipliers.
#[derive(Debug, Clone, Copy, Default)]
struct MatrixEntry {
    number: f64,
    /// A multiple of an entry of (s, w): of its slope along an axis, or of its constant.
    of_block: Option<(Option<usize>, usize, f64)>,
}

/// Calls `entry` for each position on or above the diagonal, by columns.
fn each(axes: usize, roots: usize, mut entry: impl FnMut(MatrixPosition, MatrixEntry)) {
    for column in 0..1 + axes + roots {
        for row in 0..=column {
            let axis_of = |position: usize| (1..=axes).contains(&position).then(|| position - 1);
            let part = match (row, column) {
                (0, 0) => MatrixEntry { of_block: Some((None, 0, 1.0)), ..MatrixEntry::default() },
                (0, column) if column <= axes => {
                    MatrixEntry { of_block: Some((axis_of(column), 0, 0.5)), ..MatrixEntry::default() }
                }
                (_, column) if column <= axes => MatrixEntry::default(),
                (row, column) if row <= axes => {
                    MatrixEntry { of_block: Some((axis_of(row), column - axes, 1.0)), ..MatrixEntry::default() }
                }
                (row, column) => {
                    MatrixEntry { number: if row == column { 2.0 } else { 0.0 }, ..MatrixEntry::default() }
                }
            };
            entry(MatrixPosition { row, column }, part);
        }
    }
}

/// A lower bound on the least eigenvalue of the S-lemma matrix.
fn matrix_depth(numbers: &NumericBlock, multipliers: &[f64], forms: &[QuadraticForm]) -> f64 {
    let axes = numbers.slopes.len();
    let mut triangle = SizedSum { value: Vec::new(), size: 0.0 };
    each(axes, numbers.constant.value.len() - 1, |position, part| {
        let mut value = part.number;
        let mut size = part.number.abs();
        if let Some((axis, entry, factor)) = part.of_block {
            let sum = axis.map_or(&numbers.constant, |axis| &numbers.slopes[axis]);
            value += factor * sum.value[entry];
            size += sum.size;
        }
        if position.column <= axes {
            for (multiplier, form) in multipliers.iter().zip(forms) {
                let taken = multiplier.max(0.0) * form.at(position);
                value -= taken;
                size += taken.abs();
            }
        }
        triangle.value.push(position.scale() * value);
        triangle.size += position.scale() * size;
    });
    triangle.depth(ConeKind::Semidefinite)
}
