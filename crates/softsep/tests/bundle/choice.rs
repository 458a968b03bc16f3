//! The method that `auto` picks, and its note about it.

use softsep::run::{Event, Observer};
use softsep::testing::{Recipe, random_problem};
use softsep::{Certify, Outcome, Problem, Settings, Status, solve_with};
use softsep_paper::instances::{LocationTransportation, Uncertain, location_transportation};

/// The notes of a run.
#[derive(Default)]
struct Notes(Vec<String>);

impl Observer for Notes {
    fn see(&mut self, event: &Event) {
        if let Event::Note(note) = event {
            self.0.push((*note).to_owned());
        }
    }
}

fn random(recipe: &Recipe, seed: u64) -> Problem {
    Problem::new(&random_problem(recipe, seed)).unwrap()
}

fn depots(n: usize, uncertainty: Uncertain, mixed_integer: bool) -> Problem {
    Problem::new(&location_transportation(&LocationTransportation { n, uncertainty, mixed_integer, seed: 3 }).unwrap())
        .unwrap()
}

fn auto(problem: &Problem, settings: &Settings) -> (Outcome, Vec<String>) {
    let mut notes = Notes::default();
    let outcome = solve_with(problem, settings, &mut notes, &Default::default()).unwrap();
    (outcome, notes.0)
}

/// Checks that the first note names the picked method and the reason.
fn picks(problem: &Problem, settings: &Settings, method: &str, why: &str) -> Outcome {
    let (outcome, notes) = auto(problem, settings);
    let said = notes.first().map_or("nothing", String::as_str);
    assert!(said.starts_with(&format!("auto picks {method}: ")) && said.contains(why), "{}: {said}", problem.name);
    outcome
}

#[test]
fn auto_picks_a_method_by_the_problem() {
    let usual = Settings::default();
    let ellipsoid = Recipe { set: "ellipsoid", ..Recipe::default() };
    let every = "every scenario that matters can be asked";
    for set in ["scenarios", "box", "l1", "budget", "polyhedron"] {
        let outcome = picks(&random(&Recipe { set, ..Recipe::default() }, 4), &usual, "ccg", every);
        assert_eq!((outcome.status, outcome.method), (Status::Optimal, "ccg"), "{set}");
    }
    picks(&random(&Recipe { set: "scenarios", cost_xi: true, ..Recipe::default() }, 4), &usual, "ccg", every);
    // Too many extreme points for a scan, but few coefficients of a policy.
    let once = Settings { iterations: Some(1), ..usual.clone() };
    picks(&depots(21, Uncertain::Budget { gamma: 0.5 }, false), &once, "ccg", "an exact separation is quick here");
    picks(&depots(4, Uncertain::Ellipsoid, true), &usual, "branch-and-cut", "one exact separation then proves it");
    // Integers: one tree, whatever the separation.
    let integers = Recipe { set: "scenarios", integers: true, ..Recipe::default() };
    let problem = (0..).map(|seed| random(&integers, seed)).find(|problem| problem.first.has_integers()).unwrap();
    let outcome = picks(&problem, &usual, "branch-and-cut", "one exact separation then proves it");
    assert_eq!(outcome.status, Status::Optimal);
    // An ellipsoid: the decision first, then the proof.
    let (mut proved, mut went_on) = (0, 0);
    for seed in 0..20 {
        let problem = random(&ellipsoid, seed);
        if problem.set.dim() < 2 {
            continue;
        }
        let outcome = picks(&problem, &usual, "bundle", "one exact separation then proves it");
        proved += u64::from(outcome.status == Status::Optimal);
        let (_, notes) = auto(&problem, &usual);
        let handed_over = notes.iter().any(|note| note.contains("ccg continues from here"));
        assert_eq!(outcome.method, if handed_over { "ccg" } else { "bundle" });
        went_on += u64::from(handed_over);
    }
    assert!(proved > 8, "{proved} proved, {went_on} by ccg in the end");
    // No exact separation: an estimate, and a proof that is asked for is refused.
    let first = |recipe: Recipe| (0..).map(|seed| random(&recipe, seed)).find(|problem| problem.set.dim() > 1).unwrap();
    let asked = Settings { certify: Certify::Exact, ..usual.clone() };
    let problem = first(Recipe { cost_xi: true, ..ellipsoid });
    let outcome = picks(&problem, &usual, "bundle", "no separation here is exact");
    assert_eq!((outcome.status, outcome.method, outcome.bounds.upper()), (Status::Feasible, "bundle", None));
    let said = solve_with(&problem, &asked, &mut Notes::default(), &Default::default()).unwrap_err().to_string();
    assert!(said.contains("--certify exact"), "{said}");
    // A quadratic recourse cost: an estimate, and a proof where it is asked for.
    let problem = first(Recipe { quadratic: true, ..ellipsoid });
    let outcome = picks(&problem, &usual, "bundle", "a proof would be long here");
    assert_eq!((outcome.status, outcome.method, outcome.bounds.upper()), (Status::Feasible, "bundle", None));
    let bounds = solve_with(&problem, &asked, &mut Notes::default(), &Default::default()).unwrap().bounds;
    let (lower, upper) = (bounds.lower().unwrap(), bounds.upper().unwrap());
    assert!(lower <= upper && upper - lower <= 1e-3 * (1.0 + upper.abs()), "{lower} to {upper}");
}

/// The plan that `check` prints names the method that a run picks.
#[test]
fn a_plan_names_the_method_of_the_run() {
    let entry = softsep::methods::MethodSettings::Auto.build();
    for set in ["scenarios", "budget", "ellipsoid"] {
        for seed in 0..5 {
            let problem = random(&Recipe { set, cost_xi: seed == 4, ..Recipe::default() }, seed);
            let (_, notes) = auto(&problem, &Settings::default());
            let picked = notes[0].strip_prefix("auto picks ").unwrap().split(':').next().unwrap();
            assert!(entry.plan(&problem).starts_with(&format!("picks {picked}, since")), "{}", entry.plan(&problem));
        }
    }
}
