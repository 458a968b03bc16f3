//! What is known of a small problem without any separation: one program over all scenarios of a list, and every
//! scenario asked for the cost of a decision.

use std::cell::RefCell;

use softsep::definition::ScenarioList;
use softsep::recourse::{Answer, Recourse, engine};
use softsep::run::Clock;
use softsep::uncertainty::SetDefinition;
use softsep::{Outcome, Problem, Settings, Status, solve};

use super::body::Body;

/// Corners of a polygon around an ellipse: it is larger than the ellipse by one part in 13,000.
const CORNERS: u32 = 256;

/// Points per axis of a grid, for the optimum and for the cost of one decision.
const GRID: usize = 21;
const FINE_GRID: usize = 61;

/// Peaks of a grid that are looked at closely: the second best point of it may be the foot of the highest one.
const PEAKS: usize = 6;

/// How close the two ends of an optimum come, relative to it.
const TIGHT: f64 = 1e-5;

/// How the worst case of a set is found.
enum Worst {
    /// At one of these points.
    Among(ScenarioList),
    /// Not below the worst of the first ones, nor above the worst of the second ones, which lie around the set: Q is
    /// convex in ξ.
    Between(ScenarioList, ScenarioList),
    /// By a fine grid and a pattern search: Q is not convex in ξ.
    Inside(ScenarioList),
}

/// The optimum, between two numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Optimum {
    At { least: f64, most: f64 },
    Infeasible,
    Unbounded,
}

/// A problem with its worst cases.
pub(crate) struct Reference<'p> {
    pub(crate) problem: &'p Problem,
    set: SetDefinition,
    worst: Worst,
}

impl<'p> Reference<'p> {
    /// `None` where the set is too large.
    pub(crate) fn new(problem: &'p Problem) -> Option<Self> {
        let set = problem.definition().uncertainty.set;
        let worst = match &set {
            SetDefinition::Scenarios { points, .. } => Worst::Among(points.clone()),
            _ if problem.recourse.costs_move() => Worst::Inside(grid(&set, problem.set.dim())?),
            SetDefinition::Ellipsoid { center, matrix } if center.len() == 2 => {
                let around = 1.0 / (std::f64::consts::PI / f64::from(CORNERS)).cos();
                Worst::Between(polygon(center, matrix, 1.0), polygon(center, matrix, around))
            }
            SetDefinition::Ellipsoid { center, matrix } if center.len() == 1 => {
                let mut ends = ScenarioList::new(1);
                [-1.0, 1.0].iter().for_each(|sign| ends.push(&[center[0] + sign * matrix[0][0]]));
                Worst::Among(ends)
            }
            SetDefinition::Ellipsoid { .. } => return None,
            _ => Worst::Among(problem.set.enumerate(200).ok()?.into_owned()),
        };
        Some(Self { problem, set, worst })
    }

    /// Whether the worst case is known exactly.
    pub(crate) fn is_exact(&self) -> bool {
        matches!(self.worst, Worst::Among(_))
    }

    pub(crate) fn optimum(&self) -> Optimum {
        match &self.worst {
            Worst::Among(points) => of(&over(self.problem, points)),
            Worst::Between(inner, outer) => match (of(&over(self.problem, inner)), of(&over(self.problem, outer))) {
                (Optimum::At { least, .. }, Optimum::At { most, .. }) => Optimum::At { least, most },
                // What the set itself allows is between the two.
                (Optimum::At { least, .. }, _) => Optimum::At { least, most: f64::INFINITY },
                (inner, _) => inner,
            },
            Worst::Inside(points) => self.inside(points.clone()),
        }
    }

    /// What the points of a grid miss is added to them, until that is next to nothing.
    fn inside(&self, mut points: ScenarioList) -> Optimum {
        let mut most = f64::INFINITY;
        loop {
            let outcome = over(self.problem, &points);
            let Optimum::At { least, .. } = of(&outcome) else { return of(&outcome) };
            let x = &outcome.bounds.best().unwrap().x;
            let (cost, z) = self.search(x);
            most = most.min(cost);
            if most - least <= TIGHT * most.abs().max(1.0) || cost == f64::INFINITY {
                return Optimum::At { least, most };
            }
            points.push(&Body::new(&self.set).point(&z));
        }
    }

