//! What cannot be used is refused: exit code 2, and one line that names the file, the place and what would be right.
#![allow(clippy::unwrap_used)]

mod common;

use common::{DEPOT, TestFolder};

#[test]
fn files_that_are_no_problems_are_refused() {
    let folder = TestFolder::empty();
    folder.put("text.json", "not json");
    for command in ["solve", "check"] {
        folder.run(&format!("{command} nope.json")).refused(&["nope.json: there is no such file"]);
        folder.run(&format!("{command} text.json")).refused(&["text.json: "]);
    }
}

#[test]
fn every_mistake_has_its_line() {
    let folder = TestFolder::empty();
    let mistakes = [
        ("\"g\": -40", "\"gg\": -40", "recourse.constraints[1] \"demand\""),
        ("\"upper\": 800", "\"upper\": -1", "first_stage.variables[1] \"capacity\""),
        (", \"lower\": 0}", "}", "recourse.constraints[0] \"supply\""),
        ("\"cost\": 22", "\"costs\": 22", "recourse.variables[0]"),
        ("\"lower\": [0]", "\"lower\": [2]", "uncertainty.set"),
    ];
    let wrong = mistakes.iter().fold(DEPOT.to_owned(), |text, (right, wrong, _)| text.replace(right, wrong));
    folder.put("wrong.json", &wrong);
    let checked = folder.run("check wrong.json");
    assert_eq!((checked.code, checked.stdout.as_str()), (Some(2), ""), "{checked:?}");
    let lines: Vec<&str> = checked.stderr.lines().collect();
    assert_eq!(lines.len(), mistakes.len(), "{checked:?}");
    for (_, _, place) in mistakes {
        let at = |line: &&&str| line.starts_with(&format!("error: wrong.json: {place}"));
        assert_eq!(lines.iter().filter(at).count(), 1, "{place} in {checked:?}");
    }
    let as_json = folder.run("check wrong.json --json");
    assert_eq!(as_json.code, Some(2));
    assert_eq!(as_json.json()["valid"], false);
    assert_eq!(as_json.json()["faults"].as_array().unwrap().len(), lines.len());
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let folder = TestFolder::with_depot();
    for wrong in [
        "--gap -1",
        "--gap nan",
        "--gap inf",
        "--time-limit 0",
        "--time-limit -1",
        "--time-limit 1e-30",
        "--time-limit inf",
        "--time-limit 1e300",
        "--threads 0",
        "--threads 1000000",
        "--iterations 0",
        "--confidence 1",
        "--certify maybe",
        "--method nope",
        "--what",
    ] {
        folder.run(&format!("solve depot.json {wrong}")).refused(&[wrong.split(' ').next().unwrap()]);
    }
    assert_eq!(folder.run("").code, Some(2));
}

#[test]
fn mistakes_on_the_command_line_are_one_line_that_says_what_is_right() {
    let folder = TestFolder::with_depot();
    for (wrong, right) in [
        ("solve depot.json --seed -1", "the seed is an integer from 0"),
        ("solve depot.json --iterations -1", "the number of iterations is an integer from 1 on"),
        ("solve depot.json --threads -1", "the number of threads is an integer from 1 to 1024"),
        ("solve depot.json --time-limit 1e300", "leave the option out for no limit"),
        ("solve depot.json --method nope", "[possible values: "),
        ("solve depot.json --gapp 1", "'--gap'"),
        ("solve depot.json --quiet --verbose", "cannot be used with"),
        ("solve depot.json --method extensive --max-copies 1.5", "--max-copies: 1.5 is not an integer"),
        ("solve", "<PROBLEM>"),
        ("evaluate depot.json", "--x <FILE>"),
        ("sove depot.json", "'solve'"),
        ("generate location-transportation --n 1.5", "integer from 1 to 1000"),
        ("generate energy --n 1", "the smallest instance has n = 2"),
        ("generate network --n 1", "the smallest instance has n = 2"),
        ("generate inventory --n 3 --mixed-integer", "--mixed-integer"),
        ("generate location-transportation --n 2 --uncertainty scenarios --scenarios -1", "integer from 1 to"),
    ] {
        folder.run(wrong).refused(&[right]);
    }
    for right in ["--help", "--version", "solve --help"] {
        let ended = folder.run(right);
        assert!(ended.done().starts_with(if right == "--version" { "softsep " } else { "Solve " }), "{ended:?}");
    }
}

