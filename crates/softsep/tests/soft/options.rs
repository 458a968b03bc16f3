//! Every option: it works, the same seed gives the same result on any number of threads, and what makes no sense is
//! refused in one clear line.

use std::sync::{Arc, Mutex};

use softsep::cuts::CutPool;
use softsep::methods::{Entry, MethodSettings};
use softsep::recourse::RecourseBasis;
use softsep::report::ResultFile;
use softsep::report::result_file;
use softsep::run::{ChainDiagnostics, SearchDiagnostics};
use softsep::separation::soft::Search;
use softsep::separation::{
    Effort, Found, Query, Separation, SeparationContext, SeparationFactory, SeparationKind, build_separation,
};
use softsep::testing::{Recipe, random_problem};
use softsep::{Certify, Error, Problem, Settings, evaluate, solve};
use softsep_paper::instances::{LocationTransportation, Uncertain, location_transportation};

use super::{by, options, run, sgd};

fn depots(uncertainty: Uncertain) -> Problem {
    let settings = LocationTransportation { n: 3, uncertainty, mixed_integer: false, seed: 5 };
    Problem::new(&location_transportation(&settings).unwrap()).unwrap()
}

fn sphere() -> Problem {
    depots(Uncertain::Ellipsoid)
}

fn list() -> Problem {
    depots(Uncertain::Scenarios(80))
}

/// Costs move with ξ, so that a chain walks the whole ellipsoid.
fn body() -> Problem {
    Problem::new(&random_problem(&Recipe { set: "ellipsoid", cost_xi: true, quadratic: true, ..Recipe::default() }, 8))
        .unwrap()
}

/// The result file of a run, its time aside.
fn result(problem: &Problem, settings: &Settings) -> ResultFile {
    ResultFile { seconds: 0.0, ..result_file(problem, &run(problem, settings)) }
}

/// Runs twice, which must make no difference, and compares the decision's cost with that of the default.
fn works(method: &str, problem: &Problem, given: &[(&str, &str)]) {
    let settings = Settings { iterations: Some(3000), ..by(method, given) };
    let once = result(problem, &settings);
    assert_eq!(once, result(problem, &settings), "{}, {given:?}: the same twice", problem.name);
    let cost = |settings: &Settings| {
        let outcome = run(problem, settings);
        let best = outcome.bounds.best().unwrap_or_else(|| panic!("{}, {given:?}: no decision", problem.name));
        let evaluation = evaluate(problem, &best.x, &Default::default()).unwrap();
        assert!(evaluation.violation.is_none(), "{}, {given:?}: {:?}", problem.name, evaluation.violation);
        let lower = outcome.bounds.lower().unwrap_or(f64::NEG_INFINITY);
        assert!(
            lower <= evaluation.objective + 1e-6 * lower.abs().max(1.0),
            "{}, {given:?}: {outcome:?}",
            problem.name
        );
        evaluation.objective
    };
    let (usual, other) = (cost(&by(method, &[])), cost(&settings));
    assert!(
        (usual - other).abs() <= 1e-2 * usual.abs().max(1.0),
        "{}, {given:?}: {other}, and {usual} by default",
        problem.name
    );
}

#[test]
fn on_every_space() {
    for problem in [sphere(), list(), body()] {
        for given in [
            &[("proposal", "uniform")][..],
            &[("proposal", "adaptive")],
            &[("proposal", "adaptive"), ("kappa", "3"), ("share", "0.2")],
            &[("proposal", "adaptive"), ("kappa", "auto"), ("share", "1")],
            &[("acceptance", "barker")],
            &[("acceptance", "metropolis"), ("temperature", "0.01")],
            &[("temperature", "auto")],
            &[("transitions", "3")],
            &[("chains", "4")],
            &[("score", "moreau:0.001")],
            &[("reference", "surface")],
            &[("start", "nominal")],
            &[("start", "zero")],
            &[("start", "support")],
            &[("steps", "sqrt"), ("average", "linear")],
            &[("steps", "sqrt"), ("average", "step-size")],
        ] {
            works("sgd", &problem, given);
        }
    }
}

#[test]
fn of_bundle() {
    for problem in [sphere(), list(), body()] {
        for given in [
            &[("stabilisation", "level")][..],
            &[("stabilisation", "in-out")],
            &[("chains", "4")],
            &[("stabilisation", "in-out"), ("chains", "2")],
        ] {
            works("bundle", &problem, given);
        }
    }
}

