//! The conformance suite of proposals.

use rand::RngExt;

use crate::chain::Acceptance;
use crate::model::Problem;
use crate::proposal::{ChainState, Hamiltonian, Proposal};
use crate::recourse::Recourse;
use crate::run::{Purpose, Random, stream};
use crate::uncertainty::{Space, State, States};

/// Spaces with more states are tested by draws alone.
const FEW: usize = 200;
/// Draws from each of a few states, and from ν to compare them with.
const DRAWS: usize = 40_000;
/// Standard errors between a mean and its expectation: exceeded by chance once in 10⁹ times.
const ERRORS: f64 = 6.0;

/// A proposal on states, with the recourse whose slopes it may follow.
pub struct ProposalTrial<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// The states of its set.
    pub states: &'a dyn States,
    /// The proposal.
    pub proposal: &'a dyn Proposal,
    /// w.
    pub temperature: f64,
}

/// Tests a proposal at the engine's x. Candidates are states; the log-ratio changes its sign when its arguments are
/// exchanged, and agrees with the density, if there is one; the density has mass 1 and is that of the draws; on few
/// states detailed balance holds for both acceptance rules. The engine should report one dual per ξ.
pub fn check_proposal(trial: &ProposalTrial, engine: &mut dyn Recourse, seed: u64) {
    let mut random = stream(seed, Purpose::Estimate, 0);
    let (chain_states, is_all) = match trial.states.enumerate(FEW) {
        Some(states) => (states.into_iter().map(|state| trial.chain_state(state, engine)).collect::<Vec<_>>(), true),
        None => ((0..12).map(|_| trial.drawn(&mut random, engine)).collect(), false),
    };
    let has_density = trial.proposal.has_density(trial.states);
    for from in &chain_states {
        for to in &chain_states {
            if has_density {
                trial.ratio_agrees_with_density(from, to);
            }
        }
    }
    if is_all && has_density {
        trial.density_sums_to_one(&chain_states);
        trial.balance_is_detailed(&chain_states);
    }
    for from in chain_states.iter().take(4) {
        trial.candidates_are_states_and_ratios_turn_round(from, engine, &mut random);
        if has_density {
            trial.draws_follow_density(from, &mut random);
        }
    }
}

/// Tests Hamiltonian moves: the trajectory from each candidate with the opposite momentum ends where the candidate came
/// from, with the inverse ratio. Returns the number of trajectories that were not given up.
pub fn check_trajectories(trial: &ProposalTrial, moves: &Hamiltonian, engine: &mut dyn Recourse, seed: u64) -> usize {
    let (name, mut random) = (&trial.problem.name, stream(seed, Purpose::Estimate, 0));
    let mut complete = 0;
    for _ in 0..200 {
        let from = trial.drawn(&mut random, engine);
        let mut to = from.clone();
        trial.propose(&from, engine, &mut random, &mut to);
        if to.state == from.state {
            continue;
        }
        let forth = moves.log_ratio(trial.states, &from, &to);
        let mut back = to.clone();
        back.trajectory.reverse(&to.trajectory);
        moves.begin(trial.states, &to, &mut back);
        trial.complete(&to, engine, &mut back);
        let apart = from.xi.iter().zip(&back.xi).fold(0.0_f64, |apart, (a, b)| apart.max((a - b).abs()));
        let ratio = moves.log_ratio(trial.states, &to, &back);
        assert!(apart < 1e-6 && close(forth, -ratio, 1e-6), "{name}: {apart} apart, {forth} and {ratio}");
        complete += 1;
    }
    complete
}

