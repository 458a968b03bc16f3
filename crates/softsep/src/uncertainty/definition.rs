//! The uncertainty as it is stated: parameters and their set, by kind.

use std::sync::Arc;

use super::Uncertainty;
use crate::definition::{Complaints, Row, ScenarioList};

/// The parameters ξ and the set they come from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UncertaintyDefinition {
    /// Names of ξ's entries; every array of the set follows this order.
    pub parameters: Vec<String>,
    /// The set Ξ.
    pub set: SetDefinition,
}

/// An uncertainty set as it is stated.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SetDefinition {
    /// A finite list.
    Scenarios {
        /// Its rows.
        points: ScenarioList,
        /// The CSV file they came from, as the problem names it.
        file: Option<String>,
        /// The ellipsoid from whose boundary they were drawn, uniformly by area. The adaptive proposal makes use of it;
        /// the set is the list all the same.
        drawn_from: Option<Box<SetDefinition>>,
    },
    /// `lower ≤ ξ ≤ upper`.
    Box {
        /// Lower bounds.
        lower: Vec<f64>,
        /// Upper bounds.
        upper: Vec<f64>,
    },
    /// `ξ = center + scale∘u`, `‖u‖₁ ≤ 1`.
    L1 {
        /// Center.
        center: Vec<f64>,
        /// Scale.
        scale: Vec<f64>,
    },
    /// `ξ = center + scale∘z` with a budget on z.
    Budget {
        /// Γ.
        budget: f64,
        /// `0 ≤ z ≤ 1`, or `−1 ≤ z ≤ 1`.
        sides: Sides,
        /// Center.
        center: Vec<f64>,
        /// Scale.
        scale: Vec<f64>,
    },
    /// `ξ = center + A u`, `‖u‖₂ ≤ 1`.
    Ellipsoid {
        /// Center.
        center: Vec<f64>,
        /// The rows of A; A may have fewer columns than rows.
        matrix: Vec<Vec<f64>>,
    },
    /// A polytope.
    Polyhedron {
        /// Lower bounds (may be −∞).
        lower: Vec<f64>,
        /// Upper bounds (may be ∞).
        upper: Vec<f64>,
        /// Rows over `xi`.
        constraints: Vec<Row>,
    },
    /// A set that a program implements. No file can hold it.
    Custom(Arc<dyn Uncertainty>),
}

impl SetDefinition {
    /// A finite list.
    pub fn scenarios(points: ScenarioList) -> Self {
        Self::Scenarios { points, file: None, drawn_from: None }
    }

    /// `ξ = center + scale∘z`, `Σ|z| ≤ budget`, with `0 ≤ z ≤ 1` or `−1 ≤ z ≤ 1`.
    pub fn budget(budget: f64, sides: Sides, center: impl Into<Vec<f64>>, scale: impl Into<Vec<f64>>) -> Self {
        Self::Budget { budget, sides, center: center.into(), scale: scale.into() }
    }

    /// `ξ = center + A u`, `‖u‖₂ ≤ 1`, by the rows of A.
    pub fn ellipsoid(center: impl Into<Vec<f64>>, matrix: impl Into<Vec<Vec<f64>>>) -> Self {
        Self::Ellipsoid { center: center.into(), matrix: matrix.into() }
    }

    /// Builds the set on its own, for a program that hands parts of a set of its own on to it. The rows of a polyhedron
    /// name the parameters `ξ[0]`, `ξ[1]`, ….
    pub fn build(&self) -> Result<Arc<dyn Uncertainty>, Complaints> {
        let dim = match self {
            Self::Scenarios { points, .. } => points.dim(),
            Self::Box { lower, .. } | Self::Polyhedron { lower, .. } => lower.len(),
            Self::L1 { center, .. } | Self::Budget { center, .. } | Self::Ellipsoid { center, .. } => center.len(),
            Self::Custom(set) => set.dim(),
        };
        let parameters: Vec<String> = (0..dim).map(|i| format!("ξ[{i}]")).collect();
        let mut complaints = Complaints::new();
        super::build(self, &parameters, "set", &mut complaints).ok_or_else(|| {
            if complaints.is_empty() {
                complaints.add("set", "holds a NaN, which is not a number");
            }
            complaints
        })
    }

    /// A set that a program implements.
    pub fn custom(set: impl Uncertainty + 'static) -> Self {
        Self::Custom(Arc::new(set))
    }
}

impl Default for SetDefinition {
    fn default() -> Self {
        SetDefinition::Box { lower: Vec::new(), upper: Vec::new() }
    }
}

/// A set is equal to itself only, so that definitions with custom sets can be compared.
impl PartialEq for dyn Uncertainty {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::addr_eq(self, other)
    }
}

/// Whether a budget set deviates to one side or to both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sides {
    /// `0 ≤ z ≤ 1, Σz ≤ Γ`.
    One,
    /// `−1 ≤ z ≤ 1, Σ|z| ≤ Γ`.
    Two,
}
