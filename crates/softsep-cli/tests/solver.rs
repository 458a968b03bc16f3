//! `--solver`: HiGHS by default, Gurobi where it is found, one line where it cannot be used.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::PathBuf;

use common::TestFolder;

/// The stand-in of softsep-lp, which `cargo test --workspace` builds.
fn stand_in(test: &str) -> Option<PathBuf> {
    let name = format!("{}gurobi_stand_in{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let file = std::env::current_exe().unwrap().ancestors().nth(2).unwrap().join("examples").join(name);
    if !file.is_file() {
        println!("{test}: skipped: {} is not built", file.display());
    }
    file.is_file().then_some(file)
}

/// Makes a folder `gurobi` as of an installation with the stand-in.
fn install(folder: &TestFolder, library: &PathBuf) {
    let name = format!("{}gurobi130{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    std::fs::create_dir_all(folder.path("gurobi/lib")).unwrap();
    std::fs::copy(library, folder.path(&format!("gurobi/lib/{name}"))).unwrap();
}

#[test]
fn solvers_that_cannot_be_used_are_refused_in_one_line() {
    let folder = TestFolder::with_depot();
    folder.run("solve depot.json --solver cplex").refused(&["cplex", "highs, gurobi and gurobi:FILE"]);
    folder.run("solve depot.json --solver gurobi:no.so").refused(&["--solver gurobi:no.so: no.so cannot be loaded"]);
    std::fs::create_dir_all(folder.path("empty")).unwrap();
    folder.run("solve depot.json --solver gurobi:empty").refused(&["there is no Gurobi library in empty"]);
    let missing = folder.run_with("solve depot.json --solver gurobi", &[("GUROBI_HOME", "empty")]);
    if missing.code == Some(0) {
        println!("solvers_that_cannot_be_used_are_refused_in_one_line: skipped in part: there is a Gurobi here");
    } else if !missing.stderr.contains("licence") {
        missing.refused(&["--solver gurobi: no Gurobi library was found: GUROBI_HOME, empty, has none"]);
    }
}

#[test]
fn an_installation_is_found_and_solves_masters_and_separations() {
    let test = "an_installation_is_found_and_solves_masters_and_separations";
    let (folder, Some(library)) = (TestFolder::with_depot(), stand_in(test)) else { return };
    install(&folder, &library);
    for options in [
        "--method ccg --separation bilinear",
        "--method ccg --separation kkt",
        "--method extensive",
        "--method benders",
        "--method branch-and-cut --tree multi --certify exact",
    ] {
        let line = format!("solve depot.json --verbose {options} --solver");
        for solver in ["gurobi:gurobi", "gurobi"] {
            let solved = folder.run_with(&format!("{line} {solver}"), &[("GUROBI_HOME", "gurobi")]);
            assert!(solved.done().contains("objective    10240\n"), "{options}: {solved:?}");
            assert!(solved.stderr.contains("Gurobi 13.0.0 solves mixed-integer masters"), "{options}: {solved:?}");
        }
        let by_default = folder.run(&format!("{line} highs"));
        assert!(by_default.done().contains("objective    10240\n") && !by_default.stderr.contains("Gurobi"));
    }
    let refused = folder
        .run_with("solve depot.json --solver gurobi", &[("GUROBI_HOME", "gurobi"), ("STAND_IN_WITHOUT_LICENCE", "1")]);
    refused.refused(&["--solver gurobi: Gurobi 13.0.0 (gurobi/lib/", "has no licence: License expired 2020-01-01"]);
}

#[test]
fn reports_name_the_solver() {
    let (folder, Some(library)) = (TestFolder::with_depot(), stand_in("reports_name_the_solver")) else { return };
    install(&folder, &library);
    folder.run("solve depot.json --solver gurobi:gurobi --report page.html --quiet").done();
    assert!(folder.text("page.html").contains("--solver gurobi:gurobi"));
}
