//! What the ledger holds comes out in the result file and in words, each statement as what it is.

use softsep::report::{ResultFile, certificate_in_words, result_file, solve_summary};
use softsep::run::{
    Assumption, Attested, Certificate, Clock, Limits, ProbabilisticBound, Run, Silent, Source, Stop, ViolationLevel,
};
use softsep::{Outcome, Problem, Settings, Status, solve};

use super::locks;

fn violation() -> Option<ViolationLevel> {
    Some(ViolationLevel { level: 1e-3, confidence: 0.99, measure: "uniform on the extreme points".into() })
}

fn likely() -> Option<ProbabilisticBound> {
    let assumption = |name, value, source| Assumption { name, value, source };
    let assumes = vec![
        assumption("eta", 0.5, Source::Given),
        assumption("margin", 3.0, Source::Given),
        assumption("rho", 0.75, Source::Derived),
    ];
    Some(ProbabilisticBound { upper: 12.0, confidence: 0.95, assumes })
}

/// The outcome of a run that has a decision that costs 11, a lower bound of 10, and what was attested; surely at most
/// `upper`.
fn outcome(attested: Attested, upper: Option<f64>) -> Outcome {
    let mut silent = Silent;
    let mut run = Run::new("sgd", Limits { gap: 0.2, ..Limits::default() }, Clock::unlimited(), &mut silent);
    run.lower(10.0);
    match upper {
        Some(upper) => run.upper(&[], 0.0, 11.0, upper, &[0.0, 0.0]),
        None => run.estimate(&[], 11.0, &[0.0, 0.0]),
    }
    run.attest(&[], 11.0, attested);
    let ended = run.tick();
    assert_eq!(ended, run.bounds().meet(0.2).then_some(Stop::Gap));
    let mut outcome = solve(&problem(), &Settings::default().seed(1)).unwrap();
    outcome.status = if ended.is_some() { Status::Optimal } else { Status::Feasible };
    (outcome.bounds, outcome.worst_case, outcome.method) = (run.bounds().clone(), None, "sgd");
    outcome
}

fn problem() -> Problem {
    locks::list(5, 1).problem
}

fn file(outcome: &Outcome) -> ResultFile {
    let file = result_file(&problem(), outcome);
    assert_eq!(ResultFile::read(&file.write()).unwrap(), file);
    file
}

#[test]
fn a_likely_bound_is_reported_with_what_it_assumes() {
    let outcome = outcome(
        Attested { violation: violation(), likely: likely(), remarks: vec!["a remark".into()], ..Attested::default() },
        None,
    );
    let result = file(&outcome);
    let certificate = result.certificate.unwrap();
    assert_eq!((result.objective, result.lower_bound, result.upper_bound), (Some(11.0), Some(10.0), Some(12.0)));
    assert!((result.gap.unwrap() - 2.0 / 12.0).abs() < 1e-15 && result.status == Status::Optimal);
    assert_eq!((certificate.kind, certificate.confidence), (Certificate::Probabilistic, Some(0.95)));
    let assumes: Vec<_> = certificate.assumes.iter().map(|of| (of.name.as_str(), of.value, of.source)).collect();
    assert_eq!(assumes, [("eta", 0.5, Source::Given), ("margin", 3.0, Source::Given), ("rho", 0.75, Source::Derived)]);
    let stated = certificate.violation.unwrap();
    assert_eq!(
        (stated.level, stated.confidence, stated.measure.as_str()),
        (1e-3, 0.99, "uniform on the extreme points")
    );
    let words = certificate_in_words(&outcome);
    for (line, said) in [
        (0, "probabilistic: the lower bound holds for sure, the upper one with a probability and under assumptions"),
        (1, "with probability 0.95 over the run's draws, the decision costs at most 12 in the worst case"),
        (2, "rests on rho = 0.75, derived"),
        (3, "rests on eta = 0.5, margin = 3, given and not checked"),
        (
            4,
            "violation: with probability 0.99, at most a share 0.001 of the set (uniform on the extreme points) costs \
             more",
        ),
        (5, "assumes nothing, and says nothing about the worst case"),
        (6, "a remark"),
    ] {
        assert!(words[line].contains(said), "line {line}: {words:#?}");
    }
    assert_eq!(words.len(), 7);
    // The summary, and with it the log's footer, says all of it.
    let summary = solve_summary(&problem(), &outcome);
    assert!(words.iter().all(|words| summary.contains(words.as_str())), "{summary}");
    assert!(
        summary.contains("upper bound  12\n") && summary.contains("optimal, if the certificate holds"),
        "{summary}"
    );
}

#[test]
fn a_likely_bound_that_is_shown_to_be_false_is_not_reported() {
    let below = likely().map(|likely| ProbabilisticBound { upper: 11.5, ..likely });
    let mut outcome = outcome(Attested { likely: below, ..Attested::default() }, None);
    let mut silent = Silent;
    let mut run = Run::new("sgd", Limits::default(), Clock::unlimited(), &mut silent);
    run.estimate(&[], 11.0, &[0.0, 0.0]);
    run.attest(&[], 11.0, outcome.bounds.best().unwrap().attested.clone());
    run.lower(11.8);
    outcome.bounds = run.bounds().clone();
    let result = file(&outcome);
    assert_eq!((result.lower_bound, result.upper_bound, result.gap), (Some(11.8), None, None));
    let certificate = result.certificate.unwrap();
    assert_eq!((certificate.kind, certificate.confidence, certificate.assumes.len()), (Certificate::None, None, 0));
    assert!(
        certificate_in_words(&outcome)[1].contains("11.5, and the lower bound shows it to be false"),
        "{:?}",
        certificate_in_words(&outcome)
    );
}

#[test]
fn a_violation_level_alone_is_no_upper_bound() {
    let outcome = outcome(Attested { violation: violation(), ..Attested::default() }, None);
    let result = file(&outcome);
    let certificate = result.certificate.unwrap();
    assert_eq!((result.upper_bound, result.gap, result.status), (None, None, Status::Feasible));
    assert_eq!((certificate.kind, certificate.confidence, certificate.assumes.len()), (Certificate::None, None, 0));
    assert!(certificate.violation.is_some());
    let words = certificate_in_words(&outcome);
    assert_eq!(words[0], "none: no upper bound is known");
    assert!(words[1].contains("estimate") && words[2].contains("violation"), "{words:#?}");
}

#[test]
fn a_sure_bound_stays_sure_beside_a_violation_level() {
    let outcome = outcome(Attested { violation: violation(), likely: likely(), ..Attested::default() }, Some(13.0));
    let result = file(&outcome);
    let certificate = result.certificate.unwrap();
    assert_eq!((result.upper_bound, certificate.kind), (Some(13.0), Certificate::Deterministic));
    assert_eq!((certificate.confidence, certificate.assumes.len()), (None, 0));
    assert!(certificate.violation.is_some() && certificate_in_words(&outcome)[0].starts_with("deterministic"));
}
