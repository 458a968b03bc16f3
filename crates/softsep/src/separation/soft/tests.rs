//! The end of a tempered search, its schedules, its description, and ascents that are not repeated.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use super::climber::Climber;
use super::progress::{Progress, SearchEffort};
use super::settings::Schedule;
use super::tempered::{SearchQuery, TemperedSearch};
use crate::model::Problem;
use crate::recourse::engine;
use crate::run::Clock;
use crate::testing::{Recipe, random_problem};
use crate::uncertainty::StateSpec;

const EFFORT: SearchEffort = SearchEffort { unanimous: 100, agreed: 100, disputed: 300, most: 1000 };

/// The progress of a search whose ascents ended at these costs, after these numbers of solves.
fn progress(ends: &[(f64, u64)]) -> Progress {
    let mut progress = Progress::new(50, 0);
    ends.iter().for_each(|&(value, solves)| progress.record(value, 0, 50 + solves));
    progress
}

#[test]
fn a_search_whose_ascents_agree_ends_early() {
    let agreed = progress(&[(7.0, 10), (7.0 + 1e-9, 60), (7.0, 99)]);
    assert!(!agreed.is_over(50 + 109, &EFFORT) && agreed.is_exhausted(50 + 110, &EFFORT));
    // Nine in ten are enough, and those before the worst scenario was found count too.
    let mut mostly = progress(&[(6.0, 10), (7.0, 20)]);
    (0..7).for_each(|ascent| mostly.record(7.0, 0, 50 + 30 + ascent));
    assert!(!mostly.is_over(50 + 120, &EFFORT));
    mostly.record(7.0, 0, 50 + 60);
    assert!(!mostly.is_over(50 + 119, &EFFORT) && mostly.is_exhausted(50 + 120, &EFFORT));
}

#[test]
fn a_search_whose_ascents_all_agree_ends_earlier_still() {
    let effort = SearchEffort { unanimous: 40, ..EFFORT };
    let mut unanimous = progress(&[(7.0, 10), (7.0 * (1.0 - 5e-7), 20)]);
    assert!(!unanimous.is_over(50 + 49, &effort) && unanimous.is_exhausted(50 + 50, &effort));
    (0..20).for_each(|_| unanimous.record(7.0, 0, 50 + 30));
    unanimous.record(7.0 * (1.0 - 2e-6), 0, 50 + 30);
    assert!(!unanimous.is_over(50 + 109, &effort) && unanimous.is_exhausted(50 + 110, &effort));
}

#[test]
fn a_disputed_search_ends_when_nothing_worse_came_in_four_fifths_of_it() {
    let early = progress(&[(7.0, 10), (6.0, 60), (6.5, 80)]);
    assert!(!early.is_over(50 + 299, &EFFORT) && early.is_exhausted(50 + 300, &EFFORT));
    let late = progress(&[(6.0, 10), (6.5, 20), (7.0, 150)]);
    assert!(!late.is_over(50 + 749, &EFFORT) && late.is_exhausted(50 + 750, &EFFORT));
    // The largest number of solves ends a search that is not exhausted.
    let last = progress(&[(6.0, 10), (6.5, 20), (7.0, 900)]);
    assert!(last.is_over(50 + 1000, &EFFORT) && !last.is_exhausted(50 + 1000, &EFFORT));
}

#[test]
fn a_search_is_as_patient_as_earlier_ones_had_to_be() {
    let mut progress = Progress::new(50, 150);
    progress.record(7.0, 0, 50 + 10);
    assert!(!progress.is_over(50 + 249, &EFFORT) && progress.is_exhausted(50 + 250, &EFFORT));
    [60, 70].iter().for_each(|solves| progress.record(6.0, 0, 50 + solves));
    assert!(!progress.is_over(50 + 749, &EFFORT) && progress.is_exhausted(50 + 750, &EFFORT));
}