/// The options of chains, in every method whose separation may be soft.
#[test]
fn of_chains_in_every_method() {
    let mixed = |uncertainty| {
        let settings = LocationTransportation { n: 3, uncertainty, mixed_integer: true, seed: 5 };
        Problem::new(&location_transportation(&settings).unwrap()).unwrap()
    };
    let weights = format!("[{}]", ["1", "2"].map(|weight| [weight; 40].join(", ")).join(", "));
    for given in [
        &[("temperature", "50"), ("acceptance", "barker")][..],
        &[("temperature", "50"), ("proposal", "uniform"), ("schedule", "annealing")],
        &[("score", "moreau:0.001")],
        &[("kappa", "10"), ("share", "0.2")],
    ] {
        for uncertainty in [Uncertain::Ellipsoid, Uncertain::Scenarios(80), Uncertain::Budget { gamma: 0.5 }] {
            works("bundle", &depots(uncertainty), given);
            works("branch-and-cut", &mixed(uncertainty), given);
            if matches!(uncertainty, Uncertain::Scenarios(_)) {
                works("ccg", &depots(uncertainty), given);
                works("benders", &depots(uncertainty), given);
            }
        }
    }
    let (sphere, list) = (Uncertain::Ellipsoid, Uncertain::Scenarios(80));
    for (method, problem) in [("bundle", depots(sphere)), ("branch-and-cut", mixed(sphere))] {
        works(method, &problem, &[("reference", "surface"), ("proposal", "tangent")]);
    }
    let on_lists = [("bundle", depots(list)), ("branch-and-cut", mixed(list)), ("ccg", depots(list))];
    for (method, problem) in on_lists {
        works(method, &problem, &[("proposal", "weighted"), ("weights", &weights)]);
        works(method, &problem, &[("temperature", "adaptive"), ("margin", "50")]);
    }
}

#[test]
fn on_some_spaces() {
    for proposal in ["geodesic", "tangent", "langevin"] {
        works("sgd", &sphere(), &[("proposal", proposal)]);
    }
    for proposal in ["hit-and-run", "langevin", "hamiltonian"] {
        works("sgd", &body(), &[("proposal", proposal)]);
    }
    for margin in ["auto", "50"] {
        works("sgd", &list(), &[("temperature", "adaptive"), ("margin", margin)]);
    }
    works("sgd", &list(), &[("steps", "sqrt"), ("step", "0.05")]);
}

/// What was found can be gone on from, by names or as the whole result.
#[test]
fn a_start_by_names() {
    let problem = sphere();
    let first = result(&problem, &sgd(&[]));
    let text = serde_json::to_string(&first).unwrap();
    let names = serde_json::to_value(&first).unwrap()["x"].to_string();
    works("sgd", &problem, &[("start", &text)]);
    works("sgd", &problem, &[("start", &names)]);
    let once = Settings { iterations: Some(1), ..sgd(&[("start", &names)]) };
    assert_eq!(
        result(&problem, &once),
        result(&problem, &Settings { iterations: Some(1), ..sgd(&[("start", &text)]) })
    );
    // One iteration from there is no worse than one from nothing.
    let estimate = |start: &str| {
        run(&problem, &Settings { iterations: Some(1), ..sgd(&[("start", start)]) }).bounds.best().unwrap().x.clone()
    };
    let cost = |x: &[f64]| evaluate(&problem, x, &Default::default()).unwrap().objective;
    assert!(cost(&estimate(&names)) < cost(&estimate("zero")));
}

#[test]
fn threads_do_not_show() {
    for problem in [sphere(), list(), body()] {
        for (method, given) in [
            ("sgd", &[("chains", "4")][..]),
            ("sgd", &[("chains", "4"), ("transitions", "3"), ("steps", "sqrt")]),
            ("bundle", &[]),
            ("bundle", &[("chains", "4")]),
            ("bundle", &[("chains", "3"), ("stabilisation", "in-out")]),
            ("auto", &[]),
        ] {
            let on = |threads: usize| {
                result(&problem, &Settings { threads: Some(threads), iterations: Some(200), ..by(method, given) })
            };
            let one = on(1);
            assert_eq!((&one, &one), (&on(2), &on(4)), "{}, {method}, {given:?}", problem.name);
        }
    }
}

