//! `diagnose`: what the theory says of soft separation on one problem, at one decision.
//!
//! Everything is for fresh draws from ν as proposals: the paper's bounds for proposals that follow a slope need
//! constants that nobody has.

mod constants;
mod decision;
mod extent;
mod scores;
mod temperature;

pub use constants::{Constant, Constants, Known};
pub use decision::nominal_decision;
pub use temperature::temperature_for;

use crate::chain::Acceptance;
use crate::error::Error;
use crate::model::{Problem, Violation};
use crate::numeric::tolerances::FEASIBILITY_TOL;
use crate::run::{Clock, Purpose, stream};
use crate::separation::trends;
use crate::theory::{
    Adaptive, Chance, Finite, General, MetricSpace, Mixing, Movement, body_ratio, finite_ratio, kernel_rows,
    kernel_variation, log_peak, mellowmax, soft_law, sphere_ratio, uniform_by_peak, uniform_by_spread,
};
use crate::uncertainty::{Count, ReferenceMeasure, Space, StateSpec};

use scores::{Looked, Looker};

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inquiry {
    /// w; `None` for one that keeps the soft maximum within the gap.
    pub temperature: Option<f64>,
    /// The relative gap that the user wants.
    pub gap: f64,
    /// The rule.
    pub acceptance: Acceptance,
    /// States to look at: all, if there are no more than this; else so many draws.
    pub samples: usize,
    /// How likely a certificate may be wrong.
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
            samples: 1000,
            false_rate: 0.05,
            seed: 1,
        }
    }
}

/// The answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// What the states make up.
    pub space: Space,
    /// How many there are, if finitely many and counted.
    pub states: Option<f64>,
    /// How x leaves X, if it does.
    pub violation: Option<Violation>,
    /// f(x).
    pub first_cost: f64,
    /// w.
    pub temperature: f64,
    /// The w that keeps the soft maximum within the gap.
    pub temperature_for_gap: Option<f64>,
    /// The scores at x.
    pub scores: ScoresAt,
    /// A bound, for every x, on how far the soft maximum is below the maximum.
    pub soft_error: Constant,
    /// The constants of the problem.
    pub constants: Constants,
    /// L_P, for sums of absolute differences.
    pub kernel: Constant,
    /// Mixing for every x.
    pub mixing: (Mixing, Known),
    /// Mixing at this x, where all states were looked at.
    pub mixing_here: Option<Mixing>,
    /// How the incumbents of the bounds that follow move: a diameter of X at first, ever less later.
    pub movement: Movement,
    /// Bounds on missing.
    pub identification: Vec<Identification>,
    /// How all that follows from the constants is known: bounds on missing, certification.
    pub known: Known,
    /// Certification, where the gap of the scores is known.
    pub certification: Option<Certified>,
    /// The concentration that the states' own tilt asks for.
    pub concentration: Option<f64>,
}

/// The scores at x.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoresAt {
    /// How many were looked at.
    pub looked: usize,
    /// Whether those are all.
    pub all: bool,
    /// The largest.
    pub worst: f64,
    /// The soft maximum; an estimate unless all were looked at.
    pub soft: f64,
    /// How far the largest are ahead of all others; zero if all are equal. Only where all were looked at.
    pub gap: Option<f64>,
    /// How many share the largest score.
    pub ties: usize,
    /// The likeliest states with their scores and probabilities. Only where all were looked at.
    pub likeliest: Vec<Likely>,
}

/// A state of the soft law.
#[derive(Debug, Clone, PartialEq)]
pub struct Likely {
    /// Its ξ.
    pub xi: Vec<f64>,
    /// Its score.
    pub score: f64,
    /// Its probability.
    pub probability: f64,
}

/// Bounds on the probability of missing the worst scenarios after so many steps, for incumbents that move and for one
/// that stands still.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Identification {
    /// n, or κ for the corollary.
    pub steps: u64,
    /// Theorem 2 for scenarios within the gap of the worst; `None` where it does not speak of this n.
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
    /// The calls that the first chain needs after its hundredth; `None` if no number will do.
    pub calls: Option<u64>,
    /// g(100): the transitions after a jump.
    pub transitions: Option<u64>,
    /// The temperature at which one transition finds the worst scenarios about half as often as mixing allows.
    pub temperature: Option<f64>,
    /// Steps at a standing incumbent until missing is as unlikely as asked; `None` if it never is.
    pub steps: Option<u64>,
}

/// Likeliest states kept.
const SHOWN: usize = 5;

/// Scores closer than this, relative to their size, are equal: solvers know no better.
const EQUAL: f64 = 1e-9;

