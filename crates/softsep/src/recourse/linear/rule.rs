//! Affine decision rules `y(ξ) = y₀ + Kξ` that hold for a whole list of scenarios at once: one linear program bounds Q
//! on all of them from above.
//!
//! A basis answers ξ by moving its basic variables: that is its response K, the same for every x. The offset y₀ is
//! free. The basis's own offset is optimal, but only where it happens to be feasible. Any other y₀ that stays feasible
//! while Kξ takes all the values that it takes on a list gives the bound `cᵀy₀ + cᵀKξ` on that list, and the best such
//! y₀ is the solution of the recourse program with bounds moved in.

use std::sync::Arc;

use softsep_lp::{Algorithm, Basis, Lp, Model, Status, Toggle};

use super::frame::{FEASIBLE, Frame};
use super::kernel::{Kernel, held_at};
use super::{INFINITE, dot};
use crate::model::Problem;
use crate::recourse::{RecourseBasis, RecourseError};
use crate::run::{Clock, Stop};

/// How the decision of one basis moves with ξ.
pub struct Response {
    basis: Arc<Basis>,
    kernel: Kernel,
    slopes: Vec<f64>,
}

impl Response {
    /// K, one column per entry of ξ: how each basic variable moves (a recourse variable, or the activity of a row), and
    /// last the cost.
    pub fn slopes(&self) -> &[f64] {
        &self.slopes
    }
}

/// The numbers from one to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The least.
    pub from: f64,
    /// The largest.
    pub to: f64,
}

impl Interval {
    /// No number at all.
    pub const NONE: Interval = Interval { from: f64::INFINITY, to: f64::NEG_INFINITY };

    /// The least interval that holds both.
    pub fn hull(self, other: Interval) -> Self {
        Self { from: self.from.min(other.from), to: self.to.max(other.to) }
    }
}

/// The rule of a basis at some x.
#[derive(Debug, Clone, PartialEq)]
pub struct Own {
    /// `cᵀy₀`.
    pub cost: f64,
    /// For each basic variable, where its part in Kξ must be for the rule to be feasible.
    pub within: Vec<Interval>,
}

/// Makes the rules of one problem.
pub struct Rules {
    frame: Frame,
    cost: Vec<f64>,
    clock: Clock,
    lp: Lp,
    shift: Vec<f64>,
    cols: Vec<Interval>,
    rows: Vec<Interval>,
    y: Vec<f64>,
}

impl Rules {
    /// Whether a basis of this problem stays dual feasible whatever ξ is: its recourse must be linear, with variables
    /// and with fixed costs.
    pub fn exist(problem: &Problem) -> bool {
        problem.recourse.is_linear() && problem.recourse.dim() > 0 && !problem.recourse.costs_move()
    }

    /// The problem must be one whose rules [`exist`](Self::exist).
    pub fn new(problem: &Problem, clock: &Clock) -> Result<Self, RecourseError> {
        if !Self::exist(problem) {
            return Err(RecourseError::Unsupported(
                "decision rules take linear recourse with variables and fixed costs only".into(),
            ));
        }
        let frame = Frame::new(problem);
        let cost = problem.recourse.cost.clone();
        let mut model = Model::new();
        for j in 0..frame.cols() {
            model.add_col(cost[j], frame.lower[j], frame.upper[j]);
        }
        for i in 0..frame.rows() {
            let terms: Vec<_> = frame.by_rows.row(i).collect();
            model.add_row(frame.row_lower[i], frame.row_upper[i], &terms);
        }
        let mut lp = Lp::new(&model)?;
        lp.set_presolve(Toggle::Off)?;
        lp.set_algorithm(Algorithm::DualSimplex)?;
        lp.set_interrupt(Arc::clone(clock.interrupt()))?;
        Ok(Self {
            clock: clock.clone(),
            lp,
            shift: vec![0.0; frame.rows()],
            cols: Vec::with_capacity(frame.cols()),
            rows: Vec::with_capacity(frame.rows()),
            y: vec![0.0; frame.cols()],
            cost,
            frame,
        })
    }

