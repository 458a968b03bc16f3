//! What random draws say about a decision: two statements, kept apart.
//!
//! *Violation*, which assumes nothing. If scenarios of probability `level` by the reference measure ν cost more than is
//! thought, N independent draws miss all of them with probability at most (1 − level)ᴺ. N is such that this is δ.
//!
//! *Worst case* (EC.3 of the paper). If the bound U = f(x) + θ + ε is false, one draw finds that out with probability 1
//! − ρ at least; so r draws miss it with probability ρʳ. ρ is derived from the problem, or given by the user, who
//! vouches for it; it is never estimated.
//!
//! A run may try several decisions. Attempt k has draws of its own, that nothing before it has seen, and the share δ_k
//! = (1 − confidence)/(k(k + 1)) of what may go wrong, as the paper has it. Whatever chose the k-th decision, the
//! attempt lets a false statement pass with probability δ_k at most; these add up to 1 − confidence. That is for one
//! `Certifier` in a run: a second one would draw the same scenarios again. Whoever counts attempts otherwise, as branch
//! and cut does by integer assignments, gives each its share.
//!
//! A clock may end an attempt early. The draws made by then, in their fixed order, are the first N' of the attempt, and
//! give the level at which (1 − level)^N' = δ_k. That holds whatever ended the attempt: the statement is false only if
//! the true share p is above that level, and then the first n draws all missed, where n is the least with (1 − p)ⁿ ≤
//! δ_k. That has probability δ_k at most, and does not depend on N'.
//!
//! Every draw is climbed from as well. A climb that finds something worse refutes the decision, so that fewer false
//! statements pass; how many fewer is not known, and nothing is claimed for it.

mod calls;
mod detection;
mod draws;
mod evaluator;
mod record;
mod shares;
mod verification;

use std::sync::Arc;

pub(crate) use evaluator::{Evaluator, cost_at};
pub(crate) use record::{count, separate_and_record};
pub(crate) use verification::Verification;

use crate::certify::Wanted;
use crate::error::Error;
use crate::model::Problem;
use crate::run::{Attested, Clock, Likely, Violation};
use crate::separation::Found;
use crate::uncertainty::{Space, States};
use detection::Detection;
use draws::Drawers;

/// The share of the gap asked for by which a likely upper bound stands above what the decision is thought to cost (ε of
/// EC.3): the rest is left for the method.
const SHARE_OF_GAP: f64 = 0.5;

/// Scenarios that cost more by less than this, relative to the objective, are not told from equal ones: recourse
/// engines agree that well.
const TOLERANCE: f64 = 1e-6;

/// The same around an objective of zero.
const LEAST_TOLERANCE: f64 = 1e-9;

/// Draws that are made at most for an upper bound under derived constants; if more are needed there is none.
const MOST_DRAWS: u64 = 20_000;

/// What an attempt came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Judgement {
    /// A draw, or a climb from one, costs more than was thought.
    Refuted(Found),
    /// None did.
    Stands {
        /// What may be said of the decision.
        attested: Attested,
        /// Recourse solves that it took.
        solves: u64,
    },
}

/// What an attempt is to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statements {
    /// How much of the set may cost more, and a likely upper bound.
    Both,
    /// A likely upper bound, where there can be one.
    Bound,
}

/// Verifies decisions by draws.
pub struct Certifier<'a> {
    problem: &'a Problem,
    states: Arc<dyn States + 'a>,
    wanted: Wanted,
    gap: f64,
    seed: u64,
    clock: Clock,
    attempts: u32,
    detection: Detection,
    drawers: Drawers,
}

/// A decision that is being verified.
struct Trial<'t> {
    problem: &'t Problem,
    states: &'t dyn States,
    x: &'t [f64],
    /// A scenario with recourse beyond this cost refutes what is thought of x.
    beyond: f64,
    seed: u64,
    attempt: u32,
    clock: &'t Clock,
}

