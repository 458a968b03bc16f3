//! Worst-case costs of decisions, computed apart from the run that finds them: for benches and reproductions.

use super::{Ascent, Query, Scan, Separation};
use crate::cuts::CutPool;
use crate::error::Error;
use crate::model::Problem;
use crate::recourse::{Recourse, engine};
use crate::run::Clock;

/// The number of ascents from random directions, besides those from the worst scenarios of earlier decisions.
const RANDOM_STARTS: usize = 20;

/// One seed for all runs, so that a decision has the same cost in each.
const SEED: u64 = 7;

/// Computes worst-case costs of decisions, one after another.
pub struct Assessor<'p> {
    problem: &'p Problem,
    engine: Box<dyn Recourse>,
    scan: Option<Scan<'p>>,
    /// The worst scenarios of earlier decisions.
    pool: Vec<Vec<f64>>,
}

impl<'p> Assessor<'p> {
    /// An assessor of decisions for `problem`.
    pub fn new(problem: &'p Problem) -> Result<Self, Error> {
        let points = problem.set.is_finite_list().then(|| problem.set.enumerate(usize::MAX).ok()).flatten();
        let scan = points.map(|points| Scan::new(problem, points)).transpose()?;
        Ok(Self { problem, engine: engine(problem, &Clock::unlimited())?, scan, pool: Vec::new() })
    }

    /// Whether costs are worst cases, rather than the largest costs found by ascents.
    pub fn is_exact(&self) -> bool {
        self.scan.is_some()
    }

    /// Returns f(x) plus the largest recourse cost: over a list by enumeration, elsewhere by ascents.
    pub fn cost(&mut self, x: &[f64]) -> Result<f64, Error> {
        self.cost_up_to(x, f64::INFINITY)
    }

    /// Returns the cost of x, as [`Assessor::cost`] does, if it is at most `level`. Otherwise returns a cost above it
    /// that x has in a scenario of the set, at the end of an ascent: enumeration takes long at bad decisions.
    pub fn cost_up_to(&mut self, x: &[f64], level: f64) -> Result<f64, Error> {
        let first = self.problem.first.value(x);
        let above = level - first;
        let Some(scan) = &mut self.scan else { return Ok(first + self.ascend(x, above)?) };
        let mut ascent = Ascent::new(self.problem, self.engine.as_mut(), x);
        for known in self.pool.iter().rev() {
            if ascent.evaluate(known)?.value > above {
                ascent.climb(known)?;
                return Ok(first + ascent.value());
            }
        }
        let (clock, mut cuts) = (Clock::unlimited(), CutPool::new(self.problem));
        let query = Query { above: Some(above), ..Query::maximum(x, &clock) };
        let found = scan.separate(&query, &mut cuts)?;
        if found.value > above {
            ascent.climb(&found.xi)?;
        }
        let value = ascent.value().max(found.value);
        if !self.pool.contains(&found.xi) {
            self.pool.push(found.xi);
        }
        Ok(first + value)
    }

    /// Returns the largest recourse cost at the ends of all ascents, or the first one above `above`.
    fn ascend(&mut self, x: &[f64], above: f64) -> Result<f64, Error> {
        let mut ascent = Ascent::new(self.problem, self.engine.as_mut(), x);
        for start in self.pool.iter().rev() {
            ascent.climb(start)?;
            if ascent.value() > above {
                return Ok(ascent.value());
            }
        }
        ascent.climb_at_random(RANDOM_STARTS, SEED)?;
        let (value, worst) = (ascent.value(), ascent.worst().to_vec());
        if !self.pool.contains(&worst) {
            self.pool.push(worst);
        }
        Ok(value)
    }
}
