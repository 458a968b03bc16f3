//! Entries that are each at zero, in full or in part, so many of each: what the dynamic program of EC.2 of the paper
//! sums over and draws from.
//!
//! Every entry has a weight for being in full and one for being in part, against one for being at zero; a pattern has
//! the product of its entries' weights. The paper's recursion adds such products up, which leaves the range of a double
//! early: with κ = 1000 already a weight is e^1000. Here the entries are made independent with the probabilities that
//! their weights have, multiplied by a common price for each entry in full and one for each in part, and the recursion
//! is on the probability that entries from some place on have given counts. The prices leave the conditional law given
//! the counts what it is, and are such that the counts wanted are likely: then whatever underflows is impossible for
//! all purposes.

use rand::RngExt;

use crate::run::Random;
use crate::uncertainty::patterns::{Kind, Patterns};

/// What an entry does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Zero,
    Part,
    Full,
}

/// Counts that are still to be met.
#[derive(Debug, Clone, Copy)]
struct Left {
    full: usize,
    part: bool,
}

/// The recursion's table for some patterns and the draws by it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Counts(pub(super) Patterns);

impl Counts {
    /// Numbers per row of the table: the probabilities of the counts from here on, without a part and, if there is one,
    /// with it.
    fn width(self) -> usize {
        (self.0.full + 1) * if self.0.has_part() { 2 } else { 1 }
    }

    /// Whether fewer may be in full, with none in part.
    fn or_fewer(self) -> bool {
        self.0.kind == Kind::AtMost
    }

    /// Fills the table and returns the logarithm of the sum of all patterns' weights. `weight` gives the logarithms of
    /// an entry's weights in full and in part.
    ///
    /// The table holds a row for each place and one after the last, then three probabilities per entry (zero, full,
    /// part), then the share of each count that a draw may begin with.
    pub(super) fn fill(self, weight: impl Fn(usize) -> (f64, f64), table: &mut Vec<f64>) -> f64 {
        let (entries, width) = (self.0.entries, self.width());
        let rows = (entries + 1) * width;
        table.resize(rows + 3 * entries + self.0.full + 2, 0.0);
        let (cells, rest) = table.split_at_mut(rows);
        let (levels, starts) = rest.split_at_mut(3 * entries);
        for (entry, level) in levels.chunks_exact_mut(3).enumerate() {
            (level[1], level[2]) = weight(entry);
        }
        let (full_price, part_price) = self.prices(levels);
        let mut log_sum = 0.0;
        for level in levels.chunks_exact_mut(3) {
            let (full, part) =
                (level[1] + full_price, if self.0.has_part() { level[2] + part_price } else { f64::NEG_INFINITY });
            let most = full.max(part).max(0.0);
            (level[0], level[1], level[2]) = ((-most).exp(), (full - most).exp(), (part - most).exp());
            let sum = level[0] + level[1] + level[2];
            level.iter_mut().for_each(|level| *level /= sum);
            log_sum += most + sum.ln();
        }
        cells[entries * width..].fill(0.0);
        cells[entries * width] = 1.0;
        for entry in (0..entries).rev() {
            let (here, next) = cells[entry * width..(entry + 2) * width].split_at_mut(width);
            self.step(&levels[3 * entry..3 * entry + 3], here, next);
        }
        // Where the counts may be fewer, a draw begins with one of them; each has the prices that were added taken off.
        let mut most = f64::NEG_INFINITY;
        for (full, start) in starts.iter_mut().enumerate() {
            let (probability, price) = match full > self.0.full {
                true if !self.0.has_part() => (0.0, 0.0),
                true => (cells[self.0.full + 1 + self.0.full], self.0.full as f64 * full_price + part_price),
                false if !self.or_fewer() && (full < self.0.full || self.0.has_part()) => (0.0, 0.0),
                false => (cells[full], full as f64 * full_price),
            };
            *start = probability.ln() - price;
            most = most.max(*start);
        }
        let mut sum = 0.0;
        for start in starts.iter_mut() {
            *start = (*start - most).exp();
            sum += *start;
        }
        starts.iter_mut().for_each(|start| *start /= sum);
        log_sum + most + sum.ln()
    }

    /// A row of the recursion: Z_j(r, h) of EC.2, with the probabilities of entry j in place of its weights.
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

