//! Independent draws from ν, with an ascent from each, on several threads.

use rayon::prelude::*;

use super::{Attempt, AttemptOutcome};
use crate::error::Error;
use crate::model::Problem;
use crate::recourse::{Recourse, engine};
use crate::run::{Clock, Purpose, Random, stream};
use crate::separation::{Ascent, Found};
use crate::uncertainty::{State, States};

/// The number of samplers. Each has a random stream and a recourse engine of its own, so that results do not depend on
/// the number of threads.
const SAMPLERS: u32 = 8;

/// The largest number of draws of a sampler in a round. The first rounds are shorter: a false statement is often
/// refuted by few draws.
const MAX_ROUND_DRAWS: u64 = 64;

/// All samplers of a run.
pub(super) struct Samplers {
    samplers: Vec<Sampler>,
}

struct Sampler {
    engine: Box<dyn Recourse>,
    random: Random,
    state: State,
    xi: Vec<f64>,
}

/// The result of a sampler's draws in a round.
struct RoundOutcome {
    draws: u64,
    found: Option<Found>,
    is_stopped: bool,
}

impl Samplers {
    pub(super) fn new(problem: &Problem, states: &dyn States, clock: &Clock) -> Result<Self, Error> {
        let sampler = |label| {
            Ok::<_, Error>(Sampler {
                engine: engine(problem, clock)?,
                random: stream(0, Purpose::Verification, label),
                state: states.blank(),
                xi: vec![0.0; problem.set.dim()],
            })
        };
        Ok(Self { samplers: (0..SAMPLERS).map(sampler).collect::<Result<_, _>>()? })
    }

    /// Returns a recourse engine.
    pub(super) fn engine(&mut self) -> &mut dyn Recourse {
        self.samplers[0].engine.as_mut()
    }

    /// Makes `count` draws, in rounds. The first round with a refuting scenario is the last, and returns the worst of
    /// these. Draws are ordered by rounds, then by samplers. Where the clock stops a sampler, only the draws up to its
    /// last one count: these are the first ones in that order, independently of the threads.
    pub(super) fn draw(&mut self, attempt: &Attempt, count: u64) -> Result<AttemptOutcome, Error> {
        let solves_before = self.solves();
        for (label, sampler) in (0_u32..).zip(&mut self.samplers) {
            // A new stream for every attempt.
            sampler.random = stream(attempt.seed, Purpose::Verification, attempt.number * SAMPLERS + label);
        }
        let (mut draws, mut round) = (0, 1);
        while draws < count {
            let share = round.min((count - draws).div_ceil(u64::from(SAMPLERS)));
            let left = count - draws;
            let outcomes: Vec<Result<RoundOutcome, Error>> = self
                .samplers
                .par_iter_mut()
                .zip(0..SAMPLERS)
                .map(|(sampler, label)| sampler.draw(attempt, share.min(left.saturating_sub(u64::from(label) * share))))
                .collect();
            let outcomes = outcomes.into_iter().collect::<Result<Vec<RoundOutcome>, Error>>()?;
            let is_stopped = outcomes.iter().any(|outcome| outcome.is_stopped);
            let counted =
                outcomes.iter().position(|outcome| outcome.is_stopped).map_or(outcomes.len(), |stopped| stopped + 1);
            draws += outcomes[..counted].iter().map(|outcome| outcome.draws).sum::<u64>();
            let worst = outcomes
                .into_iter()
                .filter_map(|outcome| outcome.found)
                .reduce(|a, b| if b.value > a.value { b } else { a });
            if let Some(found) = worst {
                return Ok(AttemptOutcome::Refuted(Found { solves: self.solves() - solves_before, ..found }));
            }
            if is_stopped {
                break;
            }
            round = (2 * round).min(MAX_ROUND_DRAWS);
        }
        Ok(AttemptOutcome::NotRefuted { evaluations: draws, solves: self.solves() - solves_before })
    }

    fn solves(&self) -> u64 {
        self.samplers.iter().map(|sampler| sampler.engine.work().solves).sum()
    }
}

impl Sampler {
    /// Makes `count` draws, or as many as the clock allows, or until one refutes the decision. A draw allocates
    /// nothing.
    fn draw(&mut self, attempt: &Attempt, count: u64) -> Result<RoundOutcome, Error> {
        let mut ascent = Ascent::new(attempt.problem, self.engine.as_mut(), attempt.x);
        for draws in 0..count {
            attempt.states.draw(&mut self.random, &mut self.state);
            attempt.states.realize(&self.state, &mut self.xi);
            match attempt.clock.check().map_err(Error::from).and_then(|()| ascent.climb(&self.xi)) {
                Err(Error::Interrupted(_)) => return Ok(RoundOutcome { draws, found: None, is_stopped: true }),
                climbed => climbed?,
            }
            if ascent.value() > attempt.refutation_level {
                // Errs if there is no time to solve for the cut of the refuting scenario.
                return Ok(RoundOutcome { draws, found: Some(ascent.found()?), is_stopped: false });
            }
        }
        Ok(RoundOutcome { draws: count, found: None, is_stopped: false })
    }
}