    /// What a decision costs, between two numbers.
    pub(crate) fn cost(&self, x: &[f64]) -> (f64, f64) {
        match &self.worst {
            Worst::Among(points) => {
                let worst = largest(self.problem, x, points);
                (worst, worst)
            }
            Worst::Between(inner, outer) => (largest(self.problem, x, inner), largest(self.problem, x, outer)),
            Worst::Inside(_) => {
                let worst = self.search(x).0;
                (worst, worst)
            }
        }
    }

    /// What a decision costs at one scenario.
    pub(crate) fn cost_at(&self, x: &[f64], xi: &[f64]) -> f64 {
        Cost::new(self.problem, x).at(xi)
    }

    /// The largest cost of a decision on a fine grid, and the z of it.
    fn search(&self, x: &[f64]) -> (f64, Vec<f64>) {
        let cost = RefCell::new(Cost::new(self.problem, x));
        Body::new(&self.set).worst(FINE_GRID, PEAKS, &|xi| cost.borrow_mut().at(xi))
    }
}

/// What a decision costs, scenario by scenario.
struct Cost {
    first: f64,
    engine: Box<dyn Recourse>,
    answer: Answer,
}

impl Cost {
    fn new(problem: &Problem, x: &[f64]) -> Self {
        let mut engine = engine(problem, &Clock::unlimited()).unwrap();
        engine.at(x);
        Self { first: problem.first.value(x), engine, answer: Answer::new(problem) }
    }

    fn at(&mut self, xi: &[f64]) -> f64 {
        self.engine.solve(xi, &mut self.answer).unwrap();
        self.first + self.answer.value
    }
}

fn largest(problem: &Problem, x: &[f64], points: &ScenarioList) -> f64 {
    let mut cost = Cost::new(problem, x);
    points.iter().map(|xi| cost.at(xi)).fold(f64::NEG_INFINITY, f64::max)
}

/// What a program over a list says.
fn of(outcome: &Outcome) -> Optimum {
    match (outcome.status, outcome.bounds.lower(), outcome.bounds.upper()) {
        (Status::Infeasible, ..) => Optimum::Infeasible,
        (Status::Unbounded, ..) => Optimum::Unbounded,
        // Clarabel may not come as close as asked for.
        (Status::Optimal | Status::Feasible, Some(least), Some(most))
            if most - least <= TIGHT * most.abs().max(1.0) =>
        {
            Optimum::At { least, most }
        }
        _ => panic!("{outcome:?}"),
    }
}

/// The program over all scenarios of a list at once.
fn over(problem: &Problem, points: &ScenarioList) -> Outcome {
    let mut file = problem.definition();
    file.uncertainty.set = SetDefinition::scenarios(points.clone());
    let settings = Settings { method: "extensive".parse().unwrap(), gap: 1e-9, ..Settings::default() };
    let outcome = solve(&Problem::new(&file).unwrap(), &settings);
    outcome.unwrap_or_else(|error| panic!("{}: {error}", problem.name))
}

fn polygon(center: &[f64], matrix: &[Vec<f64>], radius: f64) -> ScenarioList {
    let mut points = ScenarioList::new(2);
    for corner in 0..CORNERS {
        let angle = std::f64::consts::TAU * f64::from(corner) / f64::from(CORNERS);
        let (along, across) = (radius * angle.cos(), radius * angle.sin());
        points.push(&[0, 1].map(|entry| center[entry] + matrix[entry][0] * along + matrix[entry][1] * across));
    }
    points
}

/// Points all over a body of one or two dimensions.
fn grid(set: &SetDefinition, dim: usize) -> Option<ScenarioList> {
    if dim > 2 || matches!(set, SetDefinition::L1 { .. } | SetDefinition::Polyhedron { .. }) {
        return None;
    }
    let mut points = ScenarioList::new(dim);
    let body = Body::new(set);
    body.grid(if dim == 1 { GRID * GRID } else { GRID }).for_each(|z| points.push(&body.point(&z)));
    Some(points)
}