fn problem() -> Problem {
    Problem::new(&random_problem(&Recipe { set: "budget", ..Recipe::default() }, 3)).unwrap()
}

/// Both schedules find the worst extreme point of a small set, and describe their search.
#[test]
fn both_schedules_find_the_worst_of_few_extreme_points() {
    let (problem, clock) = (problem(), Clock::unlimited());
    let x = vec![0.5; problem.first.dim()];
    let states = || Arc::from(problem.set.states(&StateSpec { convex: true, ..StateSpec::default() }).unwrap());
    let all: Arc<dyn crate::uncertainty::States> = states();
    let mut ascents = engine(&problem, &clock).unwrap();
    ascents.at(&x);
    let mut answer = crate::recourse::Answer::new(&problem);
    let mut xi = vec![0.0; problem.set.dim()];
    let costs = all.enumerate(10_000).unwrap().into_iter().map(|state| {
        all.realize(&state, &mut xi);
        ascents.solve(&xi, &mut answer).unwrap();
        answer.value
    });
    let worst = costs.fold(f64::NEG_INFINITY, f64::max);
    assert!(worst.is_finite());
    for schedule in [Schedule::Tempering, Schedule::Annealing] {
        let mut search = TemperedSearch::new(&problem, states(), schedule, 4, &clock).unwrap();
        let query = SearchQuery { x: &x, above: None, budget: None, clock: &clock };
        let mut found = f64::NEG_INFINITY;
        let mut engine = engine(&problem, &clock).unwrap();
        search.run(&query, &[], engine.as_mut(), &mut |_, answer| found = found.max(answer.value)).unwrap();
        assert!((found - worst).abs() <= 1e-7 * worst.abs().max(1.0), "{schedule:?}: {found} and {worst}");
        let diagnostics = search.diagnostics().unwrap();
        assert!(diagnostics.is_exhausted && diagnostics.solves >= diagnostics.solves_at_best);
        let words = diagnostics.to_string();
        assert!(words.starts_with(&format!("tempered search with {} recourse solves", diagnostics.solves)), "{words}");
        assert!(words.ends_with("the search looks exhausted, which proves nothing"), "{words}");
    }
}

/// A budget ends a search early, and its description says so.
#[test]
fn a_search_that_is_cut_off_is_not_called_exhausted() {
    let (problem, clock) = (problem(), Clock::unlimited());
    let x = vec![0.5; problem.first.dim()];
    let states = Arc::from(problem.set.states(&StateSpec { convex: true, ..StateSpec::default() }).unwrap());
    let mut search = TemperedSearch::new(&problem, states, Schedule::Tempering, 4, &clock).unwrap();
    let query = SearchQuery { x: &x, above: None, budget: Some(20), clock: &clock };
    search.run(&query, &[], engine(&problem, &clock).unwrap().as_mut(), &mut |_, _| {}).unwrap();
    let diagnostics = search.diagnostics().unwrap();
    assert!(!diagnostics.is_exhausted && diagnostics.to_string().ends_with("is not exhausted"), "{diagnostics}");
}

#[test]
fn an_ascent_is_not_repeated() {
    let (problem, clock) = (problem(), Clock::unlimited());
    let x = vec![0.5; problem.first.dim()];
    let query = SearchQuery { x: &x, above: None, budget: None, clock: &clock };
    let mut ascents = engine(&problem, &clock).unwrap();
    let mut shown = 0;
    let mut show = |_: &[f64], _: &crate::recourse::Answer| shown += 1;
    let mut climber = Climber::new(&problem, &query, ascents.as_mut(), &mut show);
    let mut nominal = vec![0.0; problem.set.dim()];
    problem.set.nominal(&mut nominal);
    let (first, end) = climber.climb(&nominal).unwrap();
    let solves = climber.engine.work().solves;
    assert!(solves > 0 && first <= end);
    assert_eq!(climber.climb(&nominal).unwrap(), (end, end));
    assert_eq!((climber.engine.work().solves, shown), (solves, 1));
}
