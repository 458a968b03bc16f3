//! Repair of a policy from a solver: makes it feasible for every ξ of a region, and proves a bound on its cost.
//!
//! A solver satisfies its rows up to a tolerance, and an interior point method stops short of the optimum. The repair
//! keeps only Y. The range of each row over the region under Y is bounded by [`SupportBounds`], and y₀ is optimised
//! anew by a linear program of the size of the recourse. This corrects rows that Y violates slightly, and y₀ is optimal
//! for this Y for any accuracy of the solver. Rows are required with a margin larger than the tolerance of this
//! program, so that they hold exactly. Rows without a margin (those that hold with equality for every y) hold within
//! [`ROW_TOL`] of their size.

use std::sync::Arc;

use softsep_lp::{Algorithm, Lp, Model, Status, Toggle};

use super::affine_policy::AffinePolicy;
use super::robust::RobustCounterpart;
use super::support::{SupportBounds, SupportRegion};
use super::tightening::Miss;
use crate::definition::{ScenarioList, VariableKind};
use crate::model::Problem;
use crate::numeric::dot;
use crate::numeric::tolerances::{ROW_TOL, SUMMATION_TOL};
use crate::recourse::{ElasticModel, ProgramBuilder, RecourseError};
use crate::run::Clock;
use crate::uncertainty::Shape;

/// The margin of rows, as a multiple of the tolerance.
const MARGIN_FACTOR: f64 = 2.0;

/// Variables whose variation with ξ is a smaller share of the largest variation are made constant: first only those
/// that are certainly noise of an interior point method, then more. A variable that rows force to zero cannot vary at
/// all.
const NOISE_SHARES: [f64; 4] = [1e-10, 1e-8, 1e-6, 1e-4];

/// Least limit on the number of conjugate gradient steps that bring the slopes of equalities to zero.
const MAX_CG_STEPS: usize = 200;

/// A conjugate gradient direction whose curvature is a smaller share of the largest is flat: about the square of the
/// rounding error.
const FLAT_CURVATURE_TOL: f64 = 1e-24;

/// Conjugate gradients stop when the squared residual has fallen to this share of the first.
const CG_RESIDUAL_TOL: f64 = 1e-32;

/// An affine policy with a proven bound on its cost.
#[derive(Debug, Clone, PartialEq)]
pub struct ProvenPolicy {
    /// The policy.
    pub policy: AffinePolicy,
    /// An upper bound on the recourse cost for every ξ of the region.
    pub value: f64,
}

/// A policy with a proven bound, or the constraints that its slopes miss. These are all that are missed by the slopes
/// of one constraint alone, or else some that cannot hold together; none if that is not known.
pub(crate) type Repaired = Result<ProvenPolicy, Vec<Miss>>;

/// The ranges of the rows and of the variables, or the constraints whose range is empty.
type Ranges = Result<(Vec<FeasibleRange>, Vec<FeasibleRange>), Vec<Miss>>;

/// The part of a constraint's slope that is bounded over the ball, if the region is a polytope and a ball: for "at
/// least" and for "at most".
pub(super) type BallShares = [Option<Vec<f64>>; 2];

/// The repair of a policy at a decision over a region.
pub(crate) struct Repair<'a> {
    pub(super) problem: &'a Problem,
    pub(super) x: &'a [f64],
    pub(super) region: SupportRegion<'a>,
    /// For the cost, the rows and the variables.
    shares: Vec<BallShares>,
    /// Whether a row holds with equality for every ξ only if its slope is zero.
    is_full_dimensional: bool,
}

/// The range of a row's activity or of a variable at the reference point.
pub(super) struct FeasibleRange {
    pub(super) lower: f64,
    pub(super) upper: f64,
    /// The size of its numbers.
    size: f64,
}

impl<'a> Repair<'a> {
    /// Repairs policies over a list.
    pub(crate) fn over_list(problem: &'a Problem, x: &'a [f64], points: &'a ScenarioList) -> Self {
        Self { problem, x, region: SupportRegion::List(points), shares: Vec::new(), is_full_dimensional: false }
    }

