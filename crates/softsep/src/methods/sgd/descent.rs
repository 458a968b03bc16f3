//! The loop of `sgd`.

use super::average::Average;
use super::memory::Memory;
use super::metric::Metric;
use super::settings::{AcceptanceChoice, Choice, ProposalChoice, SgdSettings, Start, Steps, Temperature};
use crate::chain::{Acceptance, Chain, Kernel};
use crate::error::Error;
use crate::master::{Ended, Growing, explain_infeasible};
use crate::methods::record::is_stop;
use crate::model::Problem;
use crate::proposal::{Proposal, Tilted, Uniform};
use crate::recourse::{Answer, Cut, Outcome, Recourse, engine};
use crate::run::{ChainRecord, Run, Stop, Verdict};
use crate::separation::SlopeRanges;
use crate::settings::Certify;
use crate::uncertainty::{Reach, Space, States, Trend};

/// How far between the lower bound and the best value the level is.
const LEVEL: f64 = 0.5;

/// Over-relaxation of steps toward the level; between 1 and 2 they overshoot one cut and meet the next sooner.
const RELAXATION: f64 = 1.5;

/// Steps toward the level between two calls of the chain.
const REPLAY: usize = 200;

/// The share of ν in the adaptive proposal.
const SHARE: f64 = 0.05;

/// The share of the gap asked for that the automatic temperature may cost, for each dimension of ξ.
const WARMTH: f64 = 0.05;

/// Two costs closer than this, relative to their size, are equal up to the solvers' tolerances.
const TELLABLE: f64 = 1e-9;

/// Runs the descent until the run's limits end it.
pub(super) fn descend(problem: &Problem, settings: &SgdSettings, certify: Certify, run: &mut Run) -> Result<(), Error> {
    let states = problem.set.states(&reach(problem, run)?)?;
    let proposal = proposal(settings, states.as_ref())?;
    let mut descent = Descent::new(problem, settings, certify, states.as_ref(), proposal.as_ref(), run)?;
    descent.start(run)?;
    loop {
        descent.iterate(run)?;
    }
}

/// What is known of Q(x, ·): convex where costs do not move, and its trends where the set has a use for them.
fn reach(problem: &Problem, run: &Run) -> Result<Reach, Error> {
    let mut reach = Reach { convex: !problem.recourse.costs_move(), ..Reach::default() };
    if reach.convex && problem.recourse.is_linear() && problem.recourse.dim() > 0 {
        if let Some(ranges) = SlopeRanges::of(problem, run.clock())? {
            let trend = |(least, most): (&f64, &f64)| match (*least >= 0.0, *most <= 0.0) {
                (true, _) => Trend::Rising,
                (_, true) => Trend::Falling,
                _ => Trend::Unknown,
            };
            reach.trends = ranges.least.iter().zip(&ranges.most).map(trend).collect();
        }
    }
    Ok(reach)
}

fn proposal(settings: &SgdSettings, states: &dyn States) -> Result<Box<dyn Proposal>, Error> {
    let tilted = Tilted::of(states, SHARE).map(|tilted| match settings.kappa {
        Choice::Auto => tilted,
        Choice::Given(concentration) => Tilted { concentration, ..tilted },
    });
    match (settings.proposal, tilted) {
        (ProposalChoice::Uniform, _) | (ProposalChoice::Auto, None) => Ok(Box::new(Uniform)),
        (ProposalChoice::Auto | ProposalChoice::Adaptive, Some(tilted)) => Ok(Box::new(tilted)),
        (ProposalChoice::Adaptive, None) => Err(Error::Settings("there is no tilt of these states".into())),
    }
}

/// The descent's state.
struct Descent<'a> {
    problem: &'a Problem,
    settings: &'a SgdSettings,
    certify: Certify,
    states: &'a dyn States,
    proposal: &'a dyn Proposal,
    engine: Box<dyn Recourse>,
    chain: Chain,
    memory: Memory<'a>,
    master: Growing<'a>,
    /// Cuts that the master has not seen.
    pending: Vec<(Vec<f64>, Cut)>,
    metric: Metric,
    average: Average,
    x: Vec<f64>,
    /// Where the descent began, and how far it went from there in the metric.
    origin: Vec<f64>,
    reached: f64,
    /// The sum of squared lengths of subgradients.
    squares: f64,
    answer: Answer,
    gradient: Vec<f64>,
    counted: u64,
}

