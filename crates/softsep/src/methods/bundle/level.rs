//! The level set of the cuts: where they allow the objective to be as low as a level, and the point of it that is
//! nearest to a decision.

use crate::cuts::CutPool;
use crate::error::Error;
use crate::master::{Metric, Projection};
use crate::model::Problem;
use crate::numeric::dot;
use crate::recourse::{Cut, CutKind};
use crate::run::Clock;

/// Rows that are kept; then those that are lowest at the best decision go, down to half as many.
const ROWS: usize = 2000;

/// Minorants of the objective, and feasibility cuts.
pub(super) struct LevelSet<'p> {
    problem: &'p Problem,
    projection: Projection,
    metric: Metric,
    minorants: Vec<Minorant>,
    forbidding: Vec<Cut>,
    gradient: Vec<f64>,
}

/// `intercept + slopeᵀx ≤ f(x) + max Q(x, ·)`, as a row of the projection.
struct Minorant {
    intercept: f64,
    slope: Vec<f64>,
    row: usize,
}

impl<'p> LevelSet<'p> {
    pub(super) fn new(problem: &'p Problem, clock: &Clock) -> Self {
        Self {
            problem,
            projection: Projection::new(problem, clock),
            metric: Metric::free_of_units(problem.first.dim()),
            minorants: Vec::new(),
            forbidding: Vec::new(),
            gradient: vec![0.0; problem.first.dim()],
        }
    }

    /// Adds cuts of the pool; a quadratic f is replaced by its tangent at `near`, which is below it.
    pub(super) fn add(&mut self, pool: &CutPool, cuts: &[usize], near: &[f64], clock: &Clock) {
        let first = &self.problem.first;
        self.gradient.copy_from_slice(&first.cost);
        first.quadratic.mul_add(1.0, near, &mut self.gradient);
        let tangent = first.value(near) - dot(&self.gradient, near);
        for cut in cuts.iter().map(|&cut| pool.cut(cut)) {
            match cut.kind {
                CutKind::Feasibility => {
                    self.projection.add_row(cut.intercept, &cut.slope);
                    self.forbidding.push(cut);
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
        if self.minorants.len() > ROWS {
            self.thin_out(near, clock);
        }
    }

    fn thin_out(&mut self, near: &[f64], clock: &Clock) {
        let at = |minorant: &Minorant| minorant.intercept + dot(&minorant.slope, near);
        self.minorants.sort_by(|a, b| at(b).total_cmp(&at(a)));
        self.minorants.truncate(ROWS / 2);
        self.projection = Projection::new(self.problem, clock);
        self.projection.set_metric(self.metric.diagonal());
        self.forbidding.iter().for_each(|cut| _ = self.projection.add_row(cut.intercept, &cut.slope));
        for minorant in &mut self.minorants {
            minorant.row = self.projection.add_row(minorant.intercept, &minorant.slope);
        }
    }

    /// How far two decisions are from one another, as projections have it.
    pub(super) fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        self.metric.distance(a, b)
    }

    /// The point of the level set that is nearest to x; `None` where the level is out of reach, or too close to it for
    /// a projection.
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
