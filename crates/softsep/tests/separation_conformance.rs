//! Every separation passes `testing::check_separation` on random problems of all set kinds that it applies to.
#![allow(clippy::unwrap_used, clippy::panic)]

use softsep::run::Clock;
use softsep::separation::soft::{CatchUp, Score, Search};
use softsep::separation::{Proof, Separation, SeparationContext, SeparationKind, SoftSettings, build_separation};
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
    let applied = check("split", &SeparationKind::Split, &SoftSettings::default(), 2);
    assert!(applied.len() >= 30, "{applied:?}");
}

#[test]
fn mixed_integer_programs_conform() {
    let applied = check("bilinear", &SeparationKind::Bilinear, &SoftSettings::default(), 3);
    assert!(applied.len() >= 16, "{applied:?}");
}

#[test]
fn cascades_conform() {
    let applied = check("cascade", &SeparationKind::Cascade, &SoftSettings::default(), 2);
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
