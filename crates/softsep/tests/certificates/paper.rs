//! Algorithm 3 as printed (`--preset paper`): by how many calls it certifies, and how often that is false where its
//! constants are known.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use softsep::definition::{Row, ScenarioList, Variable, VariableKind};
use softsep::methods::{BranchAndCutSettings, MethodSettings, Root};
use softsep::run::{Certificate, Event, Observer, Source};
use softsep::uncertainty::SetDefinition;
use softsep::{
    Assumed, Certify, ChainConstants, Error, Outcome, ProbabilisticTarget, Problem, ProblemDefinition, Settings,
    SgdSettings, Status, solve, solve_with,
};
use softsep_paper::instances::{LocationTransportation, Uncertain, location_transportation};

use super::locks::{self, FIRST_COST, WORST};
use super::{many, shipping, statistics};

const GAP: f64 = 1e-3;

/// `branch-and-cut` with the paper's preset and other options.
fn preset(options: Value) -> MethodSettings {
    let mut all = Map::from_iter([("preset".to_owned(), json!("paper"))]);
    all.extend(options.as_object().unwrap().clone());
    MethodSettings::parse("branch-and-cut", &all).unwrap()
}

fn target(false_rate: f64, assumed: Assumed) -> Certify {
    Certify::Probabilistic(ProbabilisticTarget { confidence: 1.0 - false_rate, level: 0.5, assumed })
}

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

fn noted(problem: &Problem, settings: &Settings) -> (Outcome, Vec<String>) {
    let mut notes = Notes::default();
    let outcome = solve_with(problem, settings, &mut notes, &Arc::default()).unwrap();
    (outcome, notes.0)
}

#[test]
fn a_preset_is_where_other_options_start_from() {
    assert_eq!(preset(json!({})), BranchAndCutSettings::paper().into());
    let other = preset(json!({"temperature": 5, "acceptance": "barker", "epsilon-cert": 100, "root": "none"}));
    let by_hand = preset(json!({"epsilon-cert": 100.0})).options();
    assert_eq!((by_hand["search"].as_str(), by_hand["root"].as_str()), (Some("chains"), Some("paper")));
    let options = other.options();
    assert_eq!(
        (&options["temperature"], &options["acceptance"], &options["root"]),
        (&json!(5.0), &json!("barker"), &json!("none"))
    );
    assert_eq!(MethodSettings::parse("branch-and-cut", &options).unwrap(), other);
    let wrong = Map::from_iter([("preset".to_owned(), json!("papers"))]);
    let refused = MethodSettings::parse("branch-and-cut", &wrong).unwrap_err().to_string();
    assert!(refused.contains("\"papers\" is no preset; paper is"), "{refused}");
}

/// A list of so many scenarios, of which the k-th costs 3 + `step`·k, and a binary decision that only costs.
fn needs(scenarios: usize, step: f64) -> Problem {
    let mut file = ProblemDefinition::default();
    file.first_stage.variables.push(Variable::binary("idle", 1.0));
    file.uncertainty.parameters.push("g".into());
    let points = ScenarioList::from_flat(1, scenarios, (0..scenarios).map(|k| k as f64).collect()).unwrap();
    file.uncertainty.set = SetDefinition::Scenarios { points, file: None, drawn_from: None };
    file.recourse.variables.push(Variable::new("y", 1.0));
    let mut row = Row { y: vec![("y".into(), 1.0)], lower: 3.0, ..Row::new("need") };
    if step != 0.0 {
        row.xi = vec![("g".into(), -step)];
    }
    file.recourse.constraints.push(row);
    Problem::new(&file).unwrap()
}

