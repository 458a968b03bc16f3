//! `Model`: a problem stated in Rust, with handles for variables and operators for rows.

mod expression;
mod solution;
#[cfg(test)]
mod tests;

pub use expression::{Constraint, Expr, FirstStageVar, RecourseVar, UncertainParam};
pub use solution::{Key, Solution};

use std::collections::HashMap;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::definition::{Complaints, Row, ScenarioList, Terms, Variable, VariableKind, item};
use crate::error::Error;
use crate::model::{Problem, ProblemDefinition};
use crate::run::{Observer, Silent};
use crate::settings::Settings;
use crate::solve::solve_with;
use crate::uncertainty::SetDefinition;
use expression::Handle;

/// A two-stage problem that a program states.
///
/// Variables are handles: small values that operators combine into [`Expr`]essions. Names are for people: results and
/// messages show them. Bounds of variables are ranges: `0.0..`, `0.0..=800.0`, or `..` for a free one.
///
/// ```
/// use softsep::{Model, Settings};
///
/// let mut m = Model::new("one depot, one customer");
/// let open = m.binary("open");
/// let capacity = m.first_stage("capacity", 0.0..=800.0);
/// let g = m.uncertain("g", 0.0..=1.0);
/// let (ship, emergency) = (m.recourse("ship", 0.0..), m.recourse("emergency", 0.0..));
/// m.minimize(400.0 * open + 18.0 * capacity + 22.0 * ship + 150.0 * emergency);
/// m.add("link", capacity.le(800.0 * open));
/// m.add("supply", ship.le(capacity));
/// m.add("demand", (ship + emergency).ge(206.0 + 40.0 * g));
/// let result = m.solve(&Settings::default())?;
/// assert_eq!((result[open], result[capacity], result[g]), (1.0, 246.0, 1.0));
/// assert_eq!(result.objective(), Some(10_240.0));
/// # Ok::<(), softsep::Error>(())
/// ```
///
/// **The set.** Without [`uncertainty`](Self::uncertainty) the parameters take all values within their bounds, and
/// within the constraints in ξ alone that were added: a box or a polyhedron.
///
/// **Faults** (a handle of another model, an infinite box, a name used twice) are kept, and [`problem`](Self::problem)
/// and [`solve`](Self::solve) return all of them at once as [`Complaints`], each with the name of its place.
///
/// **Quadratic costs and cones** have no operators. They are stated by name in the definition, see
/// [`definition_mut`](Self::definition_mut).
#[derive(Debug, Clone)]
pub struct Model {
    id: u32,
    definition: ProblemDefinition,
    /// Faults that a definition cannot hold.
    faults: Complaints,
    /// Whether the set is made of the parameters' bounds and of constraints in ξ.
    is_set_own: bool,
}

/// Tells the handles of one model from those of another.
static NEXT_MODEL: AtomicU32 = AtomicU32::new(0);

impl Model {
    /// A problem without variables; `name` is its title.
    pub fn new(name: impl Into<String>) -> Self {
        let definition = ProblemDefinition { name: name.into(), ..ProblemDefinition::default() };
        let id = NEXT_MODEL.fetch_add(1, Ordering::Relaxed);
        Self { id, definition, faults: Complaints::new(), is_set_own: true }
    }

    /// A continuous first-stage variable.
    pub fn first_stage(&mut self, name: impl Into<String>, bounds: impl RangeBounds<f64>) -> FirstStageVar {
        self.push_first(name.into(), VariableKind::Continuous, &bounds)
    }

    /// A first-stage variable that takes integers.
    pub fn integer(&mut self, name: impl Into<String>, bounds: impl RangeBounds<f64>) -> FirstStageVar {
        self.push_first(name.into(), VariableKind::Integer, &bounds)
    }

    /// A first-stage variable that is 0 or 1.
    pub fn binary(&mut self, name: impl Into<String>) -> FirstStageVar {
        self.push_first(name.into(), VariableKind::Binary, &(0.0..=1.0))
    }

    /// A recourse variable: chosen once ξ is known, and continuous.
    pub fn recourse(&mut self, name: impl Into<String>, bounds: impl RangeBounds<f64>) -> RecourseVar {
        let name = name.into();
        let index = self.definition.recourse.variables.len();
        let (lower, upper) = self.bounds("recourse.variables", index, &name, &bounds);
        self.definition.recourse.variables.push(Variable::new(name, 0.0).bounded(lower, upper));
        RecourseVar(self.handle(index))
    }

