//! A quadratic cost that must stay below a function of ξ: `½‖w(ξ)‖² ≤ s(ξ)`, with w = Ly, as a block of a second-order
//! cone,
//!
//! ```text
//! ‖(√2·w, s − 1)‖ ≤ s + 1
//! ```
//!
//! which squared is 2‖w‖² ≤ 4s. Over a ball, with `w = w₀ + Wu` and `s = s₀ + σᵀu`, the S-lemma says the same exactly,
//! in a smaller matrix: `s − ½‖w‖² ≥ 0` on ‖u‖ ≤ 1 if and only if for some μ ≥ 0
//!
//! ```text
//! ⎛ s₀ − μ   ½σᵀ   w₀ᵀ ⎞
//! ⎜  ½σ      μI    Wᵀ  ⎟ ≽ 0.
//! ⎝  w₀      W     2I  ⎠
//! ```
//!
//! μ multiplies 1 − ‖u‖², which no member of the ball makes negative. A part of a ball has more such functions, ζ(1 −
//! ζ) for each ζ that goes from 0 to 1 across the part, and each may have its multiplier: that is safe, and the closer
//! the narrower the part. Where the matrix would be too large, the block is held like any other.

use super::ball::LARGEST;
use super::block::{Affines, Block, Numbers};
use super::depth::Sum;
use super::polytope::in_cone;
use super::{Counterpart, Held, Round};
use crate::definition::{ConeKind, VariableKind};
use crate::policy::robust::Expression;
use crate::recourse::{Program, RecourseError};

/// s and w, in units of the cost's size: divided by that, and by its root.
pub(in crate::policy) struct Square {
    above: Expression,
    root: Vec<Expression>,
    size: f64,
}

/// What proves it.
pub(in crate::policy) enum Squarely {
    /// That its block is in the cone.
    Block(Held),
    /// The multipliers: the first column, and what they multiply.
    Matrix(usize, Vec<Form>),
}

impl Square {
    pub(in crate::policy) fn new(above: &Expression, root: &[Expression], size: f64) -> Self {
        let root = root.iter().map(|root| root.scaled(size.sqrt().recip(), 0.0)).collect();
        Self { above: above.scaled(size.recip(), 0.0), root, size }
    }

    /// The block of the second-order cone.
    pub(in crate::policy) fn block(&self) -> Block {
        let mut entries = vec![self.above.scaled(1.0, 1.0), self.above.scaled(1.0, -1.0)];
        entries.extend(self.root.iter().map(|root| root.scaled(std::f64::consts::SQRT_2, 0.0)));
        Block { kind: ConeKind::SecondOrder, entries }
    }

    /// s and w as they are, in no cone of their own.
    fn plain(&self) -> Block {
        let entries = [&self.above].into_iter().chain(&self.root).cloned().collect();
        Block { kind: ConeKind::SecondOrder, entries }
    }
}

impl Counterpart {
    /// Asks for a quadratic cost below a function of ξ, wherever ξ is.
    pub(in crate::policy) fn hold_square(
        &self,
        program: &mut dyn Program,
        square: &Square,
    ) -> Result<Squarely, RecourseError> {
        let block = square.block();
        let forms = self.forms().filter(|(round, _)| {
            cfg!(feature = "psd") && !block.is_fixed() && 1 + round.ball.columns.len() + square.root.len() <= LARGEST
        });
        let Some((round, forms)) = forms else {
            return self.hold(program, &block, 0.0).map(Squarely::Block);
        };
        let plain = square.plain().in_axes(&round.ball);
        let columns: Vec<usize> =
            forms.iter().map(|_| program.col(0.0, 0.0, f64::INFINITY, VariableKind::Continuous)).collect();
        let constant = plain.at(&[]);
        let slopes: Vec<Affines> = (0..plain.dim()).map(|axis| plain.step(axis, 1.0)).collect();
        let mut triangle: Affines = Vec::new();
        each(plain.dim(), square.root.len(), |place, part| {
            let scale = place.scale();
            let (mut number, mut terms) = (part.number, Vec::new());
            if let Some((axis, entry, factor)) = part.of_block {
                let affine = axis.map_or(&constant[entry], |axis| &slopes[axis][entry]);
                number += factor * affine.0;
                terms.extend(affine.1.iter().map(|&(column, value)| (column, scale * factor * value)));
            }
            if place.column <= plain.dim() {
                terms.extend(columns.iter().zip(&forms).map(|(&column, form)| (column, -scale * form.at(place))));
            }
            terms.retain(|term| term.1 != 0.0);
            triangle.push((scale * number, terms));
        });
        in_cone(program, ConeKind::Semidefinite, triangle, 0.0)?;
        Ok(Squarely::Matrix(columns[0], forms))
    }

