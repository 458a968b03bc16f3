//! Optimal y₀ of a policy with fixed Y, for a recourse with cones or a quadratic cost. [`Repair`] uses a linear program
//! for a linear recourse instead.

use std::collections::BTreeMap;

use super::depth::SizedSum;
use super::quadratic::QuadraticProof;
use super::{ConeBlock, ConeProof, ConicCounterpart, QuadraticBound, blocks, roots};
use crate::definition::VariableKind;
use crate::model::Symmetric;
use crate::numeric::tolerances::{ROW_TOL, SUMMATION_TOL};
use crate::policy::affine_policy::AffinePolicy;
use crate::policy::repair::{FeasibleRange, Repair};
use crate::policy::robust::Expression;
use crate::policy::support::SupportBounds;
use crate::recourse::{ConicProgram, ConicStatus, ProgramBuilder, RecourseError};
use crate::run::Clock;

/// The margins of rows and cones, relative to their size, in the order of trial. The violations of an interior point
/// method are usually below the first, and almost surely below the second. Constraints without a margin must hold
/// within [`ROW_TOL`].
const MARGINS: [f64; 3] = [1e-8, 1e-6, 0.0];

/// A row with closer bounds is almost an equation.
const NEAR_EQUALITY_TOL: f64 = 1e-8;

/// Least scale of a variable close to a bound, and largest number of projections on the rows.
const MIN_SCALE: f64 = 1e-3;
const MAX_PASSES: usize = 4;

/// The least unit of a quadratic cost.
const MIN_QUADRATIC_SIZE: f64 = 1e-3;

/// y at the reference point and, with a quadratic cost, an upper bound on the quadratic cost plus the variation of the
/// linear one.
type Chosen = (Vec<f64>, Option<f64>);

