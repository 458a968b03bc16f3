//! A basis of the pool: its dual, the minorant of Q that it proves, and its factors.

use std::sync::Arc;

use softsep_lp::Basis;

use super::basis_factors::{BasisFactors, PrimalFeasibility, dual_belongs_to};
use super::data::RecourseData;
use super::dual_simplex::{DualSimplex, DualSimplexStatus};
use crate::numeric::dot_in_lanes;

/// Basis changes between a basis and the factors that it shares with others. After more it has factors of its own.
const MAX_CHANGES: usize = 50;

/// Entries of these changes: this many per row, and some more on small bases. A solve through the changes then costs at
/// most a few times a solve with factors of its own.
const MAX_CHANGE_ENTRIES_PER_ROW: usize = 3;
const MORE_CHANGE_ENTRIES: usize = 60;

/// Uses of a basis with shared factors after which factors of its own are cheaper: they cost as much as the changes add
/// to so many solves.
const USES_BEFORE_FACTORS: u32 = 24;

/// A dual vertex, the affine minorant of Q that it proves, and its basis.
#[derive(Default)]
pub(super) struct PooledBasis {
    pub(super) basis: Arc<Basis>,
    pub(super) dual: Vec<f64>,
    /// Dual objective at shift 0. The minorant is `constant − πᵀs`.
    pub(super) constant: f64,
    pub(super) slope_x: Vec<f64>,
    pub(super) slope_xi: Vec<f64>,
    factors: FactorState,
    /// Tests with factors that it shares.
    tests: u32,
}

/// LU factors of a pooled basis. They are computed when the basis first is a candidate, since some never are.
#[derive(Default)]
enum FactorState {
    #[default]
    NotFactored,
    Singular,
    Ready(Box<BasisFactors>),
}

impl PooledBasis {
    /// Pools a basis with a known dual.
    pub(super) fn new(data: &RecourseData, basis: Arc<Basis>, cost: &[f64], mut dual: Vec<f64>) -> Self {
        data.drop_infinite_bound_multipliers(&mut dual);
        let constant = data.dual_objective(Some(cost), &dual);
        let (mut slope_x, mut slope_xi) = (vec![0.0; data.e.cols()], vec![0.0; data.u.cols()]);
        data.cut_slopes(&dual, &mut slope_x, &mut slope_xi);
        Self { basis, dual, constant, slope_x, slope_xi, factors: FactorState::NotFactored, tests: 0 }
    }

    /// Pools a basis and computes its dual. Returns `None` if the basis is singular or not dual feasible, or if its
    /// dual proves no bound.
    pub(super) fn from_basis(data: &RecourseData, basis: &Basis, cost: &[f64]) -> Option<Self> {
        let mut factors = BasisFactors::new(data, basis)?;
        let mut dual = vec![0.0; data.rows()];
        if !factors.compute_dual(data, basis, cost, &mut dual) {
            return None;
        }
        let pooled = Self::new(data, Arc::new(basis.clone()), cost, dual);
        if !data.proves_bound(cost, &pooled.dual) {
            return None;
        }
        Some(Self { factors: FactorState::Ready(Box::new(factors)), ..pooled })
    }

    /// Returns the value of the minorant at `shift`.
    pub(super) fn value(&self, shift: &[f64]) -> f64 {
        self.constant - dot_in_lanes(&self.dual, shift)
    }

    fn factors(&mut self, data: &RecourseData) -> Option<&mut BasisFactors> {
        if matches!(self.factors, FactorState::NotFactored) {
            self.factors = BasisFactors::new(data, &self.basis)
                .map_or(FactorState::Singular, |factors| FactorState::Ready(Box::new(factors)));
        }
        match &mut self.factors {
            FactorState::Ready(factors) => Some(factors),
            _ => None,
        }
    }

    /// Returns whether the basis is primal feasible at `shift`. Values that come from shared factors are verified, and
    /// the basis is factored where they fail.
    pub(super) fn test(&mut self, data: &RecourseData, shift: &[f64]) -> PrimalFeasibility {
        let Some(factors) = self.factors(data) else { return PrimalFeasibility::Infeasible };
        let primal = factors.test(data, shift);
        if factors.etas.is_empty() {
            return primal;
        }
        // An infeasible basis proves nothing, so that its values need no verification.
        if primal == PrimalFeasibility::Infeasible || factors.values_solve(data, shift) {
            self.tests += 1;
            return primal;
        }
        self.factors = FactorState::NotFactored;
        self.factors(data).map_or(PrimalFeasibility::Infeasible, |factors| factors.test(data, shift))
    }