/// What looking for such a scenario came to.
enum Looked {
    /// It was found.
    Refuted(Found),
    /// So many looks in a row did not find one; fewer than asked for if the clock struck.
    Missed { looks: u64, solves: u64 },
}

impl<'a> Certifier<'a> {
    /// For decisions of a run with this gap and seed, over states that hold a maximum of Q. A run has one.
    pub fn new(
        problem: &'a Problem,
        states: impl Into<Arc<dyn States + 'a>>,
        wanted: Wanted,
        gap: f64,
        seed: u64,
        clock: &Clock,
    ) -> Result<Self, Error> {
        wanted.validate()?;
        let states = states.into();
        let detection = Detection::of(problem, states.as_ref(), wanted.assumed, clock)?;
        let drawers = Drawers::new(problem, states.as_ref(), clock)?;
        Ok(Self { problem, states, wanted, gap, seed, clock: clock.clone(), attempts: 0, detection, drawers })
    }

    /// ε: how far above an objective its likely upper bound stands.
    pub fn slack(&self, objective: f64) -> f64 {
        (SHARE_OF_GAP * self.gap * objective.abs()).max(2.0 * tolerance(objective))
    }

    /// Verifies that the recourse to `x` costs `value` at worst. A clock that strikes leaves the statement of the draws
    /// made so far, or none.
    pub fn certify(&mut self, x: &[f64], value: f64) -> Result<Judgement, Error> {
        let attempt = f64::from(self.attempts + 1);
        self.attempt(x, value, (attempt * (attempt + 1.0)).recip(), Statements::Both)
    }

    /// The same for this share of what may go wrong; the shares of all attempts of a run must add up to 1 at most.
    pub fn attempt(&mut self, x: &[f64], value: f64, share: f64, statements: Statements) -> Result<Judgement, Error> {
        self.attempts += 1;
        let objective = self.problem.first.value(x) + value;
        let trial = Trial {
            problem: self.problem,
            states: self.states.as_ref(),
            x,
            beyond: value + tolerance(objective),
            seed: self.seed,
            attempt: self.attempts,
            clock: &self.clock,
        };
        let delta = (1.0 - self.wanted.confidence) * share;
        // A worst case above U is beyond what refutes x by this much.
        let found = self.detection.found(self.slack(objective) - tolerance(objective));
        let calls = self.calls_for_bound(found, delta);
        let temperature = self.detection.temperature();
        let wanted = match statements {
            Statements::Both => looks_until(self.wanted.level, delta),
            Statements::Bound => 0,
        };
        let draws = match (&calls, temperature) {
            (Ok(calls), None) => wanted.max(*calls),
            _ => wanted,
        };
        let (made, mut solves) = match self.drawers.draw(&trial, draws)? {
            Looked::Refuted(found) => return Ok(Judgement::Refuted(found)),
            Looked::Missed { looks, solves } => (looks, solves),
        };
        let mut attested = Attested::default();
        if statements == Statements::Both {
            self.attest_violation(made, wanted, delta, &mut attested);
        }
        let mut called = made;
        if let (Ok(calls), Some(temperature)) = (&calls, temperature) {
            match calls::call(&trial, temperature, *calls, self.drawers.engine())? {
                Looked::Refuted(found) => return Ok(Judgement::Refuted(found)),
                Looked::Missed { looks, solves: more } => (called, solves) = (looks, solves + more),
            }
        }
        match calls {
            Ok(calls) if called >= calls => {
                let upper = objective + self.slack(objective);
                let assumes = self.detection.assumes(found);
                attested.likely = Some(Likely { upper, confidence: self.wanted.confidence, assumes });
            }
            Ok(calls) => attested
                .remarks
                .push(format!("no likely upper bound: the run ended after {called} of {calls} calls for it")),
            Err(remark) => attested.remarks.push(remark),
        }
        Ok(Judgement::Stands { attested, solves })
    }

