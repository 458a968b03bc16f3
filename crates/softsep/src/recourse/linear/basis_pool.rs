//! Pool of dual feasible bases, tried before the solver is called.
//!
//! With fixed costs a basis that was optimal once stays dual feasible for every right-hand side. Each dual π of the
//! pool therefore gives the lower bound `constant − πᵀs` on Q at every shift s = Ex + Uξ. If the pool has the optimal
//! basis, it is the one with the largest bound: a scan of the bounds finds the candidate, and one solve with its
//! factors tells whether it is primal feasible, hence optimal. If it is not, the dual simplex starts from it.
//!
//! Along a drifting ξ the last basis often stays optimal, so it is tested before the scan for as long as that succeeds
//! more often than not.

use softsep_lp::Basis;

use super::basis_factors::PrimalFeasibility;
use super::data::RecourseData;
use super::dual_simplex::{DualSimplex, DualSimplexStatus};
use super::minorants::Minorants;
use super::pooled_basis::PooledBasis;

/// Bases in the pool where a scan computes one dot product over all rows for each. More would cost more than they save.
/// Where updates of the bounds are cheaper the pool is larger, so that a scan costs no more.
const MIN_CAPACITY: usize = 64;

/// Bases in the pool at most.
const MAX_CAPACITY: usize = 1024;

/// Entries of all duals, and of all slopes in ξ, in a pool of more than [`MIN_CAPACITY`] bases. Bounds the memory.
const MAX_ENTRIES: usize = 200_000;

/// Share of the scans that find an optimal basis below which a large pool does not pay: its memory does not fit into
/// the caches. The pool is then small for so many scans.
const MIN_SHARE_FOUND: f64 = 0.1;
const SCANS_WITH_SMALL_POOL: u64 = 8192;

/// Weight of the last scan in moving averages.
const SCAN_WEIGHT: f64 = 0.02;

/// Known bases of equal bound that are tested before the dual simplex starts: one test costs about as much as half a
/// pivot.
const MAX_TIES: usize = 8;

/// Refactorizations of one dual simplex solve. After more pivots HiGHS, which prices better, is faster.
const MAX_REFACTORIZATIONS: usize = 2;

/// Rows from which the dual simplex is not continued after a refactorization: HiGHS uses the sparsity of right-hand
/// sides, which saves time on large bases.
const MAX_ROWS_FOR_RESTART: usize = 500;

/// Minorants whose values differ by less are ties, relative to the value where that is above 1.
const TIE_TOL: f64 = 1e-10;

/// Score of the last basis at which it is tested before the scan, and its largest value. A success adds 1, a failure
/// takes 1 away.
const TEST_LAST_FIRST: u32 = 8;
const MAX_LAST_SCORE: u32 = 16;

/// The bases known to one engine, and the dual simplex that finds new ones.
#[derive(Default)]
pub(super) struct BasisPool {
    bases: Vec<PooledBasis>,
    /// When each basis was used last.
    last_uses: Vec<u64>,
    last: usize,
    uses: u64,
    /// The number of times that the last basis was optimal again, see [`TEST_LAST_FIRST`].
    last_score: u32,
    minorants: Minorants,
    /// Moving average of the products per basis that a scan takes.
    scan_cost: f64,
    /// Moving average of the share of scans that find an optimal basis.
    share_found: f64,
    scans: u64,
    /// The number of scans from which the pool may be large.
    large_from: u64,
    /// A basis that may need factors of its own.
    often_used: Option<usize>,
    simplex: DualSimplex,
    /// A basis that was dropped. Its memory serves the next new one.
    spare: PooledBasis,
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

impl PoolAnswer {
    fn optimal(primal: PrimalFeasibility, pivots: u64) -> Self {
        Self::Optimal { unique: primal == PrimalFeasibility::Nondegenerate, pivots }
    }
}

impl BasisPool {
    pub(super) fn clear(&mut self) {
        self.bases.clear();
        self.last_uses.clear();
        self.minorants.clear();
        self.last = 0;
        self.uses = 0;
        self.last_score = TEST_LAST_FIRST;
        self.scan_cost = 0.0;
        self.share_found = 0.0;
        self.scans = 0;
        self.large_from = 0;
        self.often_used = None;
    }

