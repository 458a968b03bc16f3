//! From what a solver returned to a policy that is feasible for every ξ of a region, and what that costs at most, for
//! sure.
//!
//! A solver meets its rows up to a tolerance, and an interior point stops short of the optimum. Here only its Y is
//! taken. What Y makes of each row over the whole region is bounded by [`Support`], and y₀ is chosen anew, by a linear
//! program as large as the recourse: rows that Y breaks by a little are repaired by it, and y₀ is the best for this Y
//! however exact the solver was. Rows are asked for with a little room, more than that program's own tolerance, so that
//! they hold without any; where there is no room (a row that holds with equality whatever y is) they hold within
//! [`TOLERANCE`] of their size.

use std::sync::Arc;

use softsep_lp::{Algorithm, Lp, Model, Status, Toggle};

use super::robust::Robust;
use super::rule::Policy;
use super::support::{Ground, Support};
use crate::definition::{ScenarioList, VariableKind};
use crate::model::Problem;
use crate::recourse::{Program, RecourseError};
use crate::run::Clock;
use crate::uncertainty::Shape;

/// What a row without room may be missed by, relative to its size where that is above 1: a hundredth of what recourse
/// engines allow.
pub(super) const TOLERANCE: f64 = 1e-9;

/// The room that rows are asked for, in tolerances.
const ROOM: f64 = 2.0;

/// Variables that ξ moves by less than this share of what it moves others are held still: first what is surely an
/// interior point's noise, then more. A variable that rows force to zero cannot have any.
const LEAST: [f64; 4] = [1e-10, 1e-8, 1e-6, 1e-4];

/// Steps of conjugate gradients that bring the slopes of equalities to zero.
const STEPS: usize = 200;

/// How steep a direction must be, of the steepest, for a step of conjugate gradients along it: the square of rounding,
/// about.
const FLAT: f64 = 1e-24;

/// A feasible policy, and what it costs at most.
#[derive(Debug, Clone, PartialEq)]
pub struct Proved {
    /// The policy.
    pub policy: Policy,
    /// What it costs at most, whatever ξ of the region comes.
    pub value: f64,
}

/// The part of a row's slope that the ball answers for, where a region is a polytope and a ball: for "at least" and for
/// "at most".
pub(super) type Shares = [Option<Vec<f64>>; 2];

/// A policy at a decision over a region.
pub(crate) struct Repair<'a> {
    pub(super) problem: &'a Problem,
    pub(super) x: &'a [f64],
    pub(super) ground: Ground<'a>,
    /// For the cost, the rows and the variables.
    shares: Vec<Shares>,
    /// Whether a row holds with equality for every ξ only if its slope is zero.
    is_open: bool,
}

/// What a row or variable allows y to be in the middle of the region.
pub(super) struct Range {
    pub(super) lower: f64,
    pub(super) upper: f64,
    /// The size of its numbers.
    size: f64,
}

impl<'a> Repair<'a> {
    /// Over a list.
    pub(crate) fn over_list(problem: &'a Problem, x: &'a [f64], points: &'a ScenarioList) -> Self {
        Self { problem, x, ground: Ground::List(points), shares: Vec::new(), is_open: false }
    }

    /// Over a shape that is no cut of two.
    pub(crate) fn over_shape(problem: &'a Problem, x: &'a [f64], shape: &'a Shape) -> Self {
        Self { problem, x, ground: Ground::Shape(shape), shares: Vec::new(), is_open: Robust::new(shape).is_open() }
    }

    /// The same with the shares that a solver found.
    pub(super) fn with_shares(self, shares: Vec<Shares>) -> Self {
        Self { shares, ..self }
    }