impl ProposalTrial<'_> {
    /// The chain state of a scenario, with its answer, prepared for the proposal.
    pub fn chain_state(&self, state: State, engine: &mut dyn Recourse) -> ChainState {
        let mut chain_state = ChainState::new(self.problem, self.states);
        chain_state.state = state;
        self.states.realize(&chain_state.state, &mut chain_state.xi);
        engine
            .solve(&chain_state.xi, &mut chain_state.answer)
            .unwrap_or_else(|error| panic!("{}: {error}", self.problem.name));
        self.proposal.prepare(self.states, &mut chain_state, self.temperature);
        chain_state
    }

    fn drawn(&self, random: &mut Random, engine: &mut dyn Recourse) -> ChainState {
        let mut state = self.states.blank();
        self.states.draw(random, &mut state);
        self.chain_state(state, engine)
    }

    fn log_density(&self, from: &ChainState, to: &State) -> f64 {
        self.proposal.log_density(self.states, from, to).unwrap_or_else(|| panic!("{}: no density", self.problem.name))
    }

    fn ratio_agrees_with_density(&self, from: &ChainState, to: &ChainState) {
        if from.state == to.state {
            return;
        }
        let (back, forth) = (self.log_density(to, &from.state), self.log_density(from, &to.state));
        // A move that is impossible in both directions has no ratio.
        if back == f64::NEG_INFINITY && forth == f64::NEG_INFINITY {
            return;
        }
        let want = back - forth;
        let ratio = self.proposal.log_ratio(self.states, from, to);
        assert!(close(ratio, want, 1e-9), "{}: the ratio is {ratio}, by densities {want}", self.problem.name);
    }

    fn density_sums_to_one(&self, chain_states: &[ChainState]) {
        for from in chain_states {
            let sum: f64 = chain_states.iter().map(|to| self.log_density(from, &to.state).exp()).sum();
            let mean = sum / chain_states.len() as f64;
            assert!(close(mean, 1.0, 1e-9), "{}: the density from {:?} has mean {mean}", self.problem.name, from.state);
        }
    }

    /// `p(i)q(j|i)A(i,j) = p(j)q(i|j)A(j,i)`, with p from all scores and q from the density.
    fn balance_is_detailed(&self, chain_states: &[ChainState]) {
        let best = chain_states.iter().fold(f64::NEG_INFINITY, |best, chain_state| best.max(chain_state.answer.value));
        let weight = |chain_state: &ChainState| ((chain_state.answer.value - best) / self.temperature).exp();
        let total: f64 = chain_states.iter().map(weight).sum();
        for acceptance in [Acceptance::Metropolis, Acceptance::Barker] {
            let flow = |from: &ChainState, to: &ChainState| {
                let rise = (to.answer.value - from.answer.value) / self.temperature;
                let taken = acceptance.probability(rise + self.proposal.log_ratio(self.states, from, to));
                weight(from) / total * self.log_density(from, &to.state).exp() / chain_states.len() as f64 * taken
            };
            for (index, from) in chain_states.iter().enumerate() {
                for to in &chain_states[..index] {
                    let (forth, back) = (flow(from, to), flow(to, from));
                    let fault = (forth - back).abs();
                    assert!(fault <= 1e-12, "{}, {acceptance:?}: flows {forth} and {back}", self.problem.name);
                }
            }
        }
    }

    /// Draws a candidate and makes it ready, with the recourse on the way where its trajectory needs that.
    fn propose(&self, from: &ChainState, engine: &mut dyn Recourse, random: &mut Random, to: &mut ChainState) {
        self.proposal.propose(self.states, from, random, to);
        self.complete(from, engine, to);
    }

    /// Makes a candidate ready.
    fn complete(&self, from: &ChainState, engine: &mut dyn Recourse, to: &mut ChainState) {
        while to.state != from.state {
            self.states.realize(&to.state, &mut to.xi);
            engine.solve(&to.xi, &mut to.answer).unwrap_or_else(|error| panic!("{}: {error}", self.problem.name));
            self.proposal.prepare(self.states, to, self.temperature);
            if !self.proposal.advance(self.states, from, to) {
                return;
            }
        }
    }

    fn candidates_are_states_and_ratios_turn_round(
        &self,
        from: &ChainState,
        engine: &mut dyn Recourse,
        random: &mut Random,
    ) {
        let name = &self.problem.name;
        let (mut to, mut start) = (from.clone(), from.clone());
        for _ in 0..200 {
            self.propose(from, engine, random, &mut to);
            self.states.realize(&to.state, &mut to.xi);
            let size = to.xi.iter().fold(1.0_f64, |size, entry| size.max(entry.abs()));
            assert!(self.problem.set.contains(&to.xi, 1e-9 * size), "{name}: {:?} is no state", to.state);
            if let (Space::Sphere(_), State::Point(point)) = (self.states.space(), &to.state) {
                let square: f64 = point.iter().map(|entry| entry * entry).sum();
                assert!((square - 1.0).abs() < 1e-9, "{name}: a squared length of {square}");
            }
            if to.state == from.state {
                continue;
            }
            // The same way back.
            start.trajectory.reverse(&to.trajectory);
            let [least, most, chosen] = to.chord;
            (start.component, start.chord) = (to.component, [least - chosen, most - chosen, -chosen]);
            let (forth, back) =
                (self.proposal.log_ratio(self.states, from, &to), self.proposal.log_ratio(self.states, &to, &start));
            assert!(
                forth.is_finite() && close(forth, -back, 1e-6),
                "{name}: the ratio is {forth} one way and {back} the other"
            );
        }
    }

    /// Means of a few functions under q from draws, and from draws of ν that are weighted by the density. Candidates
    /// that stay are no part of it.
    fn draws_follow_density(&self, from: &ChainState, random: &mut Random) {
        const FUNCTIONS: usize = 6;
        let dim = self.problem.set.dim();
        let waves: Vec<f64> = (0..FUNCTIONS * dim).map(|_| 2.0 * random.random::<f64>() - 1.0).collect();
        let mut to = from.clone();
        let stays = to.xi.clone();
        let values = |chain_state: &mut ChainState, weight: f64, moments: &mut [[f64; 2]; FUNCTIONS]| {
            self.states.realize(&chain_state.state, &mut chain_state.xi);
            for (wave, moments) in waves.chunks(dim).zip(moments) {
                let phase: f64 =
                    wave.iter().zip(&chain_state.xi).zip(&stays).map(|((wave, xi), from)| wave * (xi - from)).sum();
                let value = weight * (1.0 + (3.0 * phase).sin());
                moments[0] += value / DRAWS as f64;
                moments[1] += value * value / DRAWS as f64;
            }
        };
        let (mut drawn, mut weighted) = ([[0.0; 2]; FUNCTIONS], [[0.0; 2]; FUNCTIONS]);
        let is_finite = matches!(self.states.space(), Space::Finite(_));
        for _ in 0..DRAWS {
            self.proposal.propose(self.states, from, random, &mut to);
            if is_finite || to.state != from.state {
                values(&mut to, 1.0, &mut drawn);
            }
            self.states.draw(random, &mut to.state);
            let weight = self.log_density(from, &to.state).exp();
            values(&mut to, weight, &mut weighted);
        }
        for ([a, a2], [b, b2]) in drawn.into_iter().zip(weighted) {
            let error = ((a2 - a * a + b2 - b * b).max(0.0) / DRAWS as f64).sqrt() + 1e-9;
            assert!(
                (a - b).abs() <= ERRORS * error,
                "{}: {a} by draws and {b} by density, ± {error}",
                self.problem.name
            );
        }
    }
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}
