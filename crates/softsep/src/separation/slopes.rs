//! The ranges of the slopes of Q(x, ·) over all duals, and the part of the set that can hold the maximum by them.
//!
//! The slopes are `s(π) = −Uᵀπ`, and the set Π of duals depends neither on x nor on ξ: ranges are computed once for a
//! problem. So are those of slopes in x. Where a slope has one sign on all of Π, Q is monotone in that entry of ξ, and
//! the search can be restricted to one end of its range.

use std::sync::Arc;

use softsep_lp::{Algorithm, Lp, Model, Status, Toggle};

use crate::error::Error;
use crate::model::{Problem, Sparse};
use crate::numeric::tolerances::{COORDINATE_TOL, LP_BOUND_TOL};
use crate::recourse::{DualColumns, DualSet};
use crate::run::{Clock, Interrupt};
use crate::uncertainty::{Polytope, ShapeRow, States, Trend, Uncertainty};

/// An end of a range with a smaller absolute value is zero: HiGHS leaves residues of this size.
const ZERO_SLOPE_TOL: f64 = 1e-9;

/// The smallest and the largest slope of Q in each entry of ξ (or x). Infinite where the duals are unbounded in that
/// direction, or where HiGHS failed.
#[derive(Debug, Clone, PartialEq)]
pub struct SlopeRanges {
    /// The smallest slopes.
    pub least: Vec<f64>,
    /// The largest slopes.
    pub most: Vec<f64>,
}

impl SlopeRanges {
    /// Computes the ranges over all feasible duals of linear recourse with fixed costs. Returns `None` if no dual is
    /// feasible, so that Q is ∞ or −∞ everywhere.
    pub fn of(problem: &Problem, clock: &Clock) -> Result<Option<Self>, Error> {
        Self::over(DualSet::Feasible, problem, clock)
    }

    /// Computes the ranges of the slopes of Q in the entries of x.
    pub(crate) fn in_x(problem: &Problem, clock: &Clock) -> Result<Option<Self>, Error> {
        Self::along(&problem.recourse.e, DualSet::Feasible, widen_range, problem, clock)
    }

    /// The same as HiGHS computes them, not widened by its tolerance: sizes, and no bounds to rely on.
    pub(crate) fn sizes_in_x(problem: &Problem, clock: &Clock) -> Result<Option<Self>, Error> {
        Self::along(&problem.recourse.e, DualSet::Feasible, |least, most| (least, most), problem, clock)
    }

    /// Computes the ranges of −π on the rows of the recourse without x, not widened; zero on the other rows.
    pub(crate) fn sizes_of_prices(problem: &Problem, clock: &Clock) -> Result<Option<Self>, Error> {
        let rows = problem.recourse.rows();
        let mut identity = Sparse::new(rows);
        for row in 0..rows {
            identity.push_row(problem.recourse.e.row(row).next().is_none().then_some((row, 1.0)));
        }
        Self::along(&identity, DualSet::Feasible, |least, most| (least, most), problem, clock)
    }

    pub(super) fn over(duals: DualSet, problem: &Problem, clock: &Clock) -> Result<Option<Self>, Error> {
        Self::along(&problem.recourse.u, duals, widen_range, problem, clock)
    }

    /// Computes the ranges of `−Mᵀπ`, with `widen` applied to each in units of its size.
    fn along(
        matrix: &Sparse,
        duals: DualSet,
        widen: fn(f64, f64) -> (f64, f64),
        problem: &Problem,
        clock: &Clock,
    ) -> Result<Option<Self>, Error> {
        let mut model = Model::new();
        let columns = DualColumns::write(&problem.recourse, duals, &mut model);
        let grows = columns.lone_rays(duals);
        let mut ranges = Self { least: vec![0.0; matrix.cols()], most: vec![0.0; matrix.cols()] };
        // HiGHS ignores the rows of a program without columns, so that a fixed column is added.
        let idle_column = model.add_col(0.0, 0.0, 0.0);
        let mut lp = range_program(&model, clock)?;
        let mut costs = vec![0.0; idle_column + 1];
        if minimum_of(&mut lp, &costs, clock)? == LpMinimum::Infeasible {
            return Ok(None);
        }
        // Duals are of the size of the costs, since rows are scaled.
        let cost_size = problem.recourse.cost.iter().fold(0.0_f64, |cost_size, cost| cost_size.max(cost.abs()));
        let cost_size = if cost_size > 0.0 && duals == DualSet::Feasible { cost_size } else { 1.0 };
        for (entry, terms) in columns.slopes(matrix).iter().enumerate().filter(|(_, terms)| !terms.is_empty()) {
            // ξ may have any units: the slope is computed in units of its largest coefficient.
            let unit = terms.iter().fold(0.0_f64, |largest, term| largest.max(term.1.abs()));
            let mut ends = [0.0; 2];
            for (end, sign) in ends.iter_mut().zip([1.0, -1.0]) {
                if terms.iter().any(|&(col, value)| grows[col] && sign * value < 0.0) {
                    *end = -sign * f64::INFINITY;
                    continue;
                }
                terms.iter().for_each(|&(col, value)| costs[col] = sign * value / unit);
                *end = match minimum_of(&mut lp, &costs, clock)? {
                    LpMinimum::Value(value) => sign * value,
                    LpMinimum::Infeasible => return Ok(None),
                    LpMinimum::Unknown => -sign * f64::INFINITY,
                };
            }
            terms.iter().for_each(|&(col, _)| costs[col] = 0.0);
            let (least, most) = widen(ends[0] / cost_size, ends[1] / cost_size);
            let scaled = |end: f64| if end == 0.0 { 0.0 } else { end * cost_size * unit };
            (ranges.least[entry], ranges.most[entry]) = (scaled(least), scaled(most));
        }
        Ok(Some(ranges))
    }

