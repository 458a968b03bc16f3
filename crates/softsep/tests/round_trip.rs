//! What is written reads back as the same: problems, scenarios, results; and what programs build is checked like a
//! file.
#![allow(clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

use softsep::definition::{Row, ScenarioList, Variable};
use softsep::internals::format::{load, load_text, read_decision, write};
use softsep::report::{CertificateFile, InfeasibleFile, NamedValues, ResultFile, WorstCaseFile};
use softsep::run::{Assumption, Certificate, Source, Stage, Stop, ViolationLevel};
use softsep::uncertainty::SetDefinition;
use softsep::{Problem, ProblemDefinition, Status};

fn good_files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/good");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the files are there")
        .map(|entry| entry.expect("they can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    assert!(files.len() >= 7);
    files
}

fn depot() -> ProblemDefinition {
    load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/good/depot.json")).expect("it can be read").definition
}

#[test]
fn what_is_written_reads_back_equal() {
    for path in good_files() {
        let loaded = load(&path).unwrap_or_else(|error| panic!("{error}"));
        assert!(loaded.complaints.is_empty(), "{}", loaded.complaints);
        let text = write(&loaded.definition).expect("it is data");
        let folder = path.parent().expect("it is in a folder");
        let again = load_text(&text, "again.json", folder).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert!(again.complaints.is_empty(), "{}\n{text}", again.complaints);
        assert_eq!(again.definition, loaded.definition, "{text}");
    }
}

#[test]
fn a_problem_describes_itself() {
    for path in good_files() {
        let problem = softsep::read(&path).unwrap_or_else(|error| panic!("{error}"));
        let file = problem.definition();
        let again = Problem::new(&file).unwrap_or_else(|complaints| panic!("{}: {complaints}", path.display()));
        assert_eq!((&again.first, &again.recourse, &again.names), (&problem.first, &problem.recourse, &problem.names));
        assert_eq!(again.definition(), file);
    }
}

#[test]
fn the_writing_is_for_people() {
    let expected = r#"{
  "format": "aro/1",
  "name": "one depot, one customer",
  "first_stage": {
    "variables": [
      {"name": "open", "cost": 400, "type": "binary"},
      {"name": "capacity", "cost": 18, "upper": 800}
    ],
    "constraints": [
      {"name": "link", "x": {"capacity": 1, "open": -800}, "upper": 0}
    ]
  },
  "uncertainty": {
    "parameters": ["g"],
    "set": {"kind": "box",
      "lower": [0],
      "upper": [1]}
  },
  "recourse": {
    "variables": [
      {"name": "ship", "cost": 22},
      {"name": "emergency", "cost": 150}
    ],
    "constraints": [
      {"name": "supply", "y": {"ship": -1}, "x": {"capacity": 1}, "lower": 0},
      {"name": "demand", "y": {"ship": 1, "emergency": 1}, "xi": {"g": -40}, "lower": 206}
    ]
  }
}
"#;
    assert_eq!(write(&depot()).as_deref(), Ok(expected));
}

#[test]
fn columns_of_a_scenario_file_are_matched_by_name() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/good/scenario_file.json");
    let loaded = load(&path).expect("it can be read");
    let points = ScenarioList::from_flat(2, 2, vec![2.5, 1.0, 0.4, -3.0]).expect("two rows of two");
    assert_eq!(
        loaded.definition.uncertainty.set,
        SetDefinition::Scenarios { points, file: Some("scenario_file.csv".to_owned()), drawn_from: None }
    );
}

/// What is wrong with the depot after `spoil`.
fn faults(spoil: impl FnOnce(&mut ProblemDefinition)) -> String {
    let mut file = depot();
    spoil(&mut file);
    Problem::new(&file).expect_err("it is spoilt").to_string()
}

#[test]
fn what_a_program_builds_is_checked_like_a_file() {
    for (found, expected) in [
        (
            faults(|file| file.first_stage.variables[1].cost = f64::NAN),
            r#"first_stage.variables[1] "capacity": "cost" is NaN, which is not a finite number"#,
        ),
        (
            faults(|file| file.first_stage.variables[1].lower = f64::INFINITY),
            r#"first_stage.variables[1] "capacity": "lower" is inf, which bounds nothing"#,
        ),
        (
            faults(|file| file.recourse.constraints[1].upper = f64::NAN),
            r#"recourse.constraints[1] "demand": "upper" is NaN, which bounds nothing"#,
        ),
        (
            faults(|file| file.recourse.constraints[1].y.push(("ship".to_owned(), 1.0))),
            r#"recourse.constraints[1] "demand": "y" names "ship" twice"#,
        ),
        (
            faults(|file| file.recourse.constraints[1].y[0].1 = f64::INFINITY),
            "recourse.constraints[1] \"demand\": the coefficient of \"ship\" in \"y\" is inf, which is not a finite \
             number",
        ),
        (
            faults(|file| file.recourse.variables.push(Variable::new("", 1.0))),
            "recourse.variables[2]: the name must not be empty",
        ),
        (
            faults(|file| file.recourse.variables.push(Variable::binary("b", 1.0))),
            r#"recourse.variables[2] "b": recourse variables are continuous; "type" is for the first stage only"#,
        ),
        (
            faults(|file| file.first_stage.variables[0].cost_xi = vec![("g".to_owned(), 1.0)]),
            r#"first_stage.variables[0] "open": "cost_xi" is for recourse variables only"#,
        ),
        (
            faults(|file| {
                file.first_stage.constraints.push(Row { xi: vec![("g".to_owned(), 1.0)], lower: 0.0, ..Row::new("r") });
            }),
            r#"first_stage.constraints[1] "r": a first-stage row has "x" terms and bounds only"#,
        ),
        (
            faults(|file| file.uncertainty.set = SetDefinition::Box { lower: vec![f64::NAN], upper: vec![1.0] }),
            "uncertainty.set: holds a NaN, which is not a number",
        ),
        (
            faults(|file| file.first_stage.constant = f64::NEG_INFINITY),
            r#"first_stage: "constant" is -inf, which is not a finite number"#,
        ),
    ] {
        assert_eq!(found, expected);
    }
}

