//! `diagnose`: the bounds of the theory of soft separation for one problem at one decision.
//!
//! All bounds are for independent draws from ν as proposals: the paper's bounds for proposals that follow a slope need
//! constants that are not available.

mod constants;
mod convergence;
mod decision;
mod extent;
mod scores;
mod soft_error;
mod temperature;

pub(crate) use constants::Constants;
pub use constants::{Constant, Provenance};
pub use convergence::{AverageBounds, Convergence};
pub use decision::nominal_decision;
pub use temperature::temperature_for;

use crate::chain::Acceptance;
use crate::cuts::CutPool;
use crate::error::Error;
use crate::model::{Problem, Violation};
use crate::numeric::tolerances::{FEASIBILITY_TOL, cost_tol};
use crate::run::{Clock, Purpose, SearchDiagnostics, stream};
use crate::separation::soft::{Score, chain_states};
use crate::separation::{Effort, Query, Separation, SoftSeparation, SoftSettings, trends};
use crate::theory::{
    Adaptive, Chance, Finite, General, Mixing, Movement, kernel_rows, kernel_variation, mellowmax, soft_law,
    uniform_by_peak, uniform_by_spread,
};
use crate::uncertainty::{Count, ReferenceMeasure, Space, StateSpec};

use convergence::TemperatureConstants;
use scores::{ScoreEvaluator, ScoreSample, smoothed_scores};
use soft_error::{SoftError, log_least_density, plus, score_error};

/// The options of a diagnosis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inquiry {
    /// w; if `None`, a temperature that keeps the soft maximum within the gap.
    pub temperature: Option<f64>,
    /// The relative gap.
    pub gap: f64,
    /// The acceptance rule.
    pub acceptance: Acceptance,
    /// The function that chains sample by.
    pub score: Score,
    /// The reference measure on the boundary of an ellipsoid.
    pub reference: ReferenceMeasure,
    /// Number of states to evaluate: all states if there are no more, otherwise this number of draws.
    pub samples: usize,
    /// The probability with which a certificate may be wrong.
    pub false_rate: f64,
    /// The seed of the draws.
    pub seed: u64,
}

impl Default for Inquiry {
    fn default() -> Self {
        Self {
            temperature: None,
            gap: 1e-3,
            acceptance: Acceptance::default(),
            score: Score::default(),
            reference: ReferenceMeasure::default(),
            samples: 1000,
            false_rate: 0.05,
            seed: 1,
        }
    }
}

/// The result of a diagnosis.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// The state space.
    pub space: Space,
    /// Number of states, if it is finite and known.
    pub states: Option<f64>,
    /// The violation of X by x, if x is not a member.
    pub violation: Option<Violation>,
    /// f(x).
    pub first_cost: f64,
    /// Δ̃: the gap in units of the cost.
    pub slack: f64,
    /// ε: a bound on the error of the scores relative to Q; zero if they are exact.
    pub score_error: Constant,
    /// w.
    pub temperature: f64,
    /// The w that keeps the soft maximum within the gap.
    pub temperature_for_gap: Option<f64>,
    /// The scores at x.
    pub scores: ScoresAt,
    /// A bound on maximum minus soft maximum, for every x, the error of the scores included.
    pub soft_error: Constant,
    /// The constants of the problem.
    pub constants: Constants,
    /// L_P, for sums of absolute differences.
    pub kernel: Constant,
    /// Mixing for every x.
    pub mixing: (Mixing, Provenance),
    /// Mixing at this x, if all states were evaluated.
    pub mixing_here: Option<Mixing>,
    /// The movement of incumbents that the following bounds assume: at first a diameter of X, then decreasing.
    pub movement: Movement,
    /// Bounds on the probability of missing the worst scenarios.
    pub identification: Vec<Identification>,
    /// The provenance of the bounds on missing and of the certification.
    pub provenance: Provenance,
    /// Certification, if the gap between the scores is known.
    pub certification: Option<Certified>,
    /// Bounds on the cost of the averages of Algorithm 1; `None` where X is unbounded, and for scores that are not
    /// exact, for which nothing is proven.
    pub convergence: Option<Convergence>,
    /// The default concentration of the states' tilt.
    pub concentration: Option<f64>,
    /// The worst scenario of a tempered search; `None` where the clock stopped it.
    pub searched: Option<TemperedResult>,
}