/// All scenarios cost the same: the first call at x = 0 meets no θ and gives a cut, the second one finds nothing, and
/// k = 2. All numbers of calls are worked out by hand.
#[test]
fn calls_are_as_many_as_printed() {
    let problem = needs(10, 0.0);
    let chain = ChainConstants::new(1.0).with_eta(0.5);
    for (what, options, assumed, more, names) in [
        // r = 1·2·2·3/0.1 = 120, and ln 120/|ln 0.9| = 45.44.
        ("derived", json!({}), Assumed::Nothing, 46, vec!["states", "rho"]),
        ("rho given", json!({}), Assumed::Miss { rho: 0.9 }, 46, vec!["rho"]),
        // 1/20 of all calls accept the worst of ten: ln 120/|ln 0.95| = 93.34.
        ("Barker", json!({"acceptance": "barker"}), Assumed::Nothing, 94, vec!["states", "rho"]),
        // The leak is 9e⁻¹⁰, ρ = 0.500409, δ̂(2) = 9e⁻¹⁰/0.5 + 0.5: ln(120·0.500817)/|ln ρ| = 5.92.
        ("chain", json!({"temperature": 0.1}), Assumed::Chain(chain), 6, vec!["eta", "margin", "rho", "lipschitz"]),
    ] {
        let mut options = options;
        options["root"] = json!("none");
        let settings =
            Settings { method: preset(options), certify: target(0.1, assumed), gap: GAP, ..Settings::default() };
        let (outcome, notes) = noted(&problem, &settings);
        let said = format!("1 bounds certified; {} calls of 1 chains", 2 + more);
        assert!(notes.contains(&said), "{what}: {notes:#?}");
        assert_eq!((outcome.status, outcome.exact_separations), (Status::Optimal, 0), "{what}");
        let likely = outcome.bounds.likely().unwrap();
        assert!(
            (likely.upper - 3.0 * (1.0 + 0.5 * GAP)).abs() < 1e-9 && likely.confidence == 0.9,
            "{what}: {likely:?}"
        );
        assert_eq!(likely.assumes.iter().map(|of| of.name).collect::<Vec<_>>(), names, "{what}");
    }
    // Too warm for Δ⋆ = 1: ρ = 0.5 + 9e⁻¹ is above 1, and the result says which temperature is not.
    let certify = target(0.1, Assumed::Chain(chain));
    let settings = Settings { method: preset(json!({"root": "none"})), certify, ..Settings::default() };
    let outcome = solve(&problem, &settings).unwrap();
    let remarks = &outcome.bounds.best().unwrap().attested.remarks;
    // 1/ln(2·9/0.5).
    assert!(outcome.bounds.likely().is_none() && remarks[0].contains("at most 2.791e-1"), "{remarks:?}");
}

/// EC.3 on two scenarios that cost 3 and 3.2: with ε_cert = 0.25 the first one that is met certifies its cost and
/// ε_cert, whatever the calls meet afterwards; with ε_cert = 0.1 the other one is a violated cut, which the calls miss
/// with a probability of 1e-9. An ε_cert above ε_opt is remarked.
#[test]
fn a_violation_counts_above_epsilon_cert_and_the_bound_is_higher_by_it() {
    let problem = needs(2, 0.2);
    let mut by_the_first = [0; 2];
    for seed in 1..=12 {
        for (epsilon, uppers) in [(0.25, [3.25, 3.45]), (0.1, [3.3, 3.3])] {
            let method = preset(json!({"root": "none", "epsilon-cert": epsilon}));
            let certify = target(1e-9, Assumed::Nothing);
            let outcome =
                solve(&problem, &Settings { method, certify, gap: 0.01, seed, ..Settings::default() }).unwrap();
            let upper = outcome.bounds.likely().unwrap().upper;
            let met = uppers.iter().position(|wanted| (upper - wanted).abs() < 1e-9);
            let met = met.unwrap_or_else(|| panic!("seed {seed}, ε_cert = {epsilon}: {upper}"));
            let lower = outcome.bounds.lower().unwrap();
            assert!((lower - (upper - epsilon)).abs() < 1e-6, "seed {seed}: {lower} and {upper}");
            let remarks = &outcome.bounds.best().unwrap().attested.remarks;
            assert!(remarks.iter().any(|remark| remark.contains("ε_cert is above ε_opt")), "{remarks:?}");
            if epsilon == 0.25 {
                by_the_first[met] += 1;
            }
        }
    }
    assert!(by_the_first.iter().all(|&count| count > 0), "{by_the_first:?}");
}

fn listed(n: usize, scenarios: usize, seed: u64) -> Problem {
    let uncertainty = Uncertain::Scenarios(scenarios);
    let settings = LocationTransportation { n, uncertainty, mixed_integer: true, seed };
    Problem::new(&location_transportation(&settings).unwrap()).unwrap()
}