impl Repair<'_> {
    /// Returns the cheapest y at the reference point for which rows and variables are within their ranges and all cones
    /// hold for every ξ; `None` if there is none or none could be proven.
    pub(in crate::policy) fn constant_in_cones(
        &self,
        policy: &AffinePolicy,
        rows: &[FeasibleRange],
        cols: &[FeasibleRange],
        support: &mut SupportBounds,
        clock: &Clock,
    ) -> Result<Option<Chosen>, RecourseError> {
        let reference_point = support.reference_point.clone();
        let counterpart = ConicCounterpart::new(self.region, &reference_point);
        let blocks = blocks(&self.problem.recourse, |row| self.row(policy, &reference_point, row));
        let sizes: Vec<f64> = blocks.iter().map(size).collect();
        let roots = roots(&self.problem.recourse)?;
        for margin in MARGINS {
            let margins = self.margins(rows, cols, margin);
            let mut program = ConicProgram::new(0.0);
            self.write(rows, cols, &margins, &mut program);
            let mut proofs: Vec<ConeProof> = Vec::with_capacity(blocks.len());
            for (block, size) in blocks.iter().zip(&sizes) {
                proofs.push(counterpart.require(&mut program, block, margin * size)?);
            }
            let quadratic = match &roots {
                None => None,
                Some(roots) => {
                    Some(self.write_quadratic(policy, &reference_point, roots, &counterpart, &mut program)?)
                }
            };
            let solution = program.solve(clock)?;
            match solution.status {
                ConicStatus::Solved => {}
                ConicStatus::Stopped(stop) => return Err(stop.into()),
                ConicStatus::Infeasible | ConicStatus::Unbounded | ConicStatus::Inexact(_) | ConicStatus::Failed(_) => {
                    continue;
                }
            }
            let mut values = solution.primal;
            self.project_on_rows(rows, cols, &mut values[..cols.len()]);
            let is_in = |((block, proof), size): ((&ConeBlock, &ConeProof), &f64)| {
                counterpart.depth(block, proof, &values) >= if margin > 0.0 { 0.0 } else { -ROW_TOL * size }
            };
            if !self.satisfies(rows, &margins, &values[..cols.len()])
                || !blocks.iter().zip(&proofs).zip(&sizes).all(is_in)
            {
                continue;
            }
            let quadratic_cost = match &quadratic {
                None => None,
                Some(quadratic) => Some(self.quadratic_cost(policy, quadratic, &counterpart, support, &values)?),
            };
            values.truncate(cols.len());
            return Ok(Some((values, quadratic_cost)));
        }
        Ok(None)
    }

    /// A row as a function of ξ relative to the reference point; the columns of y at that point are the first ones.
    fn row(&self, policy: &AffinePolicy, reference_point: &[f64], row: usize) -> Expression {
        let recourse = &self.problem.recourse;
        let mut expression = Expression::new(reference_point.len());
        expression.constant = recourse.e.dot(row, self.x) + recourse.u.dot(row, reference_point);
        expression.terms.extend(recourse.g.row(row));
        let mut slope = vec![0.0; reference_point.len()];
        policy.row_slope(self.problem, row, &mut slope);
        slope.iter().enumerate().for_each(|(entry, &slope)| expression.add_slope(entry, slope));
        expression
    }

    /// Requires `½‖Ly(ξ)‖² + bᵀ(y(ξ) − y₀) ≤ τ` for every ξ. Returns the bound, its proof and the column of τ.
    fn write_quadratic(
        &self,
        policy: &AffinePolicy,
        reference_point: &[f64],
        roots: &[Vec<(usize, f64)>],
        counterpart: &ConicCounterpart,
        program: &mut ConicProgram,
    ) -> Result<(QuadraticBound, QuadraticProof, usize), RecourseError> {
        let recourse = &self.problem.recourse;
        let tau = program.col(1.0, f64::NEG_INFINITY, f64::INFINITY, VariableKind::Continuous);
        let mut above = Expression::new(reference_point.len());
        above.terms.push((tau, 1.0));
        let linear = policy.linear_cost_slope(self.problem);
        linear.iter().enumerate().for_each(|(entry, &slope)| above.add_slope(entry, -slope));
        let along = |terms: &Vec<(usize, f64)>| {
            let mut root = Expression::new(reference_point.len());
            for &(j, value) in terms {
                root.terms.push((j, value));
                policy.slopes[j].iter().for_each(|&(entry, slope)| root.add_slope(entry, value * slope));
            }
            root
        };
        let root: Vec<Expression> = roots.iter().map(along).collect();
        let mut y = vec![0.0; recourse.dim()];
        policy.at(reference_point, &mut y);
        let size = recourse.quadratic.half_square(&y).max(MIN_QUADRATIC_SIZE);
        let bound = QuadraticBound::new(&above, &root, size);
        let proof = counterpart.require_quadratic(program, &bound)?;
        Ok((bound, proof, tau))
    }

    /// An upper bound on `½y(ξ)ᵀHy(ξ) + bᵀ(y(ξ) − y₀)` over all ξ.
    fn quadratic_cost(
        &self,
        policy: &AffinePolicy,
        (bound, proof, tau): &(QuadraticBound, QuadraticProof, usize),
        counterpart: &ConicCounterpart,
        support: &mut SupportBounds,
        values: &[f64],
    ) -> Result<f64, RecourseError> {
        let recourse = &self.problem.recourse;
        let falling: Vec<f64> = policy.linear_cost_slope(self.problem).iter().map(|slope| -slope).collect();
        let most = values[*tau] + support.upper_bound(&falling, None)?;
        // The largest absolute value of each variable, for the error of the factor of H.
        let mut reach = Vec::with_capacity(recourse.dim());
        let mut slope = vec![0.0; falling.len()];
        for (y, slopes) in values.iter().zip(&policy.slopes) {
            slope.fill(0.0);
            slopes.iter().for_each(|&(entry, value)| slope[entry] = value);
            let up = support.upper_bound(&slope, None)?;
            slope.iter_mut().for_each(|slope| *slope = -*slope);
            reach.push(y.abs() + up.max(support.upper_bound(&slope, None)?));
        }
        let factor_error = factor_error(&recourse.quadratic, &roots(recourse)?.unwrap_or_default(), &reach);
        let excess = counterpart.excess(bound, proof, values, most);
        Ok(values[*tau] + excess + factor_error + SUMMATION_TOL * values[*tau].abs())
    }

    /// Moves y into its bounds, onto the equations and into rows that are almost equations: an interior point method
    /// satisfies them up to its tolerance only.
    fn project_on_rows(&self, rows: &[FeasibleRange], cols: &[FeasibleRange], y: &mut [f64]) {
        let clamp =
            |y: &mut [f64]| y.iter_mut().zip(cols).for_each(|(y, range)| *y = y.clamp(range.lower, range.upper));
        clamp(y);
        let g = &self.problem.recourse.g;
        // The distance of a row's activity from the range inset by a quarter of its width.
        let residual = |row: usize, y: &[f64]| {
            let FeasibleRange { lower, upper, .. } = rows[row];
            let (activity, inside) = (g.dot(row, y), (0.25 * (upper - lower)).min(NEAR_EQUALITY_TOL));
            activity.clamp(lower + inside, (upper - inside).max(lower + inside)) - activity
        };
        let is_tight =
            |row: &usize| rows[*row].upper - rows[*row].lower <= NEAR_EQUALITY_TOL || residual(*row, y) != 0.0;
        let tight: Vec<usize> = (0..rows.len()).filter(is_tight).collect();
        let most = |y: &[f64]| (0..rows.len()).fold(0.0_f64, |most, row| most.max(residual(row, y).abs()));
        // Variables far from their bounds move most. Variables that reach a bound stay there.
        let mut reach: Vec<f64> =
            y.iter().zip(cols).map(|(y, range)| (y - range.lower).min(range.upper - y).clamp(MIN_SCALE, 1.0)).collect();
        let mut moved = vec![0.0; cols.len()];
        for _ in 0..MAX_PASSES {
            let residuals: Vec<f64> = tight.iter().map(|&row| residual(row, y)).collect();
            self.least_norm_change(&tight, &residuals, |j| reach[j], &mut moved);
            moved.iter_mut().zip(&*y).for_each(|(moved, y)| *moved += y);
            let free = moved.clone();
            clamp(&mut moved);
            if !moved.iter().all(|y| y.is_finite()) || most(&moved) >= most(y) {
                break;
            }
            y.copy_from_slice(&moved);
            reach
                .iter_mut()
                .zip(free.iter().zip(&moved))
                .filter(|(_, (free, moved))| free != moved)
                .for_each(|(reach, _)| *reach = 0.0);
        }
    }
}

