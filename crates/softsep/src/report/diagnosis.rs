//! Text summary of a diagnosis.

use std::fmt::Write;

use super::summary::entries;
use crate::diagnose::{
    Certified, Constant, Convergence, Diagnosis, Identification, Inquiry, Provenance, TemperedResult,
};
use crate::model::Problem;
use crate::separation::soft::Score;
use crate::theory::{Chance, StepBound};
use crate::uncertainty::{Count, Space};

/// Less likely states are not shown.
const MIN_SHOWN_PROBABILITY: f64 = 1e-4;

/// Returns the summary of a diagnosis, with advice.
pub fn diagnosis_summary(problem: &Problem, inquiry: &Inquiry, diagnosis: &Diagnosis) -> String {
    let mut text = String::new();
    at_the_decision(&mut text, problem, inquiry, diagnosis);
    constants(&mut text, diagnosis);
    identification(&mut text, inquiry, diagnosis);
    convergence(&mut text, diagnosis);
    advice(&mut text, inquiry, diagnosis);
    text
}

fn at_the_decision(text: &mut String, problem: &Problem, inquiry: &Inquiry, diagnosis: &Diagnosis) {
    let scores = &diagnosis.scores;
    let space = match diagnosis.space {
        Space::Finite(Count::Exactly(1)) => "one".to_owned(),
        Space::Finite(count) if problem.set.is_finite_list() => format!("{count} rows of a list"),
        Space::Finite(count) => format!("{count} points that can attain the worst case"),
        Space::Sphere(dim) => format!("the unit sphere in {dim} coordinates, the boundary of an ellipsoid"),
        Space::Body(dim) => format!("a convex body in {dim} coordinate{}", if dim == 1 { "" } else { "s" }),
    };
    let evaluated =
        if scores.all { "all were evaluated".to_owned() } else { format!("{} draws were evaluated", scores.evaluated) };
    let _ = writeln!(text, "states       {space}; {evaluated}");
    if diagnosis.violation.is_some() {
        let _ = writeln!(text, "warning      the decision is not feasible for the first stage");
    }
    let kind = if scores.all { "exact" } else { "the worst of the draws, a lower bound" };
    let _ = writeln!(
        text,
        "cost         {} now and {} in the worst case ({kind}), {} together",
        short(diagnosis.first_cost),
        short(scores.worst),
        short(diagnosis.first_cost + scores.worst)
    );
    let why = match inquiry.temperature {
        Some(_) => "as given".to_owned(),
        None if diagnosis.temperature_for_gap.is_none() => "the gap itself; every temperature suffices".to_owned(),
        None => format!("the largest that keeps the soft maximum within {} of the cost", percent(inquiry.gap)),
    };
    let _ = writeln!(text, "temperature  w = {}, {why}", short(diagnosis.temperature));
    if let Score::Moreau(tau) = inquiry.score {
        let error = at_most(diagnosis.score_error);
        let _ =
            writeln!(text, "scores       the Moreau envelope with τ = {}, below the cost by {error} (ε)", short(tau));
    }
    let how = if scores.all { "exact" } else { "estimated from the draws" };
    let _ = writeln!(
        text,
        "soft maximum {} ({how}), {} below the largest cost found; at any decision it is below the maximum by {}",
        short(scores.soft),
        short(scores.worst - scores.soft),
        at_most(diagnosis.soft_error)
    );
    gap_and_likeliest(text, problem, diagnosis);
    let _ = match &diagnosis.searched {
        Some(TemperedResult { worst, search, .. }) => {
            writeln!(text, "search       {} is the worst cost found by a {search}", short(*worst))
        }
        None => writeln!(text, "search       none: the time limit was met before"),
    };
}