impl<'a> Descent<'a> {
    fn new(
        problem: &'a Problem,
        settings: &'a SgdSettings,
        certify: Certify,
        states: &'a dyn States,
        proposal: &'a dyn Proposal,
        run: &Run,
    ) -> Result<Self, Error> {
        let dim = problem.first.dim();
        let x = vec![0.0; dim];
        Ok(Self {
            problem,
            settings,
            certify,
            states,
            proposal,
            engine: engine(problem, run.clock())?,
            chain: Chain::new(problem, states, run.limits().seed, 0).adapting(),
            memory: Memory::new(problem),
            master: Growing::new(problem, run.clock())?,
            pending: Vec::new(),
            metric: match settings.steps {
                Steps::Level => Metric::free_of_units(dim),
                Steps::Sqrt => Metric::of_paper(dim),
            },
            average: Average::new(settings.average, &x),
            origin: x.clone(),
            reached: 0.0,
            squares: 0.0,
            answer: Answer::new(problem),
            gradient: vec![0.0; dim],
            x,
            counted: 0,
        })
    }

    /// Finds the first x, and the first lower bound on the way.
    fn start(&mut self, run: &mut Run) -> Result<(), Error> {
        let nominal = self.bound(run)?;
        match (&self.settings.start, nominal) {
            (Start::Nominal, Some(x)) => self.x = x,
            _ => {}
        }
        self.origin.copy_from_slice(&self.x);
        self.average = Average::new(self.settings.average, &self.x);
        Ok(())
    }

    /// Solves the master over all cuts seen for a lower bound; its decision.
    fn bound(&mut self, run: &mut Run) -> Result<Option<Vec<f64>>, Error> {
        for (xi, cut) in self.pending.drain(..) {
            self.master.add_cut(&xi, cut);
        }
        let solved = self.master.solve(None, 0.0, run.limits().seed, run.clock())?;
        run.set_master(self.master.size());
        match solved.ended {
            Ended::Infeasible => {
                let verdict = run.clock().insist(|clock| explain_infeasible(&self.master.behind(), clock), is_stop)?;
                return Err(run.prove(Verdict::Infeasible(verdict)).into());
            }
            Ended::Unbounded => return Err(Error::Master("unbounded".into())),
            Ended::Stopped(stop) => return Err(stop.into()),
            Ended::Optimal => {}
        }
        if let Some(lower) = solved.lower {
            run.lower(lower);
        }
        Ok(solved.x)
    }

    fn temperature(&self, run: &Run) -> f64 {
        match self.settings.temperature {
            Temperature::Given(temperature) => temperature,
            _ => {
                let size = run.bounds().lower().map_or(1.0, f64::abs).max(1e-6);
                WARMTH * run.limits().gap.max(1e-6) * size / self.problem.set.dim().max(1) as f64
            }
        }
    }

    /// One iteration: the chain steps at x, then x steps.
    fn iterate(&mut self, run: &mut Run) -> Result<(), Error> {
        let temperature = self.temperature(run);
        let kernel = Kernel {
            states: self.states,
            proposal: self.proposal,
            acceptance: match self.settings.acceptance {
                AcceptanceChoice::Metropolis => Acceptance::Metropolis,
                AcceptanceChoice::Barker => Acceptance::Barker,
            },
            temperature,
        };
        self.engine.at(&self.x);
        self.chain.incumbent_moved();
        self.chain.look(&kernel, self.engine.as_mut())?;
        self.keep_here();
        for _ in 0..self.settings.transitions {
            self.chain.step(&kernel, self.engine.as_mut())?;
            self.keep_here();
            self.keep_other();
        }
        self.assess(run)?;
        let value = self.problem.first.value(&self.x) + self.chain.place().answer.value;
        let step = match self.settings.steps {
            Steps::Level => self.step_to_level(run)?,
            Steps::Sqrt => self.step_by_root(run)?,
        };
        self.count(run);
        let diagnostics = self.chain.diagnostics();
        run.set_chain(ChainRecord {
            value,
            acceptance: diagnostics.acceptance().unwrap_or(0.0),
            effective: diagnostics.effective().unwrap_or(0.0),
            still: diagnostics.still,
            temperature,
            step,
        });
        run.tick()?;
        Ok(())
    }

    fn count(&mut self, run: &mut Run) {
        let solves = self.engine.work().solves;
        run.count_solves(solves - self.counted);
        self.counted = solves;
    }

    fn keep_here(&mut self) {
        let place = self.chain.place();
        if self.memory.keep(&place.answer, &place.xi)
            && let Some(cut) = place.answer.cut()
        {
            self.pending.push((place.xi.clone(), cut));
        }
    }

    fn keep_other(&mut self) {
        let place = self.chain.other();
        if self.memory.keep(&place.answer, &place.xi)
            && let Some(cut) = place.answer.cut()
        {
            self.pending.push((place.xi.clone(), cut));
        }
    }

