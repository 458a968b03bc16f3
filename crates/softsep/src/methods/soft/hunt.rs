//! The combined oracle: a pool of scenarios that hurt before, ascents that make them worse, and a chain that explores.
//!
//! It claims nothing. The chain walks by itself and is not moved to where ascents end: it is there to find what they do
//! not. Every answer on the way is kept as a cut.

use rand::RngExt;

use super::evidence::{Evidence, Prey};
use crate::error::Error;
use crate::model::Problem;
use crate::proposal::ChainState;
use crate::recourse::RecourseBasis;
use crate::run::{Purpose, Random, Run, stream};

/// Scenarios of the pool that are climbed from.
const POOL: usize = 2;

/// Where the pool is enough, one hunt in so many asks the chain all the same: it must not lose sight of x.
const SELDOM: u64 = 8;

/// The share of the gap asked for that a step of an ascent must gain.
const GAIN: f64 = 0.01;

/// The least gap that ascents are made for.
const LEAST_GAP: f64 = 1e-7;

/// Who explores: a chain, or several.
pub(in crate::methods) trait Explorer {
    /// Looks for scenarios that hurt x, where a solve of the recourse at x has ended so.
    fn explore(&mut self, x: &[f64], ended: &RecourseBasis, run: &Run) -> Result<(), Error>;

    /// All that it looked at last.
    fn places(&self) -> Vec<&ChainState>;

    /// The worst scenario that it stands at.
    fn worst(&self) -> Option<&ChainState>;
}

/// What a hunt ends at.
#[derive(Debug, Clone, Copy)]
pub(in crate::methods) enum Enough {
    /// A scenario at which x costs more than this.
    Above(f64),
    /// The same, or any cut that is new: for a method that asks again soon, and looks harder in the end.
    NewsOrAbove(f64),
}

impl Enough {
    fn is_met(self, value: f64, is_news: bool) -> bool {
        match self {
            Enough::Above(enough) => value > enough,
            Enough::NewsOrAbove(enough) => value > enough || is_news,
        }
    }
}

/// The hunt.
pub(in crate::methods) struct Hunt<'a> {
    problem: &'a Problem,
    random: Random,
    calls: u64,
}

impl<'a> Hunt<'a> {
    pub(in crate::methods) fn new(problem: &'a Problem, seed: u64) -> Self {
        Self { problem, random: stream(seed, Purpose::Start, 1), calls: 0 }
    }

    /// Looks for a scenario that hurts x, until it has found enough.
    pub(in crate::methods) fn at(
        &mut self,
        x: &[f64],
        enough: Enough,
        evidence: &mut Evidence,
        explorer: &mut dyn Explorer,
        run: &mut Run,
    ) -> Result<Prey, Error> {
        self.calls += 1;
        let gain = GAIN * run.limits().gap.max(LEAST_GAP);
        let mut worst = Prey { xi: vec![0.0; self.problem.set.dim()], value: f64::NEG_INFINITY };
        let known = evidence.pending();
        let mut pool = evidence.memory().worst_scenarios(x, POOL);
        if pool.is_empty() {
            self.problem.set.nominal(&mut worst.xi);
            pool.push(worst.xi.clone());
        }
        for start in pool {
            worst = worse(worst, evidence.climb(x, &start, gain)?);
            if enough.is_met(worst.value, false) {
                break;
            }
        }
        let found = |worst: &Prey, evidence: &Evidence| enough.is_met(worst.value, evidence.pending() > known);
        if !found(&worst, evidence) || self.calls.is_multiple_of(SELDOM) {
            explorer.explore(x, &evidence.warm_start(), run)?;
            evidence.keep_places(explorer.places().into_iter());
            if let Some(place) = explorer.worst() {
                let prey = Prey { xi: place.xi.clone(), value: self.problem.first.value(x) + place.answer.value };
                let start = prey.xi.clone();
                worst = worse(worst, prey);
                if !found(&worst, evidence) {
                    worst = worse(worst, evidence.climb(x, &start, gain)?);
                }
            }
        }
        if !found(&worst, evidence) {
            let mut start = vec![0.0; worst.xi.len()];
            let direction: Vec<f64> = (0..start.len()).map(|_| self.random.random_range(-1.0..1.0)).collect();
            self.problem.set.support(&direction, &mut start)?;
            worst = worse(worst, evidence.climb(x, &start, gain)?);
        }
        Ok(worst)
    }
}

fn worse(a: Prey, b: Prey) -> Prey {
    if b.value > a.value { b } else { a }
}
