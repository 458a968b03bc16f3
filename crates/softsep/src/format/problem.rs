//! The `aro/1` problem file as plain data: names and numbers as they stand in the file, nothing resolved.
//!
//! A file is read into these types by [`load`](super::load) and written back by [`write`](super::write). Programs can
//! fill them in directly and hand them to [`Problem::new`](crate::Problem::new), which checks everything that a file is
//! checked for.

use super::Points;

/// Linear terms: name and coefficient.
pub type Terms = Vec<(String, f64)>;

/// Quadratic entries: `("u", "u", v)` adds `½·v·u²`, `("u", "w", v)` adds `v·u·w`.
pub type Quadratic = Vec<(String, String, f64)>;

/// A whole problem.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProblemFile {
    /// A title, for people.
    pub name: String,
    /// The here-and-now decision.
    pub first_stage: FirstStageFile,
    /// The adversary.
    pub uncertainty: UncertaintyFile,
    /// The wait-and-see decision.
    pub recourse: RecourseFile,
}

/// Variables, rows and cost of the first stage.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FirstStageFile {
    /// The decision x.
    pub variables: Vec<Variable>,
    /// Rows over `x`.
    pub constraints: Vec<Row>,
    /// The quadratic part of f.
    pub quadratic: Quadratic,
    /// The constant of f.
    pub constant: f64,
}

/// The parameters ξ and the set they come from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UncertaintyFile {
    /// Names of ξ's entries; every array of the set follows this order.
    pub parameters: Vec<String>,
    /// The set Ξ.
    pub set: SetFile,
}

/// Variables, rows and cost of the recourse.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RecourseFile {
    /// The decision y (always continuous).
    pub variables: Vec<Variable>,
    /// Rows over `y`, `x` and `xi`.
    pub constraints: Vec<Row>,
    /// The quadratic part of the cost.
    pub quadratic: Quadratic,
    /// Cones over named rows.
    pub cones: Vec<ConeFile>,
}

/// A decision variable of either stage. Infinite bounds are infinities here, `null` in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// Unique within its stage.
    pub name: String,
    /// Linear cost.
    pub cost: f64,
    /// Lower bound.
    pub lower: f64,
    /// Upper bound.
    pub upper: f64,
    /// First stage only.
    pub kind: VariableKind,
    /// Recourse only: how the cost moves with ξ.
    pub cost_xi: Terms,
}

impl Variable {
    /// A continuous variable with the format's default bounds, 0 and infinity.
    pub fn new(name: impl Into<String>, cost: f64) -> Self {
        Self {
            name: name.into(),
            cost,
            lower: 0.0,
            upper: f64::INFINITY,
            kind: VariableKind::Continuous,
            cost_xi: Vec::new(),
        }
    }

    /// A binary variable.
    pub fn binary(name: impl Into<String>, cost: f64) -> Self {
        Self { upper: 1.0, kind: VariableKind::Binary, ..Self::new(name, cost) }
    }

    /// The same variable with other bounds.
    pub fn bounded(mut self, lower: f64, upper: f64) -> Self {
        (self.lower, self.upper) = (lower, upper);
        self
    }
}

/// What values a first-stage variable may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VariableKind {
    /// Any real number within the bounds.
    #[default]
    Continuous,
    /// Whole numbers.
    Integer,
    /// 0 or 1.
    Binary,
}

/// A row `lower ≤ Σ terms ≤ upper` of either stage or of a polyhedral set; which terms it may have depends on where it
/// stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Unique within its list.
    pub name: String,
    /// Terms in the recourse variables.
    pub y: Terms,
    /// Terms in the first-stage variables.
    pub x: Terms,
    /// Terms in the uncertain parameters.
    pub xi: Terms,
    /// Lower bound, or −∞.
    pub lower: f64,
    /// Upper bound, or ∞.
    pub upper: f64,
    /// For a row named in a cone, which has no bounds: `Σ terms − offset` is the cone's entry.
    pub offset: Option<f64>,
}

impl Row {
    /// A row without terms or bounds.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            y: Vec::new(),
            x: Vec::new(),
            xi: Vec::new(),
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
            offset: None,
        }
    }
}

/// The uncertainty set as it is written.
#[derive(Debug, Clone, PartialEq)]
pub enum SetFile {
    /// A finite list.
    Scenarios {
        /// Its rows.
        points: Points,
        /// The CSV file they came from, as the problem names it.
        file: Option<String>,
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
}

impl Default for SetFile {
    fn default() -> Self {
        SetFile::Box { lower: Vec::new(), upper: Vec::new() }
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

/// A cone over named recourse rows.
#[derive(Debug, Clone, PartialEq)]
pub struct ConeFile {
    /// Which cone.
    pub kind: ConeKind,
    /// The rows, in the cone's order.
    pub rows: Vec<String>,
}

/// The cones of the format.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ConeKind {
    /// First entry at least the norm of the rest.
    SecondOrder,
    /// `v·exp(u/v) ≤ w`.
    Exponential,
    /// `u^α v^(1−α) ≥ |w|`.
    Power {
        /// α in (0, 1).
        alpha: f64,
    },
    /// Upper triangle by columns, off-diagonals scaled by √2.
    Semidefinite,
}
