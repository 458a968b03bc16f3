//! Small random problems of every kind, for tests that compare two ways to the same number.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::definition::{
    ConeDefinition, ConeKind, FirstStageDefinition, RecourseDefinition, Row, ScenarioList, Variable, VariableKind,
};
use crate::model::ProblemDefinition;
use crate::uncertainty::{SetDefinition, Sides, UncertaintyDefinition};

/// The size of a random problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Size {
    /// At most three variables, four rows and three parameters: small enough to search.
    #[default]
    Small,
    /// Up to ten variables, twelve rows and six parameters: methods need some iterations.
    Medium,
}

/// The features of a random problem.
#[derive(Debug, Clone, Copy, Default)]
pub struct Recipe {
    /// A set kind of the format; any if empty.
    pub set: &'static str,
    /// Some first-stage variables are binary or integer.
    pub integers: bool,
    /// The first-stage cost has a quadratic part.
    pub quadratic_first: bool,
    /// The recourse cost has a quadratic part.
    pub quadratic: bool,
    /// A second-order cone in the recourse.
    pub cone: bool,
    /// Costs move with ξ.
    pub cost_xi: bool,
    /// Recourse may be missing for some (x, ξ).
    pub incomplete: bool,
    /// Rows are written in units from 1e-6 to 1e6, which changes nothing.
    pub units: bool,
    /// The size.
    pub size: Size,
}

/// The dimensions of a random problem.
struct Dimensions {
    /// Entries of x.
    first: usize,
    /// Entries of ξ.
    parameters: usize,
    /// Rows of the recourse.
    rows: usize,
    /// Variables of the recourse, helpers not counted.
    recourse: usize,
}

impl Dimensions {
    fn draw(rng: &mut ChaCha8Rng, size: Size) -> Self {
        let [parameters, first, rows, recourse] = match size {
            Size::Small => [1..=3, 1..=3, 1..=4, 1..=4],
            Size::Medium => [3..=6, 4..=10, 5..=12, 5..=10],
        }
        .map(|range| rng.random_range(range));
        Self { first, parameters, rows, recourse }
    }
}

/// Returns a random problem: few variables, small integral coefficients (so that ties and degenerate bases happen),
/// ranged rows, equalities, free and bounded recourse variables. Costs of y are such that the recourse is bounded; with
/// `incomplete` off, costly helper variables make it feasible always.
pub fn random_problem(recipe: &Recipe, seed: u64) -> ProblemDefinition {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let dimensions = Dimensions::draw(&mut rng, recipe.size);
    let first_stage = random_first_stage(&mut rng, recipe, dimensions.first);
    let mut recourse = random_recourse(&mut rng, recipe, &dimensions);
    if recipe.units {
        change_units(&mut recourse.constraints, seed);
    }
    if recipe.quadratic {
        for j in 0..dimensions.recourse {
            recourse.quadratic.push((format!("y{j}"), format!("y{j}"), integer(&mut rng, 1, 4)));
        }
        if dimensions.recourse > 1 {
            recourse.quadratic.push(("y0".into(), "y1".into(), -0.5));
        }
    }
    if recipe.cone {
        add_cone(&mut rng, &mut recourse, dimensions.recourse, dimensions.parameters);
    }
    ProblemDefinition {
        name: format!("random {seed}"),
        first_stage,
        uncertainty: UncertaintyDefinition {
            parameters: (0..dimensions.parameters).map(|j| format!("g{j}")).collect(),
            set: random_set(&mut rng, recipe.set, dimensions.parameters),
        },
        recourse,
    }
}

/// An integer from `low` to `high`.
fn integer(rng: &mut ChaCha8Rng, low: i32, high: i32) -> f64 {
    f64::from(rng.random_range(low..=high))
}

/// Integral coefficients from `low` to `high` for some of `count` names with this prefix.
fn random_terms(rng: &mut ChaCha8Rng, prefix: &str, count: usize, low: i32, high: i32) -> Vec<(String, f64)> {
    (0..count)
        .filter_map(|j| {
            let value = integer(rng, low, high);
            (value != 0.0 && rng.random_bool(0.7)).then(|| (format!("{prefix}{j}"), value))
        })
        .collect()
}

fn random_first_stage(rng: &mut ChaCha8Rng, recipe: &Recipe, dim: usize) -> FirstStageDefinition {
    let mut first = FirstStageDefinition { constant: integer(rng, -2, 2), ..FirstStageDefinition::default() };
    for j in 0..dim {
        let cost = integer(rng, -3, 6);
        let mut variable = Variable::new(format!("x{j}"), cost).bounded(0.0, integer(rng, 1, 6));
        if recipe.integers {
            match rng.random_range(0..3) {
                0 => variable = Variable::binary(format!("x{j}"), cost),
                1 => variable.kind = VariableKind::Integer,
                _ => {}
            }
        }
        first.variables.push(variable);
    }
    if rng.random_bool(0.5) {
        let mut row = Row::new("budget");
        row.x = (0..dim).map(|j| (format!("x{j}"), 1.0)).collect();
        row.upper = integer(rng, 2, 8);
        first.constraints.push(row);
    }
    if recipe.quadratic_first {
        for j in 0..dim {
            first.quadratic.push((format!("x{j}"), format!("x{j}"), integer(rng, 1, 3)));
        }
        if dim > 1 {
            first.quadratic.push(("x0".into(), "x1".into(), 0.5));
        }
    }
    first
}