    /// Repairs policies over a shape. Over an intersection of a polytope and a ball, the bounds use the polytope alone
    /// unless [`Self::with_shares`] splits the slopes.
    pub(crate) fn over_shape(problem: &'a Problem, x: &'a [f64], shape: &'a Shape) -> Self {
        Self {
            problem,
            x,
            region: SupportRegion::Shape(shape),
            shares: Vec::new(),
            is_full_dimensional: RobustCounterpart::new(shape).is_full_dimensional(),
        }
    }

    /// Uses the splits between polytope and ball that a solver found.
    pub(super) fn with_shares(self, shares: Vec<BallShares>) -> Self {
        Self { shares, ..self }
    }

    /// Returns the best policy with slopes close to those of `policy`, or the constraints that the given slopes miss.
    pub(crate) fn run(&self, policy: &AffinePolicy, clock: &Clock) -> Result<Repaired, RecourseError> {
        let amplitudes = self.amplitudes(policy);
        let largest = amplitudes.iter().fold(0.0_f64, |largest, amplitude| largest.max(*amplitude));
        let mut last_count = None;
        let mut misses = None;
        for least in NOISE_SHARES {
            let constant_count = amplitudes.iter().filter(|amplitude| **amplitude <= least * largest).count();
            if last_count.replace(constant_count) == Some(constant_count) {
                continue;
            }
            let mut policy = policy.clone();
            for (slopes, _) in
                policy.slopes.iter_mut().zip(&amplitudes).filter(|(_, amplitude)| **amplitude <= least * largest)
            {
                slopes.clear();
            }
            match self.with_slopes(policy, clock)? {
                Ok(proven) => return Ok(Ok(proven)),
                Err(missed) => _ = misses.get_or_insert(missed),
            }
        }
        Ok(Err(misses.unwrap_or_default()))
    }

    /// Approximate variation of each variable over the region.
    fn amplitudes(&self, policy: &AffinePolicy) -> Vec<f64> {
        let half_widths = self.region.half_widths(self.problem.set.dim());
        policy
            .slopes
            .iter()
            .map(|slopes| slopes.iter().map(|&(entry, slope)| (slope * half_widths[entry]).abs()).sum())
            .collect()
    }

    /// Repairs a policy with its slopes as given, up to those of equalities.
    fn with_slopes(&self, mut policy: AffinePolicy, clock: &Clock) -> Result<Repaired, RecourseError> {
        if self.is_full_dimensional {
            self.zero_equality_slopes(&mut policy);
        }
        let recourse = &self.problem.recourse;
        let mut support = SupportBounds::new(self.region)?;
        let (rows, cols) = match self.ranges(&policy, &mut support)? {
            Ok(ranges) => ranges,
            Err(misses) => return Ok(Err(misses)),
        };
        let chosen = match recourse.is_linear() {
            true => self.best_constant(&rows, &cols, clock)?.map(|constant| (constant, None)),
            false => self.constant_in_cones(&policy, &rows, &cols, &mut support, clock)?,
        };
        let Some((constant, quadratic_cost)) = chosen else {
            return Ok(Err(if recourse.is_linear() { self.contradiction(&rows, &cols, clock)? } else { Vec::new() }));
        };
        let fixed_cost = dot(&recourse.cost, &constant);
        let size: f64 = recourse.cost.iter().zip(&constant).map(|(cost, y)| (cost * y).abs()).sum();
        // With a quadratic cost, the variation of the linear cost is bounded together with it.
        let moving = match quadratic_cost {
            Some(most) => most,
            None => {
                let slope = policy.linear_cost_slope(self.problem);
                let share = self.shares.first().and_then(|shares| shares[0].as_deref()).map(negated);
                support.upper_bound(&slope, share.as_deref())?
            }
        };
        // Moves the constant from the reference point to ξ = 0.
        for ((y, constant), slopes) in policy.constant.iter_mut().zip(constant).zip(&policy.slopes) {
            *y = constant - slopes.iter().map(|&(entry, slope)| slope * support.reference_point[entry]).sum::<f64>();
        }
        let value = fixed_cost + moving + SUMMATION_TOL * size;
        Ok(if value.is_finite() { Ok(ProvenPolicy { policy, value }) } else { Err(Vec::new()) })
    }

