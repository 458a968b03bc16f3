//! Algorithm 2 of the paper, the adaptive soft-separation oracle: one chain for each assignment of the integers.
//!
//! A chain follows decisions that move little. In a tree the next decision may be far away, so that each integer
//! assignment has a chain of its own, which goes on when the assignment comes again: with one transition where the
//! continuous part has moved by at most c₀/κᵖ since its last call, the κ-th, and with g(κ) transitions elsewhere (eqs.
//! move-threshold and transition-budget).

use std::collections::BTreeMap;

use rand::RngExt;

use crate::chain::Chain;
use crate::error::Error;
use crate::format::VariableKind;
use crate::methods::soft::{ChainSettings, Choice, Explorer, Walk};
use crate::model::Problem;
use crate::proposal::ChainState;
use crate::recourse::{Recourse, RecourseBasis, engine};
use crate::run::{Purpose, Run, stream};
use crate::uncertainty::States;

/// c₀ where nobody says better, as a share of the size of the continuous part: decisions that differ by less have much
/// the same worst scenarios.
const NEAR: f64 = 0.01;

/// How fast a chain is taken to forget where it was, for g(κ) = ⌈p·ln κ / |ln η̄|⌉. The paper's constant inside the
/// logarithm holds c₀, L'_Q and Δ⋆, which nobody knows; it is left at 1. Cuts are valid whatever this is.
const FORGETS: f64 = 0.5;

/// When a chain has to catch up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pace {
    /// c₀.
    pub(super) near: Choice,
    /// p.
    pub(super) power: f64,
}

impl Pace {
    /// How many transitions a call makes that is the κ-th after the first, when the continuous part is at `distance`
    /// from where it was and of this size.
    fn transitions(&self, calls: u64, distance: f64, size: f64) -> u64 {
        let near = match self.near {
            Choice::Given(near) => near,
            Choice::Auto => NEAR * size,
        };
        let kappa = calls.max(1) as f64;
        if calls == 0 || distance <= near / kappa.powf(self.power) {
            return 1;
        }
        (self.power * kappa.ln() / -FORGETS.ln()).ceil().max(1.0) as u64
    }
}

/// A chain and what it was last asked.
struct Tracked {
    /// j: when it was first asked, counted from 1.
    label: u64,
    chain: Chain,
    /// The continuous part of the last decision.
    reference: Vec<f64>,
    /// κ: how often it was asked.
    calls: u64,
}

/// The chains of all assignments met. They share one engine: a call is for one of them.
pub(super) struct Assignments<'a> {
    problem: &'a Problem,
    walk: Walk<'a>,
    pace: Pace,
    engine: Box<dyn Recourse>,
    seed: u64,
    chains: BTreeMap<Vec<i64>, Tracked>,
    /// The assignment that was asked last.
    asked: Option<Vec<i64>>,
}

impl<'a> Assignments<'a> {
    pub(super) fn new(
        problem: &'a Problem,
        states: &'a dyn States,
        settings: ChainSettings,
        pace: Pace,
        run: &Run,
    ) -> Result<Self, Error> {
        Ok(Self {
            problem,
            walk: Walk::new(problem, states, settings)?,
            pace,
            engine: engine(problem, run.clock())?,
            // A seed that no other chain of the run has.
            seed: stream(run.limits().seed, Purpose::Start, 3).random(),
            chains: BTreeMap::new(),
            asked: None,
        })
    }

    /// The integers of a decision.
    fn assignment(&self, x: &[f64]) -> Vec<i64> {
        let kinds = &self.problem.first.kind;
        x.iter()
            .zip(kinds)
            .filter(|(_, kind)| **kind != VariableKind::Continuous)
            .map(|(x, _)| x.round() as i64)
            .collect()
    }

    /// The rest of it.
    fn continuous(&self, x: &[f64]) -> Vec<f64> {
        let kinds = &self.problem.first.kind;
        x.iter().zip(kinds).filter(|(_, kind)| **kind == VariableKind::Continuous).map(|(x, _)| *x).collect()
    }