#[test]
fn seeds_and_options_make_a_difference() {
    let problem = sphere();
    let usual = result(&problem, &sgd(&[]));
    assert_ne!(usual, ResultFile { seed: usual.seed, ..result(&problem, &Settings { seed: 2, ..sgd(&[]) }) });
    for given in [
        ("proposal", "uniform"),
        ("kappa", "1"),
        ("share", "0.9"),
        ("transitions", "2"),
        ("chains", "2"),
        ("temperature", "1000"),
        ("score", "moreau:1"),
        ("reference", "surface"),
        ("start", "zero"),
        ("steps", "sqrt"),
    ] {
        assert_ne!(usual, result(&problem, &sgd(&[given])), "{given:?}");
    }
    // A cold chain takes what is better and leaves the rest by either rule.
    let rules = ["metropolis", "barker"].map(|rule| {
        let settings = sgd(&[("temperature", "1000"), ("acceptance", rule)]);
        result(&problem, &Settings { gap: 1e-6, ..settings })
    });
    assert_ne!(rules[0], rules[1]);
    let averages = ["linear", "step-size"].map(|average| {
        result(&problem, &Settings { iterations: Some(50), ..sgd(&[("steps", "sqrt"), ("average", average)]) }).x
    });
    assert_ne!(averages[0], averages[1]);
    let bundle = |given: &[(&str, &str)]| Settings { gap: 1e-6, ..by("bundle", given) };
    let usual = result(&problem, &bundle(&[]));
    assert_ne!(usual, ResultFile { seed: usual.seed, ..result(&problem, &Settings { seed: 2, ..bundle(&[]) }) });
    for given in [("stabilisation", "in-out"), ("chains", "2")] {
        assert_ne!(usual, result(&problem, &bundle(&[given])), "{given:?}");
    }
}

/// Soft separation by chains alone, with the other settings of the method: an ascent cannot hide the path of a chain.
/// Every answer goes into the log, with the steps of the chains and of the tempered search behind it: two paths of
/// chains may happen to end at the same scenario.
struct ChainsAlone {
    log: Arc<Mutex<Vec<String>>>,
    /// A thorough search is made here, so that there is one whether the run verifies its decision or not.
    x: Vec<f64>,
}

impl SeparationFactory for ChainsAlone {
    fn build<'p>(&self, problem: &'p Problem, context: &SeparationContext) -> Result<Box<dyn Separation + 'p>, Error> {
        let mut context = context.clone();
        context.soft.search = Search::Chains;
        let build = || build_separation(&SeparationKind::Soft, problem, &context);
        let mut searching = build()?;
        let thorough = Query::scenario(&self.x, context.clock).with_effort(Effort::Thorough).with_budget(1000);
        searching.separate(&thorough, &mut CutPool::new(problem))?;
        self.log.lock().unwrap().push(format!("{:?}", searching.last_search()));
        let soft = build()?;
        Ok(Box::new(Logged { soft, log: Arc::clone(&self.log) }))
    }
}

/// A separation that writes down what it does.
struct Logged<'p> {
    soft: Box<dyn Separation + 'p>,
    log: Arc<Mutex<Vec<String>>>,
}

impl Separation for Logged<'_> {
    fn separate(&mut self, query: &Query, pool: &mut CutPool) -> Result<Found, Error> {
        let found = self.soft.separate(query, pool)?;
        let chains = self.soft.diagnostics().map(|chains| (chains.acceptance, chains.effective, chains.still));
        let entry = format!("{:?} costs {}, {} solves; {chains:?}", found.xi, found.value, found.solves);
        self.log.lock().unwrap().push(entry);
        Ok(found)
    }

    fn is_exact(&self) -> bool {
        self.soft.is_exact()
    }

    fn start_at(&mut self, xi: &[f64]) {
        self.soft.start_at(xi);
    }

    fn start_from(&mut self, basis: &RecourseBasis) -> Result<(), Error> {
        self.soft.start_from(basis)
    }

    fn diagnostics(&self) -> Option<ChainDiagnostics> {
        self.soft.diagnostics()
    }

    fn last_search(&self) -> Option<&SearchDiagnostics> {
        self.soft.last_search()
    }
}

/// A method whose separation is [`ChainsAlone`], unless it has an option for that.
fn by_chains_alone(method: &str, given: &[(&str, &str)], alone: ChainsAlone) -> MethodSettings {
    let separation = SeparationKind::custom(alone);
    match MethodSettings::parse(method, &options(given)).unwrap() {
        MethodSettings::BranchAndCut(settings) if settings.search == Search::Chains => settings.into(),
        MethodSettings::Bundle(settings) => MethodSettings::Bundle(settings.with_separation(separation)),
        MethodSettings::BranchAndCut(settings) => MethodSettings::BranchAndCut(settings.with_separation(separation)),
        MethodSettings::Ccg(settings) => MethodSettings::Ccg(settings.with_separation(separation)),
        MethodSettings::Benders(settings) => MethodSettings::Benders(settings.with_separation(separation)),
        MethodSettings::Sgd(mut settings) => {
            settings.separation = separation;
            MethodSettings::Sgd(settings)
        }
        other => panic!("{other} has no chains"),
    }
}

