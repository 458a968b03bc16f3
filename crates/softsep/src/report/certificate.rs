//! What a certificate says, and what it does not say, in words.

use super::summary::number;
use crate::outcome::Outcome;
use crate::run::{Assumption, Certificate, Likely, Source, Violation};

/// Short sentences about how the bounds of an outcome are known; the first begins with the certificate's kind. None for
/// a problem that was proved to have no optimum: it has no bounds.
pub fn in_words(outcome: &Outcome) -> Vec<String> {
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
            "draws attested an upper bound of {}, and the lower bound shows it to be false: an assumption was, or the \
             draws were unlucky",
            number(likely.upper)
        ));
    }
    if bounds.best().is_some() && bounds.certificate() == Certificate::None {
        words.push("the objective is an estimate: what the decision costs at the worst scenario seen".into());
    }
    if let Some(violation) = bounds.violation() {
        words.extend(violation_in_words(violation));
    }
    words.extend(bounds.best().into_iter().flat_map(|best| best.attested.remarks.iter().cloned()));
    words
}

fn likely_in_words(likely: &Likely) -> Vec<String> {
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

fn violation_in_words(violation: &Violation) -> Vec<String> {
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
