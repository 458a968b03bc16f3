//! Reads the uncertainty set of a problem file, by kind.

use std::path::Path;

use super::fields::{Fields, number};
use super::json::{Node, Value};
use super::reader::rows;
use super::scenarios::read_scenarios;
use crate::definition::{Complaints, Row, ScenarioList, nearest};
use crate::uncertainty::{SetDefinition, Sides};

/// The kinds of sets and the fields of each.
const KINDS: [(&str, &[&str]); 6] = [
    ("scenarios", &["kind", "points", "file", "drawn_from"]),
    ("box", &["kind", "lower", "upper"]),
    ("l1", &["kind", "center", "scale"]),
    ("budget", &["kind", "budget", "sides", "center", "scale"]),
    ("ellipsoid", &["kind", "center", "matrix"]),
    ("polyhedron", &["kind", "lower", "upper", "constraints"]),
];

/// The set, or `None` after complaints that leave nothing of it. Lengths of lists are checked where the set is built.
pub(super) fn read_set(
    node: &Node,
    place: String,
    parameters: &[String],
    folder: &Path,
    complaints: &mut Complaints,
) -> Option<SetDefinition> {
    let (kind, known) = read_kind(node, &place, complaints)?;
    let before = complaints.len();
    let fields = Fields::open(node, place, known, complaints)?;
    let n = parameters.len();
    match kind {
        "scenarios" => scenarios(&fields, parameters, folder, complaints),
        "box" => {
            let (lower, upper) = (numbers(&fields, "lower", n, complaints), numbers(&fields, "upper", n, complaints));
            Some(SetDefinition::Box { lower, upper })
        }
        "l1" => {
            let (center, scale) = (numbers(&fields, "center", n, complaints), numbers(&fields, "scale", n, complaints));
            Some(SetDefinition::L1 { center, scale })
        }
        "budget" => {
            fields.require("budget", complaints);
            Some(SetDefinition::Budget {
                budget: fields.number("budget", f64::NAN, complaints),
                sides: sides(&fields, complaints),
                center: fields.numbers("center", complaints).unwrap_or_else(|| vec![0.0; n]),
                scale: fields.numbers("scale", complaints).unwrap_or_else(|| vec![1.0; n]),
            })
        }
        "ellipsoid" => {
            let (center, matrix) = (numbers(&fields, "center", n, complaints), matrix(&fields, complaints));
            Some(SetDefinition::Ellipsoid { center, matrix: matrix.unwrap_or_else(|| vec![vec![f64::NAN; n]; n]) })
        }
        _ => {
            let lower =
                fields.bounds("lower", f64::NEG_INFINITY, complaints).unwrap_or_else(|| vec![f64::NEG_INFINITY; n]);
            let upper = fields.bounds("upper", f64::INFINITY, complaints).unwrap_or_else(|| vec![f64::INFINITY; n]);
            let mut constraints = rows(&fields, &["name", "xi", "lower", "upper"], complaints);
            if complaints.len() > before {
                // The rows that could be read may define an empty or unbounded set where the whole list does not: the
                // NaN prevents that check.
                constraints.push(Row { lower: f64::NAN, ..Row::new("") });
            }
            Some(SetDefinition::Polyhedron { lower, upper, constraints })
        }
    }
}