/// The result of a tempered search at x.
#[derive(Debug, Clone, PartialEq)]
pub struct TemperedResult {
    /// The worst scenario found.
    pub xi: Vec<f64>,
    /// Its cost Q(x, ξ).
    pub worst: f64,
    /// The search in numbers.
    pub search: SearchDiagnostics,
}

/// The scores at x.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoresAt {
    /// Number of evaluated states.
    pub evaluated: usize,
    /// Whether all states were evaluated.
    pub all: bool,
    /// The largest cost.
    pub worst: f64,
    /// The soft maximum of the scores; an estimate unless all states were evaluated.
    pub soft: f64,
    /// (largest score − soft maximum)/w: the logarithm of the soft law's largest density.
    pub log_peak: f64,
    /// The gap between the largest cost and the next one; zero if all are equal. `None` unless all states were
    /// evaluated.
    pub gap: Option<f64>,
    /// Number of states with the largest cost.
    pub ties: usize,
    /// The most likely states with their costs and probabilities. Empty unless all states were evaluated.
    pub likeliest: Vec<LikelyState>,
}

/// A state with its probability under the soft law.
#[derive(Debug, Clone, PartialEq)]
pub struct LikelyState {
    /// The scenario ξ of the state.
    pub xi: Vec<f64>,
    /// Its cost.
    pub score: f64,
    /// Its probability.
    pub probability: f64,
}

/// Bounds on the probability of missing the worst scenarios after a number of steps, for moving incumbents and for a
/// fixed one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Identification {
    /// The number of steps n, or of calls κ for the corollary.
    pub steps: u64,
    /// Theorem 2 for scenarios within the gap of the worst; `None` if it does not apply to this n.
    pub general: [Option<Chance>; 2],
    /// Theorem 3.
    pub finite: Option<[Chance; 2]>,
    /// Corollary 1.
    pub adaptive: Option<Chance>,
}

/// Certification by repeated calls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certified {
    /// ρ.
    pub miss: Chance,
    /// The number of calls that the first chain needs after its hundredth; `None` if no number suffices.
    pub calls: Option<u64>,
    /// g(100): the number of transitions after a jump.
    pub transitions: Option<u64>,
    /// The temperature at which one transition finds the worst scenarios about half as often as mixing allows.
    pub temperature: Option<f64>,
    /// Steps at a fixed incumbent until the probability of missing is `false_rate`; `None` if it never is.
    pub steps: Option<u64>,
}

/// The relative gap that the search for the worst scenario is made for.
const SEARCH_GAP: f64 = 1e-6;

/// Number of most likely states in a diagnosis.
const MAX_LIKELIEST: usize = 5;

