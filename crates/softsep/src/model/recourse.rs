//! The recourse as matrices: costs b + Bξ, H, rows G y + E x + U ξ, cones.

use super::{Sparse, Symmetric};
use crate::definition::ConeKind;

/// `Q(x, ξ) = min (b + Bξ)ᵀy + ½ yᵀHy` over bounds on y, `row_lower ≤ Gy + Ex + Uξ ≤ row_upper`, and cones over some of
/// the rows.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RecourseModel {
    /// b.
    pub cost: Vec<f64>,
    /// B, one row per recourse variable.
    pub cost_xi: Sparse,
    /// H.
    pub quadratic: Symmetric,
    /// Lower bounds of y.
    pub lower: Vec<f64>,
    /// Upper bounds of y.
    pub upper: Vec<f64>,
    /// G.
    pub g: Sparse,
    /// E.
    pub e: Sparse,
    /// U.
    pub u: Sparse,
    /// Lower bounds of the rows; −∞ for a row in a cone.
    pub row_lower: Vec<f64>,
    /// Upper bounds of the rows; ∞ for a row in a cone.
    pub row_upper: Vec<f64>,
    /// Offsets of the rows in cones: the cone's entry is the row's activity minus this. Zero elsewhere.
    pub offset: Vec<f64>,
    /// The cones; no row is in two.
    pub cones: Vec<Cone>,
    /// The factor that each row was multiplied by, a power of two; 1 for a row in a cone.
    pub row_scale: Vec<f64>,
}

/// A cone over recourse rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Cone {
    /// Which cone.
    pub kind: ConeKind,
    /// The rows, in the cone's order.
    pub rows: Vec<usize>,
}

impl RecourseModel {
    /// Number of recourse variables.
    pub fn dim(&self) -> usize {
        self.cost.len()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.row_lower.len()
    }

    /// Whether the cost of some y moves with ξ. Then Q is not convex in ξ, and its maximum need not be at an extreme
    /// point of the set.
    pub fn costs_move(&self) -> bool {
        self.cost_xi.nonzeros() > 0
    }

    /// Whether the recourse is a linear program.
    pub fn is_linear(&self) -> bool {
        self.quadratic.is_zero() && self.cones.is_empty()
    }

    /// The costs at ξ: `out = b + Bξ`.
    pub fn cost_at(&self, xi: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&self.cost);
        if self.costs_move() {
            self.cost_xi.mul_add(1.0, xi, out);
        }
    }

    /// The part of the rows' activities that x and ξ fix: `out = E x + U ξ`.
    pub fn shift(&self, x: &[f64], xi: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        self.e.mul_add(1.0, x, out);
        self.u.mul_add(1.0, xi, out);
    }
}
