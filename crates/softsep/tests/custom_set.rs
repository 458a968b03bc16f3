//! An uncertainty set and a method that a user of the crate implements: they work like any other, and no file can hold
//! the set.
#![allow(clippy::unwrap_used)]

use std::borrow::Cow;
use std::sync::Arc;

use softsep::cuts::WarmStart;
use softsep::definition::{Row, ScenarioList, Variable};
use softsep::internals::format;
use softsep::methods::Method;
use softsep::run::{Run, Stop};
use softsep::testing::check_set;
use softsep::uncertainty::{
    Count, Part, SetDefinition, SetError, Shape, StateSpec, States, TooMany, Uncertainty, UncertaintyDefinition,
};
use softsep::{
    Certify, Error, MethodSettings, Problem, ProblemDefinition, Settings, Status, Unsupported, WriteError, solve,
};

/// `ξ ≥ 0, Σξ ≤ 1`, with closed forms in place of the linear programs of a polyhedron. Shapes and states are those of
/// the equal polyhedron.
#[derive(Debug)]
struct Simplex {
    dim: usize,
    equal: Arc<dyn Uncertainty>,
}

fn names(dim: usize) -> Vec<String> {
    (1..=dim).map(|entry| format!("g{entry}")).collect()
}

/// The equal polyhedron over parameters of these names.
fn polyhedron(names: Vec<String>) -> SetDefinition {
    let dim = names.len();
    let mut sum = Row::new("sum");
    sum.xi = names.into_iter().map(|name| (name, 1.0)).collect();
    sum.upper = 1.0;
    SetDefinition::Polyhedron { lower: vec![0.0; dim], upper: vec![f64::INFINITY; dim], constraints: vec![sum] }
}

impl Simplex {
    fn new(dim: usize) -> Self {
        Self { dim, equal: polyhedron((0..dim).map(|entry| format!("ξ[{entry}]")).collect()).build().unwrap() }
    }
}

impl Uncertainty for Simplex {
    fn kind(&self) -> &'static str {
        "simplex"
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn contains(&self, xi: &[f64], tolerance: f64) -> bool {
        xi.iter().all(|entry| *entry >= -tolerance) && xi.iter().sum::<f64>() <= 1.0 + tolerance
    }

    fn support(&self, direction: &[f64], xi: &mut [f64]) -> Result<f64, SetError> {
        xi.fill(0.0);
        let best = (0..self.dim).max_by(|&a, &b| direction[a].total_cmp(&direction[b])).filter(|&e| direction[e] > 0.0);
        if let Some(best) = best {
            xi[best] = 1.0;
        }
        Ok(best.map_or(0.0, |best| direction[best]))
    }

    fn nominal(&self, xi: &mut [f64]) {
        xi.fill(1.0 / (self.dim + 1) as f64);
    }

    fn extremes(&self) -> Count {
        Count::Exactly(self.dim as u128 + 1)
    }

    fn enumerate(&self, limit: usize) -> Result<Cow<'_, ScenarioList>, TooMany> {
        if limit <= self.dim {
            return Err(TooMany { count: self.extremes(), limit });
        }
        let mut points = ScenarioList::new(self.dim);
        points.push(&vec![0.0; self.dim]);
        for entry in 0..self.dim {
            points.push(&(0..self.dim).map(|other| f64::from(u8::from(other == entry))).collect::<Vec<f64>>());
        }
        Ok(Cow::Owned(points))
    }

    fn shape(&self, part: &Part) -> Option<Shape> {
        self.equal.shape(part)
    }

    fn chord(&self, xi: &[f64], direction: &[f64]) -> (f64, f64) {
        self.equal.chord(xi, direction)
    }

    fn states(&self, reach: &StateSpec) -> Result<Box<dyn States + '_>, SetError> {
        self.equal.states(reach)
    }
}

/// Stock x for three demands of 10, 20 and 30 at most, of which the set allows one at a time in full.
fn stock(set: SetDefinition) -> ProblemDefinition {
    let mut definition = ProblemDefinition { name: "stock".into(), ..ProblemDefinition::default() };
    definition.uncertainty = UncertaintyDefinition { parameters: names(3), set };
    for (entry, parameter) in names(3).into_iter().enumerate() {
        let (stock, short) = (format!("stock{}", entry + 1), format!("short{}", entry + 1));
        definition.first_stage.variables.push(Variable::new(stock.clone(), 1.0));
        definition.recourse.variables.push(Variable::new(short.clone(), 2.0));
        definition.recourse.constraints.push(Row {
            x: vec![(stock, 1.0)],
            y: vec![(short, 1.0)],
            xi: vec![(parameter, -10.0 * (entry + 1) as f64)],
            lower: 0.0,
            ..Row::new(format!("cover{}", entry + 1))
        });
    }
    definition
}

