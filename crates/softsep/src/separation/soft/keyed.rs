//! One chain for each integer assignment of x (Algorithm 2 of the paper, the adaptive soft-separation oracle).
//!
//! A chain follows decisions that move little. In a tree the next decision may be far away, so each integer assignment
//! has a chain of its own, which continues when the assignment comes again: with one transition where the continuous
//! part has moved by at most c₀/κᵖ since its last call, the κ-th, and with g(κ) transitions elsewhere (eqs.
//! move-threshold and transition-budget).

use std::collections::BTreeMap;

use rand::RngExt;

use super::settings::{AutoOr, CatchUp};
use crate::chain::{Chain, TransitionKernel};
use crate::definition::VariableKind;
use crate::error::Error;
use crate::model::Problem;
use crate::numeric::{distance, norm};
use crate::proposal::ChainState;
use crate::recourse::{Recourse, RecourseBasis, engine};
use crate::run::{Clock, Purpose, stream};

/// c₀ of an automatic choice, relative to the size of the continuous part: decisions that differ by less have nearly
/// the same worst scenarios.
const NEAR: f64 = 0.01;

/// The contraction factor η̄ in g(κ) = ⌈p·ln κ / |ln η̄|⌉. The paper's constant inside the logarithm holds c₀, L'_Q and
/// Δ⋆, which are unknown; it is left at 1. Cuts are valid whatever this is.
const CONTRACTION: f64 = 0.5;

impl CatchUp {
    /// The transitions of a chain's call after `calls` earlier ones, where the continuous part of x has this size and
    /// has moved by `distance`.
    fn transitions(&self, calls: u64, distance: f64, size: f64) -> u64 {
        let near = match self.near {
            AutoOr::Given(near) => near,
            AutoOr::Auto => NEAR * size,
        };
        let kappa = calls.max(1) as f64;
        if calls == 0 || distance <= near / kappa.powf(self.power) {
            return 1;
        }
        (self.power * kappa.ln() / -CONTRACTION.ln()).ceil().max(1.0) as u64
    }
}

/// The chain of one assignment.
struct AssignmentChain {
    chain: Chain,
    /// The continuous part of x at the last call.
    reference: Vec<f64>,
    /// κ: the number of calls.
    calls: u64,
}

/// The chains of all assignments met. They share one engine, since a call steps one chain.
pub(super) struct KeyedChains {
    kinds: Vec<VariableKind>,
    catch_up: CatchUp,
    adapts: bool,
    engine: Box<dyn Recourse>,
    seed: u64,
    chains: BTreeMap<Vec<i64>, AssignmentChain>,
    /// The assignment of the last call.
    last: Option<Vec<i64>>,
}

impl KeyedChains {
    /// No chain yet. `problem` has the recourse cost that the chains sample by. `adapts`: whether the proposals'
    /// concentration adapts.
    pub(super) fn new(
        problem: &Problem,
        catch_up: CatchUp,
        adapts: bool,
        seed: u64,
        clock: &Clock,
    ) -> Result<Self, Error> {
        Ok(Self {
            kinds: problem.first.kind.clone(),
            catch_up,
            adapts,
            engine: engine(problem, clock)?,
            // A seed that no other chain of the run has.
            seed: stream(seed, Purpose::Start, 3).random(),
            chains: BTreeMap::new(),
            last: None,
        })
    }

    /// Steps the chain of x's assignment. `basis` is where a solve of the same recourse at x ended.
    pub(super) fn step(
        &mut self,
        problem: &Problem,
        kernel: &TransitionKernel,
        x: &[f64],
        basis: Option<&RecourseBasis>,
        clock: &Clock,
    ) -> Result<(), Error> {
        let continuous = self.continuous_part(x);
        let assignment = problem.first.assignment(x);
        let label = u32::try_from(self.chains.len() + 1).unwrap_or(u32::MAX);
        let (seed, adapts) = (self.seed, self.adapts);
        let keyed = self.chains.entry(assignment.clone()).or_insert_with(|| {
            let mut chain = Chain::new(problem, kernel.states, seed, label);
            if adapts {
                chain.adapt_concentration();
            }
            AssignmentChain { chain, reference: continuous.clone(), calls: 0 }
        });
        let moved = distance(&keyed.reference, &continuous);
        let transitions = self.catch_up.transitions(keyed.calls, moved, moved.max(norm(&continuous)));
        if let Some(basis) = basis {
            self.engine.hint(basis);
        }
        self.engine.at(x);
        keyed.chain.incumbent_moved();
        keyed.chain.evaluate(kernel, self.engine.as_mut())?;
        for _ in 0..transitions {
            clock.check()?;
            keyed.chain.step(kernel, self.engine.as_mut())?;
        }
        keyed.reference = continuous;
        keyed.calls += 1;
        self.last = Some(assignment);
        Ok(())
    }

    fn continuous_part(&self, x: &[f64]) -> Vec<f64> {
        let entries = x.iter().zip(&self.kinds);
        entries.filter(|(_, kind)| **kind == VariableKind::Continuous).map(|(x, _)| *x).collect()
    }

    /// The state of the chain of the last call, and its last candidate.
    pub(super) fn last(&self) -> Option<(&ChainState, &ChainState)> {
        let keyed = self.chains.get(self.last.as_ref()?)?;
        Some((keyed.chain.current(), keyed.chain.previous_or_rejected()))
    }

    /// The number of recourse solves so far.
    pub(super) fn solves(&self) -> u64 {
        self.engine.work().solves
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_catches_up_after_a_jump_and_the_more_calls_the_more_transitions() {
        let catch_up = CatchUp { near: AutoOr::Given(1.0), power: 0.75 };
        assert_eq!(catch_up.transitions(0, 9.0, 1.0), 1, "the first call");
        assert_eq!(catch_up.transitions(1, 0.5, 1.0), 1, "near enough");
        assert_eq!(catch_up.transitions(16, 0.12, 1.0), 1, "1/16^0.75 is 0.125");
        assert_eq!(catch_up.transitions(16, 0.13, 1.0), 3, "0.75·ln 16/ln 2");
        assert_eq!(catch_up.transitions(1 << 20, 1.0, 1.0), 15);
        let scaled = CatchUp { near: AutoOr::Auto, power: 0.75 };
        assert_eq!((scaled.transitions(16, 0.1, 100.0), scaled.transitions(16, 0.2, 100.0)), (1, 3));
    }
}
