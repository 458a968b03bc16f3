//! The loop of `bundle`.

use super::level::LevelSet;
use super::settings::{BundleSettings, Stabilisation};
use crate::certification::{Evaluator, Verification, count};
use crate::certify::Certify;
use crate::cuts::{Cursor, CutPool};
use crate::error::Error;
use crate::master::{CutMaster, CutMasterOutcome};
use crate::methods::scope;
use crate::methods::unbounded::prove_unbounded;
use crate::model::Problem;
use crate::numeric::tolerances::cost_tol;
use crate::run::{Run, Stop};
use crate::separation::{Claim, Effort, Query, Separation};

/// The position of the level between the lower bound and the incumbent's cost. Anything from 0.4 to 0.6 takes
/// location–transportation about as many recourse solves (`cargo bench --bench bundle`).
const LEVEL: f64 = 0.5;

/// Iterations without a new cut and without a better incumbent after which the search has stalled.
const MOST_STALE: u32 = 20;

/// Iterations in which the gap must shrink by this share, or the solvers' tolerances are all that is left of it.
const PATIENCE: u32 = 100;
const SHRINKS: f64 = 0.01;

/// The state of the search.
pub(super) struct BundleSearch<'a> {
    problem: &'a Problem,
    certify: Certify,
    stabilisation: Stabilisation,
    separation: Box<dyn Separation + 'a>,
    pool: &'a mut CutPool,
    master: CutMaster<'a>,
    evaluator: Evaluator<'a>,
    verification: Verification<'a>,
    level_set: LevelSet<'a>,
    /// The position of the level set's reader in the pool.
    cursor: Cursor,
    /// The point of the last separation.
    last: Option<Vec<f64>>,
    /// Iterations without a new cut and without a better incumbent.
    stale: u32,
    /// The smallest difference between the incumbent's cost and the lower bound, and iterations since it shrank.
    smallest: f64,
    unshrunk: u32,
}

impl<'a> BundleSearch<'a> {
    pub(super) fn new(
        problem: &'a Problem,
        settings: &BundleSettings,
        certify: Certify,
        pool: &'a mut CutPool,
        run: &Run,
    ) -> Result<Self, Error> {
        let soft = settings.soft.combined();
        let clock = run.clock();
        let separation = scope::separation(problem, &settings.separation, soft, certify, run)?;
        let reference = settings.soft.reference;
        let verification = Verification::new(problem, certify, separation.as_ref(), None, reference, run)?;
        Ok(Self {
            problem,
            certify,
            stabilisation: settings.stabilisation,
            separation,
            pool,
            master: CutMaster::new(problem, 0.0, clock)?,
            evaluator: Evaluator::new(problem, clock)?,
            verification,
            level_set: LevelSet::new(problem, clock),
            cursor: Cursor::default(),
            last: None,
            stale: 0,
            smallest: f64::INFINITY,
            unshrunk: 0,
        })
    }

    /// Iterates until the run ends.
    pub(super) fn run(&mut self, run: &mut Run) -> Result<Stop, Error> {
        self.verification.keep_reserve(self.separation.as_ref(), run);
        let mut stop = self.start(run)?;
        loop {
            match stop {
                // The search goes on in what a bound leaves of the time kept for it.
                Some(Stop::TimeLimit) if run.free_reserve() => {
                    self.certify_at_end(run)?;
                    stop = run.bounds().meet(run.limits().gap).then_some(Stop::Gap);
                }
                Some(stop) => return Ok(stop),
                None => stop = self.iterate(run)?,
            }
        }
    }

    /// Begins at the decision that is optimal for one typical scenario. It has a cost at once, so that a run that ends
    /// now has a result.
    fn start(&mut self, run: &mut Run) -> Result<Option<Stop>, Error> {
        let x = match self.master.solve(self.pool, &vec![0.0; self.problem.first.dim()], run)? {
            CutMasterOutcome::Decision(x) => x,
            CutMasterOutcome::Ended(stop) => return Ok(Some(stop)),
            CutMasterOutcome::Unbounded => return prove_unbounded(self.problem, self.certify, run).map(Some),
        };
        let typical = self.master.typical().to_vec();
        if let Some(basis) = self.master.recourse_start() {
            self.evaluator.start_from(&basis)?;
            self.separation.start_from(&basis)?;
        }
        let value = self.evaluator.cost(&x, &typical, self.pool, run)?;
        if self.evaluator.admits(&x, self.pool) {
            run.consider_nominal(&x, value, &typical);
        }
        // Any scenario worse than the typical one is enough here: the cost of x itself is not of interest yet.
        self.separate(&x, value, Effort::Normal, run)?;
        Ok(None)
    }

    /// One iteration: verification where it is due, a master for the lower bound, a separation at a stabilised point.
    fn iterate(&mut self, run: &mut Run) -> Result<Option<Stop>, Error> {
        if self.verification.is_due(run) {
            let stop = self.verification.verify(self.separation.as_mut(), &mut self.evaluator, self.pool, run)?;
            if stop.is_some() {
                return Ok(stop);
            }
        }
        let near = run.incumbent().map_or_else(|| vec![0.0; self.problem.first.dim()], |best| best.x.clone());
        let master = match self.master.solve(self.pool, &near, run)? {
            CutMasterOutcome::Decision(x) => x,
            CutMasterOutcome::Ended(stop) => return Ok(Some(stop)),
            CutMasterOutcome::Unbounded => return prove_unbounded(self.problem, self.certify, run).map(Some),
        };
        let (x, above) = self.next_point(&near, master.clone(), run)?;
        self.separate(&x, above, Effort::Normal, run)?;
        let stop = run.tick();
        if stop.is_some() || !(self.stale >= MOST_STALE || self.is_stuck(run)) {
            return Ok(stop);
        }
        Ok((!self.search_thoroughly(&master, run)?).then_some(Stop::Stalled))
    }

