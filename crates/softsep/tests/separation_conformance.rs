//! Every separation passes `testing::check_separation` on random problems of all set kinds that it applies to.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use softsep::cuts::CutPool;
use softsep::run::Clock;
use softsep::separation::soft::{CatchUp, Score, Search};
use softsep::separation::{
    Claim, Found, Proof, Query, Separation, SeparationContext, SeparationKind, SoftSettings, build_separation,
};
use softsep::testing::{Recipe, check_separation, random_problem};
use softsep::{Error, Problem};

const SETS: [&str; 6] = ["scenarios", "box", "l1", "budget", "ellipsoid", "polyhedron"];

/// `make soak` asks for ten times as many problems.
fn many(count: u64) -> u64 {
    count * if std::env::var_os("SOFTSEP_SOAK").is_some() { 10 } else { 1 }
}

/// Problem classes: complete linear recourse, and each further feature alone.
fn recipes() -> [(&'static str, Recipe); 7] {
    let plain = Recipe::default();
    [
        ("linear", plain),
        ("integers", Recipe { integers: true, ..plain }),
        ("units", Recipe { units: true, ..plain }),
        ("incomplete", Recipe { incomplete: true, ..plain }),
        ("quadratic", Recipe { quadratic: true, ..plain }),
        ("cone", Recipe { cone: true, ..plain }),
        ("costs", Recipe { cost_xi: true, ..plain }),
    ]
}

fn build<'p>(
    kind: &SeparationKind,
    soft: &SoftSettings,
    problem: &'p Problem,
) -> Result<Box<dyn Separation + 'p>, Error> {
    let clock = Clock::unlimited();
    build_separation(kind, problem, &SeparationContext::new(soft.clone(), Proof::Required, 1e-3, 5, &clock))
}

/// Checks a kind on `count` problems of each class and set, and returns the classes and sets that it applied to.
fn check(name: &str, kind: &SeparationKind, soft: &SoftSettings, count: u64) -> Vec<(&'static str, &'static str)> {
    let mut applied = Vec::new();
    for (class, recipe) in recipes() {
        let (mut problems, mut open) = (0, 0);
        for set in SETS {
            for seed in 0..many(count) {
                let problem = Problem::new(&random_problem(&Recipe { set, ..recipe }, seed)).unwrap();
                match build(kind, soft, &problem) {
                    Ok(_) => {}
                    Err(Error::Settings(_)) => continue,
                    Err(error) => panic!("{name}, {class}, {set}, seed {seed}: {error}"),
                }
                let label = format!("{name}, {class}, {set}");
                open += check_separation(&label, &|problem| build(kind, soft, problem).unwrap(), &problem, seed);
                problems += 1;
                applied.push((class, set));
            }
        }
        // Whether every scenario has recourse may be beyond a solver's tolerance.
        let most = if class == "incomplete" { problems } else { 0 };
        assert!(open <= most, "{name}, {class}: {open} queries for bounds are open on {problems} problems");
    }
    applied.dedup();
    applied
}

fn soft(change: impl FnOnce(&mut SoftSettings)) -> SoftSettings {
    let mut settings = SoftSettings::default();
    change(&mut settings);
    settings
}

#[test]
fn scans_conform() {
    let applied = check("scan", &SeparationKind::Scan, &SoftSettings::default(), 3);
    assert!(applied.len() >= 31, "{applied:?}");
}

#[test]
fn branch_and_bound_on_scenarios_conforms() {
    let applied = check("split", &SeparationKind::Split, &SoftSettings::default(), 1);
    assert!(applied.len() >= 30, "{applied:?}");
}

#[test]
fn mixed_integer_programs_conform() {
    let applied = check("bilinear", &SeparationKind::Bilinear, &SoftSettings::default(), 3);
    assert!(applied.len() >= 16, "{applied:?}");
}

#[test]
fn optimality_conditions_conform() {
    // The big-M program takes minutes on some larger problems: no more of them in `make soak`.
    let count = if many(1) > 1 { 1 } else { 3 };
    let applied = check("kkt", &SeparationKind::Kkt, &SoftSettings::default(), count);
    assert!(applied.len() >= 16, "{applied:?}");
}