#[test]
fn very_many_unknown_names_are_complained_about_in_good_time() {
    let mut file = depot();
    file.first_stage.variables.extend((0..20_000).map(|i| Variable::new(format!("long_name_of_a_variable_{i}"), 1.0)));
    file.first_stage.constraints[0].x = (0..20_000).map(|i| (format!("long_name_of_variable_{i}"), 1.0)).collect();
    let complaints = Problem::new(&file).expect_err("no name is known");
    assert_eq!(complaints.len(), 20_000);
}

#[test]
fn decisions_come_from_results_and_plain_objects() {
    let problem = Problem::new(&depot()).expect("it is right");
    let plain = read_decision(r#"{"capacity": 246, "open": 1}"#).expect("it is plain");
    assert_eq!(problem.decision(&plain).expect("it is whole"), [1.0, 246.0]);
    let result =
        read_decision(r#"{"format": "aro-result/1", "x": {"open": 0, "capacity": 2.5}}"#).expect("it is a result");
    assert_eq!(problem.decision(&result).expect("it is whole"), [0.0, 2.5]);

    for (text, expected) in [
        (r#"[1, 2]"#, "must be an object of names and numbers, not a list (line 1, column 1)"),
        (r#"{"open": "1"}"#, r#""open" must be a number, not a string (line 1, column 10)"#),
        (r#"{"open": NaN}"#, r#""open" is NaN (line 1, column 10), which is not a finite number"#),
        (r#"{"open": 1, "open": 2}"#, r#"key "open" is repeated in line 1, column 13 (first in line 1, column 2)"#),
        (r#"{"format": "aro-result/1", "status": "infeasible"}"#, r#"this result holds no decision: "x" is missing"#),
        (r#"{"format": "aro/1"}"#, r#"this is neither a result ("aro-result/1") nor an object of names and numbers"#),
    ] {
        assert_eq!(read_decision(text).expect_err("it is wrong").to_string(), expected);
    }
    let wrong =
        problem.decision(&[("opne".to_owned(), 1.0), ("capacity".to_owned(), f64::NAN)]).expect_err("it is wrong");
    let expected = "the decision names \"opne\", which is not a first-stage variable (did you mean \"open\"?)\n\
                    \"capacity\": the value is NaN, which is not a finite number\n\
                    the decision has no value for \"open\"";
    assert_eq!(wrong.to_string(), expected);
}

#[test]
fn results_read_back_equal_with_their_keys_in_order() {
    let example = r#"{
  "format": "aro-result/1",
  "status": "optimal", "stop": "gap",
  "objective": 33680.0, "lower_bound": 33680.0, "upper_bound": 33680.0, "gap": 0.0,
  "certificate": {"kind": "deterministic"},
  "x": {"open": 1, "capacity": 246},
  "worst_case": {"xi": {"g": 1}, "recourse_cost": 5412.0, "y": {"ship": 246}},
  "method": "ccg", "seed": 1, "iterations": 3, "recourse_solves": 12, "seconds": 0.02, "version": "0.1.0"
}"#;
    let result = ResultFile::read(example).expect("it is the format's own example");
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    let expected =
        example.replace("\"open\": 1", "\"open\": 1.0").replace("246", "246.0").replace("\"g\": 1", "\"g\": 1.0");
    assert_eq!(squeezed(&result.write()), squeezed(&expected));

    let full = ResultFile {
        lower_bound: Some(1.5),
        certificate: Some(CertificateFile {
            kind: Certificate::Probabilistic,
            confidence: Some(0.95),
            assumes: vec![Assumption { name: "rho".to_owned(), value: 0.9, source: Source::Estimated }],
            violation: Some(ViolationLevel { level: 1e-3, confidence: 0.99, measure: "uniform".to_owned() }),
        }),
        worst_case: Some(WorstCaseFile { xi: NamedValues::default(), recourse_cost: 1.0, y: None }),
        infeasible: Some(InfeasibleFile {
            stage: Stage::Recourse,
            xi: vec![NamedValues(vec![("b".to_owned(), 2.0), ("a".to_owned(), 1.0)])],
            rows: vec!["demand".to_owned()],
            why: "demand is above every supply".to_owned(),
        }),
        unbounded: Some(vec!["ship".to_owned()]),
        ..ResultFile::new(Status::Unknown, Stop::TimeLimit, "sgd", 7)
    };
    let text = full.write();
    assert!(
        text.contains("\"upper_bound\": null") && text.contains("\"gap\": null") && !text.contains("objective"),
        "{text}"
    );
    assert_eq!(ResultFile::read(&text).expect("it was just written"), full);

    let other = ResultFile::read(&text.replace("aro-result/1", "aro-result/2")).expect_err("it is another format");
    assert_eq!(other.to_string(), "line 2, column 26: unknown variant `aro-result/2`, expected `aro-result/1`");
}
