//! The level set of the cuts, and its point nearest to a decision.

use crate::cuts::CutPool;
use crate::error::Error;
use crate::master::{Metric, Projection};
use crate::model::Problem;
use crate::numeric::dot;
use crate::recourse::{Cut, CutKind};
use crate::run::Clock;

/// The largest number of rows. Above it the half with the smallest values at the incumbent is removed.
const MAX_ROWS: usize = 2000;

/// The decisions at which all minorants of the objective are at most a level and all feasibility cuts hold.
pub(super) struct LevelSet<'p> {
    problem: &'p Problem,
    projection: Projection,
    metric: Metric,
    minorants: Vec<Minorant>,
    feasibility_cuts: Vec<Cut>,
    gradient: Vec<f64>,
}

/// `intercept + slopeᵀx ≤ f(x) + max Q(x, ·)`, as a row of the projection.
struct Minorant {
    intercept: f64,
    slope: Vec<f64>,
    row: usize,
}

impl<'p> LevelSet<'p> {
    /// The level set without cuts.
    pub(super) fn new(problem: &'p Problem, clock: &Clock) -> Self {
        Self {
            problem,
            projection: Projection::new(problem, clock),
            metric: Metric::free_of_units(problem.first.dim()),
            minorants: Vec::new(),
            feasibility_cuts: Vec::new(),
            gradient: vec![0.0; problem.first.dim()],
        }
    }

    /// Adds cuts of the pool. A quadratic f is replaced by its tangent at `near`, which is a minorant.
    pub(super) fn add(&mut self, pool: &CutPool, cuts: &[usize], near: &[f64], clock: &Clock) {
        let first = &self.problem.first;
        self.gradient.copy_from_slice(&first.cost);
        first.quadratic.mul_add(1.0, near, &mut self.gradient);
        let tangent = first.value(near) - dot(&self.gradient, near);
        for cut in cuts.iter().map(|&cut| pool.cut(cut)) {
            match cut.kind {
                CutKind::Feasibility => {
                    self.projection.add_row(cut.intercept, &cut.slope);
                    self.feasibility_cuts.push(cut);
                }
                CutKind::Optimality => {
                    let slope: Vec<f64> =
                        cut.slope.iter().zip(&self.gradient).map(|(slope, gradient)| slope + gradient).collect();
                    if self.metric.see(&slope) {
                        self.projection.set_metric(self.metric.diagonal());
                    }
                    let intercept = cut.intercept + tangent;
                    let row = self.projection.add_row(intercept, &slope);
                    self.minorants.push(Minorant { intercept, slope, row });
                }
            }
        }
        if self.minorants.len() > MAX_ROWS {
            self.thin_out(near, clock);
        }
    }

    /// Removes the half of the minorants with the smallest values at `near`.
    fn thin_out(&mut self, near: &[f64], clock: &Clock) {
        let at = |minorant: &Minorant| minorant.intercept + dot(&minorant.slope, near);
        self.minorants.sort_by(|a, b| at(b).total_cmp(&at(a)));
        self.minorants.truncate(MAX_ROWS / 2);
        self.projection = Projection::new(self.problem, clock);
        self.projection.set_metric(self.metric.diagonal());
        self.feasibility_cuts.iter().for_each(|cut| _ = self.projection.add_row(cut.intercept, &cut.slope));
        for minorant in &mut self.minorants {
            minorant.row = self.projection.add_row(minorant.intercept, &minorant.slope);
        }
    }

    /// Returns the distance of two decisions in the metric of the projection.
    pub(super) fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        self.metric.distance(a, b)
    }

    /// Returns the point of the level set that is nearest to x, or `None` where the level set is empty, or too thin for
    /// the projection.
    pub(super) fn nearest(&mut self, x: &[f64], level: f64) -> Result<Option<Vec<f64>>, Error> {
        for minorant in &self.minorants {
            self.projection.set_intercept(minorant.row, minorant.intercept - level);
        }
        let mut point = x.to_vec();
        match self.projection.project(&mut point) {
            Ok(()) => Ok(Some(point)),
            Err(error) if error.is_interrupt() => Err(error),
            Err(_) => Ok(None),
        }
    }
}
