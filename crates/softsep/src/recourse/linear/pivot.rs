//! A walk of dual simplex pivots from a known basis: right-hand sides moved, costs did not, so the basis is dual
//! feasible and often only a few pivots away from the optimum. HiGHS would find it too, but a call of it costs as much
//! as hundreds of these pivots.
//!
//! The walk proposes and proves nothing: its last basis is factored afresh and tested like any other, its ray is
//! verified like any other, and wherever it is in doubt it gives up and HiGHS is asked.

use std::ops::Range;

use softsep_lp::{Basis, BasisStatus};

use super::frame::{FEASIBLE, Frame};
use super::kernel::{Kernel, held_at};

/// Pivots after which the basis is worth factoring anew.
const PIVOTS: usize = 100;

/// Entries of a pivot row below this are rounding.
const TINY: f64 = 1e-9;

/// Where a walk ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// At a basis that is primal feasible, by the walk's own reckoning.
    Optimal,
    /// At a row that no pivot can repair; the ray in [`Walk::ray`] should prove it.
    Infeasible,
    /// On the way, and better to go on from factors of the basis there.
    Far,
    /// In doubt.
    Unfinished,
}

/// Which way a variable may leave where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Move {
    /// From its lower bound.
    Up,
    /// From its upper bound.
    Down,
    /// Free.
    Both,
    /// Basic, or fixed.
    Neither,
}

impl Move {
    fn of(frame: &Frame, variable: usize, status: BasisStatus) -> Self {
        let is_fixed = match variable.checked_sub(frame.cols()) {
            None => frame.lower[variable] == frame.upper[variable],
            Some(row) => frame.row_lower[row] == frame.row_upper[row],
        };
        match status {
            _ if is_fixed => Self::Neither,
            BasisStatus::Lower => Self::Up,
            BasisStatus::Upper => Self::Down,
            BasisStatus::Zero | BasisStatus::Nonbasic => Self::Both,
            BasisStatus::Basic => Self::Neither,
        }
    }
}

/// The room that walks use again and again.
#[derive(Default)]
pub(super) struct Walk {
    /// The basis walked to.
    pub(super) basis: Basis,
    /// Pivots of the last walk.
    pub(super) pivots: u64,
    basic: Vec<u32>,
    values: Vec<f64>,
    /// Devex weights of the basic variables: how far, about, each pulls the others along.
    weights: Vec<f64>,
    /// Which way each variable may leave where it stands.
    moves: Vec<Move>,
    /// Reduced costs of all variables, and the pivot row over them, which is zero outside the variables touched.
    reduced: Vec<f64>,
    row: Vec<f64>,
    touched: Vec<u32>,
    /// Variables that may enter: which, the size of its reduced cost, and of its entry in the pivot row.
    candidates: Vec<(u32, f64, f64)>,
    column: Vec<f64>,
    rho: Vec<f64>,
    /// The changes of the basis since it was factored, one after the other, and the entries of their columns.
    etas: Vec<Eta>,
    entries: Vec<(u32, f64)>,
}

/// A change of the basis: its column `B⁻¹a` is `pivot` at `place`, and elsewhere as the entries up to `end` have it.
struct Eta {
    place: usize,
    pivot: f64,
    end: usize,
}

impl Walk {
    /// Walks from `basis`, whose factors are `kernel` and whose dual is `dual`, towards feasibility at `shift`.
    pub(super) fn run(
        &mut self,
        frame: &Frame,
        kernel: &mut Kernel,
        basis: &Basis,
        cost: &[f64],
        dual: &[f64],
        shift: &[f64],
    ) -> End {
        self.begin(frame, kernel, basis, cost, dual);
        while self.etas.len() < PIVOTS {
            let Some((place, below)) = self.leaving(frame, shift) else { return End::Optimal };
            self.btran(kernel, place);
            self.price_row(frame);
            let Some(entering) = self.entering(below) else { return End::Infeasible };
            self.ftran(frame, kernel, entering);
            if !self.is_sure(place, entering) {
                return End::Unfinished;
            }
            let Some(()) = self.exchange(frame, shift, place, entering, below) else { return End::Unfinished };
        }
        End::Far
    }

