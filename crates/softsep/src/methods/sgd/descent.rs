//! The loop of `sgd`.

use std::ops::ControlFlow;

use super::approach::Approach;
use super::average::Average;
use super::preconditioner::Preconditioner;
use super::settings::{SgdSettings, Steps};
use super::steps::CHECKPOINT;
use super::stop_rule::{StopRule, VisitedScenarios};
use crate::certification::{Evaluator, Verification, cost_at, count, separate_and_record};
use crate::certify::Certify;
use crate::cuts::{Cursor, CutPool};
use crate::error::Error;
use crate::master::{CutMaster, CutMasterOutcome, Metric, Projection};
use crate::methods::scope;
use crate::methods::unbounded::prove_unbounded;
use crate::model::Problem;
use crate::numeric::tolerances::cost_tol;
use crate::recourse::CutKind;
use crate::run::{Incumbent, Run, Stop};
use crate::separation::soft::Search;
use crate::separation::{Found, Query, Separation, SoftSettings};

/// Iterations without a new cut after which the descent has stalled.
const MAX_STALE_ITERATIONS: u32 = 1000;

/// The iterations of `--steps sqrt` where no limit is given.
const DEFAULT_ITERATIONS: u64 = 10_000;

/// The share of the gap to which the decision of a finished run is bounded.
const FINAL_PROOF: f64 = 0.5;

/// The largest number of certifications by draws of the decision of a finished run; each but the last has refuted its
/// estimate.
const FINAL_ATTEMPTS: u32 = 32;

/// The state of the descent.
pub(super) struct Descent<'a> {
    pub(super) problem: &'a Problem,
    pub(super) settings: &'a SgdSettings,
    certify: Certify,
    pub(super) separation: Box<dyn Separation + 'a>,
    pub(super) pool: &'a mut CutPool,
    /// The position of the projection's reader in the pool, and the number of cuts at the last master.
    cursor: Cursor,
    pub(super) at_master: Cursor,
    pub(super) master: CutMaster<'a>,
    pub(super) evaluator: Evaluator<'a>,
    verification: Verification<'a>,
    pub(super) approach: Approach<'a>,
    pub(super) projection: Projection,
    pub(super) metric: Metric,
    pub(super) average: Average,
    pub(super) x: Vec<f64>,
    /// The answer of the last separation.
    pub(super) found: Option<Found>,
    /// The master's last decision.
    pub(super) lowest: Option<Vec<f64>>,
    pub(super) gradient: Vec<f64>,
    pub(super) progress: GapProgress,
    pub(super) travelled: Travelled,
    /// Iterations since the last new cut.
    pub(super) stale: u32,
    /// The iteration at which the average is evaluated next.
    pub(super) checkpoint: u64,
    /// The scenarios visited, with [`StopRule::Bounds`].
    pub(super) visited: Option<VisitedScenarios<'a>>,
}

/// The smallest gap so far, and iterations since it shrank.
pub(super) struct GapProgress {
    pub(super) gap: f64,
    pub(super) since: u32,
}

