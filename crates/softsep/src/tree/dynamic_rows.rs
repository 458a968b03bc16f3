//! Cuts and tangents of one linear program, and bases that stay valid when such rows are added and removed.
//!
//! A basis is stored as the statuses of the columns and of the rows of X, and the nonbasic dynamic rows by key. To
//! install it, those rows are added to the program; all other dynamic rows are basic, which makes it a basis again.

use std::collections::BTreeMap;

use softsep_lp::{Basis, BasisStatus, DualSum, Lp, Model};

use super::cut_rows::CutRows;
use super::root_model::RootModel;
use crate::error::Error;
use crate::recourse::CutKind;

/// Key of a dynamic row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RowKey {
    /// A cut, by its index in the pool.
    Cut(usize),
    /// The tangent to a square at a value, stored as bits.
    Tangent(usize, u64),
}

/// A basis of a relaxation, independent of the dynamic rows in the program.
#[derive(Debug, Clone)]
pub(super) struct RelaxationBasis {
    cols: Vec<BasisStatus>,
    static_rows: Vec<BasisStatus>,
    nonbasic_rows: Vec<(RowKey, BasisStatus)>,
}

/// Consecutive solves for which a row may be basic before it is removed.
const MAX_IDLE_SOLVES: u32 = 40;

/// Rows are removed when at least this many and at least this share of them are idle, since HiGHS factors a changed
/// program anew.
const MIN_REMOVED_ROWS: usize = 8;
const MIN_REMOVED_SHARE: f64 = 0.1;

#[derive(Debug, Default)]
pub(super) struct DynamicRows {
    keys: Vec<RowKey>,
    positions: BTreeMap<RowKey, usize>,
    /// Number of consecutive solves for which each row has been basic.
    idle_solves: Vec<u32>,
    added: Vec<RowKey>,
    terms: Vec<(usize, f64)>,
}

/// Writes the terms of a row, and returns its lower side. It has no upper one.
fn write_row(key: RowKey, root: &RootModel, pool: &CutRows, terms: &mut Vec<(usize, f64)>) -> f64 {
    terms.clear();
    match key {
        RowKey::Cut(position) => {
            let cut = &pool.cuts()[position];
            terms.extend(cut.slope.iter().map(|&(j, slope)| (j, -slope)));
            if cut.kind == CutKind::Optimality {
                terms.push((root.eta(), 1.0));
            }
            cut.intercept
        }
        // ½ s² ≥ v s − ½ v² with s = L_k x.
        RowKey::Tangent(square, bits) => {
            let at = f64::from_bits(bits);
            terms.extend(root.squares[square].iter().map(|&(j, entry)| (j, -at * entry)));
            terms.push((root.theta(square), 1.0));
            -0.5 * at * at
        }
    }
}

impl DynamicRows {
    pub(super) fn contains(&self, key: &RowKey) -> bool {
        self.positions.contains_key(key)
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Adds the rows that are not in the program yet. Returns whether there were any.
    pub(super) fn add(
        &mut self,
        keys: impl IntoIterator<Item = RowKey>,
        root: &RootModel,
        pool: &CutRows,
        lp: &mut Lp,
    ) -> Result<bool, Error> {
        self.added.clear();
        for key in keys {
            if !self.positions.contains_key(&key) {
                self.positions.insert(key, self.keys.len());
                self.keys.push(key);
                self.idle_solves.push(0);
                self.added.push(key);
            }
        }
        if self.added.is_empty() {
            return Ok(false);
        }
        let mut rows = Model::new();
        for key in &self.added {
            let lower = write_row(*key, root, pool, &mut self.terms);
            rows.add_row(lower, f64::INFINITY, &self.terms);
        }
        lp.add_rows(&rows)?;
        Ok(true)
    }

    /// Adds the rows to a bound by duality, with multipliers in their order.
    pub(super) fn add_to(&mut self, sum: &mut DualSum, dual: &[f64], root: &RootModel, pool: &CutRows) {
        for (key, &multiplier) in self.keys.iter().zip(dual) {
            let lower = write_row(*key, root, pool, &mut self.terms);
            sum.add_row(multiplier, (lower, f64::INFINITY), self.terms.iter().copied());
        }
    }

    /// Updates the idle counts by the basis of the last solve.
    pub(super) fn update_idle_counts(&mut self, basis: &Basis, static_rows: usize) {
        for (position, idle_solves) in self.idle_solves.iter_mut().enumerate() {
            *idle_solves = if basis.row(static_rows + position) == BasisStatus::Basic { *idle_solves + 1 } else { 0 };
        }
    }

    /// Removes rows that have been idle for long. All of them are basic. Returns whether rows were removed.
    pub(super) fn remove_idle(&mut self, static_rows: usize, lp: &mut Lp) -> Result<bool, Error> {
        let removable = self.idle_solves.iter().filter(|&&idle_solves| idle_solves >= MAX_IDLE_SOLVES).count();
        if removable < MIN_REMOVED_ROWS || (removable as f64) < MIN_REMOVED_SHARE * self.keys.len() as f64 {
            return Ok(false);
        }
        let is_removed: Vec<bool> = std::iter::repeat_n(false, static_rows)
            .chain(self.idle_solves.iter().map(|&idle_solves| idle_solves >= MAX_IDLE_SOLVES))
            .collect();
        lp.delete_rows(&is_removed)?;
        let mut is_kept = is_removed[static_rows..].iter().map(|is_removed| !is_removed);
        self.keys.retain(|_| is_kept.next().unwrap_or(true));
        self.idle_solves.retain(|&idle_solves| idle_solves < MAX_IDLE_SOLVES);
        self.positions = self.keys.iter().copied().zip(0..).collect();
        Ok(true)
    }

    /// Returns the basis in its stored form.
    pub(super) fn export_basis(&self, basis: &Basis, cols: usize, static_rows: usize) -> RelaxationBasis {
        let status = |position: usize| basis.row(static_rows + position);
        let nonbasic_rows = (0..self.keys.len()).filter(|&position| status(position) != BasisStatus::Basic);
        RelaxationBasis {
            cols: (0..cols).map(|col| basis.col(col)).collect(),
            static_rows: (0..static_rows).map(|row| basis.row(row)).collect(),
            nonbasic_rows: nonbasic_rows.map(|position| (self.keys[position], status(position))).collect(),
        }
    }

    /// Installs a basis in the program, and adds the rows that it needs.
    pub(super) fn import_basis(
        &mut self,
        start: &RelaxationBasis,
        root: &RootModel,
        pool: &CutRows,
        lp: &mut Lp,
    ) -> Result<Basis, Error> {
        self.add(start.nonbasic_rows.iter().map(|(key, _)| *key), root, pool, lp)?;
        let mut rows = vec![BasisStatus::Basic; self.keys.len()];
        for (key, status) in &start.nonbasic_rows {
            if let Some(&position) = self.positions.get(key) {
                rows[position] = *status;
            }
        }
        let basis = Basis::new(start.cols.iter().copied(), start.static_rows.iter().copied().chain(rows));
        lp.set_basis(&basis)?;
        Ok(basis)
    }
}
