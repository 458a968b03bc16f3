//! Basis reuse: the dual vertices seen so far, each with its basis, asked before the solver is.
//!
//! With fixed costs a basis that was optimal once stays dual feasible whatever the right-hand side, so each known dual
//! π gives the lower bound `constant − πᵀs` on Q at every shift s = Ex + Uξ. If the optimal basis is known at all, it
//! is the one whose bound is largest: one dot product each finds the candidate, and one solve with its factors says
//! whether it is primal feasible here, hence optimal. If it is not, it is the best place to walk from.

use std::sync::Arc;

use softsep_lp::Basis;

use super::frame::Frame;
use super::kernel::{Kernel, Primal};
use super::pivot::{End, Walk};

/// Known bases; more would cost more dot products than they save.
const CAPACITY: usize = 64;

/// How often a walk goes on from factors made on the way before HiGHS, which prices better, is the faster one.
const RESTS: usize = 2;

/// Rows from which it is so at once: HiGHS knows how to make use of sparse right-hand sides, which pays on large bases.
const LARGE: usize = 500;

/// A dual vertex, the affine minorant of Q that it proves, and the basis that it came from.
pub(super) struct Piece {
    pub(super) basis: Arc<Basis>,
    pub(super) dual: Vec<f64>,
    /// The dual objective at shift 0: the minorant is `constant − πᵀs`.
    pub(super) constant: f64,
    pub(super) slope_x: Vec<f64>,
    pub(super) slope_xi: Vec<f64>,
    kernel: State,
    used: u64,
}

/// Factors are made when a piece is first a candidate, not when the solver finds it: some never are.
enum State {
    Untried,
    Singular,
    Ready(Box<Kernel>),
}

impl Piece {
    /// The piece of a basis with a known dual.
    pub(super) fn new(frame: &Frame, basis: Arc<Basis>, cost: &[f64], mut dual: Vec<f64>) -> Self {
        frame.clean(&mut dual);
        let constant = frame.dual_objective(Some(cost), &dual);
        let (mut slope_x, mut slope_xi) = (vec![0.0; frame.e.cols()], vec![0.0; frame.u.cols()]);
        frame.slopes(&dual, &mut slope_x, &mut slope_xi);
        Self { basis, dual, constant, slope_x, slope_xi, kernel: State::Untried, used: 0 }
    }

    /// The piece of a basis alone; `None` if it is singular or not dual feasible.
    pub(super) fn of_basis(frame: &Frame, basis: &Basis, cost: &[f64]) -> Option<Self> {
        let mut kernel = Kernel::new(frame, basis)?;
        let mut dual = vec![0.0; frame.rows()];
        if !kernel.price(frame, basis, cost, &mut dual) {
            return None;
        }
        let piece = Self::new(frame, Arc::new(basis.clone()), cost, dual);
        Some(Self { kernel: State::Ready(Box::new(kernel)), ..piece })
    }

    /// The minorant's value.
    pub(super) fn value(&self, shift: &[f64]) -> f64 {
        self.constant - self.dual.iter().zip(shift).map(|(pi, s)| pi * s).sum::<f64>()
    }

    fn kernel(&mut self, frame: &Frame) -> Option<&mut Kernel> {
        if matches!(self.kernel, State::Untried) {
            self.kernel =
                Kernel::new(frame, &self.basis).map_or(State::Singular, |kernel| State::Ready(Box::new(kernel)));
        }
        match &mut self.kernel {
            State::Ready(kernel) => Some(kernel),
            _ => None,
        }
    }

    fn test(&mut self, frame: &Frame, shift: &[f64]) -> Primal {
        self.kernel(frame).map_or(Primal::Infeasible, |kernel| kernel.test(frame, shift))
    }

    /// Prices the basis anew for a cost that moved; whether it is still dual feasible.
    fn reprice(&mut self, frame: &Frame, cost: &[f64]) -> bool {
        let basis = Arc::clone(&self.basis);
        let mut dual = std::mem::take(&mut self.dual);
        let feasible = self.kernel(frame).is_some_and(|kernel| kernel.price(frame, &basis, cost, &mut dual));
        frame.clean(&mut dual);
        self.dual = dual;
        self.constant = frame.dual_objective(Some(cost), &self.dual);
        frame.slopes(&self.dual, &mut self.slope_x, &mut self.slope_xi);
        feasible
    }

    /// The decision that the last test found.
    pub(super) fn decision(&self, frame: &Frame, y: &mut [f64]) {
        match &self.kernel {
            State::Ready(kernel) => kernel.decision(frame, &self.basis, y),
            _ => y.fill(0.0),
        }
    }
}

/// The pieces known to one engine, and the walk between them.
#[derive(Default)]
pub(super) struct Pool {
    pieces: Vec<Piece>,
    last: usize,
    uses: u64,
    /// The minorants at the shift asked for.
    values: Vec<f64>,
    walk: Walk,
}

/// What the pool says of a right-hand side.
#[derive(Debug)]
pub(super) enum Reply {
    /// The last piece is optimal.
    Optimal {
        /// Whether no other dual is.
        unique: bool,
        /// Pivots that led to it; 0 where it was known.
        pivots: u64,
    },
    /// A walk ended at a row that cannot be satisfied; [`Pool::ray`] should prove it.
    Infeasible,
    /// Not known.
    Unknown,
}

