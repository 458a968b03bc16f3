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
        let first = self.problem.first.value(x);
        if let Some(scan) = &mut self.scan {
            let (clock, mut pool) = (Clock::unlimited(), CutPool::new(self.problem));
            return Ok(first + scan.separate(&Query::maximum(x, &clock), &mut pool)?.value);
        }
        let mut ascent = Ascent::new(self.problem, self.engine.as_mut(), x);
        for start in &self.pool {
            ascent.climb(start)?;
        }
        ascent.climb_at_random(RANDOM_STARTS, SEED)?;
        let (value, worst) = (ascent.value(), ascent.worst().to_vec());
        if !self.pool.contains(&worst) {
            self.pool.push(worst);
        }
        Ok(first + value)
    }
}