/// The certificate on a list is one of calls, not of a scan, and is true: each is false with a probability of 1e-4 at
/// most.
#[test]
fn a_list_is_certified_by_calls() {
    for (seed, scenarios) in [(1, 60), (2, 200), (3, 400)] {
        let problem = listed(6, scenarios, seed);
        for certify in [Certify::Free, target(1e-4, Assumed::Nothing)] {
            let method = BranchAndCutSettings::paper().with_root_iterations(500);
            let settings = Settings { method: method.into(), certify, gap: GAP, seed, ..Settings::default() };
            let (outcome, notes) = noted(&problem, &settings);
            let likely = outcome.bounds.likely().unwrap_or_else(|| panic!("{notes:#?}"));
            let sources: Vec<_> = likely.assumes.iter().map(|of| (of.name, of.value, of.source)).collect();
            let count = scenarios as f64;
            assert_eq!(sources[0], ("states", count, Source::Derived));
            assert!((sources[1].1 - (1.0 - 1.0 / count)).abs() < 1e-12 && sources[1].0 == "rho", "{sources:?}");
            assert_eq!((outcome.status, outcome.bounds.certificate()), (Status::Optimal, Certificate::Probabilistic));
            assert_eq!((outcome.exact_separations, outcome.bounds.upper()), (0, None));
            let best = outcome.bounds.best().unwrap();
            let truth = problem.first.value(&best.x) + shipping::worst(&problem, &best.x, 0.0).0.unwrap();
            assert!(truth <= likely.upper && best.value <= likely.upper, "{truth}, {likely:?}");
            assert!(likely.upper - outcome.bounds.lower().unwrap() <= GAP * likely.upper * (1.0 + 1e-9));
        }
    }
}

/// No method turns `--certify probabilistic` into a scan where a scan would be cheap.
#[test]
fn draws_are_not_replaced_by_a_scan() {
    let integer = listed(4, 50, 7);
    let mut file = integer.definition();
    for variable in &mut file.first_stage.variables {
        variable.kind = VariableKind::Continuous;
    }
    let continuous = Problem::new(&file).unwrap();
    let preset = preset(json!({"root-iterations": 200}));
    for (method, problem) in [
        ("bundle".parse().unwrap(), &continuous),
        ("sgd".parse().unwrap(), &continuous),
        (SgdSettings::paper().into(), &continuous),
        ("branch-and-cut".parse().unwrap(), &integer),
        (preset, &integer),
    ] {
        let certify = target(0.05, Assumed::Nothing);
        let settings = Settings { method, certify, iterations: Some(2000), ..Settings::default() };
        let outcome = solve(problem, &settings).unwrap();
        let what = &settings.method;
        assert_eq!((outcome.exact_separations, outcome.bounds.upper()), (0, None), "{what:?}");
        assert_eq!(outcome.bounds.certificate(), Certificate::Probabilistic, "{what:?}");
    }
    // A method that separates exactly says that it does.
    let settings =
        Settings { method: "ccg".parse().unwrap(), certify: target(0.05, Assumed::Nothing), ..Settings::default() };
    let (outcome, notes) = noted(&integer, &settings);
    assert!(outcome.bounds.upper().is_some() && notes.iter().any(|note| note.contains("makes no draws")), "{notes:?}");
}

/// A shield of 0 or 1 against one locked scenario of thirty, which nothing leads to.
fn shield(count: usize) -> Problem {
    let mut file = locks::shielded(&locks::list(count, 1).problem, 0.5).definition();
    file.first_stage.variables[0].kind = VariableKind::Integer;
    Problem::new(&file).unwrap()
}

/// Of so many runs, those that certify less than the worst case costs.
fn count_false(problem: &Problem, assumed: Assumed, false_rate: f64, temperature: f64, runs: u64) -> u64 {
    let mut wrong = 0;
    for seed in 0..runs {
        let method = preset(json!({"root": "none", "temperature": temperature}));
        let certify = target(false_rate, assumed);
        let outcome = solve(problem, &Settings { method, certify, gap: GAP, seed, ..Settings::default() }).unwrap();
        let (best, likely) = (outcome.bounds.best().unwrap(), outcome.bounds.likely().unwrap());
        let worst = if best.x[0] == 0.0 { WORST } else { FIRST_COST + 0.5 };
        wrong += u64::from(likely.upper < worst * (1.0 - 1e-9));
        assert!(outcome.bounds.lower().is_some_and(|lower| lower <= FIRST_COST + 0.5 + 1e-6), "{outcome:?}");
    }
    wrong
}

/// The probability that all looks at a shield miss the lock: the start of the chain, the call that gives the first cut,
/// the call after it, and the calls of the certification.
fn missed(count: usize, more: f64) -> f64 {
    (1.0 - 1.0 / count as f64).powf(more + 3.0)
}