/// The variables and rows of a recourse.
fn random_recourse(rng: &mut ChaCha8Rng, recipe: &Recipe, dimensions: &Dimensions) -> RecourseDefinition {
    let mut recourse = RecourseDefinition::default();
    for j in 0..dimensions.recourse {
        recourse.variables.push(random_recourse_variable(rng, recipe, j, dimensions.parameters));
    }
    for i in 0..dimensions.rows {
        let mut row = Row::new(format!("r{i}"));
        row.y = random_terms(rng, "y", dimensions.recourse, -2, 3);
        row.x = random_terms(rng, "x", dimensions.first, -2, 3);
        row.xi = random_terms(rng, "g", dimensions.parameters, -3, 3);
        let side = integer(rng, -4, 6);
        match rng.random_range(0..4) {
            0 => row.upper = side,
            1 => (row.lower, row.upper) = (side, side),
            2 => (row.lower, row.upper) = (side, side + integer(rng, 1, 4)),
            _ => row.lower = side,
        }
        if !recipe.incomplete {
            for (name, sign) in [(format!("more{i}"), 1.0), (format!("less{i}"), -1.0)] {
                recourse.variables.push(Variable::new(name.clone(), integer(rng, 8, 20)));
                row.y.push((name, sign));
            }
        }
        recourse.constraints.push(row);
    }
    recourse
}

fn random_recourse_variable(rng: &mut ChaCha8Rng, recipe: &Recipe, j: usize, parameters: usize) -> Variable {
    let mut variable = Variable::new(format!("y{j}"), integer(rng, 0, 6));
    match rng.random_range(0..5) {
        0 => variable = variable.bounded(integer(rng, -3, 0), integer(rng, 0, 5)),
        1 => variable = variable.bounded(integer(rng, 0, 2), integer(rng, 2, 6)),
        2 => {
            // Free variables must cost nothing, or the recourse is unbounded.
            variable.cost = 0.0;
            variable = variable.bounded(f64::NEG_INFINITY, f64::INFINITY);
        }
        _ => {}
    }
    if recipe.cost_xi && variable.lower.is_finite() {
        variable.cost += 4.0;
        variable.cost_xi = random_terms(rng, "g", parameters, -1, 1);
    }
    variable
}

/// Multiplies each row by a power of ten. The random stream is a separate one: the problem is the same otherwise.
fn change_units(rows: &mut [Row], seed: u64) {
    let mut units = ChaCha8Rng::seed_from_u64(!seed);
    for row in rows {
        let unit = 10.0_f64.powi(units.random_range(-6..=6));
        row.y.iter_mut().chain(&mut row.x).chain(&mut row.xi).for_each(|(_, value)| *value *= unit);
        row.lower *= unit;
        row.upper *= unit;
    }
}

/// `radius ≥ ‖(y_k + g_k, 1)‖` with a costly radius: always feasible.
fn add_cone(rng: &mut ChaCha8Rng, recourse: &mut RecourseDefinition, cols: usize, dim: usize) {
    recourse.variables.push(Variable::new("radius", f64::from(rng.random_range(1..=5))));
    let mut radius = Row::new("radius row");
    radius.y = vec![("radius".into(), 1.0)];
    radius.offset = Some(0.0);
    let mut entry = Row::new("entry row");
    entry.y = vec![(format!("y{}", rng.random_range(0..cols)), 1.0)];
    entry.xi = vec![(format!("g{}", rng.random_range(0..dim)), 1.0)];
    entry.offset = Some(f64::from(rng.random_range(-1..=1)));
    let mut one = Row::new("constant row");
    one.offset = Some(-1.0);
    recourse.cones.push(ConeDefinition {
        kind: ConeKind::SecondOrder,
        rows: vec![radius.name.clone(), entry.name.clone(), one.name.clone()],
    });
    recourse.constraints.extend([radius, entry, one]);
}

fn random_set(rng: &mut ChaCha8Rng, kind: &str, dim: usize) -> SetDefinition {
    const KINDS: [&str; 6] = ["scenarios", "box", "l1", "budget", "ellipsoid", "polyhedron"];
    let kind = if kind.is_empty() { KINDS[rng.random_range(0..KINDS.len())] } else { kind };
    let mut vector = |low: f64, high: f64| -> Vec<f64> {
        (0..dim).map(|_| (rng.random_range(low..high) * 4.0).round() / 4.0).collect()
    };
    let (center, scale) = (vector(-1.0, 1.0), vector(0.25, 1.5));
    match kind {
        "scenarios" => {
            let mut points = ScenarioList::new(dim);
            for _ in 0..if dim > 3 { 60 } else { 7 } {
                points.push(&vector(-1.5, 1.5));
            }
            SetDefinition::scenarios(points)
        }
        "box" => SetDefinition::Box { upper: center.iter().zip(&scale).map(|(c, s)| c + s).collect(), lower: center },
        "l1" => SetDefinition::L1 { center, scale },
        "budget" => {
            let budget = f64::from(rng.random_range(0..=4 * dim as u32)) / 4.0;
            let sides = if rng.random_bool(0.5) { Sides::One } else { Sides::Two };
            SetDefinition::Budget { budget, sides, center, scale }
        }
        "ellipsoid" => SetDefinition::Ellipsoid {
            matrix: (0..dim).map(|i| (0..dim).map(|j| if i == j { scale[i] } else { 0.25 }).collect()).collect(),
            center,
        },
        _ => {
            let mut cap = Row::new("cap");
            cap.xi = (0..dim).map(|j| (format!("g{j}"), 1.0)).collect();
            cap.upper = center.iter().sum::<f64>() + 0.6 * scale.iter().sum::<f64>();
            SetDefinition::Polyhedron {
                upper: center.iter().zip(&scale).map(|(c, s)| c + s).collect(),
                lower: center,
                constraints: vec![cap],
            }
        }
    }
}
