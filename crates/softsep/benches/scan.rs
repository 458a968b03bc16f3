//! Long scenario lists: column-and-constraint generation with a scan that screens, beside the same loop with one that
//! solves every scenario, in the same run; what one exact scan needs at the optimum; and the method `ccg` itself.
#![allow(clippy::unwrap_used, missing_docs)]

use std::borrow::Cow;
use std::time::{Duration, Instant};

use softsep::cuts::CutPool;
use softsep::definition::ScenarioList;
use softsep::internals::separation::{Scan, Split};
use softsep::run::Clock;
use softsep::separation::{Found, Query, Separation};
use softsep::uncertainty::SetDefinition;
use softsep::{Problem, ProblemDefinition, Settings, solve};
use softsep_paper::instances::{LocationTransportation, Uncertain, location_transportation};

/// The gap at which all loops stop.
const GAP: f64 = 1e-3;

/// What a loop came to.
struct Ended {
    upper: f64,
    iterations: usize,
    /// The scan of the last iteration, which proves the optimum.
    last: (Found, Duration),
    scanning: Duration,
    whole: Duration,
}

/// Column-and-constraint generation from public parts: the master is the problem over the scenarios met.
fn generate(file: &ProblemDefinition, points: &ScenarioList, scan: &mut Scan) -> Ended {
    let begin = Instant::now();
    let mut met = ScenarioList::new(points.dim());
    met.push(points.row(0));
    let (mut iterations, mut scanning, mut upper) = (0, Duration::ZERO, f64::INFINITY);
    loop {
        iterations += 1;
        let set = SetDefinition::scenarios(met.clone());
        let uncertainty =
            softsep::uncertainty::UncertaintyDefinition { parameters: file.uncertainty.parameters.clone(), set };
        let master = ProblemDefinition {
            name: file.name.clone(),
            first_stage: file.first_stage.clone(),
            uncertainty,
            recourse: file.recourse.clone(),
        };
        let master = Problem::new(&master).unwrap();
        let settings = Settings { method: "extensive".parse().unwrap(), gap: 0.1 * GAP, ..Settings::default() };
        let outcome = solve(&master, &settings).unwrap();
        let x = &outcome.bounds.best().unwrap().x;
        let start = Instant::now();
        let found = scan.separate(&Query::maximum(x, &Clock::unlimited()), &mut CutPool::new(&master)).unwrap();
        let took = start.elapsed();
        scanning += took;
        upper = upper.min(master.first.value(x) + found.value);
        if upper - outcome.bounds.lower().unwrap() <= GAP * upper.abs() {
            return Ended { upper, iterations, last: (found, took), scanning, whole: begin.elapsed() };
        }
        met.push(&found.xi);
    }
}

fn compare(n: usize, count: usize) {
    let instance =
        LocationTransportation { n, uncertainty: Uncertain::Scenarios(count), mixed_integer: false, seed: 1 };
    let file = location_transportation(&instance).unwrap();
    let problem = Problem::new(&file).unwrap();
    let SetDefinition::Scenarios { points, .. } = &file.uncertainty.set else { return };
    let screened = generate(&file, points, &mut Scan::new(&problem, Cow::Borrowed(points)).unwrap());
    let start = Instant::now();
    let settings = Settings { method: "ccg".parse().unwrap(), gap: GAP, ..Settings::default() };
    let outcome = solve(&problem, &settings).unwrap();
    let ccg = start.elapsed();
    let plain = generate(&file, points, &mut Scan::plain(&problem, Cow::Borrowed(points)).unwrap());
    for value in [screened.upper, outcome.bounds.upper().unwrap()] {
        assert!((value - plain.upper).abs() <= GAP * plain.upper.abs(), "{value} and {}", plain.upper);
    }
    let (screened_last, plain_last) = (&screened.last, &plain.last);
    println!("n = {n}, {count} scenarios");
    println!(
        "  last scan  {:>9.2?} and {} recourse solves ({:.3} %) with screens, {:>9.2?} and {} without: ratio {:.1}",
        screened_last.1,
        screened_last.0.solves,
        100.0 * screened_last.0.solves as f64 / count as f64,
        plain_last.1,
        plain_last.0.solves,
        plain_last.1.as_secs_f64() / screened_last.1.as_secs_f64()
    );
    println!(
        "  all scans  {:>9.2?} ({} iterations) with screens, {:>9.2?} ({}) without: ratio {:.1}",
        screened.scanning,
        screened.iterations,
        plain.scanning,
        plain.iterations,
        plain.scanning.as_secs_f64() / screened.scanning.as_secs_f64()
    );
    println!(
        "  whole loop {:>9.2?} with screens, {:>9.2?} without: ratio {:.1}; method ccg {ccg:.2?}: ratio {:.1}",
        screened.whole,
        plain.whole,
        plain.whole.as_secs_f64() / screened.whole.as_secs_f64(),
        plain.whole.as_secs_f64() / ccg.as_secs_f64()
    );
}

/// How many scenarios one affine policy leaves to be solved: the best one over the ellipsoid that the list was drawn
/// from, at the list's optimum. It costs a cone program and a product, and settles every scenario at which it costs no
/// more than the worst one does.
fn with_one_policy(n: usize, count: usize) {
    let drawn = |uncertainty| {
        let instance = LocationTransportation { n, uncertainty, mixed_integer: false, seed: 1 };
        Problem::new(&location_transportation(&instance).unwrap()).unwrap()
    };
    let (list, ellipsoid) = (drawn(Uncertain::Scenarios(count)), drawn(Uncertain::Ellipsoid));
    let settings = Settings { method: "ccg".parse().unwrap(), gap: GAP, ..Settings::default() };
    let x = solve(&list, &settings).unwrap().bounds.best().unwrap().x.clone();
    let points = list.set.enumerate(usize::MAX).unwrap();
    let start = Instant::now();
    let screened = Scan::new(&list, Cow::Borrowed(&*points))
        .unwrap()
        .separate(&Query::maximum(&x, &Clock::unlimited()), &mut CutPool::new(&list))
        .unwrap();
    let by_rules = start.elapsed();
    let start = Instant::now();
    let mut split = Split::without_parts(&ellipsoid);
    split
        .separate(
            &Query::maximum(&x, &Clock::unlimited()).with_bound(GAP * screened.value),
            &mut CutPool::new(&ellipsoid),
        )
        .unwrap();
    let proved = split.policy().unwrap();
    let mut y = vec![0.0; list.recourse.dim()];
    let costs = points.iter().map(|xi| {
        proved.policy.at(xi, &mut y);
        list.recourse.cost.iter().zip(&y).map(|(cost, y)| cost * y).sum::<f64>()
    });
    let left = costs.filter(|&cost| cost > screened.value).count();
    println!(
        "n = {n}, {count} scenarios: the rules of known bases leave {} to solve in {by_rules:.2?}; one policy for the \
         ellipsoid leaves {left} in {:.2?}, \
         {:.1e} above the worst",
        screened.solves,
        start.elapsed(),
        (proved.value - screened.value) / screened.value
    );
}

fn main() {
    with_one_policy(30, 100_000);
    for (n, count) in [(10, 20_000), (30, 100_000), (100, 5_000)] {
        compare(n, count);
    }
}
