//! The exact separation of a finite list. Every point is excluded by a bound or solved, in chunks of a fixed size, so
//! that the result does not depend on the number of threads.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::screen::{ScanQuery, Screen};
use super::worst::WorstRow;
use super::{Claim, Found, Query, Separation};
use crate::cuts::CutPool;
use crate::definition::ScenarioList;
use crate::error::Error;
use crate::model::Problem;
use crate::recourse::{Answer, Recourse, RecourseBasis, RecourseError, engine};
use crate::run::Clock;

/// Scenarios per chunk. All chunks start from the same basis. Small enough to balance threads, large enough for bases
/// to be reused.
const CHUNK_SIZE: usize = 64;

/// The scan of all points of a list.
pub struct Scan<'p> {
    problem: &'p Problem,
    points: Cow<'p, ScenarioList>,
    /// The basis that every chunk starts from: that of the worst scenario of the last scan.
    start: RecourseBasis,
    /// The bounds that exclude points without a solve; `None` where every point is solved.
    screen: Option<Screen>,
    /// Recourse solves of the last scan that bounded all points; at first the number of points.
    solves: u64,
}

/// The worst scenario of a chunk.
struct ChunkWorst {
    row: usize,
    cost: f64,
    solves: u64,
}

impl<'p> Scan<'p> {
    /// A scan of `points`, which must not be empty.
    pub fn new(problem: &'p Problem, points: Cow<'p, ScenarioList>) -> Result<Self, Error> {
        if points.is_empty() {
            return Err(Error::Master("there is no scenario to scan".into()));
        }
        let screen = Screen::new(problem, &points);
        let solves = points.len() as u64;
        Ok(Self { problem, points, start: RecourseBasis::default(), screen, solves })
    }

    /// A scan of `points` that solves every point: the reference for tests of the screening.
    pub fn plain(problem: &'p Problem, points: Cow<'p, ScenarioList>) -> Result<Self, Error> {
        Ok(Self { screen: None, ..Self::new(problem, points)? })
    }

    /// Returns the worst scenario of a chunk, the first of equals. Ends at a scenario that costs more than `above` or
    /// has no recourse.
    fn worst_of(
        &self,
        rows: &[usize],
        x: &[f64],
        above: f64,
        engine: &mut dyn Recourse,
        answer: &mut Answer,
    ) -> Result<ChunkWorst, RecourseError> {
        engine.start_from(&self.start)?;
        engine.at(x);
        let mut worst = ChunkWorst { row: rows[0], cost: f64::NEG_INFINITY, solves: 0 };
        for &row in rows {
            engine.solve(self.points.row(row), answer)?;
            worst.solves += 1;
            if answer.cost > worst.cost {
                (worst.row, worst.cost) = (row, answer.cost);
            }
            if ends_scan(answer.cost, above) {
                break;
            }
        }
        Ok(worst)
    }

    /// Solves all `rows`, and returns the worst with its cost, and the number of solves. Chunks after the first one
    /// with a scenario that ends the scan do not count, whether some thread has solved them or not.
    fn solve_all(
        &self,
        rows: &[usize],
        x: &[f64],
        above: f64,
        clock: &Clock,
    ) -> Result<(Option<(usize, f64)>, u64), RecourseError> {
        let end = AtomicUsize::new(usize::MAX);
        let chunks: Vec<Result<Option<ChunkWorst>, RecourseError>> = rows
            .par_chunks(CHUNK_SIZE)
            .enumerate()
            .map_init(
                || engine(self.problem, clock).map(|engine| (engine, Answer::new(self.problem))),
                |kept, (index, rows)| {
                    let (engine, answer) = kept.as_mut().map_err(|error| error.clone())?;
                    clock.check()?;
                    if index > end.load(Ordering::Relaxed) {
                        return Ok(None);
                    }
                    let chunk = self.worst_of(rows, x, above, engine.as_mut(), answer)?;
                    if ends_scan(chunk.cost, above) {
                        end.fetch_min(index, Ordering::Relaxed);
                    }
                    Ok(Some(chunk))
                },
            )
            .collect();
        let (mut worst, mut solves): (Option<(usize, f64)>, u64) = (None, 0);
        for chunk in chunks {
            let Some(chunk) = chunk? else { break };
            solves += chunk.solves;
            if worst.is_none_or(|(_, cost)| chunk.cost > cost) {
                worst = Some((chunk.row, chunk.cost));
            }
            if ends_scan(chunk.cost, above) {
                break;
            }
        }
        Ok((worst, solves))
    }
}

impl Separation for Scan<'_> {
    fn separate(&mut self, query: &Query, _pool: &mut CutPool) -> Result<Found, Error> {
        let (x, clock, above) = (query.x, query.clock, query.above.unwrap_or(f64::INFINITY));
        let mut lead = engine(self.problem, clock)?;
        lead.start_from(&self.start)?;
        lead.at(x);
        let mut worst = WorstRow::new(self.problem);
        let rows = match &mut self.screen {
            Some(screen) => {
                let scan_query = ScanQuery { problem: self.problem, points: &self.points, x, above, clock };
                screen.settle(scan_query, lead.as_mut(), &mut worst)?
            }
            None => (0..self.points.len()).collect(),
        };
        if self.start.is_cold() && worst.row.is_none() {
            // One solve gives a basis that all chunks start from.
            worst.solve(0, self.points.row(0), lead.as_mut())?;
        }
        if worst.row.is_some() {
            self.start = worst.start.clone();
        }
        // A scenario above the query's level ends the scan; the rows after it are not bounded.
        let (rest, solves) = match worst.value > above {
            true => (None, 0),
            false => self.solve_all(&rows, x, above, clock)?,
        };
        if let Some((row, cost)) = rest
            && (worst.row.is_none() || cost > worst.value)
        {
            lead.start_from(&self.start)?;
            // The cost in the chunk and in this solve may differ in their last digits; the claim is the larger one.
            worst.solve(row, self.points.row(row), lead.as_mut())?;
            worst.value = worst.value.max(cost);
        }
        let at_most = if rows.len() < self.points.len() { worst.tie_level() } else { worst.value };
        let is_ended = worst.value > above && worst.value < f64::INFINITY;
        let solves = solves + lead.work().solves;
        // A scan that ended early may have met its scenario at once.
        self.solves = if is_ended { self.solves } else { solves };
        self.start = worst.start;
        let xi = self.points.row(worst.row.unwrap_or(0)).to_vec();
        Ok(Found {
            value: worst.value,
            cut: worst.cut,
            claim: if is_ended { Claim::Nothing } else { Claim::Surely(at_most) },
            solves,
            nodes: 0,
            exact: 1,
            xi,
        })
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn expected_solves(&self) -> Option<u64> {
        Some(self.solves)
    }
}

/// Whether a scenario of this cost ends a scan: it is above the query's level, or has no recourse.
fn ends_scan(cost: f64, above: f64) -> bool {
    cost > above || cost == f64::INFINITY
}