    /// An uncertain parameter. Give `..` for bounds where [`uncertainty`](Self::uncertainty) gives the set.
    pub fn uncertain(&mut self, name: impl Into<String>, bounds: impl RangeBounds<f64>) -> UncertainParam {
        let name = name.into();
        let index = self.definition.uncertainty.parameters.len();
        let (low, high) = self.bounds("uncertainty.parameters", index, &name, &bounds);
        match &mut self.definition.uncertainty.set {
            SetDefinition::Box { lower, upper } | SetDefinition::Polyhedron { lower, upper, .. } if self.is_set_own => {
                lower.push(low);
                upper.push(high);
            }
            _ if low.is_infinite() && high.is_infinite() => {}
            _ => self.faults.add(item("uncertainty.parameters", index, &name), BOUNDS_BESIDE_SET),
        }
        self.definition.uncertainty.parameters.push(name);
        UncertainParam(self.handle(index))
    }

    /// `count` continuous first-stage variables, named `name[0]`, `name[1]`, ….
    pub fn first_stage_vec(
        &mut self,
        name: &str,
        count: usize,
        bounds: impl RangeBounds<f64> + Clone,
    ) -> Vec<FirstStageVar> {
        (0..count).map(|i| self.first_stage(format!("{name}[{i}]"), bounds.clone())).collect()
    }

    /// `count` first-stage variables that take integers, named `name[0]`, `name[1]`, ….
    pub fn integer_vec(
        &mut self,
        name: &str,
        count: usize,
        bounds: impl RangeBounds<f64> + Clone,
    ) -> Vec<FirstStageVar> {
        (0..count).map(|i| self.integer(format!("{name}[{i}]"), bounds.clone())).collect()
    }

    /// `count` first-stage variables that are 0 or 1, named `name[0]`, `name[1]`, ….
    pub fn binary_vec(&mut self, name: &str, count: usize) -> Vec<FirstStageVar> {
        (0..count).map(|i| self.binary(format!("{name}[{i}]"))).collect()
    }

    /// `count` recourse variables, named `name[0]`, `name[1]`, ….
    pub fn recourse_vec(
        &mut self,
        name: &str,
        count: usize,
        bounds: impl RangeBounds<f64> + Clone,
    ) -> Vec<RecourseVar> {
        (0..count).map(|i| self.recourse(format!("{name}[{i}]"), bounds.clone())).collect()
    }

    /// `count` uncertain parameters, named `name[0]`, `name[1]`, ….
    pub fn uncertain_vec(
        &mut self,
        name: &str,
        count: usize,
        bounds: impl RangeBounds<f64> + Clone,
    ) -> Vec<UncertainParam> {
        (0..count).map(|i| self.uncertain(format!("{name}[{i}]"), bounds.clone())).collect()
    }

    /// Adds a constraint. In x alone it is one of the first stage, in ξ alone one of the set; with y, or with x and ξ,
    /// the recourse has to keep it for every ξ.
    pub fn add(&mut self, name: impl Into<String>, constraint: Constraint) {
        let Constraint { expr, lower, upper } = constraint;
        let mut row = Row { lower, upper, ..Row::new(name) };
        let what = format!("the constraint \"{}\"", row.name);
        row.x = self.terms(expr.x, HandleKind::FirstStage, &what);
        row.xi = self.terms(expr.xi, HandleKind::Uncertain, &what);
        row.y = self.terms(expr.y, HandleKind::Recourse, &what);
        if !expr.products.is_empty() {
            let why = "has a product of a recourse variable and an uncertain parameter; an objective may have one";
            self.faults.add(what, why);
        }
        match (row.y.is_empty(), row.xi.is_empty(), row.x.is_empty()) {
            (true, true, _) => self.definition.first_stage.constraints.push(row),
            (true, false, true) => self.add_to_set(row),
            _ => self.definition.recourse.constraints.push(row),
        }
    }