    /// Drives the variables of a range, which are fixed, out of a dual feasible basis that may be at any right-hand
    /// side.
    pub(super) fn expel(
        &mut self,
        frame: &Frame,
        kernel: &mut Kernel,
        basis: &Basis,
        cost: &[f64],
        dual: &[f64],
        fixed: Range<usize>,
    ) -> Option<()> {
        self.begin(frame, kernel, basis, cost, dual);
        let nowhere = vec![0.0; frame.rows()];
        let places: Vec<usize> =
            (0..self.basic.len()).filter(|&place| fixed.contains(&(self.basic[place] as usize))).collect();
        if places.len() > PIVOTS {
            return None;
        }
        for place in places {
            self.btran(kernel, place);
            self.price_row(frame);
            // A fixed variable has no side to leave on: the better pivot of both decides.
            let size = |walk: &Self, entering: Option<usize>| entering.map_or(0.0, |variable| walk.row[variable].abs());
            let (up, down) = (self.entering(false), self.entering(true));
            let entering = if size(self, up) >= size(self, down) { up? } else { down? };
            self.ftran(frame, kernel, entering);
            if !self.is_sure(place, entering) {
                return None;
            }
            self.exchange(frame, &nowhere, place, entering, true)?;
        }
        Some(())
    }

    /// Whether the pivot is the same number by two ways: where they differ the factors have drifted.
    fn is_sure(&self, place: usize, entering: usize) -> bool {
        let pivot = self.column[place];
        (pivot - self.row[entering]).abs() <= 1e-7 * (1.0 + pivot.abs())
    }

    /// The multipliers of the row that no pivot could repair.
    pub(super) fn ray(&self) -> &[f64] {
        &self.rho
    }

    fn begin(&mut self, frame: &Frame, kernel: &Kernel, basis: &Basis, cost: &[f64], dual: &[f64]) {
        let (rows, cols) = (frame.rows(), frame.cols());
        self.pivots = 0;
        self.basis.clone_from(basis);
        self.basic.clone_from(&kernel.basic);
        self.values.clone_from(&kernel.values);
        self.weights.clear();
        self.weights.resize(rows, 1.0);
        self.etas.clear();
        self.entries.clear();
        self.column.resize(rows, 0.0);
        self.rho.resize(rows, 0.0);
        self.row.resize(cols + rows, 0.0);
        self.reduced.resize(cols + rows, 0.0);
        for j in 0..cols {
            self.reduced[j] = cost[j] - frame.price(j, dual);
        }
        self.reduced[cols..].copy_from_slice(dual);
        let statuses = (0..cols).map(|col| basis.col(col)).chain((0..rows).map(|row| basis.row(row)));
        self.moves.clear();
        self.moves.extend(statuses.enumerate().map(|(variable, status)| Move::of(frame, variable, status)));
    }

    /// The basic variable that leaves its bounds most for its weight, and whether it is below.
    fn leaving(&self, frame: &Frame, shift: &[f64]) -> Option<(usize, bool)> {
        let mut worst = (0.0, None);
        for (place, ((&variable, &value), &weight)) in
            self.basic.iter().zip(&self.values).zip(&self.weights).enumerate()
        {
            let (lower, upper) = frame.bounds(variable as usize, shift);
            let (beyond, below) = if value < lower { (lower - value, true) } else { (value - upper, false) };
            if beyond > FEASIBLE && beyond * beyond > worst.0 * weight {
                worst = (beyond * beyond / weight, Some((place, below)));
            }
        }
        worst.1
    }

    /// `rho = B⁻ᵀ e_place`, through the changes since the factors were made, latest first.
    fn btran(&mut self, kernel: &mut Kernel, place: usize) {
        self.rho.fill(0.0);
        self.rho[place] = 1.0;
        for (change, eta) in self.etas.iter().enumerate().rev() {
            let start = change.checked_sub(1).map_or(0, |last| self.etas[last].end);
            let rest: f64 =
                self.entries[start..eta.end].iter().map(|&(row, entry)| entry * self.rho[row as usize]).sum();
            self.rho[eta.place] = (self.rho[eta.place] - rest) / eta.pivot;
        }
        if let Some(lu) = &mut kernel.lu {
            lu.solve_transpose(&mut self.rho);
        }
    }

    /// The pivot row `rhoᵀA` over all variables: by rows, since rho is sparse and touches few of them.
    fn price_row(&mut self, frame: &Frame) {
        let (row, touched) = (&mut self.row[..], &mut self.touched);
        for variable in touched.drain(..) {
            row[variable as usize] = 0.0;
        }
        for (i, &rho) in self.rho.iter().enumerate() {
            if rho.abs() <= TINY * TINY {
                continue;
            }
            for (variable, value) in frame.by_rows.row(i) {
                let entry = row[variable];
                if entry == 0.0 {
                    touched.push(variable as u32);
                }
                let entry = entry + rho * value;
                // What cancels is touched all the same.
                row[variable] = if entry == 0.0 { f64::MIN_POSITIVE } else { entry };
            }
            let activity = frame.cols() + i;
            touched.push(activity as u32);
            row[activity] = -rho;
        }
    }

