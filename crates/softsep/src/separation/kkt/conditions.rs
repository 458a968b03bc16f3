//! The optimality (Karush–Kuhn–Tucker) conditions of linear recourse, in columns and rows.
//!
//! The *values* are the recourse variables y, then the activities of the rows, `a = Gy + Ex + Uξ`. Each has limits. The
//! *multipliers* of these limits are the reduced costs `r = b − Gᵀπ`, then π. A multiplier is positive only if its
//! value is at the lower limit, and negative only if it is at the upper one. With all of this `bᵀy = Q(x, ξ)`.

use softsep_lp::Model;

use super::ranges::RangedColumn;
use crate::model::{Problem, RecourseModel};
use crate::recourse::{TangentCone, merged};
use crate::uncertainty::Shape;

/// The ratios of u to 1 at which the unit ball gets tangents before any scenario is known.
const BALL_RATIOS: [f64; 9] = [-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0];

/// The pairs of values and multipliers of a recourse.
pub(super) struct Conditions<'p> {
    problem: &'p Problem,
    /// The limits of each value.
    limits: Vec<(f64, f64)>,
}

/// Valid bounds of the values and the multipliers.
#[derive(Debug, Clone)]
pub(super) struct PairRanges {
    pub(super) values: Vec<(f64, f64)>,
    pub(super) multipliers: Vec<(f64, f64)>,
}

/// The uncertainty set in a linear program.
pub(super) struct ParameterColumns {
    /// The columns of ξ.
    pub(super) xi: Vec<usize>,
    /// The unit ball of an ellipsoid.
    pub(super) ball: Option<TangentCone>,
}

/// A binary of a complementary pair: it is one where the value is at a limit.
pub(super) struct LimitBinary {
    pub(super) column: usize,
    pub(super) pair: usize,
    pub(super) limit: f64,
}

impl<'p> Conditions<'p> {
    pub(super) fn new(problem: &'p Problem) -> Self {
        let recourse = &problem.recourse;
        let variables = recourse.lower.iter().copied().zip(recourse.upper.iter().copied());
        let rows = recourse.row_lower.iter().copied().zip(recourse.row_upper.iter().copied());
        Self { problem, limits: variables.chain(rows).collect() }
    }

