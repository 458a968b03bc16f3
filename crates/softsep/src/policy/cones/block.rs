//! Blocks of rows that must be in a cone together, as affine functions of ξ.

use super::depth::SizedSum;
use crate::definition::{ConeKind, VariableKind};
use crate::policy::robust::Expression;
use crate::recourse::ProgramBuilder;
use crate::uncertainty::Ball;

/// A cone, and the expressions that must be in it for every ξ.
#[derive(Debug, Clone)]
pub(in crate::policy) struct ConeBlock {
    pub(in crate::policy) kind: ConeKind,
    pub(in crate::policy) entries: Vec<Expression>,
}

/// A constant and terms.
type AffineTerms = (f64, Vec<(usize, f64)>);

/// A constant and terms for each entry of a cone.
pub(in crate::policy) type AffineVector = Vec<AffineTerms>;

/// A block with numeric coefficients: its value at zero and its slope in each coordinate.
#[derive(Debug, Clone)]
pub(super) struct NumericBlock {
    pub(super) constant: SizedSum,
    pub(super) slopes: Vec<SizedSum>,
}

impl ConeBlock {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Number of coordinates of ξ.
    pub(super) fn dim(&self) -> usize {
        self.entries.first().map_or(0, Expression::dim)
    }

    pub(super) fn moves(&self, coordinate: usize) -> bool {
        self.entries.iter().any(|entry| entry.moves(coordinate))
    }

    pub(super) fn is_fixed(&self) -> bool {
        self.entries.iter().all(Expression::is_fixed)
    }

    /// The value at a given ξ.
    pub(in crate::policy) fn at(&self, xi: &[f64]) -> AffineVector {
        self.entries.iter().map(|entry| entry.at(xi)).collect()
    }

    /// The change by a step in a coordinate.
    pub(super) fn step(&self, coordinate: usize, step: f64) -> AffineVector {
        let scaled = |entry: &Expression| {
            let (number, terms) = entry.slope(coordinate);
            (step * number, terms.iter().map(|&(column, value)| (column, step * value)).collect())
        };
        self.entries.iter().map(scaled).collect()
    }

    /// Returns the block as a function of u, where `ξ = center + Au`.
    pub(super) fn in_axes(&self, ball: &Ball) -> Self {
        Self {
            kind: self.kind,
            entries: self.entries.iter().map(|entry| entry.in_axes(&ball.center, &ball.columns)).collect(),
        }
    }

    /// Splits the block into a share, an arbitrary affine function of ξ whose coefficients are new columns, and the
    /// rest. Returns the first new column, the share and the rest.
    pub(super) fn shared(&self, program: &mut dyn ProgramBuilder) -> (usize, Self, Self) {
        let dim = self.dim();
        let (mut first, mut share, mut rest) = (None, self.clone(), self.clone());
        for (share, rest) in share.entries.iter_mut().zip(&mut rest.entries) {
            let mut free = || program.col(0.0, f64::NEG_INFINITY, f64::INFINITY, VariableKind::Continuous);
            *share = Expression::new(dim);
            let constant = free();
            first.get_or_insert(constant);
            share.terms.push((constant, 1.0));
            rest.terms.push((constant, -1.0));
            for coordinate in 0..dim {
                let slope = free();
                share.add_slope_term(coordinate, slope, 1.0);
                rest.add_slope_term(coordinate, slope, -1.0);
            }
        }
        (first.unwrap_or(0), share, rest)
    }

    /// The share created by [`ConeBlock::shared`], with numeric coefficients.
    pub(super) fn share(&self, first: usize, values: &[f64]) -> NumericBlock {
        let stride = self.dim() + 1;
        let sum = |index: usize| {
            let value: Vec<f64> = (0..self.len()).map(|entry| values[first + entry * stride + index]).collect();
            SizedSum { size: value.iter().map(|value| value.abs()).sum(), value }
        };
        NumericBlock { constant: sum(0), slopes: (1..stride).map(sum).collect() }
    }

    /// The block with numeric coefficients, at these values of the columns.
    pub(super) fn numbers(&self, values: &[f64]) -> NumericBlock {
        let sum = |of: &dyn Fn(&Expression) -> AffineTerms| {
            let mut sum = SizedSum::zero(self.len());
            for (value, entry) in sum.value.iter_mut().zip(&self.entries) {
                let (number, terms) = of(entry);
                *value = number + terms.iter().map(|&(column, factor)| factor * values[column]).sum::<f64>();
                sum.size +=
                    number.abs() + terms.iter().map(|&(column, factor)| (factor * values[column]).abs()).sum::<f64>();
            }
            sum
        };
        let slope = |coordinate: usize| {
            sum(&|entry: &Expression| {
                let (number, terms) = entry.slope(coordinate);
                (number, terms.to_vec())
            })
        };
        NumericBlock {
            constant: sum(&|entry: &Expression| (entry.constant, entry.terms.clone())),
            slopes: (0..self.dim()).map(slope).collect(),
        }
    }
}

impl NumericBlock {
    /// The value at a point.
    pub(super) fn at(&self, xi: &[f64]) -> SizedSum {
        let mut value = self.constant.clone();
        self.slopes.iter().zip(xi).for_each(|(slope, &xi)| value.add(xi, slope));
        value
    }

    /// The difference to another block.
    pub(super) fn without(&self, other: &NumericBlock) -> Self {
        let mut rest = self.clone();
        rest.constant.add(-1.0, &other.constant);
        rest.slopes.iter_mut().zip(&other.slopes).for_each(|(slope, other)| slope.add(-1.0, other));
        rest
    }

    /// Returns the block as a function of u, where `ξ = center + Au`.
    pub(super) fn in_axes(&self, ball: &Ball) -> Self {
        let along = |axis: &Vec<f64>| {
            let mut slope = SizedSum::zero(self.constant.value.len());
            self.slopes.iter().zip(axis).for_each(|(other, &step)| slope.add(step, other));
            slope
        };
        Self { constant: self.at(&ball.center), slopes: ball.columns.iter().map(along).collect() }
    }
}
