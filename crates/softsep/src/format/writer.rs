//! Writes `aro/1`: one variable or row per line, defaults left out.

use std::fmt::Write;

use crate::definition::{ConeKind, Quadratic, Row, Terms, Variable, VariableKind};
use crate::model::ProblemDefinition;
use crate::uncertainty::{SetDefinition, Sides};

/// A problem that was not written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The set is implemented by a program, and a file has data only.
    #[error("uncertainty.set: a set that a program implements (\"{kind}\") cannot be written to a file")]
    CustomSet {
        /// The word of the set for its kind.
        kind: &'static str,
    },
    /// The file could not be written.
    #[error("{file}: cannot be written: {why}")]
    File {
        /// The file as the caller named it.
        file: String,
        /// The reason that the operating system gives.
        why: String,
    },
}

/// The definition as `aro/1` JSON text; reading that gives an equal definition. A custom set is refused.
///
/// Scenarios that came from a file are written as the name of that file; see
/// [`write_scenarios`](super::write_scenarios). The format has no word for a number that is not finite, bounds aside:
/// the text of a definition that [`Problem::new`](crate::Problem::new) refuses on that account cannot be read back.
pub fn write(problem: &ProblemDefinition) -> Result<String, WriteError> {
    let first = &problem.first_stage;
    let mut first_stage = vec![
        ("variables", block(first.variables.iter().map(variable))),
        ("constraints", block(first.constraints.iter().map(row))),
    ];
    if !first.quadratic.is_empty() {
        first_stage.push(("quadratic", quadratic(&first.quadratic)));
    }
    if first.constant != 0.0 {
        first_stage.push(("constant", number(first.constant)));
    }
    let parameters = &problem.uncertainty.parameters;
    let uncertainty = vec![
        ("parameters", list(parameters.iter().map(|name| string(name)))),
        ("set", set(&problem.uncertainty.set, parameters.len())?),
    ];
    let second = &problem.recourse;
    let mut recourse = vec![
        ("variables", block(second.variables.iter().map(variable))),
        ("constraints", block(second.constraints.iter().map(row))),
    ];
    if !second.quadratic.is_empty() {
        recourse.push(("quadratic", quadratic(&second.quadratic)));
    }
    if !second.cones.is_empty() {
        recourse.push((
            "cones",
            block(second.cones.iter().map(|cone| {
                let mut fields = match cone.kind {
                    ConeKind::SecondOrder => vec![("kind", string("soc"))],
                    ConeKind::Exponential => vec![("kind", string("exp"))],
                    ConeKind::Power { alpha } => vec![("kind", string("power")), ("alpha", number(alpha))],
                    ConeKind::Semidefinite => vec![("kind", string("psd"))],
                };
                fields.push(("rows", list(cone.rows.iter().map(|name| string(name)))));
                object(fields)
            })),
        ));
    }
    let mut whole = vec![("format", string("aro/1"))];
    if !problem.name.is_empty() {
        whole.push(("name", string(&problem.name)));
    }
    whole.push(("first_stage", section(first_stage)));
    whole.push(("uncertainty", section(uncertainty)));
    whole.push(("recourse", section(recourse)));
    let lines: Vec<String> = whole.iter().map(|(key, value)| format!("  \"{key}\": {value}")).collect();
    Ok(format!("{{\n{}\n}}\n", lines.join(",\n")))
}

fn variable(variable: &Variable) -> String {
    let mut fields = vec![("name", string(&variable.name))];
    if variable.cost != 0.0 {
        fields.push(("cost", number(variable.cost)));
    }
    let top = if variable.kind == VariableKind::Binary { 1.0 } else { f64::INFINITY };
    if variable.lower != 0.0 {
        fields.push(("lower", number(variable.lower)));
    }
    if variable.upper != top {
        fields.push(("upper", number(variable.upper)));
    }
    match variable.kind {
        VariableKind::Continuous => {}
        VariableKind::Integer => fields.push(("type", string("integer"))),
        VariableKind::Binary => fields.push(("type", string("binary"))),
    }
    if !variable.cost_xi.is_empty() {
        fields.push(("cost_xi", terms(&variable.cost_xi)));
    }
    object(fields)
}

fn row(row: &Row) -> String {
    let mut fields = vec![("name", string(&row.name))];
    for (key, part) in [("y", &row.y), ("x", &row.x), ("xi", &row.xi)] {
        if !part.is_empty() {
            fields.push((key, terms(part)));
        }
    }
    if row.lower != f64::NEG_INFINITY {
        fields.push(("lower", number(row.lower)));
    }
    if row.upper != f64::INFINITY {
        fields.push(("upper", number(row.upper)));
    }
    if let Some(offset) = row.offset {
        fields.push(("offset", number(offset)));
    }
    object(fields)
}

