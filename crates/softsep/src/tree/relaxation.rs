//! The linear program of one place in a batch: takes nodes in, solves them to the pool's cuts and tangents, and looks
//! where to branch.

use softsep_lp::{Algorithm, Basis, Lp, Status};

use super::frame::Frame;
use super::node::{Change, Node};
use super::pool::Pool;
use super::rows::{RowName, Rows, Start};
use super::{Point, Work};
use crate::error::Error;
use crate::numeric::tolerances::FEASIBILITY_TOL;
use crate::run::Stop;

/// An integer this close to an integer is integral, once the rest has been solved around it.
pub(super) const WHOLE: f64 = 1e-6;

/// Below this, rounding does not move rows.
const EXACT: f64 = 1e-9;

/// By how much the objective may rise when integers that are almost integral become so, relative to its size where that
/// is above 1.
const SAME: f64 = 1e-6;

/// How tight tangents are at an integral point, relative to the objective's size where that is above 1.
const TANGENT: f64 = 1e-9;

/// Cuts that are brought back at once, and how often at a fractional point: those are left soon.
const BACK: usize = 30;
const BACK_ROUNDS: u32 = 8;

/// Rounds of tangents at most; each halves the distance to the point, or more.
const TANGENT_ROUNDS: u32 = 300;

/// Boxes in which an unbounded relaxation is solved.
const BOXES: [f64; 3] = [1e4, 1e6, 1e9];

/// How a node's relaxation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// An optimum, below the cutoff.
    Solved,
    /// No point.
    Infeasible,
    /// The cutoff is reached.
    Beyond,
    /// No optimum; the values are those of an optimum within a box.
    Unbounded,
}

/// What a few pivots say of a branch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Probe {
    /// It has no point.
    Infeasible,
    /// Its optimum.
    Optimum(f64),
    /// What its objective is after the pivots, which bounds nothing.
    About(f64),
}

#[derive(Debug)]
pub(super) struct Relaxation {
    lp: Lp,
    rows: Rows,
    /// Rows of X.
    own: usize,
    /// Bounds of all columns now.
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    /// Values of all columns at the last optimum, its reduced costs and its basis.
    pub(super) values: Vec<f64>,
    pub(super) reduced: Vec<f64>,
    basis: Basis,
    /// The last optimum's value.
    pub(super) objective: f64,
    /// Whether η is bounded by a cut of the pool.
    has_eta: bool,
    /// The node whose optimal basis HiGHS has.
    at: Option<u64>,
    pub(super) work: Work,
}

impl Relaxation {
    pub(super) fn new(frame: &Frame) -> Result<Self, Error> {
        Ok(Self {
            lp: frame.program()?,
            rows: Rows::default(),
            own: frame.problem.first.rows.rows(),
            lower: frame.lower.clone(),
            upper: frame.upper.clone(),
            values: vec![0.0; frame.cols()],
            reduced: vec![0.0; frame.cols()],
            basis: Basis::default(),
            objective: f64::NEG_INFINITY,
            has_eta: false,
            at: None,
            work: Work::default(),
        })
    }

    /// Cuts and tangents in the program.
    pub(super) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Takes a node in, with those fixings that hold under the cutoff; notes its guard. False if some bounds cross.
    pub(super) fn load(
        &mut self,
        node: &mut Node,
        fixings: &[Change],
        cutoff: f64,
        frame: &Frame,
        pool: &Pool,
    ) -> Result<bool, Error> {
        self.lower.copy_from_slice(&frame.lower);
        self.upper.copy_from_slice(&frame.upper);
        node.guard = f64::INFINITY;
        let (fixed, branched): (Vec<&Change>, Vec<&Change>) =
            fixings.iter().chain(&node.changes).partition(|change| change.under < f64::INFINITY);
        for change in branched.into_iter().chain(fixed.into_iter().filter(|change| cutoff <= change.under)) {
            let (lower, upper) = (&mut self.lower[change.col], &mut self.upper[change.col]);
            if change.lower > *lower || change.upper < *upper {
                node.guard = node.guard.min(change.under);
                (*lower, *upper) = (lower.max(change.lower), upper.min(change.upper));
            }
        }
        if frame.integers.iter().any(|&j| self.lower[j] > self.upper[j]) {
            return Ok(false);
        }
        self.rows.leave(self.own, &mut self.lp)?;
        if self.at != Some(node.parent) && self.at != Some(node.number) {
            match &node.start {
                Some(start) => drop(self.rows.give(start, frame, pool, &mut self.lp)?),
                None => self.lp.forget()?,
            }
        }
        self.at = None;
        self.basis = Basis::default();
        self.has_eta = pool.bounds_eta();
        self.set_bounds(frame)?;
        Ok(true)
    }

