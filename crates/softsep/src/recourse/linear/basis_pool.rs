//! Pool of dual feasible bases, tried before the solver is called.
//!
//! With fixed costs a basis that was optimal once stays dual feasible for every right-hand side. Each dual π of the
//! pool therefore gives the lower bound `constant − πᵀs` on Q at every shift s = Ex + Uξ. If the pool has the optimal
//! basis, it is the one with the largest bound: one dot product per basis finds the candidate, and one solve with its
//! factors tells whether it is primal feasible, hence optimal. If it is not, the dual simplex starts from it.

use std::sync::Arc;

use softsep_lp::Basis;

use super::basis_factors::{BasisFactors, PrimalFeasibility};
use super::data::RecourseData;
use super::dual_simplex::{DualSimplex, DualSimplexStatus};

/// Bases in the pool. More would cost more dot products than they save.
const CAPACITY: usize = 64;

/// Refactorizations of one dual simplex solve. After more pivots HiGHS, which prices better, is faster.
const MAX_REFACTORIZATIONS: usize = 2;

/// Rows from which the dual simplex is not continued after a refactorization: HiGHS uses the sparsity of right-hand
/// sides, which pays on large bases.
const MAX_ROWS_FOR_RESTART: usize = 500;

/// Minorants whose values differ by less are ties, relative to the value where that is above 1.
const TIE_TOL: f64 = 1e-10;

/// A dual vertex, the affine minorant of Q that it proves, and its basis.
pub(super) struct PooledBasis {
    pub(super) basis: Arc<Basis>,
    pub(super) dual: Vec<f64>,
    /// Dual objective at shift 0. The minorant is `constant − πᵀs`.
    pub(super) constant: f64,
    pub(super) slope_x: Vec<f64>,
    pub(super) slope_xi: Vec<f64>,
    factors: FactorState,
    last_use: u64,
}

/// LU factors of a pooled basis. They are computed when the basis first is a candidate, since some never are.
enum FactorState {
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
        Self { basis, dual, constant, slope_x, slope_xi, factors: FactorState::NotFactored, last_use: 0 }
    }

    /// Pools a basis and computes its dual. Returns `None` if the basis is singular or not dual feasible.
    pub(super) fn from_basis(data: &RecourseData, basis: &Basis, cost: &[f64]) -> Option<Self> {
        let mut factors = BasisFactors::new(data, basis)?;
        let mut dual = vec![0.0; data.rows()];
        if !factors.compute_dual(data, basis, cost, &mut dual) {
            return None;
        }
        let pooled = Self::new(data, Arc::new(basis.clone()), cost, dual);
        Some(Self { factors: FactorState::Ready(Box::new(factors)), ..pooled })
    }

    /// Returns the value of the minorant at `shift`.
    pub(super) fn value(&self, shift: &[f64]) -> f64 {
        self.constant - self.dual.iter().zip(shift).map(|(pi, s)| pi * s).sum::<f64>()
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

    fn test(&mut self, data: &RecourseData, shift: &[f64]) -> PrimalFeasibility {
        self.factors(data).map_or(PrimalFeasibility::Infeasible, |factors| factors.test(data, shift))
    }

    /// Recomputes the dual for another cost vector. Returns whether the basis is still dual feasible.
    fn reprice(&mut self, data: &RecourseData, cost: &[f64]) -> bool {
        let basis = Arc::clone(&self.basis);
        let mut dual = std::mem::take(&mut self.dual);
        let feasible = self.factors(data).is_some_and(|factors| factors.compute_dual(data, &basis, cost, &mut dual));
        data.drop_infinite_bound_multipliers(&mut dual);
        self.dual = dual;
        self.constant = data.dual_objective(Some(cost), &self.dual);
        data.cut_slopes(&self.dual, &mut self.slope_x, &mut self.slope_xi);
        feasible
    }

    /// Writes the y of the last feasibility test.
    pub(super) fn decision(&self, data: &RecourseData, y: &mut [f64]) {
        match &self.factors {
            FactorState::Ready(factors) => factors.decision(data, &self.basis, y),
            _ => y.fill(0.0),
        }
    }
}

/// The bases known to one engine, and the dual simplex that finds new ones.
#[derive(Default)]
pub(super) struct BasisPool {
    bases: Vec<PooledBasis>,
    last: usize,
    uses: u64,
    /// Values of the minorants at the current shift.
    values: Vec<f64>,
    simplex: DualSimplex,
}

/// Answer of the pool to a right-hand side.
#[derive(Debug)]
pub(super) enum PoolAnswer {
    /// The last basis is optimal.
    Optimal {
        /// Whether its dual is the only optimal one.
        unique: bool,
        /// Dual simplex pivots that led to it. 0 if the basis was in the pool.
        pivots: u64,
    },
    /// The dual simplex found a row that cannot be satisfied. [`BasisPool::ray`] is the certificate, not yet verified.
    Infeasible,
    /// The pool has no answer.
    Unknown,
}

impl BasisPool {
    pub(super) fn clear(&mut self) {
        self.bases.clear();
        self.last = 0;
        self.uses = 0;
    }

    /// Returns the basis that answered last or was added last.
    pub(super) fn last(&self) -> Option<&PooledBasis> {
        self.bases.get(self.last)
    }

    /// Returns the multipliers behind [`PoolAnswer::Infeasible`].
    pub(super) fn ray(&self) -> &[f64] {
        self.simplex.ray()
    }

