//! Certification of decisions by random draws: two separate statements.
//!
//! *Violation level*, without assumptions. If the scenarios that cost more than the value have probability `level` by
//! the reference measure ν, N independent draws miss all of them with probability at most (1 − level)ᴺ. N is chosen
//! such that this is δ.
//!
//! *Worst case* (EC.3 of the paper). If the bound U = f(x) + θ + ε is false, one draw refutes it with probability at
//! least 1 − ρ; so r draws miss it with probability at most ρʳ. ρ is derived from the problem, or given by the user,
//! who vouches for it; it is never estimated.
//!
//! A run may try several decisions. Attempt k has draws of its own, on which no earlier choice depends, and the share
//! δ_k = (1 − confidence)/(k(k + 1)) of the error probability, as in the paper. However the k-th decision was chosen,
//! the attempt accepts a false statement with probability at most δ_k; these add up to 1 − confidence. That holds for
//! one `Certifier` in a run: a second one would draw the same scenarios again. Callers that count attempts in another
//! way, as branch and cut does by integer assignments, give each its share.
//!
//! The clock may end an attempt early. The draws made by then, in their fixed order, are the first N' of the attempt,
//! and give the level at which (1 − level)^N' = δ_k. This statement is valid whatever ended the attempt: it is false
//! only if the true share p is above that level, and then the first n draws all missed, where n is the smallest number
//! with (1 − p)ⁿ ≤ δ_k. That has probability at most δ_k, and does not depend on N'.
//!
//! An ascent starts from every draw. One that finds a worse scenario refutes the decision, so that fewer false
//! statements are accepted; no probability is claimed for that.

mod call_rule;
mod calls;
mod detection;
mod draws;
mod evaluator;
mod inside;
mod record;
mod recourse;
mod shares;
mod verification;

use std::sync::Arc;

pub(crate) use call_rule::CallRule;
pub(crate) use evaluator::{Evaluator, cost_at};
pub(crate) use inside::bound_inside;
pub(crate) use record::{count, decide_late, keep_unseparated, late_separation, separate_and_record};
pub(crate) use recourse::check_recourse;
pub(crate) use verification::Verification;

use crate::certify::ProbabilisticTarget;
use crate::error::Error;
use crate::model::Problem;
use crate::run::{Attested, Clock, ProbabilisticBound, ViolationLevel};
use crate::separation::Found;
use crate::uncertainty::{Space, States};
use detection::Detection;
use draws::Samplers;

/// The distance of a probabilistic upper bound from the decision's value (ε of EC.3), as a share of the gap. The rest
/// of the gap is left for the method.
const SLACK_SHARE: f64 = 0.5;

/// A scenario refutes a value if its cost is larger by more than this share of the objective: recourse engines agree up
/// to smaller differences.
const REFUTATION_TOL: f64 = 1e-6;

/// The smallest difference that refutes a value, for objectives near zero.
const ABSOLUTE_REFUTATION_TOL: f64 = 1e-9;

/// The largest number of draws for an upper bound under derived constants. If more are needed, no bound is given.
const MOST_DRAWS: u64 = 20_000;

/// The result of an attempt.
#[derive(Debug, Clone, PartialEq)]
pub enum Judgement {
    /// A draw, or an ascent from one, found a scenario that costs more than the value.
    Refuted(Found),
    /// No such scenario was found.
    Stands {
        /// The statements about the decision.
        attested: Attested,
        /// The number of recourse solves.
        solves: u64,
    },
}

/// The statements that an attempt is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statements {
    /// A violation level and a probabilistic upper bound.
    Both,
    /// A probabilistic upper bound.
    Bound,
}

/// Certifies decisions by draws.
pub struct Certifier<'a> {
    problem: &'a Problem,
    states: Arc<dyn States + 'a>,
    target: ProbabilisticTarget,
    gap: f64,
    seed: u64,
    clock: Clock,
    attempts: u32,
    detection: Detection,
    samplers: Samplers,
}

/// An attempt to certify a decision.
struct Attempt<'t> {
    problem: &'t Problem,
    states: &'t dyn States,
    x: &'t [f64],
    /// A scenario with a larger recourse cost refutes the value.
    refutation_level: f64,
    seed: u64,
    /// The number of the attempt in the run, from one on.
    number: u32,
    clock: &'t Clock,
}

/// The result of a search for a scenario that refutes a value.
enum AttemptOutcome {
    /// One was found.
    Refuted(Found),
    /// None was found in this many draws or transitions; fewer than asked for if the clock stopped.
    NotRefuted { evaluations: u64, solves: u64 },
}

impl<'a> Certifier<'a> {
    /// A certifier for the decisions of a run with this gap and seed. The states must hold a maximum of Q(x, ·) for
    /// every x. A run must have one certifier only.
    pub fn new(
        problem: &'a Problem,
        states: impl Into<Arc<dyn States + 'a>>,
        target: ProbabilisticTarget,
        gap: f64,
        seed: u64,
        clock: &Clock,
    ) -> Result<Self, Error> {
        target.validate()?;
        let states = states.into();
        let detection = Detection::of(problem, states.as_ref(), target.assumed, clock)?;
        let samplers = Samplers::new(problem, states.as_ref(), clock)?;
        Ok(Self { problem, states, target, gap, seed, clock: clock.clone(), attempts: 0, detection, samplers })
    }

    /// Returns ε, the distance of the probabilistic upper bound from this objective.
    pub fn slack(&self, objective: f64) -> f64 {
        (SLACK_SHARE * self.gap * objective.abs()).max(2.0 * tolerance(objective))
    }