    /// Hands the bounds to HiGHS. Without a cut η would be −∞: it is zero then, and so is what is known of the
    /// objective.
    fn set_bounds(&mut self, frame: &Frame) -> Result<(), Error> {
        if !self.has_eta {
            (self.lower[frame.eta()], self.upper[frame.eta()]) = (0.0, 0.0);
        }
        Ok(self.lp.set_col_bounds(&self.lower, &self.upper)?)
    }

    /// Solves what was loaded, until no cut of the pool is violated (or, where the point will be left soon anyway, few
    /// are) and tangents are tight.
    pub(super) fn optimise(&mut self, cutoff: f64, frame: &Frame, pool: &Pool) -> Result<Ended, Error> {
        let mut round = 0;
        loop {
            let bounded = match self.solve(frame)? {
                Status::Optimal => true,
                Status::Unbounded
                    if self.rows.bring((0..pool.cuts().len()).map(RowName::Cut), frame, pool, &mut self.lp)? =>
                {
                    continue;
                }
                Status::Unbounded => {
                    self.solve_in_a_box(frame)?;
                    false
                }
                _ => return Ok(Ended::Infeasible),
            };
            self.objective = if bounded && self.has_eta { self.lp.objective() } else { f64::NEG_INFINITY };
            self.lp.primal(&mut self.values)?;
            if bounded {
                self.lp.basis(&mut self.basis)?;
                self.rows.age(&self.basis, self.own);
                if self.objective >= cutoff {
                    return Ok(Ended::Beyond);
                }
            }
            round += 1;
            if !self.tighten(round, bounded, frame, pool)? {
                return Ok(if bounded { Ended::Solved } else { Ended::Unbounded });
            }
        }
    }

    /// Brings in what the point violates; false if there is nothing, or it is not worth while.
    fn tighten(&mut self, round: u32, bounded: bool, frame: &Frame, pool: &Pool) -> Result<bool, Error> {
        let is_integral = self.farthest_from_whole(frame) <= WHOLE;
        let mut wanted: Vec<(f64, RowName)> = Vec::new();
        if !frame.squares.is_empty() && round <= if is_integral || !bounded { TANGENT_ROUNDS } else { BACK_ROUNDS } {
            let tolerance = TANGENT * self.lp.objective().abs().max(1.0) / frame.squares.len() as f64;
            for (square, root) in frame.squares.iter().enumerate() {
                let at: f64 = root.iter().map(|&(j, entry)| entry * self.values[j]).sum();
                if 0.5 * at * at - self.values[frame.theta(square)] > tolerance {
                    wanted.push((f64::INFINITY, RowName::Tangent(square, at.to_bits())));
                }
            }
        }
        if is_integral || round <= BACK_ROUNDS {
            let eta = self.eta(frame);
            for (place, cut) in pool.cuts().iter().enumerate() {
                let violation = cut.violation(&self.values, eta);
                if violation > 0.0 && !self.rows.holds(&RowName::Cut(place)) {
                    wanted.push((violation, RowName::Cut(place)));
                }
            }
        }
        wanted.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        wanted.truncate(BACK.max(frame.squares.len()));
        let new = self.rows.bring(wanted.into_iter().map(|(_, name)| name), frame, pool, &mut self.lp)?;
        if new && !bounded {
            self.set_bounds(frame)?;
        }
        Ok(new)
    }

    fn eta(&self, frame: &Frame) -> f64 {
        if self.has_eta { self.values[frame.eta()] } else { f64::NEG_INFINITY }
    }

    /// One solve under the clock. What HiGHS cannot solve from a basis it may solve from nothing, or else by the primal
    /// simplex.
    fn solve(&mut self, frame: &Frame) -> Result<Status, Error> {
        let mut status = self.attempt(frame)?;
        for algorithm in [Algorithm::DualSimplex, Algorithm::PrimalSimplex] {
            if matches!(status, Status::Optimal | Status::Infeasible | Status::Unbounded) {
                return Ok(status);
            }
            self.work.retries += 1;
            self.lp.forget()?;
            self.lp.set_algorithm(algorithm)?;
            let attempt = self.attempt(frame);
            self.lp.set_algorithm(Algorithm::DualSimplex)?;
            status = attempt?;
        }
        match status {
            Status::Optimal | Status::Infeasible | Status::Unbounded => Ok(status),
            _ => Err(Error::Master(format!("HiGHS ended the relaxation of a node with {status:?}"))),
        }
    }

