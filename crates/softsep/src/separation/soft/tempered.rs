//! The tempered search: the strongest search for the worst scenario at a decision, by chains at many temperatures and
//! ascents from their states.
//!
//! Ascents end at local maxima of Q(x, ·), and from random starts they may never meet the highest one. Chains at high
//! temperature cross between the basins of local maxima, chains at low temperature climb within them
//! (`chain/replicas.rs`); ascents from the best state of each replica end the climb. Temperatures are in units of the
//! spread of Q(x, ·), its standard deviation over draws from the reference measure, measured at each decision.
//!
//! Further ascents begin beyond the set, where each entry of ξ deviates by a random multiple of its deviation at a
//! replica's state or at a draw; the slope of Q there leads back to the set. A dual vertex that is optimal at extreme
//! deviations of a few entries is optimal nowhere near random members of the set; beyond the set it is met often.
//! Others begin between local maxima already known (`local_maxima.rs`): these combine worse parts of several.
//! docs/design/separation.md has the measurements.
//! `progress.rs` has the rule by which a search ends.

use std::sync::Arc;

use super::climber::Climber;
use super::local_maxima::Recombination;
use super::progress::{Progress, RUNGS, SearchEffort};
use super::settings::Schedule;
use crate::chain::{Acceptance, Ladder, Replicas, TransitionKernel};
use crate::error::Error;
use crate::model::Problem;
use crate::numeric::tolerances::cost_tol;
use crate::proposal::{KernelMixture, Proposal, ProposalKind, ProposalOptions, Uniform};
use crate::recourse::{Answer, Recourse, engine};
use crate::run::{Clock, Purpose, Random, SearchDiagnostics, stream};
use crate::uncertainty::{Count, Space, States};

/// The highest and the lowest temperature, in units of the spread.
const HOT: f64 = 1.0;
const COLD: f64 = 0.03;

/// Draws from the reference measure: an ascent starts from each, and their costs give the spread.
const DRAWS: usize = 32;

/// Transitions of each replica between two swaps, and sweeps between two ascents from each replica.
const TRANSITIONS: u64 = 1;
const SWEEPS: u64 = 12;

/// Rounds of sweeps after which the ladder is evened out. The last of them ends the burn-in.
const BURN_IN: [u64; 2] = [2, 5];

/// Sweeps of one annealing from the highest to the lowest temperature.
const ANNEALING_SWEEPS: u64 = 200;

/// The probability of a move by the global proposal instead of the local one.
const GLOBAL_SHARE: f64 = 0.05;

/// The share of draws from the reference measure in the global proposal.
const UNIFORM_SHARE: f64 = 0.2;

/// Everything that a search is asked for.
pub struct SearchQuery<'a> {
    /// The decision.
    pub x: &'a [f64],
    /// A scenario that costs more ends the search.
    pub above: Option<f64>,
    /// The largest number of recourse solves, if one is given.
    pub budget: Option<u64>,
    /// The time left and the interrupt flag.
    pub clock: &'a Clock,
}

/// Replicas with the proposals that they use, for many searches.
pub struct TemperedSearch<'p> {
    problem: &'p Problem,
    states: Arc<dyn States + 'p>,
    schedule: Schedule,
    proposal: Box<dyn Proposal>,
    replicas: Replicas,
    draws: Random,
    /// The multiples of deviations at which ascents begin beyond the set.
    starts: Random,
    effort: SearchEffort,
    /// The most recourse solves after which an earlier search found a scenario that met its query.
    latest_success: u64,
    diagnostics: Option<SearchDiagnostics>,
}

impl<'p> TemperedSearch<'p> {
    /// Errs where an engine cannot be built.
    pub fn new(
        problem: &'p Problem,
        states: Arc<dyn States + 'p>,
        schedule: Schedule,
        seed: u64,
        clock: &Clock,
    ) -> Result<Self, Error> {
        let proposal = search_proposal(states.as_ref(), problem.set.is_finite_list());
        // The temperatures are set at each decision.
        let ladder = Ladder::geometric(1.0, COLD / HOT, RUNGS);
        let replicas = Replicas::new(problem, states.as_ref(), ladder, seed, || engine(problem, clock))?;
        Ok(Self {
            problem,
            states,
            schedule,
            proposal,
            replicas,
            draws: stream(seed, Purpose::Start, 1),
            starts: stream(seed, Purpose::Start, 2),
            effort: SearchEffort::of(problem),
            latest_success: 0,
            diagnostics: None,
        })
    }

    /// The recourse solves of the replicas so far; those of ascents are counted by the caller's engine.
    pub fn solves(&self) -> u64 {
        self.replicas.solves()
    }

