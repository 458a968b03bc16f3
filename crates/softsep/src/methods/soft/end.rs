//! How a run with soft separation ends: a decision that looks good enough is looked at harder, and then proved where that is asked for or cheap.

use rand::RngExt;

use super::evidence::Evidence;
use super::oracle::Oracle;
use crate::error::Error;
use crate::methods::record::{is_stop, record};
use crate::model::Problem;
use crate::recourse::engine;
use crate::run::{Purpose, Random, Run, Stop, stream};
use crate::separation::{Ascent, Ask, Exact, Separation};
use crate::settings::Certify;

/// How often the chains start anew at a decision before the run ends with it: where one stands may be a local maximum. Where costs move with ξ there
/// are many of these.
const RESTARTS: u32 = 4;
const RESTARTS_INSIDE: u32 = 16;

/// Ends of the set that are climbed from each time, in random directions.
const ENDS: usize = 3;

/// The share that a step of these must gain.
const LEAST_GAIN: f64 = 1e-12;

/// The same for scenarios without recourse.
const ENDS_TO_MISSES: usize = 8;

/// The end of a run, and the exact separation that proves it.
pub(in crate::methods) struct End<'a> {
    problem: &'a Problem,
    certify: Certify,
    separation: Option<Box<dyn Separation + 'a>>,
    /// For the ends of the set that are climbed from.
    random: Random,
}

impl<'a> End<'a> {
    /// Refuses a proof that nobody can give, before any work is done.
    pub(in crate::methods) fn new(problem: &'a Problem, certify: Certify, seed: u64) -> Result<Self, Error> {
        if certify == Certify::Exact
            && let Err(reason) = Exact::choose(problem)
        {
            return Err(Error::Settings(format!("--certify exact: {reason}")));
        }
        Ok(Self { problem, certify, separation: None, random: stream(seed, Purpose::Start, 2) })
    }

    /// Looks at the best decision harder, and if it still is what it seems to be, ends the run with it.
    pub(in crate::methods) fn finish(
        &mut self,
        evidence: &mut Evidence,
        oracle: &mut Oracle,
        run: &mut Run,
    ) -> Result<(), Error> {
        let Some(x) = evidence.best().map(|best| best.x.clone()) else { return Ok(()) };
        let is_inside = self.problem.recourse.costs_move() && !self.problem.set.is_finite_list();
        for _ in 0..if is_inside { RESTARTS_INSIDE } else { RESTARTS } {
            oracle.restart();
            oracle.call(&x, 10 + self.problem.set.dim() as u64 / 2, run)?;
            evidence.keep_places(oracle.places());
            // A smoothed score is below the cost itself, and finite where there is no recourse.
            if oracle.is_smoothed()
                && let Some(worst) = oracle.worst().map(|place| place.xi.clone())
            {
                evidence.ask(&x, &worst)?;
            }
            climb(self.problem, evidence, oracle, &x, &mut self.random)?;
            evidence.revise(run)?;
            if !evidence.looks_done(run) {
                return Ok(());
            }
        }
        self.climb_to_misses(evidence, &x, run)?;
        evidence.revise(run)?;
        if evidence.looks_done(run) { self.prove(evidence, oracle, &x, run) } else { Ok(()) }
    }

    /// Looks for a scenario without recourse. The cost may say nothing on the way to one; by how much rows must be missed does.
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

    /// Bounds what a decision costs from above, where that is asked for or cheap; else the run ends with what it has.
    fn prove(&mut self, evidence: &mut Evidence, oracle: &mut Oracle, x: &[f64], run: &mut Run) -> Result<(), Error> {
        if self.separation.is_none() {
            self.separation = match (self.certify, Exact::choose(self.problem)) {
                (Certify::Exact, Ok(exact)) | (Certify::Free, Ok(exact @ Exact::Scan(_))) => Some(exact.build(self.problem)?),
                _ => {
                    run.say("the estimate is within the gap of the lower bound; --certify exact would prove it, where that can be done");
                    return Err(Stop::Stalled.into());
                }
            };
        }
        let (Some(separation), Some(best)) = (&mut self.separation, evidence.best()) else { return Ok(()) };
        let ask = Ask { beyond: None, tolerance: 0.5 * run.limits().gap * best.value.abs() };
        let found = record(self.problem, x, &best.worst, separation.as_mut(), &ask, self.certify, run)?;
        // The search may have met nothing as bad as what is known already.
        run.revise(x, best.value, &best.worst);
        if let Some(found) = found {
            oracle.start_at(&found.xi);
            evidence.ask(x, &found.xi)?;
            evidence.revise(run)?;
        }
        Ok(())
    }

    /// A run that a limit ends still bounds its decision from above, if a proof was asked for.
    pub(in crate::methods) fn prove_what_is_left(
        &mut self,
        evidence: &mut Evidence,
        oracle: &mut Oracle,
        run: &mut Run,
    ) -> Result<(), Error> {
        match evidence.best().map(|best| best.x.clone()) {
            Some(x) if self.certify == Certify::Exact && run.bounds().upper().is_none() => {
                match self.prove(evidence, oracle, &x, run) {
                    Err(error) if !is_stop(&error) => Err(error),
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }
}

/// Climbs from where the worst chain stands, and from a few random ends of the set: the last digits are hard for a chain. In a body one that has come
/// close to a face moves along it by ever smaller steps, and hardly comes to a corner.
fn climb(problem: &Problem, evidence: &mut Evidence, oracle: &mut Oracle, x: &[f64], random: &mut Random) -> Result<(), Error> {
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
