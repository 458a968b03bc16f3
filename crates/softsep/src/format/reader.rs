//! Reads `aro/1`: JSON into [`ProblemDefinition`], with a complaint for every deviation from the format.
//!
//! Reading continues after a complaint, so that all faults of the file are reported at once. Data that could not be
//! read are replaced by a placeholder that the later checks of the model pass over: NaN for a number, the empty string
//! for a name, an empty list for a list, a box of NaN for a set. The model checks whether names are unique and known
//! and whether the numbers are valid.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::fields::{Fields, number};
use super::json::{self, Node, Value};
use super::set_reader::read_set;
use crate::definition::{
    Complaint, Complaints, ConeDefinition, ConeKind, FirstStageDefinition, Quadratic, RecourseDefinition, Row,
    Variable, VariableKind, item, nearest,
};
use crate::error::ReadError;
use crate::model::{Problem, ProblemDefinition};
use crate::uncertainty::{SetDefinition, UncertaintyDefinition};

const FORMAT: &str = "aro/1";

/// The content of a file as far as it could be understood, and its faults.
#[derive(Debug)]
pub struct Loaded {
    /// The content. After a complaint, a number is NaN, a name or list is empty and a set is a box of NaN; later checks
    /// pass over these.
    pub definition: ProblemDefinition,
    /// The faults found by the reader.
    pub complaints: Complaints,
}

impl Loaded {
    /// Checks the definition. The error lists the reader's complaints and those of the check.
    pub fn check(self) -> Result<Problem, Complaints> {
        Problem::after_reader(&self.definition, self.complaints)
    }
}

/// Reads a file. The error is for a file that cannot be read at all, is not JSON, or is not a problem of this format.
pub fn load(path: &Path) -> Result<Loaded, ReadError> {
    let file = path.display().to_string();
    let text =
        read_to_text(path).map_err(|complaint| ReadError { file: file.clone(), complaints: complaint.into() })?;
    load_text(&text, &file, path.parent().unwrap_or(Path::new("")))
}

/// Reads a text; `file` is its name in errors, and CSV files are looked for in `folder`. Errors as for [`load`].
pub fn load_text(text: &str, file: &str, folder: &Path) -> Result<Loaded, ReadError> {
    let refuse = |complaints| ReadError { file: file.to_owned(), complaints };
    let root = json::parse(text).map_err(|complaint| refuse(complaint.into()))?;
    check_format(&root).map_err(|complaint| refuse(complaint.into()))?;
    let mut complaints = Complaints::new();
    let known = ["format", "name", "first_stage", "uncertainty", "recourse"];
    let Some(fields) = Fields::open(&root, String::new(), &known, &mut complaints) else {
        return Err(refuse(complaints));
    };
    let name = fields.text("name", &mut complaints).unwrap_or_default().to_owned();
    let first_stage =
        section(&fields, "first_stage", &["variables", "constraints", "quadratic", "constant"], &mut complaints)
            .map(|fields| first_stage(&fields, &mut complaints));
    let uncertainty = section(&fields, "uncertainty", &["parameters", "set"], &mut complaints)
        .map(|fields| uncertainty(&fields, folder, &mut complaints));
    let recourse = section(&fields, "recourse", &["variables", "constraints", "quadratic", "cones"], &mut complaints)
        .map(|fields| recourse(&fields, &mut complaints));
    let definition = ProblemDefinition {
        name,
        first_stage: first_stage.unwrap_or_default(),
        uncertainty: uncertainty.unwrap_or_default(),
        recourse: recourse.unwrap_or_default(),
    };
    Ok(Loaded { definition, complaints })
}

/// The text of a file, or the reason why it cannot be read as text.
pub(super) fn read_to_text(path: &Path) -> Result<String, Complaint> {
    let whole = |what| Complaint { place: String::new(), what };
    let bytes = fs::read(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => whole("there is no such file".to_owned()),
        _ => whole(format!("cannot be read: {error}")),
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let line =
            1 + error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
        Complaint { place: format!("line {line}"), what: "is not UTF-8 text".to_owned() }
    })
}

fn check_format(root: &Node) -> Result<(), Complaint> {
    let wrong = |what| Err(Complaint { place: String::new(), what });
    let Value::Object(members) = &root.value else {
        return wrong(format!("a problem is an object with \"format\": \"{FORMAT}\", not {}", root.describe()));
    };
    match root.text_at("format") {
        Some(FORMAT) => Ok(()),
        Some("aro-result/1") => wrong("this is a result (\"aro-result/1\"), not a problem".to_owned()),
        Some(other) => wrong(format!("\"format\" is \"{other}\", and only \"{FORMAT}\" can be read")),
        None if members.iter().any(|member| member.key == "format") => {
            wrong(format!("\"format\" must be the string \"{FORMAT}\""))
        }
        None => wrong(format!("\"format\" is missing; a problem has \"format\": \"{FORMAT}\"")),
    }
}

