//! y₀ of a policy whose Y is known, where the recourse has cones or a quadratic cost: the counterpart of what
//! [`Repair`] does by a linear program.

use std::collections::BTreeMap;

use super::depth::Sum;
use super::square::Squarely;
use super::{Block, Counterpart, Held, Square, blocks, roots};
use crate::definition::VariableKind;
use crate::model::Symmetric;
use crate::policy::repair::{Range, Repair, TOLERANCE};
use crate::policy::robust::Expression;
use crate::policy::rule::Policy;
use crate::policy::support::Support;
use crate::recourse::{ConicProgram, ConicStatus, Program, RecourseError};
use crate::run::Clock;

/// The room that rows and cones are asked for, relative to their size: an interior point misses them by less than the
/// first, and almost surely by less than the second. Where there is no room they hold within [`TOLERANCE`] or not at
/// all.
const ROOMS: [f64; 3] = [1e-8, 1e-6, 0.0];

/// A row with sides closer than this is almost an equation.
const NARROW: f64 = 1e-8;

/// How far a variable at a bound may be thought to reach, and how often rows are tried to be met.
const LEAST_REACH: f64 = 1e-3;
const PASSES: usize = 4;

/// The least unit of a quadratic cost.
const SMALL: f64 = 1e-3;

/// What rounding may have lost, relative to the sum of all magnitudes.
const ROUNDING: f64 = 1e-14;

/// y in the middle, and what a quadratic cost and what moves of the linear one come to at most, where there is a
/// quadratic cost.
type Chosen = (Vec<f64>, Option<f64>);