    /// Returns the trend of Q in each entry of ξ.
    pub fn trends(&self) -> Vec<Trend> {
        self.least.iter().zip(&self.most).map(|(&least, &most)| Trend::between(least, most)).collect()
    }

    /// Returns the largest absolute slope in each entry; infinite where the duals are unbounded.
    pub fn steepest(&self) -> Vec<f64> {
        self.least.iter().zip(&self.most).map(|(least, most)| least.abs().max(most.abs())).collect()
    }

    /// Returns the largest change of Q if each entry changes by its width. Entries of width zero do not count, even
    /// with an infinite slope.
    pub fn spread(&self, widths: &[f64]) -> f64 {
        let moving = self.steepest().into_iter().zip(widths).filter(|(_, width)| **width > 0.0);
        moving.map(|(steep, width)| steep * width).sum()
    }

    /// Returns the Lipschitz modulus of Q in the coordinates of a sphere of states: a bound on ‖Aᵀs‖ over all slopes s
    /// in the ranges, by the columns of Aᵀ. `None` for states without local coordinates.
    pub fn on_sphere(&self, states: &dyn States) -> Option<f64> {
        let local = states.local_coordinates()?;
        let (mut axis, mut column) = (vec![0.0; self.least.len()], vec![0.0; local.dim()]);
        let mut lengths = Vec::with_capacity(axis.len());
        for entry in 0..axis.len() {
            axis[entry] = 1.0;
            local.pull_back(&axis, &mut column);
            axis[entry] = 0.0;
            lengths.push(norm(&column));
        }
        Some(self.spread(&lengths).min(norm(&self.steepest()) * norm(&lengths)))
    }

    /// Returns the face of the polytope that holds a maximum of Q: a coordinate ζ in which Q never increases is fixed
    /// at zero, and one in which Q never decreases at its width. The rows of the polytope must allow that whatever the
    /// other coordinates are.
    pub fn reduce(&self, polytope: &Polytope) -> Polytope {
        let fixed_values = self.fixed_coordinates(polytope);
        let mut reduced = Polytope { base: polytope.base.clone(), ..Polytope::default() };
        let mut new_index = vec![0; fixed_values.len()];
        for (column, fixed_value) in fixed_values.iter().enumerate() {
            let (entry, step) = polytope.columns[column];
            match fixed_value {
                Some(zeta) => reduced.base[entry] += step * zeta,
                None => {
                    new_index[column] = reduced.columns.len();
                    reduced.columns.push((entry, step));
                }
            }
        }
        for row in &polytope.rows {
            let fixed: f64 = row.terms.iter().filter_map(|&(column, value)| Some(value * fixed_values[column]?)).sum();
            let terms: Vec<(usize, f64)> = row
                .terms
                .iter()
                .filter(|&&(column, _)| fixed_values[column].is_none())
                .map(|&(column, value)| (new_index[column], value))
                .collect();
            if !terms.is_empty() {
                reduced.rows.push(ShapeRow { terms, limit: row.limit - fixed, equal: row.equal });
            }
        }
        reduced
    }

