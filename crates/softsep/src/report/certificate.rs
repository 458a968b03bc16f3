//! Statements about a certificate in words.

use super::summary::number;
use crate::outcome::Outcome;
use crate::run::{Assumption, Certificate, ProbabilisticBound, RecourseEvidence, Source, ViolationLevel};

/// Returns short sentences about how the bounds of an outcome were proven; the first starts with the kind of the
/// certificate. Empty for a problem that was proven to have no optimum, which has no bounds.
pub fn certificate_in_words(outcome: &Outcome) -> Vec<String> {
    if outcome.verdict.is_some() {
        return Vec::new();
    }
    let bounds = &outcome.bounds;
    let mut words = vec![match bounds.certificate() {
        Certificate::Deterministic => "deterministic: both bounds hold for sure, up to the solvers' tolerances".into(),
        Certificate::Probabilistic => {
            "probabilistic: the lower bound holds for sure, the upper one with a probability and under assumptions"
                .to_owned()
        }
        Certificate::None => "none: no upper bound is known".into(),
    }];
    if let Some(likely) = bounds.likely() {
        words.extend(likely_in_words(likely));
    }
    if let Some(likely) = bounds.refuted() {
        words.push(format!(
            "the draws certified an upper bound of {}, and the lower bound shows it to be false: an assumption is \
             false, or the draws were unlikely",
            number(likely.upper)
        ));
    }
    if bounds.objective().is_some() && bounds.certificate() == Certificate::None {
        words.push("the objective is an estimate: the cost of the decision at the worst scenario found".into());
    }
    if bounds.best().is_some() {
        match outcome.recourse {
            RecourseEvidence::Proved => {}
            RecourseEvidence::Searched => {
                words.push("recourse at every scenario: searched for, none was found without, and not proved".into());
            }
            RecourseEvidence::Unknown => words.push("recourse at every scenario: not known".into()),
        }
    }
    if let Some(violation) = bounds.violation() {
        words.extend(violation_in_words(violation));
    }
    words.extend(bounds.best().into_iter().flat_map(|best| best.attested.remarks.iter().cloned()));
    words
}

fn likely_in_words(likely: &ProbabilisticBound) -> Vec<String> {
    let listed = |source: Source| -> Vec<String> {
        let of_source = likely.assumes.iter().filter(|assumption| assumption.source == source);
        of_source.map(|Assumption { name, value, .. }| format!("{name} = {}", number(*value))).collect()
    };
    let (given, derived) = (listed(Source::Given), listed(Source::Derived));
    let mut words = vec![format!(
        "with probability {} over the run's draws, the decision costs at most {} in the worst case",
        number(likely.confidence),
        number(likely.upper)
    )];
    if !derived.is_empty() {
        words.push(format!("that rests on {}, derived", derived.join(", ")));
    }
    if !given.is_empty() {
        words.push(format!(
            "that rests on {}, given and not checked: if it is false, so may be the bound",
            given.join(", ")
        ));
    }
    words
}

fn violation_in_words(violation: &ViolationLevel) -> Vec<String> {
    vec![
        format!(
            "violation: with probability {}, at most a share {} of the set ({}) costs more than the objective",
            number(violation.confidence),
            number(violation.level),
            violation.measure
        ),
        "that assumes nothing, and says nothing about the worst case".into(),
    ]
}
