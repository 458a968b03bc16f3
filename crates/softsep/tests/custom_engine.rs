//! A recourse engine that a user of the crate implements: a problem brings it along, and every method calls it.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use softsep::definition::{FirstStageDefinition, RecourseDefinition, Row, Variable, VariableKind};
use softsep::recourse::{
    Answer, EngineFactory, Recourse, RecourseBasis, RecourseError, RecourseOutcome, RecourseWork, built_in_engine,
    engine,
};
use softsep::run::Clock;
use softsep::testing::check_engine;
use softsep::uncertainty::UncertaintyDefinition;
use softsep::{
    CallLimits, Error, MethodSettings, Problem, ProblemDefinition, SetDefinition, Settings, Sides, evaluate, solve,
};

const SITES: usize = 4;
const ORDER_COST: [f64; SITES] = [2.0, 3.0, 2.5, 4.0];
const SHORT_COST: [f64; SITES] = [9.0, 7.0, 11.0, 8.0];
const LEFT_COST: [f64; SITES] = [1.0, 0.5, 2.0, 1.5];

/// A newsvendor at each of some sites: order x now; demand ξ is in a budget set; later a unit that is short costs more
/// than it did, and a unit left over is stored.
fn newsvendor(kind: VariableKind) -> Problem {
    with_rows_of(1.0, kind)
}

/// The same, with rows that state this share of the cost of a shortage.
fn with_rows_of(share: f64, kind: VariableKind) -> Problem {
    let names = |prefix: &str| -> Vec<String> { (0..SITES).map(|site| format!("{prefix}{site}")).collect() };
    let (orders, demands, shorts, lefts) = (names("order"), names("demand"), names("short"), names("left"));
    let mut first = FirstStageDefinition::default();
    let mut recourse = RecourseDefinition::default();
    for site in 0..SITES {
        let order = Variable::new(orders[site].clone(), ORDER_COST[site]).bounded(0.0, 60.0);
        first.variables.push(Variable { kind, ..order });
        recourse.variables.push(Variable::new(shorts[site].clone(), share * SHORT_COST[site]));
        recourse.variables.push(Variable::new(lefts[site].clone(), LEFT_COST[site]));
        recourse.constraints.push(Row {
            x: vec![(orders[site].clone(), 1.0)],
            y: vec![(shorts[site].clone(), 1.0), (lefts[site].clone(), -1.0)],
            xi: vec![(demands[site].clone(), -1.0)],
            lower: 0.0,
            upper: 0.0,
            ..Row::new(format!("balance{site}"))
        });
    }
    let set = SetDefinition::budget(1.5, Sides::Two, [20.0, 15.5, 30.0, 12.25], [8.0, 6.0, 9.5, 7.0]);
    let uncertainty = UncertaintyDefinition { parameters: demands, set };
    let name = "newsvendor".into();
    Problem::new(&ProblemDefinition { name, first_stage: first, uncertainty, recourse }).unwrap()
}

/// `Q(x, ξ) = Σ max(short·(ξ − x), left·(x − ξ))`, in closed form.
struct ClosedForm {
    row_scale: Vec<f64>,
    x: Vec<f64>,
    /// ξ − x of the last solve.
    missing: [f64; SITES],
    work: RecourseWork,
    /// The solves of all engines of the factory.
    total: Arc<AtomicU64>,
}

impl ClosedForm {
    /// The slope of Q in ξ at a site.
    fn slope(&self, site: usize) -> f64 {
        if self.missing[site] > 0.0 { SHORT_COST[site] } else { -LEFT_COST[site] }
    }
}

impl Recourse for ClosedForm {
    fn at(&mut self, x: &[f64]) {
        self.x.copy_from_slice(x);
    }

    fn solve(&mut self, xi: &[f64], answer: &mut Answer) -> Result<(), RecourseError> {
        self.work.solves += 1;
        self.total.fetch_add(1, Ordering::Relaxed);
        (answer.outcome, answer.value, answer.intercept) = (RecourseOutcome::Solved, 0.0, 0.0);
        for site in 0..SITES {
            self.missing[site] = xi[site] - self.x[site];
            let slope = self.slope(site);
            answer.value += slope * self.missing[site];
            answer.intercept += slope * xi[site];
            (answer.slope_xi[site], answer.slope_x[site]) = (slope, -slope);
        }
        answer.cost = answer.value;
        Ok(())
    }