    fn attempt(&mut self, frame: &Frame) -> Result<Status, Error> {
        self.lp.set_time_limit(frame.clock.left())?;
        let status = self.lp.solve()?;
        self.work.programs += 1;
        self.work.pivots += self.lp.simplex_iterations();
        match status {
            Status::TimeLimit => Err(Stop::TimeLimit.into()),
            Status::Interrupted => Err(Stop::Interrupted.into()),
            status => Ok(status),
        }
    }

    /// Solves an unbounded relaxation within a box, for a point to ask about.
    fn solve_in_a_box(&mut self, frame: &Frame) -> Result<(), Error> {
        for size in BOXES {
            let ends = (0..frame.dim()).map(|j| match (self.lower[j].is_finite(), self.upper[j].is_finite()) {
                (true, _) => (self.lower[j], self.upper[j].min(self.lower[j] + size)),
                (false, true) => (self.upper[j] - size, self.upper[j]),
                (false, false) => (-size, size),
            });
            let (mut lower, mut upper): (Vec<f64>, Vec<f64>) = ends.unzip();
            lower.extend_from_slice(&self.lower[frame.dim()..]);
            upper.extend_from_slice(&self.upper[frame.dim()..]);
            self.lp.set_col_bounds(&lower, &upper)?;
            if self.solve(frame)? == Status::Optimal {
                return Ok(());
            }
        }
        Err(Error::Master("the relaxation of a node is unbounded, and has no point that is not huge".into()))
    }

    /// How far an integer is from an integer at most.
    fn farthest_from_whole(&self, frame: &Frame) -> f64 {
        frame.integers.iter().map(|&j| (self.values[j] - self.values[j].round()).abs()).fold(0.0, f64::max)
    }

    /// Integers that are not integral, with their values; where all almost are, those that are not exactly so.
    pub(super) fn fractional(&self, frame: &Frame) -> Vec<(usize, f64)> {
        let off = |least: f64| -> Vec<(usize, f64)> {
            let values = frame.integers.iter().map(|&j| (j, self.values[j]));
            values
                .filter(|&(j, value)| (value - value.round()).abs() > least && self.lower[j] < self.upper[j])
                .collect()
        };
        let fractional = off(WHOLE);
        if fractional.is_empty() { off(0.0) } else { fractional }
    }

    /// The last optimum as the judge sees it, made integral if it almost is. It is not if what is almost integral
    /// cannot become so without the objective's rising: a large coefficient may let a millionth stand in for one.
    pub(super) fn point(&mut self, frame: &Frame, pool: &Pool) -> Result<Point, Error> {
        let off = self.farthest_from_whole(frame);
        if off > WHOLE {
            return Ok(self.fractional_point(frame));
        }
        let x = self.clamped(frame);
        let misses = frame.problem.first.violation(&x).map_or(0.0, |violation| violation.amount);
        if off <= EXACT && misses <= 0.5 * FEASIBILITY_TOL {
            return Ok(Point { x, eta: self.eta(frame), bound: self.objective, integral: true });
        }
        let (objective, basis, values) = (self.objective, self.basis.clone(), self.values.clone());
        let solved = self.solve_around(&x, f64::INFINITY, frame, pool)?;
        let rise = self.objective - objective;
        let integral = match solved {
            Some(x) if !(rise > SAME * objective.abs().max(1.0)) => {
                Some(Point { x, eta: self.eta(frame), bound: objective, integral: true })
            }
            _ => None,
        };
        (self.objective, self.basis, self.values) = (objective, basis, values);
        self.restore()?;
        Ok(integral.unwrap_or_else(|| self.fractional_point(frame)))
    }

    /// Brings in the cuts that cut a point off, and says whether there are any. A cut that was in the program before
    /// changes nothing: what is left of its violation is HiGHS's tolerance.
    pub(super) fn take_in(&mut self, point: &Point, frame: &Frame, pool: &Pool) -> Result<bool, Error> {
        let cuts = pool.cuts().iter().enumerate().filter(|(_, cut)| cut.violation(&point.x, point.eta) > 0.0);
        self.rows.bring(cuts.map(|(place, _)| RowName::Cut(place)), frame, pool, &mut self.lp)
    }