    /// The logarithms of the prices. With the one for entries in full, entries without a part would spend the whole
    /// budget on average; where fewer may be in full it only holds them back. As the part counts in the budget, at
    /// steep weights the price is that at which the entry that is in part in the best pattern is indifferent. With the
    /// one for entries in part, about one entry is in part on average.
    fn prices(self, levels: &[f64]) -> (f64, f64) {
        let spent =
            |price: f64| -> f64 { levels.chunks_exact(3).map(|level| 1.0 / (1.0 + (-level[1] - price).exp())).sum() };
        let budget = self.0.full as f64 + self.0.part;
        let near = 0.1 * if self.0.has_part() { self.0.part.min(1.0 - self.0.part) } else { 1.0 };
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for level in levels.chunks_exact(3) {
            (least, most) = (least.min(level[1]), most.max(level[1]));
        }
        let full_price = if self.0.entries == 0 || self.or_fewer() && spent(0.0) <= budget {
            0.0
        } else {
            // So far out all are in full, or none.
            let far = 40.0 + (self.0.entries as f64).ln();
            let (mut low, mut high) = (-most - far, if self.or_fewer() { 0.0 } else { -least + far });
            let mut price = 0.5 * (low + high);
            // Sixty halvings are all that a double can tell apart.
            for _ in 0..60 {
                let over = spent(price) - budget;
                if over.abs() <= near {
                    break;
                }
                *(if over > 0.0 { &mut high } else { &mut low }) = price;
                price = 0.5 * (low + high);
            }
            price
        };
        if !self.0.has_part() {
            return (full_price, 0.0);
        }
        // The part's price follows that of the budget it uses, and is then brought to where all entries together make
        // up about one. The sum is by its largest term: at steep weights every entry can be far from being in part.
        let share = |level: &[f64]| {
            let (full, part) = (level[1] + full_price, level[2] + self.0.part * full_price);
            part - full.max(0.0) - (-full.abs()).exp().ln_1p()
        };
        let most = levels.chunks_exact(3).map(share).fold(f64::NEG_INFINITY, f64::max);
        let parts: f64 = levels.chunks_exact(3).map(|level| (share(level) - most).exp()).sum();
        (full_price, self.0.part * full_price - most - parts.ln())
    }

    /// Draws a pattern from a table that [`Counts::fill`] filled, entry by entry.
    pub(super) fn draw(self, table: &[f64], random: &mut Random, mut visit: impl FnMut(&mut Random, usize, Level)) {
        let mut left = self.start(table, random);
        for entry in 0..self.0.entries {
            let level = self.next(table, entry, left, random);
            match level {
                Level::Zero => {}
                Level::Full => left.full -= 1,
                Level::Part => left.part = false,
            }
            visit(random, entry, level);
        }
    }

    /// The counts to begin with. Without a choice no random number is used.
    fn start(self, table: &[f64], random: &mut Random) -> Left {
        let whole = Left { full: self.0.full, part: self.0.has_part() };
        if !self.or_fewer() {
            return whole;
        }
        let mut at = random.random::<f64>();
        for full in 0..=self.0.full {
            at -= self.starts(table)[full];
            if at < 0.0 {
                return Left { full, part: false };
            }
        }
        whole
    }

    /// What entry `entry` does, given what is left.
    fn next(self, table: &[f64], entry: usize, left: Left, random: &mut Random) -> Level {
        if left.full == 0 && !left.part {
            return Level::Zero;
        }
        let width = self.width();
        let level = &table[(self.0.entries + 1) * width + 3 * entry..][..3];
        let next = &table[(entry + 1) * width..][..width];
        let offset = if left.part { self.0.full + 1 } else { 0 };
        let zero = level[0] * next[offset + left.full];
        let full = if left.full > 0 { level[1] * next[offset + left.full - 1] } else { 0.0 };
        let part = if left.part { level[2] * next[left.full] } else { 0.0 };
        let at = random.random::<f64>() * (zero + full + part);
        // What is impossible is never taken, however the product was rounded.
        if at < zero || full + part == 0.0 {
            Level::Zero
        } else if full > 0.0 && (at - zero < full || part == 0.0) {
            Level::Full
        } else {
            Level::Part
        }
    }

    /// The shares of the counts that a draw begins with: so many in full and none in part, and last all with the part.
    pub(super) fn starts(self, table: &[f64]) -> &[f64] {
        &table[(self.0.entries + 1) * self.width() + 3 * self.0.entries..]
    }
}