    /// The dual ratio test in two passes: how far the dual can go if signs may be off by a tolerance, then the largest
    /// pivot within that.
    fn entering(&mut self, below: bool) -> Option<usize> {
        let sign = if below { -1.0 } else { 1.0 };
        self.candidates.clear();
        let mut reach = f64::INFINITY;
        let (row, reduced, moves) = (&self.row[..], &self.reduced[..], &self.moves[..]);
        for &variable in &self.touched {
            let entry = sign * row[variable as usize];
            if entry.abs() <= TINY {
                continue;
            }
            let reduced = reduced[variable as usize];
            let (reduced, entry) = match moves[variable as usize] {
                Move::Up if entry > 0.0 => (reduced.max(0.0), entry),
                Move::Down if entry < 0.0 => ((-reduced).max(0.0), -entry),
                Move::Both => (0.0, entry.abs()),
                _ => continue,
            };
            // What is out of reach already stays so.
            if reduced <= reach * entry {
                self.candidates.push((variable, reduced, entry));
                reach = reach.min((reduced + TINY) / entry);
            }
        }
        let mut best: Option<(u32, f64)> = None;
        for &(variable, reduced, entry) in &self.candidates {
            if reduced <= reach * entry && best.is_none_or(|(_, largest)| entry > largest) {
                best = Some((variable, entry));
            }
        }
        best.map(|(variable, _)| variable as usize)
    }

    fn status(&self, frame: &Frame, variable: usize) -> BasisStatus {
        match variable.checked_sub(frame.cols()) {
            None => self.basis.col(variable),
            Some(row) => self.basis.row(row),
        }
    }

    /// `column = B⁻¹ a`, through the changes in order.
    fn ftran(&mut self, frame: &Frame, kernel: &mut Kernel, variable: usize) {
        self.column.fill(0.0);
        match variable.checked_sub(frame.cols()) {
            None => frame.columns.row(variable).for_each(|(row, value)| self.column[row] = value),
            Some(row) => self.column[row] = -1.0,
        }
        if let Some(lu) = &mut kernel.lu {
            lu.solve(&mut self.column);
        }
        let mut start = 0;
        for eta in &self.etas {
            let step = self.column[eta.place] / eta.pivot;
            if step != 0.0 {
                for &(row, entry) in &self.entries[start..eta.end] {
                    self.column[row as usize] -= entry * step;
                }
            }
            self.column[eta.place] = step;
            start = eta.end;
        }
    }

    /// The leaving variable goes to the bound that it broke, the entering one takes its place.
    fn exchange(&mut self, frame: &Frame, shift: &[f64], place: usize, entering: usize, below: bool) -> Option<()> {
        let leaving = self.basic[place] as usize;
        let pivot = self.column[place];
        let dual_step = self.reduced[entering] / pivot;
        if dual_step != 0.0 {
            let (row, reduced) = (&self.row[..], &mut self.reduced[..]);
            for &variable in &self.touched {
                reduced[variable as usize] -= dual_step * row[variable as usize];
            }
        }
        self.reduced[entering] = 0.0;
        self.reduced[leaving] = -dual_step;

        let (lower, upper) = frame.bounds(leaving, shift);
        let bound = if below { lower } else { upper };
        let step = (self.values[place] - bound) / pivot;
        let (lower, upper) = frame.bounds(entering, shift);
        let start = held_at(self.status(frame, entering), lower, upper)?;
        let reference = self.weights[place] / (pivot * pivot);
        for ((value, weight), column) in self.values.iter_mut().zip(&mut self.weights).zip(&self.column) {
            *value -= step * column;
            *weight = weight.max(column * column * reference);
        }
        self.weights[place] = reference.max(1.0);
        self.values[place] = start + step;
        self.basic[place] = entering as u32;
        self.set_status(frame, entering, BasisStatus::Basic);
        self.set_status(frame, leaving, if below { BasisStatus::Lower } else { BasisStatus::Upper });
        let others = self.column.iter().enumerate().filter(|&(row, &entry)| entry != 0.0 && row != place);
        self.entries.extend(others.map(|(row, &entry)| (row as u32, entry)));
        self.etas.push(Eta { place, pivot, end: self.entries.len() });
        self.pivots += 1;
        Some(())
    }

    fn set_status(&mut self, frame: &Frame, variable: usize, status: BasisStatus) {
        match variable.checked_sub(frame.cols()) {
            None => self.basis.set_col(variable, status),
            Some(row) => self.basis.set_row(row, status),
        }
        self.moves[variable] = Move::of(frame, variable, status);
    }
}