    fn fractional_point(&self, frame: &Frame) -> Point {
        let x = (0..frame.dim()).map(|j| self.values[j].clamp(self.lower[j], self.upper[j])).collect();
        Point { x, eta: self.eta(frame), bound: self.objective, integral: false }
    }

    /// The values with integers rounded, within the bounds.
    fn clamped(&self, frame: &Frame) -> Vec<f64> {
        self.rounded(&self.values[..frame.dim()], frame)
    }

    /// A decision with integers rounded, within the bounds.
    pub(super) fn rounded(&self, x: &[f64], frame: &Frame) -> Vec<f64> {
        let mut x = x.to_vec();
        // Zero has no sign for people who read results.
        frame.integers.iter().for_each(|&j| x[j] = x[j].round() + 0.0);
        x.iter_mut().enumerate().for_each(|(j, x)| *x = x.clamp(self.lower[j], self.upper[j]));
        x
    }

    /// Solves with the integers fixed as in `x`; the decision, if there is one in X that costs less than the cutoff.
    pub(super) fn solve_around(
        &mut self,
        x: &[f64],
        cutoff: f64,
        frame: &Frame,
        pool: &Pool,
    ) -> Result<Option<Vec<f64>>, Error> {
        let bounds = (self.lower.clone(), self.upper.clone());
        for &j in &frame.integers {
            (self.lower[j], self.upper[j]) = (x[j], x[j]);
        }
        self.set_bounds(frame)?;
        let ended = self.optimise(cutoff, frame, pool)?;
        let x = self.clamped(frame);
        (self.lower, self.upper) = bounds;
        self.set_bounds(frame)?;
        self.at = None;
        let is_member =
            || frame.problem.first.violation(&x).is_none_or(|violation| violation.amount <= FEASIBILITY_TOL);
        Ok((matches!(ended, Ended::Solved | Ended::Unbounded) && is_member()).then_some(x))
    }

    /// Puts HiGHS back to the last optimum. Rows that came meanwhile are basic there.
    fn restore(&mut self) -> Result<(), Error> {
        match self.basis.is_empty() {
            true => self.lp.forget()?,
            false => self.lp.set_basis(&self.basis.extended(self.own + self.rows.len()))?,
        }
        Ok(())
    }

    /// Says that the program stands at the optimum of a node, and gives its basis to start others from.
    pub(super) fn settle(&mut self, node: &Node) -> Start {
        self.at = Some(node.number);
        self.basis = self.basis.extended(self.own + self.rows.len());
        self.rows.keep(&self.basis, self.values.len(), self.own)
    }

    /// Reads the reduced costs of the last optimum; nothing may have been solved since.
    pub(super) fn read_reduced_costs(&mut self) -> Result<(), Error> {
        Ok(self.lp.reduced_costs(&mut self.reduced)?)
    }

    /// Sets the bounds of a column for what is solved next from the present basis.
    pub(super) fn narrow(&mut self, col: usize, lower: f64, upper: f64) -> Result<(), Error> {
        (self.lower[col], self.upper[col]) = (lower, upper);
        self.at = None;
        Ok(self.lp.set_bounds_of(col, lower, upper)?)
    }

    /// A few pivots toward the optimum within other bounds of a column.
    pub(super) fn probe(
        &mut self,
        col: usize,
        lower: f64,
        upper: f64,
        pivots: u32,
        frame: &Frame,
    ) -> Result<Probe, Error> {
        self.lp.set_bounds_of(col, lower, upper)?;
        self.lp.set_iteration_limit(Some(pivots))?;
        self.lp.set_time_limit(frame.clock.left())?;
        let status = self.lp.solve()?;
        self.work.probes += 1;
        self.work.probe_pivots += self.lp.simplex_iterations();
        let probe = match status {
            Status::TimeLimit => return Err(Stop::TimeLimit.into()),
            Status::Interrupted => return Err(Stop::Interrupted.into()),
            Status::Infeasible => Probe::Infeasible,
            Status::Optimal => Probe::Optimum(self.lp.objective()),
            Status::OtherLimit => Probe::About(self.lp.objective().max(self.objective)),
            // Says nothing; the branch itself will be solved with more care.
            _ => Probe::About(self.objective),
        };
        self.lp.set_iteration_limit(None)?;
        self.lp.set_bounds_of(col, self.lower[col], self.upper[col])?;
        self.restore()?;
        Ok(probe)
    }
}