    /// Returns the value of each coordinate ζ that is fixed in [`Self::reduce`], and `None` for the others.
    fn fixed_coordinates(&self, polytope: &Polytope) -> Vec<Option<f64>> {
        let mut rows_of = vec![Vec::new(); polytope.columns.len()];
        for (number, row) in polytope.rows.iter().enumerate() {
            for &(column, coefficient) in row.terms.iter().filter(|term| term.1 != 0.0) {
                rows_of[column].push((number, coefficient));
            }
        }
        let fixed_value = |column: usize| {
            let (entry, step) = polytope.columns[column];
            let (least, most) = if step > 0.0 {
                (step * self.least[entry], step * self.most[entry])
            } else {
                (step * self.most[entry], step * self.least[entry])
            };
            let only_uses_capacity =
                rows_of[column].iter().all(|&(row, coefficient)| coefficient >= 0.0 && !polytope.rows[row].equal);
            if !only_uses_capacity {
                return None;
            }
            let is_alone = rows_of[column].iter().all(|&(row, _)| polytope.rows[row].terms.len() == 1);
            let width = rows_of[column]
                .iter()
                .map(|&(row, coefficient)| polytope.rows[row].limit / coefficient)
                .fold(f64::INFINITY, f64::min);
            if most <= 0.0 {
                Some(0.0)
            } else if least >= 0.0 && is_alone && width.is_finite() {
                Some(width)
            } else {
                None
            }
        };
        (0..polytope.columns.len()).map(fixed_value).collect()
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// Returns the levels of each entry in a reduced polytope, one where the entry is fixed; `None` if the set has no
/// levels.
pub(super) fn useful_levels(set: &dyn Uncertainty, reduced: &Polytope) -> Option<Vec<Vec<f64>>> {
    let mut moves = vec![0.0_f64; reduced.base.len()];
    reduced.columns.iter().for_each(|&(entry, step)| moves[entry] = moves[entry].max(step.abs()));
    ends(reduced)
        .iter()
        .enumerate()
        .map(|(entry, &(lower, upper))| {
            if moves[entry] == 0.0 {
                return Some(vec![lower]);
            }
            let mut levels = set.levels(entry)?;
            // Ends are sums with rounding errors of the size of ξ, which may be far above the distance of levels.
            let spread = levels.last()? - levels.first()?;
            let slack = COORDINATE_TOL * spread.max(moves[entry]) + f64::EPSILON * 8.0 * (lower.abs() + upper.abs());
            levels.retain(|level| (lower - slack..=upper + slack).contains(level));
            Some(levels)
        })
        .collect()
}

/// Returns the smallest and the largest value of each entry of ξ, by the rows with a single ζ.
pub(super) fn ends(polytope: &Polytope) -> Vec<(f64, f64)> {
    let mut ends: Vec<(f64, f64)> = polytope.base.iter().map(|&base| (base, base)).collect();
    for (&(entry, step), width) in polytope.columns.iter().zip(widths(polytope)) {
        let end = polytope.base[entry] + step * width;
        ends[entry] = (ends[entry].0.min(end), ends[entry].1.max(end));
    }
    ends
}

/// Returns the largest value of each ζ, by the rows with a single ζ.
pub(super) fn widths(polytope: &Polytope) -> Vec<f64> {
    let mut widths = vec![f64::INFINITY; polytope.columns.len()];
    for row in &polytope.rows {
        if let [(column, coefficient)] = row.terms[..]
            && coefficient > 0.0
        {
            widths[column] = widths[column].min((row.limit / coefficient).max(0.0));
        }
    }
    widths
}

/// The minimum of a linear program.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum LpMinimum {
    /// The minimum, up to HiGHS's tolerance.
    Value(f64),
    /// No point is feasible.
    Infeasible,
    /// The program is unbounded, or HiGHS failed.
    Unknown,
}

/// Builds a program whose costs change between solves.
pub(crate) fn range_program(model: &Model, clock: &Clock) -> Result<Lp, Error> {
    let mut lp = Lp::new(model)?;
    // The feasible set stays the same, so that each solve starts at the vertex of the last one.
    lp.set_algorithm(Algorithm::PrimalSimplex)?;
    lp.set_presolve(Toggle::Off)?;
    lp.set_interrupt(Arc::clone(clock.interrupt()))?;
    Ok(lp)
}

/// Minimises `costs` over a program. Errs if the clock stops.
pub(crate) fn minimum_of(lp: &mut Lp, costs: &[f64], clock: &Clock) -> Result<LpMinimum, Error> {
    clock.check()?;
    lp.set_time_limit(clock.left())?;
    lp.set_costs(costs)?;
    let mut status = lp.solve()?;
    if matches!(status, Status::Failed | Status::Infeasible | Status::InfeasibleOrUnbounded) {
        // A second solve from scratch and without presolve: bad vertices and presolve have caused wrong statuses.
        lp.clear_solver()?;
        lp.set_presolve(Toggle::Off)?;
        lp.set_time_limit(clock.left())?;
        status = lp.solve()?;
    }
    match status {
        Status::Optimal => Ok(LpMinimum::Value(lp.objective())),
        Status::Infeasible => Ok(LpMinimum::Infeasible),
        Status::TimeLimit => Err(Interrupt::TimeLimit.into()),
        Status::Interrupted => Err(Interrupt::Interrupted.into()),
        Status::Unbounded | Status::InfeasibleOrUnbounded | Status::OtherLimit | Status::Failed => {
            Ok(LpMinimum::Unknown)
        }
    }
}

/// Widens a range that HiGHS computed, so that it is valid: an end that is zero up to rounding becomes zero, any other
/// moves outwards by HiGHS's tolerance.
pub(crate) fn widen_range(least: f64, most: f64) -> (f64, f64) {
    let end = |value: f64, sign: f64| match value {
        value if value.abs() <= ZERO_SLOPE_TOL => 0.0,
        value => value + sign * LP_BOUND_TOL * value.abs().max(1.0),
    };
    (end(least, -1.0), end(most, 1.0))
}

/// Returns the bound of a program from above, raised by HiGHS's tolerance.
pub(super) fn raised(bound: f64) -> f64 {
    bound + LP_BOUND_TOL * bound.abs().max(1.0)
}
