//! The checked problem: the names of a definition become indices, and every fault of it is found.

use std::collections::HashMap;
use std::sync::Arc;

use super::convex::find_indefinite;
use super::engine::EngineFactory;
use super::{FirstStage, Names, ProblemDefinition, RecourseModel, Sparse, Symmetric};
use crate::definition::{
    Complaints, DefinitionCheck, FirstStageDefinition, Index, Quadratic, RecourseDefinition, Variable, VariableKind,
    item,
};
use crate::uncertainty::{self, Uncertainty, UncertaintyDefinition};

/// A checked two-stage problem; it does not change any more.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Problem {
    /// The title of the problem.
    pub name: String,
    /// f and X.
    pub first: FirstStage,
    /// Ξ.
    pub set: Arc<dyn Uncertainty>,
    /// Q.
    pub recourse: RecourseModel,
    /// Names by index.
    pub names: Names,
    /// The engines that evaluate Q; the built-in one where `None`.
    pub(crate) engine: Option<Arc<dyn EngineFactory>>,
}

/// The names that terms may use.
struct Indices<'f> {
    x: Index<'f>,
    y: Index<'f>,
    xi: Index<'f>,
}

impl Problem {
    /// Checks the whole `definition` and resolves its names. The error lists every fault.
    pub fn new(definition: &ProblemDefinition) -> Result<Self, Complaints> {
        Self::after_reader(definition, Complaints::new())
    }

    /// As [`Problem::new`], for a definition whose reader made `complaints`: the error lists these and all further
    /// faults.
    ///
    /// The reader puts a placeholder where it could not read something: NaN for a number, an empty name, an empty list,
    /// a box of NaN for a set. If it complained, no complaint is made about placeholders.
    pub fn after_reader(definition: &ProblemDefinition, mut complaints: Complaints) -> Result<Self, Complaints> {
        let after_reader = !complaints.is_empty();
        let mut check = DefinitionCheck::of_stages(&mut complaints, after_reader);
        let names = Names {
            first: definition.first_stage.variables.iter().map(|variable| variable.name.clone()).collect(),
            first_rows: definition.first_stage.constraints.iter().map(|row| row.name.clone()).collect(),
            parameters: definition.uncertainty.parameters.clone(),
            recourse: definition.recourse.variables.iter().map(|variable| variable.name.clone()).collect(),
            recourse_rows: definition.recourse.constraints.iter().map(|row| row.name.clone()).collect(),
        };
        let mut index = Indices {
            x: check.names("first_stage.variables", "a first-stage variable", strs(&names.first)),
            xi: check.names("uncertainty.parameters", "an uncertain parameter", strs(&names.parameters)),
            y: check.names("recourse.variables", "a recourse variable", strs(&names.recourse)),
        };
        check.names("first_stage.constraints", "a first-stage row", strs(&names.first_rows));
        let first = check.first_stage(&definition.first_stage, &mut index);
        let set = check.set(&definition.uncertainty);
        let mut rows = check.names("recourse.constraints", "a recourse row", strs(&names.recourse_rows));
        let recourse = check.recourse(&definition.recourse, &mut index, &mut rows);
        match set {
            Some(set) if complaints.is_empty() => {
                let (mut first, mut recourse) = (first, recourse);
                let mut typical = vec![0.0; set.dim()];
                set.nominal(&mut typical);
                first.scale_rows();
                recourse.scale_rows(&typical);
                Ok(Self { name: definition.name.clone(), first, set, recourse, names, engine: None })
            }
            _ => Err(complaints),
        }
    }

    /// The continuous relaxation: the same problem without integrality.
    pub fn relaxed(&self) -> Problem {
        let mut relaxed = self.clone();
        relaxed.first.kind.fill(VariableKind::Continuous);
        relaxed
    }

    /// The definition of this problem; [`Problem::new`] makes an equal problem of it.
    pub fn definition(&self) -> ProblemDefinition {
        super::describe::describe(self)
    }

