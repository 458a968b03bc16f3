//! Repair of multipliers whose reduced costs do not vanish on columns without a near bound.
//!
//! A bound by duality is −∞ if a reduced cost d_j is not zero on a column without a bound, and useless if the bound is
//! far away. An interior-point method leaves such residuals. They are removed by the change Δz of the multipliers with
//! `(Gᵀ Σ sign·Δz)_j = d_j` on these columns that is shortest in the local norm of the dual cone, which is the one of
//! its barrier's Hessian H(z): a change of norm below 1 stays inside the cone, however thin that is there. With B for
//! the map from z to the columns, `Δz = H⁻¹Bᵀu` and `BH⁻¹Bᵀu = d`.

use clarabel::algebra::CscMatrix;
use clarabel::qdldl::{QDLDLFactorisation, QDLDLSettings};

use super::certificate::Multipliers;
use super::cones::dual_cone_normal;
use super::standard_form::{ActivitySource, SlackEntry, StandardForm};
use crate::definition::ConeKind;
use crate::numeric::dot;
use crate::recourse::merged;

/// Most terms of the matrix BH⁻¹Bᵀ as it is summed up. Larger programs are left as they are.
const MAX_TERMS: usize = 4_000_000;

/// Share of the size of a multiplier in a cone by which it may move away from its ray.
const MOVABLE_SHARE: f64 = 1e-4;

/// Regularisation of the scaled matrix. The caller's next round removes its effect.
const REGULARISATION: f64 = 1e-13;

/// Adds the shortest change to the multipliers that removes the residuals `reduced_costs` of `columns`, up to
/// rounding and to cones that the change leaves. A move of the tangent point by Δ has the norm `ΔᵀHΔ/budget`, since
/// it lowers the bound by ½ΔᵀHΔ. Returns false if the program is too large for it or the matrix could not be
/// factored; then the multipliers are unchanged.
pub(super) fn remove_residuals(
    form: &StandardForm,
    columns: &[usize],
    reduced_costs: &[f64],
    budget: f64,
    multipliers: &mut Multipliers,
) -> bool {
    let Multipliers { z, tangent } = multipliers;
    let mut position = vec![usize::MAX; form.cost.len()];
    columns.iter().enumerate().for_each(|(at, &col)| position[col] = at);
    let Some(mut matrix) = Matrix::assemble(form, &position, columns.len(), budget, z) else { return false };
    let scale = matrix.equilibrate(columns.len());
    let settings = QDLDLSettings {
        regularize_eps: REGULARISATION,
        regularize_delta: REGULARISATION,
        Dsigns: Some(vec![1; columns.len()]),
        ..QDLDLSettings::default()
    };
    let Matrix { row, col, value, .. } = matrix;
    let csc = CscMatrix::new_from_triplets(columns.len(), columns.len(), row, col, value);
    let Ok(mut factors) = QDLDLFactorisation::new(&csc, Some(settings)) else { return false };
    let mut u: Vec<f64> = columns.iter().zip(&scale).map(|(&col, scale)| reduced_costs[col] * scale).collect();
    factors.solve(&mut u);
    let mut prices = vec![0.0; form.cost.len()];
    columns.iter().zip(&u).zip(&scale).for_each(|((&col, u), scale)| prices[col] = u * scale);
    if prices.iter().any(|price| !price.is_finite()) {
        return false;
    }
    let pull: Vec<f64> = form.entries.iter().map(|entry| row_activity(form, entry, &prices)).collect();
    tangent.iter_mut().zip(&prices).for_each(|(tangent, price)| *tangent -= budget * price);
    let size = inf_norm(z);
    for index in 0..form.zero + form.nonnegative {
        z[index] += weight(form, index, z[index], size) * pull[index];
    }
    for (kind, entries) in &form.cones {
        let (z, pull) = (&mut z[entries.clone()], &pull[entries.clone()]);
        let moves = ConeMoves::new(*kind, z);
        let (along, across) = (dot(z, pull), moves.movable * dot(&moves.normal, pull));
        for (place, (z, pull)) in z.iter_mut().zip(pull).enumerate() {
            *z += along * *z + moves.diagonal(place) * pull - across * moves.normal[place];
        }
    }
    true
}

/// `sign·gᵀprices` of a row's entry, and zero for that of a column's bound, whose multiplier follows from the others.
fn row_activity(form: &StandardForm, entry: &SlackEntry, prices: &[f64]) -> f64 {
    match entry.source {
        ActivitySource::Row(row) => entry.sign * form.rows.dot(row, prices),
        ActivitySource::Col(_) => 0.0,
    }
}

/// H⁻¹ of an entry in the zero cone, whose multiplier is free, or in the nonnegative cone.
fn weight(form: &StandardForm, index: usize, z: f64, size: f64) -> f64 {
    if index < form.zero { size.max(1.0).powi(2) } else { z * z }
}