    /// The cost: of the first stage and, in the worst case, of the recourse. A later call replaces an earlier one.
    ///
    /// A product y·ξ is a cost of y that moves with ξ. A term in ξ alone is refused: give it to a recourse variable
    /// that an equality fixes to it.
    pub fn minimize(&mut self, cost: impl Into<Expr>) {
        let cost = cost.into();
        let (first, recourse) = (&mut self.definition.first_stage.variables, &mut self.definition.recourse.variables);
        for variable in first.iter_mut().chain(recourse) {
            variable.cost = 0.0;
            variable.cost_xi.clear();
        }
        self.definition.first_stage.constant = cost.constant;
        for (handle, coefficient) in cost.x {
            if let Some(variable) = self.index(handle, HandleKind::FirstStage, OBJECTIVE) {
                self.definition.first_stage.variables[variable].cost += coefficient;
            }
        }
        for (handle, coefficient) in cost.y {
            if let Some(variable) = self.index(handle, HandleKind::Recourse, OBJECTIVE) {
                self.definition.recourse.variables[variable].cost += coefficient;
            }
        }
        let mut moving: Vec<(usize, Vec<(Handle, f64)>)> = Vec::new();
        for (y, xi, coefficient) in cost.products {
            let Some(variable) = self.index(y, HandleKind::Recourse, OBJECTIVE) else { continue };
            match moving.last_mut().filter(|(last, _)| *last == variable) {
                Some((_, terms)) => terms.push((xi, coefficient)),
                None => moving.push((variable, vec![(xi, coefficient)])),
            }
        }
        for (variable, terms) in moving {
            let terms = self.terms(terms, HandleKind::Uncertain, OBJECTIVE);
            let known = &mut self.definition.recourse.variables[variable].cost_xi;
            for (name, coefficient) in terms {
                match known.iter_mut().find(|(other, _)| *other == name) {
                    Some((_, sum)) => *sum += coefficient,
                    None => known.push((name, coefficient)),
                }
            }
        }
        for (name, _) in self.terms(cost.xi, HandleKind::Uncertain, OBJECTIVE) {
            let why = format!(
                "has a term in the uncertain parameter \"{name}\" alone; add a recourse variable that an equality \
                 fixes to it, and give that the cost"
            );
            self.faults.add(OBJECTIVE, why);
        }
    }

    /// The set Ξ, in place of the parameters' bounds; arrays follow the order in which the parameters were made.
    pub fn uncertainty(&mut self, set: SetDefinition) {
        if self.is_set_own {
            match &self.definition.uncertainty.set {
                SetDefinition::Box { lower, upper } => {
                    let is_free = |i: &usize| lower[*i].is_infinite() && upper[*i].is_infinite();
                    for i in (0..lower.len()).filter(|i| !is_free(i)) {
                        let place = item("uncertainty.parameters", i, &self.definition.uncertainty.parameters[i]);
                        self.faults.add(place, BOUNDS_BESIDE_SET);
                    }
                }
                _ => self.faults.add("uncertainty.set", "is given beside constraints in ξ alone, which make a set too"),
            }
        }
        self.is_set_own = false;
        self.definition.uncertainty.set = set;
    }

    /// A list of scenarios as the set; each has one value for each parameter, in the order in which these were made.
    pub fn scenarios<S: AsRef<[f64]>>(&mut self, scenarios: impl IntoIterator<Item = S>) {
        let dim = self.definition.uncertainty.parameters.len();
        let mut points = ScenarioList::new(dim);
        for (i, scenario) in scenarios.into_iter().enumerate() {
            let scenario = scenario.as_ref();
            if scenario.len() == dim {
                points.push(scenario);
            } else {
                let why = format!("has {} values where {dim} parameters are declared", scenario.len());
                self.faults.add(item("scenarios", i, ""), why);
            }
        }
        self.uncertainty(SetDefinition::scenarios(points));
    }

    /// The problem by names, as stated so far.
    pub fn definition(&self) -> &ProblemDefinition {
        &self.definition
    }

    /// The problem by names, for parts without an operator: quadratic costs, cones, offsets of rows in cones. Handles
    /// refer to variables by their position, which must stay.
    ///
    /// ```
    /// # let mut m = softsep::Model::new("quadratic");
    /// let ship = m.recourse("ship", 0.0..);
    /// let name = m.name(ship).to_owned();
    /// m.definition_mut().recourse.quadratic.push((name.clone(), name, 2.0)); // adds ½·2·ship²
    /// ```
    pub fn definition_mut(&mut self) -> &mut ProblemDefinition {
        &mut self.definition
    }

