//! How a run with soft separation ends: a decision that looks good enough is looked at harder, and then proved where
//! that is asked for or cheap.

use rand::RngExt;

use super::evidence::{Evidence, tellable};
use super::oracle::Oracle;
use crate::certification::{Certifier, Judgement, Statements};
use crate::error::Error;
use crate::methods::record::{is_stop, record};
use crate::model::Problem;
use crate::recourse::engine;
use crate::run::{Purpose, Random, Run, Stop, stream};
use crate::separation::{Ascent, Ask, Exact, Found, Separation};
use crate::settings::Certify;
use crate::uncertainty::{Count, Space, States};

/// How often the chains start anew at a decision before the run ends with it: where one stands may be a local maximum.
/// Where costs move with ξ there are many of these.
const RESTARTS: u32 = 4;
const RESTARTS_INSIDE: u32 = 16;

/// Scenarios that hurt before and are climbed from again.
const POOL: usize = 8;

/// Draws that are climbed from. On budget sets with many local maxima estimates were too low in two of five runs
/// without them.
const DRAWS: usize = 32;

/// Ends of the set that are climbed from each time, in random directions.
const ENDS: usize = 3;

/// The share that a step of these must gain.
const LEAST_GAIN: f64 = 1e-12;

/// The same for scenarios without recourse.
const ENDS_TO_MISSES: usize = 8;

/// The share of the gap asked for at which cuts hand over to a proof. They are cheap, and every part of the gap that is
/// left saves a proof work: on location–transportation it decides whether the first bound will do.
const BEFORE_PROOF: f64 = 0.1;

/// The same for draws, whose bound stands half of the gap above the estimate.
const BEFORE_DRAWS: f64 = 0.5;

/// The share of what is left that a proof aims at: the gap is relative to the upper bound, and that is not known yet.
const MOST_OF_REST: f64 = 0.99;

/// The share of it by which a scenario may be worse than what is known before it goes back to the cuts.
const WORTH_A_CUT: f64 = 0.2;

/// Extreme points that are scanned unasked where each takes a conic program.
const CHEAP_CONES: usize = 1000;

/// The end of a run, and what proves or attests it.
pub(in crate::methods) struct End<'a> {
    problem: &'a Problem,
    states: &'a dyn States,
    proof: Proof<'a>,
    certify: Certify,
    /// The share of the gap at which a decision is looked at harder. A proof that does not close it halves this.
    share: f64,
    /// The share of what may go wrong that the next attempt by draws has, where attempts are not just counted.
    next_attempt: Option<f64>,
    /// Whether draws have said of the last decision what they can.
    is_attested: bool,
    /// For the ends of the set that are climbed from.
    random: Random,
}

