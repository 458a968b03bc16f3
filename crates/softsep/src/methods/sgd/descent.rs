//! The loop of `sgd`.

use serde_json::Map;

use super::average::Average;
use super::memory::Memory;
use super::metric::Metric;
use super::oracle::Oracle;
use super::settings::{Choice, Score, SgdSettings, Steps};
use crate::error::Error;
use crate::master::{Ended, Growing, Projection, explain_infeasible};
use crate::methods::Method;
use crate::methods::generate::{Generator, Growth};
use crate::methods::record::{at_one, is_stop, record};
use crate::model::Problem;
use crate::recourse::{Answer, Cut, CutKind, Outcome, Recourse, engine};
use crate::run::{Run, Stop, Verdict};
use crate::separation::{Ask, Exact, Separation};
use crate::settings::Certify;
use crate::uncertainty::States;

/// How far the level is from the lower bound on the way to the best value.
const LEVEL: f64 = 0.5;

/// Over-relaxation of steps toward the level. Between 1 and 2 they converge; the larger, the sooner they meet the next cut.
const RELAXATION: f64 = 1.5;

/// Steps toward the level between two calls of the chain.
const REPLAY: usize = 200;

/// New cuts that are worth another master. Each costs as much as many recourse solves, and the level need not be at its best.
const ENOUGH: usize = 8;

/// Iterations without a new cut, and without a smaller gap, after which x goes half-way to the master's decision: replay may be slow where cuts
/// are nearly parallel.
const STALE: u32 = 3;
const PATIENCE: u32 = 20;

/// The share of the gap that must go for it to count as smaller.
const SMALLER: f64 = 0.05;

/// How often the chains start anew at a decision before the run ends with it: where one stands may be a local maximum.
const RESTARTS: u32 = 4;

/// Iterations without a new cut after which there is nothing left to find.
const NOTHING_NEW: u32 = 1000;

/// Iterations of `--steps sqrt` where nobody gives a limit.
const ITERATIONS: u64 = 10_000;

/// The share of iterations after which an average is looked at again.
const CHECKPOINT: u64 = 10;

/// The first distance that the automatic scale of steps goes by, relative to where the descent starts.
const FIRST_DISTANCE: f64 = 1e-3;

/// Two costs closer than this, relative to their size, are equal up to the solvers' tolerances.
const TELLABLE: f64 = 1e-9;

/// A decision with the worst scenario known for it.
#[derive(Debug, Clone)]
struct Candidate {
    x: Vec<f64>,
    value: f64,
    worst: Vec<f64>,
}

/// The descent's state.
pub(super) struct Descent<'a> {
    pub(super) problem: &'a Problem,
    pub(super) settings: &'a SgdSettings,
    certify: Certify,
    pub(super) oracle: Oracle<'a>,
    /// For questions beside the chain's.
    engine: Box<dyn Recourse>,
    pub(super) answer: Answer,
    memory: Memory<'a>,
    pub(super) master: Growing<'a>,
    /// Cuts that the master has not seen.
    pending: Vec<(Cut, Vec<f64>)>,
    /// The master's decision.
    lowest: Option<Vec<f64>>,
    projection: Projection,
    separation: Option<Box<dyn Separation + 'a>>,
    metric: Metric,
    average: Average,
    x: Vec<f64>,
    gradient: Vec<f64>,
    /// The best decision by what is known of it, of the iterates or of the averages.
    best: Option<Candidate>,
    progress: Progress,
    travelled: Travelled,
    /// Solves that are in the ledger.
    counted: u64,
    /// Iterations since the last new cut.
    stale: u32,
    /// When the average is looked at next.
    checkpoint: u64,
}

/// The smallest gap so far, and for how long it has been that.
struct Progress {
    gap: f64,
    since: u32,
}

/// What the automatic scale of steps goes by.
struct Travelled {
    origin: Vec<f64>,
    furthest: f64,
    squares: f64,
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

    /// Begins at the point nearest to x. It has a value at once, from one scenario, so that a run that ends now has something to show.
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

