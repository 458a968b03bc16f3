//! The dynamic program of EC.2 of the paper: sums over and draws from patterns in which a given number of entries is in
//! full, at most one is in part, and the others are zero.
//!
//! Every entry has a weight for being in full and one for being in part, relative to weight one for being zero. The
//! weight of a pattern is the product of its entries' weights. The paper's recursion adds such products up and
//! overflows a double early: κ = 1000 already gives a weight of e^1000. This implementation makes the entries
//! independent, with probabilities proportional to their weights times a common multiplier for entries in full and
//! another one for entries in part. The recursion computes the probability that the entries from some index on have
//! given counts. The multipliers do not change the conditional law given the counts, and they are chosen such that the
//! required counts are likely: any probability that underflows is then negligible.

use rand::RngExt;

use crate::run::Random;
use crate::uncertainty::patterns::{PatternKind, Patterns};

/// The level of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PatternLevel {
    Zero,
    Part,
    Full,
}

/// The counts that the remaining entries must have.
#[derive(Debug, Clone, Copy)]
struct RemainingCounts {
    full: usize,
    part: bool,
}

/// The recursion for a family of patterns: fills its table, and draws from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CountRecursion(pub(super) Patterns);

impl CountRecursion {
    /// Numbers per row of the table: the probabilities of the counts of the remaining entries, without a part and, if
    /// the patterns have one, with it.
    fn width(self) -> usize {
        (self.0.full + 1) * if self.0.has_part() { 2 } else { 1 }
    }

    /// Whether fewer entries may be in full, with none in part.
    fn or_fewer(self) -> bool {
        self.0.kind == PatternKind::AtMost
    }

    /// Fills the table and returns the logarithm of the sum of all patterns' weights. `weight` returns the log-weights
    /// of an entry in full and in part.
    ///
    /// The table holds one row per entry and one after the last, then three probabilities per entry (zero, full, part),
    /// then the probability of each initial count.
    pub(super) fn fill(self, weight: impl Fn(usize) -> (f64, f64), table: &mut Vec<f64>) -> f64 {
        let (entries, width) = (self.0.entries, self.width());
        let rows = (entries + 1) * width;
        table.resize(rows + 3 * entries + self.0.full + 2, 0.0);
        let (cells, rest) = table.split_at_mut(rows);
        let (levels, starts) = rest.split_at_mut(3 * entries);
        for (entry, level) in levels.chunks_exact_mut(3).enumerate() {
            (level[1], level[2]) = weight(entry);
        }
        let multipliers = self.multipliers(levels);
        let log_sum = self.fill_probabilities(multipliers, levels);
        cells[entries * width..].fill(0.0);
        cells[entries * width] = 1.0;
        for entry in (0..entries).rev() {
            let (here, next) = cells[entry * width..(entry + 2) * width].split_at_mut(width);
            self.step(&levels[3 * entry..3 * entry + 3], here, next);
        }
        let (most, log_rest) = self.fill_starts(multipliers, cells, starts);
        log_sum + most + log_rest
    }

    /// Replaces the log-weights of all entries by probabilities proportional to weight times multiplier. Returns the
    /// logarithm of the product of the entries' total weights.
    fn fill_probabilities(self, (full_multiplier, part_multiplier): (f64, f64), levels: &mut [f64]) -> f64 {
        let mut log_sum = 0.0;
        for level in levels.chunks_exact_mut(3) {
            let (full, part) = (
                level[1] + full_multiplier,
                if self.0.has_part() { level[2] + part_multiplier } else { f64::NEG_INFINITY },
            );
            let most = full.max(part).max(0.0);
            (level[0], level[1], level[2]) = ((-most).exp(), (full - most).exp(), (part - most).exp());
            let sum = level[0] + level[1] + level[2];
            level.iter_mut().for_each(|level| *level /= sum);
            log_sum += most + sum.ln();
        }
        log_sum
    }

    /// Fills the probabilities of the initial counts from the first row of the table. Returns the logarithm of their
    /// largest weight, and of the sum of all weights relative to it. The multipliers are removed from the weights.
    ///
    /// If fewer entries may be in full, a draw starts with a random count.
    fn fill_starts(
        self,
        (full_multiplier, part_multiplier): (f64, f64),
        cells: &[f64],
        starts: &mut [f64],
    ) -> (f64, f64) {
        let mut most = f64::NEG_INFINITY;
        for (full, start) in starts.iter_mut().enumerate() {
            let (probability, multiplier) = match full > self.0.full {
                true if !self.0.has_part() => (0.0, 0.0),
                true => (cells[self.0.full + 1 + self.0.full], self.0.full as f64 * full_multiplier + part_multiplier),
                false if !self.or_fewer() && (full < self.0.full || self.0.has_part()) => (0.0, 0.0),
                false => (cells[full], full as f64 * full_multiplier),
            };
            *start = probability.ln() - multiplier;
            most = most.max(*start);
        }
        let mut sum = 0.0;
        for start in starts.iter_mut() {
            *start = (*start - most).exp();
            sum += *start;
        }
        starts.iter_mut().for_each(|start| *start /= sum);
        (most, sum.ln())
    }

