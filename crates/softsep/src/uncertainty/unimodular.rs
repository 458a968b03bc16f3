//! Polyhedra whose vertices are known without pivots: their rows are budgets, sums of entries in units of the entries'
//! ranges.
//!
//! With `ξ_j = lower_j + w_j·ζ_j` a row is a budget if all its coefficients `a_j·w_j` have one absolute value. A column
//! may be turned round, `ζ → 1 − ζ`, so that all its signs are positive. Then the vertices are known in two cases:
//!
//! - No entry is in two rows: at a vertex at most one ζ of a row is neither 0 nor 1, and it fills the row up to a
//!   limit.
//! - All limits are integral and the matrix of the rows is totally unimodular: all ζ are 0 or 1. It is so if the rows
//!   are intervals of entries in their order, and if they are the union of two laminar families (groups, subgroups and
//!   totals; hours and places), in each of which two rows are disjoint or one contains the other.

use super::oracle::SparseRow;
use super::vertices::{EnumerationLimits, GaveUp};
use crate::definition::ScenarioList;

/// Coefficients that differ by less than this, relative to their size, are equal.
const EQUAL: f64 = 1e-12;

/// A limit that is nearer than this to an integer is one.
const INTEGRAL: f64 = 1e-9;

/// A row over ζ: the entries in ascending order, and the limits of their sum.
#[derive(Debug)]
struct BudgetRow {
    entries: Vec<usize>,
    limits: [f64; 2],
}

/// A value of an entry at vertices.
#[derive(Debug, Clone, Copy)]
struct Level {
    xi: f64,
    zeta: f64,
}

/// Budgets over a box, with vertices at known levels.
#[derive(Debug)]
pub(super) struct Budgets {
    rows: Vec<BudgetRow>,
    /// The rows of each entry.
    rows_of: Vec<Vec<usize>>,
    /// The levels of each entry, in ascending order of ξ.
    levels: Vec<Vec<Level>>,
}

impl Budgets {
    /// Returns `None` where the rows are no such budgets.
    pub(super) fn of(lower: &[f64], upper: &[f64], rows: &[SparseRow]) -> Option<Self> {
        if lower.iter().chain(upper).any(|bound| bound.is_infinite()) {
            return None;
        }
        let (rows, turned) = budget_rows(lower, upper, rows)?;
        let mut rows_of = vec![Vec::new(); lower.len()];
        for (number, row) in rows.iter().enumerate() {
            row.entries.iter().for_each(|&entry| rows_of[entry].push(number));
        }
        let are_disjoint = rows_of.iter().all(|rows| rows.len() <= 1);
        let are_integral = rows.iter().flat_map(|row| row.limits).all(is_integral);
        if !are_disjoint && !(are_integral && (are_intervals(&rows) || are_laminar(&rows))) {
            return None;
        }
        let levels_of = |entry: usize| {
            let (least, most) = (lower[entry], upper[entry]);
            if least == most {
                return vec![Level { xi: least, zeta: 0.0 }];
            }
            let limits = rows_of[entry].iter().flat_map(|&row| rows[row].limits).filter(|limit| !is_integral(*limit));
            let mut zetas: Vec<f64> = [0.0, 1.0].into_iter().chain(limits.map(|limit| limit - limit.floor())).collect();
            zetas.sort_by(f64::total_cmp);
            zetas.dedup_by(|a, b| (*a - *b).abs() <= INTEGRAL);
            let level = |&zeta: &f64| {
                let share = if turned[entry] { 1.0 - zeta } else { zeta };
                Level { xi: if share == 1.0 { most } else { least + share * (most - least) }, zeta }
            };
            let mut levels: Vec<Level> = zetas.iter().map(level).collect();
            levels.sort_by(|a, b| a.xi.total_cmp(&b.xi));
            levels
        };
        let levels = (0..lower.len()).map(levels_of).collect();
        Some(Self { rows, rows_of, levels })
    }

    /// Returns the values that an entry takes at vertices, in ascending order.
    pub(super) fn levels(&self, entry: usize) -> Vec<f64> {
        self.levels[entry].iter().map(|level| level.xi).collect()
    }

    /// Counts the vertices, up to the limits of the effort.
    pub(super) fn count(&self, effort: EnumerationLimits) -> Result<usize, GaveUp> {
        let mut count = 0;
        self.visit(effort, |_| count += 1).map(|()| count)
    }

    /// Enumerates the vertices, in lexicographic order.
    pub(super) fn enumerate(&self, effort: EnumerationLimits) -> Result<ScenarioList, GaveUp> {
        let mut points = ScenarioList::new(self.levels.len());
        self.visit(effort, |xi| points.push(xi)).map(|()| points)
    }

