//! How `sgd` ends: a decision that looks good enough is looked at harder.

use super::descent::{Descent, tellable};
use super::settings::Score;
use crate::error::Error;
use crate::methods::record::{is_stop, record};
use crate::recourse::engine;
use crate::run::{Run, Stop};
use crate::separation::{Ascent, Ask, Exact};
use crate::settings::Certify;

/// How often the chains start anew at a decision before the run ends with it: where one stands may be a local maximum. Where costs move with ξ there
/// are many of these.
const RESTARTS: u32 = 4;
const RESTARTS_INSIDE: u32 = 16;

/// Ends of the set that are climbed from each time, in random directions.
const ENDS: usize = 3;

/// The same for scenarios without recourse.
const ENDS_TO_MISSES: usize = 8;

impl Descent<'_> {
    /// Whether the best decision is within the gap of the lower bound, as far as is known.
    pub(super) fn looks_done(&self, run: &Run) -> bool {
        match (&self.best, run.bounds().lower()) {
            (Some(best), Some(lower)) => best.value - lower <= (run.limits().gap * best.value.abs()).max(tellable(best.value)),
            _ => false,
        }
    }

    /// Looks at the best decision harder, and if it still is what it seems to be, ends the run with it: proved where a proof is asked for or cheap.
    pub(super) fn finish(&mut self, run: &mut Run) -> Result<(), Error> {
        let Some(x) = self.best.as_ref().map(|best| best.x.clone()) else { return Ok(()) };
        let is_inside = self.problem.recourse.costs_move() && !self.problem.set.is_finite_list();
        for restart in 0..if is_inside { RESTARTS_INSIDE } else { RESTARTS } {
            self.oracle.restart();
            self.oracle.call(&x, 10 + self.problem.set.dim() as u64 / 2, run)?;
            self.keep_places();
            // A smoothed score is below the cost itself, and finite where there is no recourse.
            if self.settings.score != Score::Exact
                && let Some(worst) = self.oracle.worst().map(|place| place.xi.clone())
            {
                self.ask(&x, &worst)?;
            }
            self.climb(&x, run.limits().seed.wrapping_add(u64::from(RESTARTS_INSIDE) * run.iterations() + u64::from(restart)))?;
            self.revise(run)?;
            if !self.looks_done(run) {
                return Ok(());
            }
        }
        self.climb_to_misses(&x, run)?;
        self.revise(run)?;
        if self.looks_done(run) { self.prove(&x, run) } else { Ok(()) }
    }

    /// Looks for a scenario without recourse. The cost may say nothing on the way to one; by how much rows must be missed does.
    fn climb_to_misses(&mut self, x: &[f64], run: &mut Run) -> Result<(), Error> {
        let Some(start) = self.best.as_ref().map(|best| best.worst.clone()) else { return Ok(()) };
        let elastic = self.problem.elastic();
        let mut engine = engine(&elastic, run.clock())?;
        let mut ascent = Ascent::new(&elastic, engine.as_mut(), x);
        ascent.climb(&start)?;
        ascent.climb_at_random(ENDS_TO_MISSES, run.limits().seed.wrapping_add(run.iterations()))?;
        let found = ascent.found()?;
        run.count_solves(found.solves);
        // Whether a row is missed by more than tolerances is for the recourse itself to say.
        if found.value > 0.0 {
            self.ask(x, &found.xi)?;
        }
        Ok(())
    }

    /// Bounds what a decision costs from above, where that is asked for or cheap; else the run ends with what it has.
    fn prove(&mut self, x: &[f64], run: &mut Run) -> Result<(), Error> {
        if self.separation.is_none() {
            self.separation = match (self.certify, Exact::choose(self.problem)) {
                (Certify::Exact, Ok(exact)) | (Certify::Free, Ok(exact @ Exact::Scan(_))) => Some(exact.build(self.problem)?),
                _ => {
                    run.say("the estimate is within the gap of the lower bound; --certify exact would prove it, where that can be done");
                    return Err(Stop::Stalled.into());
                }
            };
        }
        let (Some(separation), Some(best)) = (&mut self.separation, &self.best) else { return Ok(()) };
        let ask = Ask { beyond: None, tolerance: 0.5 * run.limits().gap * best.value.abs() };
        let found = record(self.problem, x, &best.worst, separation.as_mut(), &ask, self.certify, run)?;
        // The search may have met nothing as bad as what is known already.
        run.revise(x, best.value, &best.worst);
        if let Some(found) = found {
            self.oracle.start_at(&found.xi);
            self.ask(x, &found.xi)?;
            self.revise(run)?;
        }
        Ok(())
    }

    /// A run that a limit ends still bounds its decision from above, if a proof was asked for.
    pub(super) fn prove_what_is_left(&mut self, run: &mut Run) -> Result<(), Error> {
        match self.best.as_ref().map(|best| best.x.clone()) {
            Some(x) if self.certify == Certify::Exact && run.bounds().upper().is_none() => match self.prove(&x, run) {
                Err(error) if !is_stop(&error) => Err(error),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Climbs from where the worst chain stands, and from a few random ends of the set: the last digits are hard for a chain. In a body one that has come
    /// close to a face moves along it by ever smaller steps, and hardly comes to a corner.
    fn climb(&mut self, x: &[f64], seed: u64) -> Result<(), Error> {
        let Some(start) = self.oracle.worst().map(|place| place.xi.clone()) else { return Ok(()) };
        let mut ascent = Ascent::new(self.problem, self.engine.as_mut(), x);
        ascent.climb(&start)?;
        ascent.climb_at_random(ENDS, seed)?;
        let found = ascent.found()?;
        self.oracle.start_at(&found.xi);
        self.ask(x, &found.xi)?;
        Ok(())
    }
}