/// The distances and slopes that the automatic scale of steps is made of.
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
        pool: &'a mut CutPool,
        run: &Run,
    ) -> Result<Self, Error> {
        let dim = problem.first.dim();
        let soft = SoftSettings { search: Search::Chains, dual: settings.dual, ..settings.soft.clone() };
        let clock = run.clock();
        let separation = scope::separation(problem, &settings.separation, soft, certify, run)?;
        let reference = settings.soft.reference;
        let verification = Verification::new(problem, certify, separation.as_ref(), None, reference, run)?;
        Ok(Self {
            problem,
            settings,
            certify,
            separation,
            pool,
            cursor: Cursor::default(),
            at_master: Cursor::default(),
            master: CutMaster::new(problem, 0.0, clock)?,
            evaluator: Evaluator::new(problem, clock)?,
            verification,
            approach: Approach::new(problem),
            projection: Projection::new(problem, clock),
            metric: match (settings.steps, settings.preconditioner) {
                (Steps::Level, _) => Metric::free_of_units(dim),
                (Steps::Sqrt, Preconditioner::Seen) => Metric::of_paper(dim),
                // H of the data is set before the first step.
                (Steps::Sqrt, Preconditioner::Data | Preconditioner::None) => Metric::fixed(&vec![1.0; dim]),
            },
            average: Average::new(settings.average, &vec![0.0; dim]),
            x: vec![0.0; dim],
            found: None,
            lowest: None,
            gradient: vec![0.0; dim],
            progress: GapProgress { gap: f64::INFINITY, since: 0 },
            travelled: Travelled { origin: vec![0.0; dim], furthest: 0.0, squares: 0.0 },
            stale: 0,
            checkpoint: CHECKPOINT,
            visited: match settings.stop {
                StopRule::Bounds => Some(VisitedScenarios::new(problem, clock)?),
                StopRule::Gap | StopRule::Iterations => None,
            },
        })
    }

    /// Iterates until the run ends.
    pub(super) fn run(&mut self, run: &mut Run) -> Result<Stop, Error> {
        let mut stop = self.start(run)?;
        loop {
            match stop {
                Some(stop) => return Ok(stop),
                None => stop = self.iterate(run)?,
            }
        }
    }

    /// Begins at x, projected onto X. It has a cost at once, from one scenario, so that a run that ends now has a
    /// result.
    pub(super) fn begin_at(&mut self, x: Vec<f64>, run: &mut Run) -> Result<Option<Stop>, Error> {
        self.x = x;
        if let ControlFlow::Break(stop) = self.project(run)? {
            return Ok(Some(stop));
        }
        self.set_preconditioner(run)?;
        let x = self.x.clone();
        let typical = self.master.typical().to_vec();
        let value = cost_at(self.problem, &x, &typical, run)?;
        if self.evaluator.admits(&x, self.pool) {
            run.consider_nominal(&x, value, &typical);
        }
        self.average = Average::new(self.settings.average, &x);
        self.travelled.origin.copy_from_slice(&x);
        Ok(None)
    }

    /// One iteration: a separation at x, then a step of x.
    fn iterate(&mut self, run: &mut Run) -> Result<Option<Stop>, Error> {
        let value = self.separate(run)?;
        let step = match self.settings.steps {
            Steps::Level => self.step_to_level(run)?,
            Steps::Sqrt => self.step_by_root(value, run)?,
        };
        let length = match step {
            ControlFlow::Continue(length) => length,
            ControlFlow::Break(stop) => return Ok(Some(stop)),
        };
        if self.settings.stop == StopRule::Gap {
            self.evaluator.revise_incumbent(self.pool, run)?;
            if self.verification.is_due(run) {
                let stop = self.verification.verify(self.separation.as_mut(), &mut self.evaluator, self.pool, run)?;
                if stop.is_some() {
                    return Ok(stop);
                }
            }
        }
        if let Some(chains) = self.separation.diagnostics() {
            run.set_chain(chains.record(value, length));
        }
        let stop = run.tick();
        let is_over = match self.settings.steps {
            Steps::Sqrt => run.iterations() >= iteration_limit(run),
            // Steps toward the level go by the cuts; an average comes nearer to the optimum even where no cut is new.
            Steps::Level => self.stale >= MAX_STALE_ITERATIONS,
        };
        let ended = if self.settings.steps == Steps::Sqrt { Stop::IterationLimit } else { Stop::Stalled };
        Ok(stop.or(is_over.then_some(ended)))
    }

    /// Separates at x; the cost of x at the scenario found.
    fn separate(&mut self, run: &mut Run) -> Result<f64, Error> {
        let before = self.pool.end();
        let clock = run.clock().clone();
        let query = Query::scenario(&self.x, &clock).with_size(run.objective_size());
        let found = self.separation.separate(&query, self.pool)?;
        count(&found, run);
        if let Some(cut) = &found.cut {
            self.pool.insert(cut, &found.xi);
        }
        self.stale = if self.pool.count_new(before) > 0 { 0 } else { self.stale + 1 };
        let value = self.problem.first.value(&self.x) + found.value;
        if let Some(visited) = &mut self.visited {
            visited.visit(&found.xi, &self.x)?;
        }
        self.found = Some(found);
        Ok(value)
    }

    /// Ends a run: notes the average of a run that a limit has ended, and certifies the incumbent if a certificate was
    /// asked for. A run that is not verified on its way is certified here where that is cheap, too.
    pub(super) fn finish(&mut self, run: &mut Run) -> Result<(), Error> {
        let unselected = self.separation.diagnostics().map_or(0, |chains| chains.unselected);
        if unselected > 0 {
            run.say(&format!("{unselected} recourse solves had a dual of the solver's choice: none could be selected"));
        }
        if self.settings.stop == StopRule::Gap {
            return self.certify_at_end(run);
        }
        self.note_average(run)?;
        if self.separation.is_exact() && self.certify != Certify::None && run.clock().check().is_ok() {
            return self.bound_incumbent(run);
        }
        for _ in 0..FINAL_ATTEMPTS {
            self.certify_at_end(run)?;
            let is_attested = run.bounds().likely().is_some() || run.bounds().violation().is_some();
            if is_attested || !matches!(self.certify, Certify::Probabilistic(_)) || run.clock().check().is_err() {
                break;
            }
        }
        Ok(())
    }

    fn certify_at_end(&mut self, run: &mut Run) -> Result<(), Error> {
        self.verification.certify_at_end(self.separation.as_mut(), &mut self.evaluator, self.pool, run)
    }

    /// Makes the average the incumbent with its cost at the last scenario, where the run ended between two
    /// evaluations of it.
    fn note_average(&mut self, run: &mut Run) -> Result<(), Error> {
        let x = self.average.mean().to_vec();
        let Some(found) = self.found.as_ref().filter(|_| run.verdict().is_none()) else { return Ok(()) };
        if run.incumbent().is_some_and(|incumbent| incumbent.x == x) || !self.evaluator.admits(&x, self.pool) {
            return Ok(());
        }
        let worst = found.xi.clone();
        let value = cost_at(self.problem, &x, &worst, run)?;
        run.replace_incumbent(&x, value, &worst);
        Ok(())
    }

    /// Bounds the incumbent's cost from above by the exact separation. This moves no decision.
    fn bound_incumbent(&mut self, run: &mut Run) -> Result<(), Error> {
        let Some(Incumbent { x, value, .. }) = run.incumbent().cloned() else { return Ok(()) };
        let clock = run.clock().clone();
        let query = Query::maximum(&x, &clock)
            .with_bound(FINAL_PROOF * run.limits().gap * value.abs())
            .with_size(run.objective_size());
        let separation = self.separation.as_mut();
        separate_and_record(self.problem, &query, separation, self.pool, self.certify, run).map(|_| ())
    }

    /// Solves the master over the cuts for a lower bound; its decision.
    pub(super) fn bound(&mut self, run: &mut Run) -> Result<ControlFlow<Stop, Vec<f64>>, Error> {
        self.at_master = self.pool.end();
        match self.master.solve(self.pool, &self.x, run)? {
            CutMasterOutcome::Decision(x) => {
                self.lowest = Some(x.clone());
                Ok(ControlFlow::Continue(x))
            }
            CutMasterOutcome::Ended(stop) => Ok(ControlFlow::Break(stop)),
            CutMasterOutcome::Unbounded => prove_unbounded(self.problem, self.certify, run).map(ControlFlow::Break),
        }
    }

    /// Adds the new feasibility cuts to the projection.
    pub(super) fn add_feasibility_cuts(&mut self) {
        for cut in self.pool.read_new(&mut self.cursor) {
            if self.pool.kind(cut) == CutKind::Feasibility {
                self.projection.add_row(self.pool.intercept(cut), self.pool.slope(cut));
            }
        }
    }

    /// Makes x the incumbent if it is admissible and better.
    fn consider(&mut self, x: &[f64], value: f64, worst: &[f64], run: &mut Run) {
        if self.evaluator.admits(x, self.pool) {
            run.consider(x, value, worst);
        }
    }

    /// The cost of x by all cuts. A scenario of the pool may cost more than the one found; its cost is computed only
    /// where x could become the incumbent.
    pub(super) fn assess(&mut self, run: &mut Run) -> Result<(), Error> {
        let Some(found) = &self.found else { return Ok(()) };
        let has_recourse = found.cut.as_ref().is_some_and(|cut| cut.kind == CutKind::Optimality);
        if !has_recourse || !self.pool.admits(&self.x) {
            return Ok(());
        }
        let (x, mut worst) = (self.x.clone(), found.xi.clone());
        let first_cost = self.problem.first.value(&x);
        let mut value = first_cost + found.value;
        let limit = run.incumbent().map_or(f64::INFINITY, |incumbent| incumbent.value);
        if let Some((cut, known)) = self.pool.largest_at(&x)
            && first_cost + known > value + cost_tol(value)
        {
            worst = self.pool.scenario(cut).to_vec();
            value = match first_cost + known < limit {
                true => self.evaluator.cost(&x, &worst, self.pool, run)?,
                false => first_cost + known,
            };
            self.separation.start_at(&worst);
        }
        self.consider(&x, value, &worst, run);
        Ok(())
    }
}

/// The iteration after which a descent by α₀/√n ends.
pub(super) fn iteration_limit(run: &Run) -> u64 {
    run.limits().iterations.unwrap_or(DEFAULT_ITERATIONS)
}
