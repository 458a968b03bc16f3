//! A definition in other units.

use std::collections::HashMap;

use super::Scaling;
use crate::definition::{Quadratic, Row, ScenarioList, Terms, Variable};
use crate::model::ProblemDefinition;
use crate::uncertainty::SetDefinition;

/// Units by name.
struct Named<'a>(HashMap<&'a str, f64>);

impl<'a> Named<'a> {
    fn new(names: impl Iterator<Item = &'a str>, units: &[f64]) -> Self {
        Self(names.zip(units.iter().copied()).collect())
    }

    fn of(&self, name: &str) -> f64 {
        self.0.get(name).copied().unwrap_or(1.0)
    }

    /// Coefficients per internal unit.
    fn terms(&self, terms: &mut Terms, factor: f64) {
        terms.iter_mut().for_each(|(name, value)| *value *= self.of(name) * factor);
    }

    fn quadratic(&self, entries: &mut Quadratic, factor: f64) {
        entries.iter_mut().for_each(|(a, b, value)| *value *= self.of(a) * self.of(b) * factor);
    }
}

fn divide(values: &mut [f64], units: &[f64]) {
    values.iter_mut().zip(units).for_each(|(value, unit)| *value /= unit);
}

impl Scaling {
    /// Writes a definition in these units; `None` where a program implements the set.
    pub(crate) fn rewrite(&self, definition: &mut ProblemDefinition) -> Option<()> {
        let names = |variables: &[Variable]| variables.iter().map(|variable| variable.name.clone()).collect::<Vec<_>>();
        let (x, y) = (names(&definition.first_stage.variables), names(&definition.recourse.variables));
        let parameters = definition.uncertainty.parameters.clone();
        let x = Named::new(x.iter().map(String::as_str), &self.first);
        let y = Named::new(y.iter().map(String::as_str), &self.recourse);
        let xi = Named::new(parameters.iter().map(String::as_str), &self.parameters);
        let per_cost = self.cost.recip();
        for (variables, units) in
            [(&mut definition.first_stage.variables, &self.first), (&mut definition.recourse.variables, &self.recourse)]
        {
            for (variable, unit) in variables.iter_mut().zip(units) {
                variable.cost *= unit * per_cost;
                variable.lower /= unit;
                variable.upper /= unit;
                xi.terms(&mut variable.cost_xi, unit * per_cost);
            }
        }
        definition.first_stage.constant *= per_cost;
        x.quadratic(&mut definition.first_stage.quadratic, per_cost);
        y.quadratic(&mut definition.recourse.quadratic, per_cost);
        for row in &mut definition.first_stage.constraints {
            x.terms(&mut row.x, 1.0);
            bring_to_size(row);
        }
        let mut factors: HashMap<&str, f64> = HashMap::new();
        for (cone, factor) in definition.recourse.cones.iter().zip(&self.cones) {
            factors.extend(cone.rows.iter().map(|row| (row.as_str(), *factor)));
        }
        for row in &mut definition.recourse.constraints {
            x.terms(&mut row.x, 1.0);
            y.terms(&mut row.y, 1.0);
            xi.terms(&mut row.xi, 1.0);
            match factors.get(row.name.as_str()) {
                Some(factor) => multiply(row, *factor),
                None => bring_to_size(row),
            }
        }
        let set = std::mem::take(&mut definition.uncertainty.set);
        definition.uncertainty.set = self.rewrite_set(set, &xi)?;
        Some(())
    }

    fn rewrite_set(&self, mut set: SetDefinition, xi: &Named) -> Option<SetDefinition> {
        let units = &self.parameters[..];
        match &mut set {
            SetDefinition::Scenarios { points, drawn_from, .. } => {
                let mut values = points.flat().to_vec();
                values.chunks_exact_mut(units.len().max(1)).for_each(|point| divide(point, units));
                *points = ScenarioList::from_flat(points.dim(), points.len(), values)?;
                if let Some(ellipsoid) = drawn_from.take() {
                    *drawn_from = Some(Box::new(self.rewrite_set(*ellipsoid, xi)?));
                }
            }
            SetDefinition::Box { lower, upper } => {
                divide(lower, units);
                divide(upper, units);
            }
            SetDefinition::L1 { center, scale } | SetDefinition::Budget { center, scale, .. } => {
                divide(center, units);
                divide(scale, units);
            }
            SetDefinition::Ellipsoid { center, matrix } => {
                divide(center, units);
                for (row, unit) in matrix.iter_mut().zip(units) {
                    row.iter_mut().for_each(|entry| *entry /= unit);
                }
            }
            SetDefinition::Polyhedron { lower, upper, constraints } => {
                divide(lower, units);
                divide(upper, units);
                for row in constraints {
                    xi.terms(&mut row.xi, 1.0);
                    bring_to_size(row);
                }
            }
            SetDefinition::Custom(_) => return None,
        }
        Some(set)
    }
}

/// Multiplies a row by a power of two that brings its largest coefficient to about 1.
fn bring_to_size(row: &mut Row) {
    let terms = row.x.iter().chain(&row.y).chain(&row.xi);
    let largest = terms.map(|(_, value)| value.abs()).fold(0.0, f64::max);
    if largest > 0.0 {
        multiply(row, (-largest.log2().round()).exp2());
    }
}

fn multiply(row: &mut Row, factor: f64) {
    for terms in [&mut row.x, &mut row.y, &mut row.xi] {
        terms.iter_mut().for_each(|(_, value)| *value *= factor);
    }
    row.lower *= factor;
    row.upper *= factor;
    row.offset = row.offset.map(|offset| offset * factor);
}
