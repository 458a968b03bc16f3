//! The rows beside those of X that one linear program holds, and bases that survive their coming and going.
//!
//! A basis is kept as the columns' and X's rows' statuses and the rows that are not basic, by name. To put it into a
//! program is to bring those rows in; all others that are there are basic, which makes a basis again.

use std::collections::BTreeMap;

use softsep_lp::{Basis, BasisStatus, Lp, Model};

use super::frame::Frame;
use super::pool::Pool;
use crate::error::Error;
use crate::recourse::CutKind;

/// A row's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RowName {
    /// A cut by its place in the pool.
    Cut(usize),
    /// The tangent to a square at a value, by its bits.
    Tangent(usize, u64),
}

/// A basis of a relaxation, whatever rows it has.
#[derive(Debug, Clone)]
pub(super) struct Start {
    cols: Vec<BasisStatus>,
    own: Vec<BasisStatus>,
    tight: Vec<(RowName, BasisStatus)>,
}

/// Solves in a row that a row may be basic before it leaves.
const PATIENCE: u32 = 40;

/// Rows leave when at least this many, and at least this share, would: a program that has changed is factored again.
const LEAVE: usize = 8;
const LEAVE_SHARE: f64 = 0.1;

#[derive(Debug, Default)]
pub(super) struct Rows {
    names: Vec<RowName>,
    places: BTreeMap<RowName, usize>,
    /// For how many solves each has been basic.
    idle: Vec<u32>,
    fresh: Vec<RowName>,
}

impl Rows {
    pub(super) fn holds(&self, name: &RowName) -> bool {
        self.places.contains_key(name)
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// Appends rows that are not there yet.
    pub(super) fn bring(
        &mut self,
        names: impl IntoIterator<Item = RowName>,
        frame: &Frame,
        pool: &Pool,
        lp: &mut Lp,
    ) -> Result<bool, Error> {
        self.fresh.clear();
        for name in names {
            if !self.places.contains_key(&name) {
                self.places.insert(name, self.names.len());
                self.names.push(name);
                self.idle.push(0);
                self.fresh.push(name);
            }
        }
        if self.fresh.is_empty() {
            return Ok(false);
        }
        let mut rows = Model::new();
        let mut terms: Vec<(usize, f64)> = Vec::new();
        for name in &self.fresh {
            terms.clear();
            let lower = match *name {
                RowName::Cut(place) => {
                    let cut = &pool.cuts()[place];
                    terms.extend(cut.slope.iter().map(|&(j, slope)| (j, -slope)));
                    if cut.kind == CutKind::Optimality {
                        terms.push((frame.eta(), 1.0));
                    }
                    cut.intercept
                }
                // ½ s² ≥ v s − ½ v² with s = L_k x.
                RowName::Tangent(square, bits) => {
                    let at = f64::from_bits(bits);
                    terms.extend(frame.squares[square].iter().map(|&(j, entry)| (j, -at * entry)));
                    terms.push((frame.theta(square), 1.0));
                    -0.5 * at * at
                }
            };
            rows.add_row(lower, f64::INFINITY, &terms);
        }
        lp.add_rows(&rows)?;
        Ok(true)
    }

    /// Counts for how long rows have been basic, by the basis of the last solve.
    pub(super) fn age(&mut self, basis: &Basis, own: usize) {
        for (place, idle) in self.idle.iter_mut().enumerate() {
            *idle = if basis.row(own + place) == BasisStatus::Basic { *idle + 1 } else { 0 };
        }
    }

    /// Takes out what has been idle for long, all of it basic.
    pub(super) fn leave(&mut self, own: usize, lp: &mut Lp) -> Result<bool, Error> {
        let gone = self.idle.iter().filter(|&&idle| idle >= PATIENCE).count();
        if gone < LEAVE || (gone as f64) < LEAVE_SHARE * self.names.len() as f64 {
            return Ok(false);
        }
        let leaves: Vec<bool> =
            std::iter::repeat_n(false, own).chain(self.idle.iter().map(|&idle| idle >= PATIENCE)).collect();
        lp.delete_rows(&leaves)?;
        let mut stays = leaves[own..].iter().map(|leaves| !leaves);
        self.names.retain(|_| stays.next().unwrap_or(true));
        self.idle.retain(|&idle| idle < PATIENCE);
        self.places = self.names.iter().copied().zip(0..).collect();
        Ok(true)
    }

    /// The basis to keep.
    pub(super) fn keep(&self, basis: &Basis, cols: usize, own: usize) -> Start {
        let status = |place: usize| basis.row(own + place);
        let tight = (0..self.names.len()).filter(|&place| status(place) != BasisStatus::Basic);
        Start {
            cols: (0..cols).map(|col| basis.col(col)).collect(),
            own: (0..own).map(|row| basis.row(row)).collect(),
            tight: tight.map(|place| (self.names[place], status(place))).collect(),
        }
    }

    /// Puts a basis into the program, with the rows that it needs.
    pub(super) fn give(&mut self, start: &Start, frame: &Frame, pool: &Pool, lp: &mut Lp) -> Result<Basis, Error> {
        self.bring(start.tight.iter().map(|(name, _)| *name), frame, pool, lp)?;
        let mut rows = vec![BasisStatus::Basic; self.names.len()];
        for (name, status) in &start.tight {
            if let Some(&place) = self.places.get(name) {
                rows[place] = *status;
            }
        }
        let basis = Basis::new(start.cols.iter().copied(), start.own.iter().copied().chain(rows));
        lp.set_basis(&basis)?;
        Ok(basis)
    }
}