/// A part of the problem that must be there.
fn section<'n, 't>(
    whole: &Fields<'n, 't>,
    key: &str,
    known: &[&str],
    complaints: &mut Complaints,
) -> Option<Fields<'n, 't>> {
    Fields::open(whole.require(key, complaints)?, whole.at(key), known, complaints)
}

fn first_stage(fields: &Fields, complaints: &mut Complaints) -> FirstStageDefinition {
    FirstStageDefinition {
        variables: variables(fields, &["name", "cost", "lower", "upper", "type"], complaints),
        constraints: rows(fields, &["name", "x", "lower", "upper"], complaints),
        quadratic: quadratic(fields, complaints),
        constant: fields.number("constant", 0.0, complaints),
    }
}

fn uncertainty(fields: &Fields, folder: &Path, complaints: &mut Complaints) -> UncertaintyDefinition {
    let before = complaints.len();
    fields.require("parameters", complaints);
    let list = fields.at("parameters");
    let items = fields.list("parameters", complaints).unwrap_or_default();
    let parameters: Vec<String> = items.iter().enumerate().map(|(i, node)| name(node, &list, i, complaints)).collect();
    let parameters_are_known = complaints.len() == before;
    let set = fields
        .require("set", complaints)
        .and_then(|node| read_set(node, fields.at("set"), &parameters, folder, complaints))
        // Complaints about a set with unknown parameters would mislead.
        .filter(|_| parameters_are_known)
        .unwrap_or_else(|| {
            let unreadable = vec![f64::NAN; parameters.len()];
            SetDefinition::Box { lower: unreadable.clone(), upper: unreadable }
        });
    UncertaintyDefinition { set, parameters }
}

fn recourse(fields: &Fields, complaints: &mut Complaints) -> RecourseDefinition {
    RecourseDefinition {
        variables: variables(fields, &["name", "cost", "lower", "upper", "cost_xi"], complaints),
        constraints: rows(fields, &["name", "y", "x", "xi", "lower", "upper", "offset"], complaints),
        quadratic: quadratic(fields, complaints),
        cones: cones(fields, complaints),
    }
}

/// A name as an item of a list; empty after a complaint.
fn name(node: &Node, list: &str, index: usize, complaints: &mut Complaints) -> String {
    match &node.value {
        Value::Text(name) if !name.is_empty() => return name.to_string(),
        Value::Text(_) => complaints.add(item(list, index, ""), "the name must not be empty"),
        _ => complaints.add(item(list, index, ""), format!("must be a name, not {}", node.describe())),
    }
    String::new()
}

/// Opens an item of a list, whose location shows its name.
fn open_item<'n, 't>(
    node: &'n Node<'t>,
    list: &str,
    index: usize,
    known: &[&str],
    complaints: &mut Complaints,
) -> Option<Fields<'n, 't>> {
    Fields::open(node, item(list, index, node.text_at("name").unwrap_or_default()), known, complaints)
}

fn variables(fields: &Fields, known: &[&str], complaints: &mut Complaints) -> Vec<Variable> {
    fields.require("variables", complaints);
    let list = fields.at("variables");
    let items = fields.list("variables", complaints).unwrap_or_default().iter().enumerate();
    items
        .map(|(i, node)| match open_item(node, &list, i, known, complaints) {
            Some(fields) => variable(&fields, complaints),
            None => Variable::new("", 0.0),
        })
        .collect()
}

/// A variable of either stage; which of `type` and `cost_xi` it may have was settled when its object was opened.
fn variable(fields: &Fields, complaints: &mut Complaints) -> Variable {
    let kind = match fields.text("type", complaints) {
        None | Some("continuous") => VariableKind::Continuous,
        Some("integer") => VariableKind::Integer,
        Some("binary") => VariableKind::Binary,
        Some(other) => {
            let known = ["continuous", "integer", "binary"];
            let meant = nearest(other, known);
            let cure = if meant.is_empty() { format!("; known are {}", known.join(", ")) } else { meant };
            complaints.add(&*fields.place, format!("\"type\" is \"{other}\", which is not a type of variable{cure}"));
            VariableKind::Continuous
        }
    };
    let top = if kind == VariableKind::Binary { 1.0 } else { f64::INFINITY };
    Variable {
        name: fields.name(complaints),
        cost: fields.number("cost", 0.0, complaints),
        lower: fields.bound("lower", 0.0, f64::NEG_INFINITY, complaints),
        upper: fields.bound("upper", top, f64::INFINITY, complaints),
        kind,
        cost_xi: fields.terms("cost_xi", complaints),
    }
}

