//! The loop of `sgd`.

use serde_json::Map;

use super::average::Average;
use super::memory::Memory;
use super::metric::Metric;
use super::oracle::Oracle;
use super::settings::{Score, SgdSettings, Steps};
use super::steps::CHECKPOINT;
use crate::error::Error;
use crate::master::{Ended, Growing, Projection, explain_infeasible};
use crate::methods::Method;
use crate::methods::generate::{Generator, Growth};
use crate::methods::record::{at_one, is_stop};
use crate::model::{MEMBER, Problem};
use crate::recourse::{Answer, Cut, CutKind, Outcome, Recourse, engine};
use crate::run::{Run, Stop, Verdict};
use crate::separation::{Exact, Separation};
use crate::settings::Certify;
use crate::uncertainty::States;

/// Cuts that a master takes in at once.
const MASTER_CUTS: usize = 256;

/// Iterations without a new cut after which there is nothing left to find.
const NOTHING_NEW: u32 = 1000;

/// Iterations of `--steps sqrt` where nobody gives a limit.
const ITERATIONS: u64 = 10_000;

/// Two costs closer than this, relative to their size, are equal up to the solvers' tolerances.
const TELLABLE: f64 = 1e-9;

/// A decision with the worst scenario known for it.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) x: Vec<f64>,
    pub(super) value: f64,
    pub(super) worst: Vec<f64>,
}

