//! Rays of a problem whose costs move with ξ: whether its objective falls without end, or a scenario that bounds it.
//!
//! At a scenario the objective falls without end if a ray (dx, dy) of the rows has `cᵀdx + (b + Bξ)ᵀdy < 0`. One
//! scenario without such a ray bounds the whole problem from below. Over a convex set the maximum over ξ and the
//! minimum over the rays in the unit cube are those of a bilinear function, and may be interchanged: either one ray
//! falls at every scenario, or there is a scenario where none does. Cutting planes over the rays find which: each
//! scenario at which the last ray rises joins a linear program, and the duals of the last one weight the scenarios to
//! one without a falling ray.

use std::sync::Arc;

use softsep_lp::{Lp, Model, Status};

use crate::error::Error;
use crate::model::{Problem, Sparse, Symmetric};
use crate::numeric::dot;
use crate::numeric::tolerances::RAY_SUPPORT_TOL;
use crate::run::{Clock, Unbounded};

/// The fall of a ray in the unit cube, as a share of the largest cost, below which it does not count.
const FALL_TOL: f64 = 1e-7;

/// The largest number of scenarios in the program.
const MAX_SCENARIOS: usize = 200;

/// The rays of a problem.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Recession {
    /// No ray falls at this scenario.
    Bounded(Vec<f64>),
    /// A ray falls at every scenario: if some decision is feasible, the problem is unbounded.
    Falls(Unbounded),
    /// Not known: a list, which has no scenarios between its own, or cones, whose rays are not searched.
    Unknown,
}

impl Recession {
    /// Searches the rays of a problem. The nominal scenario is the one returned where it bounds the problem.
    pub(crate) fn of(problem: &Problem, clock: &Clock) -> Result<Self, Error> {
        let dim = problem.set.dim();
        let mut nominal = vec![0.0; dim];
        problem.set.nominal(&mut nominal);
        let mut rays = RayProgram::new(problem, clock)?;
        rays.add(&nominal)?;
        let Some(Ray::None(_)) = rays.solve()? else {
            return if problem.set.is_finite_list() { Ok(Self::Unknown) } else { rays.search(&nominal) };
        };
        Ok(Self::Bounded(nominal))
    }
}

/// The result of the program.
enum Ray {
    /// A ray that falls at every scenario of the program, and its steepest fall.
    Falling(Vec<f64>, f64),
    /// There is none; a mixture of the scenarios has none either.
    None(Vec<f64>),
}

/// The program of the steepest ray in the unit cube over the scenarios added. Its columns are dx, dy and the largest
/// recourse cost along the ray.
struct RayProgram<'p> {
    problem: &'p Problem,
    lp: Lp,
    scenarios: Vec<Vec<f64>>,
    /// Rows before those of scenarios.
    fixed_rows: usize,
    /// The largest cost, in units of which the program is written.
    unit: f64,
    clock: &'p Clock,
}

impl<'p> RayProgram<'p> {
    fn new(problem: &'p Problem, clock: &'p Clock) -> Result<Self, Error> {
        let (first, recourse) = (&problem.first, &problem.recourse);
        let costs = first.cost.iter().chain(&recourse.cost);
        let moving = (0..recourse.dim()).flat_map(|j| recourse.cost_xi.row(j)).map(|(_, value)| value.abs());
        let unit = costs.map(|cost| cost.abs()).chain(moving).fold(0.0_f64, f64::max).max(f64::MIN_POSITIVE);
        let mut model = Model::new();
        let along = |bound: f64| if bound.is_finite() { 0.0 } else { bound.signum() };
        for j in 0..first.dim() {
            model.add_col(first.cost[j] / unit, along(first.lower[j]), along(first.upper[j]));
        }
        for j in 0..recourse.dim() {
            model.add_col(0.0, along(recourse.lower[j]), along(recourse.upper[j]));
        }
        model.add_col(1.0, f64::NEG_INFINITY, f64::INFINITY);
        let limit = |bound: f64| if bound.is_finite() { 0.0 } else { bound };
        let mut add = |lower: f64, upper: f64, terms: Vec<(usize, f64)>| {
            model.add_row(limit(lower), limit(upper), &terms);
        };
        for i in 0..first.rows.rows() {
            add(first.row_lower[i], first.row_upper[i], first.rows.row(i).collect());
        }
        for i in 0..recourse.rows() {
            let moved = recourse.g.row(i).map(|(j, value)| (first.dim() + j, value));
            add(recourse.row_lower[i], recourse.row_upper[i], recourse.e.row(i).chain(moved).collect());
        }
        // A quadratic cost rises along every ray that it sees.
        for (square, offset, dim) in
            [(&first.quadratic, 0, first.dim()), (&recourse.quadratic, first.dim(), recourse.dim())]
        {
            for terms in gradient_rows(square, offset, dim) {
                add(0.0, 0.0, terms);
            }
        }
        let fixed_rows = model.rows();
        let mut lp = Lp::new(&model)?;
        lp.set_interrupt(Arc::clone(clock.interrupt()))?;
        Ok(Self { problem, lp, scenarios: Vec::new(), fixed_rows, unit, clock })
    }

