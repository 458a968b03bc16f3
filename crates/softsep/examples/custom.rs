//! Two parts of your own: an uncertainty set and a separation. Neither touches the solver, and every method drives them
//! unchanged.
//!
//! The problem: stock for three regions, of which one storm hits at most one in full, or several in part: ξ ≥ 0, Σξ ≤
//! 1.

use std::borrow::Cow;
use std::sync::Arc;

use softsep::cuts::CutPool;
use softsep::definition::ScenarioList;
use softsep::recourse::{Answer, Recourse, engine};
use softsep::separation::{Claim, Found, Query, Separation, SeparationContext, SeparationFactory};
use softsep::uncertainty::{Count, Part, SetError, Shape, StateSpec, States, TooMany, Uncertainty};
use softsep::{
    BranchAndCutSettings, BundleSettings, Error, GenerationSettings, MethodSettings, Model, Problem, SeparationKind,
    SetDefinition, Settings, Sides,
};

/// The optimum; several methods agree on it below.
const OPTIMUM: f64 = 500.0;

/// `ξ ≥ 0, Σξ ≤ 1`. Geometry in closed form; the rest is that of an equal set of the crate.
#[derive(Debug)]
struct Storm {
    dim: usize,
    equal: Arc<dyn Uncertainty>,
}

impl Storm {
    fn new(dim: usize) -> Result<Self, Error> {
        Ok(Self { dim, equal: one_budget(dim).build()? })
    }
}

/// The built-in set that is equal to [`Storm`].
fn one_budget(dim: usize) -> SetDefinition {
    SetDefinition::budget(1.0, Sides::One, vec![0.0; dim], vec![1.0; dim])
}

impl Uncertainty for Storm {
    fn kind(&self) -> &'static str {
        "storm"
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn contains(&self, xi: &[f64], tolerance: f64) -> bool {
        xi.iter().all(|entry| *entry >= -tolerance) && xi.iter().sum::<f64>() <= 1.0 + tolerance
    }

    /// The best vertex: the largest entry of the direction, or the origin.
    fn support(&self, direction: &[f64], xi: &mut [f64]) -> Result<f64, SetError> {
        xi.fill(0.0);
        let best = (0..self.dim).max_by(|&a, &b| direction[a].total_cmp(&direction[b])).filter(|&i| direction[i] > 0.0);
        Ok(best.map_or(0.0, |best| {
            xi[best] = 1.0;
            direction[best]
        }))
    }

    fn nominal(&self, xi: &mut [f64]) {
        xi.fill(1.0 / (self.dim + 1) as f64);
    }

    fn extremes(&self) -> Count {
        Count::Exactly(self.dim as u128 + 1)
    }

    fn enumerate(&self, limit: usize) -> Result<Cow<'_, ScenarioList>, TooMany> {
        if self.dim + 1 > limit {
            return Err(TooMany { count: self.extremes(), limit });
        }
        let mut points = ScenarioList::new(self.dim);
        points.push(&vec![0.0; self.dim]);
        for hit in 0..self.dim {
            points.push(&(0..self.dim).map(|i| if i == hit { 1.0 } else { 0.0 }).collect::<Vec<f64>>());
        }
        Ok(Cow::Owned(points))
    }

    fn shape(&self, part: &Part) -> Option<Shape> {
        self.equal.shape(part)
    }

    fn chord(&self, xi: &[f64], direction: &[f64]) -> (f64, f64) {
        self.equal.chord(xi, direction)
    }

    fn states(&self, spec: &StateSpec) -> Result<Box<dyn States + '_>, SetError> {
        self.equal.states(spec)
    }
}

/// A separation that solves the recourse at every extreme point, and so knows the maximum.
struct EveryPoint<'p> {
    points: Cow<'p, ScenarioList>,
    engine: Box<dyn Recourse>,
    answer: Answer,
}

impl Separation for EveryPoint<'_> {
    fn separate(&mut self, query: &Query, pool: &mut CutPool) -> Result<Found, Error> {
        self.engine.at(query.x);
        let mut worst: Option<Found> = None;
        for xi in self.points.iter() {
            query.clock.check()?;
            self.engine.solve(xi, &mut self.answer)?;
            // Each answer proves a cut that holds for every x; a master may need it later.
            pool.insert_answer(&self.answer, xi);
            if worst.as_ref().is_none_or(|worst| self.answer.cost > worst.value) {
                worst = Some(Found::new(xi, &self.answer));
            }
        }
        let mut found = worst.ok_or_else(|| Error::Settings("the set has no extreme point".into()))?;
        // All scenarios were solved: the worst of them is the maximum.
        (found.claim, found.solves) = (Claim::Surely(found.value), self.points.len() as u64);
        Ok(found)
    }

    fn is_exact(&self) -> bool {
        true
    }
}

/// Builds the separation for a problem, once in each run.
struct EveryPointFactory;

impl SeparationFactory for EveryPointFactory {
    fn build<'p>(&self, problem: &'p Problem, context: &SeparationContext) -> Result<Box<dyn Separation + 'p>, Error> {
        let points = problem.set.enumerate(10_000).map_err(|refusal| Error::Settings(refusal.to_string()))?;
        let engine = engine(problem, context.clock)?;
        Ok(Box::new(EveryPoint { points, engine, answer: Answer::new(problem) }))
    }
}

/// Stock at 4 a unit in three regions; a storm destroys up to 30, 50 and 40; stock moves for 2 a unit, a shortage costs
/// 15.
fn relief(set: SetDefinition) -> Model {
    let (need, damage) = ([20.0, 25.0, 15.0], [30.0, 50.0, 40.0]);
    let mut m = Model::new("relief");
    let stock = m.first_stage_vec("stock", 3, 0.0..=200.0);
    let storm = m.uncertain_vec("storm", 3, ..);
    m.uncertainty(set);
    let short = m.recourse_vec("short", 3, 0.0..);
    let on = m.recourse_vec("sent to the next region", 3, 0.0..);
    for i in 0..3 {
        let from = (i + 2) % 3;
        m.add(format!("region {i}"), (stock[i] + short[i] + on[from] - on[i]).ge(need[i] + damage[i] * storm[i]));
    }
    let mut cost = softsep::Expr::default();
    for i in 0..3 {
        cost += 4.0 * stock[i] + 15.0 * short[i] + 2.0 * on[i];
    }
    m.minimize(cost);
    m
}

pub(crate) fn main() -> Result<(), Error> {
    let settings = Settings::default().gap(1e-6);
    let built_in = relief(one_budget(3)).solve(&settings)?.objective();
    println!("built-in set and separation: {built_in:?}");
    assert!(built_in.is_some_and(|cost| (cost - OPTIMUM).abs() < 1e-5 * OPTIMUM), "{built_in:?}");

    let model = relief(SetDefinition::custom(Storm::new(3)?));
    let every_point = || SeparationKind::custom(EveryPointFactory);
    let methods: [MethodSettings; 4] = [
        MethodSettings::Ccg(GenerationSettings::default().with_separation(every_point())),
        MethodSettings::Benders(GenerationSettings::default().with_separation(every_point())),
        BundleSettings::default().with_separation(every_point()).into(),
        BranchAndCutSettings::default().with_separation(every_point()).into(),
    ];
    for method in methods {
        let solution = model.solve(&settings.clone().method(method.clone()))?;
        println!("{method} with our own: {:?}, {:?}", solution.objective(), solution.outcome().bounds.certificate());
        assert!(solution.objective().is_some_and(|cost| (cost - OPTIMUM).abs() < 1e-5 * OPTIMUM), "{method}");
    }
    Ok(())
}
