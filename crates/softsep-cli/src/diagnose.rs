//! `softsep diagnose`: the bounds of the theory of soft separation for a problem.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use softsep::internals::chain::Acceptance;
use softsep::internals::diagnose::{
    AverageBounds, Certified, Constant, Convergence, Diagnosis, Identification, Inquiry, Provenance, ScoresAt,
    TemperedResult, diagnose, nominal_decision,
};
use softsep::internals::report::diagnosis_summary;
use softsep::internals::theory::{Chance, StepBound};
use softsep::report::NamedValues;
use softsep::run::{Clock, Interrupt};
use softsep::separation::soft::Score;
use softsep::uncertainty::{ReferenceMeasure, Space};
use softsep::{Error, Problem};

use crate::exit::{Exit, Failure};
use crate::output::{print, print_json, say};
use crate::{decision, interrupt, numbers};

const EXAMPLES: &str = "\
Examples:
  softsep diagnose depots.json
  softsep diagnose depots.json --x result.json --temperature 5
  softsep diagnose depots.json --json | jq .advice

Every number is marked as a bound or as an estimate, and a bound of 1 or more on a probability as
vacuous.";

/// Compute the bounds of the theory of soft separation for a problem
///
/// Prints, for one decision: the soft maximum and its distance from the maximum, the likeliest scenarios, the worst
/// scenario that a tempered search finds and whether that search looks exhausted, the constants of the problem, the
/// mixing of chains, bounds on the probability that they miss the worst scenario, the temperature and the number of
/// transitions that follow, and bounds on the distance of Algorithm 1 from the optimum.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Diagnose {
    /// The problem, an aro/1 JSON file
    problem: PathBuf,

    /// The decision: a result of "softsep solve", or a JSON object of names and values [default: the best for the
    /// nominal scenario]
    #[arg(long, value_name = "FILE")]
    x: Option<PathBuf>,

    /// The temperature w [default: the largest that keeps the soft maximum within the gap]
    #[arg(long, value_name = "W", value_parser = numbers::temperature, allow_negative_numbers = true)]
    temperature: Option<f64>,

    /// The relative gap of the problem
    #[arg(
        long, value_name = "REL", default_value = "1e-3",
        value_parser = numbers::positive_gap, allow_negative_numbers = true
    )]
    gap: f64,

    /// The rule by which a candidate is accepted: metropolis or barker
    #[arg(long, value_name = "RULE", default_value = "metropolis")]
    acceptance: Acceptance,

    /// The scores of states: exact (Q), or moreau:TAU for the Moreau envelope of Q with parameter TAU
    #[arg(long, value_name = "SCORE", default_value = "exact")]
    score: Score,

    /// The measure called uniform on the boundary of an ellipsoid: sphere (before the map A) or surface (by area)
    #[arg(long, value_name = "MEASURE", default_value = "sphere")]
    reference: ReferenceMeasure,

    /// States to evaluate: all if there are no more, otherwise this number of draws
    #[arg(
        long, value_name = "N", default_value_t = 1000,
        value_parser = numbers::samples, allow_negative_numbers = true
    )]
    samples: usize,

    /// The probability with which certificates must hold
    #[arg(
        long, value_name = "P", default_value = "0.95",
        value_parser = numbers::confidence, allow_negative_numbers = true
    )]
    confidence: f64,

    /// The seed of the draws
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = numbers::seed, allow_negative_numbers = true)]
    seed: u64,

    /// Stop after this number of seconds [default: no limit]
    #[arg(long, value_name = "SECONDS", value_parser = numbers::time_limit, allow_negative_numbers = true)]
    time_limit: Option<Duration>,

    /// Print a JSON object in place of the text
    #[arg(long)]
    json: bool,
}

impl Diagnose {
    /// Diagnoses and prints.
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let problem = softsep::read(&self.problem).map_err(|error| Failure::of(error.into(), &self.problem))?;
        let given = self.x.as_ref().map(|path| decision::read(&problem, path)).transpose()?;
        let interrupt = interrupt::flag(|| say("interrupted: stopping; Ctrl-C again to leave at once"))?;
        let clock = Clock::new(self.time_limit, Arc::clone(&interrupt));
        let inquiry = Inquiry {
            temperature: self.temperature,
            gap: self.gap,
            acceptance: self.acceptance,
            score: self.score,
            reference: self.reference,
            samples: self.samples,
            false_rate: 1.0 - self.confidence,
            seed: self.seed,
        };
        let x = match given {
            Some(x) => x,
            None => nominal_decision(&problem, &clock).map_err(|error| self.failure(error))?,
        };
        let diagnosis = diagnose(&problem, &x, &inquiry, &clock).map_err(|error| self.failure(error))?;
        if self.json {
            print_json(&json_of(&problem, &x, &diagnosis))?;
        } else {
            let from = match &self.x {
                Some(path) => format!("that of {}", path.display()),
                None => "the best for the nominal scenario".to_owned(),
            };
            print(&format!("decision     {from}\n{}", diagnosis_summary(&problem, &inquiry, &diagnosis)))?;
        }
        Ok(Exit::Done)
    }

    fn failure(&self, error: Error) -> Failure {
        let file = self.problem.display();
        match error {
            Error::Interrupted(Interrupt::Interrupted) => {
                Failure::interrupted(format!("{file}: interrupted before the diagnosis was made"))
            }
            Error::Interrupted(stop) => {
                Failure::failed(format!("{file}: {stop} before the diagnosis was made; allow more time"))
            }
            Error::Settings(what) => Failure::unusable(format!("{file}: {what}")),
            error => Failure::of(error, &self.problem),
        }
    }
}

