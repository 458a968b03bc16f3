//! Names become indices, and everything that a file can get wrong is checked.

use std::collections::HashMap;
use std::sync::Arc;

use super::check::{Check, Index};
use super::convex::find_indefinite;
use super::{FirstStage, Names, RecourseModel, Sparse, Symmetric};
use crate::format::{
    Complaints, FirstStageFile, Loaded, ProblemFile, Quadratic, RecourseFile, Row, Variable, VariableKind, item,
};
use crate::uncertainty::{self, Uncertainty};

/// A checked two-stage problem; it does not change any more.
#[derive(Debug, Clone)]
pub struct Problem {
    /// A title, for people.
    pub name: String,
    /// f and X.
    pub first: FirstStage,
    /// Ξ.
    pub set: Arc<dyn Uncertainty>,
    /// Q.
    pub recourse: RecourseModel,
    /// Names by index.
    pub names: Names,
}

/// The names that terms may use.
struct Indices<'f> {
    x: Index<'f>,
    y: Index<'f>,
    xi: Index<'f>,
}

impl Problem {
    /// Checks `file` whole and resolves its names. The error lists every fault.
    pub fn new(file: &ProblemFile) -> Result<Self, Complaints> {
        Self::assemble(file, Check::default(), true)
    }

    /// As [`Problem::new`], after the reader: the error lists what it complained about and what is wrong besides.
    pub fn from_loaded(loaded: Loaded) -> Result<Self, Complaints> {
        let after_reader = !loaded.complaints.is_empty();
        Self::assemble(&loaded.problem, Check { complaints: loaded.complaints, after_reader }, loaded.set_is_whole)
    }

    fn assemble(file: &ProblemFile, mut check: Check, set_is_whole: bool) -> Result<Self, Complaints> {
        let names = Names {
            first: file.first_stage.variables.iter().map(|variable| variable.name.clone()).collect(),
            first_rows: file.first_stage.constraints.iter().map(|row| row.name.clone()).collect(),
            parameters: file.uncertainty.parameters.clone(),
            recourse: file.recourse.variables.iter().map(|variable| variable.name.clone()).collect(),
            recourse_rows: file.recourse.constraints.iter().map(|row| row.name.clone()).collect(),
        };
        let mut index = Indices {
            x: check.names("first_stage.variables", "a first-stage variable", strs(&names.first)),
            xi: check.names("uncertainty.parameters", "an uncertain parameter", strs(&names.parameters)),
            y: check.names("recourse.variables", "a recourse variable", strs(&names.recourse)),
        };
        check.names("first_stage.constraints", "a first-stage row", strs(&names.first_rows));
        let first = check.first_stage(&file.first_stage, &mut index);
        let set = if set_is_whole { check.set(file, &names.parameters) } else { None };
        let mut rows = check.names("recourse.constraints", "a recourse row", strs(&names.recourse_rows));
        let recourse = check.recourse(&file.recourse, &mut index, &mut rows);
        match set {
            Some(set) if check.complaints.is_empty() => {
                let (mut first, mut recourse) = (first, recourse);
                let mut typical = vec![0.0; set.dim()];
                set.nominal(&mut typical);
                first.scale_rows();
                recourse.scale_rows(&typical);
                Ok(Self { name: file.name.clone(), first, set, recourse, names })
            }
            _ => Err(check.complaints),
        }
    }

    /// The same problem with integers that need not be whole.
    pub fn relaxed(&self) -> Problem {
        let mut relaxed = self.clone();
        relaxed.first.kind.fill(VariableKind::Continuous);
        relaxed
    }

    /// The problem as the format has it; [`Problem::new`] makes the same problem of that.
    pub fn file(&self) -> ProblemFile {
        super::describe::describe(self)
    }

    /// A first-stage decision given by name, in the order of the variables. Whether it is feasible is not asked here.
    pub fn decision(&self, values: &[(String, f64)]) -> Result<Vec<f64>, Complaints> {
        let mut check = Check::default();
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
        if check.complaints.is_empty() { Ok(x.into_iter().flatten().collect()) } else { Err(check.complaints) }
    }
}

fn strs(names: &[String]) -> impl Iterator<Item = &str> {
    names.iter().map(String::as_str)
}

fn columns<T>(variables: &[Variable], field: impl Fn(&Variable) -> T) -> Vec<T> {
    variables.iter().map(field).collect()
}