    fn decision(&mut self, y: &mut [f64]) {
        for (pair, missing) in y.chunks_exact_mut(2).zip(self.missing) {
            pair.copy_from_slice(&[missing.max(0.0), (-missing).max(0.0)]);
        }
    }

    /// One dual for each row of the model, which may be scaled.
    fn dual(&mut self, pi: &mut [f64]) {
        for site in 0..SITES {
            pi[site] = self.slope(site) / self.row_scale[site];
        }
    }

    fn warm_start(&self) -> RecourseBasis {
        RecourseBasis::default()
    }

    /// No state is kept between solves.
    fn start_from(&mut self, _warm: &RecourseBasis) -> Result<(), RecourseError> {
        Ok(())
    }

    fn work(&self) -> RecourseWork {
        self.work
    }
}

/// Builds [`ClosedForm`], and counts its solves.
#[derive(Debug, Default)]
struct ClosedForms(Arc<AtomicU64>);

impl EngineFactory for ClosedForms {
    fn build(&self, problem: &Problem, _clock: &Clock) -> Result<Box<dyn Recourse>, RecourseError> {
        assert_eq!(problem.recourse.dim(), 2 * SITES, "a derived problem has other recourse, and an engine of its own");
        Ok(Box::new(ClosedForm {
            row_scale: problem.recourse.row_scale.clone(),
            x: vec![0.0; SITES],
            missing: [0.0; SITES],
            work: RecourseWork::default(),
            total: Arc::clone(&self.0),
        }))
    }
}

/// A problem with engines in closed form, and the count of their solves.
fn in_closed_form(kind: VariableKind) -> (Problem, Arc<AtomicU64>) {
    let solves = Arc::new(AtomicU64::new(0));
    (newsvendor(kind).with_engine(ClosedForms(Arc::clone(&solves))), solves)
}

#[test]
fn an_engine_in_closed_form_keeps_the_contract_of_engines() {
    let (problem, solves) = in_closed_form(VariableKind::Continuous);
    let clock = Clock::unlimited();
    for seed in 0..20 {
        let mut ours = engine(&problem, &clock).unwrap();
        let mut other = built_in_engine(&problem, &clock).unwrap();
        check_engine(&problem, ours.as_mut(), other.as_mut(), seed);
    }
    assert!(solves.load(Ordering::Relaxed) > 0, "`engine` returns the problem's own");
}

/// A method, its options, and the gap to which it comes.
type Way = (&'static str, &'static [(&'static str, &'static str)], f64);

/// Every method and separation that takes the problem.
fn ways(kind: VariableKind) -> Vec<Way> {
    let mut ways: Vec<Way> = vec![
        ("auto", &[], 1e-6),
        ("ccg", &[], 1e-6),
        ("ccg", &[("separation", "scan")], 1e-6),
        ("ccg", &[("separation", "split")], 1e-6),
        ("ccg", &[("separation", "bilinear")], 1e-6),
        ("benders", &[], 1e-6),
        ("benders", &[("separation", "soft")], 1e-6),
        ("branch-and-cut", &[], 1e-6),
        ("branch-and-cut", &[("separation", "soft"), ("score", "moreau:0.01")], 1e-6),
        ("branch-and-cut", &[("tree", "multi")], 1e-6),
    ];
    if kind == VariableKind::Continuous {
        ways.extend([
            ("bundle", &[] as &[_], 1e-6),
            ("bundle", &[("separation", "soft")], 1e-6),
            ("bundle", &[("separation", "soft"), ("score", "moreau:0.01")], 1e-6),
            ("sgd", &[], 1e-2),
        ]);
    }
    ways
}