#[test]
fn numbers_that_solvers_refuse_are_mistakes_of_the_file() {
    let folder = TestFolder::empty();
    folder.put("box.json", &DEPOT.replace("\"upper\": [1]", "\"upper\": [1e21]"));
    folder.run("solve box.json").refused(&["box.json: uncertainty.set: \"upper\" of \"g\" is 1e21, and solvers"]);
    let list = r#"{"kind": "scenarios", "file": "list.csv"}"#;
    folder.put("csv.json", &DEPOT.replace(r#"{"kind": "box", "lower": [0], "upper": [1]}"#, list));
    folder.put("list.csv", "g\n1\n1e308\n");
    folder.run("solve csv.json").refused(&["csv.json: uncertainty.set.file \"list.csv\": scenario 2", "1e308"]);
}

#[test]
fn names_cannot_command_the_terminal() {
    let folder = TestFolder::empty();
    folder.put("name.json", &DEPOT.replace("one depot, one customer", "red\\u001b[31m\\nalert"));
    let ended = folder.run("check name.json");
    assert!(ended.done().starts_with("problem      red\\u{1b}[31m\\nalert\n"), "{ended:?}");
}

#[test]
fn options_of_another_method_are_refused() {
    let folder = TestFolder::with_depot();
    folder.run("solve depot.json --max-copies 10").refused(&["--max-copies", "--method extensive"]);
    folder.run("solve depot.json --method extensive --max-copies 10").done();
    folder.run("solve depot.json --method extensive --max-copies 1").refused(&["depot.json", "--max-copies"]);
    for wrong in ["0", "-3", "many", "1.5"] {
        folder.run(&format!("solve depot.json --method extensive --max-copies {wrong}")).refused(&["--max-copies: "]);
    }
}

#[test]
fn certificates_that_make_no_sense_are_refused() {
    let folder = TestFolder::with_depot();
    for stray in ["--confidence 0.9", "--violation 0.01", "--assume rho=0.9"] {
        for certify in ["", " --certify exact", " --certify none"] {
            let flag = stray.split(' ').next().unwrap();
            folder
                .run(&format!("solve depot.json {stray}{certify}"))
                .refused(&[flag, "goes with --certify probabilistic"]);
        }
    }
    for (wrong, said) in [
        ("--confidence 1", "the confidence is a number between 0 and 1"),
        ("--violation 0", "the level is a share between 0 and 1"),
        ("--violation -1", "the level is a share between 0 and 1"),
        ("--assume rho", "a constant is written as rho=NUMBER"),
        ("--assume rho=much", "a constant is written as rho=NUMBER"),
        ("--assume gap=1", "a constant is written as rho=NUMBER"),
        ("--assume rho=1", "--assume: rho must be between 0 and 1, both excluded, not 1"),
        ("--assume eta=0.5", "eta and lipschitz go with margin"),
        ("--assume lipschitz=3", "eta and lipschitz go with margin"),
        (
            "--assume lipschitz=-1 --assume margin=3",
            "the Lipschitz constant must be a number that is not negative, not -1",
        ),
        ("--assume eta=1 --assume margin=3", "eta must be at least 0 and below 1, not 1"),
        ("--assume eta=0.5 --assume margin=0", "the margin must be a positive number, not 0"),
        ("--assume rho=0.5 --assume rho=0.6", "each constant can be given once"),
        ("--assume rho=0.5 --assume eta=0.6", "rho stands alone"),
    ] {
        folder.run(&format!("solve depot.json --certify probabilistic {wrong}")).refused(&[said]);
    }
    folder.run("solve depot.json --certify probabilistic").done();
    folder.run("solve depot.json --certify exact").done();
}

#[test]
fn a_file_is_not_used_twice() {
    let folder = TestFolder::with_depot();
    folder.run("solve depot.json --out ./depot.json").refused(&["./depot.json"]);
    folder.run("solve depot.json --log depot.json").refused(&["depot.json"]);
    folder.run("solve depot.json --log both --out ./both").refused(&["./both"]);
    folder.run("solve depot.json --trace ./depot.json").refused(&["./depot.json"]);
    folder.run("solve depot.json --trace both --out ./both").refused(&["./both"]);
    folder.run("solve depot.json --log both --trace ./both").refused(&["./both"]);
    folder.run("solve depot.json --trace -").refused(&["--trace", "name a file"]);
    folder.run("solve depot.json --trace nowhere/run.csv").refused(&["nowhere/run.csv", "cannot be written"]);
    folder.run("solve depot.json --out nowhere/result.json").refused(&["nowhere/result.json", "cannot be written"]);
    folder.run("solve depot.json --out .").refused(&["file"]);
    assert_eq!(folder.text("depot.json"), DEPOT);
    assert_eq!(folder.names(), ["depot.json"]);
}

#[test]
fn decisions_must_fit_the_problem() {
    let folder = TestFolder::with_depot();
    folder.put("x.json", r#"{"open": 1, "capacty": 246}"#);
    let ended = folder.run("evaluate depot.json --x x.json");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(ended.stderr.lines().all(|line| line.starts_with("error: x.json: ")), "{ended:?}");
    assert!(ended.stderr.contains("did you mean \"capacity\"?"), "{ended:?}");
    folder.run("evaluate depot.json --x nope.json").refused(&["nope.json: there is no such file"]);
}

#[test]
fn instances_take_the_options_of_their_set_only() {
    let folder = TestFolder::empty();
    let family = "generate location-transportation --n 3";
    folder.run(&format!("{family} --gamma 0.5")).refused(&["--gamma", "budget"]);
    folder.run(&format!("{family} --scenarios 5")).refused(&["--scenarios", "--uncertainty scenarios"]);
    folder.run(&format!("{family} --uncertainty budget")).refused(&["--gamma"]);
    folder.run(&format!("{family} --uncertainty scenarios")).refused(&["--scenarios"]);
    folder.run(&format!("{family} --uncertainty scenarios --scenarios 4000000000")).refused(&["memory"]);
    assert_eq!(folder.run(&format!("{family} --uncertainty budget --gamma 1.5")).code, Some(2));
}
