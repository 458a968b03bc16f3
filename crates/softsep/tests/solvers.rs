//! Runs with another solver of mixed-integer programs end as those with HiGHS do: by the stand-in of softsep-lp, which
//! `cargo test --workspace` builds, and by Gurobi where one is found with a licence.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use softsep::methods::{BranchAndCutSettings, ExtensiveSettings, GenerationSettings, MethodSettings};
use softsep::run::Stop;
use softsep::testing::{Recipe, Size, random_problem};
use softsep::{Error, Problem, SeparationKind, Settings, Solver, Status, solve};
use softsep_paper::instances::{LocationTransportation, Uncertain, location_transportation};

fn stand_in() -> Solver {
    let name = format!("{}gurobi_stand_in{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let folder: PathBuf = std::env::current_exe().unwrap().ancestors().nth(2).unwrap().join("examples");
    Solver::Gurobi { library: Some(folder.join(name)) }
}

/// The solvers that can be used; the others are skipped by name.
fn solvers(test: &str) -> Vec<Solver> {
    let tiny = Problem::new(&random_problem(&Recipe { integers: true, set: "box", ..Recipe::default() }, 1)).unwrap();
    [stand_in(), Solver::Gurobi { library: None }]
        .into_iter()
        .filter(|solver| match solve(&tiny, &Settings::default().solver(solver.clone())) {
            Err(Error::Settings(why)) => {
                println!("{test}: skipped: {why}");
                false
            }
            _ => true,
        })
        .collect()
}

fn methods() -> Vec<MethodSettings> {
    let ccg = |separation| MethodSettings::Ccg(GenerationSettings::default().with_separation(separation));
    let mut multi = BranchAndCutSettings::default();
    multi.tree = softsep::methods::TreeKind::Multi;
    vec![
        ccg(SeparationKind::Auto),
        ccg(SeparationKind::Bilinear),
        ccg(SeparationKind::Kkt),
        MethodSettings::Benders(GenerationSettings::default()),
        ExtensiveSettings::default().into(),
        multi.into(),
    ]
}

#[test]
fn integer_problems_have_the_same_optimum_by_all_solvers() {
    let solvers = solvers("integer_problems_have_the_same_optimum_by_all_solvers");
    let mut compared = 0;
    for seed in 0..16 {
        let recipe = Recipe {
            set: ["scenarios", "box", "budget", "polyhedron"][seed as usize % 4],
            integers: true,
            incomplete: seed % 5 == 0,
            size: if seed % 2 == 0 { Size::Small } else { Size::Medium },
            ..Recipe::default()
        };
        let problem = Problem::new(&random_problem(&recipe, seed)).unwrap();
        for method in methods() {
            let exact = Settings::default().method(method.clone()).gap(1e-6).certify(softsep::Certify::Exact);
            // Not every method takes every set.
            let Ok(wanted) = solve(&problem, &exact) else { continue };
            for solver in &solvers {
                let outcome = solve(&problem, &exact.clone().solver(solver.clone())).unwrap();
                let context = format!("{seed}, {method}, {solver}: {outcome:?}, not {wanted:?}");
                assert_eq!(outcome.status, wanted.status, "{context}");
                if wanted.status == Status::Optimal {
                    let (upper, optimum) = (outcome.bounds.upper().unwrap(), wanted.bounds.upper().unwrap());
                    assert!((upper - optimum).abs() <= 3e-6 * optimum.abs().max(1.0), "{context}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared >= 40 * solvers.len(), "{compared}");
}

#[test]
fn limits_are_kept_within_two_seconds() {
    let uncertainty = Uncertain::Budget { gamma: 0.4 };
    let family = LocationTransportation { n: 25, uncertainty, mixed_integer: true, seed: 1 };
    let problem = Problem::new(&location_transportation(&family).unwrap()).unwrap();
    for solver in solvers("limits_are_kept_within_two_seconds") {
        let ccg = GenerationSettings::default().with_separation(SeparationKind::Bilinear);
        let settings = Settings::default().method(MethodSettings::Ccg(ccg)).gap(1e-9).solver(solver.clone());
        let begin = Instant::now();
        let outcome = solve(&problem, &settings.clone().time_limit(Duration::from_secs(1))).unwrap();
        let late = begin.elapsed().saturating_sub(Duration::from_secs(1));
        // A program beyond a small licence ends the run too.
        assert!(matches!(outcome.stop, Stop::TimeLimit | Stop::Failed), "{solver}: {outcome:?}");
        assert!(late < Duration::from_secs(2), "{solver}: {late:?}");
        let interrupt = Arc::new(AtomicBool::new(false));
        let raise = Arc::clone(&interrupt);
        let raised = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(700));
            raise.store(true, Ordering::Relaxed);
            Instant::now()
        });
        let outcome = softsep::solve_with(&problem, &settings, &mut softsep::run::Silent, &interrupt).unwrap();
        let late = raised.join().unwrap().elapsed();
        assert!(matches!(outcome.stop, Stop::Interrupted | Stop::Failed), "{solver}: {outcome:?}");
        assert!(late < Duration::from_secs(2), "{solver}: {late:?}");
    }
}

#[test]
fn a_program_beyond_the_licence_ends_the_run_with_what_is_known() {
    for solver in solvers("a_program_beyond_the_licence_ends_the_run_with_what_is_known") {
        if solver != stand_in() {
            continue;
        }
        let uncertainty = Uncertain::Budget { gamma: 0.2 };
        let family = LocationTransportation { n: 46, uncertainty, mixed_integer: true, seed: 1 };
        let problem = Problem::new(&location_transportation(&family).unwrap()).unwrap();
        let ccg = MethodSettings::Ccg(GenerationSettings::default());
        let outcome = solve(&problem, &Settings::default().method(ccg).solver(solver)).unwrap();
        assert_eq!(outcome.stop, Stop::Failed);
        let line = outcome.failure.unwrap().to_string();
        assert!(line.starts_with("the licence of Gurobi is limited in size"), "{line}");
    }
}
