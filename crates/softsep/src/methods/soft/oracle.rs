//! The oracle: chains that look for scenarios at the incumbent, and what they found.

use super::settings::{ChainSettings, Choice, Score, Temperature};
use crate::chain::{Chains, Kernel};
use crate::error::Error;
use crate::model::Problem;
use crate::proposal::{Options, Place, Proposal};
use crate::recourse::{WarmStart, engine};
use crate::run::{ChainRecord, Clock, Run};
use crate::separation::SlopeRanges;
use crate::theory;
use crate::uncertainty::{Count, Reach, Reference, Space, States};

/// The share of the gap asked for that the automatic temperature may cost, over the dimension of ξ: how far below the worst case p_x has its mass.
const WARMTH: f64 = 0.05;

/// The least gap that the automatic temperature is made for.
const LEAST_GAP: f64 = 1e-6;

/// The share of the objective by which the worst scenario is taken to be worse than the next, where nobody says better (Δ⋆ of Proposition 2).
const MARGIN: f64 = 1e-3;

/// What a chain walks on.
pub(in crate::methods) fn states<'p>(
    problem: &'p Problem,
    reference: Reference,
    clock: &Clock,
) -> Result<Box<dyn States + 'p>, Error> {
    let mut reach = Reach { convex: !problem.recourse.costs_move(), reference, ..Reach::default() };
    let has_ranges = reach.convex && problem.recourse.is_linear() && problem.recourse.dim() > 0;
    if has_ranges
        && problem.set.heeds_trends()
        && let Some(ranges) = SlopeRanges::of(problem, clock)?
    {
        reach.trends = ranges.trends();
    }
    Ok(problem.set.states(&reach)?)
}

/// Chains with their kernel.
pub(in crate::methods) struct Oracle<'a> {
    states: &'a dyn States,
    settings: ChainSettings,
    proposal: Box<dyn Proposal>,
    chains: Chains,
    dim: usize,
}

impl<'a> Oracle<'a> {
    pub(in crate::methods) fn new(
        problem: &Problem,
        states: &'a dyn States,
        settings: ChainSettings,
        run: &Run,
    ) -> Result<Self, Error> {
        let options = Options {
            concentration: match settings.kappa {
                Choice::Auto => None,
                Choice::Given(kappa) => Some(kappa),
            },
            share: settings.share,
            ..Options::default()
        };
        let proposal = settings.proposal.build(states, &options).map_err(|refused| Error::Settings(refused.to_string()))?;
        let scored = match settings.score {
            Score::Exact => problem.clone(),
            Score::Moreau(tau) => problem.moreau(tau),
        };
        let (seed, clock) = (run.limits().seed, run.clock());
        let mut chains = Chains::with_engines(problem, states, seed, settings.chains, || engine(&scored, clock))?;
        if settings.kappa == Choice::Auto {
            chains.iter_mut().for_each(|chain| chain.adapt_sharpness());
        }
        if settings.temperature == Temperature::Adaptive && states_count(states).is_none() {
            return Err(Error::Settings(format!(
                "the adaptive temperature is for finitely many states, and here they are {}; leave --temperature out, or give a number",
                states.space()
            )));
        }
        Ok(Self { states, settings, proposal, chains, dim: problem.set.dim() })
    }

    /// w at this moment.
    pub(in crate::methods) fn temperature(&self, run: &Run) -> f64 {
        // The lower bound tells the size of the objective before anything else does.
        let size = run.bounds().lower().map_or(1.0, f64::abs).max(LEAST_GAP);
        match (self.settings.temperature, states_count(self.states)) {
            (Temperature::Given(temperature), _) => temperature,
            (Temperature::Adaptive, Some(count)) => {
                let margin = match self.settings.margin {
                    Choice::Given(margin) => margin,
                    Choice::Auto => MARGIN * size,
                };
                theory::temperature_at(run.iterations(), margin, count)
            }
            _ => WARMTH * run.limits().gap.max(LEAST_GAP) * size / self.dim.max(1) as f64,
        }
    }

    /// So many transitions of each chain at x.
    pub(in crate::methods) fn call(&mut self, x: &[f64], transitions: u64, run: &Run) -> Result<(), Error> {
        let temperature = self.temperature(run);
        let kernel =
            Kernel { states: self.states, proposal: self.proposal.as_ref(), acceptance: self.settings.acceptance, temperature };
        self.chains.at(x);
        Ok(self.chains.step(&kernel, transitions, run.clock())?)
    }

    /// Lets the chains' engines begin where another one ended.
    pub(in crate::methods) fn start_from(&mut self, warm: &WarmStart) -> Result<(), Error> {
        // A smoothed recourse has another basis.
        if self.is_smoothed() { Ok(()) } else { Ok(self.chains.start_from(warm)?) }
    }

    /// Where the chains stand, and what else they looked at last.
    pub(in crate::methods) fn places(&self) -> impl Iterator<Item = &Place> {
        self.chains.iter().flat_map(|chain| [chain.place(), chain.other()]).chain(self.chains.best())
    }

    /// The chain that stands at the worst scenario; of equal ones, that of the least label.
    pub(in crate::methods) fn worst(&self) -> Option<&Place> {
        let places = self.chains.iter().map(|chain| chain.place());
        places.reduce(|worst, place| if place.answer.value > worst.answer.value { place } else { worst })
    }

    /// Sets the first chain to a scenario; where no state stands for it, nothing happens.
    pub(in crate::methods) fn start_at(&mut self, xi: &[f64]) {
        if let Some(chain) = self.chains.iter_mut().next() {
            chain.start_at(self.states, xi);
        }
    }

    /// Starts all chains again, each from a draw of its own.
    pub(in crate::methods) fn restart(&mut self) {
        self.chains.iter_mut().for_each(|chain| chain.restart(self.states));
    }

    /// Whether chains score scenarios by something else than what the recourse costs.
    pub(in crate::methods) fn is_smoothed(&self) -> bool {
        self.settings.score != Score::Exact
    }

    /// Recourse solves so far.
    pub(in crate::methods) fn solves(&self) -> u64 {
        self.chains.solves()
    }

    /// How the chains are doing, where x cost `value` and made a step of this length.
    pub(in crate::methods) fn record(&self, value: f64, step: f64, run: &Run) -> ChainRecord {
        let summary = self.chains.summary();
        ChainRecord {
            value,
            acceptance: summary.acceptance().unwrap_or(0.0),
            effective: summary.effective,
            still: summary.still,
            temperature: self.temperature(run),
            step,
        }
    }
}

/// How many states there are, where they are finitely many.
fn states_count(states: &dyn States) -> Option<f64> {
    match states.space() {
        Space::Finite(Count::Exactly(count) | Count::MoreThan(count)) => Some(count as f64),
        _ => None,
    }
}