    /// Returns the ranges for the rows `Gᵢy` and for the variables at the reference point, or the constraints whose
    /// range is empty.
    fn ranges(&self, policy: &AffinePolicy, support: &mut SupportBounds) -> Result<Ranges, RecourseError> {
        let recourse = &self.problem.recourse;
        let mut slope = vec![0.0; self.problem.set.dim()];
        let mut misses = Vec::new();
        let mut rows = Vec::with_capacity(recourse.rows());
        for i in 0..recourse.rows() {
            policy.row_slope(self.problem, i, &mut slope);
            let fixed = recourse.e.dot(i, self.x) + recourse.u.dot(i, &support.reference_point);
            let bounds = (recourse.row_lower[i] - fixed, recourse.row_upper[i] - fixed);
            match self.range(support, 1 + i, &slope, bounds)? {
                Ok(range) => rows.push(range),
                Err(amount) => misses.push(Miss { constraint: 1 + i, amount }),
            }
        }
        let mut cols = Vec::with_capacity(recourse.dim());
        for j in 0..recourse.dim() {
            slope.fill(0.0);
            policy.slopes[j].iter().for_each(|&(entry, value)| slope[entry] = value);
            let constraint = 1 + recourse.rows() + j;
            match self.range(support, constraint, &slope, (recourse.lower[j], recourse.upper[j]))? {
                Ok(range) => cols.push(range),
                Err(amount) => misses.push(Miss { constraint, amount }),
            }
        }
        Ok(if misses.is_empty() { Ok((rows, cols)) } else { Err(misses) })
    }

    /// Returns the range for `Gᵢy` or y at the reference point that keeps the constraint within its bounds for every ξ;
    /// the amount that is missing if it is empty.
    fn range(
        &self,
        support: &mut SupportBounds,
        constraint: usize,
        slope: &[f64],
        (lower, upper): (f64, f64),
    ) -> Result<Result<FeasibleRange, f64>, RecourseError> {
        if slope.iter().all(|&slope| slope == 0.0) {
            return Ok(Ok(FeasibleRange { lower, upper, size: 1.0 }));
        }
        let shares = self.shares.get(constraint);
        let mut range = FeasibleRange { lower, upper, size: 1.0 };
        if lower.is_finite() {
            // The row decreases by as much as its negated slope increases. The share belongs to the row itself.
            let share = shares.and_then(|shares| shares[0].as_deref()).map(negated);
            let decrease = support.upper_bound(&negated(slope), share.as_deref())?;
            range.lower = lower + decrease;
            range.size = range.size.max(range.lower.abs());
        }
        if upper.is_finite() {
            let share = shares.and_then(|shares| shares[1].as_deref()).map(negated);
            let increase = support.upper_bound(slope, share.as_deref())?;
            range.upper = upper - increase;
            range.size = range.size.max(range.upper.abs());
        }
        if range.lower > range.upper {
            if range.lower - range.upper > ROW_TOL * range.size {
                return Ok(Err(range.lower - range.upper));
            }
            let middle = range.lower.midpoint(range.upper);
            (range.lower, range.upper) = (middle, middle);
        }
        Ok(Ok(range))
    }