/// Computes the bounds of the theory for a problem at a decision. Errs if the options are invalid, or if x has no
/// finite recourse cost at some evaluated state.
pub fn diagnose(problem: &Problem, x: &[f64], inquiry: &Inquiry, clock: &Clock) -> Result<Diagnosis, Error> {
    check(problem, x, inquiry)?;
    let spec = state_spec(problem, inquiry.reference, clock)?;
    let states = problem.set.states(&spec)?;
    let space = states.space();
    let mut evaluator = ScoreEvaluator::new(problem, &*states, clock)?;
    let mut random = stream(inquiry.seed, Purpose::Estimate, 0);
    let all = states.enumerate(inquiry.samples);
    let sample = match &all {
        Some(all) => evaluator.evaluate_all(x, all)?,
        None => evaluator.evaluate_draws(x, inquiry.samples, &mut random)?,
    };
    check_recourse(&sample)?;
    let constants = Constants::of(problem, &mut evaluator, x, &sample, inquiry.samples, &mut random, clock)?;
    let count = state_count(space);
    let first_cost = problem.first.value(x);
    let wanted = inquiry.gap * (first_cost + sample.worst()).abs();
    let score_error = score_error(inquiry.score, constants.slope_x);
    let near = SoftError { space, count, constants: &constants, log_least: log_least_density(&*states) };
    let error = |temperature: f64| near.at(temperature);
    let temperature_for_gap = temperature_for(wanted - score_error.value, |temperature| error(temperature).value);
    let temperature = choose_temperature(inquiry, temperature_for_gap, wanted, score_error.value)?;
    let smoothed = match inquiry.score {
        Score::Moreau(tau) => Some(smoothed_scores(problem, tau, x, &sample, clock)?),
        Score::Exact => None,
    };
    let scores = scores_at(&sample, smoothed, all.is_some(), temperature);
    let mixing = mixing(inquiry.acceptance, error(temperature), constants.spread, temperature);
    let at = TemperatureConstants { temperature, acceptance: inquiry.acceptance, mixing };
    let finite = finite_bounds(&scores, count, &constants, score_error.value, &at);
    let general = general_bounds(&near, &at, wanted, score_error.value);
    let movement = general.movement;
    let provenance = mixing.1.and(constants.slope_x.provenance);
    let is_exact = inquiry.score == Score::Exact;
    Ok(Diagnosis {
        space,
        states: count,
        violation: problem.first.violation(x).filter(|violation| violation.amount > FEASIBILITY_TOL),
        first_cost,
        temperature,
        temperature_for_gap,
        slack: wanted,
        soft_error: plus(error(temperature), score_error),
        score_error,
        kernel: kernel_constant(&at, constants.slope_x),
        mixing_here: scores.all.then(|| uniform_by_peak(inquiry.acceptance, scores.log_peak)),
        mixing,
        movement,
        identification: [100, 10_000, 1_000_000].map(|steps| identify(steps, &general, finite)).to_vec(),
        provenance: if count.is_some() { provenance } else { provenance.and(constants.slope_xi.provenance) },
        certification: finite.map(|finite| certify(finite, movement, inquiry)),
        convergence: is_exact.then(|| Convergence::of(&constants, &at, finite)).flatten(),
        concentration: states.tilt().map(|tilt| tilt.concentration()),
        searched: search(problem, x, inquiry, clock)?,
        scores,
        constants,
    })
}

/// The number of states, if it is finite and known.
fn state_count(space: Space) -> Option<f64> {
    match space {
        Space::Finite(Count::Exactly(count)) => Some(count as f64),
        _ => None,
    }
}

/// The constants of Theorem 2 for scenarios within `slack` of the worst.
fn general_bounds(near: &SoftError, at: &TemperatureConstants, slack: f64, score_error: f64) -> General {
    let slope = near.constants.slope_x.value;
    General {
        slack,
        score_error,
        lipschitz: slope,
        kernel: kernel_variation(at.acceptance, slope, at.temperature),
        mixing: at.mixing.0,
        movement: Movement { size: first_step(near.constants), power: 1.0 },
        ratio: near.ratio(slack - 2.0 * score_error),
        temperature: at.temperature,
    }
}

/// L_P, as well known as the slope in x.
fn kernel_constant(at: &TemperatureConstants, slope_x: Constant) -> Constant {
    let value = kernel_rows(at.acceptance, slope_x.value, at.temperature);
    Constant { value, provenance: slope_x.provenance }
}

/// Searches for the worst scenario by a soft separation with thorough effort. `None` where the clock stopped it.
fn search(problem: &Problem, x: &[f64], inquiry: &Inquiry, clock: &Clock) -> Result<Option<TemperedResult>, Error> {
    match search_until(problem, x, inquiry, clock) {
        Err(error) if error.is_interrupt() => Ok(None),
        searched => searched.map(Some),
    }
}