    /// One iteration: the chains step at x, then x steps.
    pub(super) fn iterate(&mut self, run: &mut Run) -> Result<(), Error> {
        let moved = self.advance(run);
        // What the last iteration solved counts too, however it ended.
        self.count(run);
        let (value, step) = moved?;
        let chains = self.oracle.record(value, step, run);
        run.set_chain(chains);
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

    /// The work of an iteration: what x cost at the worst place of a chain, and the length of its step.
    fn advance(&mut self, run: &mut Run) -> Result<(f64, f64), Error> {
        self.oracle.call(&self.x, self.settings.transitions, run)?;
        self.keep_places();
        let value = self.problem.first.value(&self.x) + self.oracle.worst().map_or(f64::NEG_INFINITY, |place| place.answer.value);
        let step = match self.settings.steps {
            Steps::Level => self.step_to_level(run)?,
            Steps::Sqrt => self.step_by_root(run)?,
        };
        self.revise(run)?;
        if self.looks_done(run) {
            self.finish(run)?;
        }
        Ok((value, step))
    }

    fn count(&mut self, run: &mut Run) {
        let solves = self.oracle.solves() + self.engine.work().solves;
        run.count_solves(solves - self.counted + self.master.take_solves());
        self.counted = solves;
    }

    /// Keeps the cuts of all that the chains looked at.
    fn keep_places(&mut self) {
        let found: Vec<(Cut, Vec<f64>)> =
            self.oracle.places().filter_map(|place| Some((place.answer.cut()?, place.xi.clone()))).collect();
        let before = self.pending.len();
        found.into_iter().for_each(|(cut, xi)| self.keep(cut, xi));
        self.stale = if self.pending.len() > before { 0 } else { self.stale + 1 };
    }

    fn keep(&mut self, cut: Cut, xi: Vec<f64>) {
        if self.memory.keep(&cut, &xi) {
            if cut.kind == CutKind::Feasibility {
                self.projection.add_row(&cut);
            }
            self.pending.push((cut, xi));
        }
    }

    /// What x costs at a scenario, with the cut that proves it kept.
    pub(super) fn ask(&mut self, x: &[f64], xi: &[f64]) -> Result<f64, Error> {
        self.engine.at(x);
        self.engine.solve(xi, &mut self.answer)?;
        if let Some(cut) = self.answer.cut() {
            self.keep(cut, xi.to_vec());
        }
        Ok(self.problem.first.value(x) + self.answer.value)
    }

    /// Solves the master over all cuts seen for a lower bound; its decision.
    pub(super) fn bound(&mut self, run: &mut Run) -> Result<Option<Vec<f64>>, Error> {
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

    /// Notes a decision by what is known of it: the better one stays.
    fn take_candidate(&mut self, x: &[f64], value: f64, worst: &[f64], run: &mut Run) {
        if value.is_finite() && self.best.as_ref().is_none_or(|best| value < best.value) {
            self.best = Some(Candidate { x: x.to_vec(), value, worst: worst.to_vec() });
            run.estimate(x, value, worst);
        }
    }

    /// What x costs by all that is known. A scenario seen before may hurt more than the one where the chain stands; whether it does is asked only where
    /// x could be the best.
    fn assess(&mut self, run: &mut Run) -> Result<(), Error> {
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
    fn revise(&mut self, run: &mut Run) -> Result<(), Error> {
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
            run.revise(value, &worst);
            self.best = Some(Candidate { value, worst, ..best });
        }
        Ok(())
    }

    /// Whether the best decision is within the gap of the lower bound, as far as is known.
    fn looks_done(&self, run: &Run) -> bool {
        match (&self.best, run.bounds().lower()) {
            (Some(best), Some(lower)) => best.value - lower <= (run.limits().gap * best.value.abs()).max(tellable(best.value)),
            _ => false,
        }
    }

    /// Looks at the best decision harder, and if it still is what it seems to be, ends the run with it: proved where a proof is asked for or cheap.
    fn finish(&mut self, run: &mut Run) -> Result<(), Error> {
        let Some(x) = self.best.as_ref().map(|best| best.x.clone()) else { return Ok(()) };
        for _ in 0..RESTARTS {
            self.oracle.restart();
            self.oracle.call(&x, 10 + self.problem.set.dim() as u64 / 2, run)?;
            self.keep_places();
            // A smoothed score is below the cost itself, and finite where there is no recourse.
            if self.settings.score != Score::Exact
                && let Some(worst) = self.oracle.worst().map(|place| place.xi.clone())
            {
                self.ask(&x, &worst)?;
            }
            self.revise(run)?;
            if !self.looks_done(run) {
                return Ok(());
            }
        }
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
        let found = record(self.problem, &x, &best.worst, separation.as_mut(), &ask, self.certify, run)?;
        if let Some((cut, xi)) = found.and_then(|found| Some((found.cut?, found.xi))) {
            self.oracle.start_at(&xi);
            self.keep(cut, xi);
            self.revise(run)?;
        }
        Ok(())
    }

    /// The subgradient at x by the worst chain's scenario; false where there is none.
    fn see_gradient(&mut self) -> bool {
        let Some(place) = self.oracle.worst().filter(|place| place.answer.outcome == Outcome::Solved) else { return false };
        for (j, entry) in self.gradient.iter_mut().enumerate() {
            *entry = self.problem.first.cost[j] + place.answer.slope_x[j];
        }
        self.problem.first.quadratic.mul_add(1.0, &self.x, &mut self.gradient);
        if self.metric.see(&self.gradient) {
            self.projection.set_metric(self.metric.diagonal());
        }
        true
    }

    /// Steps toward the level by all cuts seen; the length of the way.
    fn step_to_level(&mut self, run: &mut Run) -> Result<f64, Error> {
        self.assess(run)?;
        self.see_gradient();
        let level = match (run.bounds().lower(), &self.best) {
            (Some(lower), Some(best)) => lower + LEVEL * (best.value - lower),
            _ => f64::INFINITY,
        };
        let from = self.x.clone();
        if !self.memory.approach(&mut self.x, level, self.metric.diagonal(), RELAXATION, REPLAY) {
            // The level may be out of reach: below the optimum of all cuts seen.
            if self.pending.len() >= ENOUGH || self.stale > 0 && !self.pending.is_empty() {
                self.bound(run)?;
            }
            self.go_half_way(run);
        }
        self.project(run)?;
        Ok(distance(&from, &self.x, self.metric.diagonal()))
    }

    /// After iterations without progress: half-way from the best decision to the master's.
    fn go_half_way(&mut self, run: &Run) {
        let (Some(best), Some(master), Some(lower)) = (&self.best, &self.lowest, run.bounds().lower()) else { return };
        let gap = best.value - lower;
        self.progress.since += 1;
        if gap < (1.0 - SMALLER) * self.progress.gap {
            self.progress = Progress { gap, since: 0 };
        } else if self.progress.since >= PATIENCE || self.stale >= STALE {
            self.progress.since = 0;
            self.x.iter_mut().zip(best.x.iter().zip(master)).for_each(|(x, (best, master))| *x = 0.5 * (best + master));
        }
    }

    fn project(&mut self, run: &mut Run) -> Result<(), Error> {
        let projected = self.projection.project(&mut self.x);
        if projected.is_err() && self.projection.is_empty() {
            // The master proves it, and says which rows contradict one another. If it finds a decision all the same, the two differ by their
            // tolerances, and that decision is the one to go on with: x is in no set.
            if let Some(lowest) = self.bound(run)? {
                self.x = lowest;
                return Ok(());
            }
        }
        projected
    }

    /// Algorithm 1's own step: α₀/√n against the subgradient in the metric H, projected; then the average.
    fn step_by_root(&mut self, run: &mut Run) -> Result<f64, Error> {
        let iteration = run.iterations() + 1;
        let mut step = 0.0;
        if self.see_gradient() {
            let metric = self.metric.diagonal();
            let travelled = &mut self.travelled;
            travelled.squares += self.gradient.iter().zip(metric).map(|(g, h)| g * g / h).sum::<f64>();
            step = match self.settings.step {
                Choice::Given(scale) => scale / (iteration as f64).sqrt(),
                // The distance travelled over the root of the sum of squares: α₀/√n for slopes of one size, with an α₀ that fits the problem.
                Choice::Auto => {
                    let size = travelled.origin.iter().zip(metric).map(|(x, h)| h * x * x).sum::<f64>().sqrt();
                    let so_far = distance(&self.x, &travelled.origin, metric).max(FIRST_DISTANCE * (1.0 + size));
                    travelled.furthest = travelled.furthest.max(so_far);
                    if travelled.squares > 0.0 { travelled.furthest / travelled.squares.sqrt() } else { 0.0 }
                }
            };
            for (j, x) in self.x.iter_mut().enumerate() {
                *x -= step * self.gradient[j] / metric[j];
            }
        }
        self.project(run)?;
        self.average.add(&self.x, step);
        if iteration >= self.checkpoint || Some(iteration) == run.limits().iterations {
            self.checkpoint = iteration + CHECKPOINT.max(iteration / CHECKPOINT);
            self.assess_average(run)?;
        }
        Ok(step)
    }

    /// Looks at the average, which is what the run returns, and at the lower bound.
    fn assess_average(&mut self, run: &mut Run) -> Result<(), Error> {
        let x = self.average.mean().to_vec();
        let Some(mut worst) = self.oracle.worst().map(|place| place.xi.clone()) else { return Ok(()) };
        let mut value = self.ask(&x, &worst)?;
        if let Some((cut, remembered)) = self.memory.worst(&x)
            && self.problem.first.value(&x) + remembered > value + tellable(value)
        {
            worst = self.memory.scenario(cut).to_vec();
            value = self.ask(&x, &worst)?;
        }
        if value.is_finite() && !self.memory.forbids(&x) {
            run.replace_estimate(&x, value, &worst);
            self.best = Some(Candidate { x, value, worst });
        }
        self.bound(run).map(|_| ())
    }
}

fn tellable(value: f64) -> f64 {
    TELLABLE * value.abs().max(1.0)
}

fn distance(a: &[f64], b: &[f64], metric: &[f64]) -> f64 {
    a.iter().zip(b).zip(metric).map(|((a, b), h)| h * (a - b).powi(2)).sum::<f64>().sqrt()
}