/// The gap between the worst states and the others, and the most likely states of the soft law.
fn gap_and_likeliest(text: &mut String, problem: &Problem, diagnosis: &Diagnosis) {
    let scores = &diagnosis.scores;
    match scores.gap {
        Some(0.0) => {
            let _ = writeln!(text, "gap          all states cost the same here");
        }
        Some(gap) => {
            let (who, verb) = match scores.ties {
                1 => ("the worst state".to_owned(), "is"),
                ties => (format!("the {ties} worst states"), "are"),
            };
            let _ = writeln!(text, "gap          {who} {verb} ahead of all others by Δ* = {}", short(gap));
        }
        None if matches!(diagnosis.space, Space::Finite(_)) => {
            let _ = writeln!(text, "gap          not known: not all states were evaluated");
        }
        None => {}
    }
    for (rank, likely) in
        scores.likeliest.iter().enumerate().filter(|(_, likely)| likely.probability >= MIN_SHOWN_PROBABILITY)
    {
        let head = if rank == 0 { "likeliest" } else { "" };
        let ξ = entries(&problem.names.parameters, &likely.xi);
        let _ = writeln!(
            text,
            "{head:<12} {:>7} of the soft law, cost {}: {ξ}",
            percent(likely.probability),
            short(likely.score)
        );
    }
}

fn constants(text: &mut String, diagnosis: &Diagnosis) {
    let constants = &diagnosis.constants;
    let _ = writeln!(text, "\nconstants, for every decision");
    let mut line = |name: &str, what: &str, constant: Constant| {
        let _ = writeln!(text, "  {name:<5} {what} {}", at_most(constant));
    };
    line("Δ", "scores differ by", constants.spread);
    line("L_f", "per unit of x, f changes by", constants.slope_f);
    line("L'_Q", "per unit of x, Q changes by", constants.slope_x);
    line("L'_ξ", "per unit of ξ, Q changes by", constants.slope_xi);
    if let Some(slope) = constants.slope_sphere {
        line("L_u", "per unit on the sphere, Q changes by", slope);
    }
    line("D", "two decisions are apart by", constants.diameter_x);
    line("L_P", "per unit of x, a row of the kernel changes by", diagnosis.kernel);
    let (mixing, provenance) = diagnosis.mixing;
    let here =
        diagnosis.mixing_here.map_or(String::new(), |here| format!("; at this decision {}", short(here.gamma())));
    let _ = writeln!(
        text,
        "  {:<5} the least share of its start that a step forgets: {}{}{here}",
        "γ",
        short(mixing.gamma()),
        note(provenance)
    );
    let _ = writeln!(text, "  η̄     the share that it keeps at most: {}", near_one(mixing.gamma()));
    let _ = writeln!(
        text,
        "  {:<5} the fundamental matrix is bounded by {}{}",
        "C*",
        short(mixing.fundamental()),
        note(provenance)
    );
}

fn identification(text: &mut String, inquiry: &Inquiry, diagnosis: &Diagnosis) {
    let caution = match diagnosis.provenance {
        Provenance::Bounded => "bounds",
        Provenance::Estimated { .. } => "not bounds: they use estimated constants",
    };
    let _ = writeln!(
        text,
        "\nchance of missing the worst scenarios, at most ({caution}), for independent draws as candidates, and \
         incumbents"
    );
    let _ = writeln!(text, "that move by {}/n at step n, or are fixed", short(diagnosis.movement.size));
    if diagnosis.certification.is_some() {
        let _ = writeln!(text, "  (Theorem 3 and Corollary 1 as if Δ* at this decision held at every incumbent)");
    }
    let slack = percent(inquiry.gap);
    for bounds in &diagnosis.identification {
        let _ = writeln!(text, "  after {} steps", bounds.steps);
        let mut line = |what: &str, said: [String; 2]| {
            let _ = writeln!(text, "    {what:<34} moving: {}; fixed: {}", said[0], said[1]);
        };
        let is_coarse = diagnosis.slack <= 2.0 * diagnosis.score_error.value;
        line(&format!("within {slack} of it (Theorem 2)"), bounds.general.map(|bound| general(bound, is_coarse)));
        if let Some(finite) = bounds.finite {
            line("it exactly (Theorem 3)", finite.map(chance));
        }
        adaptive(text, bounds);
    }
    match diagnosis.certification {
        Some(Certified { miss, calls, .. }) => {
            let _ = writeln!(
                text,
                "  ρ: one more transition misses the worst state again with a chance of {}",
                chance(miss)
            );
            let calls = calls.map_or("no number of further calls certifies a decision".to_owned(), |calls| {
                format!("after 100 calls, {calls} more without a worse scenario certify a decision")
            });
            let _ = writeln!(text, "  {calls}, with confidence {}", percent(1.0 - inquiry.false_rate));
        }
        None => {
            let why = match (diagnosis.space, diagnosis.scores.gap) {
                (Space::Finite(_), Some(gap)) if gap > 0.0 => "do not apply here: they need a gap Δ* above 4ε",
                (Space::Finite(_), Some(_)) => "do not apply here: all states cost the same",
                (Space::Finite(_), None) => {
                    "need the gap Δ* between the worst states and the others, which is not known"
                }
                _ => "are for finitely many states",
            };
            let _ = writeln!(text, "  Theorem 3, Corollary 1 and certification {why}");
        }
    }
}