fn search_until(problem: &Problem, x: &[f64], inquiry: &Inquiry, clock: &Clock) -> Result<TemperedResult, Error> {
    let (seed, soft) = (inquiry.seed, SoftSettings { reference: inquiry.reference, ..SoftSettings::default() });
    let states = chain_states(problem, &soft, clock)?;
    let mut separation = SoftSeparation::new(problem, states, soft, SEARCH_GAP, seed, clock)?;
    let query = Query::scenario(x, clock).with_effort(Effort::Thorough);
    let found = separation.separate(&query, &mut CutPool::new(problem))?;
    let search = separation.last_search().cloned().unwrap_or_default();
    Ok(TemperedResult { xi: found.xi, worst: found.value, search })
}

fn check(problem: &Problem, x: &[f64], inquiry: &Inquiry) -> Result<(), Error> {
    let refuse = |what: String| Err(Error::Settings(what));
    if x.len() != problem.first.dim() {
        return refuse(format!("x has {} entries where the problem has {}", x.len(), problem.first.dim()));
    }
    if inquiry.temperature.is_some_and(|temperature| !(temperature > 0.0 && temperature.is_finite())) {
        return refuse("the temperature must be a positive number".into());
    }
    if !(inquiry.gap > 0.0 && inquiry.gap.is_finite()) {
        return refuse("the gap must be a positive number".into());
    }
    if let Score::Moreau(tau) = inquiry.score
        && !(tau > 0.0 && tau.is_finite())
    {
        return refuse("the parameter of the Moreau envelope must be a positive number".into());
    }
    if !(0.0 < inquiry.false_rate && inquiry.false_rate < 1.0) {
        return refuse("the chance of a wrong certificate must be between 0 and 1".into());
    }
    if inquiry.samples == 0 {
        return refuse("the number of samples must be at least 1".into());
    }
    Ok(())
}

/// Errs if some evaluated state has no finite score.
fn check_recourse(sample: &ScoreSample) -> Result<(), Error> {
    if sample.without_recourse > 0 {
        return Err(Error::Settings(format!(
            "at {} of the {} evaluated states this decision has no finite recourse cost, and the theory requires a \
             finite cost at every state; \"softsep evaluate\" shows such a scenario, and \"--x\" takes another \
             decision",
            sample.without_recourse,
            sample.without_recourse + sample.scored.len()
        )));
    }
    Ok(())
}

/// The temperature of the options, or else the one that keeps the soft maximum within the gap. Errs if the gap is zero,
/// or not above the error of the scores.
fn choose_temperature(
    inquiry: &Inquiry,
    temperature_for_gap: Option<f64>,
    wanted: f64,
    score_error: f64,
) -> Result<f64, Error> {
    if inquiry.temperature.is_none() && wanted > 0.0 && score_error >= wanted {
        return Err(Error::Settings(format!(
            "the scores may be off by {score_error:.3e}, which is not below the gap of {wanted:.3e}; take a smaller \
             moreau:TAU, or give a temperature by \"--temperature\""
        )));
    }
    // If every temperature keeps the soft maximum within the gap, the gap itself is used.
    inquiry.temperature.or(temperature_for_gap).or((wanted > 0.0).then_some(wanted)).ok_or_else(|| {
        Error::Settings(
            "no temperature follows from a gap relative to a cost of zero; give one by \"--temperature\"".into(),
        )
    })
}

/// The properties of Q(x, ·) that hold for all x: convexity, and monotonicity in entries of ξ.
fn state_spec(problem: &Problem, reference: ReferenceMeasure, clock: &Clock) -> Result<StateSpec, Error> {
    let convex = !problem.recourse.costs_move();
    let trends = if convex && problem.recourse.is_linear() { trends(problem, clock)? } else { None };
    Ok(StateSpec { convex, trends: trends.unwrap_or_default(), reference, ..StateSpec::default() })
}

