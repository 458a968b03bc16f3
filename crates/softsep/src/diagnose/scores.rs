//! Scores of states: Q(x, ·) and its slopes, at all states or at draws from ν.

use crate::error::Error;
use crate::model::Problem;
use crate::recourse::{Answer, Recourse, RecourseOutcome, engine};
use crate::run::{Clock, Random};
use crate::uncertainty::{State, States};

/// The score and slopes at one state.
pub(super) struct StateScore {
    pub(super) xi: Vec<f64>,
    pub(super) score: f64,
    pub(super) slope_x: Vec<f64>,
    pub(super) slope_xi: Vec<f64>,
}

/// The scores of some states at one decision.
#[derive(Default)]
pub(super) struct ScoreSample {
    /// The states with a finite score.
    pub(super) scored: Vec<StateScore>,
    /// Number of states without a finite score: the recourse is infeasible or unbounded.
    pub(super) without_recourse: usize,
}

impl ScoreSample {
    pub(super) fn scores(&self) -> impl Iterator<Item = f64> + '_ {
        self.scored.iter().map(|state| state.score)
    }

    pub(super) fn worst(&self) -> f64 {
        self.scores().fold(f64::NEG_INFINITY, f64::max)
    }

    /// The largest difference of two scores.
    pub(super) fn spread(&self) -> f64 {
        let least = self.scores().fold(f64::INFINITY, f64::min);
        (self.worst() - least).max(0.0)
    }
}

/// Evaluates states one after the other.
pub(super) struct ScoreEvaluator<'a> {
    pub(super) states: &'a dyn States,
    engine: Box<dyn Recourse>,
    answer: Answer,
    xi: Vec<f64>,
    clock: &'a Clock,
}

impl<'a> ScoreEvaluator<'a> {
    pub(super) fn new(problem: &Problem, states: &'a dyn States, clock: &'a Clock) -> Result<Self, Error> {
        let xi = vec![0.0; problem.set.dim()];
        Ok(Self { states, engine: engine(problem, clock)?, answer: Answer::new(problem), xi, clock })
    }

    /// Evaluates the given states at x.
    pub(super) fn evaluate_all(&mut self, x: &[f64], all: &[State]) -> Result<ScoreSample, Error> {
        self.engine.at(x);
        let mut sample = ScoreSample::default();
        for state in all {
            self.evaluate(state, &mut sample)?;
        }
        Ok(sample)
    }

    /// Evaluates the given number of draws from ν at x.
    pub(super) fn evaluate_draws(
        &mut self,
        x: &[f64],
        draws: usize,
        random: &mut Random,
    ) -> Result<ScoreSample, Error> {
        self.engine.at(x);
        let mut sample = ScoreSample::default();
        let mut state = self.states.blank();
        for _ in 0..draws {
            self.states.draw(random, &mut state);
            self.evaluate(&state, &mut sample)?;
        }
        Ok(sample)
    }

    fn evaluate(&mut self, state: &State, sample: &mut ScoreSample) -> Result<(), Error> {
        self.clock.check()?;
        self.states.realize(state, &mut self.xi);
        self.engine.solve(&self.xi, &mut self.answer)?;
        let answer = &self.answer;
        if answer.outcome == RecourseOutcome::Solved {
            let (slope_x, slope_xi) = (answer.slope_x.clone(), answer.slope_xi.clone());
            sample.scored.push(StateScore { xi: self.xi.clone(), score: answer.value, slope_x, slope_xi });
        } else {
            sample.without_recourse += 1;
        }
        Ok(())
    }
}

/// The Moreau envelope with parameter τ at x and the states of a sample.
pub(super) fn smoothed_scores(
    problem: &Problem,
    tau: f64,
    x: &[f64],
    sample: &ScoreSample,
    clock: &Clock,
) -> Result<Vec<f64>, Error> {
    let smoothed = problem.moreau(tau);
    let mut engine = engine(&smoothed, clock)?;
    let mut answer = Answer::new(&smoothed);
    engine.at(x);
    let mut scores = Vec::with_capacity(sample.scored.len());
    for state in &sample.scored {
        clock.check()?;
        engine.solve(&state.xi, &mut answer)?;
        scores.push(answer.value);
    }
    Ok(scores)
}
