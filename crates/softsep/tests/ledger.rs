//! What a result says of the bounds and decisions in the ledger of a run, whoever wrote them.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use softsep::cuts::{CutPool, WarmStart};
use softsep::internals::format::load_text;
use softsep::methods::Method;
use softsep::report::{result_file, solve_summary};
use softsep::run::{Certificate, Interrupt, Run, Stop};
use softsep::separation::{Found, Query, Separation, SeparationContext, SeparationFactory};
use softsep::{
    BranchAndCutSettings, BundleSettings, Certify, Error, GenerationSettings, MethodSettings, Outcome, Problem,
    SeparationKind, Settings, SgdSettings, Status, Unsupported, evaluate, solve,
};

/// One unit of x serves one unit of demand; later it costs ten times as much. The demand is 0, 1 or 10.
fn store(kind: &str) -> Problem {
    let text = format!(
        r#"{{"format": "aro/1",
            "first_stage": {{"variables": [{{"name": "x", "cost": 1, "upper": 20, "type": "{kind}"}}]}},
            "uncertainty": {{"parameters": ["g"], "set": {{"kind": "scenarios", "points": [[0], [1], [10]]}}}},
            "recourse": {{"variables": [{{"name": "y", "cost": 10}}],
                          "constraints": [{{"name": "r", "y": {{"y": 1}}, "x": {{"x": 1}}, "xi": {{"g": -1}},
                                            "lower": 0}}]}}}}"#
    );
    load_text(&text, "text", Path::new("")).unwrap().check().unwrap()
}

/// Writes two bounds into the ledger, for a decision of this first-stage cost.
struct Writing {
    first_cost: f64,
    lower: f64,
    upper: f64,
}

impl Method for Writing {
    fn name(&self) -> &'static str {
        "writing"
    }

    fn accepts(&self, _problem: &Problem) -> Result<(), Unsupported> {
        Ok(())
    }

    fn plan(&self, _problem: &Problem) -> String {
        String::new()
    }

    fn promise(&self, _problem: &Problem) -> String {
        String::new()
    }

    fn solve(&self, _: &Problem, _: Certify, _: &mut WarmStart, run: &mut Run) -> Result<Stop, Error> {
        run.lower(self.lower);
        run.upper(&[self.first_cost], self.first_cost, self.upper, self.upper, &[10.0]);
        Ok(run.tick().unwrap_or(Stop::Stalled))
    }
}

fn written(first_cost: f64, lower: f64, upper: f64) -> Outcome {
    let method = MethodSettings::custom(Writing { first_cost, lower, upper });
    solve(&store("continuous"), &Settings { method, gap: 1e-6, ..Settings::default() }).unwrap()
}

#[test]
fn bounds_that_contradict_one_another_are_dropped() {
    let outcome = written(6.0, 100.0, 61.0);
    assert_eq!((outcome.status, outcome.stop), (Status::Feasible, Stop::Failed));
    assert_eq!((outcome.bounds.lower(), outcome.bounds.reported_upper()), (None, None));
    assert_eq!((outcome.bounds.certificate(), outcome.objective()), (Certificate::None, Some(61.0)));
    assert!(outcome.failure.unwrap().to_string().contains("contradict"));
}

/// An allowance of 1e-9 once met optima near 1e-6, with a gap of 1e-3 in the result.
#[test]
fn optimal_means_that_the_reported_gap_is_met() {
    for (first_cost, lower, upper, expected) in [
        (1e-6, 1e-6 - 9e-10, 1e-6, Status::Feasible),
        (1e-6, 1e-6 - 9e-13, 1e-6, Status::Optimal),
        (0.0, -1e-12, 1e-12, Status::Optimal),
        (0.0, -1e-9, 0.0, Status::Optimal),
        (0.0, -1e-8, 0.0, Status::Feasible),
        // Sums of terms of this size have no more digits.
        (10.0, -9e-9, 0.0, Status::Optimal),
    ] {
        let outcome = written(first_cost, lower, upper);
        let file = result_file(&store("continuous"), &outcome);
        assert_eq!(file.status, expected, "{lower} to {upper}: {file:?}");
        assert_eq!(
            (file.lower_bound, file.upper_bound),
            (Some(lower), Some(upper)),
            "bounds are those proved: {file:?}"
        );
        let gap = file.gap.unwrap();
        assert_eq!(gap <= 1e-6, expected == Status::Optimal, "{file:?}");
        // Zero where the bounds are one number up to the digits of solvers.
        assert!(gap == 0.0 || gap == (upper - lower) / upper.abs().max(1e-10), "{file:?}");
    }
}

/// An interrupt comes during the first separation.
struct Interrupted;

impl Separation for Interrupted {
    fn separate(&mut self, query: &Query, _pool: &mut CutPool) -> Result<Found, Error> {
        query.clock.interrupt().store(true, std::sync::atomic::Ordering::Relaxed);
        Err(Interrupt::Interrupted.into())
    }

    fn is_exact(&self) -> bool {
        false
    }
}

impl SeparationFactory for Interrupted {
    fn build<'p>(&self, _: &'p Problem, _: &SeparationContext) -> Result<Box<dyn Separation + 'p>, Error> {
        Ok(Box::new(Interrupted))
    }
}

/// What is known of such a decision is its cost at the nominal scenario, which was once reported as the objective of a
/// feasible decision.
#[test]
fn a_decision_that_was_never_separated_is_not_called_feasible() {
    let separation = || SeparationKind::custom(Interrupted);
    let generation = || GenerationSettings::default().with_separation(separation());
    let mut seen = 0;
    for (kind, method) in [
        ("continuous", MethodSettings::Ccg(generation())),
        ("integer", MethodSettings::Ccg(generation())),
        ("continuous", MethodSettings::Benders(generation())),
        ("continuous", MethodSettings::Bundle(BundleSettings::default().with_separation(separation()))),
        ("continuous", MethodSettings::Sgd(SgdSettings::default().with_separation(separation()))),
        ("integer", MethodSettings::BranchAndCut(BranchAndCutSettings::default().with_separation(separation()))),
    ] {
        let problem = store(kind);
        let outcome = solve(&problem, &Settings::default().method(method)).unwrap();
        assert_eq!((outcome.status, outcome.stop), (Status::Unknown, Stop::Interrupted), "{outcome:?}");
        assert_eq!((outcome.objective(), &outcome.worst_case), (None, &None), "{outcome:?}");
        let file = result_file(&problem, &outcome);
        assert_eq!((file.objective, file.x.is_some()), (None, file.nominal_cost.is_some()), "{file:?}");
        let Some(x) = outcome.x() else { continue };
        seen += 1;
        let worst = evaluate(&problem, x, &Default::default()).unwrap().objective;
        assert!(file.nominal_cost.unwrap() < worst, "{file:?}, {worst}");
        assert!(solve_summary(&problem, &outcome).contains("nominal cost"), "{}", solve_summary(&problem, &outcome));
    }
    assert!(seen >= 4, "{seen}");
}
