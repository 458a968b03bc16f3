//! The chain of soft separation (Definition 1 of the paper): it walks the states of a set toward scenarios that hurt the incumbent, one step or
//! a few at a time, while the incumbent moves.

mod acceptance;
mod adaptation;
mod diagnostics;

pub use acceptance::Acceptance;
pub use diagnostics::Diagnostics;

use rand::RngExt;

use adaptation::Adaptation;

use crate::model::Problem;
use crate::proposal::{Place, Proposal};
use crate::recourse::{Answer, Recourse, RecourseError};
use crate::run::{Purpose, Random, stream};
use crate::uncertainty::States;

/// The transition kernel P_x but for x, which the recourse engine holds. Its invariant law is p_x ∝ exp(score/w) with respect to ν.
///
/// The score is what the engine answers: Q itself, or its Moreau envelope where the engine is that of `Problem::moreau`.
#[derive(Clone, Copy)]
pub struct Kernel<'a> {
    /// The states.
    pub states: &'a dyn States,
    /// Where candidates come from.
    pub proposal: &'a dyn Proposal,
    /// When they are taken.
    pub acceptance: Acceptance,
    /// w.
    pub temperature: f64,
}

/// One chain, with its own random stream, its state and what is known there.
pub struct Chain {
    random: Random,
    here: Place,
    there: Place,
    /// Whether `here` was answered at the incumbent.
    is_current: bool,
    /// How its candidates come nearer, if they do.
    adaptation: Option<Adaptation>,
    diagnostics: Diagnostics,
}

impl Chain {
    /// A chain that starts at a draw from ν. Chains with the same seed and different labels are independent.
    pub fn new(problem: &Problem, states: &dyn States, seed: u64, label: u32) -> Self {
        let mut random = stream(seed, Purpose::Chain, label);
        let place =
            |state| Place { state, xi: vec![0.0; problem.set.dim()], answer: Answer::new(problem), aim: Default::default(), sharpness: 1.0 };
        let mut here = place(states.blank());
        states.draw(&mut random, &mut here.state);
        states.realize(&here.state, &mut here.xi);
        Self { random, here, there: place(states.blank()), is_current: false, adaptation: None, diagnostics: Diagnostics::default() }
    }

    /// The chain with candidates that come nearer while few are taken, and go further while many are. How near depends on the past alone, so that
    /// every step still leaves p_x as it is.
    pub fn adapting(mut self) -> Self {
        self.adaptation = Some(Adaptation::default());
        self
    }

    /// Moves the chain to a given member of the set; false if no state stands for it.
    pub fn start_at(&mut self, states: &dyn States, xi: &[f64]) -> bool {
        let found = states.locate(xi, &mut self.here.state);
        if found {
            states.realize(&self.here.state, &mut self.here.xi);
            self.is_current = false;
        }
        found
    }

    /// Tells the chain that the incumbent has moved: what it knows of its state is out of date.
    pub fn incumbent_moved(&mut self) {
        self.is_current = false;
    }

    /// Asks the recourse at the chain's own state, if that was not done since the incumbent moved.
    pub fn look(&mut self, kernel: &Kernel, recourse: &mut dyn Recourse) -> Result<&Place, RecourseError> {
        if !self.is_current {
            recourse.solve(&self.here.xi, &mut self.here.answer)?;
            kernel.proposal.ready(kernel.states, &mut self.here);
            self.is_current = true;
            self.diagnostics.saw(self.here.answer.value);
        }
        Ok(&self.here)
    }

    /// One transition under P_x; whether the state moved. Two recourse solves after the incumbent moved, one otherwise; nothing is allocated.
    pub fn step(&mut self, kernel: &Kernel, recourse: &mut dyn Recourse) -> Result<bool, RecourseError> {
        self.look(kernel, recourse)?;
        kernel.proposal.propose(kernel.states, &self.here, &mut self.random, &mut self.there.state);
        let moved = if self.there.state == self.here.state {
            // The candidate is where the chain stands: whatever the rule, nothing changes, and all is known there.
            self.there.xi.copy_from_slice(&self.here.xi);
            self.there.answer.clone_from(&self.here.answer);
            self.adapt(kernel, Adaptation::stayed);
            false
        } else {
            kernel.states.realize(&self.there.state, &mut self.there.xi);
            recourse.solve(&self.there.xi, &mut self.there.answer)?;
            kernel.proposal.ready(kernel.states, &mut self.there);
            let moved = self.random.random::<f64>() < kernel.acceptance.probability(self.log_ratio(kernel));
            if moved {
                std::mem::swap(&mut self.here, &mut self.there);
            }
            self.adapt(kernel, if moved { Adaptation::accepted } else { Adaptation::rejected });
            moved
        };
        self.diagnostics.stepped(moved, self.there.answer.value, self.here.answer.value);
        Ok(moved)
    }

    /// The logarithm of the ratio r that the acceptance rule looks at.
    fn log_ratio(&self, kernel: &Kernel) -> f64 {
        let (from, to) = (self.here.answer.value, self.there.answer.value);
        // Two infinite values compare as equal: neither is a better scenario.
        let rise = if from == to { 0.0 } else { (to - from) / kernel.temperature };
        rise + kernel.proposal.log_ratio(kernel.states, &self.here, &self.there)
    }

    fn adapt(&mut self, kernel: &Kernel, note: fn(&mut Adaptation) -> Option<f64>) {
        if let Some(sharpness) = self.adaptation.as_mut().and_then(note) {
            self.here.sharpness = sharpness;
            self.there.sharpness = sharpness;
            kernel.proposal.ready(kernel.states, &mut self.here);
        }
    }

    /// Where the chain stands.
    pub fn place(&self) -> &Place {
        &self.here
    }

    /// The last candidate that was not taken, or the state that the chain left.
    pub fn other(&self) -> &Place {
        &self.there
    }

    /// How the chain is doing.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }
}