    /// The response of a basis to every ξ whose entries are at most `reach` in size; `None` if its factors are not good
    /// enough for that.
    pub fn response(&self, start: &RecourseBasis, reach: &[f64]) -> Option<Response> {
        let (frame, basis) = (&self.frame, start.0.as_ref()?);
        let mut kernel = Kernel::new(frame, basis)?;
        let basics = kernel.basic.len();
        let mut slopes = vec![0.0; (basics + 1) * reach.len()];
        let (mut asked, mut off) = (vec![0.0; basics], vec![0.0; basics]);
        let by_xi = frame.u.transpose();
        for (entry, (column, reach)) in slopes.chunks_exact_mut(basics + 1).zip(reach).enumerate() {
            let (column, cost) = column.split_at_mut(basics);
            kernel.falls(by_xi.row(entry), column);
            asked.copy_from_slice(column);
            if let Some(lu) = &mut kernel.lu {
                lu.solve(column);
            }
            // What B times the answer misses is what the rule will break its rows by.
            kernel.subtract_product(frame, column, &mut asked);
            off.iter_mut().zip(&asked).for_each(|(off, missed)| *off += missed.abs() * reach);
            cost[0] = kernel
                .basic
                .iter()
                .zip(&*column)
                .filter_map(|(&k, value)| Some(self.cost.get(k as usize)? * value))
                .sum();
        }
        // The bounds of Gy move with ξ, those of Gy + Uξ do not.
        for (place, &variable) in kernel.basic.iter().enumerate() {
            if let Some(row) = (variable as usize).checked_sub(frame.cols()) {
                frame.u.row(row).for_each(|(col, value)| slopes[col * (basics + 1) + place] += value);
            }
        }
        off.iter().all(|off| *off <= 0.1 * FEASIBLE).then(|| Response { basis: Arc::clone(basis), kernel, slopes })
    }

    /// The rule that the basis itself stands for at `x`: optimal wherever it is feasible.
    pub fn own(&mut self, response: &mut Response, x: &[f64]) -> Own {
        self.shift_by(x);
        let (frame, kernel) = (&self.frame, &mut response.kernel);
        kernel.solve(&self.shift);
        let held = |col: usize| held_at(response.basis.col(col), frame.lower[col], frame.upper[col]).unwrap_or(0.0);
        let mut cost: f64 = (0..frame.cols()).map(|col| self.cost[col] * held(col)).sum();
        let mut within = Vec::with_capacity(kernel.basic.len());
        for (&variable, &value) in kernel.basic.iter().zip(&kernel.values) {
            cost += self.cost.get(variable as usize).map_or(0.0, |cost| cost * value);
            let (lower, upper) = frame.bounds(variable as usize, &self.shift);
            within.push(Interval { from: lower - value - FEASIBLE, to: upper - value + FEASIBLE });
        }
        Own { cost, within }
    }

    /// The least cost `cᵀy₀` of a rule that is feasible at `x` wherever each basic variable's part in Kξ is in its
    /// range; `None` if there is no such rule.
    pub fn over(&mut self, response: &Response, x: &[f64], ranges: &[Interval]) -> Result<Option<f64>, RecourseError> {
        self.clock.check()?;
        self.shift_by(x);
        let frame = &self.frame;
        let bounds = |variable| {
            let (from, to) = frame.bounds(variable, &self.shift);
            Interval { from, to }
        };
        self.cols.clear();
        self.cols.extend((0..frame.cols()).map(bounds));
        self.rows.clear();
        self.rows.extend((frame.cols()..frame.cols() + frame.rows()).map(bounds));
        for (&variable, range) in response.kernel.basic.iter().zip(ranges) {
            let bound = match (variable as usize).checked_sub(frame.cols()) {
                None => &mut self.cols[variable as usize],
                Some(row) => &mut self.rows[row],
            };
            (bound.from, bound.to) = (bound.from - range.from, bound.to - range.to);
        }
        // HiGHS would take a bound of that size for none.
        let lost = |bound: f64| bound.is_finite() && bound.abs() >= INFINITE;
        if self
            .cols
            .iter()
            .chain(&self.rows)
            .any(|range| !(range.from <= range.to) || lost(range.from) || lost(range.to))
        {
            return Ok(None);
        }
        let (from, to): (Vec<f64>, Vec<f64>) = self.cols.iter().map(|range| (range.from, range.to)).unzip();
        self.lp.set_col_bounds(&from, &to)?;
        let (from, to): (Vec<f64>, Vec<f64>) = self.rows.iter().map(|range| (range.from, range.to)).unzip();
        self.lp.set_row_bounds(&from, &to)?;
        self.lp.forget()?;
        self.lp.set_basis(&response.basis)?;
        self.lp.set_time_limit(self.clock.left())?;
        match self.lp.solve()? {
            Status::Optimal => {
                self.lp.primal(&mut self.y)?;
                Ok(self.holds().then(|| dot(&self.cost, &self.y)))
            }
            Status::TimeLimit => Err(Stop::TimeLimit.into()),
            Status::Interrupted => Err(Stop::Interrupted.into()),
            _ => Ok(None),
        }
    }

    /// Whether the offset found keeps what it was asked to keep.
    fn holds(&self) -> bool {
        let inside = |value: f64, range: &Interval| value >= range.from - FEASIBLE && value <= range.to + FEASIBLE;
        self.y.iter().zip(&self.cols).all(|(y, range)| inside(*y, range))
            && self.rows.iter().enumerate().all(|(row, range)| inside(self.frame.by_rows.dot(row, &self.y), range))
    }

    fn shift_by(&mut self, x: &[f64]) {
        self.shift.fill(0.0);
        self.frame.e.mul_add(1.0, x, &mut self.shift);
    }
}