    /// Returns the basis with the largest minorant at `shift`. Ties go to the last one used.
    fn candidate(&mut self, shift: &[f64]) -> Option<usize> {
        self.values.clear();
        self.values.extend(self.bases.iter().map(|pooled| pooled.value(shift)));
        let mut best = (self.last, *self.values.get(self.last)?);
        for (i, &value) in self.values.iter().enumerate() {
            if value > best.1 {
                best = (i, value);
            }
        }
        Some(best.0)
    }

    /// Returns the first primal feasible basis among `best` and those whose minorant equals that of `best` up to
    /// rounding. Such ties are bases of one dual vertex, or of one face of optimal duals.
    fn primal_feasible_among_best(
        &mut self,
        data: &RecourseData,
        shift: &[f64],
        best: usize,
    ) -> Option<(usize, PrimalFeasibility)> {
        let threshold = self.values[best] - TIE_TOL * (1.0 + self.values[best].abs());
        let ties = (0..self.bases.len()).filter(|&i| i != best && self.values[i] >= threshold);
        for i in std::iter::once(best).chain(ties) {
            let primal = self.bases[i].test(data, shift);
            if primal != PrimalFeasibility::Infeasible {
                return Some((i, primal));
            }
        }
        None
    }

    /// Makes the optimal basis at `shift` the last one: a basis of the pool, or a new one found by the dual simplex
    /// from the best basis of the pool. Costs must be fixed.
    pub(super) fn find_optimal(&mut self, data: &RecourseData, shift: &[f64], cost: &[f64]) -> PoolAnswer {
        let Some(candidate) = self.candidate(shift) else { return PoolAnswer::Unknown };
        if let Some((known, primal)) = self.primal_feasible_among_best(data, shift, candidate) {
            self.mark_used(known);
            return PoolAnswer::Optimal { unique: primal == PrimalFeasibility::Nondegenerate, pivots: 0 };
        }
        self.pivot_from(candidate, data, shift, cost)
    }

    /// Runs the dual simplex from a basis of the pool, and refactors the basis after every [`PivotLimit`].
    ///
    /// [`PivotLimit`]: DualSimplexStatus::PivotLimit
    fn pivot_from(&mut self, candidate: usize, data: &RecourseData, shift: &[f64], cost: &[f64]) -> PoolAnswer {
        let mut intermediate: Option<PooledBasis> = None;
        let mut pivots = 0;
        let refactorizations = if data.rows() < MAX_ROWS_FOR_RESTART { MAX_REFACTORIZATIONS } else { 0 };
        for _ in 0..=refactorizations {
            let pooled = intermediate.as_mut().unwrap_or(&mut self.bases[candidate]);
            let FactorState::Ready(factors) = &mut pooled.factors else { return PoolAnswer::Unknown };
            let status = self.simplex.run(data, factors, &pooled.basis, cost, &pooled.dual, shift);
            pivots += self.simplex.pivots;
            match status {
                DualSimplexStatus::Unreliable => return PoolAnswer::Unknown,
                DualSimplexStatus::Infeasible => return PoolAnswer::Infeasible,
                DualSimplexStatus::Optimal | DualSimplexStatus::PivotLimit => {}
            }
            let Some(mut found) = PooledBasis::from_basis(data, &self.simplex.basis, cost) else {
                return PoolAnswer::Unknown;
            };
            match found.test(data, shift) {
                PrimalFeasibility::Infeasible if status == DualSimplexStatus::PivotLimit => intermediate = Some(found),
                PrimalFeasibility::Infeasible => return PoolAnswer::Unknown,
                primal => {
                    self.add(found);
                    return PoolAnswer::Optimal { unique: primal == PrimalFeasibility::Nondegenerate, pivots };
                }
            }
        }
        PoolAnswer::Unknown
    }

    /// The counterpart of [`find_optimal`](Self::find_optimal) for costs that depend on ξ. Tests the last basis only,
    /// which must be dual feasible for `cost` too.
    pub(super) fn find_optimal_at_cost(&mut self, data: &RecourseData, shift: &[f64], cost: &[f64]) -> PoolAnswer {
        let Some(pooled) = self.bases.get_mut(self.last) else { return PoolAnswer::Unknown };
        match pooled.test(data, shift) {
            primal if primal != PrimalFeasibility::Infeasible && pooled.reprice(data, cost) => {
                PoolAnswer::Optimal { unique: primal == PrimalFeasibility::Nondegenerate, pivots: 0 }
            }
            _ => PoolAnswer::Unknown,
        }
    }

    /// Adds a basis and makes it the last one.
    pub(super) fn add(&mut self, pooled: PooledBasis) {
        let index = self.insert(pooled);
        self.mark_used(index);
    }

    /// Adds a basis without making it the last one, and returns its index. A full pool drops the basis that has not
    /// been used for the longest time.
    pub(super) fn insert(&mut self, pooled: PooledBasis) -> usize {
        let pooled = PooledBasis { last_use: self.uses, ..pooled };
        if self.bases.len() < CAPACITY {
            self.bases.push(pooled);
            return self.bases.len() - 1;
        }
        let others = (0..self.bases.len()).filter(|&i| i != self.last);
        let oldest = others.min_by_key(|&i| self.bases[i].last_use).unwrap_or(0);
        self.bases[oldest] = pooled;
        oldest
    }

    /// Returns whether the pool has this basis.
    pub(super) fn contains(&self, basis: &Basis) -> bool {
        self.bases.iter().any(|pooled| *pooled.basis == *basis)
    }

    fn mark_used(&mut self, index: usize) {
        self.uses += 1;
        self.last = index;
        self.bases[index].last_use = self.uses;
    }
}