fn adaptive(text: &mut String, bounds: &Identification) {
    if let Some(adaptive) = bounds.adaptive {
        let _ = writeln!(text, "    {:<34} {}", "it, by so many calls (Corollary 1)", chance(adaptive));
    }
}

/// The bounds of Theorems 1 and 4 and of Proposition 2.
fn convergence(text: &mut String, diagnosis: &Diagnosis) {
    let Some(Convergence { after, range, provenance }) = &diagnosis.convergence else {
        let why = match diagnosis.score_error.value > 0.0 {
            true => "are for exact scores",
            false => "need bounded decisions and slopes",
        };
        let _ = writeln!(text, "\nTheorems 1 and 4 and Proposition 2, on the averages of Algorithm 1, {why}");
        return;
    };
    let caution = match provenance {
        Provenance::Bounded => "bounds on the mean",
        Provenance::Estimated { .. } => "not bounds: they use estimated constants",
    };
    let theorem = if matches!(diagnosis.space, Space::Finite(_)) { "Theorem 1" } else { "Theorem 4" };
    let _ = writeln!(
        text,
        "\naverages of Algorithm 1 cost more than the optimum by at most ({caution}), for independent draws as \
         candidates, and"
    );
    let _ = writeln!(text, "steps α₀/√n with the best α₀ for the bound");
    for bounds in after {
        let _ = writeln!(text, "  after {} steps", bounds.steps);
        let mut line = |what: String, bound: StepBound| {
            let _ = writeln!(text, "    {what:<42} {}", excess(bound, *range));
        };
        line(format!("step-size average, soft optimum ({theorem})"), bounds.step_size);
        line(format!("linear average, soft optimum ({theorem})"), bounds.linear);
        if let Some(cooling) = bounds.cooling {
            line("linear average, falling w (Proposition 2)".to_owned(), cooling);
        }
    }
}

/// Formats a bound on costs that differ by no more than the range.
fn excess(bound: StepBound, range: f64) -> String {
    match bound.least() < range {
        true => format!("{} (α₀ = {})", short(bound.least()), short(bound.best_first_step())),
        false => format!(
            "vacuous (the bound is {}, and no two decisions differ by more than {})",
            short(bound.least()),
            short(range)
        ),
    }
}