fn quadratic(entries: &Quadratic) -> String {
    block(entries.iter().map(|(u, w, value)| list([string(u), string(w), number(*value)])))
}

fn set(set: &SetDefinition, dim: usize) -> Result<String, WriteError> {
    let numbers = |values: &[f64]| list(values.iter().map(|&value| number(value)));
    Ok(match set {
        SetDefinition::Custom(custom) => return Err(WriteError::CustomSet { kind: custom.kind() }),
        SetDefinition::Scenarios { file: Some(file), drawn_from: None, .. } => {
            object([("kind", string("scenarios")), ("file", string(file))])
        }
        SetDefinition::Scenarios { points, file, drawn_from } => {
            let mut fields = vec![match file {
                Some(file) => ("file", string(file)),
                None => ("points", inner_block(points.iter().map(numbers))),
            }];
            if let Some(origin) = drawn_from {
                fields.push(("drawn_from", self::set(origin, dim)?));
            }
            set_block("scenarios", fields)
        }
        SetDefinition::Box { lower, upper } => {
            set_block("box", vec![("lower", numbers(lower)), ("upper", numbers(upper))])
        }
        SetDefinition::L1 { center, scale } => {
            set_block("l1", vec![("center", numbers(center)), ("scale", numbers(scale))])
        }
        SetDefinition::Budget { budget, sides, center, scale } => {
            let sides = match sides {
                Sides::One => "one",
                Sides::Two => "two",
            };
            let mut fields = vec![("budget", number(*budget)), ("sides", string(sides))];
            for (key, values, default) in [("center", center, 0.0), ("scale", scale, 1.0)] {
                if values.len() != dim || values.iter().any(|&value| value != default) {
                    fields.push((key, numbers(values)));
                }
            }
            set_block("budget", fields)
        }
        SetDefinition::Ellipsoid { center, matrix } => {
            let matrix = inner_block(matrix.iter().map(|row| numbers(row)));
            set_block("ellipsoid", vec![("center", numbers(center)), ("matrix", matrix)])
        }
        SetDefinition::Polyhedron { lower, upper, constraints } => {
            let constraints = inner_block(constraints.iter().map(row));
            set_block(
                "polyhedron",
                vec![("lower", numbers(lower)), ("upper", numbers(upper)), ("constraints", constraints)],
            )
        }
    })
}

/// A part of the problem: a field per line.
fn section(fields: Vec<(&str, String)>) -> String {
    let lines: Vec<String> = fields.iter().map(|(key, value)| format!("    \"{key}\": {value}")).collect();
    format!("{{\n{}\n  }}", lines.join(",\n"))
}

/// A set: a field per line.
fn set_block(kind: &str, fields: Vec<(&str, String)>) -> String {
    let lines = fields.iter().map(|(key, value)| format!(",\n      \"{key}\": {value}"));
    format!("{{\"kind\": {}{}}}", string(kind), lines.collect::<String>())
}

/// A list with an item per line, within a part of the problem.
fn block(items: impl Iterator<Item = String>) -> String {
    lines_at("      ", "    ", items)
}

/// A list with an item per line, within a set.
fn inner_block(items: impl Iterator<Item = String>) -> String {
    lines_at("        ", "      ", items)
}

fn lines_at(indent: &str, outer: &str, items: impl Iterator<Item = String>) -> String {
    let mut out = String::from("[");
    let mut separator = "\n";
    for item in items {
        out.extend([separator, indent, &item]);
        separator = ",\n";
    }
    if separator == ",\n" {
        out.extend(["\n", outer]);
    }
    out + "]"
}

/// A list on one line.
fn list(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(", "))
}

/// An object on one line.
pub(super) fn object<'k>(fields: impl IntoIterator<Item = (&'k str, String)>) -> String {
    let fields: Vec<String> = fields.into_iter().map(|(key, value)| format!("\"{key}\": {value}")).collect();
    format!("{{{}}}", fields.join(", "))
}

pub(super) fn terms(terms: &Terms) -> String {
    let fields: Vec<String> =
        terms.iter().map(|(name, value)| format!("{}: {}", string(name), number(*value))).collect();
    format!("{{{}}}", fields.join(", "))
}

/// A number in the shortest form that reads back as the same; `null` for an infinity or NaN.
pub(super) fn number(value: f64) -> String {
    if !value.is_finite() {
        return "null".to_owned();
    }
    let mut text = format!("{value:?}");
    if text.ends_with(".0") {
        text.truncate(text.len() - 2);
    }
    text
}

/// A JSON string.
pub(super) fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            character if character.is_control() => {
                // Control characters are all in the basic plane, so that one \u escape holds any of them.
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            character => out.push(character),
        }
    }
    out.push('"');
    out
}
