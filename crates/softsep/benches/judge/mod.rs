//! What a decision costs, for benches that watch a run.
#![allow(clippy::unwrap_used)]

use std::borrow::Cow;

use softsep::Problem;
use softsep::recourse::{Recourse, engine};
use softsep::run::Clock;
use softsep::separation::{Ascent, Ask, Scan, Separation};

/// What a decision costs in the worst case.
pub(crate) struct Judge<'p> {
    problem: &'p Problem,
    engine: Box<dyn Recourse>,
    scan: Option<Scan<'p>>,
    /// The worst scenarios of earlier decisions.
    pool: Vec<Vec<f64>>,
}

impl<'p> Judge<'p> {
    /// Nothing judged yet.
    pub(crate) fn new(problem: &'p Problem) -> Self {
        let scan = problem.set.is_finite_list().then(|| {
            let points = problem.set.enumerate(usize::MAX).unwrap();
            Scan::new(problem, Cow::Owned(points.into_owned())).unwrap()
        });
        Self { problem, engine: engine(problem, &Clock::unlimited()).unwrap(), scan, pool: Vec::new() }
    }

    /// f(x) and what the worst scenario found costs: all of a list, elsewhere the ends of ascents from earlier worst ones and from 20 random ends.
    pub(crate) fn cost(&mut self, x: &[f64]) -> f64 {
        let first = self.problem.first.value(x);
        if let Some(scan) = &mut self.scan {
            return first + scan.separate(x, &Ask::MAXIMUM, &Clock::unlimited()).unwrap().value;
        }
        let mut ascent = Ascent::new(self.problem, self.engine.as_mut(), x);
        for start in &self.pool {
            ascent.climb(start).unwrap();
        }
        ascent.climb_at_random(20, 7).unwrap();
        let (value, worst) = (ascent.value(), ascent.worst().to_vec());
        if !self.pool.contains(&worst) {
            self.pool.push(worst);
        }
        first + value
    }
}

/// The middle of some numbers.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