fn advice(text: &mut String, inquiry: &Inquiry, diagnosis: &Diagnosis) {
    let _ = writeln!(text, "\nadvice");
    match diagnosis.temperature_for_gap {
        Some(temperature) => {
            let _ = writeln!(
                text,
                "  w ≤ {} keeps the soft maximum within {} of the cost",
                short(temperature),
                percent(inquiry.gap)
            );
        }
        None if diagnosis.score_error.value >= diagnosis.slack => {
            let _ = writeln!(
                text,
                "  no w keeps the soft maximum within {} of the cost: the error ε of the scores is no less",
                percent(inquiry.gap)
            );
        }
        None => {
            let _ = writeln!(
                text,
                "  any w keeps the soft maximum within {} of the cost: scores differ too little",
                percent(inquiry.gap)
            );
        }
    }
    let memory = diagnosis.mixing.0.gamma().recip();
    if memory > 1.0 && memory.is_finite() {
        let _ = writeln!(
            text,
            "  about {} transitions with independent draws until a chain has forgotten its start",
            short(memory)
        );
    }
    if let Some(certified) = &diagnosis.certification {
        certification_advice(text, certified, inquiry, diagnosis);
    }
    if let Some(concentration) = diagnosis.concentration.filter(|concentration| *concentration > 0.0) {
        let _ = writeln!(
            text,
            "  κ = {} is a good concentration for candidates drawn along the slope of Q; they usually do better \
             than independent draws, but none of the bounds above is proven for them",
            short(concentration)
        );
    }
}

fn certification_advice(text: &mut String, certified: &Certified, inquiry: &Inquiry, diagnosis: &Diagnosis) {
    if let Some(temperature) = certified.temperature {
        let _ = writeln!(text, "  w ≤ {} lets repeated calls certify a decision", short(temperature));
    }
    let confidence = percent(1.0 - inquiry.false_rate);
    match (certified.steps, diagnosis.states) {
        (Some(steps), Some(states)) => {
            let scan = if (steps as f64) < states { "fewer" } else { "no fewer" };
            let _ = writeln!(
                text,
                "  {steps} transitions at one decision find the worst state with confidence {confidence}, by \
                 {scan} recourse solves than evaluating all {} states",
                short(states)
            );
        }
        _ => {
            let _ = writeln!(
                text,
                "  at this w no number of transitions is proven to find the worst state with confidence \
                 {confidence}; choose a smaller w"
            );
        }
    }
    if let Some(transitions) = certified.transitions {
        let jump = short(diagnosis.movement.size / 100.0);
        let _ = writeln!(
            text,
            "  g(100) = {transitions}: the transitions after the hundredth call if the incumbent jumps by more \
             than {jump}"
        );
    }
}

/// Formats the bound of Theorem 2, if it applies. `is_coarse`: whether the scores are too coarse for the gap.
fn general(bound: Option<Chance>, is_coarse: bool) -> String {
    match bound {
        Some(bound) => chance(bound),
        None if is_coarse => "not available: the gap is not above 2ε".to_owned(),
        None => "not available for so few steps".to_owned(),
    }
}

fn chance(chance: Chance) -> String {
    match chance.informative() {
        Some(bound) => percent(bound),
        None => "vacuous (the bound is 1 or more)".to_owned(),
    }
}

fn at_most(constant: Constant) -> String {
    match constant.provenance {
        _ if constant.value == f64::INFINITY => "any amount".to_owned(),
        Provenance::Bounded => format!("at most {}", short(constant.value)),
        Provenance::Estimated { .. } => format!("{}{}", short(constant.value), note(constant.provenance)),
    }
}

fn note(provenance: Provenance) -> String {
    match provenance {
        Provenance::Bounded => String::new(),
        Provenance::Estimated { samples } => {
            format!(" (estimated from {samples} samples; the exact value may be larger)")
        }
    }
}

/// Formats a constant with four digits.
fn short(value: f64) -> String {
    if value == 0.0 || (1e-3..1e7).contains(&value.abs()) {
        let digits = (4 - value.abs().max(1e-3).log10().floor() as i32).clamp(0, 8) as usize;
        let text = format!("{value:.digits$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    } else {
        format!("{value:.3e}")
    }
}

/// Formats one minus a small number without cancellation.
fn near_one(small: f64) -> String {
    if small < 1e-4 { format!("1 − {}", short(small)) } else { short(1.0 - small) }
}

fn percent(share: f64) -> String {
    format!("{} %", short(100.0 * share))
}