impl Check {
    fn set(&mut self, file: &ProblemFile, parameters: &[String]) -> Option<Arc<dyn Uncertainty>> {
        let (place, before) = ("uncertainty.set", self.complaints.len());
        let set = uncertainty::build(&file.uncertainty.set, parameters, place, &mut self.complaints);
        // Sets leave complaints about NaN to the reader, but this one may have been made by a program.
        if set.is_none() && self.complaints.len() == before && !self.after_reader {
            self.complaints.add(place, "holds a NaN, which is not a number");
        }
        set.map(Arc::from)
    }

    fn first_stage(&mut self, file: &FirstStageFile, index: &mut Indices) -> FirstStage {
        let variables = &file.variables;
        for (i, variable) in variables.iter().enumerate() {
            let place = || item("first_stage.variables", i, &variable.name);
            self.variable(variable, &place);
            if !variable.cost_xi.is_empty() {
                self.complaints.add(place(), "\"cost_xi\" is for recourse variables only");
            }
        }
        let mut rows = Sparse::new(variables.len());
        for (i, row) in file.constraints.iter().enumerate() {
            let place = || item("first_stage.constraints", i, &row.name);
            rows.push_row(self.terms(&mut index.x, &row.x, &place, "x"));
            if !row.y.is_empty() || !row.xi.is_empty() || row.offset.is_some() {
                self.complaints.add(place(), "a first-stage row has \"x\" terms and bounds only");
            }
            self.bounded(row, &place);
        }
        self.finite(file.constant, &|| "first_stage".to_owned(), || "\"constant\"".to_owned());
        FirstStage {
            cost: columns(variables, |variable| variable.cost),
            constant: file.constant,
            quadratic: self.quadratic("first_stage.quadratic", &file.quadratic, &mut index.x, variables),
            lower: columns(variables, |variable| variable.lower),
            upper: columns(variables, |variable| variable.upper),
            kind: columns(variables, |variable| variable.kind),
            rows,
            row_lower: file.constraints.iter().map(|row| row.lower).collect(),
            row_upper: file.constraints.iter().map(|row| row.upper).collect(),
            row_scale: vec![1.0; file.constraints.len()],
        }
    }

    fn recourse(&mut self, file: &RecourseFile, index: &mut Indices, row_index: &mut Index) -> RecourseModel {
        let variables = &file.variables;
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
        let cones = self.cones(&file.cones, row_index, file.constraints.len());
        let (mut g, mut e, mut u) = (Sparse::new(n), Sparse::new(first), Sparse::new(parameters));
        for (i, row) in file.constraints.iter().enumerate() {
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
                (None, None) => self.bounded(row, &place),
            }
        }
        RecourseModel {
            cost: columns(variables, |variable| variable.cost),
            cost_xi,
            quadratic: self.quadratic("recourse.quadratic", &file.quadratic, &mut index.y, variables),
            lower: columns(variables, |variable| variable.lower),
            upper: columns(variables, |variable| variable.upper),
            g,
            e,
            u,
            row_lower: file.constraints.iter().map(|row| row.lower).collect(),
            row_upper: file.constraints.iter().map(|row| row.upper).collect(),
            offset: file.constraints.iter().map(|row| row.offset.unwrap_or(0.0)).collect(),
            cones: cones.cones,
            row_scale: vec![1.0; file.constraints.len()],
        }
    }

    /// A row that is in no cone must bound something.
    fn bounded(&mut self, row: &Row, place: &dyn Fn() -> String) {
        if self.bounds(row.lower, row.upper, place) && row.lower == f64::NEG_INFINITY && row.upper == f64::INFINITY {
            self.complaints.add(place(), "has no finite bound; \"lower\", \"upper\" or both must be given");
        }
    }

    fn quadratic(&mut self, list: &str, entries: &Quadratic, index: &mut Index, variables: &[Variable]) -> Symmetric {
        let before = self.complaints.len();
        let mut matrix = Symmetric::default();
        let mut first: HashMap<(usize, usize), usize> = HashMap::with_capacity(entries.len());
        let mut is_whole = true;
        for (k, (u, w, value)) in entries.iter().enumerate() {
            let place = || item(list, k, "");
            let i = self.resolve(index, u, &place, "the entry");
            let j = if u == w { i } else { self.resolve(index, w, &place, "the entry") };
            self.finite(*value, &place, || "the coefficient".to_owned());
            let (Some(i), Some(j), true) = (i, j, value.is_finite()) else {
                is_whole = false;
                continue;
            };
            let earlier = *first.entry((i.max(j), i.min(j))).or_insert(k);
            if earlier != k {
                self.complaints
                    .add(place(), format!("the pair \"{u}\", \"{w}\" is given by {list}[{earlier}] already"));
            }
            matrix.push(i, j, *value);
        }
        if is_whole
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
