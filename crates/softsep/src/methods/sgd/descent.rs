//! The loop of `sgd`.

use super::approach::Approach;
use super::average::Average;
use super::settings::{SgdSettings, Steps};
use super::steps::CHECKPOINT;
use crate::error::Error;
use crate::master::Projection;
use crate::methods::record::at_one;
use crate::methods::soft::{End, Evidence, Metric, Oracle, tellable};
use crate::model::Problem;
use crate::recourse::{CutKind, Outcome};
use crate::run::{Run, Stop};
use crate::settings::Certify;
use crate::uncertainty::States;

/// Iterations without a new cut after which there is nothing left to find.
const NOTHING_NEW: u32 = 1000;

/// Iterations of `--steps sqrt` where nobody gives a limit.
const ITERATIONS: u64 = 10_000;

/// The descent's state.
pub(super) struct Descent<'a> {
    pub(super) problem: &'a Problem,
    pub(super) settings: &'a SgdSettings,
    pub(super) oracle: Oracle<'a>,
    pub(super) evidence: Evidence<'a>,
    end: End<'a>,
    pub(super) approach: Approach<'a>,
    pub(super) projection: Projection,
    pub(super) metric: Metric,
    pub(super) average: Average,
    pub(super) x: Vec<f64>,
    pub(super) gradient: Vec<f64>,
    pub(super) progress: Progress,
    pub(super) travelled: Travelled,
    /// Iterations since the last new cut.
    pub(super) stale: u32,
    /// When the average is looked at next.
    pub(super) checkpoint: u64,
}

/// The smallest gap so far, and for how long it has been that.
pub(super) struct Progress {
    pub(super) gap: f64,
    pub(super) since: u32,
}

/// What the automatic scale of steps goes by.
pub(super) struct Travelled {
    pub(super) origin: Vec<f64>,
    pub(super) furthest: f64,
    pub(super) squares: f64,
}

impl<'a> Descent<'a> {
    pub(super) fn new(
        problem: &'a Problem,
        settings: &'a SgdSettings,
        certify: Certify,
        states: &'a dyn States,
        run: &Run,
    ) -> Result<Self, Error> {
        let dim = problem.first.dim();
        Ok(Self {
            problem,
            settings,
            oracle: Oracle::new(problem, states, settings.of_chains(), run)?,
            evidence: Evidence::new(problem, super::ENTRY.name, certify, run)?,
            end: End::new(problem, states, certify, run)?,
            approach: Approach::new(problem),
            projection: Projection::new(problem, run.clock()),
            metric: match settings.steps {
                Steps::Level => Metric::free_of_units(dim),
                Steps::Sqrt => Metric::of_paper(dim),
            },
            average: Average::new(settings.average, &vec![0.0; dim]),
            x: vec![0.0; dim],
            gradient: vec![0.0; dim],
            progress: Progress { gap: f64::INFINITY, since: 0 },
            travelled: Travelled { origin: vec![0.0; dim], furthest: 0.0, squares: 0.0 },
            stale: 0,
            checkpoint: CHECKPOINT,
        })
    }

    /// Begins at x, brought to X. It has a value at once, from one scenario, so that a run that ends now has something
    /// to show.
    pub(super) fn begin_at(&mut self, x: Vec<f64>, run: &mut Run) -> Result<(), Error> {
        self.x = x;
        self.project(run)?;
        let x = self.x.clone();
        let mut nominal = vec![0.0; self.problem.set.dim()];
        self.problem.set.nominal(&mut nominal);
        let found = at_one(self.problem, &x, &nominal)?;
        run.count_solves(found.solves);
        self.evidence.consider(&x, self.problem.first.value(&x) + found.value, &nominal, run);
        self.average = Average::new(self.settings.average, &x);
        self.travelled.origin.copy_from_slice(&x);
        Ok(())
    }

    /// One iteration, counted however it ends.
    pub(super) fn iterate(&mut self, run: &mut Run) -> Result<(), Error> {
        let ended = self.step(run);
        self.count(run);
        ended?;
        run.tick()?;
        match self.settings.steps {
            Steps::Sqrt if run.limits().iterations.is_none() && run.iterations() >= ITERATIONS => {
                Err(Stop::IterationLimit.into())
            }
            // Steps toward the level go by what was seen; an average comes nearer to the optimum even where there is
            // nothing left to see.
            Steps::Level if self.stale >= NOTHING_NEW => Err(Stop::Stalled.into()),
            _ => Ok(()),
        }
    }

    /// The chains step at x, then x steps.
    fn step(&mut self, run: &mut Run) -> Result<(), Error> {
        self.oracle.call(&self.x, self.settings.transitions, run)?;
        self.stale = if self.evidence.keep_places(self.oracle.places()) { 0 } else { self.stale + 1 };
        let value = self.problem.first.value(&self.x)
            + self.oracle.worst().map_or(f64::NEG_INFINITY, |place| place.answer.value);
        let length = match self.settings.steps {
            Steps::Level => self.step_to_level(run)?,
            Steps::Sqrt => self.step_by_root(run)?,
        };
        self.evidence.revise(run)?;
        if self.end.is_due(&self.evidence, run) {
            self.end.finish(&mut self.evidence, &mut self.oracle, run)?;
        }
        let chains = self.oracle.record(value, length, run);
        run.set_chain(chains);
        Ok(())
    }

    /// Writes the solves since the last time into the ledger.
    pub(super) fn count(&mut self, run: &mut Run) {
        self.evidence.count(self.oracle.solves(), run);
    }

    /// A run that a limit ends still bounds its decision from above, if a proof was asked for.
    pub(super) fn prove_what_is_left(&mut self, run: &mut Run) -> Result<(), Error> {
        self.end.prove_what_is_left(&mut self.evidence, &mut self.oracle, run)
    }

    /// Solves the master over the cuts seen for a lower bound; its decision.
    pub(super) fn bound(&mut self, run: &mut Run) -> Result<Option<Vec<f64>>, Error> {
        self.evidence.bound(&self.x, run)
    }

    /// The projection keeps to the feasibility cuts that came since the last time.
    pub(super) fn keep_to_new_cuts(&mut self) {
        for cut in self.evidence.take_fresh().iter().filter(|cut| cut.kind == CutKind::Feasibility) {
            self.projection.add_row(cut.intercept, &cut.slope);
        }
    }

    /// What x costs by all that is known. A scenario seen before may hurt more than the one where the chain stands;
    /// whether it does is asked only where x could be the best.
    pub(super) fn assess(&mut self, run: &mut Run) -> Result<(), Error> {
        let Some(place) = self.oracle.worst() else { return Ok(()) };
        let (outcome, mut worst) = (place.answer.outcome, place.xi.clone());
        if outcome != Outcome::Solved || self.evidence.memory().forbids(&self.x) {
            return Ok(());
        }
        let x = self.x.clone();
        let cost = self.problem.first.value(&x);
        let mut value = cost + place.answer.value;
        let limit = self.evidence.best().map_or(f64::INFINITY, |best| best.value);
        if let Some((cut, remembered)) = self.evidence.memory().worst(&x)
            && cost + remembered > value + tellable(value)
        {
            worst = self.evidence.memory().scenario(cut).to_vec();
            value = if cost + remembered < limit { self.evidence.ask(&x, &worst)? } else { cost + remembered };
            self.oracle.start_at(&worst);
        } else if self.oracle.is_smoothed() && value < limit {
            value = self.evidence.ask(&x, &worst)?;
        }
        self.evidence.consider(&x, value, &worst, run);
        Ok(())
    }
}