/// Looks at a problem from a decision.
pub fn diagnose(problem: &Problem, x: &[f64], inquiry: &Inquiry, clock: &Clock) -> Result<Diagnosis, Error> {
    check(problem, x, inquiry)?;
    let spec = state_spec(problem, clock)?;
    let states = problem.set.states(&spec)?;
    let space = states.space();
    let mut looker = Looker::new(problem, &*states, clock)?;
    let mut random = stream(inquiry.seed, Purpose::Estimate, 0);
    let all = states.enumerate(inquiry.samples);
    let looked = match &all {
        Some(all) => looker.everywhere(x, all)?,
        None => looker.drawn(x, inquiry.samples, &mut random)?,
    };
    if looked.lost > 0 {
        return Err(Error::Settings(format!(
            "at {} of the {} states looked at this decision has no finite recourse cost, and the theory is about \
             decisions that always have; \"softsep evaluate\" shows such a scenario, and \"--x\" takes another \
             decision",
            looked.lost,
            looked.lost + looked.seen.len()
        )));
    }
    let constants = Constants::of(problem, &mut looker, x, &looked, inquiry.samples, &mut random, clock)?;
    let count = match space {
        Space::Finite(Count::Exactly(count)) => Some(count as f64),
        _ => None,
    };
    let first_cost = problem.first.value(x);
    let wanted = inquiry.gap * (first_cost + looked.worst()).abs();
    let error = |temperature: f64| soft_error(space, count, &constants, temperature);
    let temperature_for_gap = temperature_for(wanted, |temperature| error(temperature).value);
    // Where any temperature keeps within the gap, the gap itself is as good as any.
    let temperature =
        inquiry.temperature.or(temperature_for_gap).or((wanted > 0.0).then_some(wanted)).ok_or_else(|| {
            Error::Settings(
                "no temperature follows from a gap relative to a cost of zero; give one by \"--temperature\"".into(),
            )
        })?;
    let scores = scores_at(&looked, all.is_some(), temperature);
    let mixing = mixing(inquiry.acceptance, error(temperature), constants.spread, temperature);
    let movement = Movement { size: first_step(&constants), power: 1.0 };
    let finite = scores.gap.zip(count).filter(|(gap, _)| *gap > 0.0).map(|(gap, states)| {
        let lipschitz = constants.slope_x.value;
        Finite { states, gap, score_error: 0.0, lipschitz, mixing: mixing.0, temperature }
    });
    let general = General {
        slack: wanted,
        score_error: 0.0,
        lipschitz: constants.slope_x.value,
        kernel: kernel_variation(inquiry.acceptance, constants.slope_x.value, temperature),
        mixing: mixing.0,
        movement,
        ratio: ratio(space, count, &constants, wanted),
        temperature,
    };
    let known = mixing.1.and(constants.slope_x.known);
    Ok(Diagnosis {
        space,
        states: count,
        violation: problem.first.violation(x).filter(|violation| violation.amount > FEASIBILITY_TOL),
        first_cost,
        temperature,
        temperature_for_gap,
        soft_error: error(temperature),
        kernel: Constant {
            value: kernel_rows(inquiry.acceptance, constants.slope_x.value, temperature),
            known: constants.slope_x.known,
        },
        mixing_here: scores
            .all
            .then(|| uniform_by_peak(inquiry.acceptance, (scores.worst - scores.soft) / temperature)),
        mixing,
        movement,
        identification: [100, 10_000, 1_000_000].map(|steps| identify(steps, &general, finite)).to_vec(),
        known: if count.is_some() { known } else { known.and(constants.slope_xi.known) },
        certification: finite.map(|finite| certify(finite, movement, inquiry)),
        concentration: states.tilt().map(|tilt| tilt.concentration()),
        scores,
        constants,
    })
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
    if !(0.0 < inquiry.false_rate && inquiry.false_rate < 1.0) {
        return refuse("the chance of a wrong certificate must be between 0 and 1".into());
    }
    if inquiry.samples == 0 {
        return refuse("the number of samples must be at least 1".into());
    }
    Ok(())
}

/// What is known of Q(x, ·) for all x: whether it is convex, and where it only rises or falls.
fn state_spec(problem: &Problem, clock: &Clock) -> Result<StateSpec, Error> {
    let convex = !problem.recourse.costs_move();
    let trends = if convex && problem.recourse.is_linear() { trends(problem, clock)? } else { None };
    Ok(StateSpec { convex, trends: trends.unwrap_or_default(), reference: ReferenceMeasure::Sphere })
}

/// The better of two constants for the same thing: a bound before an estimate, then the smaller.
fn better(a: Constant, b: Constant) -> Constant {
    let is_bound = |constant: &Constant| constant.known == Known::Bounded && constant.value.is_finite();
    match (is_bound(&a), is_bound(&b)) {
        (true, false) => a,
        (false, true) => b,
        _ if a.value <= b.value => a,
        _ => b,
    }
}