/// The diagnosis for programs. A bound on a probability that is 1 or more, and a number that is not known or infinite,
/// is null.
fn json_of(problem: &Problem, x: &[f64], diagnosis: &Diagnosis) -> Value {
    json!({
        "x": NamedValues::new(&problem.names.first, x),
        "feasible": diagnosis.violation.is_none(),
        "states": states(diagnosis),
        "first_cost": diagnosis.first_cost,
        "temperature": diagnosis.temperature,
        "scores": scores(problem, &diagnosis.scores),
        "search": diagnosis.searched.as_ref().map(|searched| search(problem, searched)),
        "score_error": constant(diagnosis.score_error),
        "soft_error": constant(diagnosis.soft_error),
        "constants": constants(diagnosis),
        "mixing": {
            "gamma": diagnosis.mixing.0.gamma(),
            "eta": diagnosis.mixing.0.dobrushin(),
            "fundamental": diagnosis.mixing.0.fundamental(),
            "known": known(diagnosis.mixing.1),
            "gamma_here": diagnosis.mixing_here.map(|mixing| mixing.gamma()),
        },
        "movement": diagnosis.movement.size,
        "identification": {
            "known": known(diagnosis.provenance),
            "after": diagnosis.identification.iter().map(identification).collect::<Vec<_>>(),
        },
        "certification": diagnosis.certification.map(certification),
        "convergence": diagnosis.convergence.as_ref().map(|bounds| convergence(bounds, diagnosis.space)),
        "advice": {
            "temperature_for_gap": diagnosis.temperature_for_gap,
            "temperature_for_certification": diagnosis.certification.and_then(|certified| certified.temperature),
            "transitions": diagnosis.certification.and_then(|certified| certified.steps),
            "concentration": diagnosis.concentration,
        },
    })
}

fn states(diagnosis: &Diagnosis) -> Value {
    let (kind, dim) = match diagnosis.space {
        Space::Finite(_) => ("finite", None),
        Space::Sphere(dim) => ("sphere", Some(dim)),
        Space::Body(dim) => ("body", Some(dim)),
    };
    let ScoresAt { evaluated, all, .. } = diagnosis.scores;
    json!({"kind": kind, "count": diagnosis.states, "dim": dim, "looked": evaluated, "all": all})
}

fn scores(problem: &Problem, scores: &ScoresAt) -> Value {
    let likeliest = scores.likeliest.iter().map(|likely| {
        let xi = NamedValues::new(&problem.names.parameters, &likely.xi);
        json!({"xi": xi, "score": likely.score, "probability": likely.probability})
    });
    json!({
        "worst": scores.worst,
        "soft_maximum": scores.soft,
        "exact": scores.all,
        "gap": scores.gap,
        "ties": scores.ties,
        "likeliest": likeliest.collect::<Vec<_>>(),
    })
}

fn constants(diagnosis: &Diagnosis) -> Value {
    let constants = &diagnosis.constants;
    json!({
        "spread": constant(constants.spread),
        "slope_f": constant(constants.slope_f),
        "slope_x": constant(constants.slope_x),
        "slope_xi": constant(constants.slope_xi),
        "slope_sphere": constants.slope_sphere.map(constant),
        "diameter_x": constant(constants.diameter_x),
        "kernel": constant(diagnosis.kernel),
    })
}

fn identification(bounds: &Identification) -> Value {
    let pair = |[moving, still]: [Option<Chance>; 2]| json!({"moving": chance(moving), "still": chance(still)});
    json!({
        "steps": bounds.steps,
        "theorem_2": pair(bounds.general),
        "theorem_3": bounds.finite.map(|finite| pair(finite.map(Some))),
        "corollary_1": chance(bounds.adaptive),
    })
}

fn certification(certified: Certified) -> Value {
    json!({"rho": chance(Some(certified.miss)), "calls": certified.calls, "transitions": certified.transitions})
}

/// The tempered search. No claim follows from it.
fn search(problem: &Problem, searched: &TemperedResult) -> Value {
    let found = &searched.search;
    json!({
        "worst": searched.worst,
        "xi": NamedValues::new(&problem.names.parameters, &searched.xi),
        "solves": found.solves,
        "solves_at_worst": found.solves_at_best,
        "spread": found.spread,
        "ascents": found.ascents,
        "several_local_maxima": found.is_disputed,
        "replicas": found.replicas,
        "reached_by_replicas": found.reached_by,
        "swap_rates": found.swap_rates,
        "round_trips": found.round_trips,
        "effective_draws": found.effective,
        "looks_exhausted": found.is_exhausted,
    })
}

/// The bounds of Theorems 1 and 4 and of Proposition 2. A vacuous bound is null.
fn convergence(convergence: &Convergence, space: Space) -> Value {
    let bound = |bound: StepBound| {
        let is_informative = bound.least() < convergence.range;
        is_informative.then(|| json!({"bound": bound.least(), "first_step": bound.best_first_step()}))
    };
    let theorem = if matches!(space, Space::Finite(_)) { "theorem_1" } else { "theorem_4" };
    let after = |bounds: &AverageBounds| {
        json!({
            "steps": bounds.steps,
            theorem: {"step_size": bound(bounds.step_size), "linear": bound(bounds.linear)},
            "proposition_2": bounds.cooling.and_then(bound),
        })
    };
    json!({
        "known": known(convergence.provenance),
        "range": convergence.range,
        "after": convergence.after.iter().map(after).collect::<Vec<_>>(),
    })
}

fn chance(bound: Option<Chance>) -> Value {
    json!(bound.and_then(Chance::informative))
}

fn constant(constant: Constant) -> Value {
    json!({"value": constant.value, "known": known(constant.provenance)})
}

fn known(known: Provenance) -> Value {
    match known {
        Provenance::Bounded => json!("bounded"),
        Provenance::Estimated { samples } => json!({"estimated_from": samples}),
    }
}