    /// Certifies that the largest recourse cost at `x` is `value`. If the clock stops, the statement is that of the
    /// draws made so far, or there is none.
    pub fn certify(&mut self, x: &[f64], value: f64) -> Result<Judgement, Error> {
        let attempt = f64::from(self.attempts + 1);
        self.attempt(x, value, (attempt * (attempt + 1.0)).recip(), Statements::Both)
    }

    /// As [`Self::certify`], with this share of the error probability. The shares of all attempts of a run must add up
    /// to at most 1.
    pub fn attempt(&mut self, x: &[f64], value: f64, share: f64, statements: Statements) -> Result<Judgement, Error> {
        self.attempts += 1;
        let objective = self.problem.first.value(x) + value;
        let attempt = Attempt {
            problem: self.problem,
            states: self.states.as_ref(),
            x,
            refutation_level: value + tolerance(objective),
            seed: self.seed,
            number: self.attempts,
            clock: &self.clock,
        };
        let delta = (1.0 - self.target.confidence) * share;
        // A worst case above U exceeds the refutation level by at least this margin.
        let found = self.detection.refutation_probability(self.slack(objective) - tolerance(objective));
        let calls = self.calls_for_bound(found, delta);
        let temperature = self.detection.temperature();
        let violation_draws = match statements {
            Statements::Both => draws_needed(self.target.level, delta),
            Statements::Bound => 0,
        };
        let draws = match (&calls, temperature) {
            (Ok(calls), None) => violation_draws.max(*calls),
            _ => violation_draws,
        };
        let (made, mut solves) = match self.samplers.draw(&attempt, draws)? {
            AttemptOutcome::Refuted(found) => return Ok(Judgement::Refuted(found)),
            AttemptOutcome::NotRefuted { evaluations, solves } => (evaluations, solves),
        };
        let mut attested = Attested::default();
        if statements == Statements::Both {
            self.attest_violation(made, violation_draws, delta, &mut attested);
        }
        let mut called = made;
        if let (Ok(calls), Some(temperature)) = (&calls, temperature) {
            match calls::call(&attempt, temperature, *calls, self.samplers.engine())? {
                AttemptOutcome::Refuted(found) => return Ok(Judgement::Refuted(found)),
                AttemptOutcome::NotRefuted { evaluations, solves: more } => {
                    (called, solves) = (evaluations, solves + more)
                }
            }
        }
        match calls {
            Ok(calls) if called >= calls => {
                let upper = objective + self.slack(objective);
                let assumes = self.detection.assumes(found);
                attested.likely = Some(ProbabilisticBound { upper, confidence: self.target.confidence, assumes });
            }
            Ok(calls) => attested
                .remarks
                .push(format!("no likely upper bound: the run ended after {called} of {calls} calls for it")),
            Err(remark) => attested.remarks.push(remark),
        }
        Ok(Judgement::Stands { attested, solves })
    }

    /// Returns the number of calls for an upper bound, if each refutes a false one with probability `found`. Errs with
    /// the reason why there is no bound.
    fn calls_for_bound(&self, found: f64, delta: f64) -> Result<u64, String> {
        if let Detection::Unknown(why) = &self.detection {
            return Err(format!("no likely upper bound: {why}"));
        }
        if !self.states.draws_exactly() {
            return Err("no likely upper bound: draws are steps of a walk here, and not independent".into());
        }
        let calls = draws_needed(found, delta);
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
            let level = if draws == wanted { self.target.level } else { level_of(draws, delta) };
            attested.violation =
                Some(ViolationLevel { level, confidence: self.target.confidence, measure: self.measure() });
            attested.remarks.push(format!("{draws} draws, each of them climbed from, met nothing above the objective"));
        }
    }

    /// Describes ν in words.
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

/// Returns the difference of costs that refutes a value.
fn tolerance(objective: f64) -> f64 {
    (REFUTATION_TOL * objective.abs()).max(ABSOLUTE_REFUTATION_TOL)
}

/// Returns the smallest n with (1 − share)ⁿ ≤ δ: n independent draws miss an event of probability `share` with
/// probability at most δ.
fn draws_needed(share: f64, delta: f64) -> u64 {
    let needed = delta.ln() / (-share).ln_1p();
    // No number of draws finds an event of probability zero. The cast saturates for larger floats.
    if needed.is_nan() { u64::MAX } else { needed.ceil().max(1.0) as u64 }
}

/// Returns the share with (1 − share)ⁿ = δ for n draws.
fn level_of(draws: u64, delta: f64) -> f64 {
    -(delta.ln() / draws as f64).exp_m1()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_as_many_as_needed_and_no_more() {
        for share in [0.9, 0.5, 0.1, 1e-3, 1e-6] {
            for delta in [0.3, 0.05, 1e-6_f64] {
                let draws = draws_needed(share, delta);
                let missed = |draws: u64| (draws as f64 * (-share).ln_1p()).exp();
                assert!(missed(draws) <= delta * (1.0 + 1e-9), "{share} {delta}: {draws}");
                assert!(draws == 1 || missed(draws - 1) > delta, "{share} {delta}: {draws}");
                assert!(
                    level_of(draws, delta) <= share * (1.0 + 1e-9)
                        && (draws == 1 || level_of(draws - 1, delta) > share)
                );
            }
        }
        // The rule of three, and the ends.
        assert_eq!(draws_needed(1e-3, 0.05), 2995);
        assert_eq!((draws_needed(1.0, 0.05), draws_needed(0.0, 0.05)), (1, u64::MAX));
    }
}
