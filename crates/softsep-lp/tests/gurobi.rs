//! Mixed-integer programs by Gurobi: the stand-in of `examples/gurobi_stand_in.rs` everywhere, and the real library
//! where one is found with a licence.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use softsep_lp::{Gurobi, GurobiError, LpError, Mip, MipSolver, Model, Status};

fn stand_in_file() -> PathBuf {
    let name = format!("{}gurobi_stand_in{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    std::env::current_exe().unwrap().ancestors().nth(2).unwrap().join("examples").join(name)
}

fn stand_in() -> MipSolver {
    let file = stand_in_file();
    assert!(file.is_file(), "first: cargo build --release -p softsep-lp --example gurobi_stand_in");
    MipSolver::Gurobi(Gurobi::open(&file).unwrap())
}

/// The stand-in, and Gurobi where it can be used.
fn solvers(test: &str) -> Vec<MipSolver> {
    let mut solvers = vec![stand_in()];
    match Gurobi::find() {
        Ok(gurobi) => solvers.push(MipSolver::Gurobi(gurobi)),
        Err(error) => println!("{test}: skipped with the real Gurobi: {error}"),
    }
    solvers
}

/// Integers from 0 on that look random.
struct Draws(u64);

impl Draws {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn within(&mut self, least: i64, most: i64) -> f64 {
        (least + self.below((most - least + 1) as u64) as i64) as f64
    }
}

/// A small program with integers, and rows of all kinds; most are feasible.
fn random_program(seed: u64) -> Model {
    let mut draws = Draws(seed);
    let mut model = Model::new();
    model.set_offset(draws.within(-5, 5));
    let cols = 3 + draws.below(6) as usize;
    for col in 0..cols {
        let (cost, lower) = (draws.within(-9, 9), draws.within(-4, 0));
        let upper = lower + draws.within(1, 8);
        if col == 0 || draws.below(2) == 0 {
            model.add_integer(cost, lower, upper);
        } else {
            model.add_col(cost, lower, upper);
        }
    }
    for _ in 0..2 + draws.below(5) {
        let terms: Vec<(usize, f64)> = (0..cols).map(|col| (col, draws.within(-3, 5))).collect();
        let side = draws.within(-6, 12);
        let (lower, upper) = match draws.below(5) {
            0 => (side, side + draws.within(1, 9)),
            1 => (side, f64::INFINITY),
            2 if draws.below(3) == 0 => (side, side),
            3 => (f64::NEG_INFINITY, f64::INFINITY),
            _ => (f64::NEG_INFINITY, side),
        };
        model.add_row(lower, upper, &terms);
    }
    model
}

/// A multidimensional knapsack that takes far longer than any test waits.
fn long_program() -> Model {
    let mut model = Model::new();
    let mut draws = Draws(1);
    for _ in 0..300 {
        model.add_integer(-draws.within(400, 500), 0.0, 1.0);
    }
    for _ in 0..40 {
        let terms: Vec<(usize, f64)> = (0..300).map(|col| (col, draws.within(200, 900))).collect();
        model.add_row(f64::NEG_INFINITY, 41_000.5, &terms);
    }
    model
}

fn solve(model: &Model, solver: &MipSolver) -> (Status, Mip) {
    let mut mip = Mip::new(model, solver).unwrap();
    mip.set_mip_gap(0.0).unwrap();
    let status = mip.solve().unwrap();
    (status, mip)
}

#[test]
fn random_programs_have_the_same_optimum_by_all_solvers() {
    let solvers = solvers("random_programs_have_the_same_optimum_by_all_solvers");
    let mut optima = 0;
    for seed in 0..150 {
        let model = random_program(seed);
        let (wanted, highs) = solve(&model, &MipSolver::Highs);
        for solver in &solvers {
            let (status, mip) = solve(&model, solver);
            if wanted != Status::Optimal {
                let is_none = matches!(status, Status::Infeasible | Status::InfeasibleOrUnbounded);
                assert!(is_none && !mip.has_feasible_point() && mip.dual_bound().is_none(), "{solver:?}, {seed}");
                continue;
            }
            optima += 1;
            assert_eq!(status, Status::Optimal, "{solver:?}, {seed}");
            let close = |value: f64| (value - highs.objective()).abs() <= 1e-6 * highs.objective().abs().max(1.0);
            assert!(close(mip.objective()) && mip.dual_bound().is_some_and(close), "{solver:?}, {seed}: {mip:?}");
            let mut point = vec![0.0; model.cols()];
            mip.primal(&mut point).unwrap();
            assert!(model.row_violation(&point) <= 1e-6 && mip.primal(&mut point[1..]).is_err());
        }
    }
    assert!(optima >= 80 * solvers.len(), "{optima}");
}

#[test]
fn costs_change_and_programs_are_solved_again_without_presolve() {
    for solver in solvers("costs_change_and_programs_are_solved_again_without_presolve") {
        let mut model = Model::new();
        let [x, y] = [0, 1].map(|_| model.add_integer(-1.0, 0.0, 5.0));
        model.add_row(f64::NEG_INFINITY, 7.5, &[(x, 2.0), (y, 1.0)]);
        let (status, mut mip) = solve(&model, &solver);
        assert_eq!((status, mip.objective()), (Status::Optimal, -6.0));
        mip.set_costs(&[-3.0, -1.0]).unwrap();
        mip.set_start_point(&[1.0, 5.0]).unwrap();
        assert_eq!((mip.solve().unwrap(), mip.objective()), (Status::Optimal, -10.0));
        mip.restart_without_presolve().unwrap();
        mip.set_partial_start(&[(x, 3.0), (y, 1.0)]).unwrap();
        mip.set_integrality(1e-12).unwrap();
        assert_eq!((mip.solve().unwrap(), mip.objective(), mip.dual_bound()), (Status::Optimal, -10.0, Some(-10.0)));
        assert!(mip.set_costs(&[1.0]).is_err() && mip.set_partial_start(&[(2, 1.0)]).is_err());
    }
}

#[test]
fn time_limits_and_interrupts_are_heard_within_two_seconds() {
    for solver in solvers("time_limits_and_interrupts_are_heard_within_two_seconds") {
        let model = long_program();
        let mut mip = Mip::new(&model, &solver).unwrap();
        mip.set_mip_gap(0.0).unwrap();
        mip.set_time_limit(Some(Duration::from_millis(300))).unwrap();
        let begin = Instant::now();
        assert_eq!(mip.solve().unwrap(), Status::TimeLimit, "{solver:?}");
        assert!(begin.elapsed() < Duration::from_millis(2300), "{solver:?}: {:?}", begin.elapsed());

        let flag = Arc::new(AtomicBool::new(false));
        mip.set_time_limit(None).unwrap();
        mip.set_interrupt(Arc::clone(&flag)).unwrap();
        let raise = Arc::clone(&flag);
        let raised = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            raise.store(true, Ordering::Relaxed);
            Instant::now()
        });
        assert_eq!(mip.solve().unwrap(), Status::Interrupted, "{solver:?}");
        let late = raised.join().unwrap().elapsed();
        assert!(late < Duration::from_secs(2), "{solver:?}: {late:?}");
        let has_both = mip.has_feasible_point() && mip.dual_bound().is_some();
        assert!(!has_both || mip.dual_bound().unwrap() <= mip.objective(), "{solver:?}");
    }
}

