//! The exact separation of a finite list: every point is asked, in chunks of a fixed size, so that the result does not depend on threads.

use std::borrow::Cow;

use rayon::prelude::*;

use super::{Ask, Claim, Found, Separation};
use crate::error::Error;
use crate::format::Points;
use crate::model::Problem;
use crate::recourse::{Answer, Recourse, RecourseError, WarmStart, engine};
use crate::run::Clock;

/// Points per chunk. Each chunk starts from one and the same basis: small enough to share work, large enough to profit from reuse.
const CHUNK: usize = 64;

/// All points, asked one by one.
pub struct Scan<'p> {
    problem: &'p Problem,
    points: Cow<'p, Points>,
    /// Where every chunk starts: the basis of the worst scenario of the last scan.
    start: WarmStart,
}

impl<'p> Scan<'p> {
    /// A scan of `points`, which must not be empty.
    pub fn new(problem: &'p Problem, points: Cow<'p, Points>) -> Result<Self, Error> {
        if points.is_empty() {
            return Err(Error::Master("there is no scenario to scan".into()));
        }
        Ok(Self { problem, points, start: WarmStart::default() })
    }

    /// The worst of one chunk: the first of equals.
    fn worst_of(
        &self,
        chunk: usize,
        x: &[f64],
        engine: &mut dyn Recourse,
        answer: &mut Answer,
    ) -> Result<(usize, f64), RecourseError> {
        engine.start_from(&self.start)?;
        engine.at(x);
        let mut worst = (chunk * CHUNK, f64::NEG_INFINITY);
        for row in chunk * CHUNK..((chunk + 1) * CHUNK).min(self.points.len()) {
            engine.solve(self.points.row(row), answer)?;
            // The cost of the decision found: what is claimed from here is an upper bound.
            if answer.cost > worst.1 {
                worst = (row, answer.cost);
            }
        }
        Ok(worst)
    }
}

impl Separation for Scan<'_> {
    fn separate(&mut self, x: &[f64], _ask: &Ask, clock: &Clock) -> Result<Found, Error> {
        let mut lead = engine(self.problem, clock)?;
        let mut answer = Answer::new(self.problem);
        lead.at(x);
        if self.start.is_cold() {
            // One solve gives all chunks a basis to start from.
            lead.solve(self.points.row(0), &mut answer)?;
            self.start = lead.warm_start();
        }
        let chunks: Vec<(usize, f64)> = (0..self.points.len().div_ceil(CHUNK))
            .into_par_iter()
            .map_init(
                || engine(self.problem, clock).map(|engine| (engine, Answer::new(self.problem))),
                |kept, chunk| {
                    let (engine, answer) = kept.as_mut().map_err(|error| error.clone())?;
                    clock.check()?;
                    self.worst_of(chunk, x, engine.as_mut(), answer)
                },
            )
            .collect::<Result<_, _>>()?;
        let mut worst = chunks[0];
        for &chunk in &chunks[1..] {
            if chunk.1 > worst.1 {
                worst = chunk;
            }
        }
        let xi = self.points.row(worst.0).to_vec();
        lead.start_from(&self.start)?;
        lead.solve(&xi, &mut answer)?;
        self.start = lead.warm_start();
        // The scan and the solve after it may differ in their last digits; the claim takes the larger.
        let value = worst.1.max(answer.cost);
        Ok(Found {
            value,
            cut: answer.cut(),
            claim: Claim::Surely(value),
            solves: self.points.len() as u64 + lead.work().solves,
            nodes: 0,
            xi,
        })
    }
}
