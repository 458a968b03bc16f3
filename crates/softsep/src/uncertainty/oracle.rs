//! Linear maximisation over a polytope: one linear program that is kept, its costs changed from call to call.

use std::sync::{Mutex, PoisonError};

use softsep_lp::{Algorithm, Basis, Lp, LpError, Model, Status, Toggle};

use super::{SetError, dot};
use crate::numeric::tolerances::LP_FEASIBILITY_TOL;

/// Feasibility and optimality tolerance: HiGHS goes no lower than 1e-10.
const TOLERANCE: f64 = 1e-9;

/// The ways to solve, one after the other until one has an answer. The last have HiGHS's own tolerance.
const LADDER: [(Algorithm, Toggle, f64); 5] = [
    (Algorithm::PrimalSimplex, Toggle::Off, TOLERANCE),
    (Algorithm::DualSimplex, Toggle::Off, TOLERANCE),
    (Algorithm::DualSimplex, Toggle::On, TOLERANCE),
    (Algorithm::PrimalSimplex, Toggle::Off, LP_FEASIBILITY_TOL),
    (Algorithm::DualSimplex, Toggle::On, LP_FEASIBILITY_TOL),
];

/// `lower ≤ Σ terms ≤ upper` over the parameters' indices.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SparseRow {
    pub(super) terms: Vec<(usize, f64)>,
    pub(super) lower: f64,
    pub(super) upper: f64,
}

impl SparseRow {
    pub(super) fn activity(&self, xi: &[f64]) -> f64 {
        self.terms.iter().map(|&(index, coefficient)| coefficient * xi[index]).sum()
    }
}

/// A linear program over a polyhedron with at least one member.
///
/// Every solve begins at the same vertex, so that an answer depends on the direction alone and not on earlier solves of
/// any thread.
#[derive(Debug)]
pub(super) struct Oracle {
    lower: Vec<f64>,
    upper: Vec<f64>,
    kept: Mutex<Kept>,
}

#[derive(Debug)]
struct Kept {
    lp: Lp,
    costs: Vec<f64>,
    reference: Basis,
}

impl Oracle {
    /// `None` if no ξ satisfies all bounds and rows. There is at least one parameter.
    pub(super) fn new(lower: &[f64], upper: &[f64], rows: &[SparseRow]) -> Result<Option<Self>, SetError> {
        let mut model = Model::new();
        for (&lower, &upper) in lower.iter().zip(upper) {
            model.add_col(0.0, lower, upper);
        }
        for row in rows {
            let scale = row_scale(row);
            let terms: Vec<_> = row.terms.iter().map(|&(index, value)| (index, scale * value)).collect();
            model.add_row(scale * row.lower, scale * row.upper, &terms);
        }
        let mut lp = Lp::new(&model)?;
        match solve(&mut lp)? {
            Status::Optimal => {}
            Status::Infeasible => return Ok(None),
            status => return Err(SetError(format!("HiGHS ended with {status:?} when it looked for a member"))),
        }
        let mut reference = Basis::default();
        lp.basis(&mut reference)?;
        let kept = Kept { lp, costs: vec![0.0; lower.len()], reference };
        Ok(Some(Self { lower: lower.to_vec(), upper: upper.to_vec(), kept: Mutex::new(kept) }))
    }

    /// The maximum of `directionᵀξ`, with `xi` a basic maximiser; `None` if there is no maximum.
    pub(super) fn maximise(&self, direction: &[f64], xi: &mut [f64]) -> Result<Option<f64>, SetError> {
        // A call that panicked has left nothing behind that the next one would read: each sets costs and basis anew.
        let mut guard = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let Kept { lp, costs, reference } = &mut *guard;
        // Tolerances on reduced costs are absolute, so the direction is brought to size one.
        let largest = direction.iter().fold(0.0_f64, |largest, entry| largest.max(entry.abs()));
        for (cost, entry) in costs.iter_mut().zip(direction) {
            *cost = if largest > 0.0 { -entry / largest } else { 0.0 };
        }
        lp.clear_solver()?;
        lp.set_basis(reference)?;
        lp.set_costs(costs)?;
        match solve(lp)? {
            Status::Optimal => {}
            Status::Unbounded => return Ok(None),
            status => return Err(SetError(format!("HiGHS ended with {status:?}"))),
        }
        lp.primal(xi)?;
        for ((xi, lower), upper) in xi.iter_mut().zip(&self.lower).zip(&self.upper) {
            *xi = xi.clamp(*lower, *upper);
        }
        Ok(Some(dot(direction, xi)))
    }
}

/// The power of two that brings the largest coefficient of a row to between one half and one: tolerances are absolute.
fn row_scale(row: &SparseRow) -> f64 {
    let largest = row.terms.iter().fold(0.0_f64, |largest, (_, coefficient)| largest.max(coefficient.abs()));
    if largest > 0.0 && largest.is_finite() { (-largest.log2().ceil()).exp2() } else { 1.0 }
}

/// Solves from the basis at hand, and where that ends without an answer from scratch in other ways.
fn solve(lp: &mut Lp) -> Result<Status, SetError> {
    let mut status = Status::Failed;
    for (attempt, &(algorithm, presolve, tolerance)) in LADDER.iter().enumerate() {
        if attempt > 0 {
            lp.clear_solver()?;
        }
        lp.set_algorithm(algorithm)?;
        lp.set_presolve(presolve)?;
        lp.set_tolerance(tolerance)?;
        status = lp.solve()?;
        if matches!(status, Status::Optimal | Status::Infeasible | Status::Unbounded) {
            break;
        }
    }
    Ok(status)
}

impl From<LpError> for SetError {
    fn from(error: LpError) -> Self {
        SetError(error.to_string())
    }
}