impl Repair<'_> {
    /// The cheapest y in the middle with which rows and variables are within their ranges and all cones hold wherever ξ
    /// is.
    pub(in crate::policy) fn constant_in_cones(
        &self,
        policy: &Policy,
        rows: &[Range],
        cols: &[Range],
        support: &mut Support,
        clock: &Clock,
    ) -> Result<Option<Chosen>, RecourseError> {
        let middle = support.middle.clone();
        let counterpart = Counterpart::new(self.ground, &middle);
        let blocks = blocks(&self.problem.recourse, |row| self.row(policy, &middle, row));
        let sizes: Vec<f64> = blocks.iter().map(size).collect();
        let roots = roots(&self.problem.recourse)?;
        for room in ROOMS {
            let rooms = self.rooms(rows, cols, room);
            let mut program = ConicProgram::new(0.0);
            self.write(rows, cols, &rooms, &mut program);
            let mut held: Vec<Held> = Vec::with_capacity(blocks.len());
            for (block, size) in blocks.iter().zip(&sizes) {
                held.push(counterpart.hold(&mut program, block, room * size)?);
            }
            let quadratic = match &roots {
                None => None,
                Some(roots) => Some(self.write_square(policy, &middle, roots, &counterpart, &mut program)?),
            };
            let solution = program.solve(clock)?;
            match solution.status {
                ConicStatus::Solved => {}
                ConicStatus::Stopped(stop) => return Err(stop.into()),
                ConicStatus::Infeasible | ConicStatus::Unbounded | ConicStatus::Failed(_) => continue,
            }
            let mut values = solution.primal;
            self.meet_rows(rows, cols, &mut values[..cols.len()]);
            let is_in = |((block, held), size): ((&Block, &Held), &f64)| {
                counterpart.depth(block, held, &values) >= if room > 0.0 { 0.0 } else { -TOLERANCE * size }
            };
            if !self.holds(rows, &rooms, &values[..cols.len()]) || !blocks.iter().zip(&held).zip(&sizes).all(is_in) {
                continue;
            }
            let squared = match &quadratic {
                None => None,
                Some(quadratic) => Some(self.squared(policy, quadratic, &counterpart, support, &values)?),
            };
            values.truncate(cols.len());
            return Ok(Some((values, squared)));
        }
        Ok(None)
    }

    /// A row as a function of ξ from the middle, whose y there is in the first columns.
    fn row(&self, policy: &Policy, middle: &[f64], row: usize) -> Expression {
        let recourse = &self.problem.recourse;
        let mut expression = Expression::new(middle.len());
        expression.constant = recourse.e.dot(row, self.x) + recourse.u.dot(row, middle);
        expression.terms.extend(recourse.g.row(row));
        let mut slope = vec![0.0; middle.len()];
        policy.row_slope(self.problem, row, &mut slope);
        slope.iter().enumerate().for_each(|(entry, &slope)| expression.add_slope(entry, slope));
        expression
    }

    /// `½‖Ly(ξ)‖² + bᵀ(y(ξ) − y₀) ≤ τ` for every ξ: the square, what proves it, and the column of τ.
    fn write_square(
        &self,
        policy: &Policy,
        middle: &[f64],
        roots: &[Vec<(usize, f64)>],
        counterpart: &Counterpart,
        program: &mut ConicProgram,
    ) -> Result<(Square, Squarely, usize), RecourseError> {
        let recourse = &self.problem.recourse;
        let tau = program.col(1.0, f64::NEG_INFINITY, f64::INFINITY, VariableKind::Continuous);
        let mut above = Expression::new(middle.len());
        above.terms.push((tau, 1.0));
        let linear = policy.linear_cost_slope(self.problem);
        linear.iter().enumerate().for_each(|(entry, &slope)| above.add_slope(entry, -slope));
        let along = |terms: &Vec<(usize, f64)>| {
            let mut root = Expression::new(middle.len());
            for &(j, value) in terms {
                root.terms.push((j, value));
                policy.slopes[j].iter().for_each(|&(entry, slope)| root.add_slope(entry, value * slope));
            }
            root
        };
        let root: Vec<Expression> = roots.iter().map(along).collect();
        let mut y = vec![0.0; recourse.dim()];
        policy.at(middle, &mut y);
        let size = recourse.quadratic.half_square(&y).max(SMALL);
        let square = Square::new(&above, &root, size);
        let held = counterpart.hold_square(program, &square)?;
        Ok((square, held, tau))
    }

    /// What `½y(ξ)ᵀHy(ξ) + bᵀ(y(ξ) − y₀)` is at most.
    fn squared(
        &self,
        policy: &Policy,
        (square, held, tau): &(Square, Squarely, usize),
        counterpart: &Counterpart,
        support: &mut Support,
        values: &[f64],
    ) -> Result<f64, RecourseError> {
        let recourse = &self.problem.recourse;
        let falling: Vec<f64> = policy.linear_cost_slope(self.problem).iter().map(|slope| -slope).collect();
        let most = values[*tau] + support.at_most(&falling, None)?;
        // How far each variable can be from zero, for what the root of H is off by.
        let mut reach = Vec::with_capacity(recourse.dim());
        let mut slope = vec![0.0; falling.len()];
        for (y, slopes) in values.iter().zip(&policy.slopes) {
            slope.fill(0.0);
            slopes.iter().for_each(|&(entry, value)| slope[entry] = value);
            let up = support.at_most(&slope, None)?;
            slope.iter_mut().for_each(|slope| *slope = -*slope);
            reach.push(y.abs() + up.max(support.at_most(&slope, None)?));
        }
        let unrooted = unrooted(&recourse.quadratic, &roots(recourse)?.unwrap_or_default(), &reach);
        let excess = counterpart.excess(square, held, values, most);
        Ok(values[*tau] + excess + unrooted + ROUNDING * values[*tau].abs())
    }

    /// Moves y within its bounds, onto the equations and into rows that are almost such: an interior point meets them
    /// up to its tolerance only.
    fn meet_rows(&self, rows: &[Range], cols: &[Range], y: &mut [f64]) {
        let clamp =
            |y: &mut [f64]| y.iter_mut().zip(cols).for_each(|(y, range)| *y = y.clamp(range.lower, range.upper));
        clamp(y);
        let g = &self.problem.recourse.g;
        // How far a row is from a quarter of its width inside.
        let missed = |row: usize, y: &[f64]| {
            let Range { lower, upper, .. } = rows[row];
            let (activity, inside) = (g.dot(row, y), (0.25 * (upper - lower)).min(NARROW));
            activity.clamp(lower + inside, (upper - inside).max(lower + inside)) - activity
        };
        let is_tight = |row: &usize| rows[*row].upper - rows[*row].lower <= NARROW || missed(*row, y) != 0.0;
        let tight: Vec<usize> = (0..rows.len()).filter(is_tight).collect();
        let most = |y: &[f64]| (0..rows.len()).fold(0.0_f64, |most, row| most.max(missed(row, y).abs()));
        // What is far from its bounds moves most. What is stopped by one stays there.
        let mut reach: Vec<f64> = y
            .iter()
            .zip(cols)
            .map(|(y, range)| (y - range.lower).min(range.upper - y).clamp(LEAST_REACH, 1.0))
            .collect();
        let mut moved = vec![0.0; cols.len()];
        for _ in 0..PASSES {
            let misses: Vec<f64> = tight.iter().map(|&row| missed(row, y)).collect();
            self.least_change(&tight, &misses, |j| reach[j], &mut moved);
            moved.iter_mut().zip(&*y).for_each(|(moved, y)| *moved += y);
            let free = moved.clone();
            clamp(&mut moved);
            // Where rows have nothing to move, conjugate gradients may go anywhere.
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

/// The size of a block's numbers, at least 1.
fn size(block: &Block) -> f64 {
    block.entries.iter().fold(1.0_f64, |size, entry| size.max(entry.constant.abs()))
}

/// What `½yᵀHy` is above `½‖Ly‖²` at most: L is a root up to rounding, and without the eigenvalues that are almost
/// zero.
fn unrooted(matrix: &Symmetric, roots: &[Vec<(usize, f64)>], reach: &[f64]) -> f64 {
    let mut off: BTreeMap<(usize, usize), Sum> = BTreeMap::new();
    let mut add = |i: usize, j: usize, value: f64| {
        let sum = off.entry((i.max(j), i.min(j))).or_insert_with(|| Sum::zero(1));
        sum.add(1.0, &Sum { value: vec![value], size: value.abs() });
    };
    matrix.iter().for_each(|(i, j, value)| add(i, j, value));
    for root in roots {
        for (place, &(i, a)) in root.iter().enumerate() {
            root[..=place].iter().for_each(|&(j, b)| add(i, j, -a * b));
        }
    }
    off.iter()
        .map(|(&(i, j), sum)| {
            let most = (sum.value[0].abs() + ROUNDING * sum.size) * reach[i] * reach[j];
            if i == j { 0.5 * most } else { most }
        })
        .sum()
}