    /// The best policy with slopes like these; `None` if they cannot be repaired.
    pub(crate) fn run(&self, policy: &Policy, clock: &Clock) -> Result<Option<Proved>, RecourseError> {
        let moved = self.moved(policy);
        let largest = moved.iter().fold(0.0_f64, |largest, moved| largest.max(*moved));
        let mut stilled = None;
        for least in LEAST {
            let still = moved.iter().filter(|moved| **moved <= least * largest).count();
            if stilled.replace(still) == Some(still) {
                continue;
            }
            let mut policy = policy.clone();
            for (slopes, _) in policy.slopes.iter_mut().zip(&moved).filter(|(_, moved)| **moved <= least * largest) {
                slopes.clear();
            }
            if let Some(proved) = self.with_slopes_of(policy, clock)? {
                return Ok(Some(proved));
            }
        }
        Ok(None)
    }

    /// How far ξ moves each variable, about.
    fn moved(&self, policy: &Policy) -> Vec<f64> {
        let reach = self.ground.reach(self.problem.set.dim());
        policy
            .slopes
            .iter()
            .map(|slopes| slopes.iter().map(|&(entry, slope)| (slope * reach[entry]).abs()).sum())
            .collect()
    }

    fn with_slopes_of(&self, mut policy: Policy, clock: &Clock) -> Result<Option<Proved>, RecourseError> {
        if self.is_open {
            self.straighten(&mut policy);
        }
        let recourse = &self.problem.recourse;
        let mut support = Support::new(self.ground)?;
        let mut slope = vec![0.0; self.problem.set.dim()];
        let mut rows = Vec::with_capacity(recourse.rows());
        for i in 0..recourse.rows() {
            policy.row_slope(self.problem, i, &mut slope);
            let fixed = recourse.e.dot(i, self.x) + recourse.u.dot(i, &support.middle);
            let range = self.range(
                &mut support,
                1 + i,
                &slope,
                (recourse.row_lower[i] - fixed, recourse.row_upper[i] - fixed),
            )?;
            let Some(range) = range else { return Ok(None) };
            rows.push(range);
        }
        let mut cols = Vec::with_capacity(recourse.dim());
        for j in 0..recourse.dim() {
            slope.fill(0.0);
            policy.slopes[j].iter().for_each(|&(entry, value)| slope[entry] = value);
            let range =
                self.range(&mut support, 1 + recourse.rows() + j, &slope, (recourse.lower[j], recourse.upper[j]))?;
            let Some(range) = range else { return Ok(None) };
            cols.push(range);
        }
        let chosen = match recourse.is_linear() {
            true => self.constant(&rows, &cols, clock)?.map(|constant| (constant, None)),
            false => self.constant_in_cones(&policy, &rows, &cols, &mut support, clock)?,
        };
        let Some((constant, squared)) = chosen else { return Ok(None) };
        let fixed_cost: f64 = recourse.cost.iter().zip(&constant).map(|(cost, y)| cost * y).sum();
        let size: f64 = recourse.cost.iter().zip(&constant).map(|(cost, y)| (cost * y).abs()).sum();
        // What moves is bounded together with a quadratic cost, where there is one.
        let moving = match squared {
            Some(most) => most,
            None => {
                slope.copy_from_slice(&policy.linear_cost_slope(self.problem));
                let share = self.shares.first().and_then(|shares| shares[0].as_deref()).map(negated);
                support.at_most(&slope, share.as_deref())?
            }
        };
        // From the middle to zero.
        for ((y, constant), slopes) in policy.constant.iter_mut().zip(constant).zip(&policy.slopes) {
            *y = constant - slopes.iter().map(|&(entry, slope)| slope * support.middle[entry]).sum::<f64>();
        }
        let value = fixed_cost + moving + 1e-14 * size;
        Ok(value.is_finite().then_some(Proved { policy, value }))
    }

