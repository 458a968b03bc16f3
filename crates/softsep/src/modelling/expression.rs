//! Handles of variables, affine expressions in them, and constraints.
//!
//! A product that no two-stage problem of this crate can state has no operator: x·ξ and x·y do not compile.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// The owner of a handle and the index in the owner's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Handle {
    pub(super) model: u32,
    pub(super) index: u32,
}

/// A first-stage variable of a [`Model`](crate::Model): part of x.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FirstStageVar(pub(super) Handle);

/// A recourse variable of a [`Model`](crate::Model): part of y, which is chosen once ξ is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RecourseVar(pub(super) Handle);

/// An uncertain parameter of a [`Model`](crate::Model): an entry of ξ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct UncertainParam(pub(super) Handle);

/// An affine expression in x, ξ and y; in an objective also with products y·ξ.
///
/// ```
/// # let mut m = softsep::Model::new("expressions");
/// let build = m.first_stage_vec("build", 3, 0.0..);
/// let (ship, demand) = (m.recourse("ship", 0.0..), m.uncertain("demand", 1.0..=2.0));
/// let capacity: softsep::Expr = build.iter().map(|&build| 5.0 * build).sum();
/// m.add("supply", ship.le(capacity - 2.0));
/// m.minimize(3.0 * (ship * demand) - ship / 2.0);
/// ```
///
/// The products x·ξ and x·y have no place in a problem, and do not compile:
///
/// ```compile_fail
/// # let mut m = softsep::Model::new("products");
/// let (build, demand) = (m.first_stage("build", 0.0..), m.uncertain("demand", 1.0..=2.0));
/// let product = build * demand;
/// ```
///
/// ```compile_fail
/// # let mut m = softsep::Model::new("products");
/// let (build, ship) = (m.first_stage("build", 0.0..), m.recourse("ship", 0.0..));
/// let product = build * ship;
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[must_use]
pub struct Expr {
    pub(super) constant: f64,
    pub(super) x: Vec<(Handle, f64)>,
    pub(super) xi: Vec<(Handle, f64)>,
    pub(super) y: Vec<(Handle, f64)>,
    /// Products y·ξ.
    pub(super) products: Vec<(Handle, Handle, f64)>,
}

impl Expr {
    fn scaled(mut self, factor: f64) -> Self {
        self.constant *= factor;
        for (_, coefficient) in self.x.iter_mut().chain(&mut self.xi).chain(&mut self.y) {
            *coefficient *= factor;
        }
        for (_, _, coefficient) in &mut self.products {
            *coefficient *= factor;
        }
        self
    }

    fn append(&mut self, other: Expr) {
        self.constant += other.constant;
        self.x.extend(other.x);
        self.xi.extend(other.xi);
        self.y.extend(other.y);
        self.products.extend(other.products);
    }

    /// `lower ≤ self ≤ upper` for numbers, with the constant on their side.
    fn bounded(self, lower: f64, upper: f64) -> Constraint {
        let constant = self.constant;
        Constraint { lower: lower - constant, upper: upper - constant, expr: Expr { constant: 0.0, ..self } }
    }
}

/// A constraint `lower ≤ expression ≤ upper`, for [`Model::add`](crate::Model::add).
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Constraint {
    /// Without a constant.
    pub(super) expr: Expr,
    pub(super) lower: f64,
    pub(super) upper: f64,
}

impl From<f64> for Expr {
    fn from(constant: f64) -> Self {
        Self { constant, ..Self::default() }
    }
}

impl From<FirstStageVar> for Expr {
    fn from(variable: FirstStageVar) -> Self {
        Self { x: vec![(variable.0, 1.0)], ..Self::default() }
    }
}

impl From<UncertainParam> for Expr {
    fn from(parameter: UncertainParam) -> Self {
        Self { xi: vec![(parameter.0, 1.0)], ..Self::default() }
    }
}

impl From<RecourseVar> for Expr {
    fn from(variable: RecourseVar) -> Self {
        Self { y: vec![(variable.0, 1.0)], ..Self::default() }
    }
}

