//! The exact separation of a finite list: every point is asked, in chunks of a fixed size, so that the result does not depend on threads.

use rayon::prelude::*;

use super::Found;
use crate::error::Error;
use crate::format::Points;
use crate::model::Problem;
use crate::recourse::{Answer, RecourseError, engine};
use crate::run::Clock;

/// Points per chunk. Each chunk starts from one and the same basis: small enough to share work, large enough to profit from reuse.
const CHUNK: usize = 64;

/// The largest Q(x, ·) over `points`; the first of equals.
pub fn scan(problem: &Problem, x: &[f64], points: &Points, clock: &Clock) -> Result<Found, Error> {
    let Some(first) = points.iter().next() else {
        return Err(Error::Master("there is no scenario to scan".into()));
    };
    let mut lead = engine(problem, clock)?;
    lead.at(x);
    lead.solve(first, &mut Answer::new(problem))?;
    let start = lead.warm_start();
    let chunks: Vec<(usize, f64)> = (0..points.len().div_ceil(CHUNK))
        .into_par_iter()
        .map_init(
            || engine(problem, clock).map(|engine| (engine, Answer::new(problem))),
            |kept, chunk| {
                let (engine, answer) = kept.as_mut().map_err(|error| error.clone())?;
                clock.check()?;
                engine.start_from(&start)?;
                engine.at(x);
                let mut worst = (usize::MAX, f64::NEG_INFINITY);
                for row in chunk * CHUNK..((chunk + 1) * CHUNK).min(points.len()) {
                    engine.solve(points.row(row), answer)?;
                    // The cost of the decision found: what is reported from here is an upper bound.
                    if worst.0 == usize::MAX || answer.cost > worst.1 {
                        worst = (row, answer.cost);
                    }
                }
                Ok::<_, RecourseError>(worst)
            },
        )
        .collect::<Result<_, _>>()?;
    let mut worst = chunks[0];
    for &chunk in &chunks[1..] {
        if chunk.1 > worst.1 {
            worst = chunk;
        }
    }
    Ok(Found { xi: points.row(worst.0).to_vec(), value: worst.1, solves: points.len() as u64 + 1 })
}