    /// Solves the recourse at x and the scenario of a cut; what x costs there.
    fn ask(&mut self, x: &[f64], cut: usize) -> Result<f64, Error> {
        let xi = self.memory.scenario(cut).to_vec();
        self.engine.at(x);
        self.engine.solve(&xi, &mut self.answer)?;
        if self.memory.keep(&self.answer, &xi)
            && let Some(cut) = self.answer.cut()
        {
            self.pending.push((xi, cut));
        }
        Ok(self.problem.first.value(x) + self.answer.value)
    }

    /// Estimates what x costs, and what the best decision does in the light of new cuts.
    fn assess(&mut self, run: &mut Run) -> Result<(), Error> {
        let x = self.x.clone();
        let cost = self.problem.first.value(&x);
        let place = self.chain.place();
        let (mut value, mut worst) = (cost + place.answer.value, place.xi.clone());
        if place.answer.outcome == Outcome::Solved
            && let Some((cut, remembered)) = self.memory.worst(&x)
            && cost + remembered > value + TELLABLE * value.abs().max(1.0)
        {
            // A scenario seen before hurts more than the one where the chain stands.
            let xi = self.memory.scenario(cut).to_vec();
            let best = run.bounds().best().map_or(f64::INFINITY, |best| best.value);
            if cost + remembered < best {
                value = self.ask(&x, cut)?;
            } else {
                value = cost + remembered;
            }
            self.chain.start_at(self.states, &xi);
            worst = xi;
        }
        run.estimate(&x, value, &worst);
        if let Some(best) = run.bounds().best().filter(|best| best.upper.is_none()) {
            let (x, value) = (best.x.clone(), best.value);
            let cost = self.problem.first.value(&x);
            if let Some((cut, remembered)) = self.memory.worst(&x)
                && cost + remembered > value + TELLABLE * value.abs().max(1.0)
            {
                let value = self.ask(&x, cut)?;
                let xi = self.memory.scenario(cut).to_vec();
                run.revise(value, &xi);
            }
        }
        Ok(())
    }

    fn see_gradient(&mut self) {
        let answer = &self.chain.place().answer;
        if answer.outcome != Outcome::Solved {
            return;
        }
        for j in 0..self.gradient.len() {
            self.gradient[j] = self.problem.first.cost[j] + answer.slope_x[j];
        }
        self.problem.first.quadratic.mul_add(1.0, &self.x, &mut self.gradient);
        self.metric.see(&self.gradient);
    }

    fn step_to_level(&mut self, run: &mut Run) -> Result<f64, Error> {
        self.see_gradient();
        let before = self.x.clone();
        let level = match (run.bounds().lower(), run.bounds().best()) {
            (Some(lower), Some(best)) => lower + LEVEL * (best.value - lower),
            _ => f64::INFINITY,
        };
        let metric = self.metric.diagonal().to_vec();
        if !self.memory.approach(&mut self.x, level, &metric, RELAXATION, REPLAY) {
            self.bound(run)?;
        }
        Ok(distance(&before, &self.x, &metric))
    }

    fn step_by_root(&mut self, run: &mut Run) -> Result<f64, Error> {
        self.see_gradient();
        let metric = self.metric.diagonal();
        let squares: f64 = self.gradient.iter().zip(metric).map(|(g, h)| g * g / h).sum();
        self.squares += squares;
        let n = (run.iterations() + 1) as f64;
        let step = match self.settings.step {
            Choice::Given(scale) => scale / n.sqrt(),
            Choice::Auto => {
                let size = self.origin.iter().zip(metric).map(|(x, h)| h * x * x).sum::<f64>().sqrt();
                self.reached = self.reached.max(distance(&self.x, &self.origin, metric)).max(1e-3 * (1.0 + size));
                self.reached / self.squares.sqrt().max(f64::MIN_POSITIVE)
            }
        };
        let first = &self.problem.first;
        for j in 0..self.x.len() {
            self.x[j] = (self.x[j] - step * self.gradient[j] / metric[j]).clamp(first.lower[j], first.upper[j]);
        }
        self.average.add(&self.x, step);
        let checkpoint = n as u64 % 10 == 0;
        if checkpoint {
            let x = std::mem::replace(&mut self.x, self.average.mean().to_vec());
            let (worst, _) = self.memory.worst(&self.x).unwrap_or((0, 0.0));
            let average = self.x.clone();
            let value = self.ask(&average, worst)?;
            let xi = self.memory.scenario(worst).to_vec();
            run.estimate(&average, value, &xi);
            self.x = x;
        }
        Ok(step)
    }
}

fn distance(a: &[f64], b: &[f64], metric: &[f64]) -> f64 {
    a.iter().zip(b).zip(metric).map(|((a, b), h)| h * (a - b).powi(2)).sum::<f64>().sqrt()
}
