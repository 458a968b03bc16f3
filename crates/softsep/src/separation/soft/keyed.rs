//! One chain for each integer assignment of x (Algorithm 2 of the paper, the adaptive soft-separation oracle).
//!
//! A chain follows decisions that move little. In a tree the next decision may be far away, so each integer assignment
//! has a chain of its own, which continues when the assignment comes again: with one transition where the continuous
//! part has moved by at most c₀/κᵖ since its last call, the κ-th (eq. move-threshold), and with g(κ) transitions
//! elsewhere (eq. transition-budget).

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

/// c₀ of an automatic choice without constants, relative to the size of the continuous part: decisions that differ by
/// less have nearly the same worst scenarios.
const NEAR: f64 = 0.01;

/// η̄ in g(κ) where the constants of Corollary 1 are not known. The constant inside the logarithm is 1 then, which is
/// its value for one choice of c₀. Cuts are valid whatever these are, and no certificate rests on them.
const CONTRACTION: f64 = 0.5;

impl CatchUp {
    /// m of Algorithm 2: the transitions of a chain's call after `calls` earlier ones (κ), where the continuous part of
    /// x has this size and has moved by `distance`.
    fn transitions(&self, calls: u64, distance: f64, size: f64) -> u64 {
        let near = match (self.theory, self.near) {
            (Some(theory), _) => theory.threshold,
            (None, AutoOr::Given(near)) => near,
            (None, AutoOr::Auto) => NEAR * size,
        };
        let kappa = calls.max(1) as f64;
        if calls == 0 || distance <= near / kappa.powf(self.power) {
            return 1;
        }
        let by_rule = || (self.power * kappa.ln() / -CONTRACTION.ln()).ceil().max(1.0) as u64;
        self.theory.and_then(|theory| theory.transitions(calls)).unwrap_or_else(by_rule)
    }
}

/// A call of Algorithm 2: the chain that answered, and how often it has been called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyedCall {
    /// j: the label of the chain, from 1 on, in the order in which assignments are met.
    pub(crate) label: u64,
    /// κ after the call, this one included.
    pub(crate) calls: u64,
}

/// The chain of one assignment.
struct AssignmentChain {
    chain: Chain,
    /// j, from 1 on.
    label: u32,
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
    /// The assignment of the last call, and its x.
    last: Option<(Vec<i64>, Vec<f64>)>,
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

    /// Calls the chain of x's assignment. `basis` is where a solve of the same recourse at x ended; `see` is shown
    /// every state that is evaluated at x on the way.
    pub(super) fn step(
        &mut self,
        problem: &Problem,
        kernel: &TransitionKernel,
        x: &[f64],
        basis: Option<&RecourseBasis>,
        clock: &Clock,
        see: &mut dyn FnMut(&ChainState),
    ) -> Result<KeyedCall, Error> {
        let continuous = self.continuous_part(x);
        let assignment = problem.first.assignment(x);
        let label = u32::try_from(self.chains.len() + 1).unwrap_or(u32::MAX);
        let (seed, adapts) = (self.seed, self.adapts);
        let is_at_x = self.last.as_ref().is_some_and(|(last, at)| *last == assignment && at == x);
        let keyed = self.chains.entry(assignment.clone()).or_insert_with(|| {
            let mut chain = Chain::new(problem, kernel.states, seed, label);
            if adapts {
                chain.adapt_concentration();
            }
            AssignmentChain { chain, label, reference: continuous.clone(), calls: 0 }
        });
        let moved = distance(&keyed.reference, &continuous);
        let transitions = self.catch_up.transitions(keyed.calls, moved, moved.max(norm(&continuous)));
        if !is_at_x {
            self.last = None;
            if let Some(basis) = basis {
                self.engine.hint(basis);
            }
            self.engine.at(x);
            keyed.chain.incumbent_moved();
        }
        see(keyed.chain.evaluate(kernel, self.engine.as_mut())?);
        for _ in 0..transitions {
            clock.check()?;
            let moved = keyed.chain.step(kernel, self.engine.as_mut())?;
            see(if moved { keyed.chain.current() } else { keyed.chain.previous_or_rejected() });
        }
        keyed.reference = continuous;
        keyed.calls += 1;
        let call = KeyedCall { label: u64::from(keyed.label), calls: keyed.calls };
        self.last = Some((assignment, x.to_vec()));
        Ok(call)
    }