    /// What is left for `Gᵢy` or y in the middle between two sides when ξ has moved it as far as it can; `None` if
    /// nothing is.
    fn range(
        &self,
        support: &mut Support,
        place: usize,
        slope: &[f64],
        (lower, upper): (f64, f64),
    ) -> Result<Option<Range>, RecourseError> {
        if slope.iter().all(|&slope| slope == 0.0) {
            return Ok(Some(Range { lower, upper, size: 1.0 }));
        }
        let shares = self.shares.get(place);
        let mut range = Range { lower, upper, size: 1.0 };
        if lower.is_finite() {
            // The row falls by as much as minus its slope rises. The share was made for the row itself.
            let share = shares.and_then(|shares| shares[0].as_deref()).map(negated);
            let falls = support.at_most(&negated(slope), share.as_deref())?;
            range.lower = lower + falls;
            range.size = range.size.max(range.lower.abs());
        }
        if upper.is_finite() {
            let share = shares.and_then(|shares| shares[1].as_deref()).map(negated);
            let rises = support.at_most(slope, share.as_deref())?;
            range.upper = upper - rises;
            range.size = range.size.max(range.upper.abs());
        }
        if range.lower > range.upper {
            if range.lower - range.upper > TOLERANCE * range.size {
                return Ok(None);
            }
            let middle = range.lower.midpoint(range.upper);
            (range.lower, range.upper) = (middle, middle);
        }
        Ok(Some(range))
    }

    /// The cheapest y in the middle within the ranges: with room first, then without.
    fn constant(&self, rows: &[Range], cols: &[Range], clock: &Clock) -> Result<Option<Vec<f64>>, RecourseError> {
        if cols.is_empty() {
            return Ok(self.holds(rows, &self.rooms(rows, cols, 0.0), &[]).then(Vec::new));
        }
        for room in [ROOM * TOLERANCE, 0.0] {
            let rooms = self.rooms(rows, cols, room);
            let mut model = Model::new();
            self.write(rows, cols, &rooms, &mut model);
            let mut lp = Lp::new(&model)?;
            lp.set_algorithm(Algorithm::DualSimplex)?;
            lp.set_tolerance(TOLERANCE)?;
            lp.set_interrupt(Arc::clone(clock.interrupt()))?;
            let mut status = lp.solve()?;
            if !matches!(status, Status::Optimal | Status::Infeasible | Status::Interrupted) {
                lp.forget()?;
                lp.set_presolve(Toggle::Off)?;
                status = lp.solve()?;
            }
            clock.check()?;
            if status != Status::Optimal {
                continue;
            }
            let mut constant = vec![0.0; cols.len()];
            lp.primal(&mut constant)?;
            for (y, range) in constant.iter_mut().zip(cols) {
                *y = y.clamp(range.lower, range.upper);
            }
            if self.holds(rows, &rooms, &constant) {
                return Ok(Some(constant));
            }
        }
        Ok(None)
    }

    /// The room that each row is asked for, above its lower and below its upper side. There is none where a row can
    /// only just be met: none for goods at a site that was not built, none between sides that meet.
    pub(super) fn rooms(&self, rows: &[Range], cols: &[Range], room: f64) -> Vec<[f64; 2]> {
        let of_row = |(i, range): (usize, &Range)| {
            let end = |sign: f64| -> f64 {
                let ends = self
                    .problem
                    .recourse
                    .g
                    .row(i)
                    .map(|(j, value)| value * if sign * value > 0.0 { cols[j].upper } else { cols[j].lower });
                ends.sum()
            };
            let room = (room * range.size).min(0.25 * (range.upper - range.lower));
            let below = room.min(0.25 * (end(1.0) - range.lower)).max(0.0);
            let above = room.min(0.25 * (range.upper - end(-1.0))).max(0.0);
            [below, above]
        };
        rows.iter().enumerate().map(of_row).collect()
    }

    /// Writes the program of y in the middle: its columns come first.
    pub(super) fn write(&self, rows: &[Range], cols: &[Range], rooms: &[[f64; 2]], program: &mut dyn Program) {
        let recourse = &self.problem.recourse;
        for (range, &cost) in cols.iter().zip(&recourse.cost) {
            program.col(cost, range.lower, range.upper, VariableKind::Continuous);
        }
        for (i, (range, [below, above])) in rows.iter().zip(rooms).enumerate() {
            program.row(range.lower + below, range.upper - above, &recourse.g.row(i).collect::<Vec<_>>());
        }
    }