    /// Visits the vertices in lexicographic order, by levels for one entry after the other.
    fn visit(&self, effort: EnumerationLimits, mut visit: impl FnMut(&[f64])) -> Result<(), GaveUp> {
        let dim = self.levels.len();
        let mut xi = vec![0.0; dim];
        // The sum of each row, the number of its entries that are still open, and whether it has a fraction.
        let mut states: Vec<RowState> =
            self.rows.iter().map(|row| RowState { sum: 0.0, open: row.entries.len(), has_fraction: false }).collect();
        // The next level of each entry on the way, and the level that it is at.
        let mut next = vec![0_usize; dim + 1];
        let (mut entry, mut found, mut work) = (0, 0, 0_u64);
        loop {
            if entry == dim {
                found += 1;
                if found > effort.points {
                    return Err(GaveUp { certain: found });
                }
                visit(&xi);
            } else if let Some(&level) = self.levels[entry].get(next[entry]) {
                work += 1 + self.rows_of[entry].len() as u64;
                if work > effort.work {
                    return Err(GaveUp { certain: found });
                }
                next[entry] += 1;
                if self.rows_of[entry].iter().all(|&row| self.rows[row].admits(&states[row], level.zeta)) {
                    xi[entry] = level.xi;
                    self.rows_of[entry].iter().for_each(|&row| states[row].add(level.zeta));
                    entry += 1;
                    next[entry] = 0;
                }
                continue;
            }
            // Back to the last entry with a level.
            if entry == 0 {
                return Ok(());
            }
            entry -= 1;
            let zeta = self.levels[entry][next[entry] - 1].zeta;
            self.rows_of[entry].iter().for_each(|&row| states[row].remove(zeta));
        }
    }
}

/// A row on the way to a vertex.
#[derive(Debug, Clone, Copy)]
struct RowState {
    sum: f64,
    open: usize,
    has_fraction: bool,
}

impl RowState {
    fn add(&mut self, zeta: f64) {
        self.sum += zeta;
        self.open -= 1;
        self.has_fraction |= is_fraction(zeta);
    }

    /// Takes the entry that was added last away again.
    fn remove(&mut self, zeta: f64) {
        self.open += 1;
        if is_fraction(zeta) {
            // There was one fraction only: the rest is an integer.
            self.has_fraction = false;
            self.sum = (self.sum - zeta).round();
        } else {
            self.sum -= zeta;
        }
    }
}

impl BudgetRow {
    /// Whether a vertex may continue with this ζ.
    fn admits(&self, state: &RowState, zeta: f64) -> bool {
        let (sum, open) = (state.sum + zeta, state.open - 1);
        let [least, most] = self.limits;
        if sum > most + INTEGRAL || sum + (open as f64) < least - INTEGRAL || state.has_fraction && is_fraction(zeta) {
            return false;
        }
        // A fraction fills its row up to a limit.
        let fills = |limit: f64| {
            sum <= limit + INTEGRAL && limit <= sum + open as f64 + INTEGRAL && {
                let missing = limit - sum;
                (missing - missing.round()).abs() <= INTEGRAL
            }
        };
        !(state.has_fraction || is_fraction(zeta)) || fills(least) || fills(most)
    }
}

fn is_fraction(zeta: f64) -> bool {
    zeta != 0.0 && zeta != 1.0
}

fn is_integral(limit: f64) -> bool {
    limit.is_infinite() || (limit - limit.round()).abs() <= INTEGRAL
}

/// Writes the rows over ζ, and returns with them the columns that are turned round so that all coefficients are one.
/// `None` where that is not possible.
fn budget_rows(lower: &[f64], upper: &[f64], rows: &[SparseRow]) -> Option<(Vec<BudgetRow>, Vec<bool>)> {
    let width = |entry: usize| upper[entry] - lower[entry];
    let mut signs: Vec<Option<bool>> = vec![None; lower.len()];
    let mut written = Vec::new();
    for row in rows {
        let terms = row.terms.iter().filter(|&&(entry, value)| value != 0.0 && width(entry) > 0.0);
        let Some(unit) = terms.clone().map(|&(entry, value)| (value * width(entry)).abs()).reduce(f64::max) else {
            continue;
        };
        let base: f64 = row.activity(lower);
        let mut budget = BudgetRow { entries: Vec::new(), limits: [row.lower, row.upper].map(|l| (l - base) / unit) };
        for &(entry, value) in terms {
            if (value * width(entry)).abs() < unit * (1.0 - EQUAL) || budget.entries.contains(&entry) {
                return None;
            }
            let is_negative = value < 0.0;
            if *signs[entry].get_or_insert(is_negative) != is_negative {
                return None;
            }
            if is_negative {
                budget.limits = budget.limits.map(|limit| limit + 1.0);
            }
            budget.entries.push(entry);
        }
        budget.entries.sort_unstable();
        written.push(budget);
    }
    Some((written, signs.iter().map(|sign| *sign == Some(true)).collect()))
}

/// Whether each row takes all entries from its first to its last one, of those that rows take.
fn are_intervals(rows: &[BudgetRow]) -> bool {
    let mut used: Vec<usize> = rows.iter().flat_map(|row| row.entries.iter().copied()).collect();
    used.sort_unstable();
    used.dedup();
    let place = |entry: usize| used.binary_search(&entry).unwrap_or_default();
    rows.iter().all(|row| match row.entries[..] {
        [first, .., last] => place(last) - place(first) + 1 == row.entries.len(),
        _ => true,
    })
}