    /// Functions of u that no point of the region makes negative, where it is a ball or a part of one.
    fn forms(&self) -> Option<(&Round, Vec<Form>)> {
        let Self::Shape { polytope, ball: Some(round) } = self else { return None };
        let (center, axes) = (&round.ball.center, &round.ball.columns);
        let mut forms = vec![Form::within_ball(axes.len())];
        if let Some((polytope, _)) = polytope {
            // An entry of two columns is not one ζ between 0 and 1.
            let is_alone =
                |column: &&(usize, f64)| polytope.columns.iter().filter(|other| other.0 == column.0).count() == 1;
            for &(entry, step) in polytope.columns.iter().filter(is_alone) {
                let slope: Vec<f64> = axes.iter().map(|axis| axis[entry] / step).collect();
                forms.push(Form::between((center[entry] - polytope.base[entry]) / step, &slope));
            }
        }
        Some((&**round, forms))
    }

    /// By how much `½‖w‖²` is above s at most, wherever ξ is, given that s is `most` at most.
    ///
    /// A block that lacks η of its cone proves `2‖w‖² ≤ (s + 1 + η)² − (s − 1)²`, which is `4s + 2ηs + 2η + η²`. A
    /// matrix that lacks η proves what it would with η(1 + ‖u‖²) ≤ 2η more in s and (2 + η)I: `½‖w‖² ≤ (1 + ½η)(s +
    /// 2η)`.
    pub(in crate::policy) fn excess(&self, square: &Square, held: &Squarely, values: &[f64], most: f64) -> f64 {
        let most = most.max(0.0) / square.size;
        let excess = match (self, held) {
            (_, Squarely::Block(held)) => {
                let lacks = (-self.depth(&square.block(), held, values)).max(0.0);
                0.5 * lacks * (1.0 + most) + 0.25 * lacks * lacks
            }
            (Self::Shape { ball: Some(round), .. }, Squarely::Matrix(first, forms)) => {
                let numbers = square.plain().numbers(values).in_axes(&round.ball);
                let lacks = (-matrix_depth(&numbers, &values[*first..], forms)).max(0.0);
                0.5 * lacks * most + 2.0 * lacks + lacks * lacks
            }
            // Nothing else is made by `hold_square`.
            _ => f64::INFINITY,
        };
        excess * square.size
    }
}

/// A quadratic function of u, by the symmetric matrix of (1, u).
#[derive(Debug, Clone)]
pub(in crate::policy) struct Form {
    side: usize,
    entries: Vec<f64>,
}

impl Form {
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
        // ζ·1 in a symmetric matrix, less ζ².
        let linear = |row: usize, column: usize| match (row, column) {
            (0, 0) => constant,
            (0, k) | (k, 0) => 0.5 * slope[k - 1],
            _ => 0.0,
        };
        let entries = (0..side * side).map(|k| linear(k / side, k % side) - of(k / side) * of(k % side)).collect();
        Self { side, entries }
    }

    fn at(&self, place: Place) -> f64 {
        self.entries[place.row * self.side + place.column]
    }
}

/// A place on or above the diagonal.
#[derive(Debug, Clone, Copy)]
struct Place {
    row: usize,
    column: usize,
}

impl Place {
    /// What entries of a semidefinite cone are multiplied by.
    fn scale(self) -> f64 {
        if self.row == self.column { 1.0 } else { std::f64::consts::SQRT_2 }
    }
}

/// What stands at a place of the matrix of the S-lemma, but for the multipliers.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    number: f64,
    /// A multiple of an entry of (s, w): of its slope along an axis, or of its constant.
    of_block: Option<(Option<usize>, usize, f64)>,
}

/// Calls back for each place on or above the diagonal, by columns.
fn each(axes: usize, roots: usize, mut entry: impl FnMut(Place, Part)) {
    for column in 0..1 + axes + roots {
        for row in 0..=column {
            let axis_of = |place: usize| (1..=axes).contains(&place).then(|| place - 1);
            let part = match (row, column) {
                (0, 0) => Part { of_block: Some((None, 0, 1.0)), ..Part::default() },
                (0, column) if column <= axes => Part { of_block: Some((axis_of(column), 0, 0.5)), ..Part::default() },
                (_, column) if column <= axes => Part::default(),
                (row, column) if row <= axes => {
                    Part { of_block: Some((axis_of(row), column - axes, 1.0)), ..Part::default() }
                }
                (row, column) => Part { number: if row == column { 2.0 } else { 0.0 }, ..Part::default() },
            };
            entry(Place { row, column }, part);
        }
    }
}

/// The least eigenvalue of the matrix of the S-lemma, from below.
fn matrix_depth(numbers: &Numbers, multipliers: &[f64], forms: &[Form]) -> f64 {
    let axes = numbers.slopes.len();
    let mut triangle = Sum { value: Vec::new(), size: 0.0 };
    each(axes, numbers.constant.value.len() - 1, |place, part| {
        let mut value = part.number;
        let mut size = part.number.abs();
        if let Some((axis, entry, factor)) = part.of_block {
            let sum = axis.map_or(&numbers.constant, |axis| &numbers.slopes[axis]);
            value += factor * sum.value[entry];
            size += sum.size;
        }
        if place.column <= axes {
            for (multiplier, form) in multipliers.iter().zip(forms) {
                let taken = multiplier.max(0.0) * form.at(place);
                value -= taken;
                size += taken.abs();
            }
        }
        triangle.value.push(place.scale() * value);
        triangle.size += place.scale() * size;
    });
    triangle.depth(ConeKind::Semidefinite)
}
