//! Calls of the oracle at a fixed decision, as in the paper's Algorithm 3: one transition of a chain each.
//!
//! From any state that is not a worst one, a transition reaches a worst one with probability at least 1 − ρ (eq.
//! certification-detection). If the bound is false, the evaluation of a worst state refutes the decision. So all of r
//! transitions miss it with probability at most ρʳ, for every start of the chain; here it starts at a draw from ν. The
//! paper's factor δ̂(k) ≤ 1, for a chain that continues from earlier decisions, is left at 1: each attempt has a new
//! chain.

use rand::RngExt;

use super::{Attempt, AttemptOutcome};
use crate::chain::{Acceptance, Chain, TransitionKernel};
use crate::error::Error;
use crate::proposal::Uniform;
use crate::recourse::{Recourse, RecourseError};
use crate::run::{Purpose, stream};
use crate::separation::Ascent;

/// Makes `calls` transitions, or as many as the clock allows, or until one finds a scenario that refutes the decision.
///
/// Candidates are independent draws: for these the kernel is that of Definition 1, whichever dual a degenerate recourse
/// returns.
pub(super) fn call(
    attempt: &Attempt,
    temperature: f64,
    calls: u64,
    engine: &mut dyn Recourse,
) -> Result<AttemptOutcome, Error> {
    let solves_before = engine.work().solves;
    let kernel = TransitionKernel {
        states: attempt.states,
        proposal: &Uniform,
        acceptance: Acceptance::Metropolis,
        temperature,
    };
    // A seed that no chain of the method has: the first label of the purpose is free, as attempts count from one.
    let seed = stream(attempt.seed, Purpose::Verification, 0).random::<u64>();
    let mut chain = Chain::new(attempt.problem, attempt.states, seed, attempt.number);
    engine.at(attempt.x);
    for evaluations in 0..=calls {
        // The start is evaluated before the first transition.
        let moved = match attempt.clock.check().map_err(RecourseError::from) {
            Ok(()) if evaluations == 0 => chain.evaluate(&kernel, engine).map(|_| true),
            Ok(()) => chain.step(&kernel, engine),
            Err(stop) => Err(stop),
        };
        let state = match moved {
            Ok(true) => chain.current(),
            Ok(false) => chain.previous_or_rejected(),
            Err(RecourseError::Interrupted(_)) => {
                let made = u64::saturating_sub(evaluations, 1);
                return Ok(AttemptOutcome::NotRefuted {
                    evaluations: made,
                    solves: engine.work().solves - solves_before,
                });
            }
            Err(error) => return Err(error.into()),
        };
        if state.answer.value > attempt.refutation_level {
            let start = state.xi.clone();
            let mut ascent = Ascent::new(attempt.problem, engine, attempt.x);
            ascent.climb(&start)?;
            return Ok(AttemptOutcome::Refuted(ascent.found()?));
        }
    }
    Ok(AttemptOutcome::NotRefuted { evaluations: calls, solves: engine.work().solves - solves_before })
}