    /// How many calls in a row, each of which finds a false bound out with probability `found`, make one; or why none
    /// do.
    fn calls_for_bound(&self, found: f64, delta: f64) -> Result<u64, String> {
        if let Detection::Unknown(why) = &self.detection {
            return Err(format!("no likely upper bound: {why}"));
        }
        if !self.states.draws_exactly() {
            return Err("no likely upper bound: draws are steps of a walk here, and not independent".into());
        }
        let calls = looks_until(found, delta);
        if !self.detection.is_given() && calls > MOST_DRAWS {
            return Err(format!(
                "no likely upper bound: by the constants that can be derived, a draw finds a false one with \
                 probability {found:.1e}, \
                 so that {:.1e} draws would be needed, and at most {MOST_DRAWS} are made",
                -delta.ln() / found
            ));
        }
        Ok(calls)
    }

    fn attest_violation(&self, draws: u64, wanted: u64, delta: f64, attested: &mut Attested) {
        if !self.states.draws_exactly() {
            let why = "no violation level: draws are steps of a walk that only tends to the uniform measure here";
            return attested.remarks.push(why.into());
        }
        if draws < wanted {
            attested
                .remarks
                .push(format!("the run ended after {draws} of the {wanted} draws that the violation level asks for"));
        }
        if draws > 0 {
            let level = if draws == wanted { self.wanted.level } else { level_of(draws, delta) };
            attested.violation = Some(Violation { level, confidence: self.wanted.confidence, measure: self.measure() });
            attested.remarks.push(format!("{draws} draws, each of them climbed from, met nothing above the objective"));
        }
    }

    /// ν in words.
    fn measure(&self) -> String {
        match self.states.space() {
            _ if self.problem.set.is_finite_list() => "uniform on the scenarios of the list".into(),
            Space::Finite(count) if count == self.problem.set.extremes() => "uniform on the extreme points".into(),
            Space::Finite(_) => "uniform on the extreme points that can be the worst".into(),
            Space::Sphere(_) if detection::is_by_area(self.states.as_ref()) => {
                "uniform on the boundary, by area".into()
            }
            Space::Sphere(_) => "uniform on the boundary, by the unit sphere that it is the image of".into(),
            Space::Body(_) => "uniform on the set, by volume".into(),
        }
    }
}

/// How much more a scenario must cost to be worse.
fn tolerance(objective: f64) -> f64 {
    (TOLERANCE * objective.abs()).max(LEAST_TOLERANCE)
}

/// The least n with (1 − share)ⁿ ≤ δ: so many looks miss what has that share with probability δ at most.
fn looks_until(share: f64, delta: f64) -> u64 {
    let needed = delta.ln() / (-share).ln_1p();
    // No number of looks finds what has no share; a float beyond the integers becomes the largest of them.
    if needed.is_nan() { u64::MAX } else { needed.ceil().max(1.0) as u64 }
}

/// The share with (1 − share)ⁿ = δ.
fn level_of(looks: u64, delta: f64) -> f64 {
    -(delta.ln() / looks as f64).exp_m1()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_as_many_as_needed_and_no_more() {
        for share in [0.9, 0.5, 0.1, 1e-3, 1e-6] {
            for delta in [0.3, 0.05, 1e-6_f64] {
                let looks = looks_until(share, delta);
                let missed = |looks: u64| (looks as f64 * (-share).ln_1p()).exp();
                assert!(missed(looks) <= delta * (1.0 + 1e-9), "{share} {delta}: {looks}");
                assert!(looks == 1 || missed(looks - 1) > delta, "{share} {delta}: {looks}");
                assert!(
                    level_of(looks, delta) <= share * (1.0 + 1e-9)
                        && (looks == 1 || level_of(looks - 1, delta) > share)
                );
            }
        }
        // The rule of three, and the ends.
        assert_eq!(looks_until(1e-3, 0.05), 2995);
        assert_eq!((looks_until(1.0, 0.05), looks_until(0.0, 0.05)), (1, u64::MAX));
    }
}