/// Options by name.
type Given<'a> = &'a [(&'a str, &'a str)];

/// Every option of chains reaches the chains of every method: with chains alone the run takes another path.
#[test]
fn options_of_chains_make_a_difference() {
    let problem = |uncertainty| {
        // A seed with which no two paths coincide: with others, Metropolis and Barker may accept the same few moves.
        let mixed = LocationTransportation { n: 6, uncertainty, mixed_integer: true, seed: 1 };
        Problem::new(&location_transportation(&mixed).unwrap()).unwrap()
    };
    let (sphere, list) = (problem(Uncertain::Ellipsoid), problem(Uncertain::Scenarios(80)));
    let weights = format!("[{}]", ["1", "9"].map(|weight| [weight; 40].join(", ")).join(", "));
    // A run without options beside one with each of some options. A cold chain takes what is better and leaves the rest
    // by either rule of acceptance; so acceptance is compared in the heat.
    let cases: [(&Problem, Given, Given); 5] = [
        (
            &sphere,
            &[],
            &[
                ("proposal", "tangent"),
                ("temperature", "1000"),
                ("score", "moreau:1"),
                ("reference", "surface"),
                ("kappa", "1"),
                ("share", "0.9"),
                ("schedule", "annealing"),
                ("transitions", "2"),
                ("chains", "2"),
            ],
        ),
        (&sphere, &[("temperature", "1000")], &[("acceptance", "barker")]),
        (&list, &[("margin", "50000")], &[("temperature", "adaptive")]),
        (&list, &[("temperature", "adaptive")], &[("margin", "50000")]),
        (&list, &[("proposal", "weighted"), ("weights", &weights)], &[("share", "0.9")]),
    ];
    // The chains of a tree are its own, apart from those of its root.
    let tree: Given = &[("root", "none")];
    let printed: Given = &[("root", "none"), ("search", "chains")];
    let methods: [(&str, Given); 6] = [
        ("bundle", &[]),
        ("branch-and-cut", tree),
        ("branch-and-cut", printed),
        ("ccg", &[]),
        ("benders", &[]),
        ("sgd", &[]),
    ];
    for (method, always) in methods {
        for (problem, base, others) in cases {
            let problem = if method == "branch-and-cut" { problem.clone() } else { problem.relaxed() };
            let x = run(&problem.relaxed(), &by("bundle", &[])).bounds.best().unwrap().x.clone();
            let path = |given: Given| {
                let log = Arc::default();
                let alone = ChainsAlone { log: Arc::clone(&log), x: x.clone() };
                let method = by_chains_alone(method, &[always, base, given].concat(), alone);
                let settings = Settings { iterations: Some(40), certify: Certify::None, ..Settings::default() };
                let result = result(&problem, &settings.method(method));
                (result, std::mem::take(&mut *log.lock().unwrap()))
            };
            let usual = path(&[]);
            for option in others {
                // Algorithm 2 gives every assignment one chain, and says how far it goes.
                let is_of_others = method == "branch-and-cut" && ["transitions", "chains"].contains(&option.0);
                // Algorithm 3 as printed makes no search that verifies, and refuses another score.
                let is_not_printed = always == printed && ["schedule", "score"].contains(&option.0);
                if !is_of_others && !is_not_printed {
                    // The tuple is long; the assertion does not print it.
                    assert!(usual != path(&[*option]), "{method}, {always:?}, {base:?}: {option:?}");
                }
            }
        }
    }
}

/// Each value is refused in words that tell what would be right.
fn refuses(method: &str, values: &[(&str, &str, &str)]) {
    let entry = Entry::find(method).unwrap();
    for (name, value, right) in values {
        let said = entry
            .parse(&options(&[(name, value)]))
            .err()
            .unwrap_or_else(|| panic!("{name} {value} is taken"))
            .to_string();
        let is_clear =
            said.contains(right) && !said.contains('\n') && !said.contains("variant") && !said.contains("expected");
        assert!(is_clear, "{method}, {name} {value}: {said}");
    }
}

