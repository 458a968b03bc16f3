//! The progress of a tempered search, and the rule by which it ends.
//!
//! Let s be the recourse solves of a search so far, and r the larger of those at which its worst scenario was found and
//! of those after which an earlier search of the run found what it was asked for. A search ends when
//! - all ascents so far ended at the worst scenario, and s ≥ `unanimous` + r; or
//! - at least nine in ten of them did, and s ≥ `agreed` + r; or
//! - s ≥ `disputed` and s ≥ 5r: searches at nearby decisions need about as many solves as those before; or
//! - s ≥ `most`, or the solves that the query allows are spent; or
//! - a scenario was found that the query calls enough.
//!
//! No claim follows from an end.

use crate::model::Problem;

/// The number of replicas. From five to twelve of them found the worst scenario about as often with as many solves.
pub(super) const RUNGS: usize = 6;

/// A disputed search goes on for so many times the solves after which something worse was found.
const PATIENCE: u64 = 5;

/// The share of ascents that end at the worst scenario from which on they agree. On energy problems up to three in four
/// ended at a scenario that was not the worst one.
const AGREEMENT: f64 = 0.9;

/// Costs of ends of ascents that differ by less, relatively, agree.
const AGREEMENT_TOL: f64 = 1e-6;

/// The recourse solves of a search: see the rule for its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SearchEffort {
    pub(super) unanimous: u64,
    pub(super) agreed: u64,
    pub(super) disputed: u64,
    pub(super) most: u64,
}

/// The recourse solves of a search times the nonzeros of the recourse rows, at most, where ascents agree, and where
/// they do not and no late success tells the search to be patient: large programs take longer, and a search should not
/// take many times as long as the run before it. Each with the least number of solves that it leaves.
const AGREED_WORK: (u64, u64) = (6_000_000, 200);
const DISPUTED_WORK: (u64, u64) = (20_000_000, 1000);

/// The same where all ascents end at one scenario: a search where nothing ever differed should not take several times
/// as long as the run. Needles are known to exist beside unanimous ascents where programs are small, and there this is
/// no limit: with 2,000 nonzeros 1,500 solves are made.
const UNANIMOUS_WORK: (u64, u64) = (3_000_000, 200);

impl SearchEffort {
    /// By the dimension of ξ and by the size of the recourse. A conic program takes as long as tens of linear ones, so
    /// that fewer are solved, but as many as find a narrow ridge of Q over a circle.
    pub(super) fn of(problem: &Problem) -> Self {
        let dim = problem.set.dim() as u64;
        let nonzeros = (problem.recourse.g.nonzeros() as u64).max(1);
        let affordable = |(work, least): (u64, u64)| (work / nonzeros).max(least);
        let agreed = (100 + 300 * dim).min(6000).min(affordable(AGREED_WORK));
        let disputed = (400 * dim).min(affordable(DISPUTED_WORK));
        let unanimous = agreed.min(affordable(UNANIMOUS_WORK));
        let full = Self { unanimous, agreed, disputed, most: 6 * disputed };
        if problem.recourse.is_linear() {
            return full;
        }
        let Self { agreed, disputed, most, .. } = full;
        let agreed = (agreed / 10).max(300);
        Self { unanimous: agreed, agreed, disputed: (disputed / 10).max(600), most: (most / 10).max(1200) }
    }
}

/// The progress of a search.
pub(super) struct Progress {
    pub(super) solves_before: u64,
    /// The solves after which an earlier search of the run found what it was asked for, at most.
    latest_success: u64,
    /// The largest cost that an ascent ended at, and the solves at that moment.
    pub(super) best: f64,
    pub(super) solves_at_best: u64,
    /// Ascents, how many of them ended at the best cost, and whether all did.
    pub(super) ascents: u64,
    pub(super) ascents_at_best: u64,
    pub(super) is_disputed: bool,
    /// The replicas from which an ascent led to the best cost; the last entry is for all other starts.
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
            ascents_at_best: 0,
            is_disputed: false,
            reached_by: [false; RUNGS + 1],
        }
    }

    /// Takes up the end of an ascent.
    pub(super) fn record(&mut self, value: f64, origin: usize, solves: u64) {
        self.ascents += 1;
        let is_same = agree(value, self.best);
        self.is_disputed |= self.ascents > 1 && !is_same;
        if !is_same && value > self.best {
            self.reached_by = [false; RUNGS + 1];
            self.solves_at_best = solves - self.solves_before;
            self.ascents_at_best = 0;
        }
        self.ascents_at_best += u64::from(is_same || value >= self.best);
        self.best = self.best.max(value);
        self.reached_by[origin] |= is_same || value >= self.best;
    }

    /// Whether the search ends after this number of solves, since no worse scenario was found for long enough.
    pub(super) fn is_exhausted(&self, solves: u64, effort: &SearchEffort) -> bool {
        let solves = solves - self.solves_before;
        let success = self.solves_at_best.max(self.latest_success);
        let agrees = self.ascents_at_best as f64 >= AGREEMENT * self.ascents as f64;
        let is_unanimous = self.ascents_at_best == self.ascents;
        is_unanimous && solves >= effort.unanimous + success
            || agrees && solves >= effort.agreed + success
            || solves >= effort.disputed.max(PATIENCE * success)
    }

    /// Whether the search is exhausted or as long as any may be.
    pub(super) fn is_over(&self, solves: u64, effort: &SearchEffort) -> bool {
        self.is_exhausted(solves, effort) || solves - self.solves_before >= effort.most
    }
}

/// Whether two ascents ended at the same cost, up to the tolerance of a search.
fn agree(value: f64, known: f64) -> bool {
    value == known || known.is_finite() && (value - known).abs() <= AGREEMENT_TOL * known.abs()
}