    /// Adds a scenario: the cost along the ray is at least the one there.
    fn add(&mut self, xi: &[f64]) -> Result<(), Error> {
        let (first, recourse) = (self.problem.first.dim(), self.problem.recourse.dim());
        let mut costs = vec![0.0; recourse];
        self.problem.recourse.cost_at(xi, &mut costs);
        let terms: Vec<(usize, f64)> = costs
            .iter()
            .enumerate()
            .map(|(j, cost)| (first + j, -cost / self.unit))
            .filter(|(_, cost)| *cost != 0.0)
            .chain([(first + recourse, 1.0)])
            .collect();
        let mut rows = Model::new();
        rows.add_row(0.0, f64::INFINITY, &terms);
        self.lp.add_rows(&rows)?;
        self.scenarios.push(xi.to_vec());
        Ok(())
    }

    /// Solves the program; `None` if HiGHS fails.
    fn solve(&mut self) -> Result<Option<Ray>, Error> {
        self.lp.set_time_limit(self.clock.left())?;
        let status = self.lp.solve()?;
        self.clock.check()?;
        if status != Status::Optimal {
            return Ok(None);
        }
        let fall = self.lp.objective();
        if fall < -FALL_TOL {
            let mut ray = vec![0.0; self.lp.cols()];
            self.lp.primal(&mut ray)?;
            return Ok(Some(Ray::Falling(ray, fall)));
        }
        let mut duals = vec![0.0; self.lp.rows()];
        self.lp.dual(&mut duals)?;
        let weights: Vec<f64> = duals[self.fixed_rows..].iter().map(|weight| weight.abs()).collect();
        let total: f64 = weights.iter().sum();
        let mut mixed = vec![0.0; self.problem.set.dim()];
        for (xi, weight) in self.scenarios.iter().zip(&weights) {
            mixed.iter_mut().zip(xi).for_each(|(mixed, xi)| *mixed += weight / total * xi);
        }
        Ok(Some(Ray::None(mixed)))
    }

    /// Adds scenarios until a ray falls everywhere or none does at some mixture of them.
    fn search(&mut self, nominal: &[f64]) -> Result<Recession, Error> {
        let (first, recourse) = (&self.problem.first, &self.problem.recourse);
        let (mut direction, mut xi) = (vec![0.0; nominal.len()], vec![0.0; nominal.len()]);
        let mut costs = vec![0.0; recourse.dim()];
        while self.scenarios.len() < MAX_SCENARIOS {
            let (ray, fall) = match self.solve()? {
                Some(Ray::Falling(ray, fall)) => (ray, fall),
                Some(Ray::None(mixed)) => return self.further_inside(nominal, mixed),
                None => return Ok(Recession::Unknown),
            };
            let (dx, rest) = ray.split_at(first.dim());
            let dy = &rest[..recourse.dim()];
            direction.fill(0.0);
            recourse.cost_xi.transpose_mul_add(1.0, dy, &mut direction);
            self.problem.set.support(&direction, &mut xi)?;
            recourse.cost_at(&xi, &mut costs);
            let falls_by = (dot(&first.cost, dx) + dot(&costs, dy)) / self.unit;
            if falls_by < 0.5 * fall {
                let used = |entries: &[f64]| -> Vec<usize> {
                    let is_used = |&j: &usize| entries[j].abs() > RAY_SUPPORT_TOL;
                    (0..entries.len()).filter(is_used).collect()
                };
                // Rays of cones were not searched.
                let is_ray = recourse.cones.is_empty();
                let falls = || Recession::Falls(Unbounded { first: used(dx), recourse: used(dy) });
                return Ok(if is_ray { falls() } else { Recession::Unknown });
            }
            self.add(&xi)?;
        }
        Ok(Recession::Unknown)
    }

    /// Moves a scenario that bounds the problem away from the nominal one, which does not, while it still does: at the
    /// edge the recourse costs are bounded by rounding alone.
    fn further_inside(&self, nominal: &[f64], edge: Vec<f64>) -> Result<Recession, Error> {
        let away: Vec<f64> = edge.iter().zip(nominal).map(|(edge, nominal)| edge - nominal).collect();
        let (_, most) = self.problem.set.chord(&edge, &away);
        for share in [0.5, 0.1] {
            let step = if most.is_finite() { share * most } else { 0.0 };
            let inside: Vec<f64> = edge.iter().zip(&away).map(|(edge, away)| edge + step * away).collect();
            let mut rays = RayProgram::new(self.problem, self.clock)?;
            rays.add(&inside)?;
            if matches!(rays.solve()?, Some(Ray::None(_))) {
                return Ok(Recession::Bounded(inside));
            }
        }
        Ok(Recession::Bounded(edge))
    }
}

/// The rows of a symmetric matrix that are not zero, over columns that begin at `offset`.
fn gradient_rows(square: &Symmetric, offset: usize, dim: usize) -> Vec<Vec<(usize, f64)>> {
    if square.is_zero() {
        return Vec::new();
    }
    let mut rows = Sparse::new(dim);
    let (mut unit, mut row) = (vec![0.0; dim], vec![0.0; dim]);
    for j in 0..dim {
        unit[j] = 1.0;
        row.fill(0.0);
        square.mul_add(1.0, &unit, &mut row);
        unit[j] = 0.0;
        rows.push_row(row.iter().copied().enumerate().filter(|(_, value)| *value != 0.0));
    }
    (0..dim)
        .map(|j| rows.row(j).map(|(k, value)| (offset + k, value)).collect::<Vec<_>>())
        .filter(|terms| !terms.is_empty())
        .collect()
}