/// The kind of a set and the names of its fields, or `None` after a complaint.
fn read_kind(node: &Node, place: &str, complaints: &mut Complaints) -> Option<(&'static str, &'static [&'static str])> {
    if !matches!(node.value, Value::Object(_)) {
        complaints.add(place, format!("must be an object, not {}", node.describe()));
        return None;
    }
    let kinds = KINDS.map(|(kind, _)| kind);
    let Some(kind) = node.text_at("kind") else {
        complaints.add(place, format!("\"kind\" must be one of {}", kinds.join(", ")));
        return None;
    };
    let known = KINDS.into_iter().find(|(known, _)| *known == kind);
    if known.is_none() {
        let meant = nearest(kind, kinds);
        let cure = if meant.is_empty() { format!("; known are {}", kinds.join(", ")) } else { meant };
        complaints.add(place, format!("\"kind\" is \"{kind}\", which is not a kind of set{cure}"));
    }
    known
}

/// A list of numbers that must be there, one for each of `n` parameters; after a complaint they are NaN.
fn numbers(fields: &Fields, key: &str, n: usize, complaints: &mut Complaints) -> Vec<f64> {
    fields.require(key, complaints);
    fields.numbers(key, complaints).unwrap_or_else(|| vec![f64::NAN; n])
}

/// `sides`; after a complaint either will do, since all else is checked alike.
fn sides(fields: &Fields, complaints: &mut Complaints) -> Sides {
    fields.require("sides", complaints);
    match fields.text("sides", complaints) {
        None | Some("one") => Sides::One,
        Some("two") => Sides::Two,
        Some(other) => {
            complaints.add(&*fields.place, format!("\"sides\" is \"{other}\", and must be \"one\" or \"two\""));
            Sides::One
        }
    }
}

/// A row of numbers, into `row`; false after a complaint that it is not a list.
fn number_row(node: &Node, fields: &Fields, what: &str, row: &mut Vec<f64>, complaints: &mut Complaints) -> bool {
    let Value::List(items) = &node.value else {
        complaints.add(&*fields.place, format!("{what} must be a list of numbers, not {}", node.describe()));
        return false;
    };
    row.clear();
    row.extend(
        items.iter().enumerate().map(|(j, node)| number(node, &fields.place, format_args!("{what}[{j}]"), complaints)),
    );
    true
}

/// The rows of `matrix`; `None` after a complaint that leaves its size unknown.
fn matrix(fields: &Fields, complaints: &mut Complaints) -> Option<Vec<Vec<f64>>> {
    fields.require("matrix", complaints)?;
    let mut rows = Vec::new();
    let mut all_are_lists = true;
    for (i, node) in fields.list("matrix", complaints)?.iter().enumerate() {
        let mut row = Vec::new();
        all_are_lists &= number_row(node, fields, &format!("\"matrix\"[{i}]"), &mut row, complaints);
        rows.push(row);
    }
    all_are_lists.then_some(rows)
}

fn scenarios(
    fields: &Fields,
    parameters: &[String],
    folder: &Path,
    complaints: &mut Complaints,
) -> Option<SetDefinition> {
    let set = |node| read_set(node, fields.at("drawn_from"), parameters, folder, complaints);
    let drawn_from = fields.get("drawn_from").and_then(set).map(Box::new);
    match (fields.get("points"), fields.get("file")) {
        (Some(_), None) => points(fields, parameters.len(), complaints).map(|points| SetDefinition::Scenarios {
            points,
            file: None,
            drawn_from,
        }),
        (None, Some(_)) => {
            let file = fields.text("file", complaints)?;
            let place = format!("{} \"{file}\"", fields.at("file"));
            if file.is_empty() || file.contains("://") || file.chars().any(char::is_control) {
                complaints.add(&*fields.place, format!("\"file\" is \"{file}\", which is not the path of a file"));
                return None;
            }
            let points = read_scenarios(&folder.join(file), parameters, &place, complaints)?;
            Some(SetDefinition::Scenarios { points, file: Some(file.to_owned()), drawn_from })
        }
        (Some(_), Some(_)) => {
            complaints.add(&*fields.place, "\"points\" and \"file\" are both given; a set has one of them");
            None
        }
        (None, None) => {
            complaints.add(&*fields.place, "one of \"points\" and \"file\" is missing");
            None
        }
    }
}

/// The rows of `points`; one that could not be read is NaN, so that those after it keep their places.
fn points(fields: &Fields, dim: usize, complaints: &mut Complaints) -> Option<ScenarioList> {
    let mut points = ScenarioList::new(dim);
    let mut row = Vec::with_capacity(dim);
    let unreadable = vec![f64::NAN; dim];
    for (i, node) in fields.list("points", complaints)?.iter().enumerate() {
        let what = format!("\"points\"[{i}]");
        if !number_row(node, fields, &what, &mut row, complaints) {
            points.push(&unreadable);
        } else if row.len() == dim {
            points.push(&row);
        } else {
            let found = row.len();
            complaints.add(
                &*fields.place,
                format!("{what} must have {dim} entries, one for each parameter, and has {found}"),
            );
            points.push(&unreadable);
        }
    }
    Some(points)
}
