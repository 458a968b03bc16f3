//! Cones over recourse rows: known rows, none in two cones, and as many of them as the cone needs.

use super::Cone;
use crate::definition::{ConeDefinition, ConeKind, DefinitionCheck, Index, item};

/// The cones by index, and for each row the cone that it is in.
pub(super) struct Cones {
    pub(super) cones: Vec<Cone>,
    pub(super) of_row: Vec<Option<usize>>,
    /// Whether there may be cones whose rows the reader could not read, so that a row in no cone means nothing.
    pub(super) has_holes: bool,
}

impl DefinitionCheck<'_> {
    /// Checks the cones; `rows` are the names of the recourse rows, of which there are `count`.
    pub(super) fn cones(&mut self, definitions: &[ConeDefinition], rows: &mut Index, count: usize) -> Cones {
        let mut all =
            Cones { cones: Vec::with_capacity(definitions.len()), of_row: vec![None; count], has_holes: false };
        for (c, definition) in definitions.iter().enumerate() {
            let place = || item("recourse.cones", c, "");
            let unreadable =
                self.after_reader && (definition.rows.is_empty() || definition.rows.iter().any(String::is_empty));
            all.has_holes |= unreadable;
            if !unreadable && let Some(needs) = wrong_size(definition.kind, definition.rows.len()) {
                self.complaints.add(place(), format!("{needs}, and this one has {}", definition.rows.len()));
            }
            if let ConeKind::Power { alpha } = definition.kind
                && !(alpha > 0.0 && alpha < 1.0)
                && !(self.after_reader && alpha.is_nan())
            {
                self.complaints.add(place(), format!("\"alpha\" is {alpha}, and must be above 0 and below 1"));
            }
            let mut cone = Cone { kind: definition.kind, rows: Vec::with_capacity(definition.rows.len()) };
            for name in &definition.rows {
                let Some(row) = self.resolve(rows, name, &place, "\"rows\"") else { continue };
                match all.of_row[row].replace(c) {
                    None => cone.rows.push(row),
                    Some(other) if other == c => {
                        self.complaints.add(place(), format!("\"rows\" names \"{name}\" twice"))
                    }
                    Some(other) => {
                        self.complaints.add(
                            place(),
                            format!("\"rows\" names \"{name}\", which is in recourse.cones[{other}] already"),
                        );
                    }
                }
            }
            all.cones.push(cone);
        }
        all
    }
}

/// The number of rows that a cone of this kind needs, in words, if it has another number.
fn wrong_size(kind: ConeKind, size: usize) -> Option<String> {
    match kind {
        ConeKind::SecondOrder => (size == 0).then(|| "a second-order cone has at least 1 row".to_owned()),
        ConeKind::Exponential => (size != 3).then(|| "an exponential cone has 3 rows".to_owned()),
        ConeKind::Power { .. } => (size != 3).then(|| "a power cone has 3 rows".to_owned()),
        ConeKind::Semidefinite => {
            let triangle = |order: usize| order * (order + 1) / 2;
            let above = (1..).find(|&order| triangle(order) >= size).unwrap_or(1);
            (triangle(above) != size).then(|| match above {
                1 => "a semidefinite cone has at least 1 row".to_owned(),
                order => {
                    let below = order - 1;
                    format!(
                        "a semidefinite cone of order {below} has {} rows, one of order {order} has {}",
                        triangle(below),
                        triangle(order)
                    )
                }
            })
        }
    }
}
