//! Calls of the oracle at a decision that stands still, as in the paper's Algorithm 3: one transition of a chain each.
//!
//! From any state that is not a worst one, a transition reaches a worst one with probability 1 − ρ at least (eq.
//! certification-detection). If the bound is false, a worst state refutes the decision as soon as it is looked at. So
//! all of r transitions miss it with probability ρʳ at most, wherever the chain starts; here it starts at a draw from
//! ν. The paper's factor δ̂(k) ≤ 1 for what the chain remembers of earlier decisions is left at 1: each attempt has a
//! new chain.

use rand::RngExt;

use super::{Looked, Trial};
use crate::chain::{Acceptance, Chain, TransitionKernel};
use crate::error::Error;
use crate::proposal::Uniform;
use crate::recourse::{Recourse, RecourseError};
use crate::run::{Purpose, stream};
use crate::separation::Ascent;

/// So many calls, or as many as the clock allows, or until one finds a scenario that refutes the decision.
///
/// Candidates are fresh draws: for these the kernel is what Definition 1 says, whichever dual a degenerate recourse
/// answers with.
pub(super) fn call(trial: &Trial, temperature: f64, calls: u64, engine: &mut dyn Recourse) -> Result<Looked, Error> {
    let solves_before = engine.work().solves;
    let kernel =
        TransitionKernel { states: trial.states, proposal: &Uniform, acceptance: Acceptance::Metropolis, temperature };
    // A seed that no chain of the method has: the first label of the purpose is free, as attempts count from one.
    let seed = stream(trial.seed, Purpose::Verification, 0).random::<u64>();
    let mut chain = Chain::new(trial.problem, trial.states, seed, trial.attempt);
    engine.at(trial.x);
    for looks in 0..=calls {
        // The start is looked at before the first transition.
        let moved = match trial.clock.check().map_err(RecourseError::from) {
            Ok(()) if looks == 0 => chain.evaluate(&kernel, engine).map(|_| true),
            Ok(()) => chain.step(&kernel, engine),
            Err(stop) => Err(stop),
        };
        let place = match moved {
            Ok(true) => chain.current(),
            Ok(false) => chain.previous_or_rejected(),
            Err(RecourseError::Interrupted(_)) => {
                let made = u64::saturating_sub(looks, 1);
                return Ok(Looked::Missed { looks: made, solves: engine.work().solves - solves_before });
            }
            Err(error) => return Err(error.into()),
        };
        if place.answer.value > trial.beyond {
            let start = place.xi.clone();
            let mut ascent = Ascent::new(trial.problem, engine, trial.x);
            ascent.climb(&start)?;
            return Ok(Looked::Refuted(ascent.found()?));
        }
    }
    Ok(Looked::Missed { looks: calls, solves: engine.work().solves - solves_before })
}