#[test]
fn a_custom_set_keeps_the_contract_of_sets() {
    for dim in 1..=4 {
        check_set(&Simplex::new(dim), &names(dim), 7);
    }
}

#[test]
fn a_custom_set_is_solved_like_the_equal_polyhedron() {
    let custom = Problem::new(&stock(SetDefinition::Custom(Arc::new(Simplex::new(3))))).unwrap();
    let known = Problem::new(&stock(polyhedron(names(3)))).unwrap();
    for method in ["extensive", "ccg", "benders", "bundle", "auto"] {
        let settings = Settings { method: method.parse().unwrap(), gap: 1e-6, ..Settings::default() };
        let run = |problem| solve(problem, &settings).unwrap();
        let (custom, known) = (run(&custom), run(&known));
        assert_eq!((custom.status, known.status), (Status::Optimal, Status::Optimal), "{method}");
        let (found, expected) = (custom.bounds.upper().unwrap(), known.bounds.upper().unwrap());
        assert!((found - expected).abs() <= 1e-4, "{method}: {found} in place of {expected}");
    }
}

#[test]
fn a_definition_gives_its_custom_set_back_and_no_file_holds_it() {
    let definition = stock(SetDefinition::Custom(Arc::new(Simplex::new(3))));
    let problem = Problem::new(&definition).unwrap();
    assert_eq!(problem.definition(), definition);
    assert_ne!(definition, stock(SetDefinition::Custom(Arc::new(Simplex::new(3)))), "another object");
    let refused = format::write(&definition).unwrap_err();
    assert_eq!(refused, WriteError::CustomSet { kind: "simplex" });
    assert_eq!(
        refused.to_string(),
        "uncertainty.set: a set that a program implements (\"simplex\") cannot be written to a file"
    );
    let path = std::env::temp_dir().join("softsep_custom_set.json");
    assert_eq!(softsep::write(&problem, &path), Err(refused));
    assert!(!path.exists(), "nothing is left behind");
}

#[test]
fn the_dimension_of_a_custom_set_is_that_of_the_parameters() {
    let complaints = Problem::new(&stock(SetDefinition::Custom(Arc::new(Simplex::new(2))))).unwrap_err();
    assert_eq!(complaints.to_string(), "uncertainty.set: its members have 2 entries where 3 parameters are declared");
}

#[test]
fn a_problem_is_written_and_read_back() {
    let problem = Problem::new(&stock(polyhedron(names(3)))).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stock.json");
    softsep::write(&problem, &path).unwrap();
    assert_eq!(softsep::read(&path).unwrap().definition(), problem.definition());
    let nowhere = folder.path().join("no/such/folder.json");
    assert!(matches!(softsep::write(&problem, &nowhere), Err(WriteError::File { .. })));
}

/// A method of another crate: it decides when to give up, and leaves the rest to one of the crate's methods.
struct Limited(Arc<dyn Method>);

impl Method for Limited {
    fn name(&self) -> &'static str {
        "limited"
    }

    fn accepts(&self, problem: &Problem) -> Result<(), Unsupported> {
        self.0.accepts(problem)
    }

    fn plan(&self, problem: &Problem) -> String {
        self.0.plan(problem)
    }

    fn promise(&self, problem: &Problem) -> String {
        self.0.promise(problem)
    }

    fn solve(&self, problem: &Problem, certify: Certify, warm: &mut WarmStart, run: &mut Run) -> Result<Stop, Error> {
        run.say("handing on");
        self.0.solve(problem, certify, warm, run)
    }
}

#[test]
fn a_custom_method_is_run_like_any_other() {
    let problem = Problem::new(&stock(polyhedron(names(3)))).unwrap();
    let method = MethodSettings::custom(Limited(MethodSettings::named("ccg").unwrap().build()));
    assert_eq!((method.name(), method == method.clone()), ("limited", true));
    let outcome = solve(&problem, &Settings::default().method(method)).unwrap();
    assert_eq!((outcome.status, outcome.method), (Status::Optimal, "limited"));
    assert_eq!(outcome.value(&problem, "stock3"), outcome.x().map(|x| x[2]));
}