/// The size of a block's constants, at least 1.
fn size(block: &ConeBlock) -> f64 {
    block.entries.iter().fold(1.0_f64, |size, entry| size.max(entry.constant.abs()))
}

/// An upper bound on `½yᵀHy − ½‖Ly‖²` for |y| ≤ reach: L is a factor of H up to rounding, without eigenvalues that are
/// almost zero.
fn factor_error(matrix: &Symmetric, roots: &[Vec<(usize, f64)>], reach: &[f64]) -> f64 {
    let mut off: BTreeMap<(usize, usize), SizedSum> = BTreeMap::new();
    let mut add = |i: usize, j: usize, value: f64| {
        let sum = off.entry((i.max(j), i.min(j))).or_insert_with(|| SizedSum::zero(1));
        sum.add(1.0, &SizedSum { value: vec![value], size: value.abs() });
    };
    matrix.iter().for_each(|(i, j, value)| add(i, j, value));
    for root in roots {
        for (index, &(i, a)) in root.iter().enumerate() {
            root[..=index].iter().for_each(|&(j, b)| add(i, j, -a * b));
        }
    }
    off.iter()
        .map(|(&(i, j), sum)| {
            let most = (sum.value[0].abs() + SUMMATION_TOL * sum.size) * reach[i] * reach[j];
            if i == j { 0.5 * most } else { most }
        })
        .sum()
}
