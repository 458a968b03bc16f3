//! Typed access to the JSON tree: a field that is missing, misspelt, repeated or of the wrong type becomes a complaint
//! and a placeholder that later checks pass over.

use std::collections::HashMap;
use std::fmt;

use super::json::{Member, Node, Value};
use crate::definition::{Complaints, Terms, nearest};

/// An object of the file whose keys are known, each at most once.
pub(super) struct Fields<'n, 't> {
    /// The location of the object in the file, as `recourse.constraints[3]`.
    pub(super) place: String,
    /// The members with known keys.
    members: Vec<&'n Member<'t>>,
    /// Whether there are keys that the format does not have here; a missing field may then be a misspelt one.
    pub(super) has_unknown: bool,
}

impl<'n, 't> Fields<'n, 't> {
    /// Complains about unknown and repeated keys. `None`, with a complaint, if `node` is not an object.
    pub(super) fn open(node: &'n Node<'t>, place: String, known: &[&str], complaints: &mut Complaints) -> Option<Self> {
        let Value::Object(members) = &node.value else {
            complaints.add(place, format!("must be an object, not {}", node.describe()));
            return None;
        };
        complain_about_repeats(members, &place, "", complaints);
        let (members, unknown): (Vec<_>, Vec<_>) =
            members.iter().partition(|member| known.contains(&member.key.as_ref()));
        for member in &unknown {
            let meant = nearest(&member.key, known.iter().copied());
            complaints.add(&*place, format!("unknown key \"{}\"{meant}; known here: {}", member.key, known.join(", ")));
        }
        Some(Self { place, members, has_unknown: !unknown.is_empty() })
    }

    /// A field, if it is there.
    pub(super) fn get(&self, key: &str) -> Option<&'n Node<'t>> {
        self.members.iter().find(|member| member.key == key).map(|member| &member.value)
    }

    /// A field, or a complaint that it is missing.
    pub(super) fn require(&self, key: &str, complaints: &mut Complaints) -> Option<&'n Node<'t>> {
        let found = self.get(key);
        if found.is_none() {
            complaints.add(&*self.place, format!("\"{key}\" is missing"));
        }
        found
    }

    /// The location of a field in the file.
    pub(super) fn at(&self, key: &str) -> String {
        if self.place.is_empty() { key.to_owned() } else { format!("{}.{key}", self.place) }
    }

    /// A finite number; NaN after a complaint.
    pub(super) fn number(&self, key: &str, default: f64, complaints: &mut Complaints) -> f64 {
        self.get(key).map_or(default, |node| number(node, &self.place, format_args!("\"{key}\""), complaints))
    }

    /// A bound: a finite number, or `null` for `infinite`; NaN after a complaint.
    pub(super) fn bound(&self, key: &str, default: f64, infinite: f64, complaints: &mut Complaints) -> f64 {
        self.get(key).map_or(default, |node| bound(node, infinite, &self.place, format_args!("\"{key}\""), complaints))
    }

