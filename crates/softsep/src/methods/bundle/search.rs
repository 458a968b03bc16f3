//! The loop of `bundle`.

use super::level::LevelSet;
use super::settings::{BundleSettings, Stabilisation};
use crate::error::Error;
use crate::methods::soft::{ChainSettings, End, Enough, Evidence, Hunt, Learned, Oracle};
use crate::model::Problem;
use crate::run::{Run, Stop};
use crate::settings::Certify;
use crate::uncertainty::States;

/// How far the level is from the lower bound on the way to the best value. Anything from 0.4 to 0.6 takes
/// location–transportation about as many recourse solves (`cargo bench --bench bundle`).
const LEVEL: f64 = 0.5;

/// Iterations without a new cut and without a better decision after which there is nothing left to find.
const NOTHING_NEW: u32 = 20;

/// Iterations in which the gap must shrink by this share, or the solvers' tolerances are all that is left of it.
const PATIENCE: u32 = 100;
const SHRINKS: f64 = 0.01;

/// The search's state.
pub(super) struct Search<'a> {
    problem: &'a Problem,
    stabilisation: Stabilisation,
    oracle: Oracle<'a>,
    evidence: Evidence<'a>,
    hunt: Hunt<'a>,
    level_set: LevelSet<'a>,
    end: End<'a>,
    /// Where the last question was asked.
    asked: Option<Vec<f64>>,
    /// Iterations without a new cut and without a better decision.
    stale: u32,
    /// The smallest distance between the best value and the lower bound, and iterations since it shrank.
    smallest: f64,
    unshrunk: u32,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        problem: &'a Problem,
        settings: &BundleSettings,
        certify: Certify,
        states: &'a dyn States,
        run: &Run,
    ) -> Result<Self, Error> {
        let chains = ChainSettings { chains: settings.chains, ..ChainSettings::default() };
        let seed = run.limits().seed;
        Ok(Self {
            problem,
            stabilisation: settings.stabilisation,
            oracle: Oracle::new(problem, states, chains, run)?,
            evidence: Evidence::new(problem, super::ENTRY.name, certify, run)?,
            hunt: Hunt::new(problem, seed),
            level_set: LevelSet::new(problem, run.clock()),
            end: End::new(problem, states, certify, run)?,
            asked: None,
            stale: 0,
            smallest: f64::INFINITY,
            unshrunk: 0,
        })
    }

    /// Begins at the decision that is best for the nominal scenario. It has a value at once, so that a run that ends
    /// now has something to show.
    pub(super) fn start(&mut self, run: &mut Run) -> Result<(), Error> {
        let Some(x) = self.evidence.bound(&vec![0.0; self.problem.first.dim()], run)? else {
            return Err(Stop::Stalled.into());
        };
        let mut nominal = vec![0.0; self.problem.set.dim()];
        self.problem.set.nominal(&mut nominal);
        self.evidence.start_from_master()?;
        let value = self.evidence.ask(&x, &nominal)?;
        self.evidence.consider(&x, value, &nominal, run);
        self.oracle.start_from(&self.evidence.warm_start())?;
        // Any scenario that is worse than the nominal one will do here: what x costs is of no interest yet.
        self.look(&x, value, run)
    }

    /// One iteration, counted however it ends.
    pub(super) fn iterate(&mut self, run: &mut Run) -> Result<(), Error> {
        let ended = self.step(run);
        self.count(run);
        ended?;
        run.tick()?;
        if self.stale >= NOTHING_NEW || self.is_stuck(run) { Err(Stop::Stalled.into()) } else { Ok(()) }
    }

    /// Whether the gap has not shrunk for long.
    fn is_stuck(&mut self, run: &Run) -> bool {
        let (Some(best), Some(lower)) = (self.evidence.best(), run.bounds().lower()) else { return false };
        let open = best.value - lower;
        if open < (1.0 - SHRINKS) * self.smallest {
            (self.smallest, self.unshrunk) = (open, 0);
        } else {
            self.unshrunk += 1;
        }
        self.unshrunk >= PATIENCE
    }

    /// A master for the lower bound, a point to ask at, a hunt there.
    fn step(&mut self, run: &mut Run) -> Result<(), Error> {
        if self.end.is_due(&self.evidence, run) {
            self.end.finish(&mut self.evidence, &mut self.oracle, run)?;
        }
        let near = self.evidence.best().map_or_else(|| vec![0.0; self.problem.first.dim()], |best| best.x.clone());
        let Some(master) = self.evidence.bound(&near, run)? else { return Err(Stop::Stalled.into()) };
        let (x, enough) = self.point(&near, master, run)?;
        self.look(&x, enough, run)
    }

    /// Where to ask next, and what the objective must exceed there for a scenario to be worth having at once.
    fn point(&mut self, near: &[f64], master: Vec<f64>, run: &Run) -> Result<(Vec<f64>, f64), Error> {
        self.level_set.add(self.evidence.take_fresh(), near, run.clock());
        let (Some(best), Some(lower)) = (self.evidence.best(), run.bounds().lower()) else {
            return Ok((master, f64::INFINITY));
        };
        let level = lower + LEVEL * (best.value - lower);
        let between =
            |share: f64| best.x.iter().zip(&master).map(|(best, master)| best + share * (master - best)).collect();
        // What did not help from here may help from nearer to the master's decision.
        if self.stale > 0 {
            return Ok((between(1.0 - 0.5_f64.powi(self.stale as i32)), best.value));
        }
        let nearest = match self.stabilisation {
            Stabilisation::Level => self.level_set.nearest(&best.x, level)?,
            Stabilisation::InOut => None,
        };
        // Where x costs more than the level, the scenario that shows it moves x on.
        Ok((nearest.unwrap_or_else(|| between(0.5)), level))
    }

    /// Hunts at x and takes note of what it costs there.
    fn look(&mut self, x: &[f64], enough: f64, run: &mut Run) -> Result<(), Error> {
        let before = self.evidence.pending();
        let prey = self.hunt.at(x, Enough::NewsOrAbove(enough), &mut self.evidence, &mut self.oracle, run)?;
        let is_better = self.evidence.consider(x, prey.value, &prey.xi, run);
        self.evidence.revise(run)?;
        self.stale = if is_better || self.evidence.pending() > before { 0 } else { self.stale + 1 };
        let step = self.asked.replace(x.to_vec()).map_or(0.0, |last| self.level_set.distance(&last, x));
        let chains = self.oracle.record(prey.value, step, run);
        run.set_chain(chains);
        Ok(())
    }

    /// What it has learned.
    pub(super) fn learned(&self) -> Learned {
        self.evidence.learned()
    }

    /// Writes the solves since the last time into the ledger.
    pub(super) fn count(&mut self, run: &mut Run) {
        self.evidence.count(self.oracle.solves(), run);
    }

    /// A run that a limit ends still bounds its decision from above, if a proof was asked for.
    pub(super) fn prove_what_is_left(&mut self, run: &mut Run) -> Result<(), Error> {
        self.end.prove_what_is_left(&mut self.evidence, &mut self.oracle, run)
    }
}
