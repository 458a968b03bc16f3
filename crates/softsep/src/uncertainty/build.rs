//! Builds a set from its definition.

use std::sync::Arc;

use super::check;
use super::{Boxed, Budget, Ellipsoid, L1, Polyhedron, Scenarios, SetDefinition, Uncertainty};
use crate::definition::Complaints;

/// Checks the definition of a set and builds the set; `place` is the location of the definition (`uncertainty.set`).
/// `None` after complaints, or where a number is NaN, which the reader has complained about.
pub fn build(
    set: &SetDefinition,
    parameters: &[String],
    place: &str,
    complaints: &mut Complaints,
) -> Option<Arc<dyn Uncertainty>> {
    fn shared<S: Uncertainty + 'static>(set: Option<S>) -> Option<Arc<dyn Uncertainty>> {
        set.map(|set| Arc::new(set) as Arc<dyn Uncertainty>)
    }
    match set {
        SetDefinition::Scenarios { .. } => shared(Scenarios::build(set, parameters, place, complaints)),
        SetDefinition::Box { .. } => shared(Boxed::build(set, parameters, place, complaints)),
        SetDefinition::L1 { .. } => shared(L1::build(set, parameters, place, complaints)),
        SetDefinition::Budget { .. } => shared(Budget::build(set, parameters, place, complaints)),
        SetDefinition::Ellipsoid { .. } => shared(Ellipsoid::build(set, parameters, place, complaints)),
        SetDefinition::Polyhedron { .. } => shared(Polyhedron::build(set, parameters, place, complaints)),
        SetDefinition::Custom(custom) => {
            let (dim, fits) = (custom.dim(), custom.dim() == parameters.len());
            if !fits {
                let entries = check::plural(dim, "entry", "entries");
                complaints.add(place, format!("its members have {entries} where {}", check::declared(parameters)));
            }
            fits.then(|| Arc::clone(custom))
        }
    }
}