    /// Returns whether the basis shares factors and is used so often that factors of its own would be cheaper.
    pub(super) fn wants_factors(&self) -> bool {
        self.tests >= USES_BEFORE_FACTORS && matches!(&self.factors, FactorState::Ready(own) if !own.etas.is_empty())
    }

    /// Gives the basis factors of its own. The basic values of the last test are discarded.
    pub(super) fn factor(&mut self, data: &RecourseData) {
        self.tests = 0;
        self.factors = FactorState::NotFactored;
        self.factors(data);
    }

    /// Runs the dual simplex from this basis, which was tested at `shift`.
    pub(super) fn pivot(
        &mut self,
        simplex: &mut DualSimplex,
        data: &RecourseData,
        shift: &[f64],
        cost: &[f64],
    ) -> DualSimplexStatus {
        match &mut self.factors {
            FactorState::Ready(factors) => simplex.run(data, factors, &self.basis, cost, &self.dual, shift),
            _ => DualSimplexStatus::Unreliable,
        }
    }

    /// Makes `self` the basis that `simplex` found from `start`, with the updated dual and values and with the factors
    /// of `start`. Uses the memory of `self` again. Returns its feasibility at `shift`, or `None` if the basis changes
    /// are too many, or the dual or the values do not verify, or the values are not feasible.
    pub(super) fn follow(
        &mut self,
        start: &PooledBasis,
        simplex: &DualSimplex,
        data: &RecourseData,
        shift: &[f64],
        cost: &[f64],
    ) -> Option<PrimalFeasibility> {
        let etas = &simplex.etas;
        let max_entries = MAX_CHANGE_ENTRIES_PER_ROW * data.rows() + MORE_CHANGE_ENTRIES;
        if etas.len() > MAX_CHANGES || etas.entries() > max_entries {
            return None;
        }
        let FactorState::Ready(parent) = &start.factors else { return None };
        let dual = simplex.dual(data);
        if !dual_belongs_to(data, &simplex.basis, cost, dual) {
            return None;
        }
        if !matches!(self.factors, FactorState::Ready(_)) {
            self.factors = FactorState::Ready(Box::default());
        }
        let FactorState::Ready(factors) = &mut self.factors else { return None };
        factors.change_from(data, parent, &simplex.basis, &simplex.basic, etas)?;
        factors.basic_values.copy_from_slice(&simplex.basic_values);
        if !factors.values_solve(data, shift) {
            factors.solve(shift);
            if !factors.values_solve(data, shift) {
                return None;
            }
        }
        let primal = factors.compare_with_bounds(data, shift);
        if primal == PrimalFeasibility::Infeasible {
            return None;
        }
        match Arc::get_mut(&mut self.basis) {
            Some(basis) => basis.clone_from(&simplex.basis),
            None => self.basis = Arc::new(simplex.basis.clone()),
        }
        self.dual.clear();
        self.dual.extend_from_slice(dual);
        data.drop_infinite_bound_multipliers(&mut self.dual);
        if !data.proves_bound(cost, &self.dual) {
            return None;
        }
        self.constant = data.dual_objective(Some(cost), &self.dual);
        self.slope_x.resize(data.e.cols(), 0.0);
        self.slope_xi.resize(data.u.cols(), 0.0);
        data.cut_slopes(&self.dual, &mut self.slope_x, &mut self.slope_xi);
        self.tests = 0;
        Some(primal)
    }

    /// Recomputes the dual for another cost vector. Returns whether the basis is still dual feasible and its dual
    /// proves a bound.
    pub(super) fn reprice(&mut self, data: &RecourseData, cost: &[f64]) -> bool {
        let basis = Arc::clone(&self.basis);
        let mut dual = std::mem::take(&mut self.dual);
        let feasible = self.factors(data).is_some_and(|factors| factors.compute_dual(data, &basis, cost, &mut dual));
        data.drop_infinite_bound_multipliers(&mut dual);
        self.dual = dual;
        self.constant = data.dual_objective(Some(cost), &self.dual);
        data.cut_slopes(&self.dual, &mut self.slope_x, &mut self.slope_xi);
        feasible && data.proves_bound(cost, &self.dual)
    }

    /// Writes the y of the last feasibility test.
    pub(super) fn decision(&self, data: &RecourseData, y: &mut [f64]) {
        match &self.factors {
            FactorState::Ready(factors) => factors.decision(data, &self.basis, y),
            _ => y.fill(0.0),
        }
    }
}