    /// The recourse solves of replicas and ascents.
    fn solves_with(&self, climber: &Climber) -> u64 {
        climber.engine.work().solves + self.replicas.solves()
    }

    /// The last search in numbers.
    pub(crate) fn diagnostics(&self) -> Option<&SearchDiagnostics> {
        self.diagnostics.as_ref()
    }

    /// The recourse solves of a search that finds one local maximum only.
    pub(crate) fn least_effort(&self) -> u64 {
        self.effort.unanimous
    }

    /// Searches at a decision, with `engine` for ascents, the first of which begin at `starts`. Calls `show` with the
    /// end of each ascent and the recourse's answer there.
    pub fn run(
        &mut self,
        query: &SearchQuery,
        starts: &[Vec<f64>],
        engine: &mut dyn Recourse,
        show: &mut dyn FnMut(&[f64], &Answer),
    ) -> Result<(), Error> {
        let before = engine.work().solves + self.replicas.solves();
        let mut progress = Progress::new(before, self.latest_success);
        let mut climber = Climber::new(self.problem, query, engine, show);
        for start in starts {
            let (_, value) = climber.climb(start)?;
            progress.record(value, RUNGS, self.solves_with(&climber));
        }
        let spread = self.draw(&mut climber, &mut progress)?;
        let mut rounds = 0;
        if !self.is_enough(&climber, &progress) && self.states.space() != Space::Finite(Count::Exactly(1)) {
            self.prepare(query.x, spread, climber.engine);
            while !self.is_enough(&climber, &progress) {
                self.round(rounds, spread, &mut climber, &mut progress)?;
                rounds += 1;
            }
        }
        if query.above.is_some_and(|above| progress.best > above) {
            self.latest_success = self.latest_success.max(progress.solves_at_best);
        }
        self.summarise(&progress, spread, climber.engine.work().solves);
        Ok(())
    }

    /// Whether the search ends here.
    fn is_enough(&self, climber: &Climber, progress: &Progress) -> bool {
        let solves = self.solves_with(climber);
        climber.query.above.is_some_and(|above| progress.best > above)
            || climber.query.budget.is_some_and(|budget| solves - progress.solves_before >= budget)
            || progress.best == f64::INFINITY
            || progress.is_over(solves, &self.effort)
    }

    /// Ascends from draws of the reference measure, and returns the spread of their costs.
    fn draw(&mut self, climber: &mut Climber, progress: &mut Progress) -> Result<f64, Error> {
        let (mut state, mut xi) = (self.states.blank(), vec![0.0; self.problem.set.dim()]);
        let mut costs = Vec::with_capacity(DRAWS);
        for _ in 0..DRAWS {
            if self.is_enough(climber, progress) {
                break;
            }
            self.states.draw(&mut self.draws, &mut state);
            self.states.realize(&state, &mut xi);
            let (first, last) = climber.climb(&xi)?;
            costs.extend(first.is_finite().then_some(first));
            progress.record(last, RUNGS, self.solves_with(climber));
        }
        Ok(standard_deviation(&costs))
    }

    /// Puts the replicas on a new ladder at x. Their engines start from where the ascents' engine is.
    fn prepare(&mut self, x: &[f64], spread: f64, engine: &dyn Recourse) {
        let unit = if spread > 0.0 { spread } else { 1.0 };
        self.replicas.restart(self.states.as_ref(), Ladder::geometric(HOT * unit, COLD * unit, RUNGS));
        self.replicas.hint(&engine.warm_start());
        self.replicas.set_incumbent(x);
    }

    /// A sweep of the replicas.
    fn sweep(&mut self, sweeps: u64, spread: f64, clock: &Clock) -> Result<(), Error> {
        let flat = Uniform;
        let kernel = TransitionKernel {
            states: self.states.as_ref(),
            // Where all draws cost the same nothing leads anywhere, and independent draws see most states.
            proposal: match spread > 0.0 || !self.states.draws_exactly() {
                true => self.proposal.as_ref(),
                false => &flat,
            },
            acceptance: Acceptance::Metropolis,
            temperature: f64::NAN,
        };
        match self.schedule {
            Schedule::Tempering => self.replicas.sweep(&kernel, TRANSITIONS, clock)?,
            Schedule::Annealing => {
                let share = (sweeps % ANNEALING_SWEEPS) as f64 / ANNEALING_SWEEPS as f64;
                let temperature = spread.max(f64::MIN_POSITIVE) * HOT * (COLD / HOT).powf(share);
                self.replicas.step_all(&kernel.at(temperature), TRANSITIONS, clock)?;
            }
        }
        Ok(())
    }