    /// A first-stage decision given by name, in the order of the variables. Whether it is feasible is not asked here.
    pub fn decision(&self, values: &[(String, f64)]) -> Result<Vec<f64>, Complaints> {
        let mut complaints = Complaints::new();
        let mut check = DefinitionCheck::of_stages(&mut complaints, false);
        let mut index = check.names("first_stage.variables", "a first-stage variable", strs(&self.names.first));
        let mut x = vec![None; self.first.dim()];
        for (name, value) in values {
            let place = || format!("\"{name}\"");
            let Some(i) = check.resolve(&mut index, name, &String::new, "the decision") else { continue };
            check.finite(*value, &place, || "the value".to_owned());
            if x[i].replace(*value).is_some() {
                check.complaints.add(place(), "the decision has two values for it");
            }
        }
        for (name, _) in self.names.first.iter().zip(&x).filter(|(_, value)| value.is_none()) {
            check.complaints.add("", format!("the decision has no value for \"{name}\""));
        }
        if complaints.is_empty() { Ok(x.into_iter().flatten().collect()) } else { Err(complaints) }
    }
}

fn strs(names: &[String]) -> impl Iterator<Item = &str> {
    names.iter().map(String::as_str)
}

fn columns<T>(variables: &[Variable], field: impl Fn(&Variable) -> T) -> Vec<T> {
    variables.iter().map(field).collect()
}