    fn continuous_part(&self, x: &[f64]) -> Vec<f64> {
        let entries = x.iter().zip(&self.kinds);
        entries.filter(|(_, kind)| **kind == VariableKind::Continuous).map(|(x, _)| *x).collect()
    }

    /// The state of the chain of the last call, and its last candidate.
    pub(super) fn last(&self) -> Option<(&ChainState, &ChainState)> {
        let keyed = self.chains.get(&self.last.as_ref()?.0)?;
        Some((keyed.chain.current(), keyed.chain.previous_or_rejected()))
    }

    /// The number of assignments met.
    pub(super) fn len(&self) -> usize {
        self.chains.len()
    }

    /// The number of recourse solves so far.
    pub(super) fn solves(&self) -> u64 {
        self.engine.work().solves
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::chain::Acceptance;
    use crate::definition::{Row, ScenarioList, Variable};
    use crate::model::ProblemDefinition;
    use crate::proposal::Uniform;
    use crate::theory::{Adaptive, Finite, Mixing};
    use crate::uncertainty::{SetDefinition, StateSpec};

    /// Q(x, ξ) = |ξ − c| for x = (z, c) with z binary, on the list 0, 1, …, 9.
    fn line() -> Problem {
        let mut file = ProblemDefinition::default();
        file.first_stage.variables.push(Variable::binary("z", 0.0));
        file.first_stage.variables.push(Variable::new("c", 0.0).bounded(0.0, 9.0));
        file.uncertainty.parameters.push("xi".into());
        let points = ScenarioList::from_flat(1, 10, (0..10).map(f64::from).collect()).unwrap();
        file.uncertainty.set = SetDefinition::Scenarios { points, file: None, drawn_from: None };
        file.recourse.variables.push(Variable::new("y", 1.0));
        for (name, sign) in [("above", 1.0), ("below", -1.0)] {
            let mut row = Row { lower: 0.0, ..Row::new(name) };
            (row.y, row.x, row.xi) = (vec![("y".into(), 1.0)], vec![("c".into(), sign)], vec![("xi".into(), -sign)]);
            file.recourse.constraints.push(row);
        }
        Problem::new(&file).unwrap()
    }

    /// Algorithm 2, line by line: labels in the order in which assignments are met, κ of each, one transition or g(κ)
    /// by the distance from the continuous part at the last call, and the state that the last call left. c₀ = 1, p = 1,
    /// g(κ) = ⌈log₂ κ⌉.
    #[test]
    fn state_reference_and_count_are_kept_for_each_assignment() {
        let problem = line();
        let states = problem.set.states(&StateSpec { convex: true, ..StateSpec::default() }).unwrap();
        let kernel = TransitionKernel {
            states: states.as_ref(),
            proposal: &Uniform,
            acceptance: Acceptance::Barker,
            temperature: 3.0,
        };
        let clock = Clock::unlimited();
        let catch_up = CatchUp { near: AutoOr::Given(1.0), power: 1.0, theory: None };
        let mut chains = KeyedChains::new(&problem, catch_up, false, 5, &clock).unwrap();
        let mut left: BTreeMap<u64, f64> = BTreeMap::new();
        // z, c, and by hand: label, κ after the call, transitions.
        let calls = [
            (0.0, 2.0, 1, 1, 1),
            // The first call at another assignment, from the same c.
            (1.0, 2.0, 2, 1, 1),
            // As far as κ = 1 allows, and further.
            (0.0, 3.0, 1, 2, 1),
            (0.0, 3.6, 1, 3, 1),
            (0.0, 9.0, 1, 4, 2),
            // The reference is where the last call was, not where the chain began.
            (0.0, 8.8, 1, 5, 1),
            (0.0, 8.5, 1, 6, 3),
            // The other chain has made one call, at c = 2.
            (1.0, 2.9, 2, 2, 1),
            (1.0, 8.5, 2, 3, 1),
            (1.0, 0.0, 2, 4, 2),
            (0.0, 8.5, 1, 7, 1),
            (0.0, 8.5, 1, 8, 1),
            (0.0, 8.65, 1, 9, 3),
        ];
        for (z, c, label, count, transitions) in calls {
            let mut seen: Vec<(f64, f64)> = Vec::new();
            let mut see = |state: &ChainState| seen.push((state.xi[0], state.answer.value));
            let call = chains.step(&problem, &kernel, &[z, c], None, &clock, &mut see).unwrap();
            let what = format!("z = {z}, c = {c}, κ = {count}");
            assert_eq!(call, KeyedCall { label, calls: count }, "{what}");
            // The state before the first transition, and one for each.
            assert_eq!(seen.len(), 1 + transitions, "{what}");
            if let Some(xi) = left.get(&label) {
                assert_eq!(seen[0].0, *xi, "{what}: the chain continues where it was");
            }
            assert!(seen.iter().all(|(xi, value)| (value - (xi - c).abs()).abs() < 1e-9), "{what}: {seen:?}");
            let (state, _) = chains.last().unwrap();
            assert!(seen.iter().any(|(xi, _)| *xi == state.xi[0]), "{what}");
            left.insert(label, state.xi[0]);
        }
        assert_eq!(chains.len(), 2);
    }

    #[test]
    fn a_chain_catches_up_after_a_jump_and_the_more_calls_the_more_transitions() {
        let catch_up = CatchUp { near: AutoOr::Given(1.0), power: 0.75, theory: None };
        assert_eq!(catch_up.transitions(0, 9.0, 1.0), 1, "the first call");
        assert_eq!(catch_up.transitions(1, 0.5, 1.0), 1, "near enough");
        assert_eq!(catch_up.transitions(16, 0.12, 1.0), 1, "1/16^0.75 is 0.125");
        assert_eq!(catch_up.transitions(16, 0.13, 1.0), 3, "0.75·ln 16/ln 2");
        assert_eq!(catch_up.transitions(1 << 20, 1.0, 1.0), 15);
        let scaled = CatchUp { near: AutoOr::Auto, power: 0.75, theory: None };
        assert_eq!((scaled.transitions(16, 0.1, 100.0), scaled.transitions(16, 0.2, 100.0)), (1, 3));
    }

    /// By hand: 2c₀η̄L'/Δ⋆ = 2·0.5·0.8·3/6 = 0.4, and g(κ) = ⌈(2·ln κ − ln 0.4)/|ln 0.8|⌉.
    #[test]
    fn with_constants_the_transitions_are_those_of_corollary_1() {
        let finite = Finite {
            states: 10.0,
            gap: 6.0,
            score_error: 0.0,
            lipschitz: 3.0,
            mixing: Mixing::new(0.2),
            temperature: 1.0,
        };
        let theory = Some(Adaptive { finite, threshold: 0.5, power: 2.0 });
        let catch_up = CatchUp { near: AutoOr::Auto, power: 2.0, theory };
        assert_eq!(catch_up.transitions(0, 9.0, 1.0), 1, "κ = 0");
        assert_eq!(catch_up.transitions(5, 0.02, 1.0), 1, "c₀/κᵖ = 0.5/25");
        // 0.9163/0.2231 = 4.106.
        assert_eq!(catch_up.transitions(1, 0.51, 1.0), 5);
        // (3.2189 + 0.9163)/0.2231 = 18.53, (9.2103 + 0.9163)/0.2231 = 45.38.
        assert_eq!((catch_up.transitions(5, 0.021, 1.0), catch_up.transitions(100, 1.0, 1.0)), (19, 46));
    }
}
