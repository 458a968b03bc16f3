//! Where a tempered search stands, and the rule by which it ends.
//!
//! Let s be the recourse solves of a search so far, and r the larger of those at which its worst scenario was found and
//! of those after which an earlier search of the run found what it was asked for. A search ends when
//! - all ascents so far ended at the same cost, and s ≥ `agreed` + r; or
//! - s ≥ `disputed` and s ≥ 5r: searches at nearby decisions need about as many solves as those before; or
//! - s ≥ `most`, or the solves that the query allows are spent; or
//! - a scenario was found that the query calls enough.
//!
//! No claim follows from an end.

use super::local_maxima::is_same_maximum;
use crate::model::Problem;

/// The number of replicas. From five to twelve of them found the worst scenario about as often with as many solves.
pub(super) const RUNGS: usize = 6;

/// A disputed search goes on for so many times the solves after which something worse was found.
const PATIENCE: u64 = 5;

/// The recourse solves of a search: see the rule for its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SearchEffort {
    pub(super) agreed: u64,
    pub(super) disputed: u64,
    pub(super) most: u64,
}

/// The recourse solves of a search times the nonzeros of the recourse rows, at most, where no late success tells it to
/// be patient: large programs take longer, and a search should not take many times as long as the run before it.
const WORK: u64 = 20_000_000;

/// The least number of solves that [`WORK`] leaves.
const LEAST_SOLVES: u64 = 1000;

impl SearchEffort {
    /// By the dimension of ξ and by the size of the recourse. A conic program takes as long as tens of linear ones, so
    /// that fewer are solved, but as many as find a narrow ridge of Q over a circle.
    pub(super) fn of(problem: &Problem) -> Self {
        let dim = problem.set.dim() as u64;
        let affordable = (WORK / (problem.recourse.g.nonzeros() as u64).max(1)).max(LEAST_SOLVES);
        let agreed = (100 + 300 * dim).min(6000).min(affordable);
        let disputed = (400 * dim).min(affordable);
        let full = Self { agreed, disputed, most: 6 * disputed };
        if problem.recourse.is_linear() {
            return full;
        }
        let Self { agreed, disputed, most } = full;
        Self { agreed: (agreed / 10).max(300), disputed: (disputed / 10).max(600), most: (most / 10).max(1200) }
    }
}

/// Where a search stands.
pub(super) struct Progress {
    pub(super) solves_before: u64,
    /// The solves after which an earlier search of the run found what it was asked for, at most.
    latest_success: u64,
    /// The largest cost that an ascent ended at, and the solves at that moment.
    pub(super) best: f64,
    pub(super) solves_at_best: u64,
    /// Ascents, and whether they ended at different costs.
    pub(super) ascents: u64,
    pub(super) is_disputed: bool,
    /// The replicas that an ascent led to the best cost from; the last one stands for all other starts.
    pub(super) reached_by: [bool; RUNGS + 1],
}

impl Progress {
    pub(super) fn new(solves_before: u64, latest_success: u64) -> Self {
        Self {
            solves_before,
            latest_success,
            best: f64::NEG_INFINITY,
            solves_at_best: 0,
            ascents: 0,
            is_disputed: false,
            reached_by: [false; RUNGS + 1],
        }
    }

    /// Takes up the end of an ascent.
    pub(super) fn record(&mut self, value: f64, origin: usize, solves: u64) {
        self.ascents += 1;
        let is_same = is_same_maximum(value, self.best);
        self.is_disputed |= self.ascents > 1 && !is_same;
        if !is_same && value > self.best {
            self.reached_by = [false; RUNGS + 1];
            self.solves_at_best = solves - self.solves_before;
        }
        self.best = self.best.max(value);
        self.reached_by[origin] |= is_same || value >= self.best;
    }

    /// Whether nothing worse came for so long that the search ends, after so many solves in all.
    pub(super) fn is_exhausted(&self, solves: u64, effort: &SearchEffort) -> bool {
        let solves = solves - self.solves_before;
        let success = self.solves_at_best.max(self.latest_success);
        match self.is_disputed {
            false => solves >= effort.agreed + success,
            true => solves >= effort.disputed && solves >= PATIENCE * success,
        }
    }

    /// Whether the search is exhausted or as long as any may be.
    pub(super) fn is_over(&self, solves: u64, effort: &SearchEffort) -> bool {
        self.is_exhausted(solves, effort) || solves - self.solves_before >= effort.most
    }
}