#[test]
fn every_method_finds_the_same_optimum_with_an_engine_in_closed_form() {
    for kind in [VariableKind::Continuous, VariableKind::Integer] {
        let known = newsvendor(kind);
        let all_copies = Settings { method: "extensive".parse().unwrap(), gap: 1e-9, ..Settings::default() };
        let optimum = solve(&known, &all_copies).unwrap().bounds.upper().unwrap();
        for (method, options, gap) in ways(kind) {
            let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
            let method = MethodSettings::parse(method, &options).unwrap();
            let settings = Settings { gap, method, ..Settings::default() };
            let (problem, solves) = in_closed_form(kind);
            let outcome = solve(&problem, &settings).unwrap();
            let context = format!("{kind:?}, {:?}", settings.method);
            let x = &outcome.bounds.best().unwrap().x;
            let cost = evaluate(&known, x, &CallLimits::default().threads(1)).unwrap().objective;
            assert!((cost - optimum).abs() <= 2.0 * gap * optimum, "{context}: {cost}, not {optimum}");
            let lower = outcome.bounds.lower().unwrap();
            assert!(lower <= optimum + 1e-6 * optimum, "{context}: {lower} above {optimum}");
            assert!(solves.load(Ordering::Relaxed) > 0, "{context}: the built-in engine was called");
            // The same numbers from another engine: the worst case that the result reports.
            let worst = outcome.worst_case.unwrap();
            let mut built_in = built_in_engine(&known, &Clock::unlimited()).unwrap();
            let mut answer = Answer::new(&known);
            built_in.at(x);
            built_in.solve(&worst.xi, &mut answer).unwrap();
            assert!((answer.cost - worst.cost).abs() <= 1e-9 * optimum, "{context}: {worst:?}, not {answer:?}");
        }
    }
}

/// Cuts, incumbents and searches come from the problem's own engine alone where no part that reads rows takes part:
/// rows that state a cheaper recourse make no difference to methods with cuts and soft separation.
#[test]
fn no_other_engine_is_called() {
    let settings = Settings { method: "extensive".parse().unwrap(), gap: 1e-9, ..Settings::default() };
    let optimum = |problem: &Problem| solve(problem, &settings).unwrap().bounds.upper().unwrap();
    let (stated, cheaper) = (newsvendor(VariableKind::Continuous), with_rows_of(0.5, VariableKind::Continuous));
    assert!(optimum(&cheaper) < 0.9 * optimum(&stated), "the rows do state another recourse");
    for (method, gap) in [("bundle", 1e-6), ("sgd", 1e-2), ("benders", 1e-6), ("branch-and-cut", 1e-6)] {
        let problem = cheaper.clone().with_engine(ClosedForms::default());
        let options = [("separation".to_owned(), "soft".into())].into_iter().collect();
        let method = MethodSettings::parse(method, &options).unwrap();
        let outcome = solve(&problem, &Settings::default().method(method.clone()).gap(gap)).unwrap();
        let (found, expected) = (outcome.bounds.best().unwrap().value, optimum(&stated));
        assert!((found - expected).abs() <= 2.0 * gap * expected, "{method}: {found}, not {expected}");
    }
}

#[test]
fn derived_problems_have_the_engine_of_their_own_recourse() {
    let (problem, solves) = in_closed_form(VariableKind::Integer);
    engine(&problem.relaxed(), &Clock::unlimited()).unwrap().solve(&[0.0; SITES], &mut Answer::new(&problem)).unwrap();
    assert_eq!(solves.load(Ordering::Relaxed), 1, "the relaxation has the same recourse");
    let smoothed = problem.moreau(0.5);
    engine(&smoothed, &Clock::unlimited()).unwrap().solve(&[0.0; SITES], &mut Answer::new(&smoothed)).unwrap();
    let stated = Problem::new(&problem.definition()).unwrap();
    engine(&stated, &Clock::unlimited()).unwrap().solve(&[0.0; SITES], &mut Answer::new(&stated)).unwrap();
    assert_eq!(solves.load(Ordering::Relaxed), 1, "an envelope and a definition do not");
}

/// Refuses every problem.
#[derive(Debug)]
struct Refusing;

impl EngineFactory for Refusing {
    fn build(&self, problem: &Problem, _clock: &Clock) -> Result<Box<dyn Recourse>, RecourseError> {
        Err(RecourseError::Unsupported(format!("{} is not for this engine", problem.name)))
    }
}

#[test]
fn a_refusal_of_the_factory_ends_the_run() {
    let problem = newsvendor(VariableKind::Continuous).with_engine(Refusing);
    for method in ["bundle", "sgd", "ccg", "benders", "branch-and-cut", "auto"] {
        let refused = solve(&problem, &Settings::default().method(method.parse::<MethodSettings>().unwrap()));
        let said = refused.err().map(|error| (matches!(error, Error::Recourse(_)), error.to_string()));
        assert_eq!(said, Some((true, "newsvendor is not for this engine".to_owned())), "{method}");
    }
}