    /// Separates with thorough effort at the incumbent and at the master's decision, before a search that has stalled
    /// ends. Returns whether a worse scenario was found for the incumbent, or one that cuts off the master's decision.
    fn search_thoroughly(&mut self, master: &[f64], run: &mut Run) -> Result<bool, Error> {
        let (Some(incumbent), Some(lower)) = (run.incumbent().cloned(), run.bounds().lower()) else { return Ok(false) };
        let before = self.pool.end();
        let value = self.separate(&incumbent.x, incumbent.value, Effort::Thorough, run)?;
        let is_found = value > incumbent.value + cost_tol(incumbent.value)
            || self.separate(master, incumbent.value, Effort::Thorough, run)? > lower + cost_tol(lower)
                && self.pool.count_new(before) > 0;
        if is_found {
            (self.stale, self.unshrunk, self.smallest) = (0, 0, f64::INFINITY);
        }
        Ok(is_found)
    }

    /// Whether the gap has not shrunk for long.
    fn is_stuck(&mut self, run: &Run) -> bool {
        let (Some(incumbent), Some(lower)) = (run.incumbent(), run.bounds().lower()) else { return false };
        let open = incumbent.value - lower;
        if open < (1.0 - SHRINKS) * self.smallest {
            (self.smallest, self.unshrunk) = (open, 0);
        } else {
            self.unshrunk += 1;
        }
        self.unshrunk >= PATIENCE
    }

    /// The point of the next separation, and the cost above which a scenario there ends it.
    fn next_point(&mut self, near: &[f64], master: Vec<f64>, run: &Run) -> Result<(Vec<f64>, f64), Error> {
        let new = self.pool.read_new(&mut self.cursor);
        self.level_set.add(self.pool, &new, near, run.clock());
        let (Some(incumbent), Some(lower)) = (run.incumbent(), run.bounds().lower()) else {
            return Ok((master, f64::INFINITY));
        };
        let level = lower + LEVEL * (incumbent.value - lower);
        let between =
            |share: f64| incumbent.x.iter().zip(&master).map(|(best, master)| best + share * (master - best)).collect();
        // A point nearer to the master's decision may be cut off where the last one was not.
        if self.stale > 0 {
            return Ok((between(1.0 - 0.5_f64.powi(self.stale as i32)), incumbent.value));
        }
        let nearest = match self.stabilisation {
            Stabilisation::Level => self.level_set.nearest(&incumbent.x, level)?,
            Stabilisation::InOut => None,
        };
        // Where x costs more than the level, the scenario that shows it moves x on.
        Ok((nearest.unwrap_or_else(|| between(0.5)), level))
    }

    /// Separates at x until a scenario costs more than `above`, f(x) included, or a cut is new; takes up its cost, and
    /// returns it.
    fn separate(&mut self, x: &[f64], above: f64, effort: Effort, run: &mut Run) -> Result<f64, Error> {
        let before = self.pool.end();
        let first_cost = self.problem.first.value(x);
        let clock = run.clock().clone();
        let query = Query::scenario(x, &clock)
            .above(above - first_cost)
            .or_new_cut()
            .with_effort(effort)
            .with_size(run.objective_size());
        let found = self.separation.separate(&query, self.pool)?;
        count(&found, run);
        if let Some(cut) = &found.cut {
            self.pool.insert(cut, &found.xi);
        }
        let is_better = self.consider(x, first_cost + found.value, &found.xi, run);
        if let (Claim::Surely(at_most), true) = (found.claim, self.certify != Certify::None)
            && self.evaluator.admits(x, self.pool)
        {
            run.upper(x, first_cost, first_cost + found.value, first_cost + at_most, &found.xi);
        }
        self.evaluator.revise_incumbent(self.pool, run)?;
        self.stale = if is_better || self.pool.count_new(before) > 0 { 0 } else { self.stale + 1 };
        let step = self.last.replace(x.to_vec()).map_or(0.0, |last| self.level_set.distance(&last, x));
        if let Some(chains) = self.separation.diagnostics() {
            run.set_chain(chains.record(first_cost + found.value, step));
        }
        Ok(first_cost + found.value)
    }

    /// Makes x the incumbent if it is admissible and better; whether it is.
    fn consider(&mut self, x: &[f64], value: f64, worst: &[f64], run: &mut Run) -> bool {
        self.evaluator.admits(x, self.pool) && run.consider(x, value, worst)
    }

    /// Certifies the incumbent of a run that a limit has ended, if a certificate was asked for.
    pub(super) fn certify_at_end(&mut self, run: &mut Run) -> Result<(), Error> {
        self.verification.certify_at_end(self.separation.as_mut(), &mut self.evaluator, self.pool, run)
    }
}