    fn recourse(&self) -> &'p RecourseModel {
        &self.problem.recourse
    }

    /// The limits of each value.
    pub(super) fn limits(&self) -> &[(f64, f64)] {
        &self.limits
    }

    /// The smallest and the largest multiplier that each value may have by its limits.
    pub(super) fn signs(&self) -> Vec<(f64, f64)> {
        let sign = |&(lower, upper): &(f64, f64)| {
            let end = |limit: f64, end: f64| if limit.is_finite() { end } else { 0.0 };
            (end(upper, f64::NEG_INFINITY), end(lower, f64::INFINITY))
        };
        self.limits.iter().map(sign).collect()
    }

    /// Which ends of a pair's ranges a big-M constant needs: the lower ones at an upper limit, the upper ones at a
    /// lower limit.
    fn needed_ends(&self, pair: usize) -> [bool; 2] {
        let (lower, upper) = self.limits[pair];
        [upper.is_finite() && lower < upper, lower.is_finite() && lower < upper]
    }

    /// Names a pair whose ranges have an infinite end that is needed.
    pub(super) fn missing_range(&self, ranges: &[(f64, f64)]) -> Option<String> {
        let is_missing = |pair: &usize| {
            let ([needs_lower, needs_upper], (least, most)) = (self.needed_ends(*pair), ranges[*pair]);
            needs_lower && least.is_infinite() || needs_upper && most.is_infinite()
        };
        let dim = self.recourse().dim();
        (0..self.limits.len()).find(is_missing).map(|pair| match pair.checked_sub(dim) {
            None => format!("recourse variable \"{}\"", self.problem.names.recourse[pair]),
            Some(row) => format!("recourse row \"{}\"", self.problem.names.recourse_rows[row]),
        })
    }

    /// Writes the values, with bounds, as the next columns: y is feasible where x shifts the rows by `shift = Ex`, at
    /// the ξ of these columns. Without columns ξ is zero. Returns the first column.
    pub(super) fn write_values(&self, model: &mut Model, bounds: &[(f64, f64)], shift: &[f64], xi: &[usize]) -> usize {
        let recourse = self.recourse();
        let first = model.cols();
        bounds.iter().for_each(|&(lower, upper)| _ = model.add_col(0.0, lower, upper));
        for (row, &shift) in shift.iter().enumerate() {
            let mut terms: Vec<(usize, f64)> = vec![(first + recourse.dim() + row, 1.0)];
            terms.extend(recourse.g.row(row).map(|(j, value)| (first + j, -value)));
            if !xi.is_empty() {
                terms.extend(recourse.u.row(row).map(|(entry, value)| (xi[entry], -value)));
            }
            model.add_row(shift, shift, &merged(terms));
        }
        first
    }

    /// Adds the row `bᵀy ≤ most` on values from `first` on.
    pub(super) fn bound_cost(&self, model: &mut Model, first: usize, most: f64) {
        let terms: Vec<(usize, f64)> = self.recourse().cost.iter().enumerate().map(|(j, &b)| (first + j, b)).collect();
        model.add_row(f64::NEG_INFINITY, most, &terms);
    }

    /// Writes the multipliers, with bounds, as the next columns. Returns the first.
    pub(super) fn write_multipliers(&self, model: &mut Model, bounds: &[(f64, f64)]) -> usize {
        let recourse = self.recourse();
        let first = model.cols();
        bounds.iter().for_each(|&(lower, upper)| _ = model.add_col(0.0, lower, upper));
        let columns = recourse.g.transpose();
        for (j, &cost) in recourse.cost.iter().enumerate() {
            let mut terms = vec![(first + j, 1.0)];
            terms.extend(columns.row(j).map(|(row, value)| (first + recourse.dim() + row, value)));
            model.add_row(cost, cost, &terms);
        }
        first
    }

    /// Returns the slopes `−Uᵀπ` as terms over multipliers from `first` on.
    pub(super) fn slopes(&self, first: usize) -> Vec<Vec<(usize, f64)>> {
        let recourse = self.recourse();
        let by_entry = recourse.u.transpose();
        (0..self.problem.set.dim())
            .map(|entry| by_entry.row(entry).map(|(row, value)| (first + recourse.dim() + row, -value)).collect())
            .collect()
    }

    /// The values from `first` on as columns with ranges. The walls of y are the limits of the rows that it is in, and
    /// its own limit where its cost falls towards that.
    pub(super) fn ranged_values(&self, first: usize) -> Vec<RangedColumn> {
        let recourse = self.recourse();
        let columns = recourse.g.transpose();
        let finite = |column: usize, pair: usize| {
            let (lower, upper) = self.limits[pair];
            [lower, upper].into_iter().filter(|limit| limit.is_finite()).map(move |limit| (column, limit))
        };
        let walls = |j: usize| {
            let (lower, upper) = self.limits[j];
            let rest = 0.0_f64.clamp(lower, upper);
            let rows = columns.row(j).map(|(row, _)| recourse.dim() + row);
            let mut walls: Vec<(usize, f64)> = rows.flat_map(|pair| finite(first + pair, pair)).collect();
            walls.extend(finite(first + j, j).filter(|&(_, limit)| (limit - rest) * recourse.cost[j] < 0.0));
            walls
        };
        self.ranged(first, &self.limits, |pair| (pair < recourse.dim()).then(|| walls(pair)))
    }

    /// The multipliers from `first` on as columns with ranges. The walls of π are the zeros of the reduced costs that
    /// it is in.
    pub(super) fn ranged_multipliers(&self, first: usize) -> Vec<RangedColumn> {
        let recourse = self.recourse();
        let walls = |pair: usize| {
            let row = pair.checked_sub(recourse.dim())?;
            Some(recourse.g.row(row).map(|(j, _)| (first + j, 0.0)).collect())
        };
        self.ranged(first, &self.signs(), walls)
    }

    /// The columns of all pairs, those with walls first. Ends are computed where they are needed or infinite.
    fn ranged(
        &self,
        first: usize,
        bounds: &[(f64, f64)],
        walls: impl Fn(usize) -> Option<Vec<(usize, f64)>>,
    ) -> Vec<RangedColumn> {
        let ranged = |(pair, &(lower, upper)): (usize, &(f64, f64))| {
            let [needs_lower, needs_upper] = self.needed_ends(pair);
            let ends = [needs_lower || lower.is_infinite(), needs_upper || upper.is_infinite()];
            RangedColumn { column: first + pair, ends, walls: walls(pair) }
        };
        let mut all: Vec<RangedColumn> = bounds.iter().enumerate().map(ranged).collect();
        all.sort_by_key(|ranged| ranged.walls.is_none());
        all
    }

    /// Adds a binary for each limit of each pair: the value is at the limit, or the multiplier does not have its sign.
    pub(super) fn add_complementarity(
        &self,
        model: &mut Model,
        [values, multipliers]: [usize; 2],
        ranges: &PairRanges,
    ) -> Vec<LimitBinary> {
        let mut binaries = Vec::new();
        for (pair, &(lower, upper)) in self.limits.iter().enumerate().filter(|(_, limits)| limits.0 < limits.1) {
            let ((least, most), (negative, positive)) = (ranges.values[pair], ranges.multipliers[pair]);
            let mut of_pair = Vec::new();
            // sign·multiplier ≤ strength·binary, sign·(value − limit) ≤ reach·(1 − binary).
            for (limit, sign, reach, strength) in
                [(lower, 1.0, most - lower, positive), (upper, -1.0, upper - least, -negative)]
            {
                if limit.is_finite() && reach > 0.0 && strength > 0.0 {
                    let column = model.add_integer(0.0, 0.0, 1.0);
                    let (value, multiplier) = (values + pair, multipliers + pair);
                    model.add_row(f64::NEG_INFINITY, 0.0, &[(multiplier, sign), (column, -strength)]);
                    model.add_row(f64::NEG_INFINITY, reach + sign * limit, &[(value, sign), (column, reach)]);
                    of_pair.push((column, 1.0));
                    binaries.push(LimitBinary { column, pair, limit });
                }
            }
            if of_pair.len() > 1 {
                model.add_row(f64::NEG_INFINITY, 1.0, &of_pair);
            }
        }
        binaries
    }
}