/// Where the constants are true, false certificates are as rare as the calls make them, and rarer than ε_false.
#[test]
fn certificates_by_calls_are_false_as_seldom_as_they_say() {
    const FALSE_RATE: f64 = 0.5;
    let (count, runs) = (30, many(400));
    let problem = shield(count);
    let eta = 1.0 - 1.0 / count as f64;
    // k = 2: r = 1·2·2·3/ε_false.
    let r = 12.0 / FALSE_RATE;
    let derived = (r.ln() / -eta.ln()).ceil();
    // Δ⋆ = 1: the lock costs 1, all else nothing; where the shield is up all cost the same. Nothing continuous moves.
    let temperature: f64 = 0.05;
    let leak = (count as f64 - 1.0) * (-1.0 / temperature).exp();
    let delta: f64 = leak * count as f64 + eta;
    let printed = ((r * delta).ln() / -(eta + leak).ln()).ceil();
    assert!(printed < derived, "{printed} calls as printed, {derived} as derived");
    for (what, assumed, more) in [
        ("derived", Assumed::Nothing, derived),
        ("rho given", Assumed::Miss { rho: eta }, derived),
        ("as printed", Assumed::Chain(ChainConstants::new(1.0)), printed),
    ] {
        let wrong = count_false(&problem, assumed, FALSE_RATE, temperature, runs);
        println!("{what}: {wrong} of {runs} certificates are false");
        statistics::at_most(wrong, runs, FALSE_RATE, what);
        statistics::is(wrong, runs, missed(count, more), what);
        assert!(wrong > 0, "{what}: no run met what may happen");
    }
}

/// Constants that do not hold: ρ = 0.5, or a chain that is said to mix fast.
#[test]
fn certificates_under_false_constants_are_false() {
    let (count, runs) = (30, many(60));
    let problem = shield(count);
    for assumed in [Assumed::Miss { rho: 0.5 }, Assumed::Chain(ChainConstants::new(1.0).with_eta(0.5))] {
        let wrong = count_false(&problem, assumed, 0.1, 0.05, runs);
        println!("{assumed:?}: {wrong} of {runs} certificates are false");
        assert!(2 * wrong > runs, "{assumed:?}: {wrong} of {runs}");
    }
}

#[test]
fn settings_that_do_not_go_together_are_refused() {
    let list = listed(3, 20, 1);
    let uncertainty = Uncertain::Ellipsoid;
    let ellipsoid = LocationTransportation { n: 3, uncertainty, mixed_integer: true, seed: 1 };
    let ellipsoid = Problem::new(&location_transportation(&ellipsoid).unwrap()).unwrap();
    let chain = |constants| target(0.1, Assumed::Chain(constants));
    let margin = ChainConstants::new(1.0);
    for (problem, options, certify, said) in [
        (&list, json!({}), Certify::Exact, "leave --certify exact out"),
        (&list, json!({"tree": "multi"}), Certify::Free, "leave --tree multi"),
        (&list, json!({"separation": "scan"}), Certify::Free, "leave --separation"),
        (&list, json!({"temperature": "adaptive"}), chain(margin), "for one temperature"),
        (&list, json!({"proposal": "adaptive"}), chain(margin), "eta has to be given beside margin"),
        (&ellipsoid, json!({}), chain(margin.with_eta(0.5)), "finitely many states"),
    ] {
        let settings = Settings { method: preset(options), certify, ..Settings::default() };
        match solve(problem, &settings) {
            Err(error @ (Error::Settings(_) | Error::Unsupported(_))) => {
                assert!(error.to_string().contains(said), "\"{error}\" does not say \"{said}\"")
            }
            other => panic!("{said}: {other:?}"),
        }
    }
    // Nothing is derived on an ellipsoid: an estimate, and the reason. A given ρ makes a bound there, too.
    let method = || MethodSettings::from(BranchAndCutSettings::paper().with_root(Root::None));
    let outcome = solve(&ellipsoid, &Settings { method: method(), ..Settings::default() }).unwrap();
    let remarks = &outcome.bounds.best().unwrap().attested.remarks;
    assert!(remarks.iter().any(|remark| remark.contains("nothing is derived for states")), "{remarks:?}");
    let certify = target(0.1, Assumed::Miss { rho: 0.9 });
    let outcome = solve(&ellipsoid, &Settings { method: method(), certify, ..Settings::default() }).unwrap();
    assert!(outcome.bounds.best().is_some() && outcome.exact_separations == 0, "{outcome:?}");
}