impl From<&Expr> for Expr {
    fn from(expr: &Expr) -> Self {
        expr.clone()
    }
}

impl<R: Into<Expr>> AddAssign<R> for Expr {
    fn add_assign(&mut self, other: R) {
        self.append(other.into());
    }
}

impl<R: Into<Expr>> SubAssign<R> for Expr {
    fn sub_assign(&mut self, other: R) {
        self.append(other.into().scaled(-1.0));
    }
}

/// The operators that variables and expressions share.
macro_rules! operators {
    ($($operand:ty),*) => {$(
        impl<R: Into<Expr>> Add<R> for $operand {
            type Output = Expr;

            fn add(self, other: R) -> Expr {
                let mut sum = Expr::from(self);
                sum += other;
                sum
            }
        }

        impl<R: Into<Expr>> Sub<R> for $operand {
            type Output = Expr;

            fn sub(self, other: R) -> Expr {
                let mut difference = Expr::from(self);
                difference -= other;
                difference
            }
        }

        impl Add<$operand> for f64 {
            type Output = Expr;

            fn add(self, other: $operand) -> Expr {
                Expr::from(other) + self
            }
        }

        impl Sub<$operand> for f64 {
            type Output = Expr;

            fn sub(self, other: $operand) -> Expr {
                Expr::from(other).scaled(-1.0) + self
            }
        }

        impl Mul<f64> for $operand {
            type Output = Expr;

            fn mul(self, factor: f64) -> Expr {
                Expr::from(self).scaled(factor)
            }
        }

        impl Mul<$operand> for f64 {
            type Output = Expr;

            fn mul(self, other: $operand) -> Expr {
                Expr::from(other).scaled(self)
            }
        }

        impl Div<f64> for $operand {
            type Output = Expr;

            fn div(self, divisor: f64) -> Expr {
                Expr::from(self).scaled(1.0 / divisor)
            }
        }

        impl Neg for $operand {
            type Output = Expr;

            fn neg(self) -> Expr {
                Expr::from(self).scaled(-1.0)
            }
        }
    )*};
}

operators!(Expr, &Expr, FirstStageVar, UncertainParam, RecourseVar);

/// The sums and constraints that variables and expressions make.
macro_rules! constraints {
    ($($operand:ty),*) => {$(
        impl Sum<$operand> for Expr {
            fn sum<I: Iterator<Item = $operand>>(terms: I) -> Expr {
                terms.fold(Expr::default(), |sum, term| sum + term)
            }
        }

        impl $operand {
            /// The constraint `self ≤ other`.
            pub fn le(self, other: impl Into<Expr>) -> Constraint {
                (self - other).bounded(f64::NEG_INFINITY, 0.0)
            }

            /// The constraint `self ≥ other`.
            pub fn ge(self, other: impl Into<Expr>) -> Constraint {
                (self - other).bounded(0.0, f64::INFINITY)
            }

            /// The constraint `self = other`.
            pub fn eq(self, other: impl Into<Expr>) -> Constraint {
                (self - other).bounded(0.0, 0.0)
            }

            /// The constraint `lower ≤ self ≤ upper`.
            pub fn between(self, lower: f64, upper: f64) -> Constraint {
                Expr::from(self).bounded(lower, upper)
            }
        }
    )*};
}

constraints!(Expr, FirstStageVar, UncertainParam, RecourseVar);

/// Sums over slices of variables.
macro_rules! sums {
    ($($variable:ty),*) => {$(
        impl<'v> Sum<&'v $variable> for Expr {
            fn sum<I: Iterator<Item = &'v $variable>>(terms: I) -> Expr {
                terms.copied().sum()
            }
        }
    )*};
}

sums!(FirstStageVar, UncertainParam, RecourseVar);

impl Mul<UncertainParam> for RecourseVar {
    type Output = Expr;

    fn mul(self, parameter: UncertainParam) -> Expr {
        Expr { products: vec![(self.0, parameter.0, 1.0)], ..Expr::default() }
    }
}

impl Mul<RecourseVar> for UncertainParam {
    type Output = Expr;

    fn mul(self, variable: RecourseVar) -> Expr {
        variable * self
    }
}
