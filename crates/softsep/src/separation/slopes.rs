//! How steep Q(x, ·) can be: the ranges of its slopes over all duals, and what of the set they leave to be searched.
//!
//! The slopes are `s(π) = −Uᵀπ`, and Π depends neither on x nor on ξ: ranges are found once for a problem. So are those
//! of slopes in x. Where a slope has one sign on all of Π, Q never falls (or never rises) in that entry of ξ, and a
//! part of the set cannot hold all of its worst cases.

use std::sync::Arc;

use softsep_lp::{Algorithm, Lp, Model, Status, Toggle};

use crate::error::Error;
use crate::model::{Problem, Sparse};
use crate::recourse::{DualColumns, DualSet};
use crate::run::{Clock, Stop};
use crate::uncertainty::{Polytope, ShapeRow, States, Trend, Uncertainty};

/// An end of a range that is this small is zero: what HiGHS leaves of a sign.
const SIGN: f64 = 1e-9;

/// What HiGHS's tolerance may have kept back at the end of a range.
const MARGIN: f64 = 1e-7;

/// For each entry of ξ (or x), the least and the most that the slope of Q in it can be; infinite where the duals are
/// unbounded that way, or where HiGHS could not tell.
#[derive(Debug, Clone, PartialEq)]
pub struct SlopeRanges {
    /// The least.
    pub least: Vec<f64>,
    /// The most.
    pub most: Vec<f64>,
}

impl SlopeRanges {
    /// The ranges over all feasible duals of linear recourse with fixed costs; `None` if there is none, so that Q is ∞
    /// or −∞ everywhere.
    pub fn of(problem: &Problem, clock: &Clock) -> Result<Option<Self>, Error> {
        Self::over(DualSet::Feasible, problem, clock)
    }

    /// The same for the slopes of Q in the entries of x.
    pub(crate) fn in_x(problem: &Problem, clock: &Clock) -> Result<Option<Self>, Error> {
        Self::along(&problem.recourse.e, DualSet::Feasible, problem, clock)
    }

    pub(super) fn over(duals: DualSet, problem: &Problem, clock: &Clock) -> Result<Option<Self>, Error> {
        Self::along(&problem.recourse.u, duals, problem, clock)
    }

    /// The ranges of `−Mᵀπ`.
    fn along(matrix: &Sparse, duals: DualSet, problem: &Problem, clock: &Clock) -> Result<Option<Self>, Error> {
        let mut model = Model::new();
        let columns = DualColumns::write(&problem.recourse, duals, &mut model);
        let mut ranges = Self { least: vec![0.0; matrix.cols()], most: vec![0.0; matrix.cols()] };
        // Without columns HiGHS does not look at rows; there is one column at least here, which does nothing.
        let idle = model.add_col(0.0, 0.0, 0.0);
        let mut lp = bounding_program(&model, clock)?;
        let mut costs = vec![0.0; idle + 1];
        if extreme(&mut lp, &costs, clock)? == Extreme::Empty {
            return Ok(None);
        }
        // DualSet are of the size of the costs; rows have a common size.
        let dear = problem.recourse.cost.iter().fold(0.0_f64, |dear, cost| dear.max(cost.abs()));
        let dear = if dear > 0.0 && duals == DualSet::Feasible { dear } else { 1.0 };
        for (entry, terms) in columns.slopes(matrix).iter().enumerate() {
            // ξ may have any units: the slope is asked for in units of its largest coefficient.
            let unit = terms.iter().fold(0.0_f64, |largest, term| largest.max(term.1.abs()));
            let mut ends = [0.0; 2];
            for (end, sign) in ends.iter_mut().zip([1.0, -1.0]) {
                terms.iter().for_each(|&(col, value)| costs[col] = sign * value / unit);
                *end = match extreme(&mut lp, &costs, clock)? {
                    Extreme::At(value) => sign * value,
                    Extreme::Empty => return Ok(None),
                    Extreme::Unknown => -sign * f64::INFINITY,
                };
            }
            terms.iter().for_each(|&(col, _)| costs[col] = 0.0);
            let (least, most) = widened(ends[0] / dear, ends[1] / dear);
            let scaled = |end: f64| if end == 0.0 { 0.0 } else { end * dear * unit };
            (ranges.least[entry], ranges.most[entry]) = (scaled(least), scaled(most));
        }
        Ok(Some(ranges))
    }

    /// The trend of Q in each entry of ξ.
    pub fn trends(&self) -> Vec<Trend> {
        self.least.iter().zip(&self.most).map(|(&least, &most)| Trend::between(least, most)).collect()
    }

    /// The largest absolute slope in each entry; infinite where duals have no end.
    pub fn steepest(&self) -> Vec<f64> {
        self.least.iter().zip(&self.most).map(|(least, most)| least.abs().max(most.abs())).collect()
    }

    /// How far Q moves at most if each entry moves by its width; what does not move does not count, however steep.
    pub fn spread(&self, widths: &[f64]) -> f64 {
        let moving = self.steepest().into_iter().zip(widths).filter(|(_, width)| **width > 0.0);
        moving.map(|(steep, width)| steep * width).sum()
    }

    /// How steep Q is at most in the coordinates of a sphere of states: a bound on ‖Aᵀs‖ over all slopes s in the
    /// ranges, by the columns of Aᵀ.
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

