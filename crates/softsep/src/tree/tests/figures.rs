//! Speed of the tree compared with HiGHS's own on the same program with all cuts in the model:
//! `cargo test --release -p softsep --all-features --lib tree::tests::figures -- --ignored --nocapture`.

use crate::cuts::CutPool;
use std::ops::ControlFlow;
use std::time::Instant;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::*;
use crate::recourse::{Answer, Recourse, engine};
use crate::testing::transport_problem;

fn compare(what: &str, problem: &Problem, cuts: &[Cut]) {
    let start = Instant::now();
    let (optimum, nodes) = solve_reference(problem, cuts, 0.0, Toggle::Choose);
    let highs = start.elapsed().as_secs_f64();
    let mut callback = HiddenCuts::new(problem, cuts, None);
    let start = Instant::now();
    let (ended, work) = search(problem, TreeSettings::default(), &mut callback);
    let seconds = start.elapsed().as_secs_f64();
    ended.unwrap();
    let value = callback.best.unwrap().1;
    println!(
        "{what}: {seconds:.2} s, {} nodes, {:.0} nodes/s, {} separations, {work:?}, value {value}; HiGHS {highs:.2} s, \
         {nodes} nodes, {optimum:?}",
        work.nodes,
        work.nodes as f64 / seconds,
        callback.questions
    );
    assert!((value - optimum.unwrap()).abs() <= 1e-5 * value.abs());
}

#[test]
#[ignore = "a measurement"]
fn figures_of_knapsacks() {
    for seed in 0..3 {
        let (file, cuts) = knapsack(35, 5, 30, 1.0, seed);
        compare("knapsack", &Problem::new(&file).unwrap(), &cuts);
    }
}

/// A callback that solves the recourse for every scenario of a short list, and prunes at a gap.
struct ScenarioList<'p> {
    problem: &'p Problem,
    scenarios: Vec<Vec<f64>>,
    engine: Box<dyn Recourse>,
    gap: f64,
    best: f64,
    lower: f64,
    separations: u64,
    seconds: f64,
    found: Vec<Cut>,
    pool: CutPool,
}

impl<'p> ScenarioList<'p> {
    fn new(problem: &'p Problem, count: usize, gap: f64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut draw = || (0..problem.set.dim()).map(|_| if rng.random_bool(0.25) { 1.0 } else { 0.0 }).collect();
        let scenarios = (0..count).map(|_| draw()).collect();
        let engine = engine(problem, &Clock::unlimited()).unwrap();
        let (best, lower) = (f64::INFINITY, f64::NEG_INFINITY);
        Self {
            problem,
            scenarios,
            engine,
            gap,
            best,
            lower,
            separations: 0,
            seconds: 0.0,
            found: Vec::new(),
            pool: CutPool::new(problem),
        }
    }

    fn ask(&mut self, x: &[f64], is_integral: bool) {
        let start = Instant::now();
        let mut answer = Answer::new(self.problem);
        self.engine.at(x);
        let mut worst: Option<Cut> = None;
        for xi in &self.scenarios {
            self.engine.solve(xi, &mut answer).unwrap();
            let cut = answer.cut().unwrap();
            if worst.as_ref().is_none_or(|worst| cut.at(x) > worst.at(x)) {
                worst = Some(cut);
            }
        }
        let worst = worst.unwrap();
        if is_integral {
            self.best = self.best.min(self.problem.first.value(x) + worst.at(x));
        }
        self.separations += 1;
        self.seconds += start.elapsed().as_secs_f64();
        self.pool.insert(&worst, &self.scenarios[0]);
        self.found.push(worst);
    }
}

impl LazyCutCallback for ScenarioList<'_> {
    fn separate(&mut self, points: &[Point], _run: &mut Run) -> Result<ControlFlow<Stop, Vec<bool>>, Error> {
        points.iter().for_each(|point| self.ask(&point.x, point.integral));
        Ok(ControlFlow::Continue(vec![false; points.len()]))
    }

    fn evaluate(&mut self, x: &[f64], _run: &mut Run) -> Result<(), Error> {
        self.ask(x, true);
        Ok(())
    }

    fn pool(&self) -> &CutPool {
        &self.pool
    }

    fn cutoff(&self, _run: &Run) -> f64 {
        if self.best.is_finite() { self.best - self.gap * self.best.abs() } else { f64::INFINITY }
    }

    fn lower_bound_rose(&mut self, lower: f64, _run: &mut Run) -> Result<Option<Stop>, Error> {
        self.lower = lower;
        Ok(None)
    }
}

#[test]
#[ignore = "a measurement"]
fn figures_of_location_transportation() {
    for (n, scenarios, gap) in [(30, 20, 1e-6), (100, 5, 1e-3), (100, 5, 1e-4), (100, 5, 1e-5)] {
        let problem = Problem::new(&transport_problem(n, true, 1)).unwrap();
        let mut callback = ScenarioList::new(&problem, scenarios, gap);
        let clock = Clock::new(Some(std::time::Duration::from_secs(60)), Default::default());
        let mut silent = Silent;
        let mut run = Run::new("tree", Limits { gap: 0.0, ..Limits::default() }, clock.clone(), &mut silent);
        let mut tree = Tree::new(&problem, TreeSettings::default(), &clock).unwrap();
        let ended = tree.search(&mut callback, &mut run);
        let seconds = clock.seconds() - callback.seconds;
        let work = tree.work();
        println!(
            "location-transportation, n = {n}, gap {gap}: {ended:?}, {seconds:.2} s beside {:.2} s of {} separations, \
             {} \
             nodes, {:.0} nodes/s, {work:?}, {} cuts, {} in the programs, [{}, {}]",
            callback.seconds,
            callback.separations,
            work.nodes,
            work.nodes as f64 / seconds,
            tree.cuts(),
            tree.rows(),
            callback.lower,
            callback.best
        );
        let start = Instant::now();
        let (optimum, nodes) = solve_reference(&problem, &callback.found, gap, Toggle::Choose);
        println!("    HiGHS on the cuts found: {:.2} s, {nodes} nodes, {optimum:?}", start.elapsed().as_secs_f64());
    }
}