#[test]
fn cascades_conform() {
    let applied = check("cascade", &SeparationKind::Cascade, &SoftSettings::default(), 1);
    assert!(applied.len() >= 36, "{applied:?}");
}

#[test]
fn soft_separations_conform() {
    let members = [
        ("soft", SoftSettings::default()),
        ("soft, chains alone", soft(|settings| settings.search = Search::Chains)),
        ("soft, per assignment", soft(|settings| settings.per_assignment = Some(CatchUp::default()))),
        ("soft, Moreau", soft(|settings| settings.score = Score::Moreau(0.1))),
        (
            "soft, Moreau, chains alone",
            soft(|settings| (settings.search, settings.score) = (Search::Chains, Score::Moreau(0.1))),
        ),
    ];
    for (name, settings) in members {
        let applied = check(name, &SeparationKind::Soft, &settings, 1);
        assert!(applied.len() >= 42, "{name}: {applied:?}");
    }
}

/// A correct separation whose answers are spoilt.
struct Faulty<'p> {
    separation: Box<dyn Separation + 'p>,
    fault: Fault,
}

impl Separation for Faulty<'_> {
    fn separate(&mut self, query: &Query, pool: &mut CutPool) -> Result<Found, Error> {
        // Faults are planted in interrupted calls too.
        let mut found = self.separation.separate(&query.on(&Clock::unlimited()), pool)?;
        (self.fault)(&mut found, query, pool)?;
        Ok(found)
    }

    fn is_exact(&self) -> bool {
        self.separation.is_exact()
    }
}

/// Spoils an answer.
type Fault = fn(&mut Found, &Query, &mut CutPool) -> Result<(), Error>;

/// Faults, each with words of the message that it must cause.
const FAULTS: [(&str, Fault); 8] = [
    ("the scenario is not in the set", |found, _, _| {
        found.xi[0] += 100.0;
        Ok(())
    }),
    ("the scenario costs", |found, _, _| {
        found.value += 1.0;
        Ok(())
    }),
    ("no recourse solve", |found, _, _| {
        found.solves = 0;
        Ok(())
    }),
    ("the worst case is above the claim", |found, _, _| {
        if let Claim::Surely(at_most) = &mut found.claim {
            *at_most -= 1.0;
        }
        Ok(())
    }),
    ("the cut is not tight", |found, _, _| {
        found.cut.as_mut().unwrap().intercept -= 1.0;
        Ok(())
    }),
    ("does not hold at", |found, _, pool| {
        let mut cut = found.cut.clone().unwrap();
        cut.intercept += 1e3;
        pool.insert(&cut, &found.xi);
        Ok(())
    }),
    ("answers on one thread and on two differ", |found, _, _| {
        found.solves += rayon::current_num_threads() as u64;
        Ok(())
    }),
    ("interrupted: ", |_, query, _| match query.clock.check() {
        Ok(()) => Ok(()),
        Err(_) => Err(Error::Settings("no more time".into())),
    }),
];

fn faulty(problem: &Problem, fault: Fault) -> Box<dyn Separation + '_> {
    let separation = build(&SeparationKind::Split, &SoftSettings::default(), problem).unwrap();
    Box::new(Faulty { separation, fault })
}

fn some_problem() -> Problem {
    Problem::new(&random_problem(&Recipe { set: "box", ..Recipe::default() }, 1)).unwrap()
}

#[test]
fn faults_are_caught() {
    let problem = some_problem();
    for (message, fault) in FAULTS {
        let check = || check_separation("faulty", &|problem| faulty(problem, fault), &problem, 1);
        let words = catch_unwind(AssertUnwindSafe(check)).unwrap_err().downcast::<String>().unwrap();
        assert!(words.contains(message), "\"{message}\" expected: {words}");
    }
}

#[test]
fn open_queries_are_counted() {
    let silent: Fault = |found, _, _| {
        found.claim = Claim::Nothing;
        Ok(())
    };
    let open = check_separation("no claims", &|problem| faulty(problem, silent), &some_problem(), 1);
    assert_eq!(open, 6, "three queries at each of two decisions");
}