    /// The label j of the chain that belongs to x, and how often it was asked; both at least 1. A chain that was never
    /// asked is labelled first.
    pub(super) fn label_and_calls(&mut self, x: &[f64]) -> (u64, u64) {
        let tracked = self.tracked(self.assignment(x), x);
        (tracked.label, tracked.calls.max(1))
    }

    /// Counts calls at x that were made elsewhere.
    pub(super) fn count_call(&mut self, x: &[f64]) {
        self.tracked(self.assignment(x), x).calls += 1;
    }

    fn tracked(&mut self, assignment: Vec<i64>, x: &[f64]) -> &mut Tracked {
        let (label, reference) = (self.chains.len() as u64 + 1, self.continuous(x));
        let Self { problem, walk, seed, chains, .. } = self;
        chains.entry(assignment).or_insert_with(|| {
            let mut chain = Chain::new(problem, walk.states, *seed, u32::try_from(label).unwrap_or(u32::MAX));
            if walk.settings().kappa == Choice::Auto {
                chain.adapt_concentration();
            }
            Tracked { label, chain, reference, calls: 0 }
        })
    }

    /// Chains so far.
    pub(super) fn len(&self) -> usize {
        self.chains.len()
    }

    /// Recourse solves so far.
    pub(super) fn solves(&self) -> u64 {
        self.engine.work().solves
    }

    fn asked(&self) -> Option<&Tracked> {
        self.chains.get(self.asked.as_ref()?)
    }
}

/// A call of Algorithm 2.
impl Explorer for Assignments<'_> {
    fn explore(&mut self, x: &[f64], ended: &RecourseBasis, run: &Run) -> Result<(), Error> {
        let assignment = self.assignment(x);
        self.tracked(assignment.clone(), x);
        let continuous = self.continuous(x);
        let Self { walk, pace, engine, chains, .. } = self;
        let kernel = walk.kernel(run);
        if let Some(tracked) = chains.get_mut(&assignment) {
            let distance = distance(&tracked.reference, &continuous);
            let transitions = pace.transitions(tracked.calls, distance, distance.max(size(&continuous)));
            engine.hint(ended);
            engine.at(x);
            tracked.chain.incumbent_moved();
            tracked.chain.evaluate(&kernel, engine.as_mut())?;
            for _ in 0..transitions {
                run.clock().check()?;
                tracked.chain.step(&kernel, engine.as_mut())?;
            }
            tracked.reference = continuous;
            tracked.calls += 1;
        }
        self.asked = Some(assignment);
        Ok(())
    }

    fn places(&self) -> Vec<&ChainState> {
        self.asked()
            .map_or_else(Vec::new, |tracked| vec![tracked.chain.current(), tracked.chain.previous_or_rejected()])
    }

    fn worst(&self) -> Option<&ChainState> {
        self.asked().map(|tracked| tracked.chain.current())
    }
}

fn size(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_catches_up_after_a_jump_and_the_longer_it_lives_the_more() {
        let pace = Pace { near: Choice::Given(1.0), power: 0.75 };
        assert_eq!(pace.transitions(0, 9.0, 1.0), 1, "the first call");
        assert_eq!(pace.transitions(1, 0.5, 1.0), 1, "near enough");
        assert_eq!(pace.transitions(16, 0.12, 1.0), 1, "1/16^0.75 is 0.125");
        assert_eq!(pace.transitions(16, 0.13, 1.0), 3, "0.75·ln 16/ln 2");
        assert_eq!(pace.transitions(1 << 20, 1.0, 1.0), 15);
        let scaled = Pace { near: Choice::Auto, power: 0.75 };
        assert_eq!((scaled.transitions(16, 0.1, 100.0), scaled.transitions(16, 0.2, 100.0)), (1, 3));
    }
}