    /// Computes a row of the recursion: Z_j(r, h) of EC.2, with the probabilities of entry j instead of its weights.
    fn step(self, level: &[f64], here: &mut [f64], next: &[f64]) {
        let (zero, full, part) = (level[0], level[1], level[2]);
        let (without, with) = here.split_at_mut(self.0.full + 1);
        let (next_without, next_with) = next.split_at(self.0.full + 1);
        without[0] = zero * next_without[0];
        for r in 1..=self.0.full {
            without[r] = zero * next_without[r] + full * next_without[r - 1];
        }
        if self.0.has_part() {
            with[0] = zero * next_with[0] + part * next_without[0];
            for r in 1..=self.0.full {
                with[r] = zero * next_with[r] + full * next_with[r - 1] + part * next_without[r];
            }
        }
    }

    /// Returns the logarithms of the multipliers of entries in full and in part.
    ///
    /// With the multiplier of entries in full, entries without a part would spend the entire budget on average; if
    /// fewer may be in full, the multiplier is at most one. The part counts in the budget, so that at steep weights the
    /// multiplier makes the entry that is in part in the best pattern indifferent. With the multiplier of entries in
    /// part, about one entry is in part on average.
    fn multipliers(self, levels: &[f64]) -> (f64, f64) {
        let full_multiplier = self.full_multiplier(levels);
        if !self.0.has_part() {
            return (full_multiplier, 0.0);
        }
        // The part's multiplier is that of the budget it uses, scaled such that about one entry is in part on average.
        // The sum has its largest term factored out: at steep weights every entry can be far from being in part.
        let share = |level: &[f64]| {
            let (full, part) = (level[1] + full_multiplier, level[2] + self.0.part * full_multiplier);
            part - full.max(0.0) - (-full.abs()).exp().ln_1p()
        };
        let most = levels.chunks_exact(3).map(share).fold(f64::NEG_INFINITY, f64::max);
        let parts: f64 = levels.chunks_exact(3).map(|level| (share(level) - most).exp()).sum();
        (full_multiplier, self.0.part * full_multiplier - most - parts.ln())
    }

    /// The logarithm of the multiplier of entries in full, by bisection.
    fn full_multiplier(self, levels: &[f64]) -> f64 {
        let spent = |multiplier: f64| -> f64 {
            levels.chunks_exact(3).map(|level| 1.0 / (1.0 + (-level[1] - multiplier).exp())).sum()
        };
        let budget = self.0.full as f64 + self.0.part;
        let near = 0.1 * if self.0.has_part() { self.0.part.min(1.0 - self.0.part) } else { 1.0 };
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for level in levels.chunks_exact(3) {
            (least, most) = (least.min(level[1]), most.max(level[1]));
        }
        if self.0.entries == 0 || self.or_fewer() && spent(0.0) <= budget {
            return 0.0;
        }
        // At this distance all entries are in full, or none.
        let far = 40.0 + (self.0.entries as f64).ln();
        let (mut low, mut high) = (-most - far, if self.or_fewer() { 0.0 } else { -least + far });
        let mut multiplier = 0.5 * (low + high);
        // Sixty bisections exhaust the precision of a double.
        for _ in 0..60 {
            let over = spent(multiplier) - budget;
            if over.abs() <= near {
                break;
            }
            *(if over > 0.0 { &mut high } else { &mut low }) = multiplier;
            multiplier = 0.5 * (low + high);
        }
        multiplier
    }

    /// Draws a pattern entry by entry from a table filled by [`CountRecursion::fill`].
    pub(super) fn draw(
        self,
        table: &[f64],
        random: &mut Random,
        mut visit: impl FnMut(&mut Random, usize, PatternLevel),
    ) {
        let mut remaining = self.start(table, random);
        for entry in 0..self.0.entries {
            let level = self.next(table, entry, remaining, random);
            match level {
                PatternLevel::Zero => {}
                PatternLevel::Full => remaining.full -= 1,
                PatternLevel::Part => remaining.part = false,
            }
            visit(random, entry, level);
        }
    }

    /// Draws the initial counts. Uses no random number if only one count is possible.
    fn start(self, table: &[f64], random: &mut Random) -> RemainingCounts {
        let all = RemainingCounts { full: self.0.full, part: self.0.has_part() };
        if !self.or_fewer() {
            return all;
        }
        let mut at = random.random::<f64>();
        for full in 0..=self.0.full {
            at -= self.starts(table)[full];
            if at < 0.0 {
                return RemainingCounts { full, part: false };
            }
        }
        all
    }

    /// Draws the level of an entry, given the remaining counts.
    fn next(self, table: &[f64], entry: usize, remaining: RemainingCounts, random: &mut Random) -> PatternLevel {
        if remaining.full == 0 && !remaining.part {
            return PatternLevel::Zero;
        }
        let width = self.width();
        let level = &table[(self.0.entries + 1) * width + 3 * entry..][..3];
        let next = &table[(entry + 1) * width..][..width];
        let offset = if remaining.part { self.0.full + 1 } else { 0 };
        let zero = level[0] * next[offset + remaining.full];
        let full = if remaining.full > 0 { level[1] * next[offset + remaining.full - 1] } else { 0.0 };
        let part = if remaining.part { level[2] * next[remaining.full] } else { 0.0 };
        let at = random.random::<f64>() * (zero + full + part);
        // A level of probability zero is never drawn, however the product was rounded.
        if at < zero || full + part == 0.0 {
            PatternLevel::Zero
        } else if full > 0.0 && (at - zero < full || part == 0.0) {
            PatternLevel::Full
        } else {
            PatternLevel::Part
        }
    }

    /// The probabilities of the initial counts: 0, 1, … entries in full and none in part, and last all in full with the
    /// part.
    pub(super) fn starts(self, table: &[f64]) -> &[f64] {
        &table[(self.0.entries + 1) * self.width() + 3 * self.0.entries..]
    }
}