/// Whether the rows are the union of two laminar families: rows that cross are in different ones.
fn are_laminar(rows: &[BudgetRow]) -> bool {
    let cross = |a: &BudgetRow, b: &BudgetRow| {
        let common = a.entries.iter().filter(|entry| b.entries.binary_search(entry).is_ok()).count();
        common > 0 && common < a.entries.len() && common < b.entries.len()
    };
    let mut family: Vec<Option<bool>> = vec![None; rows.len()];
    for start in 0..rows.len() {
        if family[start].is_some() {
            continue;
        }
        let mut waiting = vec![(start, false)];
        while let Some((row, side)) = waiting.pop() {
            match family[row] {
                Some(known) if known != side => return false,
                Some(_) => continue,
                None => family[row] = Some(side),
            }
            let crossing = (0..rows.len()).filter(|&other| other != row && cross(&rows[row], &rows[other]));
            waiting.extend(crossing.map(|other| (other, !side)));
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const EFFORT: EnumerationLimits = EnumerationLimits { points: 1000, work: 1_000_000 };

    /// Terms, lower and upper limit of a row.
    type Stated<'a> = (&'a [(usize, f64)], f64, f64);

    fn rows(rows: &[Stated]) -> Vec<SparseRow> {
        rows.iter().map(|&(terms, lower, upper)| SparseRow { terms: terms.to_vec(), lower, upper }).collect()
    }

    fn known(dim: usize, families: &[&[usize]], limit: f64) -> Option<(Vec<f64>, usize)> {
        let sums: Vec<Vec<(usize, f64)>> =
            families.iter().map(|entries| entries.iter().map(|&entry| (entry, 1.0)).collect()).collect();
        let list: Vec<_> = sums.iter().map(|terms| (&terms[..], f64::NEG_INFINITY, limit)).collect();
        let budgets = Budgets::of(&vec![0.0; dim], &vec![1.0; dim], &rows(&list))?;
        Some((budgets.levels(0), budgets.count(EFFORT).unwrap_or(0)))
    }

    #[test]
    fn budgets_have_levels_where_their_rows_are_unimodular() {
        let binary = |count: usize| Some((vec![0.0, 1.0], count));
        assert_eq!(known(4, &[&[0, 1], &[2, 3]], 1.0), binary(9), "disjoint");
        assert_eq!(known(4, &[&[0, 1], &[0, 1, 2, 3]], 1.0), binary(5), "nested");
        assert_eq!(known(4, &[&[0, 1], &[1, 2], &[2, 3]], 1.0), binary(8), "intervals");
        assert_eq!(known(4, &[&[0, 2], &[1, 3], &[0, 1], &[2, 3]], 1.0), binary(7), "rows and columns of a table");
        assert_eq!(known(3, &[&[0, 1], &[1, 2], &[0, 2]], 1.0), None, "an odd cycle");
        assert_eq!(known(4, &[&[0, 1], &[0, 1, 2, 3]], 1.5), None, "fractions of nested rows");
        // (0, 0), (0, 1), (1, 0), (0.25, 1), (1, 0.25).
        assert_eq!(known(2, &[&[0, 1]], 1.25), Some((vec![0.0, 0.25, 1.0], 5)), "a fraction of a lone row");
    }

    #[test]
    fn budgets_are_sums_in_units_of_the_ranges() {
        let (lower, upper) = ([-1.0, 5.0, 2.0], [1.0, 9.0, 2.0]);
        // In ζ: 4ζ₀ − 4ζ₁ − 1 = −1, and the third entry does not move.
        let row = [(0, 2.0), (1, -1.0), (2, 3.0)];
        let budgets = Budgets::of(&lower, &upper, &rows(&[(&row, -1.0, -1.0)])).map(|budgets| {
            let points = budgets.enumerate(EFFORT).map(|points| points.iter().map(<[f64]>::to_vec).collect::<Vec<_>>());
            (budgets.levels(1), points.unwrap_or_default())
        });
        assert_eq!(budgets, Some((vec![5.0, 9.0], vec![vec![-1.0, 5.0, 2.0], vec![1.0, 9.0, 2.0]])));
        assert!(Budgets::of(&lower, &upper, &rows(&[(&[(0, 2.0), (1, 1.5)], 0.0, 1.0)])).is_none(), "other weights");
        assert!(Budgets::of(&[0.0], &[f64::INFINITY], &[]).is_none(), "no bound");
    }

    #[test]
    fn a_count_ends_at_its_limit() {
        let budgets = Budgets::of(&[0.0; 40], &[1.0; 40], &[]).map(|budgets| budgets.count(EFFORT));
        assert_eq!(budgets, Some(Err(GaveUp { certain: 1001 })));
    }
}