    /// Whether all rows hold: those with room as they are, the others within the tolerance.
    pub(super) fn holds(&self, rows: &[Range], rooms: &[[f64; 2]], constant: &[f64]) -> bool {
        rows.iter().zip(rooms).enumerate().all(|(i, (range, [below, above]))| {
            let activity = self.problem.recourse.g.dot(i, constant);
            let within = |missed: f64, room: f64| {
                missed <= if room > 0.0 { 0.0 } else { TOLERANCE * range.size.max(activity.abs()) }
            };
            within(range.lower - activity, *below) && within(activity - range.upper, *above)
        })
    }

    /// Brings the slopes of equalities to zero, by the least change of Y: for each entry of ξ the normal equations of
    /// the rows, by conjugate gradients.
    fn straighten(&self, policy: &mut Policy) {
        let recourse = &self.problem.recourse;
        let equal: Vec<usize> =
            (0..recourse.rows()).filter(|&i| recourse.row_lower[i] == recourse.row_upper[i]).collect();
        if equal.is_empty() {
            return;
        }
        let dim = self.problem.set.dim();
        let mut slopes = vec![vec![0.0; dim]; equal.len()];
        for (slope, &row) in slopes.iter_mut().zip(&equal) {
            policy.row_slope(self.problem, row, slope);
        }
        let mut change = vec![0.0; recourse.dim()];
        for entry in 0..dim {
            let missed: Vec<f64> = slopes.iter().map(|slope| -slope[entry]).collect();
            if missed.iter().all(|&missed| missed == 0.0) {
                continue;
            }
            let follows: Vec<Option<usize>> =
                policy.slopes.iter().map(|slopes| slopes.iter().position(|&(other, _)| other == entry)).collect();
            let may_change = |j: usize| if follows[j].is_some() { 1.0 } else { 0.0 };
            self.least_change(&equal, &missed, may_change, &mut change);
            for (j, place) in follows.iter().enumerate() {
                if let Some(place) = *place {
                    policy.slopes[j][place].1 += change[j];
                }
            }
        }
    }

    /// The least change of y, each entry in units of its reach, by which these rows move as far as they missed: `change
    /// = R²Gᵀz` with `GR²Gᵀz = missed`, where R is the diagonal of reaches.
    pub(super) fn least_change(
        &self,
        rows: &[usize],
        missed: &[f64],
        reach: impl Fn(usize) -> f64,
        change: &mut [f64],
    ) {
        let g = &self.problem.recourse.g;
        let spread = |z: &[f64], out: &mut [f64]| {
            out.fill(0.0);
            for (&row, z) in rows.iter().zip(z) {
                g.row(row).for_each(|(j, value)| out[j] += reach(j) * value * z);
            }
        };
        let mut z = vec![0.0; rows.len()];
        let mut residual = missed.to_vec();
        let mut direction = residual.clone();
        let square = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>();
        let start = square(&residual);
        let mut now = start;
        let mut steepest = 0.0_f64;
        for _ in 0..STEPS.max(2 * rows.len()).min(10 * STEPS) {
            if now <= 1e-32 * start {
                break;
            }
            spread(&direction, change);
            let curvature = square(change);
            // Along what no y can move there is nothing but rounding to divide by.
            let steepness = curvature / square(&direction);
            steepest = steepest.max(steepness);
            if !(steepness > FLAT * steepest) {
                break;
            }
            let step = now / curvature;
            z.iter_mut().zip(&direction).for_each(|(z, direction)| *z += step * direction);
            for (residual, &row) in residual.iter_mut().zip(rows) {
                *residual -= step * g.row(row).map(|(j, value)| value * reach(j) * change[j]).sum::<f64>();
            }
            let next = square(&residual);
            let ratio = next / now;
            direction
                .iter_mut()
                .zip(&residual)
                .for_each(|(direction, residual)| *direction = residual + ratio * *direction);
            now = next;
        }
        spread(&z, change);
        change.iter_mut().enumerate().for_each(|(j, change)| *change *= reach(j));
    }
}

fn negated(slope: &[f64]) -> Vec<f64> {
    slope.iter().map(|slope| -slope).collect()
}
