//! Independent draws from ν, each climbed from, on several threads.

use rayon::prelude::*;

use super::{Looked, Trial};
use crate::error::Error;
use crate::model::Problem;
use crate::recourse::{Recourse, engine};
use crate::run::{Clock, Purpose, Random, stream};
use crate::separation::{Ascent, Found};
use crate::uncertainty::{State, States};

/// Drawers, each with a stream and a recourse engine of its own: what one does depends on no other, and so on no
/// thread.
const DRAWERS: u32 = 8;

/// Draws of one drawer before all of them are heard. The first rounds are shorter: a decision that is wrong is often
/// found out at once.
const ROUND: u64 = 64;

/// All drawers.
pub(super) struct Drawers {
    members: Vec<Drawer>,
}

struct Drawer {
    engine: Box<dyn Recourse>,
    random: Random,
    state: State,
    xi: Vec<f64>,
}

/// What one drawer did in a round.
struct Part {
    draws: u64,
    found: Option<Found>,
    is_stopped: bool,
}

impl Drawers {
    pub(super) fn new(problem: &Problem, states: &dyn States, clock: &Clock) -> Result<Self, Error> {
        let drawer = |label| {
            Ok::<_, Error>(Drawer {
                engine: engine(problem, clock)?,
                random: stream(0, Purpose::Verification, label),
                state: states.blank(),
                xi: vec![0.0; problem.set.dim()],
            })
        };
        Ok(Self { members: (0..DRAWERS).map(drawer).collect::<Result<_, _>>()? })
    }

    /// An engine to ask with.
    pub(super) fn engine(&mut self) -> &mut dyn Recourse {
        self.members[0].engine.as_mut()
    }

    /// So many draws, in rounds; a round that finds something is the last, and gives the worst of it. The order of
    /// draws is that of the rounds, then of the drawers: those before the first that a clock took away are the first of
    /// all draws, whatever the threads did.
    pub(super) fn draw(&mut self, trial: &Trial, count: u64) -> Result<Looked, Error> {
        let solves_before = self.solves();
        for (label, member) in (0_u32..).zip(&mut self.members) {
            // A new stream for every attempt.
            member.random = stream(trial.seed, Purpose::Verification, trial.attempt * DRAWERS + label);
        }
        let (mut draws, mut round) = (0, 1);
        while draws < count {
            let share = round.min((count - draws).div_ceil(u64::from(DRAWERS)));
            let left = count - draws;
            let parts: Vec<Result<Part, Error>> = self
                .members
                .par_iter_mut()
                .zip(0..DRAWERS)
                .map(|(member, place)| member.draw(trial, share.min(left.saturating_sub(u64::from(place) * share))))
                .collect();
            let parts = parts.into_iter().collect::<Result<Vec<Part>, Error>>()?;
            let is_stopped = parts.iter().any(|part| part.is_stopped);
            let whole = parts.iter().position(|part| part.is_stopped).map_or(parts.len(), |stopped| stopped + 1);
            draws += parts[..whole].iter().map(|part| part.draws).sum::<u64>();
            let worst =
                parts.into_iter().filter_map(|part| part.found).reduce(|a, b| if b.value > a.value { b } else { a });
            if let Some(found) = worst {
                return Ok(Looked::Refuted(Found { solves: self.solves() - solves_before, ..found }));
            }
            if is_stopped {
                break;
            }
            round = (2 * round).min(ROUND);
        }
        Ok(Looked::Missed { looks: draws, solves: self.solves() - solves_before })
    }

    fn solves(&self) -> u64 {
        self.members.iter().map(|member| member.engine.work().solves).sum()
    }
}

impl Drawer {
    /// So many draws, or as many as the clock allows, or until one is found that refutes the decision. Nothing is
    /// allocated for a draw.
    fn draw(&mut self, trial: &Trial, count: u64) -> Result<Part, Error> {
        let mut ascent = Ascent::new(trial.problem, self.engine.as_mut(), trial.x);
        for draws in 0..count {
            trial.states.draw(&mut self.random, &mut self.state);
            trial.states.realize(&self.state, &mut self.xi);
            match trial.clock.check().map_err(Error::from).and_then(|()| ascent.climb(&self.xi)) {
                Err(Error::Interrupted(_)) => return Ok(Part { draws, found: None, is_stopped: true }),
                climbed => climbed?,
            }
            if ascent.value() > trial.beyond {
                // If there is no time to say where, nothing is said at all.
                return Ok(Part { draws, found: Some(ascent.found()?), is_stopped: false });
            }
        }
        Ok(Part { draws: count, found: None, is_stopped: false })
    }
}