impl DefinitionCheck<'_> {
    fn set(&mut self, definition: &UncertaintyDefinition) -> Option<Arc<dyn Uncertainty>> {
        let (place, before) = ("uncertainty.set", self.complaints.len());
        let set = uncertainty::build(&definition.set, &definition.parameters, place, self.complaints);
        // Sets leave complaints about NaN to the reader, but a program may have made this one.
        if set.is_none() && self.complaints.len() == before && !self.after_reader {
            self.complaints.add(place, "holds a NaN, which is not a number");
        }
        set
    }

    fn first_stage(&mut self, stage: &FirstStageDefinition, index: &mut Indices) -> FirstStage {
        let variables = &stage.variables;
        for (i, variable) in variables.iter().enumerate() {
            let place = || item("first_stage.variables", i, &variable.name);
            self.variable(variable, &place);
            if !variable.cost_xi.is_empty() {
                self.complaints.add(place(), "\"cost_xi\" is for recourse variables only");
            }
        }
        let mut rows = Sparse::new(variables.len());
        for (i, row) in stage.constraints.iter().enumerate() {
            let place = || item("first_stage.constraints", i, &row.name);
            rows.push_row(self.terms(&mut index.x, &row.x, &place, "x"));
            if !row.y.is_empty() || !row.xi.is_empty() || row.offset.is_some() {
                self.complaints.add(place(), "a first-stage row has \"x\" terms and bounds only");
            }
            self.row_bounds(row.lower, row.upper, &place);
        }
        self.finite(stage.constant, &|| "first_stage".to_owned(), || "\"constant\"".to_owned());
        FirstStage {
            cost: columns(variables, |variable| variable.cost),
            constant: stage.constant,
            quadratic: self.quadratic("first_stage.quadratic", &stage.quadratic, &mut index.x, variables),
            lower: columns(variables, |variable| variable.lower),
            upper: columns(variables, |variable| variable.upper),
            kind: columns(variables, |variable| variable.kind),
            rows,
            row_lower: stage.constraints.iter().map(|row| row.lower).collect(),
            row_upper: stage.constraints.iter().map(|row| row.upper).collect(),
            row_scale: vec![1.0; stage.constraints.len()],
        }
    }

    fn recourse(&mut self, stage: &RecourseDefinition, index: &mut Indices, row_index: &mut Index) -> RecourseModel {
        let variables = &stage.variables;
        let (n, first, parameters) = (variables.len(), index.x.len(), index.xi.len());
        let mut cost_xi = Sparse::new(parameters);
        for (i, variable) in variables.iter().enumerate() {
            let place = || item("recourse.variables", i, &variable.name);
            self.variable(variable, &place);
            if variable.kind != VariableKind::Continuous {
                self.complaints.add(place(), "recourse variables are continuous; \"type\" is for the first stage only");
            }
            cost_xi.push_row(self.terms(&mut index.xi, &variable.cost_xi, &place, "cost_xi"));
        }
        let cones = self.cones(&stage.cones, row_index, stage.constraints.len());
        let (mut g, mut e, mut u) = (Sparse::new(n), Sparse::new(first), Sparse::new(parameters));
        for (i, row) in stage.constraints.iter().enumerate() {
            let place = || item("recourse.constraints", i, &row.name);
            g.push_row(self.terms(&mut index.y, &row.y, &place, "y"));
            e.push_row(self.terms(&mut index.x, &row.x, &place, "x"));
            u.push_row(self.terms(&mut index.xi, &row.xi, &place, "xi"));
            match (cones.of_row[i], row.offset) {
                (Some(cone), offset) => {
                    self.finite(offset.unwrap_or(0.0), &place, || "\"offset\"".to_owned());
                    if row.lower > f64::NEG_INFINITY || row.upper < f64::INFINITY {
                        let what = format!("is in recourse.cones[{cone}], and so has \"offset\" in place of bounds");
                        self.complaints.add(place(), what);
                    }
                }
                // It may belong to a cone that could not be read.
                (None, _) if cones.has_holes => {}
                (None, Some(_)) => self.complaints.add(place(), "has an \"offset\", but is in no cone"),
                (None, None) => self.row_bounds(row.lower, row.upper, &place),
            }
        }
        RecourseModel {
            cost: columns(variables, |variable| variable.cost),
            cost_xi,
            quadratic: self.quadratic("recourse.quadratic", &stage.quadratic, &mut index.y, variables),
            lower: columns(variables, |variable| variable.lower),
            upper: columns(variables, |variable| variable.upper),
            g,
            e,
            u,
            row_lower: stage.constraints.iter().map(|row| row.lower).collect(),
            row_upper: stage.constraints.iter().map(|row| row.upper).collect(),
            offset: stage.constraints.iter().map(|row| row.offset.unwrap_or(0.0)).collect(),
            cones: cones.cones,
            row_scale: vec![1.0; stage.constraints.len()],
        }
    }

    fn quadratic(&mut self, list: &str, entries: &Quadratic, index: &mut Index, variables: &[Variable]) -> Symmetric {
        let before = self.complaints.len();
        let mut matrix = Symmetric::default();
        let mut first: HashMap<(usize, usize), usize> = HashMap::with_capacity(entries.len());
        let mut is_complete = true;
        for (k, (u, w, value)) in entries.iter().enumerate() {
            let place = || item(list, k, "");
            let i = self.resolve(index, u, &place, "the entry");
            let j = if u == w { i } else { self.resolve(index, w, &place, "the entry") };
            self.finite(*value, &place, || "the coefficient".to_owned());
            let (Some(i), Some(j), true) = (i, j, value.is_finite()) else {
                is_complete = false;
                continue;
            };
            let earlier = *first.entry((i.max(j), i.min(j))).or_insert(k);
            if earlier != k {
                self.complaints
                    .add(place(), format!("the pair \"{u}\", \"{w}\" is given by {list}[{earlier}] already"));
            }
            matrix.push(i, j, *value);
        }
        if is_complete
            && self.complaints.len() == before
            && let Some(found) = find_indefinite(&matrix, variables.len())
        {
            let value = found.eigenvalue.map_or(String::new(), |value| {
                let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
                format!(" (its smallest eigenvalue is {rounded:?})")
            });
            let some: Vec<String> =
                found.variables.iter().take(4).map(|&i| format!("\"{}\"", variables[i].name)).collect();
            let dots = if found.variables.len() > some.len() { ", …" } else { "" };
            let some = some.join(", ");
            self.complaints.add(
                list,
                format!("the part on {some}{dots} is not positive semidefinite{value}, so the cost is not convex"),
            );
        }
        matrix
    }
}