/// How a decision is bounded from above.
enum Proof<'a> {
    /// By an exact separation.
    Exact(Box<dyn Separation + 'a>),
    /// By draws, with a probability.
    Draws(Box<Certifier<'a>>),
    /// Not at all.
    None,
}

impl<'a> Proof<'a> {
    /// What was asked for, or what is cheap. Refuses what nobody can give.
    fn new(problem: &'a Problem, states: &'a dyn States, certify: Certify, run: &Run) -> Result<Self, Error> {
        let exact = match (certify, Exact::choose(problem)) {
            (Certify::None, _) => return Ok(Self::None),
            (Certify::Exact, Err(reason)) => return Err(Error::Settings(format!("--certify exact: {reason}"))),
            (Certify::Exact, Ok(exact)) => Some(exact),
            (Certify::Free | Certify::Probabilistic(_), exact) => {
                exact.ok().filter(|exact| is_cheap(exact, problem, states))
            }
        };
        match (exact, certify) {
            (Some(exact), _) => Ok(Self::Exact(exact.build(problem)?)),
            (None, Certify::Probabilistic(wanted)) => {
                let (gap, seed) = (run.limits().gap, run.limits().seed);
                Ok(Self::Draws(Box::new(Certifier::new(problem, states, wanted, gap, seed, run.clock())?)))
            }
            (None, _) => Ok(Self::None),
        }
    }
}

/// Whether an exact separation costs little beside the run itself: where there is a list to scan, or where Q is
/// monotone and one point is the worst.
fn is_cheap(exact: &Exact, problem: &Problem, states: &dyn States) -> bool {
    match exact {
        Exact::Scan(points) => {
            problem.set.is_finite_list() || problem.recourse.is_linear() || points.len() <= CHEAP_CONES
        }
        Exact::Split | Exact::Bilinear => states.space() == Space::Finite(Count::Exactly(1)),
    }
}

impl<'a> End<'a> {
    /// The end of a run that walks on these states. Refuses a proof that nobody can give, before any work is done.
    pub(in crate::methods) fn new(
        problem: &'a Problem,
        states: &'a dyn States,
        certify: Certify,
        run: &Run,
    ) -> Result<Self, Error> {
        let proof = Proof::new(problem, states, certify, run)?;
        // A scan leaves nothing open.
        let share = match (&proof, certify) {
            (Proof::Draws(_), _) => BEFORE_DRAWS,
            (Proof::Exact(_), Certify::Exact) => BEFORE_PROOF,
            _ => 1.0,
        };
        Ok(Self {
            problem,
            states,
            proof,
            certify,
            share,
            next_attempt: None,
            is_attested: false,
            random: stream(run.limits().seed, Purpose::Start, 2),
        })
    }

    /// The same, but where a proof is asked for cuts hand over to it at this share of the gap.
    pub(in crate::methods) fn with_share_before_proof(self, share: f64) -> Self {
        Self { share: if self.share < 1.0 { share } else { self.share }, ..self }
    }

    /// The share of the gap at which a decision is looked at harder.
    pub(in crate::methods) fn share(&self) -> f64 {
        self.share
    }

    /// Whether decisions are verified by draws.
    pub(in crate::methods) fn draws(&self) -> bool {
        matches!(self.proof, Proof::Draws(_))
    }

    /// Gives the next attempt by draws its share of what may go wrong.
    pub(in crate::methods) fn set_next_attempt(&mut self, share: f64) {
        self.next_attempt = Some(share);
    }

    /// Looks for a likely upper bound on what a decision costs, by as many calls as that takes with this share of what
    /// may go wrong. Whether the decision withstands them; if not, the cut of what refuted it is among those seen.
    pub(in crate::methods) fn verify(
        &mut self,
        evidence: &mut Evidence,
        x: &[f64],
        value: f64,
        share: f64,
        run: &mut Run,
    ) -> Result<bool, Error> {
        let Proof::Draws(certifier) = &mut self.proof else { return Ok(true) };
        match certifier.attempt(x, value - self.problem.first.value(x), share, Statements::Bound)? {
            Judgement::Refuted(found) => {
                run.count_solves(found.solves);
                evidence.ask(x, &found.xi)?;
                Ok(false)
            }
            Judgement::Stands { attested, solves } => {
                run.count_solves(solves);
                run.attest(x, value, attested);
                Ok(true)
            }
        }
    }

    /// Whether the best decision is so close to the lower bound, as far as is known, that it should be looked at
    /// harder.
    pub(in crate::methods) fn is_due(&self, evidence: &Evidence, run: &Run) -> bool {
        evidence.is_within(self.share * run.limits().gap, run)
    }

    /// Looks at the best decision harder, and if it still is what it seems to be, ends the run with it.
    pub(in crate::methods) fn finish(
        &mut self,
        evidence: &mut Evidence,
        oracle: &mut Oracle,
        run: &mut Run,
    ) -> Result<(), Error> {
        let Some(x) = evidence.best().map(|best| best.x.clone()) else { return Ok(()) };
        // An exact separation looks harder than anything here.
        let is_proved = matches!(self.proof, Proof::Exact(_));
        if is_proved || self.withstands(evidence, oracle, &x, run)? {
            self.prove(evidence, oracle, &x, run)
        } else {
            Ok(())
        }
    }

    /// Whether the decision is still as good when chains start anew there and ascents begin at other ends of the set.
    fn withstands(
        &mut self,
        evidence: &mut Evidence,
        oracle: &mut Oracle,
        x: &[f64],
        run: &mut Run,
    ) -> Result<bool, Error> {
        for start in evidence.memory().worst_scenarios(x, POOL) {
            evidence.climb(x, &start, LEAST_GAIN)?;
        }
        self.climb_from_draws(evidence, x)?;
        evidence.revise(run)?;
        if !self.is_due(evidence, run) {
            return Ok(false);
        }
        let is_inside = self.problem.recourse.costs_move() && !self.problem.set.is_finite_list();
        for _ in 0..if is_inside { RESTARTS_INSIDE } else { RESTARTS } {
            oracle.restart();
            oracle.call(x, 10 + self.problem.set.dim() as u64 / 2, run)?;
            evidence.keep_places(oracle.places());
            // A smoothed score is below the cost itself, and finite where there is no recourse.
            if oracle.is_smoothed()
                && let Some(worst) = oracle.worst().map(|place| place.xi.clone())
            {
                evidence.ask(x, &worst)?;
            }
            climb(self.problem, evidence, oracle, x, &mut self.random)?;
            evidence.revise(run)?;
            if !self.is_due(evidence, run) {
                return Ok(false);
            }
        }
        self.climb_to_misses(evidence, x, run)?;
        evidence.revise(run)?;
        Ok(self.is_due(evidence, run))
    }

    /// Climbs from draws of the reference measure: where there are many local maxima, the ends of the set in random
    /// directions lead to few of them.
    fn climb_from_draws(&mut self, evidence: &mut Evidence, x: &[f64]) -> Result<(), Error> {
        let (mut state, mut xi) = (self.states.blank(), vec![0.0; self.problem.set.dim()]);
        for _ in 0..DRAWS {
            self.states.draw(&mut self.random, &mut state);
            self.states.realize(&state, &mut xi);
            evidence.climb(x, &xi, LEAST_GAIN)?;
        }
        Ok(())
    }

    /// Looks for a scenario without recourse. The cost may say nothing on the way to one; by how much rows must be
    /// missed does.
    fn climb_to_misses(&mut self, evidence: &mut Evidence, x: &[f64], run: &mut Run) -> Result<(), Error> {
        let Some(start) = evidence.best().map(|best| best.worst.clone()) else { return Ok(()) };
        let elastic = self.problem.elastic();
        let mut engine = engine(&elastic, run.clock())?;
        let mut ascent = Ascent::new(&elastic, engine.as_mut(), x);
        ascent.climb(&start)?;
        ascent.climb_at_random(ENDS_TO_MISSES, run.limits().seed.wrapping_add(run.iterations()))?;
        let found = ascent.found()?;
        run.count_solves(found.solves);
        // Whether a row is missed by more than tolerances is for the recourse itself to say.
        if found.value > 0.0 {
            evidence.ask(x, &found.xi)?;
        }
        Ok(())
    }

    /// Bounds what the best decision costs from above, where that is asked for or cheap; else the run ends with what it
    /// has.
    fn prove(&mut self, evidence: &mut Evidence, oracle: &mut Oracle, x: &[f64], run: &mut Run) -> Result<(), Error> {
        let Some(best) = evidence.best() else { return Ok(()) };
        let worse = match &mut self.proof {
            Proof::None => {
                run.say(
                    "the estimate is within the gap of the lower bound; --certify exact would prove it, where that \
                     can be done",
                );
                return Err(Stop::Stalled.into());
            }
            Proof::Exact(separation) => {
                // What the cuts have left of the gap is the proof's.
                let open = run.bounds().lower().map_or(0.0, |lower| (best.value - lower).max(0.0));
                let left = (run.limits().gap * best.value.abs() - open).max(0.0);
                // A scenario that would take much of that is one for the cuts first.
                let beyond = best.value - self.problem.first.value(x) + WORTH_A_CUT * left;
                let ask = Ask { beyond: Some(beyond), tolerance: (MOST_OF_REST - WORTH_A_CUT) * left };
                let found = record(self.problem, x, &best.worst, separation.as_mut(), &ask, self.certify, run)?;
                // The search may have met nothing as bad as what is known already.
                run.revise(x, best.value, &best.worst);
                explain(separation.as_ref(), run);
                let is_worse =
                    |found: &Found| self.problem.first.value(x) + found.value > best.value + tellable(best.value);
                if !found.as_ref().is_some_and(is_worse) && !run.bounds().meet(run.limits().gap) {
                    // There is nothing left for the cuts to close.
                    if evidence.is_within(0.0, run) {
                        return Err(Stop::Stalled.into());
                    }
                    self.share *= 0.5;
                }
                found
            }
            Proof::Draws(certifier) => {
                let cost = best.value - self.problem.first.value(x);
                let judgement = match self.next_attempt.take() {
                    Some(share) => certifier.attempt(x, cost, share, Statements::Both)?,
                    None => certifier.certify(x, cost)?,
                };
                match judgement {
                    Judgement::Refuted(found) => {
                        run.count_solves(found.solves);
                        Some(found)
                    }
                    Judgement::Stands { attested, solves } => {
                        run.count_solves(solves);
                        run.attest(x, best.value, attested);
                        self.is_attested = true;
                        return Err(Stop::Stalled.into());
                    }
                }
            }
        };
        if let Some(found) = worse {
            oracle.start_at(&found.xi);
            evidence.ask(x, &found.xi)?;
            evidence.revise(run)?;
        }
        Ok(())
    }

    /// Whether something was asked for that has not been said of any decision yet.
    pub(in crate::methods) fn has_more_to_prove(&self, run: &Run) -> bool {
        let is_wanted = matches!(self.certify, Certify::Exact | Certify::Probabilistic(_)) && !self.is_attested;
        is_wanted && run.bounds().upper().is_none()
    }

    /// A run that a limit ends still bounds its decision from above, if a proof was asked for.
    pub(in crate::methods) fn prove_what_is_left(
        &mut self,
        evidence: &mut Evidence,
        oracle: &mut Oracle,
        run: &mut Run,
    ) -> Result<(), Error> {
        match evidence.best().map(|best| best.x.clone()) {
            Some(x) if self.has_more_to_prove(run) => match self.prove(evidence, oracle, &x, run) {
                Err(error) if !is_stop(&error) => Err(error),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }
}

/// Says how a bound was proved, and what of the gap is left to which cause.
fn explain(separation: &dyn Separation, run: &mut Run) {
    let bounds = run.bounds();
    let (Some(best), Some(lower), Some(upper)) = (bounds.best(), bounds.lower(), bounds.upper()) else { return };
    let Some(proof) = separation.proof() else { return };
    let share = |amount: f64| 100.0 * amount.max(0.0) / upper.abs().max(f64::MIN_POSITIVE);
    let note = format!(
        "proved by {proof}; of the gap, {:.4} % is x (its worst scenario found against the lower bound), {:.4} % is \
         the bound, or a worse scenario \
         that was not found",
        share(best.value - lower),
        share(upper - best.value)
    );
    run.say(&note);
}

/// Climbs from where the worst chain stands, and from a few random ends of the set: the last digits are hard for a
/// chain. In a body one that has come close to a face moves along it by ever smaller steps, and hardly comes to a
/// corner.
fn climb(
    problem: &Problem,
    evidence: &mut Evidence,
    oracle: &mut Oracle,
    x: &[f64],
    random: &mut Random,
) -> Result<(), Error> {
    let Some(mut start) = oracle.worst().map(|place| place.xi.clone()) else { return Ok(()) };
    let mut worst = evidence.climb(x, &start, LEAST_GAIN)?;
    let mut direction = vec![0.0; start.len()];
    for _ in 0..ENDS {
        if worst.value == f64::INFINITY {
            break;
        }
        direction.iter_mut().for_each(|entry| *entry = random.random_range(-1.0..1.0));
        problem.set.support(&direction, &mut start)?;
        let other = evidence.climb(x, &start, LEAST_GAIN)?;
        if other.value > worst.value {
            worst = other;
        }
    }
    oracle.start_at(&worst.xi);
    Ok(())
}