    /// Tells the pool that x has changed.
    pub(super) fn move_x(&mut self) {
        self.minorants.invalidate();
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
    fn candidate(&mut self, data: &RecourseData, shift: &[f64], xi: &[f64]) -> Option<usize> {
        let bases = &self.bases;
        let products = self.minorants.move_to(xi, |index| bases[index].value(shift)).unwrap_or(data.rows());
        self.scan_cost += SCAN_WEIGHT * (products as f64 - self.scan_cost);
        self.minorants.largest(self.last)
    }

    /// Returns the first primal feasible basis among `best` and some of those whose minorant equals that of `best` up
    /// to rounding. Such ties are bases of one dual vertex, or of one face of optimal duals. The basis `rejected` is
    /// known to be infeasible.
    fn primal_feasible_among_best(
        &mut self,
        data: &RecourseData,
        shift: &[f64],
        best: usize,
        rejected: Option<usize>,
    ) -> Option<(usize, PrimalFeasibility)> {
        let values = &self.minorants.values;
        let threshold = values[best] - TIE_TOL * (1.0 + values[best].abs());
        let ties = (0..values.len()).filter(|&i| i != best && values[i] >= threshold).take(MAX_TIES);
        for i in std::iter::once(best).chain(ties) {
            if Some(i) == rejected {
                continue;
            }
            let primal = self.bases[i].test(data, shift);
            if primal != PrimalFeasibility::Infeasible {
                return Some((i, primal));
            }
        }
        None
    }

    /// Makes the optimal basis at `shift` the last one: a basis of the pool, or a new one found by the dual simplex
    /// from the best basis of the pool. Costs must be fixed. `xi` is the scenario of the shift.
    pub(super) fn find_optimal(&mut self, data: &RecourseData, shift: &[f64], xi: &[f64], cost: &[f64]) -> PoolAnswer {
        let mut rejected = None;
        if self.last_score >= TEST_LAST_FIRST {
            let Some(pooled) = self.bases.get_mut(self.last) else { return PoolAnswer::Unknown };
            let primal = pooled.test(data, shift);
            if primal != PrimalFeasibility::Infeasible {
                self.score_last(true);
                self.mark_used(self.last);
                return PoolAnswer::optimal(primal, 0);
            }
            rejected = Some(self.last);
        }
        let Some(candidate) = self.candidate(data, shift, xi) else { return PoolAnswer::Unknown };
        let known = self.primal_feasible_among_best(data, shift, candidate, rejected);
        self.scans += 1;
        self.share_found += SCAN_WEIGHT * (f64::from(u8::from(known.is_some())) - self.share_found);
        self.score_last(known.is_some_and(|(known, _)| known == self.last));
        if let Some((known, primal)) = known {
            self.mark_used(known);
            return PoolAnswer::optimal(primal, 0);
        }
        let answer = self.pivot_from(candidate, data, shift, cost);
        // Only here: a solve that a known basis answers allocates nothing.
        let often_used = self.often_used.take().filter(|&index| index != self.last);
        if let Some(pooled) = often_used.and_then(|index| self.bases.get_mut(index)).filter(|it| it.wants_factors()) {
            pooled.factor(data);
        }
        answer
    }

    fn score_last(&mut self, is_optimal: bool) {
        let score = self.last_score;
        self.last_score = if is_optimal { (score + 1).min(MAX_LAST_SCORE) } else { score.saturating_sub(1) };
    }

    /// Runs the dual simplex from a basis of the pool, and refactors the basis after every [`PivotLimit`].
    ///
    /// [`PivotLimit`]: DualSimplexStatus::PivotLimit
    fn pivot_from(&mut self, candidate: usize, data: &RecourseData, shift: &[f64], cost: &[f64]) -> PoolAnswer {
        let mut intermediate: Option<PooledBasis> = None;
        let mut pivots = 0;
        let refactorizations = if data.rows() < MAX_ROWS_FOR_RESTART { MAX_REFACTORIZATIONS } else { 0 };
        for _ in 0..=refactorizations {
            let start = intermediate.as_mut().unwrap_or(&mut self.bases[candidate]);
            let status = start.pivot(&mut self.simplex, data, shift, cost);
            pivots += self.simplex.pivots;
            match status {
                DualSimplexStatus::Unreliable => return PoolAnswer::Unknown,
                DualSimplexStatus::Infeasible => return PoolAnswer::Infeasible,
                DualSimplexStatus::Optimal => {
                    if let Some(primal) = self.spare.follow(start, &self.simplex, data, shift, cost) {
                        let found = std::mem::take(&mut self.spare);
                        self.add_at(data, found, Some(shift));
                        return PoolAnswer::optimal(primal, pivots);
                    }
                }
                DualSimplexStatus::PivotLimit => {}
            }
            let Some(mut found) = PooledBasis::from_basis(data, &self.simplex.basis, cost) else {
                return PoolAnswer::Unknown;
            };
            match found.test(data, shift) {
                PrimalFeasibility::Infeasible if status == DualSimplexStatus::PivotLimit => intermediate = Some(found),
                PrimalFeasibility::Infeasible => return PoolAnswer::Unknown,
                primal => {
                    self.add_at(data, found, Some(shift));
                    return PoolAnswer::optimal(primal, pivots);
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
                PoolAnswer::optimal(primal, 0)
            }
            _ => PoolAnswer::Unknown,
        }
    }

    /// Adds a basis and makes it the last one.
    pub(super) fn add(&mut self, data: &RecourseData, pooled: PooledBasis) {
        self.add_at(data, pooled, None);
    }

    /// Adds a basis and makes it the last one. `shift` is that of the last scan, if there was one.
    fn add_at(&mut self, data: &RecourseData, pooled: PooledBasis, shift: Option<&[f64]>) {
        let index = self.insert(data, pooled, shift);
        self.mark_used(index);
    }

    /// Adds a basis without making it the last one.
    pub(super) fn add_hint(&mut self, data: &RecourseData, pooled: PooledBasis) {
        self.insert(data, pooled, None);
    }

    /// Adds a basis and returns its index. A full pool drops the basis that has not been used for the longest time, and
    /// a pool beyond its capacity two of them.
    fn insert(&mut self, data: &RecourseData, pooled: PooledBasis, shift: Option<&[f64]>) -> usize {
        let value = match shift {
            Some(shift) => pooled.value(shift),
            None => {
                self.minorants.invalidate();
                0.0
            }
        };
        let capacity = self.capacity(data);
        if self.bases.len() > capacity
            && let Some(oldest) = self.oldest()
        {
            self.remove(oldest);
        }
        let full = self.bases.len() >= capacity;
        let index = if full { self.oldest() } else { None }.unwrap_or(self.bases.len());
        self.minorants.set(index, &pooled.slope_xi, value);
        if index < self.bases.len() {
            self.spare = std::mem::replace(&mut self.bases[index], pooled);
            self.last_uses[index] = self.uses;
        } else {
            self.bases.push(pooled);
            self.last_uses.push(self.uses);
        }
        index
    }

    /// Bases that the pool may have: as many as a scan can update for the cost of [`MIN_CAPACITY`] dot products, or
    /// few if many do not help.
    fn capacity(&mut self, data: &RecourseData) -> usize {
        if self.scans < self.large_from {
            return MIN_CAPACITY;
        }
        let large = self.large_capacity(data);
        if self.bases.len() >= large && self.share_found < MIN_SHARE_FOUND {
            self.large_from = self.scans + SCANS_WITH_SMALL_POOL;
        }
        large
    }

    fn large_capacity(&self, data: &RecourseData) -> usize {
        let size = data.rows().max(data.u.cols()).max(1);
        let affordable = (MIN_CAPACITY * data.rows()) as f64 / self.scan_cost.max(1.0);
        (affordable as usize).min(MAX_ENTRIES / size).clamp(MIN_CAPACITY, MAX_CAPACITY)
    }

    /// Returns the basis that has not been used for the longest time, except the last one used.
    fn oldest(&self) -> Option<usize> {
        let others = (0..self.bases.len()).filter(|&i| i != self.last);
        others.min_by_key(|&i| self.last_uses[i])
    }

    fn remove(&mut self, index: usize) {
        let moved = self.bases.len() - 1;
        self.bases.swap_remove(index);
        self.last_uses.swap_remove(index);
        self.minorants.swap_remove(index);
        if self.last == moved {
            self.last = index;
        }
    }

    /// Returns whether the pool has this basis.
    pub(super) fn contains(&self, basis: &Basis) -> bool {
        self.bases.iter().any(|pooled| *pooled.basis == *basis)
    }

    fn mark_used(&mut self, index: usize) {
        self.uses += 1;
        self.last = index;
        self.last_uses[index] = self.uses;
        if self.bases[index].wants_factors() {
            self.often_used = Some(index);
        }
    }
}