/// γ, by the peak of the soft law and by the spread of scores.
fn mixing(acceptance: Acceptance, error: Constant, spread: Constant, temperature: f64) -> (Mixing, Provenance) {
    let by_peak = (uniform_by_peak(acceptance, error.value / temperature), error.provenance);
    let by_spread = (uniform_by_spread(acceptance, spread.value, temperature), spread.provenance);
    match (by_peak.1 == Provenance::Bounded, by_spread.1 == Provenance::Bounded) {
        (true, false) => by_peak,
        (false, true) => by_spread,
        _ if by_peak.0 >= by_spread.0 => by_peak,
        _ => by_spread,
    }
}

/// Theorem 3, if all states were evaluated and the worst ones are ahead of the others by more than 4ε.
fn finite_bounds(
    scores: &ScoresAt,
    count: Option<f64>,
    constants: &Constants,
    score_error: f64,
    at: &TemperatureConstants,
) -> Option<Finite> {
    let (gap, states) = scores.gap.zip(count).filter(|(gap, _)| *gap > 4.0 * score_error)?;
    let lipschitz = constants.slope_x.value;
    Some(Finite { states, gap, score_error, lipschitz, mixing: at.mixing.0, temperature: at.temperature })
}

/// The first step of incumbents: a diameter of X, or 1 if X is unbounded.
fn first_step(constants: &Constants) -> f64 {
    let diameter = constants.diameter_x.value;
    if diameter.is_finite() { diameter } else { 1.0 }
}

/// The scores are the costs unless others are given.
fn scores_at(sample: &ScoreSample, scores: Option<Vec<f64>>, all: bool, temperature: f64) -> ScoresAt {
    let costs: Vec<f64> = sample.scores().collect();
    let scores = scores.unwrap_or_else(|| costs.clone());
    let worst = sample.worst();
    let is_worst = |cost: f64| cost >= worst - cost_tol(worst);
    let second = costs.iter().copied().filter(|&cost| !is_worst(cost)).fold(f64::NEG_INFINITY, f64::max);
    let mut likeliest = Vec::new();
    if all {
        let law = soft_law(&scores, None, temperature);
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
        likeliest.extend(order.iter().take(MAX_LIKELIEST).map(|&index| LikelyState {
            xi: sample.scored[index].xi.clone(),
            score: costs[index],
            probability: law[index],
        }));
    }
    let soft = mellowmax(&scores, None, temperature);
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    ScoresAt {
        evaluated: scores.len(),
        all,
        worst,
        soft,
        log_peak: (largest - soft) / temperature,
        gap: all.then(|| if second.is_finite() { worst - second } else { 0.0 }),
        ties: costs.iter().filter(|&&cost| is_worst(cost)).count(),
        likeliest,
    }
}

fn identify(steps: u64, general: &General, finite: Option<Finite>) -> Identification {
    let still = Movement { size: 0.0, ..general.movement };
    let moving = general.movement;
    Identification {
        steps,
        general: [general.miss_probability(steps), General { movement: still, ..*general }.miss_probability(steps)],
        finite: finite.map(|finite| [finite.miss_probability(steps, moving), finite.miss_probability(steps, still)]),
        adaptive: finite
            .map(|finite| Adaptive { finite, threshold: moving.size, power: moving.power })
            .map(|adaptive| adaptive.miss_probability(steps).or(adaptive.miss_probability_closed(steps))),
    }
}

fn certify(finite: Finite, movement: Movement, inquiry: &Inquiry) -> Certified {
    let adaptive = |finite| Adaptive { finite, threshold: movement.size, power: movement.power };
    let certification = adaptive(finite).certification(inquiry.false_rate);
    // A mixing rate that does not vanish as the temperature decreases.
    let lasting = Finite { mixing: uniform_by_peak(inquiry.acceptance, finite.states.ln()), ..finite };
    Certified {
        miss: certification.miss(),
        calls: certification.calls(1, 100),
        transitions: adaptive(finite).transitions(100),
        temperature: adaptive(lasting).certification(inquiry.false_rate).temperature(),
        steps: finite.steps_until(inquiry.false_rate),
    }
}