/// The rows of a stage or of a polyhedron; a missing list has none.
pub(super) fn rows(fields: &Fields, known: &[&str], complaints: &mut Complaints) -> Vec<Row> {
    let list = fields.at("constraints");
    let items = fields.list("constraints", complaints).unwrap_or_default().iter().enumerate();
    items
        .map(|(i, node)| match open_item(node, &list, i, known, complaints) {
            Some(fields) => row(&fields, complaints),
            None => Row { lower: f64::NAN, ..Row::new("") },
        })
        .collect()
}

fn row(fields: &Fields, complaints: &mut Complaints) -> Row {
    // A row without bounds but with an unknown key most likely has a misspelt bound: one complaint is enough.
    let missing = if fields.has_unknown { f64::NAN } else { f64::NEG_INFINITY };
    Row {
        name: fields.name(complaints),
        y: fields.terms("y", complaints),
        x: fields.terms("x", complaints),
        xi: fields.terms("xi", complaints),
        lower: fields.bound("lower", missing, f64::NEG_INFINITY, complaints),
        upper: fields.bound("upper", f64::INFINITY, f64::INFINITY, complaints),
        offset: fields.get("offset").map(|_| fields.number("offset", 0.0, complaints)),
    }
}

fn quadratic(fields: &Fields, complaints: &mut Complaints) -> Quadratic {
    let list = fields.at("quadratic");
    let items = fields.list("quadratic", complaints).unwrap_or_default().iter().enumerate();
    items
        .filter_map(|(i, node)| match &node.value {
            Value::List(entry) => match entry.as_slice() {
                [Node { value: Value::Text(u), .. }, Node { value: Value::Text(w), .. }, value] => {
                    let place = item(&list, i, "");
                    Some((
                        u.to_string(),
                        w.to_string(),
                        number(value, &place, format_args!("the coefficient"), complaints),
                    ))
                }
                _ => {
                    complaints.add(item(&list, i, ""), "an entry is two names and a number: [\"u\", \"w\", 1.5]");
                    None
                }
            },
            _ => {
                let found = node.describe();
                complaints.add(item(&list, i, ""), format!("an entry is a list [\"u\", \"w\", 1.5], not {found}"));
                None
            }
        })
        .collect()
}

/// The cones. One whose rows could not be read has none: the model then does not check of any row whether it should be
/// in a cone.
fn cones(fields: &Fields, complaints: &mut Complaints) -> Vec<ConeDefinition> {
    let unreadable = || ConeDefinition { kind: ConeKind::SecondOrder, rows: Vec::new() };
    let list = fields.at("cones");
    let Some(items) = fields.list("cones", complaints) else {
        return fields.get("cones").map(|_| unreadable()).into_iter().collect();
    };
    let cone = |(i, node): (usize, &Node)| {
        let Some(fields) = Fields::open(node, item(&list, i, ""), &["kind", "rows", "alpha"], complaints) else {
            return unreadable();
        };
        fields.require("kind", complaints);
        let kind = cone_kind(&fields, complaints);
        fields.require("rows", complaints);
        let rows = fields.list("rows", complaints).unwrap_or_default().iter().enumerate();
        let place = fields.at("rows");
        ConeDefinition { kind, rows: rows.map(|(k, node)| name(node, &place, k, complaints)).collect() }
    };
    items.iter().enumerate().map(cone).collect()
}

/// The kind of a cone; after a complaint the one that may have any number of rows.
fn cone_kind(fields: &Fields, complaints: &mut Complaints) -> ConeKind {
    let kind = fields.text("kind", complaints);
    if fields.get("alpha").is_some() && kind.is_some_and(|kind| kind != "power") {
        complaints.add(&*fields.place, "only a \"power\" cone has \"alpha\"");
    }
    match kind {
        None | Some("soc") => ConeKind::SecondOrder,
        Some("exp") => ConeKind::Exponential,
        Some("psd") => ConeKind::Semidefinite,
        Some("power") => {
            fields.require("alpha", complaints);
            ConeKind::Power { alpha: fields.number("alpha", f64::NAN, complaints) }
        }
        Some(other) => {
            complaints.add(
                &*fields.place,
                format!("\"kind\" is \"{other}\", which is not a cone; known are soc, exp, power, psd"),
            );
            ConeKind::SecondOrder
        }
    }
}