    /// What is left of the polytope: a ζ along which Q never rises goes where others do not need it, one along which Q
    /// never falls goes to its end where no other limits it.
    pub fn reduce(&self, polytope: &Polytope) -> Polytope {
        let mut rows_of = vec![Vec::new(); polytope.columns.len()];
        for (number, row) in polytope.rows.iter().enumerate() {
            for &(column, coefficient) in row.terms.iter().filter(|term| term.1 != 0.0) {
                rows_of[column].push((number, coefficient));
            }
        }
        let fate = |column: usize| {
            let (entry, step) = polytope.columns[column];
            let (least, most) = if step > 0.0 {
                (step * self.least[entry], step * self.most[entry])
            } else {
                (step * self.most[entry], step * self.least[entry])
            };
            let takes_only =
                rows_of[column].iter().all(|&(row, coefficient)| coefficient >= 0.0 && !polytope.rows[row].equal);
            let alone = rows_of[column].iter().all(|&(row, _)| polytope.rows[row].terms.len() == 1);
            if !takes_only {
                return None;
            }
            let width = rows_of[column]
                .iter()
                .map(|&(row, coefficient)| polytope.rows[row].limit / coefficient)
                .fold(f64::INFINITY, f64::min);
            if most <= 0.0 {
                Some(0.0)
            } else if least >= 0.0 && alone && width.is_finite() {
                Some(width)
            } else {
                None
            }
        };
        let fates: Vec<Option<f64>> = (0..polytope.columns.len()).map(fate).collect();
        let mut reduced = Polytope { base: polytope.base.clone(), ..Polytope::default() };
        let mut place = vec![0; fates.len()];
        for (column, fate) in fates.iter().enumerate() {
            let (entry, step) = polytope.columns[column];
            match fate {
                Some(zeta) => reduced.base[entry] += step * zeta,
                None => {
                    place[column] = reduced.columns.len();
                    reduced.columns.push((entry, step));
                }
            }
        }
        for row in &polytope.rows {
            let settled: f64 = row.terms.iter().filter_map(|&(column, value)| Some(value * fates[column]?)).sum();
            let terms: Vec<(usize, f64)> = row
                .terms
                .iter()
                .filter(|&&(column, _)| fates[column].is_none())
                .map(|&(column, value)| (place[column], value))
                .collect();
            if !terms.is_empty() {
                reduced.rows.push(ShapeRow { terms, limit: row.limit - settled, equal: row.equal });
            }
        }
        reduced
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// The levels of each entry that a reduced polytope leaves, where the set has levels: one where the entry is settled.
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
            // Ends are sums that were rounded at the size of ξ, which may be far above the distance of levels.
            let spread = levels.last()? - levels.first()?;
            let slack = SIGN * spread.max(moves[entry]) + f64::EPSILON * 8.0 * (lower.abs() + upper.abs());
            levels.retain(|level| (lower - slack..=upper + slack).contains(level));
            Some(levels)
        })
        .collect()
}

/// The least and the most of each entry of ξ, by the rows that hold one ζ alone.
pub(super) fn ends(polytope: &Polytope) -> Vec<(f64, f64)> {
    let mut ends: Vec<(f64, f64)> = polytope.base.iter().map(|&base| (base, base)).collect();
    for (&(entry, step), width) in polytope.columns.iter().zip(widths(polytope)) {
        let end = polytope.base[entry] + step * width;
        ends[entry] = (ends[entry].0.min(end), ends[entry].1.max(end));
    }
    ends
}

/// How far each ζ may go by the rows that hold it alone.
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

/// What a linear program said about a minimum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Extreme {
    /// It is this, up to HiGHS's tolerance.
    At(f64),
    /// There is no feasible point.
    Empty,
    /// There is no minimum, or HiGHS could not tell.
    Unknown,
}

/// A program whose costs will be changed from solve to solve.
pub(crate) fn bounding_program(model: &Model, clock: &Clock) -> Result<Lp, Error> {
    let mut lp = Lp::new(model)?;
    // Costs change, the feasible set does not: each solve starts at the last one's vertex.
    lp.set_algorithm(Algorithm::PrimalSimplex)?;
    lp.set_presolve(Toggle::Off)?;
    lp.set_interrupt(Arc::clone(clock.interrupt()))?;
    Ok(lp)
}

/// The minimum of `costs` over a program.
pub(crate) fn extreme(lp: &mut Lp, costs: &[f64], clock: &Clock) -> Result<Extreme, Error> {
    clock.check()?;
    lp.set_time_limit(clock.left())?;
    lp.set_costs(costs)?;
    let mut status = lp.solve()?;
    if matches!(status, Status::Failed | Status::Infeasible | Status::InfeasibleOrUnbounded) {
        // From scratch once more: neither a vertex that went bad nor presolve must settle anything.
        lp.clear_solver()?;
        lp.set_presolve(Toggle::Off)?;
        lp.set_time_limit(clock.left())?;
        status = lp.solve()?;
    }
    match status {
        Status::Optimal => Ok(Extreme::At(lp.objective())),
        Status::Infeasible => Ok(Extreme::Empty),
        Status::TimeLimit => Err(Stop::TimeLimit.into()),
        Status::Interrupted => Err(Stop::Interrupted.into()),
        Status::Unbounded | Status::InfeasibleOrUnbounded | Status::OtherLimit | Status::Failed => Ok(Extreme::Unknown),
    }
}

/// A range as HiGHS found it, made safe: an end that is zero up to rounding is zero, any other is moved outwards by
/// HiGHS's tolerance.
pub(crate) fn widened(least: f64, most: f64) -> (f64, f64) {
    let end = |value: f64, sign: f64| match value {
        value if value.abs() <= SIGN => 0.0,
        value => value + sign * MARGIN * value.abs().max(1.0),
    };
    (end(least, -1.0), end(most, 1.0))
}