    /// Returns the cheapest y at the reference point within the ranges: with a margin if possible, otherwise without.
    fn best_constant(
        &self,
        rows: &[FeasibleRange],
        cols: &[FeasibleRange],
        clock: &Clock,
    ) -> Result<Option<Vec<f64>>, RecourseError> {
        if cols.is_empty() {
            return Ok(self.satisfies(rows, &self.margins(rows, cols, 0.0), &[]).then(Vec::new));
        }
        for margin in [MARGIN_FACTOR * ROW_TOL, 0.0] {
            let margins = self.margins(rows, cols, margin);
            let mut model = Model::new();
            self.write(rows, cols, &margins, &mut model);
            let mut lp = Lp::new(&model)?;
            lp.set_algorithm(Algorithm::DualSimplex)?;
            lp.set_tolerance(ROW_TOL)?;
            lp.set_interrupt(Arc::clone(clock.interrupt()))?;
            let mut status = lp.solve()?;
            if !matches!(status, Status::Optimal | Status::Infeasible | Status::Interrupted) {
                lp.clear_solver()?;
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
            if self.satisfies(rows, &margins, &constant) {
                return Ok(Some(constant));
            }
        }
        Ok(None)
    }

    /// Returns rows that no y within the ranges satisfies together, with violations of the least sum.
    fn contradiction(
        &self,
        rows: &[FeasibleRange],
        cols: &[FeasibleRange],
        clock: &Clock,
    ) -> Result<Vec<Miss>, RecourseError> {
        let mut elastic = ElasticModel::default();
        self.write(rows, cols, &vec![[0.0; 2]; rows.len()], &mut elastic);
        let mut lp = Lp::new(&elastic.finish())?;
        lp.set_tolerance(ROW_TOL)?;
        lp.set_interrupt(Arc::clone(clock.interrupt()))?;
        let status = lp.solve()?;
        clock.check()?;
        if status != Status::Optimal {
            return Ok(Vec::new());
        }
        let mut values = vec![0.0; lp.cols()];
        lp.primal(&mut values)?;
        let violation = |(i, range): (usize, &FeasibleRange)| {
            let activity = self.problem.recourse.g.dot(i, &values[..cols.len()]);
            let amount = (range.lower - activity).max(activity - range.upper);
            (amount > 0.0).then_some(Miss { constraint: 1 + i, amount: amount.max(ROW_TOL * range.size) })
        };
        Ok(rows.iter().enumerate().filter_map(violation).collect())
    }

    /// Returns the margin of each row above its lower and below its upper bound. The margin is zero for rows that can
    /// only just hold: flows out of a facility that was not built, or equal bounds.
    pub(super) fn margins(&self, rows: &[FeasibleRange], cols: &[FeasibleRange], margin: f64) -> Vec<[f64; 2]> {
        let of_row = |(i, range): (usize, &FeasibleRange)| {
            let end = |sign: f64| -> f64 {
                let ends = self
                    .problem
                    .recourse
                    .g
                    .row(i)
                    .map(|(j, value)| value * if sign * value > 0.0 { cols[j].upper } else { cols[j].lower });
                ends.sum()
            };
            let margin = (margin * range.size).min(0.25 * (range.upper - range.lower));
            let below = margin.min(0.25 * (end(1.0) - range.lower)).max(0.0);
            let above = margin.min(0.25 * (range.upper - end(-1.0))).max(0.0);
            [below, above]
        };
        rows.iter().enumerate().map(of_row).collect()
    }

    /// Writes the program of y at the reference point; its columns come first.
    pub(super) fn write(
        &self,
        rows: &[FeasibleRange],
        cols: &[FeasibleRange],
        margins: &[[f64; 2]],
        program: &mut dyn ProgramBuilder,
    ) {
        let recourse = &self.problem.recourse;
        for (range, &cost) in cols.iter().zip(&recourse.cost) {
            program.col(cost, range.lower, range.upper, VariableKind::Continuous);
        }
        for (i, (range, [below, above])) in rows.iter().zip(margins).enumerate() {
            program.row(range.lower + below, range.upper - above, &recourse.g.row(i).collect::<Vec<_>>());
        }
    }

    /// Whether all rows hold: those with a margin exactly, the others within the tolerance.
    pub(super) fn satisfies(&self, rows: &[FeasibleRange], margins: &[[f64; 2]], constant: &[f64]) -> bool {
        rows.iter().zip(margins).enumerate().all(|(i, (range, [below, above]))| {
            let activity = self.problem.recourse.g.dot(i, constant);
            let within = |violation: f64, margin: f64| {
                violation <= if margin > 0.0 { 0.0 } else { ROW_TOL * range.size.max(activity.abs()) }
            };
            within(range.lower - activity, *below) && within(activity - range.upper, *above)
        })
    }

    /// Brings the slopes of equalities to zero by the least change of Y: for each entry of ξ, conjugate gradients on
    /// the normal equations of the rows.
    fn zero_equality_slopes(&self, policy: &mut AffinePolicy) {
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
            let residuals: Vec<f64> = slopes.iter().map(|slope| -slope[entry]).collect();
            if residuals.iter().all(|&residual| residual == 0.0) {
                continue;
            }
            let positions: Vec<Option<usize>> =
                policy.slopes.iter().map(|slopes| slopes.iter().position(|&(other, _)| other == entry)).collect();
            let may_change = |j: usize| if positions[j].is_some() { 1.0 } else { 0.0 };
            self.least_norm_change(&equal, &residuals, may_change, &mut change);
            for (j, position) in positions.iter().enumerate() {
                if let Some(position) = *position {
                    policy.slopes[j][position].1 += change[j];
                }
            }
        }
    }

