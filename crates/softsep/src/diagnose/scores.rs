//! Scores of states: Q(x, ·) and its slopes, at every state or at drawn ones.

use crate::error::Error;
use crate::model::Problem;
use crate::recourse::{Answer, Outcome, Recourse, engine};
use crate::run::{Clock, Random};
use crate::uncertainty::{State, States};

/// What the recourse said at one state.
pub(super) struct Seen {
    pub(super) xi: Vec<f64>,
    pub(super) score: f64,
    pub(super) slope_x: Vec<f64>,
    pub(super) slope_xi: Vec<f64>,
}

/// What it said at some states of one decision.
#[derive(Default)]
pub(super) struct Looked {
    /// Those with a finite score.
    pub(super) seen: Vec<Seen>,
    /// How many have none: no recourse, or none that ends.
    pub(super) lost: usize,
}

impl Looked {
    pub(super) fn scores(&self) -> impl Iterator<Item = f64> + '_ {
        self.seen.iter().map(|seen| seen.score)
    }

    pub(super) fn worst(&self) -> f64 {
        self.scores().fold(f64::NEG_INFINITY, f64::max)
    }

    /// How far the scores are apart.
    pub(super) fn spread(&self) -> f64 {
        let least = self.scores().fold(f64::INFINITY, f64::min);
        (self.worst() - least).max(0.0)
    }
}

/// Asks the recourse at one state after the other.
pub(super) struct Looker<'a> {
    pub(super) states: &'a dyn States,
    engine: Box<dyn Recourse>,
    answer: Answer,
    xi: Vec<f64>,
    clock: &'a Clock,
}

impl<'a> Looker<'a> {
    pub(super) fn new(problem: &Problem, states: &'a dyn States, clock: &'a Clock) -> Result<Self, Error> {
        let xi = vec![0.0; problem.set.dim()];
        Ok(Self { states, engine: engine(problem, clock)?, answer: Answer::new(problem), xi, clock })
    }

    /// At each of the states given.
    pub(super) fn everywhere(&mut self, x: &[f64], all: &[State]) -> Result<Looked, Error> {
        self.engine.at(x);
        let mut looked = Looked::default();
        for state in all {
            self.look(state, &mut looked)?;
        }
        Ok(looked)
    }

    /// At so many draws from ν.
    pub(super) fn drawn(&mut self, x: &[f64], draws: usize, random: &mut Random) -> Result<Looked, Error> {
        self.engine.at(x);
        let mut looked = Looked::default();
        let mut state = self.states.blank();
        for _ in 0..draws {
            self.states.draw(random, &mut state);
            self.look(&state, &mut looked)?;
        }
        Ok(looked)
    }

    fn look(&mut self, state: &State, looked: &mut Looked) -> Result<(), Error> {
        self.clock.check()?;
        self.states.realize(state, &mut self.xi);
        self.engine.solve(&self.xi, &mut self.answer)?;
        let answer = &self.answer;
        if answer.outcome == Outcome::Solved {
            let (slope_x, slope_xi) = (answer.slope_x.clone(), answer.slope_xi.clone());
            looked.seen.push(Seen { xi: self.xi.clone(), score: answer.value, slope_x, slope_xi });
        } else {
            looked.lost += 1;
        }
        Ok(())
    }
}