    /// The name of a variable or parameter of this model; empty for a handle of another one.
    pub fn name<'k>(&self, handle: impl Into<Key<'k>>) -> &str {
        let found = handle.into().handle().filter(|(_, handle)| handle.model == self.id);
        found.and_then(|(family, handle)| self.name_at(family, handle.index as usize)).unwrap_or_default()
    }

    /// The checked problem, or every fault of it.
    pub fn problem(&self) -> Result<Problem, Complaints> {
        match (Problem::new(&self.definition), self.faults.is_empty()) {
            (Ok(problem), true) => Ok(problem),
            (checked, _) => {
                let mut faults = self.faults.clone();
                faults.extend(checked.err().unwrap_or_default());
                Err(faults)
            }
        }
    }

    /// Solves the problem.
    pub fn solve(&self, settings: &Settings) -> Result<Solution, Error> {
        self.solve_with(settings, &mut Silent, &Arc::default())
    }

    /// Solves the problem under an observer. Raising `interrupt` ends the run soon, with the best result so far.
    pub fn solve_with(
        &self,
        settings: &Settings,
        observer: &mut (dyn Observer + Send),
        interrupt: &Arc<AtomicBool>,
    ) -> Result<Solution, Error> {
        let problem = self.problem()?;
        let outcome = solve_with(&problem, settings, observer, interrupt)?;
        Ok(Solution { model: self.id, problem, outcome })
    }

    fn handle(&self, index: usize) -> Handle {
        // More than 2³² variables do not fit into memory.
        Handle { model: self.id, index: index as u32 }
    }

    fn push_first(&mut self, name: String, kind: VariableKind, bounds: &impl RangeBounds<f64>) -> FirstStageVar {
        let index = self.definition.first_stage.variables.len();
        let (lower, upper) = self.bounds("first_stage.variables", index, &name, bounds);
        self.definition.first_stage.variables.push(Variable { kind, ..Variable::new(name, 0.0).bounded(lower, upper) });
        FirstStageVar(self.handle(index))
    }

    fn bounds(&mut self, list: &str, index: usize, name: &str, bounds: &impl RangeBounds<f64>) -> (f64, f64) {
        let lower = match bounds.start_bound() {
            Bound::Included(lower) | Bound::Excluded(lower) => *lower,
            Bound::Unbounded => f64::NEG_INFINITY,
        };
        let upper = match bounds.end_bound() {
            Bound::Included(upper) => *upper,
            Bound::Unbounded => f64::INFINITY,
            Bound::Excluded(upper) => {
                let why = format!("its range excludes the upper bound {upper:?}; write ..={upper:?}");
                self.faults.add(item(list, index, name), why);
                *upper
            }
        };
        (lower, upper)
    }

    /// A constraint in ξ alone: the set becomes a polyhedron.
    fn add_to_set(&mut self, row: Row) {
        if !self.is_set_own {
            let place = format!("the constraint \"{}\"", row.name);
            self.faults.add(place, "has uncertain parameters only, and the set is given already");
            return;
        }
        let set = &mut self.definition.uncertainty.set;
        if let SetDefinition::Box { lower, upper } = set {
            let (lower, upper) = (std::mem::take(lower), std::mem::take(upper));
            *set = SetDefinition::Polyhedron { lower, upper, constraints: Vec::new() };
        }
        if let SetDefinition::Polyhedron { constraints, .. } = set {
            constraints.push(row);
        }
    }

    /// Terms by name, each name once, in the order of first use; `what` names their owner in complaints.
    fn terms(&mut self, terms: Vec<(Handle, f64)>, family: HandleKind, what: &str) -> Terms {
        let mut position: HashMap<usize, usize> = HashMap::with_capacity(terms.len());
        let mut sums: Vec<(usize, f64)> = Vec::with_capacity(terms.len());
        for (handle, coefficient) in terms {
            let Some(index) = self.index(handle, family, what) else { continue };
            let at = *position.entry(index).or_insert(sums.len());
            match sums.get_mut(at) {
                Some((_, sum)) => *sum += coefficient,
                None => sums.push((index, coefficient)),
            }
        }
        let named = |(index, sum): (usize, f64)| (self.name_at(family, index).unwrap_or_default().to_owned(), sum);
        // Terms that cancel are left out; a NaN is not, and will be complained about.
        sums.into_iter().filter(|(_, sum)| *sum != 0.0).map(named).collect()
    }

    fn index(&mut self, handle: Handle, family: HandleKind, what: &str) -> Option<usize> {
        let index = handle.index as usize;
        let is_known = handle.model == self.id && self.name_at(family, index).is_some();
        if !is_known {
            self.faults.add(what, format!("has {} of another model", family.word()));
        }
        is_known.then_some(index)
    }

    fn name_at(&self, family: HandleKind, index: usize) -> Option<&str> {
        let variables = match family {
            HandleKind::FirstStage => &self.definition.first_stage.variables,
            HandleKind::Recourse => &self.definition.recourse.variables,
            HandleKind::Uncertain => return self.definition.uncertainty.parameters.get(index).map(String::as_str),
        };
        variables.get(index).map(|variable| variable.name.as_str())
    }
}

const OBJECTIVE: &str = "the objective";

const BOUNDS_BESIDE_SET: &str = "has bounds beside a set, which says all; write .. for its bounds";

/// The list that a handle refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HandleKind {
    FirstStage,
    Uncertain,
    Recourse,
}

impl HandleKind {
    fn word(self) -> &'static str {
        match self {
            HandleKind::FirstStage => "a first-stage variable",
            HandleKind::Uncertain => "an uncertain parameter",
            HandleKind::Recourse => "a recourse variable",
        }
    }
}
