//! The exact separation of a finite list. Every point is excluded by a bound or solved, in chunks of a fixed size, so
//! that the result does not depend on the number of threads.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use softsep_lp::MipSolver;

use super::bilinear::{Trial, Tried, Work};
use super::screen::{ScanQuery, Screen};
use super::worst::WorstRow;
use super::{Claim, Found, Query, Separation, worse};
use crate::cuts::CutPool;
use crate::definition::ScenarioList;
use crate::error::Error;
use crate::model::Problem;
use crate::recourse::{Answer, Recourse, RecourseBasis, RecourseError, engine};
use crate::run::Clock;

/// Scenarios per chunk. All chunks start from the same basis. Small enough to balance threads, large enough for bases
/// to be reused.
const CHUNK_SIZE: usize = 64;

/// Open points up to which a scan goes on without a trial of another search.
const MAX_OPEN: usize = 8192;

/// Points that are solved before the trial of another search: their pivots tell how long the scan of the others takes.
const FIRST_PIECE: usize = 2048;

/// The scan of all points of a list.
pub struct Scan<'p> {
    problem: &'p Problem,
    points: Cow<'p, ScenarioList>,
    /// The basis that every chunk starts from: that of the worst scenario of the last scan.
    start: RecourseBasis,
    /// The bounds that exclude points without a solve; `None` where every point is solved.
    screen: Option<Screen>,
    /// Recourse solves of the last scan that bounded all points; at first the number of points. Those that take as long
    /// as the trial where that answered.
    solves: u64,
    /// A search to try where bounds leave many points open.
    trial: Option<Trial<'p>>,
}

/// The worst scenario of a chunk.
struct ChunkWorst {
    row: usize,
    cost: f64,
    work: SolveWork,
}

/// Recourse solves, and pivots of them.
#[derive(Debug, Clone, Copy, Default)]
struct SolveWork {
    solves: u64,
    pivots: u64,
}

impl SolveWork {
    fn add(&mut self, other: Self) {
        self.solves += other.solves;
        self.pivots += other.pivots;
    }
}

impl<'p> Scan<'p> {
    /// A scan of `points`, which must not be empty.
    pub fn new(problem: &'p Problem, points: Cow<'p, ScenarioList>) -> Result<Self, Error> {
        if points.is_empty() {
            return Err(Error::Master("there is no scenario to scan".into()));
        }
        let screen = Screen::new(problem, &points);
        let solves = points.len() as u64;
        Ok(Self { problem, points, start: RecourseBasis::default(), screen, solves, trial: None })
    }

    /// The same scan, with a mixed-integer program to try where bounds leave many points open and it applies.
    pub(super) fn with_trial(self, solver: &MipSolver) -> Self {
        Self { trial: Trial::new(self.problem, solver).filter(|_| self.points.len() > MAX_OPEN), ..self }
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
        let mut worst = ChunkWorst { row: rows[0], cost: f64::NEG_INFINITY, work: SolveWork::default() };
        let pivots_before = engine.work().iterations;
        for &row in rows {
            engine.solve(self.points.row(row), answer)?;
            worst.work.solves += 1;
            if answer.cost > worst.cost {
                (worst.row, worst.cost) = (row, answer.cost);
            }
            if ends_scan(answer.cost, above) {
                break;
            }
        }
        worst.work.pivots = engine.work().iterations - pivots_before;
        Ok(worst)
    }

    /// Solves all `rows`, and returns the worst with its cost, and the work. Chunks after the first one
    /// with a scenario that ends the scan do not count, whether some thread has solved them or not.
    fn solve_all(
        &self,
        rows: &[usize],
        x: &[f64],
        above: f64,
        clock: &Clock,
    ) -> Result<(Option<(usize, f64)>, SolveWork), RecourseError> {
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
        let (mut worst, mut work): (Option<(usize, f64)>, SolveWork) = (None, SolveWork::default());
        for chunk in chunks {
            let Some(chunk) = chunk? else { break };
            work.add(chunk.work);
            if worst.is_none_or(|(_, cost)| chunk.cost > cost) {
                worst = Some((chunk.row, chunk.cost));
            }
            if ends_scan(chunk.cost, above) {
                break;
            }
        }
        Ok((worst, work))
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
        let mut rows = rows.as_slice();
        let is_screened = rows.len() < self.points.len();
        let mut work = SolveWork::default();
        let mut tried = None;
        // A scenario above the query's level ends the scan; the rows after it are not bounded.
        while !rows.is_empty() && worst.value <= above && worst.value < f64::INFINITY {
            let is_first = work.solves == 0 && self.trial.is_some() && rows.len() > MAX_OPEN;
            let (piece, others) = rows.split_at(if is_first { FIRST_PIECE } else { rows.len() });
            let (rest, piece_work) = match (self.solve_all(piece, x, above, clock), &tried) {
                // The bound of the trial holds.
                (Err(RecourseError::Interrupted(_)), Some(Tried { found, .. })) if found.claim != Claim::Nothing => {
                    return Ok(found.clone());
                }
                (solved, _) => solved?,
            };
            work.add(piece_work);
            rows = others;
            if let Some((row, cost)) = rest.filter(|(_, cost)| worst.row.is_none() || *cost > worst.value) {
                lead.start_from(&self.start)?;
                // The cost in the chunk and in this solve may differ in their last digits; the claim is the larger one.
                worst.solve(row, self.points.row(row), lead.as_mut())?;
                worst.value = worst.value.max(cost);
            }
            if let (Some(trial), Some(row), true) = (&mut self.trial, worst.row, is_first)
                && worst.value <= above
                && worst.value < f64::INFINITY
            {
                let open = rows.len() as u64;
                let expected = Work::of(open, open * work.pivots / work.solves.max(1));
                tried = trial.search(query, self.points.row(row), expected)?;
                if let Some(Tried { found, is_settled }) = &tried
                    && (*is_settled || clock.check().is_err() && found.claim != Claim::Nothing)
                {
                    let solves = lead.work().solves + work.solves + found.solves;
                    self.solves = if *is_settled { solves } else { self.solves };
                    return Ok(Found { solves, ..found.clone() });
                }
            }
        }
        let solves = work.solves;
        let at_most = if is_screened { worst.tie_level() } else { worst.value };
        let is_ended = worst.value > above && worst.value < f64::INFINITY;
        let solves = solves + lead.work().solves;
        // A scan that ended early may have met its scenario at once.
        self.solves = if is_ended { self.solves } else { solves };
        self.start = worst.start;
        let xi = self.points.row(worst.row.unwrap_or(0)).to_vec();
        let claim = if is_ended { Claim::Nothing } else { Claim::Surely(at_most) };
        let found = Found { value: worst.value, cut: worst.cut, claim, solves, nodes: 0, exact: 1, xi };
        Ok(match tried {
            // One exact separation, whatever it consists of.
            Some(tried) => worse(found, Found { claim: Claim::Nothing, exact: 0, ..tried.found }),
            None => found,
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