#[test]
fn values_that_make_no_sense() {
    let of_sgd = [
        ("steps", "long", "level and sqrt"),
        ("steps", "3", "level and sqrt"),
        ("step", "0", "positive number"),
        ("step", "far", "positive number nor auto"),
        ("average", "none", "linear and step-size"),
        ("start", "here", "nominal, zero, support"),
        ("start", "[1, 2]", "nominal, zero, support"),
        ("start", "{\"capacity_1\": \"much\"}", "is not a number"),
        ("proposal", "none", "uniform, weighted, adaptive"),
        ("proposal", "true", "uniform, weighted, adaptive"),
        ("acceptance", "always", "metropolis and barker"),
        ("temperature", "-1", "positive number"),
        ("temperature", "hot", "auto nor adaptive"),
        ("margin", "0", "positive number"),
        ("kappa", "-2", "positive number"),
        ("kappa", "1e999", "positive number"),
        ("share", "1.5", "between 0 and 1"),
        ("share", "half", "between 0 and 1"),
        ("transitions", "0", "integer from 1 on"),
        ("transitions", "1.5", "integer from 1 on"),
        ("transitions", "-3", "integer from 1 on"),
        ("chains", "0", "integer from 1 on"),
        ("chains", "many", "integer from 1 on"),
        ("chains", "1000000000000", "4096"),
        ("score", "best", "exact and moreau:TAU"),
        ("score", "moreau:0", "exact and moreau:TAU"),
        ("score", "moreau:nan", "exact and moreau:TAU"),
        ("reference", "volume", "sphere and surface"),
        ("weights", "7", "neither a file nor a list"),
        ("weights", "[]", "no weights"),
        ("weights", "[1, \"much\"]", "neither a file nor a list"),
        ("weights", "[1, -2]", "weight 2 is -2; weights are finite and not negative"),
        ("weights", "no/such/file.csv", "there is no such file"),
    ];
    refuses("sgd", &of_sgd);
    let of_chains = of_sgd
        .into_iter()
        .filter(|(name, ..)| !["steps", "step", "average", "start", "transitions", "chains"].contains(name));
    for method in ["bundle", "branch-and-cut", "ccg", "benders"] {
        refuses(method, &of_chains.clone().collect::<Vec<_>>());
    }
    let of_bundle = [
        ("stabilisation", "proximal", "level and in-out"),
        ("stabilisation", "2", "level and in-out"),
        ("chains", "0", "integer from 1 on"),
        ("chains", "2.5", "integer from 1 on"),
        ("chains", "some", "integer from 1 on"),
        ("chains", "1000000000000", "4096"),
    ];
    refuses("bundle", &of_bundle);
    // An option of one method is none of another, and `auto` has none.
    for (method, name, known) in
        [("bundle", "steps", "stabilisation"), ("sgd", "stabilisation", "steps"), ("auto", "chains", "the method that")]
    {
        let refused = Entry::find(method).unwrap().parse(&options(&[(name, "1")])).err();
        let said = refused.unwrap_or_else(|| panic!("{method} takes {name}")).to_string();
        assert!(said.contains(name) && said.contains(known), "{method}, {name}: {said}");
    }
}

#[test]
fn what_does_not_go_with_a_problem() {
    for (problem, given, right) in [
        (sphere(), [("proposal", "hit-and-run")], "uniform, adaptive, geodesic, tangent, langevin, local would work"),
        (list(), [("proposal", "geodesic")], "uniform, adaptive, local would work"),
        (list(), [("proposal", "langevin")], "uniform, adaptive, local would work"),
        (body(), [("proposal", "geodesic")], "hit-and-run, langevin, hamiltonian, local would work"),
        (sphere(), [("proposal", "hamiltonian")], "uniform, adaptive, geodesic, tangent, langevin, local would work"),
        (body(), [("proposal", "tangent")], "hit-and-run, langevin, hamiltonian, local would work"),
        (list(), [("proposal", "weighted")], "needs a weight for each scenario (--weights FILE); auto"),
        (list(), [("weights", "[1, 2]")], "weights are for --proposal weighted"),
        (sphere(), [("proposal", "weighted")], "this set is of the kind ellipsoid"),
        (sphere(), [("temperature", "adaptive")], "leave --temperature out"),
        (body(), [("temperature", "adaptive")], "leave --temperature out"),
        (sphere(), [("start", "{\"capacity1\": 3}")], "did you mean \"capacity_1\""),
    ] {
        let refused = solve(&problem, &sgd(&given));
        let said = refused.err().unwrap_or_else(|| panic!("{given:?} is taken")).to_string();
        assert!(said.contains(right) && !said.contains('\n'), "{given:?}: {said}");
    }
}