#[test]
fn programs_in_several_threads_have_an_environment_each() {
    for solver in solvers("programs_in_several_threads_have_an_environment_each") {
        let handles = [0, 1, 2].map(|seed| {
            let solver = solver.clone();
            std::thread::spawn(move || {
                (0..20).map(|at| solve(&random_program(100 * seed + at), &solver).0).collect::<Vec<_>>()
            })
        });
        for (seed, handle) in handles.into_iter().enumerate() {
            let alone: Vec<Status> =
                (0..20).map(|at| solve(&random_program(100 * seed as u64 + at), &solver).0).collect();
            assert_eq!(handle.join().unwrap(), alone);
        }
    }
}

#[test]
fn wrong_answers_are_failures_and_unknown_codes_errors() {
    let model = random_program(0);
    let with_seed = |seed: u64| {
        let mut mip = Mip::new(&model, &stand_in()).unwrap();
        mip.set_seed(seed).unwrap();
        (mip.solve(), mip)
    };
    assert_eq!(with_seed(1).0, Ok(Status::Optimal));
    assert_eq!(with_seed(99).0, Err(LpError::Gurobi(GurobiError::UnknownStatus(77))));
    // A point that violates integrality, and a bound above the objective.
    for seed in [98, 97] {
        let (status, mip) = with_seed(seed);
        assert_eq!((status, mip.dual_bound()), (Ok(Status::Failed), None), "{seed}");
    }
    let error = with_seed(96).0.unwrap_err();
    assert_eq!(error.to_string(), "Gurobi answered GRBoptimize with error 10014: Numerical trouble encountered");
}

#[test]
fn programs_beyond_the_licence_and_quadratic_costs_are_refused() {
    let mut large = Model::new();
    (0..2001).for_each(|_| _ = large.add_integer(1.0, 0.0, 1.0));
    let error = Mip::new(&large, &stand_in()).unwrap().solve().unwrap_err();
    assert_eq!(error, LpError::Gurobi(GurobiError::TooLarge { cols: 2001, rows: 0 }));
    let mut quadratic = Model::new();
    let x = quadratic.add_integer(1.0, 0.0, 1.0);
    quadratic.add_quadratic(x, x, 1.0);
    assert_eq!(Mip::new(&quadratic, &stand_in()).unwrap_err(), LpError::Gurobi(GurobiError::Quadratic));
}

#[test]
fn programs_without_integers_stay_with_highs() {
    let mut model = Model::new();
    (0..2001).for_each(|_| _ = model.add_col(1.0, 1.0, 2.0));
    let (status, mip) = solve(&model, &stand_in());
    assert_eq!((status, mip.objective()), (Status::Optimal, 2001.0));
}

#[test]
fn files_that_are_no_gurobi_library_are_told_from_absent_ones() {
    let error = Gurobi::open(&PathBuf::from("nowhere.so")).unwrap_err();
    assert!(matches!(error, GurobiError::NotLoaded { .. }), "{error}");
    let error = Gurobi::open(&std::env::temp_dir().join("")).unwrap_err();
    assert!(matches!(error, GurobiError::NotInFolder { .. }), "{error}");
    let error = Gurobi::open(&std::env::current_exe().unwrap()).unwrap_err();
    assert!(matches!(error, GurobiError::NotLoaded { .. }), "{error}");
    assert_eq!(Gurobi::open(&stand_in_file()).unwrap().version(), "13.0.0");
}