impl ParameterColumns {
    /// Writes a set that has a polytope, a ball, or both, as the next columns.
    pub(super) fn write(model: &mut Model, dim: usize, shape: &Shape) -> Self {
        let xi: Vec<usize> = (0..dim).map(|_| model.add_col(0.0, f64::NEG_INFINITY, f64::INFINITY)).collect();
        if let Some(polytope) = &shape.polytope {
            let zeta = model.cols();
            let mut entries: Vec<Vec<(usize, f64)>> = xi.iter().map(|&xi| vec![(xi, 1.0)]).collect();
            for &(entry, step) in &polytope.columns {
                entries[entry].push((model.add_col(0.0, 0.0, f64::INFINITY), -step));
            }
            for (terms, &base) in entries.iter().zip(&polytope.base) {
                model.add_row(base, base, terms);
            }
            for row in &polytope.rows {
                let terms: Vec<(usize, f64)> = row.terms.iter().map(|&(column, by)| (zeta + column, by)).collect();
                model.add_row(if row.equal { row.limit } else { f64::NEG_INFINITY }, row.limit, &terms);
            }
        }
        let ball = shape.ball.as_ref().map(|ball| {
            let u: Vec<usize> = ball.columns.iter().map(|_| model.add_col(0.0, -1.0, 1.0)).collect();
            for (entry, (&xi, &center)) in xi.iter().zip(&ball.center).enumerate() {
                let mut terms = vec![(xi, 1.0)];
                terms.extend(u.iter().zip(&ball.columns).map(|(&u, axis)| (u, -axis[entry])));
                model.add_row(center, center, &terms);
            }
            let mut rows = vec![(Vec::new(), -1.0)];
            rows.extend(u.iter().map(|&u| (vec![(u, 1.0)], 0.0)));
            TangentCone::write(model, rows, &BALL_RATIOS)
        });
        Self { xi, ball }
    }
}