/// How far the soft maximum can be below the maximum, at any x.
fn soft_error(space: Space, count: Option<f64>, constants: &Constants, temperature: f64) -> Constant {
    let by_space = match (space, count, constants.slope_sphere) {
        (Space::Finite(_), Some(states), _) => Some(Constant::bounded(temperature * states.ln())),
        (Space::Sphere(dim), _, Some(slope)) => {
            Some(Constant { value: temperature * log_peak(dim, slope.value, temperature), ..slope })
        }
        (Space::Body(dim), _, _) => {
            let body = MetricSpace::body(dim, constants.diameter_xi.value, constants.slope_xi.value);
            Some(Constant { value: body.error(temperature), ..constants.slope_xi })
        }
        _ => None,
    };
    // No score is further from the largest than Δ.
    by_space.map_or(constants.spread, |by_space| better(by_space, constants.spread))
}

/// γ by the peak of the soft law and by the spread of scores.
fn mixing(acceptance: Acceptance, error: Constant, spread: Constant, temperature: f64) -> (Mixing, Known) {
    let by_peak = (uniform_by_peak(acceptance, error.value / temperature), error.known);
    let by_spread = (uniform_by_spread(acceptance, spread.value, temperature), spread.known);
    match (by_peak.1 == Known::Bounded, by_spread.1 == Known::Bounded) {
        (true, false) => by_peak,
        (false, true) => by_spread,
        _ if by_peak.0 >= by_spread.0 => by_peak,
        _ => by_spread,
    }
}

/// Far states over near ones, for Theorem 2.
fn ratio(space: Space, count: Option<f64>, constants: &Constants, slack: f64) -> f64 {
    match (space, count, constants.slope_sphere) {
        (Space::Finite(_), Some(states), _) => finite_ratio(states),
        (Space::Sphere(dim), _, Some(slope)) => sphere_ratio(dim, slope.value, slack),
        (Space::Body(dim), _, _) => body_ratio(dim, constants.diameter_xi.value, constants.slope_xi.value, slack),
        _ => f64::INFINITY,
    }
}

/// Incumbents start with a step across all of X, or of length 1 where X has no end.
fn first_step(constants: &Constants) -> f64 {
    let diameter = constants.diameter_x.value;
    if diameter.is_finite() { diameter } else { 1.0 }
}

fn scores_at(looked: &Looked, all: bool, temperature: f64) -> ScoresAt {
    let scores: Vec<f64> = looked.scores().collect();
    let worst = looked.worst();
    let is_worst = |score: f64| score >= worst - EQUAL * worst.abs().max(1.0);
    let second = scores.iter().copied().filter(|&score| !is_worst(score)).fold(f64::NEG_INFINITY, f64::max);
    let mut likeliest = Vec::new();
    if all {
        let law = soft_law(&scores, None, temperature);
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
        likeliest.extend(order.iter().take(SHOWN).map(|&index| Likely {
            xi: looked.seen[index].xi.clone(),
            score: scores[index],
            probability: law[index],
        }));
    }
    ScoresAt {
        looked: scores.len(),
        all,
        worst,
        soft: mellowmax(&scores, None, temperature),
        gap: all.then(|| if second.is_finite() { worst - second } else { 0.0 }),
        ties: scores.iter().filter(|&&score| is_worst(score)).count(),
        likeliest,
    }
}

fn identify(steps: u64, general: &General, finite: Option<Finite>) -> Identification {
    let still = Movement { size: 0.0, ..general.movement };
    let moving = general.movement;
    Identification {
        steps,
        general: [general.missed(steps), General { movement: still, ..*general }.missed(steps)],
        finite: finite.map(|finite| [finite.missed(steps, moving), finite.missed(steps, still)]),
        adaptive: finite
            .map(|finite| Adaptive { finite, threshold: moving.size, power: moving.power })
            .map(|adaptive| adaptive.missed(steps).or(adaptive.missed_closed(steps))),
    }
}

fn certify(finite: Finite, movement: Movement, inquiry: &Inquiry) -> Certified {
    let adaptive = |finite| Adaptive { finite, threshold: movement.size, power: movement.power };
    let certification = adaptive(finite).certification(inquiry.false_rate);
    // Mixing that does not fade as the temperature falls.
    let lasting = Finite { mixing: uniform_by_peak(inquiry.acceptance, finite.states.ln()), ..finite };
    Certified {
        miss: certification.miss(),
        calls: certification.calls(1, 100),
        transitions: adaptive(finite).transitions(100),
        temperature: adaptive(lasting).certification(inquiry.false_rate).temperature(),
        steps: finite.steps_until(inquiry.false_rate),
    }
}
