//! The bare basis solve: the unit in which benches measure the engine.

use super::basis_factors::BasisFactors;
use super::data::RecourseData;
use crate::model::Problem;
use crate::recourse::RecourseBasis;

/// One factored basis at a fixed x. For benches only: the engine tests bases in its pool.
pub struct BasisProbe {
    data: RecourseData,
    factors: BasisFactors,
    shift_x: Vec<f64>,
    shift: Vec<f64>,
}

impl BasisProbe {
    /// Factors `basis` for the decision `x`. Returns `None` if there is no basis or it is singular.
    pub fn new(problem: &Problem, x: &[f64], basis: &RecourseBasis) -> Option<Self> {
        let data = RecourseData::new(problem);
        let factors = BasisFactors::new(&data, basis.0.as_ref()?)?;
        let mut shift_x = vec![0.0; data.rows()];
        data.e.mul_add(1.0, x, &mut shift_x);
        Some(Self { shift: shift_x.clone(), data, factors, shift_x })
    }

    /// Computes the right-hand side at `xi` and the basic variables. Returns the first of them.
    pub fn solve(&mut self, xi: &[f64]) -> f64 {
        self.shift.copy_from_slice(&self.shift_x);
        self.data.u.mul_add(1.0, xi, &mut self.shift);
        self.factors.solve(&self.shift);
        self.factors.basic_values.first().copied().unwrap_or(0.0)
    }
}