/// The moves of a multiplier in a cone: H⁻¹ is `zzᵀ − ½ det(z)·J` for second-order cones, with J the signs of the
/// determinant, and zzᵀ is taken for the others. Beyond that a multiplier may move by a small share of its size along
/// the boundary, by `m(I − nnᵀ)` with n the normal: the way back into the cone is of the square of the move.
struct ConeMoves {
    half_determinant: f64,
    movable: f64,
    normal: Vec<f64>,
}

impl ConeMoves {
    fn new(kind: ConeKind, z: &[f64]) -> Self {
        let half_determinant = match (kind, z) {
            (ConeKind::SecondOrder, [first, rest @ ..]) => {
                let norm = dot(rest, rest).sqrt();
                0.5 * (first - norm).max(0.0) * (first + norm)
            }
            _ => 0.0,
        };
        Self { half_determinant, movable: (MOVABLE_SHARE * inf_norm(z)).powi(2), normal: dual_cone_normal(kind, z) }
    }

    fn diagonal(&self, place: usize) -> f64 {
        self.movable + if place == 0 { -self.half_determinant } else { self.half_determinant }
    }
}

/// The upper triangle of BH⁻¹Bᵀ, as terms to be summed up.
#[derive(Default)]
struct Matrix {
    row: Vec<usize>,
    col: Vec<usize>,
    value: Vec<f64>,
}

impl Matrix {
    fn assemble(form: &StandardForm, position: &[usize], dim: usize, budget: f64, z: &[f64]) -> Option<Self> {
        let mut matrix = Self::default();
        (0..dim).for_each(|at| matrix.push(at, at, 0.0));
        for (i, j, value) in form.quadratic.iter() {
            let (i, j) = (position[i], position[j]);
            if i != usize::MAX && j != usize::MAX {
                matrix.push(i.min(j), i.max(j), budget * value);
            }
        }
        let size = inf_norm(z);
        let mut terms = Vec::new();
        let read = |entry: &SlackEntry, terms: &mut Vec<(usize, f64)>| {
            terms.clear();
            if let ActivitySource::Row(row) = entry.source {
                let inside = form.rows.row(row).filter(|(col, _)| position[*col] != usize::MAX);
                terms.extend(inside.map(|(col, value)| (position[col], value)));
            }
        };
        for (index, entry) in form.entries[..form.zero + form.nonnegative].iter().enumerate() {
            read(entry, &mut terms);
            matrix.add_square(&terms, weight(form, index, z[index], size))?;
        }
        for (kind, entries) in &form.cones {
            let moves = ConeMoves::new(*kind, &z[entries.clone()]);
            let (mut along, mut across) = (Vec::new(), Vec::new());
            for (place, index) in entries.clone().enumerate() {
                let entry = &form.entries[index];
                read(entry, &mut terms);
                matrix.add_square(&terms, moves.diagonal(place))?;
                along.extend(terms.iter().map(|&(at, value)| (at, value * z[index])));
                across.extend(terms.iter().map(|&(at, value)| (at, value * moves.normal[place])));
            }
            matrix.add_square(&merged(along), 1.0)?;
            matrix.add_square(&merged(across), -moves.movable)?;
        }
        Some(matrix)
    }

    fn push(&mut self, row: usize, col: usize, value: f64) {
        self.row.push(row);
        self.col.push(col);
        self.value.push(value);
    }

    /// Adds `weight·vvᵀ`. Returns `None` if the matrix grows too large.
    fn add_square(&mut self, v: &[(usize, f64)], weight: f64) -> Option<()> {
        if weight == 0.0 {
            return Some(());
        }
        if self.value.len() + v.len() * (v.len() + 1) / 2 > MAX_TERMS {
            return None;
        }
        for (place, &(i, a)) in v.iter().enumerate() {
            for &(j, b) in &v[place..] {
                self.push(i.min(j), i.max(j), weight * a * b);
            }
        }
        Some(())
    }

    /// Scales rows and columns to a unit diagonal, and returns the scale. Columns without any term, which no multiplier
    /// moves, get a one.
    fn equilibrate(&mut self, dim: usize) -> Vec<f64> {
        let mut diagonal = vec![0.0; dim];
        for ((row, col), value) in self.row.iter().zip(&self.col).zip(&self.value) {
            if row == col {
                diagonal[*row] += value;
            }
        }
        let scale: Vec<f64> = diagonal.iter().map(|d: &f64| if *d > 0.0 { d.sqrt().recip() } else { 0.0 }).collect();
        for ((row, col), value) in self.row.iter().zip(&self.col).zip(&mut self.value) {
            *value *= scale[*row] * scale[*col];
        }
        scale.iter().enumerate().filter(|(_, scale)| **scale == 0.0).for_each(|(at, _)| self.value[at] = 1.0);
        scale
    }
}

fn inf_norm(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |norm: f64, entry| norm.max(entry.abs()))
}
