//! Algorithm 2 as printed: the adaptive soft-separation oracle, without ascents and without a cut pool.
//!
//! A call makes m transitions of the chain of x's integer assignment and returns the state after the last one; m is 1
//! or g(κ). [`SoftSeparation`](super::SoftSeparation) with one chain per assignment uses the same chains, but ascends
//! from known scenarios first and calls them where that finds nothing.

use std::sync::Arc;

use super::kernel::KernelParts;
use super::keyed::{KeyedCall, KeyedChains};
use super::settings::{Score, SoftSettings};
use crate::error::Error;
use crate::model::Problem;
use crate::run::Clock;
use crate::separation::Found;
use crate::uncertainty::States;

/// The oracle with the chains of all assignments met.
pub(crate) struct AdaptiveOracle<'p> {
    problem: &'p Problem,
    settings: SoftSettings,
    kernel: KernelParts<'p>,
    chains: KeyedChains,
    gap: f64,
    calls: u64,
    /// The worst scenario evaluated since [`Self::begin`], and its cost.
    worst: Vec<f64>,
    worst_value: f64,
}

impl<'p> AdaptiveOracle<'p> {
    /// An oracle on `states` for a run with this relative gap and seed. The concentration of the proposal does not
    /// adapt: P_x is one kernel for all calls.
    ///
    /// Errs where the settings do not fit the states, or an engine cannot be built.
    pub(crate) fn new(
        problem: &'p Problem,
        states: Arc<dyn States + 'p>,
        settings: SoftSettings,
        gap: f64,
        seed: u64,
        clock: &Clock,
    ) -> Result<Self, Error> {
        if settings.score != Score::Exact {
            return Err(Error::Settings(
                "Algorithm 2 samples by the recourse cost itself here: leave --score out, or --search chains".into(),
            ));
        }
        let kernel = KernelParts::new(problem, states, &settings)?;
        let chains = KeyedChains::new(problem, settings.per_assignment.unwrap_or_default(), false, seed, clock)?;
        let (worst, worst_value) = (vec![0.0; problem.set.dim()], f64::NEG_INFINITY);
        Ok(Self { problem, settings, kernel, chains, gap, calls: 0, worst, worst_value })
    }

    /// Forgets the worst scenario evaluated, before the calls at another decision.
    pub(crate) fn begin(&mut self) {
        self.worst_value = f64::NEG_INFINITY;
    }

    /// One call at x, for an objective of this size.
    pub(crate) fn call(&mut self, x: &[f64], size: f64, clock: &Clock) -> Result<KeyedCall, Error> {
        let Self { problem, settings, kernel, chains, worst, worst_value, .. } = self;
        let temperature = kernel.temperature(settings, self.calls, self.gap, size);
        self.calls += 1;
        let kernel = kernel.at(settings, temperature);
        chains.step(problem, &kernel, x, None, clock, &mut |state| {
            if state.answer.value > *worst_value {
                worst.copy_from_slice(&state.xi);
                *worst_value = state.answer.value;
            }
        })
    }

    /// Q(x, ξ_I) at the state of the last call; −∞ before the first one.
    pub(crate) fn value(&self) -> f64 {
        self.chains.last().map_or(f64::NEG_INFINITY, |(state, _)| state.answer.value)
    }

    /// The state of the last call with its cut.
    pub(crate) fn found(&self) -> Option<Found> {
        self.chains.last().map(|(state, _)| Found::new(&state.xi, &state.answer))
    }

    /// The worst scenario evaluated at the last decision, with its cost.
    pub(crate) fn worst(&self) -> (&[f64], f64) {
        (&self.worst, self.worst_value)
    }

    /// The number of calls.
    pub(crate) fn calls(&self) -> u64 {
        self.calls
    }

    /// The number of chains.
    pub(crate) fn chains(&self) -> usize {
        self.chains.len()
    }

    /// The number of recourse solves.
    pub(crate) fn solves(&self) -> u64 {
        self.chains.solves()
    }
}
