//! One replication of the settings of Figures 1 to 3 of the paper: Algorithm 1 on location–transportation with a list
//! of scenarios, with the exact gap of the decision that it would return at each iteration.

use std::sync::Arc;

use serde_json::{Map, Value};
use softsep::cuts::CutPool;
use softsep::internals::separation::Scan;
use softsep::methods::MethodSettings;
use softsep::run::{Clock, Event, Observer, Stop};
use softsep::separation::{Query, Separation};
use softsep::{Certify, Problem, Settings, solve, solve_with};
use softsep_paper::instances::{LocationTransportation, Uncertain, location_transportation};

/// The gap to which the optimum is known.
const OPTIMUM: f64 = 1e-9;

/// A gap that has risen so many times above the smallest so far has rebounded. It may do so again once it has come back
/// below.
const REBOUND: f64 = 1.5;

/// Iterations after which the first fast descent is over.
const SETTLED: u64 = 100;

/// A problem with its optimum.
pub(crate) struct Instance {
    problem: Problem,
    optimum: f64,
    seed: u64,
}

impl Instance {
    /// An instance with this number of sites and customers, and a list of points on an ellipsoid's boundary.
    pub(crate) fn draw(sites: usize, scenarios: usize, seed: u64) -> Self {
        let uncertainty = Uncertain::Scenarios(scenarios);
        let drawn = LocationTransportation { n: sites, uncertainty, mixed_integer: false, seed };
        let problem = Problem::new(&location_transportation(&drawn).unwrap()).unwrap();
        let settings =
            Settings { method: "ccg".parse().unwrap(), gap: OPTIMUM, threads: Some(1), ..Settings::default() };
        let outcome = solve(&problem, &settings).unwrap();
        assert!(outcome.bounds.meet(OPTIMUM), "seed {seed}: ccg stopped short of the optimum");
        Self { optimum: outcome.bounds.upper().unwrap(), problem, seed }
    }

    /// Runs Algorithm 1 as printed for so many iterations; `options` may add to that.
    pub(crate) fn descend(&self, options: &Map<String, Value>, iterations: u64) -> Trajectory {
        let mut all = Map::from_iter([("preset".to_owned(), Value::from("paper"))]);
        all.extend(options.clone());
        let points = self.problem.set.enumerate(usize::MAX).unwrap();
        let mut watch = Watch {
            problem: &self.problem,
            scan: Scan::new(&self.problem, points).unwrap(),
            optimum: self.optimum,
            x: Vec::new(),
            trajectory: Trajectory::default(),
        };
        let settings = Settings {
            method: MethodSettings::parse("sgd", &all).unwrap(),
            gap: 0.0,
            iterations: Some(iterations),
            seed: self.seed,
            threads: Some(1),
            // A decision proved during the run would be returned in place of the averages after it.
            certify: Certify::None,
            ..Settings::default()
        };
        let outcome = solve_with(&self.problem, &settings, &mut watch, &Arc::default()).unwrap();
        assert_eq!((outcome.iterations, outcome.stop), (iterations, Stop::IterationLimit), "{}", self.problem.name);
        watch.trajectory
    }
}

/// The gaps of the decisions that would have been returned, each with the iteration from which on.
#[derive(Default)]
pub(crate) struct Trajectory(Vec<(u64, f64)>);

impl Trajectory {
    /// The gap of the decision that is returned after so many iterations.
    pub(crate) fn after(&self, iterations: u64) -> f64 {
        self.0.iter().rev().find(|point| point.0 <= iterations).map_or(f64::INFINITY, |point| point.1)
    }

    /// The logarithm of that gap, or of [`OPTIMUM`], the precision of the known optimum, where the gap is smaller.
    pub(crate) fn log_gap(&self, iterations: u64) -> f64 {
        self.after(iterations).max(OPTIMUM).ln()
    }

    /// The number of times that the gap rose to more than [`REBOUND`] times the smallest so far.
    pub(crate) fn rebounds(&self) -> f64 {
        let (mut least, mut is_up, mut count) = (f64::INFINITY, false, 0.0);
        for &(_, gap) in &self.0 {
            least = least.min(gap).max(OPTIMUM);
            let was_up = std::mem::replace(&mut is_up, gap > REBOUND * least);
            count += f64::from(u8::from(is_up && !was_up));
        }
        count
    }

    /// The sum of all rises of the logarithm of the gap after [`SETTLED`] iterations. Small rebounds count too, which
    /// distinguishes two proposals with fewer replications than a count of large ones.
    pub(crate) fn climb(&self) -> f64 {
        let rise = |pair: &[(u64, f64)]| (pair[1].1.max(OPTIMUM) / pair[0].1.max(OPTIMUM)).ln().max(0.0);
        self.0.windows(2).filter(|pair| pair[0].0 >= SETTLED).map(rise).sum()
    }
}

/// Evaluates every decision that would be returned.
struct Watch<'p> {
    problem: &'p Problem,
    scan: Scan<'p>,
    optimum: f64,
    x: Vec<f64>,
    trajectory: Trajectory,
}

impl Observer for Watch<'_> {
    fn see(&mut self, event: &Event) {
        let Event::Step(record) = event else { return };
        let Some(best) = record.bounds.best().filter(|best| best.x != self.x) else { return };
        self.x.clone_from(&best.x);
        let worst = self
            .scan
            .separate(&Query::maximum(&self.x, &Clock::unlimited()), &mut CutPool::new(self.problem))
            .unwrap()
            .value;
        let gap = (self.problem.first.value(&self.x) + worst - self.optimum) / self.optimum.abs();
        self.trajectory.0.push((record.iteration, gap));
    }
}

/// The quartiles of a sample: the second is the median.
pub(crate) fn quartiles(mut sample: Vec<f64>) -> [f64; 3] {
    sample.sort_by(f64::total_cmp);
    [0.25, 0.5, 0.75].map(|share| {
        let position = share * (sample.len() - 1) as f64;
        let (below, above) = (sample[position.floor() as usize], sample[position.ceil() as usize]);
        below + position.fract() * (above - below)
    })
}

/// The mean of a sample and its standard error.
pub(crate) fn mean(sample: &[f64]) -> (f64, f64) {
    let count = sample.len() as f64;
    let mean = sample.iter().sum::<f64>() / count;
    let squares = sample.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (mean, (squares / (count * (count - 1.0))).sqrt())
}