/// The descent's state.
pub(super) struct Descent<'a> {
    pub(super) problem: &'a Problem,
    pub(super) settings: &'a SgdSettings,
    pub(super) certify: Certify,
    pub(super) oracle: Oracle<'a>,
    /// For questions beside the chain's.
    pub(super) engine: Box<dyn Recourse>,
    pub(super) answer: Answer,
    pub(super) memory: Memory<'a>,
    pub(super) master: Growing<'a>,
    /// Cuts that the master has not seen.
    pub(super) pending: Vec<(Cut, Vec<f64>)>,
    /// The master's decision.
    pub(super) lowest: Option<Vec<f64>>,
    pub(super) projection: Projection,
    pub(super) separation: Option<Box<dyn Separation + 'a>>,
    pub(super) metric: Metric,
    pub(super) average: Average,
    pub(super) x: Vec<f64>,
    pub(super) gradient: Vec<f64>,
    /// The best decision by what is known of it, of the iterates or of the averages.
    pub(super) best: Option<Candidate>,
    pub(super) progress: Progress,
    pub(super) travelled: Travelled,
    /// Solves that are in the ledger.
    pub(super) counted: u64,
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
            certify,
            oracle: Oracle::new(problem, states, settings, run)?,
            engine: engine(problem, run.clock())?,
            answer: Answer::new(problem),
            memory: Memory::new(problem),
            master: Growing::new(problem, run.clock())?,
            pending: Vec::new(),
            lowest: None,
            projection: Projection::new(problem, run.clock()),
            separation: None,
            metric: match settings.steps {
                Steps::Level => Metric::free_of_units(dim),
                Steps::Sqrt => Metric::of_paper(dim),
            },
            average: Average::new(settings.average, &vec![0.0; dim]),
            x: vec![0.0; dim],
            gradient: vec![0.0; dim],
            best: None,
            progress: Progress { gap: f64::INFINITY, since: 0 },
            travelled: Travelled { origin: vec![0.0; dim], furthest: 0.0, squares: 0.0 },
            counted: 0,
            stale: 0,
            checkpoint: CHECKPOINT,
        })
    }

    /// Begins at x, brought to X. It has a value at once, from one scenario, so that a run that ends now has something to show.
    pub(super) fn begin_at(&mut self, x: Vec<f64>, run: &mut Run) -> Result<(), Error> {
        self.x = x;
        self.project(run)?;
        let x = self.x.clone();
        let mut nominal = vec![0.0; self.problem.set.dim()];
        self.problem.set.nominal(&mut nominal);
        let found = at_one(self.problem, &x, &nominal)?;
        run.count_solves(found.solves);
        self.take_candidate(&x, self.problem.first.value(&x) + found.value, &nominal, run);
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
            // Steps toward the level go by what was seen; an average comes nearer to the optimum even where there is nothing left to see.
            Steps::Level if self.stale >= NOTHING_NEW => Err(Stop::Stalled.into()),
            _ => Ok(()),
        }
    }

    /// The chains step at x, then x steps.
    fn step(&mut self, run: &mut Run) -> Result<(), Error> {
        self.oracle.call(&self.x, self.settings.transitions, run)?;
        self.keep_places();
        let value = self.problem.first.value(&self.x) + self.oracle.worst().map_or(f64::NEG_INFINITY, |place| place.answer.value);
        let length = match self.settings.steps {
            Steps::Level => self.step_to_level(run)?,
            Steps::Sqrt => self.step_by_root(run)?,
        };
        self.revise(run)?;
        if self.looks_done(run) {
            self.finish(run)?;
        }
        let chains = self.oracle.record(value, length, run);
        run.set_chain(chains);
        Ok(())
    }

    /// Writes the solves since the last time into the ledger.
    pub(super) fn count(&mut self, run: &mut Run) {
        let solves = self.oracle.solves() + self.engine.work().solves;
        run.count_solves(solves - std::mem::replace(&mut self.counted, solves) + self.master.take_solves());
    }

    /// Keeps the cuts of all that the chains looked at.
    pub(super) fn keep_places(&mut self) {
        let before = self.pending.len();
        for place in self.oracle.places() {
            if self.memory.keep(&place.answer, &place.xi)
                && let Some(cut) = place.answer.cut()
            {
                self.pending.push((cut, place.xi.clone()));
            }
        }
        self.keep_to_new_cuts(before);
        self.stale = if self.pending.len() > before { 0 } else { self.stale + 1 };
    }

    /// From now on x keeps to the feasibility cuts that came after the first `before` ones pending.
    fn keep_to_new_cuts(&mut self, before: usize) {
        for (cut, _) in self.pending[before..].iter().filter(|(cut, _)| cut.kind == CutKind::Feasibility) {
            self.projection.add_row(cut);
        }
    }

    /// What x costs at a scenario, with the cut that proves it kept.
    pub(super) fn ask(&mut self, x: &[f64], xi: &[f64]) -> Result<f64, Error> {
        self.engine.at(x);
        self.engine.solve(xi, &mut self.answer)?;
        let before = self.pending.len();
        if self.memory.keep(&self.answer, xi)
            && let Some(cut) = self.answer.cut()
        {
            self.pending.push((cut, xi.to_vec()));
        }
        self.keep_to_new_cuts(before);
        Ok(self.problem.first.value(x) + self.answer.value)
    }

    /// Solves the master over all cuts seen for a lower bound; its decision.
    pub(super) fn bound(&mut self, run: &mut Run) -> Result<Option<Vec<f64>>, Error> {
        // Between two looks at the average there may be thousands; those that matter now are enough for a bound.
        if self.pending.len() > MASTER_CUTS {
            let x = &self.x;
            let weight = |cut: &Cut| if cut.kind == CutKind::Feasibility { f64::INFINITY } else { cut.at(x) };
            self.pending.sort_by(|(a, _), (b, _)| weight(b).total_cmp(&weight(a)));
            self.pending.truncate(MASTER_CUTS);
        }
        for (cut, xi) in self.pending.drain(..) {
            self.master.add_cut(&xi, cut);
        }
        let solved = self.master.solve(None, 0.0, run.limits().seed, run.clock())?;
        run.set_master(self.master.size());
        match solved.ended {
            Ended::Infeasible => {
                let verdict = run.clock().insist(|clock| explain_infeasible(&self.master.behind(), clock), is_stop)?;
                return Err(run.prove(Verdict::Infeasible(verdict)).into());
            }
            Ended::Unbounded => return Err(self.unbounded(run)),
            Ended::Stopped(stop) => return Err(stop.into()),
            Ended::Optimal => {}
        }
        if let Some(lower) = solved.lower {
            run.lower(lower);
        }
        self.lowest.clone_from(&solved.x);
        Ok(solved.x)
    }

    /// A master without a lower bound: where costs are fixed, the problem is unbounded or infeasible, and the loop of cuts proves which.
    fn unbounded(&self, run: &mut Run) -> Error {
        if self.problem.recourse.costs_move() {
            let instead = match Exact::choose(self.problem) {
                Ok(_) => "try --method ccg",
                Err(_) => "give bounds to the variables that it falls along",
            };
            return Error::Master(format!(
                "what a typical scenario costs falls without end, and a descent has no place to start from; {instead}"
            ));
        }
        run.say("the cost of a typical scenario falls without end: no descent, but a proof by cuts");
        let proof = Generator::new(super::ENTRY.name, Growth::Cut, &Map::new()).map_err(Error::Settings);
        match proof.and_then(|cuts| {
            cuts.accepts(self.problem).map_err(Error::from).and_then(|()| cuts.solve(self.problem, self.certify, run))
        }) {
            Ok(()) => Stop::Stalled.into(),
            Err(error) => error,
        }
    }

    /// Whether x is in X, up to what solvers return.
    pub(super) fn is_member(&self, x: &[f64]) -> bool {
        self.problem.first.violation(x).is_none_or(|violation| violation.amount <= MEMBER)
    }

    /// Notes a decision by what is known of it: the better one stays.
    fn take_candidate(&mut self, x: &[f64], value: f64, worst: &[f64], run: &mut Run) {
        if value.is_finite() && self.best.as_ref().is_none_or(|best| value < best.value) && self.is_member(x) {
            self.best = Some(Candidate { x: x.to_vec(), value, worst: worst.to_vec() });
            run.estimate(x, value, worst);
        }
    }

    /// What x costs by all that is known. A scenario seen before may hurt more than the one where the chain stands; whether it does is asked only where
    /// x could be the best.
    pub(super) fn assess(&mut self, run: &mut Run) -> Result<(), Error> {
        let Some(place) = self.oracle.worst() else { return Ok(()) };
        let (outcome, mut worst) = (place.answer.outcome, place.xi.clone());
        if outcome != Outcome::Solved || self.memory.forbids(&self.x) {
            return Ok(());
        }
        let x = self.x.clone();
        let cost = self.problem.first.value(&x);
        let mut value = cost + place.answer.value;
        let limit = self.best.as_ref().map_or(f64::INFINITY, |best| best.value);
        if let Some((cut, remembered)) = self.memory.worst(&x)
            && cost + remembered > value + tellable(value)
        {
            worst = self.memory.scenario(cut).to_vec();
            value = if cost + remembered < limit { self.ask(&x, &worst)? } else { cost + remembered };
            self.oracle.start_at(&worst);
        } else if self.settings.score != Score::Exact && value < limit {
            value = self.ask(&x, &worst)?;
        }
        self.take_candidate(&x, value, &worst, run);
        Ok(())
    }

    /// Looks at the best decision again in the light of new cuts.
    pub(super) fn revise(&mut self, run: &mut Run) -> Result<(), Error> {
        let Some(best) = self.best.clone() else { return Ok(()) };
        let mut value = best.value;
        let mut worst = None;
        if let Some((cut, remembered)) = self.memory.worst(&best.x)
            && self.problem.first.value(&best.x) + remembered > value + tellable(value)
        {
            let xi = self.memory.scenario(cut).to_vec();
            value = self.ask(&best.x, &xi)?;
            worst = Some(xi);
        }
        if value == f64::INFINITY || self.memory.forbids(&best.x) {
            self.best = None;
            run.withdraw();
        } else if let Some(worst) = worst {
            run.revise(&best.x, value, &worst);
            self.best = Some(Candidate { value, worst, ..best });
        }
        Ok(())
    }
}

/// A difference of costs of this size that nobody can tell.
pub(super) fn tellable(value: f64) -> f64 {
    TELLABLE * value.abs().max(1.0)
}