    /// A round: sweeps of the replicas with ascents from beyond the set, and an ascent from the best state of each.
    fn round(&mut self, rounds: u64, spread: f64, climber: &mut Climber, progress: &mut Progress) -> Result<(), Error> {
        for sweeps in rounds * SWEEPS..(rounds + 1) * SWEEPS {
            self.sweep(sweeps, spread, climber.query.clock)?;
            self.climb_from_beyond(sweeps as usize % RUNGS, climber, progress)?;
            self.climb_between(climber, progress)?;
            if self.is_enough(climber, progress) {
                return Ok(());
            }
        }
        if BURN_IN.contains(&rounds) && self.schedule == Schedule::Tempering {
            self.replicas.even_out();
            if rounds == BURN_IN[BURN_IN.len() - 1] {
                self.replicas.fix_adaptation();
            }
        }
        let starts: Vec<Option<Vec<f64>>> =
            self.replicas.best_of_each().map(|best| best.map(|state| state.xi.clone())).collect();
        self.replicas.forget_best();
        for (replica, start) in starts.into_iter().enumerate() {
            let Some(start) = start else { continue };
            let (_, value) = climber.climb(&start)?;
            progress.record(value, replica, self.solves_with(climber));
            if self.is_enough(climber, progress) {
                break;
            }
        }
        Ok(())
    }

    /// Ascends from beyond the state on a rung, and from beyond a draw.
    fn climb_from_beyond(&mut self, rung: usize, climber: &mut Climber, progress: &mut Progress) -> Result<(), Error> {
        let Some(state) = self.replicas.states().nth(rung) else { return Ok(()) };
        if let Some(value) = climber.climb_from_beyond(&state.xi, &mut self.starts)? {
            let solves = self.solves_with(climber);
            progress.record(value, self.replicas.on_rung(rung), solves);
        }
        let (mut state, mut xi) = (self.states.blank(), vec![0.0; self.problem.set.dim()]);
        self.states.draw(&mut self.draws, &mut state);
        self.states.realize(&state, &mut xi);
        if let Some(value) = climber.climb_from_beyond(&xi, &mut self.starts)? {
            progress.record(value, RUNGS, self.solves_with(climber));
        }
        Ok(())
    }

    /// Ascends from between known local maxima, once for each kind of direction.
    fn climb_between(&mut self, climber: &mut Climber, progress: &mut Progress) -> Result<(), Error> {
        for kind in Recombination::ALL {
            if let Some(value) = climber.climb_between(kind, &mut self.starts)? {
                progress.record(value, RUNGS, self.solves_with(climber));
            }
        }
        Ok(())
    }

    fn summarise(&mut self, progress: &Progress, spread: f64, solves: u64) {
        let ladder = self.replicas.ladder();
        let solves = solves + self.replicas.solves() - progress.solves_before;
        self.diagnostics = Some(SearchDiagnostics {
            solves,
            solves_at_best: progress.solves_at_best,
            spread,
            ascents: progress.ascents,
            is_disputed: progress.is_disputed,
            replicas: RUNGS as u64,
            reached_by: progress.reached_by[..RUNGS].iter().filter(|reached| **reached).count() as u64,
            reached_from_draws: progress.reached_by[RUNGS],
            swap_rates: ladder.swap_rates().into_iter().flatten().collect(),
            round_trips: self.replicas.round_trips(),
            effective: self.replicas.summary().effective_draws,
            is_exhausted: progress.is_exhausted(solves + progress.solves_before, &self.effort),
        });
    }
}

/// Local moves, and a few global ones: along the slope where such draws are cheap, else from the reference measure.
fn search_proposal(states: &dyn States, is_list: bool) -> Box<dyn Proposal> {
    let options = ProposalOptions { share: UNIFORM_SHARE, ..ProposalOptions::default() };
    let build = |kind: ProposalKind| kind.build(states, &options);
    // A tilt of a list takes a product with all of its rows.
    let global = match is_list {
        true => build(ProposalKind::Uniform),
        false => build(ProposalKind::Adaptive).or_else(|_| build(ProposalKind::Uniform)),
    };
    match (build(ProposalKind::Local), global) {
        (Ok(local), Ok(global)) => match KernelMixture::new(local, global, GLOBAL_SHARE) {
            Ok(mixture) => Box::new(mixture),
            Err(_) => Box::new(Uniform),
        },
        (Ok(only), Err(_)) | (Err(_), Ok(only)) => only,
        (Err(_), Err(_)) => Box::new(Uniform),
    }
}

/// The standard deviation; zero for fewer than two numbers, and where it is a rounding error.
fn standard_deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt();
    if deviation > cost_tol(mean) { deviation } else { 0.0 }
}