impl Pool {
    pub(super) fn clear(&mut self) {
        self.pieces.clear();
        self.last = 0;
        self.uses = 0;
    }

    /// The piece that answered last or was added last.
    pub(super) fn last(&self) -> Option<&Piece> {
        self.pieces.get(self.last)
    }

    /// The multipliers behind [`Reply::Infeasible`].
    pub(super) fn ray(&self) -> &[f64] {
        self.walk.ray()
    }

    /// The piece with the largest minorant at `shift`; the last used wins ties.
    fn candidate(&mut self, shift: &[f64]) -> Option<usize> {
        self.values.clear();
        self.values.extend(self.pieces.iter().map(|piece| piece.value(shift)));
        let mut best = (self.last, *self.values.get(self.last)?);
        for (i, &value) in self.values.iter().enumerate() {
            if value > best.1 {
                best = (i, value);
            }
        }
        Some(best.0)
    }

    /// The first piece, `best` ahead of all, whose minorant is as large as that of `best` and whose basis is primal
    /// feasible. Equals are bases of one and the same dual vertex, or of a face of optimal ones.
    fn optimal(&mut self, frame: &Frame, shift: &[f64], best: usize) -> Option<(usize, Primal)> {
        let least = self.values[best] - 1e-10 * (1.0 + self.values[best].abs());
        let equals = (0..self.pieces.len()).filter(|&i| i != best && self.values[i] >= least);
        for i in std::iter::once(best).chain(equals) {
            let primal = self.pieces[i].test(frame, shift);
            if primal != Primal::Infeasible {
                return Some((i, primal));
            }
        }
        None
    }

    /// Makes the optimal piece at `shift` the last one: a known one, or a new one that a walk from the best known one
    /// finds. For fixed costs.
    pub(super) fn ask(&mut self, frame: &Frame, shift: &[f64], cost: &[f64]) -> Reply {
        let Some(candidate) = self.candidate(shift) else { return Reply::Unknown };
        if let Some((known, primal)) = self.optimal(frame, shift, candidate) {
            self.touch(known);
            return Reply::Optimal { unique: primal == Primal::Strict, pivots: 0 };
        }
        self.walk_from(candidate, frame, shift, cost)
    }

    /// Walks from a piece to the optimal one, with a rest wherever the basis is factored anew.
    fn walk_from(&mut self, candidate: usize, frame: &Frame, shift: &[f64], cost: &[f64]) -> Reply {
        let mut resting: Option<Piece> = None;
        let mut pivots = 0;
        let rests = if frame.rows() < LARGE { RESTS } else { 0 };
        for _ in 0..=rests {
            let piece = resting.as_mut().unwrap_or(&mut self.pieces[candidate]);
            let State::Ready(kernel) = &mut piece.kernel else { return Reply::Unknown };
            let end = self.walk.run(frame, kernel, &piece.basis, cost, &piece.dual, shift);
            pivots += self.walk.pivots;
            match end {
                End::Unfinished => return Reply::Unknown,
                End::Infeasible => return Reply::Infeasible,
                End::Optimal | End::Far => {}
            }
            let Some(mut found) = Piece::of_basis(frame, &self.walk.basis, cost) else { return Reply::Unknown };
            match found.test(frame, shift) {
                Primal::Infeasible if end == End::Far => resting = Some(found),
                Primal::Infeasible => return Reply::Unknown,
                primal => {
                    self.add(found);
                    return Reply::Optimal { unique: primal == Primal::Strict, pivots };
                }
            }
        }
        Reply::Unknown
    }

    /// The same for costs that move with ξ: only the last basis is asked, and it must be dual feasible too.
    pub(super) fn ask_at_cost(&mut self, frame: &Frame, shift: &[f64], cost: &[f64]) -> Reply {
        let Some(piece) = self.pieces.get_mut(self.last) else { return Reply::Unknown };
        match piece.test(frame, shift) {
            primal if primal != Primal::Infeasible && piece.reprice(frame, cost) => {
                Reply::Optimal { unique: primal == Primal::Strict, pivots: 0 }
            }
            _ => Reply::Unknown,
        }
    }

    /// Adds what was found.
    pub(super) fn add(&mut self, piece: Piece) {
        let place = self.keep(piece);
        self.touch(place);
    }

    /// Adds what somebody else found, and leaves the last piece the last; the one unused for longest makes room.
    /// Returns its place.
    pub(super) fn keep(&mut self, piece: Piece) -> usize {
        let piece = Piece { used: self.uses, ..piece };
        if self.pieces.len() < CAPACITY {
            self.pieces.push(piece);
            return self.pieces.len() - 1;
        }
        let others = (0..self.pieces.len()).filter(|&i| i != self.last);
        let oldest = others.min_by_key(|&i| self.pieces[i].used).unwrap_or(0);
        self.pieces[oldest] = piece;
        oldest
    }

    /// Whether a basis is that of a piece.
    pub(super) fn knows(&self, basis: &Basis) -> bool {
        self.pieces.iter().any(|piece| *piece.basis == *basis)
    }

    fn touch(&mut self, place: usize) {
        self.uses += 1;
        self.last = place;
        self.pieces[place].used = self.uses;
    }
}