    /// A string.
    pub(super) fn text(&self, key: &str, complaints: &mut Complaints) -> Option<&'n str> {
        let node = self.get(key)?;
        let Value::Text(text) = &node.value else {
            complaints.add(&*self.place, format!("\"{key}\" must be a string, not {}", node.describe()));
            return None;
        };
        Some(text)
    }

    /// The item's name; empty after a complaint.
    pub(super) fn name(&self, complaints: &mut Complaints) -> String {
        if self.require("name", complaints).is_none() {
            return String::new();
        }
        let name = self.text("name", complaints);
        if name == Some("") {
            complaints.add(&*self.place, "\"name\" must not be empty");
        }
        name.unwrap_or_default().to_owned()
    }

    /// The items of a list; `None` if it is missing or, after a complaint, if it is not a list.
    pub(super) fn list(&self, key: &str, complaints: &mut Complaints) -> Option<&'n [Node<'t>]> {
        let node = self.get(key)?;
        let Value::List(items) = &node.value else {
            complaints.add(&*self.place, format!("\"{key}\" must be a list, not {}", node.describe()));
            return None;
        };
        Some(items)
    }

    /// A list of finite numbers; bad entries are NaN.
    pub(super) fn numbers(&self, key: &str, complaints: &mut Complaints) -> Option<Vec<f64>> {
        let items = self.list(key, complaints)?.iter().enumerate();
        Some(items.map(|(i, node)| number(node, &self.place, format_args!("\"{key}\"[{i}]"), complaints)).collect())
    }

    /// A list of bounds; bad entries are NaN.
    pub(super) fn bounds(&self, key: &str, infinite: f64, complaints: &mut Complaints) -> Option<Vec<f64>> {
        let items = self.list(key, complaints)?.iter().enumerate();
        Some(
            items
                .map(|(i, node)| bound(node, infinite, &self.place, format_args!("\"{key}\"[{i}]"), complaints))
                .collect(),
        )
    }

    /// Linear terms: an object from names to finite numbers. Bad coefficients are NaN; of repeated names the first
    /// counts.
    pub(super) fn terms(&self, key: &str, complaints: &mut Complaints) -> Terms {
        let Some(node) = self.get(key) else { return Terms::new() };
        let Value::Object(members) = &node.value else {
            complaints.add(
                &*self.place,
                format!("\"{key}\" must be an object of names and numbers, not {}", node.describe()),
            );
            return Terms::new();
        };
        let repeated = complain_about_repeats(members, &self.place, &format!(" of \"{key}\""), complaints);
        let mut terms = Terms::with_capacity(members.len());
        for (_, member) in members.iter().enumerate().filter(|(i, _)| repeated.binary_search(i).is_err()) {
            let what = format_args!("the coefficient of \"{}\" in \"{key}\"", member.key);
            terms.push((member.key.to_string(), number(&member.value, &self.place, what, complaints)));
        }
        terms
    }
}

/// Complains about repeated keys of an object, and returns the indices of the later ones.
pub(super) fn complain_about_repeats(
    members: &[Member],
    place: &str,
    of: &str,
    complaints: &mut Complaints,
) -> Vec<usize> {
    let mut first = HashMap::with_capacity(members.len());
    let mut repeated = Vec::new();
    for (i, member) in members.iter().enumerate() {
        let before = *first.entry(member.key.as_ref()).or_insert(member.at);
        if before != member.at {
            complaints
                .add(place, format!("key \"{}\"{of} is repeated in {} (first in {before})", member.key, member.at));
            repeated.push(i);
        }
    }
    repeated
}

/// A finite number; NaN after a complaint.
pub(super) fn number(node: &Node, place: &str, what: fmt::Arguments, complaints: &mut Complaints) -> f64 {
    match node.value {
        Value::Number(number) => return number,
        Value::NotFinite(text) => {
            complaints.add(place, format!("{what} is {} ({}), which is not a finite number", shortened(text), node.at));
        }
        _ => complaints.add(place, format!("{what} must be a number, not {}", node.describe())),
    }
    f64::NAN
}

fn bound(node: &Node, infinite: f64, place: &str, what: fmt::Arguments, complaints: &mut Complaints) -> f64 {
    match node.value {
        Value::Number(number) => return number,
        Value::Null => return infinite,
        Value::NotFinite(text) => {
            let (text, at) = (shortened(text), node.at);
            complaints.add(
                place,
                format!("{what} is {text} ({at}), which is not a finite number; an infinite bound is null"),
            );
        }
        _ => complaints.add(place, format!("{what} must be a number or null, not {}", node.describe())),
    }
    f64::NAN
}

/// The text of a number, shortened if it is very long.
fn shortened(number: &str) -> String {
    if number.len() <= 30 { number.to_owned() } else { format!("{}…", &number[..20]) }
}