    /// Computes the change of y that brings the activity of `rows` as close as possible to `residuals`, and of these
    /// the one of least norm in units of `scale` per entry: conjugate gradients for least squares on `GR`, where R is
    /// the diagonal of scales.
    ///
    /// The residual falls with every step. Conjugate gradients on `GR²Gᵀ` would diverge on rows that depend on one
    /// another if the residuals contradict one another by rounding.
    pub(super) fn least_norm_change(
        &self,
        rows: &[usize],
        residuals: &[f64],
        scale: impl Fn(usize) -> f64,
        change: &mut [f64],
    ) {
        let g = &self.problem.recourse.g;
        let square = |v: &[f64]| dot(v, v);
        let gradient = |residual: &[f64], out: &mut [f64]| {
            out.fill(0.0);
            for (&row, residual) in rows.iter().zip(residual) {
                g.row(row).for_each(|(j, value)| out[j] += scale(j) * value * residual);
            }
        };
        change.fill(0.0);
        let mut residual = residuals.to_vec();
        let mut downhill = vec![0.0; change.len()];
        gradient(&residual, &mut downhill);
        let mut direction = downhill.clone();
        let start = square(&residual);
        let mut now = square(&downhill);
        let mut steepest = 0.0_f64;
        for _ in 0..MAX_CG_STEPS.max(2 * rows.len()).min(10 * MAX_CG_STEPS) {
            // A residual without a gradient is one that no y reduces.
            let left = square(&residual);
            if !(left > CG_RESIDUAL_TOL * start && now > FLAT_CURVATURE_TOL * steepest * left) {
                break;
            }
            let along: Vec<f64> =
                rows.iter().map(|&row| g.row(row).map(|(j, value)| value * scale(j) * direction[j]).sum()).collect();
            let curvature = square(&along);
            // Along directions that no row sees, the curvature is a rounding error.
            let steepness = curvature / square(&direction);
            steepest = steepest.max(steepness);
            if !(steepness > FLAT_CURVATURE_TOL * steepest) {
                break;
            }
            let step = now / curvature;
            change.iter_mut().zip(&direction).for_each(|(change, direction)| *change += step * direction);
            residual.iter_mut().zip(&along).for_each(|(residual, along)| *residual -= step * along);
            gradient(&residual, &mut downhill);
            let next = square(&downhill);
            let ratio = next / now;
            direction
                .iter_mut()
                .zip(&downhill)
                .for_each(|(direction, downhill)| *direction = downhill + ratio * *direction);
            now = next;
        }
        change.iter_mut().enumerate().for_each(|(j, change)| *change *= scale(j));
    }
}

fn negated(slope: &[f64]) -> Vec<f64> {
    slope.iter().map(|slope| -slope).collect()
}
