//! The patterns of deviation that a budget allows at extreme points: a number of entries in full, and one in part if
//! the budget is fractional.

use super::{Count, counted};

/// Which way, and how far in all, entries deviate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PatternKind {
    /// Upward: ⌊Γ⌋ entries or fewer in full, or just ⌊Γ⌋ and one in part.
    AtMost,
    /// Upward, all of the budget spent.
    Spent,
    /// Upward or downward, all of the budget spent.
    EitherSide,
}

/// The extreme points z of `0 ≤ z ≤ 1, Σz ≤ Γ` ([`PatternKind::AtMost`]), of its face `Σz = Γ`, or of `|z| ≤ 1,
/// Σ|z| ≤ Γ`.
///
/// The first are the 0/1 vectors with at most ⌊Γ⌋ ones and, for a fractional Γ, the vectors with ⌊Γ⌋ ones and one entry
/// equal to the fraction. In the others the budget is spent in full: ⌊Γ⌋ entries at ±1 and, for a fractional Γ, one at
/// ± the fraction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Patterns {
    pub(super) kind: PatternKind,
    /// The number of entries.
    pub(super) entries: usize,
    /// The number of entries that can deviate in full.
    pub(super) full: usize,
    /// The deviation of one more entry, in [0, 1); zero if all entries deviate in full.
    pub(super) part: f64,
}

impl Patterns {
    /// With a budget of `full + part`, or as much of it as the entries can use.
    pub(super) fn new(kind: PatternKind, entries: usize, full: usize, part: f64) -> Self {
        let (full, part) = if full >= entries { (entries, 0.0) } else { (full, part) };
        Self { kind, entries, full, part }
    }

    /// Whether an entry deviates in part.
    pub(super) fn has_part(&self) -> bool {
        self.part > 0.0
    }

    /// The values that an entry takes.
    pub(super) fn levels(&self) -> Vec<f64> {
        match (self.kind == PatternKind::EitherSide, self.has_part()) {
            (false, false) => vec![0.0, 1.0],
            (false, true) => vec![0.0, self.part, 1.0],
            (true, false) => vec![-1.0, 0.0, 1.0],
            (true, true) => vec![-1.0, -self.part, 0.0, self.part, 1.0],
        }
    }

    /// The number of patterns.
    pub(super) fn count(&self) -> Count {
        let Self { kind, entries, full, .. } = *self;
        let with_part = |count: u128, each: u128| {
            if self.has_part() { count.checked_mul(each * (entries - full) as u128) } else { Some(count) }
        };
        counted(match kind {
            PatternKind::AtMost if full == entries => {
                u32::try_from(entries).ok().and_then(|entries| 2_u128.checked_pow(entries))
            }
            PatternKind::AtMost => {
                let count = (0..=full).try_fold(0_u128, |sum, ones| sum.checked_add(choose(entries, ones)?));
                match self.has_part() {
                    true => count.and_then(|count| count.checked_add(with_part(choose(entries, full)?, 1)?)),
                    false => count,
                }
            }
            PatternKind::Spent => choose(entries, full).and_then(|which| with_part(which, 1)),
            PatternKind::EitherSide => choose(entries, full)
                .and_then(|which| which.checked_mul(2_u128.checked_pow(u32::try_from(full).ok()?)?))
                .and_then(|count| with_part(count, 2)),
        })
    }

    /// Calls `visit` with every z, in lexicographic order.
    pub(super) fn visit(&self, mut visit: impl FnMut(&[f64])) {
        let levels = self.levels();
        let last = self.entries;
        let mut z = vec![0.0; last];
        // The level that each entry tries next, and how many entries before it deviate in full and in part.
        let mut next = vec![0; last + 1];
        let mut before = vec![(0, 0); last + 1];
        let mut position = 0;
        loop {
            if position == last {
                visit(&z);
            }
            while position == last || next[position] == levels.len() {
                if position == 0 {
                    return;
                }
                position -= 1;
            }
            let level = levels[next[position]];
            next[position] += 1;
            let (full, parts) = before[position];
            let (full, parts) = match level.abs() {
                0.0 => (full, parts),
                1.0 => (full + 1, parts),
                _ => (full, parts + 1),
            };
            if self.can_be_completed(full, parts, last - position - 1) {
                z[position] = level;
                position += 1;
                next[position] = 0;
                before[position] = (full, parts);
            }
        }
    }

    /// Whether `left` more entries can complete a pattern that has `full` entries deviating in full and `parts` in
    /// part.
    fn can_be_completed(&self, full: usize, parts: usize, left: usize) -> bool {
        if full > self.full || parts > 1 {
            return false;
        }
        let wanted = match self.kind {
            PatternKind::AtMost if parts == 0 => 0,
            PatternKind::AtMost => self.full - full,
            PatternKind::Spent | PatternKind::EitherSide => self.full - full + usize::from(self.has_part()) - parts,
        };
        wanted <= left
    }
}

/// `n` over `k`, if it fits.
fn choose(n: usize, k: usize) -> Option<u128> {
    let k = k.min(n - k);
    // Each partial product is itself a binomial coefficient, so the division leaves no remainder.
    (0..k as u128).try_fold(1_u128, |product, i| Some(product.checked_mul(n as u128 - i)? / (i + 1)))
}
